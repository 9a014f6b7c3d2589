/* `matins auth`: log in to a remote server, show the login, forget it. */
#include <errno.h>
#include <unistd.h>

#include "core/auth/auth.h"
#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/cli/target.h"

/* An address that is pasted; a terminal gives 4095 bytes of a line. */
#define PASTED_BYTES (64 * 1024)
#define PORTION_BYTES 4096

const struct option options_auth[] = {
	{"url", 0, "URL", "a server outside of the configuration"},
	{"json", 0, NULL, "print one JSON document"},
#include "core/cli/remote_options.def"
	{0},
};

/* ---- one login, in words and as JSON; no secrets ---- */

struct said {
	const char *name;  /* name in [servers.NAME]; NULL: a URL of the command
			      line */
	bool is_elsewhere; /* the configuration in use lacks the name */
	bool is_old;	   /* an earlier version did not keep whose it is */
	struct str url;	   /* URL without its query */
	struct auth_status status;
	const char *error; /* the record cannot be read; NULL: it can */
};

/* A token that can be used, or renewed. */
static bool is_usable(const struct auth_status *s)
{
	return s->has_token && (!s->is_expired || s->has_refresh_token);
}

static const char *state_text(const struct auth_status *s)
{
	return !s->has_token	      ? "not logged in"
	       : !s->is_expired	      ? "logged in"
	       : s->has_refresh_token ? "logged in; the token is due for "
					"renewal"
				      : "the token has expired";
}

static const char *state_word(const struct auth_status *s)
{
	if (!s->has_token)
		return s->has_client ? "registered" : "logged_out";
	if (s->is_expired)
		return s->has_refresh_token ? "refreshable" : "expired";
	return "logged_in";
}

static void say_text(const struct said *said, struct buf *out)
{
	const struct auth_status *s = &said->status;
	const struct {
		const char *label, *value;
	} rows[] = {
		{"issuer", s->issuer},
		{"client", s->client_id},
		{"scope", s->scope},
	};
	char when[CLOCK_TEXT_BYTES];

	if (said->error) {
		buf_addf(out, "%.*s: cannot be read: %s\n", STR_ARG(said->url),
			 said->error);
		return;
	}
	if (said->name)
		buf_addf(out, "%s: %s\n  url      %.*s\n", said->name,
			 state_text(s), STR_ARG(said->url));
	else
		buf_addf(out, "%.*s: %s\n", STR_ARG(said->url), state_text(s));
	if (said->is_elsewhere)
		buf_adds(out, "  not in the configuration in use\n");
	if (said->is_old)
		buf_adds(out, "  kept by an earlier version, for any server of "
			      "this URL\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (*rows[i].value)
			buf_addf(out, "  %-8s %s\n", rows[i].label,
				 rows[i].value);
	if (s->expires_s) {
		clock_format(s->expires_s * (int64_t)NS_PER_S, when);
		buf_addf(out, "  expires  %s%s\n", when,
			 s->has_refresh_token ? ", renewed automatically" : "");
	}
	if (s->is_bound)
		buf_adds(out, "  bound to a key of this machine (DPoP)\n");
}

static void write_status(const struct said *said, struct jw *w)
{
	const struct auth_status *s = &said->status;

	if (said->error) {
		jw_kv_cstr(w, "state", "broken");
		jw_kv_cstr(w, "error", said->error);
		return;
	}
	if (said->is_old)
		jw_kv_bool(w, "old", true);
	jw_kv_cstr(w, "state", state_word(s));
	jw_kv_cstr(w, "issuer", s->issuer);
	jw_kv_cstr(w, "client_id", s->client_id);
	jw_kv_cstr(w, "scope", s->scope);
	jw_kv_int(w, "expires", s->expires_s);
	jw_kv_bool(w, "refresh_token", s->has_refresh_token);
	jw_kv_bool(w, "dpop", s->is_bound);
}

static void say_json(const struct said *said, struct jw *w)
{
	jw_object(w);
	jw_key(w, "server");
	if (said->name)
		jw_cstr(w, said->name);
	else
		jw_null(w);
	jw_kv_str(w, "url", said->url);
	write_status(said, w);
	jw_end(w);
}

/* ---- all that are stored ---- */

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
		.optional = true,
	};

	if (config_open(&options, &l->file, err) < 0)
		return -1;
	l->config = l->file.path ? &l->file.config : NULL;
	return 0;
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
	struct said said = {.is_old = !owner_read(text, &l->arena, &owner)};
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
	said.error = r < 0 ? err.msg : NULL;
	l->n++;
	l->n_broken += r < 0;
	if (l->json)
		say_json(&said, &l->w);
	else
		say_text(&said, &l->out);
}

