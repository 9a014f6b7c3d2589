#include "core/auth/account.h"

#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"

void account_set(char **field, const char *value)
{
	char *copy = value ? mem_strdup(value) : NULL;

	if (*field)
		mem_wipe(*field, strlen(*field));
	free(*field);
	*field = copy;
}

void account_release(struct account *a)
{
#define ACCOUNT_TEXT(name) account_set(&a->name, NULL);
	ACCOUNT_TEXTS(ACCOUNT_TEXT)
#undef ACCOUNT_TEXT
	*a = (struct account){0};
}

void account_forget_tokens(struct account *a)
{
	account_set(&a->access_token, NULL);
	account_set(&a->refresh_token, NULL);
	account_set(&a->granted, NULL);
	account_set(&a->dpop_key, NULL);
	a->expires_s = 0;
}

void account_note_seed(struct account *a, const char *seed)
{
	char hex[SHA256_HEX_BYTES];

	if (seed)
		sha256_hex(str_of(seed), hex);
	account_set(&a->seed, seed ? hex : NULL);
}

bool account_has_new_seed(const struct account *a, const char *seed)
{
	char hex[SHA256_HEX_BYTES];

	if (!seed)
		return false;
	sha256_hex(str_of(seed), hex);
	return !a->seed || strcmp(a->seed, hex) != 0;
}

static int read_object(struct store *s, const struct store_name *name,
		       struct arena *arena, struct json **ret, struct err *err)
{
	struct str text;
	int r = store_read(s, name, arena, &text, err);

	if (r != 0)
		return r;
	if (json_read(text, ret, err) == 0)
		return 0;
	if (err->kind == ERR_UNKNOWN)
		return -1;
	return err_set(err, ERR_SYNTAX,
		       "the stored tokens of %s are not ours; remove them with "
		       "`%s`",
		       owner_shown(name->owner, arena),
		       owner_command(name->owner, "logout", arena));
}

