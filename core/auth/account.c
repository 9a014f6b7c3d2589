#include "core/auth/account.h"

#include "core/auth/fields.h"
#include "core/base/jw.h"
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

void account_forget_client(struct account *a)
{
	account_forget_tokens(a);
	account_set(&a->client_id, NULL);
	account_set(&a->client_secret, NULL);
	account_set(&a->method, NULL);
	account_set(&a->redirect_uri, NULL);
	a->secret_expires_s = 0;
	a->is_registered = false;
}

/*
 * The URL that stands on disk. Its query may hold a key, so there it is a
 * digest; of a text that is one already nothing changes.
 */
static const char *kept_name(const char *server, struct arena *arena)
{
	static const char mark[] = "sha256=";
	const char *query = strchr(server, '?');
	char hex[SHA256_HEX_BYTES];

	if (!query || strncmp(query + 1, mark, sizeof(mark) - 1) == 0)
		return server;
	sha256_hex(str_of(query), hex);
	return arena_printf(arena, "%.*s?%s%s", (int)(query - server), server,
			    mark, hex);
}

static int read_object(struct store *s, const struct store_name *name,
		       struct arena *arena, struct str *ret, struct err *err)
{
	struct str text;
	int r = store_read(s, name, arena, &text, err);

	if (r != 0)
		return r;
	if (fields_object(text, ret))
		return 0;
	return err_set(err, ERR_SYNTAX,
		       "what is stored of %s is not ours; remove it with "
		       "`matins auth logout`",
		       name->server);
}

static void fill(struct account *a, struct str object, struct arena *arena)
{
#define ACCOUNT_TEXT(name) \
	account_set(&a->name, fields_text(object, #name, arena));
	ACCOUNT_TEXTS(ACCOUNT_TEXT)
#undef ACCOUNT_TEXT
	if (!fields_seconds(object, "expires", &a->expires_s))
		a->expires_s = 0;
	if (!fields_seconds(object, "secret_expires", &a->secret_expires_s))
		a->secret_expires_s = 0;
	a->is_registered = fields_true(object, "registered");
}

int account_load(struct store *s, const char *server, const char *issuer,
		 struct account *ret, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	struct store_name name = {kept_name(server, &arena),
				  issuer ? issuer : ""};
	struct str object;
	int r;

	*ret = (struct account){0};
	if (!s)
		return 1;
	r = read_object(s, &name, &arena, &object, err);
	if (r == 0 && !issuer) {
		name.issuer = fields_text(object, "issuer", &arena);
		if (!name.issuer)
			return 1;
		r = read_object(s, &name, &arena, &object, err);
	}
	if (r == 0)
		fill(ret, object, &arena);
	return r;
}

int account_load_anew(struct store *s, const char *server, const char *issuer,
		      struct account *ret, struct err *err)
{
	struct err lost = ERR_INIT;
	int r = account_load(s, server, issuer, ret, &lost);

	if (r >= 0)
		return r;
	if (lost.kind != ERR_CREDENTIAL && lost.kind != ERR_SYNTAX) {
		*err = lost;
		return -1;
	}
	log_warning("what was kept before is given up: %s", lost.msg);
	return 1;
}

static void write_account(const struct account *a, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
#define ACCOUNT_TEXT(name) \
	if (a->name)       \
		jw_kv_cstr(&w, #name, a->name);
	ACCOUNT_TEXTS(ACCOUNT_TEXT)
#undef ACCOUNT_TEXT
	jw_kv_int(&w, "expires", a->expires_s);
	jw_kv_int(&w, "secret_expires", a->secret_expires_s);
	jw_kv_bool(&w, "registered", a->is_registered);
	jw_end(&w);
}

int account_save(struct store *s, const char *server, const struct account *a,
		 struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf present = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct store_name none = {kept_name(server, &arena), ""};
	const struct store_name name = {none.server, a->issuer};
	struct jw w;

	if (!s)
		return 0;
	jw_init(&w, &present, false);
	jw_object(&w);
	jw_kv_cstr(&w, "issuer", a->issuer);
	jw_end(&w);
	write_account(a, &b);
	if (store_write(s, &name, buf_str(&b), err) < 0)
		return -1;
	return store_write(s, &none, buf_str(&present), err);
}

int account_remove(struct store *s, const char *server, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	struct store_name name = {kept_name(server, &arena), ""};
	struct err ignored = ERR_INIT;
	struct str object;

	if (!s)
		return 1;
	/* one that cannot be read is removed all the same */
	if (read_object(s, &name, &arena, &object, &ignored) == 0) {
		struct store_name there = {
			name.server, fields_text(object, "issuer", &arena)};

		if (there.issuer && store_remove(s, &there, err) < 0)
			return -1;
	}
	return store_remove(s, &name, err);
}