static int add_folder(struct list *l, const char *dir, struct err *err)
{
	struct store_facts facts;
	struct store *store = NULL;
	struct strlist owners;
	int r = store_look(dir, &facts, err);

	/* opening a missing folder would create it */
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
	const char *state = state_dir_find(&l->arena);
	size_t n = l->config ? l->config->n_servers : 0;
	const char **item = ARENA_ARRAY(&l->arena, const char *, n + 1);
	struct strlist dirs = {item, 0};

	if (option) {
		item[dirs.n++] = path_resolve(option, NULL, &l->arena);
		return dirs;
	}
	if (state)
		item[dirs.n++] = state_dir_tokens(state, &l->arena);
	for (size_t i = 0; i < n; i++) {
		const char *dir = l->config->servers[i].auth.token_store;

		if (dir && !is_known(&dirs, dir))
			item[dirs.n++] = dir;
	}
	return dirs;
}

static int list_all(struct list *l, const struct args *args, struct err *err)
{
	struct strlist dirs;

	if (open_config(l, args, err) < 0)
		return -1;
	dirs = folders(l, args);
	if (l->json) {
		jw_init(&l->w, &l->out, false);
		jw_object(&l->w);
		jw_kv_array(&l->w, "servers");
	}
	for (size_t i = 0; i < dirs.n; i++)
		if (add_folder(l, dirs.item[i], err) < 0)
			return -1;
	if (l->json) {
		jw_end(&l->w);
		jw_end(&l->w);
		buf_addc(&l->out, '\n');
	} else if (!l->n) {
		log_note("no server has a stored login");
	}
	return 0;
}

/* Print without values of variables in paths; controls of issuers are visible.
 */
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

/*
 * All servers with something stored, in the state directory and in every
 * token_store of the configuration, each with its name in the configuration
 * where it has one. Creates nothing, asks no server.
 *
 * returns  0; 1: the record of one cannot be read, which is said in its place
 */
static int status_of_all(const struct args *args, struct err *err)
{
	struct list l = {
		.arena = ARENA_INIT,
		.json = args_has(args, "json"),
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	int r = list_all(&l, args, err);

	if (r == 0)
		r = print(&l, err);
	if (r == 0 && l.n_broken)
		r = 1;
	buf_release(&l.out);
	config_release(&l.file);
	arena_release(&l.arena);
	return r;
}

/* ---- waiting ---- */

struct login {
	struct target *t;
	bool done, failed;
	struct err err;
	struct loop_watch typed;
	struct buf line; /* begin of a typed line; wiped */
};

static void on_done(void *arg, const struct err *err)
{
	struct login *l = arg;

	l->done = true;
	l->failed = err != NULL;
	if (err)
		l->err = *err;
}

/* Wait for the end of the action, or Ctrl-C. */
static int wait_for(struct login *l, struct err *err)
{
	struct loop *loop = &l->t->loop;

	while (!l->done && !loop->signal)
		if (loop_turn(loop, err) < 0)
			return -1;
	if (!l->done)
		return target_interrupted(l->t, err);
	if (!l->failed)
		return 0;
	*err = l->err;
	return -1;
}

static int say(struct target *t, const char *json, const char *text,
	       struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!t->json) {
		buf_addf(&out, "%s %s\n", text, t->name);
		return target_put_text(t, buf_str(&out), err);
	}
	jw_init(&w, &out, false);
	jw_object(&w);
	jw_kv_cstr(&w, "server", t->name);
	jw_kv_cstr(&w, "state", json);
	jw_end(&w);
	return target_put_json(t, buf_str(&out), err);
}

/* ---- login ---- */

static void on_line(struct login *l, struct str line)
{
	line = str_trim(line);
	if (!line.n)
		return;
	if (str_find(line, '?') == line.n)
		log_note("this is not the address of a login page: it has no "
			 "question mark");
	else if (!auth_redirected(l->t->remote->auth, line))
		log_note("no login is waiting for an address yet");
}

static void on_typed(void *arg, UNUSED uint32_t events)
{
	struct login *l = arg;
	char *room = buf_room(&l->line, PORTION_BYTES);
	ssize_t n = room ? read(STDIN_FILENO, room, PORTION_BYTES) : 0;
	struct str rest;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		loop_unwatch(&l->t->loop, &l->typed);
		return;
	}
	l->line.n += (size_t)n;
	l->line.p[l->line.n] = '\0';
	rest = buf_str(&l->line);
	if (str_find(rest, '\n') == rest.n)
		return;
	while (rest.n && !l->done)
		on_line(l, str_cut(&rest, '\n'));
	buf_wipe(&l->line);
}

/* Let a person paste the address: a browser elsewhere cannot come back. */
static int let_paste(struct login *l, struct err *err)
{
	if (!ask_person_is_there())
		return 0;
	log_note("if the browser runs on another machine, its last page cannot "
		 "load: paste the address of that page here");
	return loop_watch(&l->t->loop, &l->typed, STDIN_FILENO, EPOLLIN,
			  on_typed, l, err);
}