static void fill_account(struct account *a, const struct json *object,
			 struct arena *arena)
{
#define ACCOUNT_TEXT(name) \
	account_set(&a->name, json_text(object, #name, arena));
	ACCOUNT_TEXTS(ACCOUNT_TEXT)
#undef ACCOUNT_TEXT
	if (!json_int64(object, "expires", &a->expires_s))
		a->expires_s = 0;
	if (!json_int64(object, "secret_expires", &a->secret_expires_s))
		a->secret_expires_s = 0;
	a->is_registered = json_is_true(object, "registered");
}

static const char *old_text(const struct owner *owner, struct arena *arena)
{
	const struct owner old = {.url = owner->url};

	return owner_text(&old, "", arena);
}

static const char *last_text(const struct owner *owner, struct arena *arena)
{
	return arena_printf(arena, OWNER_LAST "%s",
			    owner_text(owner, "", arena));
}

/* The client that was used last, where none is configured: "" when it was
   registered. */
static int read_last(struct store *s, const struct owner *owner,
		     struct arena *arena, const char **ret, struct err *err)
{
	const struct store_name name = {last_text(owner, arena), "", owner};
	AUTO(json_freep) struct json *object = NULL;
	int r = read_object(s, &name, arena, &object, err);

	*ret = r == 0 ? json_text(object, "client", arena) : NULL;
	if (!*ret)
		*ret = "";
	return r < 0 ? -1 : 0;
}

/* Which of an owner's clients and issuers is the present one. */
struct present {
	const char *client, *issuer;
};

static int read_present(struct store *s, const struct owner *owner,
			struct arena *arena, struct present *ret,
			struct err *err)
{
	struct store_name name = {NULL, "", owner};
	AUTO(json_freep) struct json *object = NULL;
	int r;

	ret->client = owner->client;
	if (!ret->client && read_last(s, owner, arena, &ret->client, err) < 0)
		return -1;
	name.server = owner_text(owner, ret->client, arena);
	r = read_object(s, &name, arena, &object, err);
	if (r != 0)
		return r;
	ret->issuer = json_text(object, "issuer", arena);
	return ret->issuer ? 0 : 1;
}

static int read_account(struct store *s, const struct owner *owner,
			const char *text, const char *issuer,
			struct account *ret, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	const struct store_name name = {text, issuer, owner};
	AUTO(json_freep) struct json *object = NULL;
	int r = read_object(s, &name, &arena, &object, err);

	if (r == 0)
		fill_account(ret, object, &arena);
	return r;
}

/* ---- entries of a version that knew URLs only ---- */

/*
 * Is it this owner's without doubt? A grant that needs no person gets a new
 * token by itself. Without a grant the entry itself is asked for.
 */
static bool may_take(const struct owner *owner, const struct account *a)
{
	if (!owner->grant)
		return true;
	if (!owner->takes_old || strcmp(owner->grant, "authorization_code"))
		return false;
	return owner->client
		       ? a->client_id && !strcmp(owner->client, a->client_id)
		       : a->is_registered;
}

static int read_old(struct store *s, const struct owner *owner,
		    struct account *ret, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	struct store_name name = {old_text(owner, &arena), "", owner};
	AUTO(json_freep) struct json *object = NULL;
	int r = read_object(s, &name, &arena, &object, err);

	if (r != 0)
		return r;
	name.issuer = json_text(object, "issuer", &arena);
	if (!name.issuer)
		return 1;
	r = read_account(s, owner, name.server, name.issuer, ret, err);
	if (r != 0)
		return r;
	ret->is_old = true;
	if (may_take(owner, ret))
		return 0;
	account_release(ret);
	ret->is_old = true;
	return 1;
}

static int remove_entry(struct store *s, const char *text, const char *issuer,
			struct err *err)
{
	const struct store_name name = {text, issuer, NULL};

	return store_remove(s, &name, err);
}

static int remove_old(struct store *s, const struct owner *owner,
		      const char *issuer, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *text = old_text(owner, &arena);

	if (remove_entry(s, text, issuer, err) < 0)
		return -1;
	return remove_entry(s, text, "", err);
}

int account_adopt(struct store *s, const struct owner *owner, struct account *a,
		  struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct store_lock lock;
	int r;

	if (!a->is_old)
		return 0;
	account_release(a);
	r = store_lock(s, old_text(owner, &arena), &lock, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	r = read_old(s, owner, a, err);
	if (r == 0)
		r = account_save(s, owner, a, err);
	if (r == 0)
		r = remove_old(s, owner, a->issuer, err);
	a->is_old = false;
	store_unlock(&lock);
	return r < 0 ? -1 : 0;
}

/* ---- load, save, remove ---- */

int account_load(struct store *s, const struct owner *owner, const char *issuer,
		 struct account *ret, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	struct present now = {owner->client ? owner->client : "", issuer};
	int r = 0;

	*ret = (struct account){0};
	if (!s)
		return 1;
	if (!owner->grant)
		return read_old(s, owner, ret, err);
	if (!issuer)
		r = read_present(s, owner, &arena, &now, err);
	if (r > 0)
		return read_old(s, owner, ret, err);
	return r < 0 ? -1
		     : read_account(s, owner,
				    owner_text(owner, now.client, &arena),
				    now.issuer, ret, err);
}

int account_open(struct store *s, const struct owner *owner, const char *issuer,
		 bool is_lenient, struct account *ret, struct err *err)
{
	struct err lost = ERR_INIT;
	int r = account_load(s, owner, issuer, ret, &lost);

	if (r == 0)
		return account_adopt(s, owner, ret, err);
	if (r > 0)
		return 1;
	if (!is_lenient ||
	    (lost.kind != ERR_CREDENTIAL && lost.kind != ERR_SYNTAX)) {
		*err = lost;
		return -1;
	}
	log_warning("tokens kept before are given up: %s", lost.msg);
	return 1;
}

static int write_object(struct store *s, const struct store_name *name,
			const struct json *object, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	json_print(object, &b);
	return store_write(s, name, buf_str(&b), err);
}

static int write_account(struct store *s, const struct store_name *name,
			 const struct account *a, struct err *err)
{
	AUTO(json_freep) struct json *object = NULL;

	if (json_make(&object, err) < 0)
		return -1;
#define ACCOUNT_TEXT(name) json_add_text(object, #name, a->name);
	ACCOUNT_TEXTS(ACCOUNT_TEXT)
#undef ACCOUNT_TEXT
	json_add_int64(object, "expires", a->expires_s);
	json_add_int64(object, "secret_expires", a->secret_expires_s);
	json_add_bool(object, "registered", a->is_registered);
	return write_object(s, name, object, err);
}

/* A document of one member. */
static int write_member(struct store *s, const char *text, const char *key,
			const char *value, struct err *err)
{
	AUTO(json_freep) struct json *object = NULL;
	const struct store_name name = {text, "", NULL};

	if (json_make(&object, err) < 0)
		return -1;
	json_add_text(object, key, value);
	return write_object(s, &name, object, err);
}

/* A registered client has an id that changes: the owner's nameless one. */
static const char *client_of(const struct account *a)
{
	return a->is_registered || !a->client_id ? "" : a->client_id;
}

int account_save(struct store *s, const struct owner *owner,
		 const struct account *a, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *client = client_of(a);
	const struct store_name name = {owner_text(owner, client, &arena),
					a->issuer, owner};

	if (!s)
		return 0;
	if (write_account(s, &name, a, err) < 0 ||
	    write_member(s, name.server, "issuer", a->issuer, err) < 0)
		return -1;
	if (*client)
		return write_member(s, last_text(owner, &arena), "client",
				    client, err);
	return remove_entry(s, last_text(owner, &arena), "", err) < 0 ? -1 : 0;
}

int account_remove(struct store *s, const struct owner *owner, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	const char *last = "";
	struct owner taker = *owner;
	struct account old = {0};
	struct present now = {NULL, NULL};
	int r;

	if (!s)
		return 1;
	/* a URL that is named stands for all that is kept of it */
	if (!owner->name)
		taker.grant = NULL;
	if (owner->takes_old && read_old(s, &taker, &old, ERR_IGNORED) == 0) {
		r = remove_old(s, owner, old.issuer, err);
		account_release(&old);
		if (r < 0)
			return -1;
	}
	/* one that cannot be read is removed all the same */
	if (read_present(s, owner, &arena, &now, ERR_IGNORED) == 0 &&
	    remove_entry(s, owner_text(owner, now.client, &arena), now.issuer,
			 err) < 0)
		return -1;
	/* no client is named: what was registered goes, too */
	taker = *owner;
	taker.client = "";
	taker.takes_old = false;
	if (!owner->client && now.client && *now.client &&
	    account_remove(s, &taker, err) < 0)
		return -1;
	if (read_last(s, owner, &arena, &last, ERR_IGNORED) < 0 ||
	    !strcmp(last, now.client ? now.client : ""))
		(void)!remove_entry(s, last_text(owner, &arena), "",
				    ERR_IGNORED);
	return remove_entry(
		s, owner_text(owner, now.client ? now.client : "", &arena), "",
		err);
}
