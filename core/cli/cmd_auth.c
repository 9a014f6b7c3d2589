/* `matins auth`: log in to a remote server, say what is kept, forget it. */
#include <errno.h>
#include <unistd.h>

#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/auth_list.h"
#include "core/cli/auth_say.h"
#include "core/cli/target_inner.h"

/* An address that is pasted; a terminal gives 4095 bytes of a line. */
#define PASTED_BYTES (64 * 1024)
#define PORTION_BYTES 4096

const struct option options_auth[] = {
	{"url", 0, "URL", "a server that is in no configuration"},
	{"json", 0, NULL, "print one JSON document"},
	REMOTE_OPTIONS,
	{0},
};

/* ---- what the commands wait for ---- */

struct login {
	struct target *t;
	bool done, failed;
	struct err err;
	struct loop_watch typed;
	struct buf line; /* of the terminal, not yet whole; wiped */
};

static void on_done(void *arg, const struct err *err)
{
	struct login *l = arg;

	l->done = true;
	l->failed = err != NULL;
	if (err)
		l->err = *err;
}

/* Until it is done, or Ctrl-C. */
static int wait_for(struct login *l, struct err *err)
{
	struct loop *loop = &l->t->loop;

	while (!l->done && !loop->signal)
		if (loop_turn(loop, err) < 0)
			return -1;
	if (!l->done)
		return err_set(err, ERR_PEER, "ended by %s",
			       target_signal_name(loop->signal));
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
		log_note("no address of a login: those have a ? and more "
			 "behind it");
	else if (!auth_redirected(remote_server_auth(l->t->remote), line))
		log_note("no address is waited for yet");
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

/* Where the browser is on another machine it cannot come back here. */
static int let_paste(struct login *l, struct err *err)
{
	if (!ask_person_is_there())
		return 0;
	log_note("if the browser is on another machine, it ends at a page that "
		 "cannot be loaded: paste the address of that page here");
	return loop_watch(&l->t->loop, &l->typed, STDIN_FILENO, EPOLLIN,
			  on_typed, l, err);
}

static int need_person(const struct target *t, struct err *err)
{
	if (!auth_lacks_person(remote_server_auth(t->remote)))
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "logging in needs a person: run it on a terminal, or "
		       "name a program that opens the page (--browser "
		       "PROGRAM); without a person a client of its own is "
		       "needed (--oauth-grant client_credentials or "
		       "jwt-bearer)");
}

/* The warning before it says why. */
static int need_store(const struct target *t, struct err *err)
{
	if (auth_keeps(remote_server_auth(t->remote)))
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "the login would end with this command: there is no "
		       "folder to keep its tokens in (--token-store DIR names "
		       "one)");
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
	auth_login(remote_server_auth(t->remote), on_done, &l);
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
	bool is_empty = auth_status(remote_server_auth(t->remote), &was,
				    &unread) == 0 &&
			!was.has_token && !was.has_refresh_token &&
			!was.has_client;

	auth_logout(remote_server_auth(t->remote), on_done, &l);
	if (wait_for(&l, err) < 0)
		return -1;
	return say(t, "logged_out",
		   is_empty ? "nothing was kept of" : "logged out of", err);
}

/* 0: there is a token that can be used, or renewed. 1: there is none. */
static int status(struct target *t, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct auth_said said = {
		.name = t->server,
		.url = str_of(remote_server_text(t->remote)),
	};
	struct jw w;
	int r;

	if (auth_status(remote_server_auth(t->remote), &said.status, err) < 0)
		return -1;
	if (t->json) {
		jw_init(&w, &out, false);
		auth_say_json(&said, &w);
		r = target_put_json(t, buf_str(&out), err);
	} else {
		auth_say_text(&said, &out);
		r = target_put_text(t, buf_str(&out), err);
	}
	if (r < 0)
		return -1;
	return auth_is_usable(&said.status) ? 0 : 1;
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
	const char *near = NULL;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		words[i] = actions[i].word;
	if (given)
		near = str_nearest(str_of(given), words, ARRAY_LEN(words));
	return err_set(err, ERR_USAGE,
		       "auth: say login, status or logout%s%s%s",
		       near ? "; did you mean " : "", near ? near : "",
		       near ? "?" : "");
}

static int check(const struct args *args, struct err *err)
{
	const char *given = args->n_positional ? args->positional[0] : NULL;

	if (!find_action(given))
		return no_action(given, err);
	if (args->after)
		return err_set(err, ERR_USAGE,
			       "auth is for remote servers; a program gets "
			       "its credentials by `env`");
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
		return err_set(err, ERR_USAGE,
			       "%s is a program; it gets its credentials by "
			       "`env`",
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
		return auth_list(args, err);
	if (!is_named)
		return err_set(err, ERR_USAGE,
			       "auth %s: which server? a [servers.NAME] of the "
			       "configuration, or --url URL",
			       args->positional[0]);
	return target_close(&t, run_action(&t, args, err), err);
}