static int need_person(const struct target *t, struct err *err)
{
	if (!auth_lacks_person(t->remote->auth))
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "a login needs a person: run it on a terminal, or name "
		       "a program that opens the page (--browser PROGRAM); "
		       "without a person, use a client of your own "
		       "(--oauth-grant client_credentials or jwt-bearer)");
}

/* The warning before it says why. */
static int need_store(const struct target *t, struct err *err)
{
	if (auth_keeps(t->remote->auth))
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "the login would end with this command: no folder can "
		       "keep its tokens; name one with --token-store DIR");
}

static int login(struct target *t, struct err *err)
{
	struct login l = {
		.t = t,
		.typed = {.fd = -1},
		.line = BUF_INIT(PASTED_BYTES),
	};
	int r;

	if (need_person(t, err) < 0 || need_store(t, err) < 0 ||
	    let_paste(&l, err) < 0)
		return -1;
	auth_login(t->remote->auth, on_done, &l);
	r = wait_for(&l, err);
	loop_unwatch(&t->loop, &l.typed);
	buf_wipe(&l.line);
	return r < 0 ? -1 : say(t, "logged_in", "logged in to", err);
}

/* ---- logout, status ---- */

static int logout(struct target *t, struct err *err)
{
	struct login l = {.t = t};
	struct auth_status was;
	struct err unread = ERR_INIT;
	bool is_empty = auth_status(t->remote->auth, &was, &unread) == 0 &&
			!was.has_token && !was.has_refresh_token &&
			!was.has_client;

	auth_logout(t->remote->auth, on_done, &l);
	if (wait_for(&l, err) < 0)
		return -1;
	return say(t, "logged_out",
		   is_empty ? "nothing was stored for" : "logged out of", err);
}

/* 0: there is a token that can be used, or renewed. 1: there is none. */
static int status(struct target *t, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct said said = {
		.name = t->server,
		.url = str_of(t->remote->text),
	};
	struct jw w;
	int r;

	if (auth_status(t->remote->auth, &said.status, err) < 0)
		return -1;
	if (t->json) {
		jw_init(&w, &out, false);
		say_json(&said, &w);
		r = target_put_json(t, buf_str(&out), err);
	} else {
		say_text(&said, &out);
		r = target_put_text(t, buf_str(&out), err);
	}
	if (r < 0)
		return -1;
	return is_usable(&said.status) ? 0 : 1;
}

/* ---- the command ---- */

static const struct {
	const char *word;
	int (*run)(struct target *t, struct err *err);
} actions[] = {
	{"login", login},
	{"status", status},
	{"logout", logout},
};

static int (*find_action(const char *word))(struct target *, struct err *)
{
	for (size_t i = 0; word && i < ARRAY_LEN(actions); i++)
		if (strcmp(actions[i].word, word) == 0)
			return actions[i].run;
	return NULL;
}

static int no_action(const char *given, struct err *err)
{
	const char *words[ARRAY_LEN(actions)];

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		words[i] = actions[i].word;
	return err_set(err, ERR_USAGE,
		       "auth: name an action: login, status or logout%s",
		       args_meant(str_of(given), words, ARRAY_LEN(words)).text);
}

static int check(const struct args *args, struct err *err)
{
	const char *given = args->n_positional ? args->positional[0] : NULL;

	if (!find_action(given))
		return no_action(given, err);
	if (args->after)
		return err_set(err, ERR_USAGE,
			       "auth is for remote servers; a program gets its "
			       "credentials from `env`");
	if (args->n_positional + args_has(args, "url") > 2)
		return err_set(err, ERR_USAGE, "auth %s: one server at a time",
			       args->positional[0]);
	return 0;
}

static int run_action(struct target *t, const struct args *args,
		      struct err *err)
{
	int r = target_prepare(
		t, args, args->n_positional > 1 ? args->positional[1] : NULL,
		err);

	if (r < 0)
		return -1;
	if (!t->remote)
		return err_set(
			err, ERR_USAGE,
			"%s is a program; it gets its credentials from `env`",
			t->name);
	return find_action(args->positional[0])(t, err);
}

int cmd_auth(const struct args *args, struct err *err)
{
	struct target t;
	bool is_named;

	if (check(args, err) < 0)
		return -1;
	is_named = args->n_positional + args_has(args, "url") == 2;
	if (!is_named && strcmp(args->positional[0], "status") == 0)
		return status_of_all(args, err);
	if (!is_named)
		return err_set(err, ERR_USAGE,
			       "auth %s: name a server: a [servers.NAME] of "
			       "the configuration, or --url URL",
			       args->positional[0]);
	return target_close(&t, run_action(&t, args, err), err);
}
