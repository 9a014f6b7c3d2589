#include "core/cli/auth_list.h"

#include <errno.h>
#include <unistd.h>

#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/auth_say.h"
#include "core/cli/policy_options.h"
#include "core/cli/put.h"
#include "core/report/ledger.h"
#include "core/config/config.h"
#include "core/secret/scrub.h"

struct list {
	struct arena arena;
	struct config_file file;
	const struct config *config; /* NULL: there is none */
	bool json;
	struct jw w;
	struct buf out;
	size_t n, n_broken; /* servers; those of them that cannot be read */
};

static int open_config(struct list *l, const struct args *args, struct err *err)
{
	const struct config_options options = {
		.path = args_get(args, "config"),
		.lax = args_has(args, "lax"),
	};

	if (config_open(&options, &l->file, err) == 0) {
		l->config = &l->file.config;
		return 0;
	}
	return err->kind == ERR_UNKNOWN && !options.path ? 0 : -1;
}

/* One that cannot be read does not hide the others. */
static void add_broken(struct list *l, const struct auth_said *said,
		       const struct err *err)
{
	l->n_broken++;
	if (!l->json) {
		buf_addf(&l->out, "%.*s: cannot be read: %s\n",
			 STR_ARG(said->url), err->msg);
		return;
	}
	jw_object(&l->w);
	jw_key(&l->w, "server");
	if (said->name)
		jw_cstr(&l->w, said->name);
	else
		jw_null(&l->w);
	jw_kv_str(&l->w, "url", said->url);
	jw_kv_cstr(&l->w, "state", "broken");
	jw_kv_cstr(&l->w, "error", err->msg);
	jw_end(&l->w);
}

/* A name that the configuration in use does not have. */
static bool is_elsewhere(const struct list *l, const char *name)
{
	return name && (!l->config || !config_server(l->config, name));
}

/* Which client was used last is listed only where it cannot be read. */
static int look_at_last(struct list *l, struct store *store, const char *text,
			struct err *err)
{
	const struct store_name name = {text, "", NULL};
	struct str ignored;

	return store_read(store, &name, &l->arena, &ignored, err);
}

static void add_server(struct list *l, struct store *store, const char *text)
{
	const int64_t now_s =
		clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S;
	struct owner owner;
	struct auth_said said = {.is_old =
					 !owner_read(text, &l->arena, &owner)};
	struct str rest = str_of(owner.url);
	struct err err = ERR_INIT;
	bool is_last = owner_is_last(text);
	int r = is_last ? look_at_last(l, store, text, &err)
			: auth_status_stored(store, &owner, now_s, &said.status,
					     &err);

	if (is_last && r >= 0)
		return;
	said.name = owner.name;
	said.url = str_cut(&rest, '?');
	said.is_elsewhere = is_elsewhere(l, owner.name);
	l->n++;
	if (r < 0)
		add_broken(l, &said, &err);
	else if (l->json)
		auth_say_json(&said, &l->w);
	else
		auth_say_text(&said, &l->out);
}

static int add_folder(struct list *l, const char *dir, struct err *err)
{
	struct store_facts facts;
	struct store *store = NULL;
	struct strlist owners;
	int r = store_look(dir, &facts, err);

	/* to open it would make it */
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (facts.n_broken)
		log_warning("%s: %s", dir, facts.broken);
	if (store_open(dir, STORE_KEY_AUTO, &store, err) < 0)
		return -1;
	r = store_list(store, &l->arena, &owners, err);
	for (size_t i = 0; r == 0 && i < owners.n; i++)
		add_server(l, store, owners.item[i]);
	store_free(store);
	return r;
}

static bool is_known(const struct strlist *dirs, const char *dir)
{
	for (size_t i = 0; i < dirs->n; i++)
		if (strcmp(dirs->item[i], dir) == 0)
			return true;
	return false;
}

static struct strlist folders(struct list *l, const struct args *args)
{
	const char *option = args_get(args, "token-store");
	const char *state = ledger_default_dir(&l->arena);
	size_t n = l->config ? l->config->n_servers : 0;
	const char **item = ARENA_ARRAY(&l->arena, const char *, n + 1);
	struct strlist dirs = {item, 0};

	if (option) {
		item[dirs.n++] = path_resolve(option, NULL, &l->arena);
		return dirs;
	}
	if (state)
		item[dirs.n++] = arena_printf(&l->arena, "%s/tokens", state);
	for (size_t i = 0; i < n; i++) {
		const char *dir = l->config->servers[i].auth.token_store;

		if (dir && !is_known(&dirs, dir))
			item[dirs.n++] = dir;
	}
	return dirs;
}

static int list(struct list *l, const struct args *args, struct err *err)
{
	struct strlist dirs;

	if (open_config(l, args, err) < 0)
		return -1;
	dirs = folders(l, args);
	if (l->json) {
		jw_init(&l->w, &l->out, false);
		jw_object(&l->w);
		jw_key(&l->w, "servers");
		jw_array(&l->w);
	}
	for (size_t i = 0; i < dirs.n; i++)
		if (add_folder(l, dirs.item[i], err) < 0)
			return -1;
	if (l->json) {
		jw_end(&l->w);
		jw_end(&l->w);
		buf_addc(&l->out, '\n');
	} else if (!l->n) {
		log_note("nothing is stored of any server");
	}
	return 0;
}

/* Without what variables put into paths; controls of issuers are visible. */
static int print(const struct list *l, struct err *err)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scrub *scrub = scrub_new();

	for (size_t i = 0; l->config && i < l->file.header_values.n; i++)
		scrub_add(scrub, str_of(l->file.header_values.item[i]));
	if (l->json)
		(void)scrub_json(scrub, buf_str(&l->out), &out);
	else
		(void)scrub_apply(scrub, buf_str(&l->out), &clean);
	log_visible(&out, buf_str(&clean), true);
	scrub_free(scrub);
	return put(buf_str(&out), l->json ? PUT_JSON : PUT_TEXT, err);
}

int auth_list(const struct args *args, struct err *err)
{
	struct list l = {
		.arena = ARENA_INIT,
		.json = args_has(args, "json"),
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	int r = list(&l, args, err);

	if (r == 0)
		r = print(&l, err);
	if (r == 0 && l.n_broken)
		r = 1;
	buf_release(&l.out);
	config_release(&l.file);
	arena_release(&l.arena);
	return r;
}
