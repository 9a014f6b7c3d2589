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
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/run/advice_command.h"

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

/* The state of a login: its word in JSON, and its text. */
struct state {
	const char *word, *text;
};

static struct state state_of(const struct auth_status *s)
{
	if (!s->has_token)
		return (struct state){s->has_client ? "registered"
						    : "logged_out",
				      "not logged in"};
	if (!s->is_expired)
		return (struct state){"logged_in", "logged in"};
	if (s->has_refresh_token)
		return (struct state){
			"refreshable",
			"logged in; the token is due for renewal"};
	return (struct state){"expired", "the token has expired"};
}

static void say_text(const struct said *said, struct buf *out)
{
	const struct auth_status *s = &said->status;
	const char *state = state_of(s).text;
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
		buf_addf(out, "%s: %s\n  url      %.*s\n", said->name, state,
			 STR_ARG(said->url));
	else
		buf_addf(out, "%.*s: %s\n", STR_ARG(said->url), state);
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

static void say_json(const struct said *said, struct jw *w)
{
	const struct auth_status *s = &said->status;

	jw_object(w);
	jw_key(w, "server");
	if (said->name)
		jw_cstr(w, said->name);
	else
		jw_null(w);
	jw_kv_str(w, "url", said->url);
	if (said->error) {
		jw_kv_cstr(w, "state", "broken");
		jw_kv_cstr(w, "error", said->error);
		jw_end(w);
		return;
	}
	if (said->is_old)
		jw_kv_bool(w, "old", true);
	jw_kv_cstr(w, "state", state_of(s).word);
	jw_kv_cstr(w, "issuer", s->issuer);
	jw_kv_cstr(w, "client_id", s->client_id);
	jw_kv_cstr(w, "scope", s->scope);
	jw_kv_int(w, "expires", s->expires_s);
	jw_kv_bool(w, "refresh_token", s->has_refresh_token);
	jw_kv_bool(w, "dpop", s->is_bound);
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

/* Add a login; which client was used last is listed only as unreadable. */
static void add_server(struct list *l, struct store *store, const char *text)
{
	const int64_t now_s =
		clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S;
	struct owner owner;
	const struct store_name name = {text, "", &owner};
	struct said said = {.is_old = !owner_read(text, &l->arena, &owner)};
	struct str rest = str_of(owner.url), ignored;
	struct err err = ERR_INIT;
	bool is_last = owner_is_last(text);
	bool is_ours =
		owner.name && l->config && config_server(l->config, owner.name);
	int r;

	if (is_ours)
		owner.config = advice_config(l->config, &l->arena);
	r = is_last ? store_read(store, &name, &l->arena, &ignored, &err)
		    : auth_status_stored(store, &owner, now_s, &said.status,
					 &err);
	if (is_last && r >= 0)
		return;
	said.name = owner.name;
	said.url = str_cut(&rest, '?');
	said.is_elsewhere = owner.name && !is_ours;
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

/* Folders with logins, each once: that of the option, or all in use. */
static struct strlist folders(struct list *l, const struct args *args)
{
	const char *option = args_get(args, "token-store");
	const char *state = state_dir_find(&l->arena);
	struct strlist dirs = {NULL, 0};

	if (option) {
		list_add(&dirs, &l->arena,
			 path_resolve(option, NULL, &l->arena));
		return dirs;
	}
	if (state)
		list_add(&dirs, &l->arena, state_dir_tokens(state, &l->arena));
	for (size_t i = 0; l->config && i < l->config->n_servers; i++) {
		const char *dir = l->config->servers[i].auth.token_store;
		bool is_known = !dir;

		for (size_t k = 0; dir && k < dirs.n; k++)
			is_known |= strcmp(dirs.item[k], dir) == 0;
		if (!is_known)
			list_add(&dirs, &l->arena, dir);
	}
	return dirs;
}

/* Print without values of variables in paths; controls of issuers are visible.
 */
static int print(struct list *l, struct err *err)
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

static int list_all(struct list *l, const struct args *args, struct err *err)
{
	const struct config_options options = {.optional = true};
	struct strlist dirs;

	if (open_config(args, options, &l->file, err) < 0)
		return -1;
	l->config = l->file.path ? &l->file.config : NULL;
	dirs = folders(l, args);
	jw_init(&l->w, &l->out, false);
	if (l->json) {
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
	return print(l, err) < 0 ? -1 : l->n_broken > 0;
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

static int say(struct target *t, const char *state, const char *text,
	       struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!t->json) {
		buf_addf(&out, "%s %s\n", text, t->name);
		return target_put(t, buf_str(&out), PUT_TEXT, err);
	}
	w = jw_begin(&out);
	jw_kv_cstr(&w, "server", t->name);
	jw_kv_cstr(&w, "state", state);
	jw_end(&w);
	return target_put(t, buf_str(&out), PUT_JSON, err);
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

/* A login needs a person, and a folder that keeps its tokens. */
static int check_login(const struct target *t, struct err *err)
{
	if (auth_lacks_person(t->remote->auth))
		return err_set(err, ERR_CREDENTIAL,
			       "a login needs a person: run it on a terminal, "
			       "or name a program that opens the page "
			       "(--browser PROGRAM); without a person, use a "
			       "client of your own (--oauth-grant "
			       "client_credentials or jwt-bearer)");
	/* the warning before it says why */
	if (!auth_keeps(t->remote->auth))
		return err_set(err, ERR_CREDENTIAL,
			       "the login would end with this command: no "
			       "folder can keep its tokens; name one with "
			       "--token-store DIR");
	return 0;
}

static int login(struct target *t, struct err *err)
{
	struct login l = {
		.t = t,
		.typed = {.fd = -1},
		.line = BUF_INIT(PASTED_BYTES),
	};
	int r;

	if (check_login(t, err) < 0)
		return -1;
	/* a browser elsewhere cannot come back: let its address be pasted */
	if (ask_person_is_there()) {
		log_note("if the browser runs on another machine, its last "
			 "page cannot load: paste the address of that page "
			 "here");
		if (loop_watch(&t->loop, &l.typed, STDIN_FILENO, EPOLLIN,
			       on_typed, &l, err) < 0)
			return -1;
	}
	auth_login(t->remote->auth, on_done, &l);
	r = wait_for(&l, err);
	loop_unwatch(&t->loop, &l.typed);
	buf_wipe(&l.line);
	if (r < 0)
		return -1;
	target_note(t, NULL);
	return say(t, "logged_in", "logged in to", err);
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
	const struct auth_status *s = &said.status;
	struct jw w;

	if (auth_status(t->remote->auth, &said.status, err) < 0)
		return -1;
	jw_init(&w, &out, false);
	if (t->json)
		say_json(&said, &w);
	else
		say_text(&said, &out);
	if (target_put(t, buf_str(&out), t->json ? PUT_JSON : PUT_TEXT, err) <
	    0)
		return -1;
	return !s->has_token || (s->is_expired && !s->has_refresh_token);
}

/* ---- the command ---- */

struct auth_verb {
	const char *word;
	int (*run)(struct target *t, struct err *err);
};

static struct auth_verb actions[] = {
	{"login", login},
	{"status", status},
	{"logout", logout},
};

static int check(const struct args *args, struct auth_verb **ret,
		 struct err *err)
{
	size_t i;

	if (args_action(args, "auth", actions, ARRAY_LEN(actions),
			sizeof(*actions), &i, err) < 0)
		return -1;
	*ret = &actions[i];
	if (args->after)
		return err_set(err, ERR_USAGE,
			       "auth is for remote servers; a program gets its "
			       "credentials from `env`");
	if (args->n_positional + args_has(args, "url") > 2)
		return err_set(err, ERR_USAGE, "auth %s: one server at a time",
			       (*ret)->word);
	return 0;
}

static int run_action(struct target *t, void *arg, struct err *err)
{
	const struct auth_verb *action = arg;

	if (!t->remote)
		return err_set(
			err, ERR_USAGE,
			"%s is a program; it gets its credentials from `env`",
			t->name);
	return action->run(t, err);
}

int cmd_auth(const struct args *args, struct err *err)
{
	struct auth_verb *action;

	if (check(args, &action, err) < 0)
		return -1;
	if (args->n_positional + args_has(args, "url") == 2)
		return target_run(args, TARGET_FIND, run_action, action, err);
	if (action->run == status)
		return status_of_all(args, err);
	return err_set(err, ERR_USAGE,
		       "auth %s: name a server: a [servers.NAME] of "
		       "the configuration, or --url URL",
		       action->word);
}
