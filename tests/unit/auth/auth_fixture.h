/*
 * An MCP server that wants authorization, its authorization server, a browser
 * that agrees to everything, and one client of them, all on loopback.
 *
 *	struct world *w = world_begin("{\"rotate\":false}");
 *	w->options.scope = "mail.read";
 *	assert_int_equal(world_call(w), 200);
 *	assert_int_equal(world_count(w, "POST /token"), 1);
 *	world_end(w);
 *
 * What the two servers do is told as tests/helpers/authority.py says.
 */
#ifndef TESTS_UNIT_AUTH_FIXTURE_H
#define TESTS_UNIT_AUTH_FIXTURE_H

#include "tests/unit/test.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/auth/auth.h"
#include "core/auth/store.h"
#include "core/base/fd.h"
#include "core/base/mem.h"

/* The two servers, in one process for all tests of a program. */
struct authority {
	pid_t pid;
	int in, out;	/* its stdin and stdout */
	struct buf log; /* lines since the scenario began */
};

static struct authority authority = {.log = BUF_INIT(BUF_UNBOUNDED)};

static inline int authority_start(void **state)
{
	static char python[] = "python3",
		    script[] = "tests/helpers/authority.py";
	char *argv[] = {python, script, NULL};
	posix_spawn_file_actions_t actions;
	extern char **environ;
	int in[2], out[2];

	(void)state;
	if (fd_pipe(&in[0], &in[1]) < 0 || fd_pipe(&out[0], &out[1]) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if (posix_spawnp(&authority.pid, argv[0], &actions, NULL, argv,
			 environ) != 0)
		return -1;
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	authority.in = in[1];
	authority.out = out[0];
	return 0;
}

static inline int authority_stop(void **state)
{
	(void)state;
	close(authority.in); /* the end of its input ends it */
	close(authority.out);
	buf_release(&authority.log);
	return waitpid(authority.pid, NULL, 0) < 0;
}

/* What was said so far; waits where nothing was, when told to. */
static inline bool authority_read(bool wait)
{
	struct pollfd p = {.fd = authority.out, .events = POLLIN};
	char *room;
	ssize_t n;

	if (poll(&p, 1, wait ? -1 : 0) <= 0)
		return false;
	room = buf_room(&authority.log, 4096);
	assert_non_null(room);
	n = read(authority.out, room, 4096);
	if (n <= 0)
		return false;
	authority.log.n += (size_t)n;
	authority.log.p[authority.log.n] = '\0';
	return true;
}

struct world {
	struct loop loop;
	struct http *http;
	struct auth *auth;
	struct auth_context context;
	struct auth_options options;
	enum address_class range;
	char base[64], url[96]; /* "http://127.0.0.1:1234" and "/mcp" there */
	struct err err;		/* of the last call that failed */
	bool is_changed, is_done, has_failed;
	/* of the browser */
	char opened[2048]; /* the page that it was sent to */
	int page;	   /* status of what the listener answered */
	unsigned pages;	   /* opened so far */
	bool is_away;	   /* the browser opens nothing */
	/* of one request */
	int status;
	struct authorizer_try tries;
	enum authorizer_verdict verdict;
	unsigned requests;
	struct buf secrets; /* a line each */
};

static inline void world_turn(struct world *w)
{
	struct err err = ERR_INIT;

	assert_int_equal(loop_turn(&w->loop, &err), 0);
}

/* ---- the browser ---- */

static inline void browser_get(struct world *w, const char *url);

static inline void browser_came(void *arg, const struct http_fetched *f)
{
	struct world *w = arg;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct str location;

	if (!f->status) {
		w->page = -1;
		return;
	}
	if (f->status == 302 &&
	    http_head_get(f->head, "Location", 0, &location)) {
		buf_add_str(&b, location);
		browser_get(w, buf_cstr(&b));
	} else {
		w->page = f->status;
	}
}

static inline void browser_get(struct world *w, const char *url)
{
	struct reach reach = reach_of_user();

	(void)!http_fetch(w->http,
			  &(struct http_request){
				  .method = "GET", .url = url, .reach = &reach},
			  browser_came, w);
}

static inline int browser_open(void *arg, const char *url, struct err *err)
{
	struct world *w = arg;

	(void)err;
	snprintf(w->opened, sizeof(w->opened), "%s", url);
	w->pages++;
	if (!w->is_away)
		browser_get(w, url);
	return 0;
}

/* ---- the client ---- */

static inline void world_changed(void *arg)
{
	((struct world *)arg)->is_changed = true;
}

static inline void world_secret(void *arg, struct str value)
{
	struct world *w = arg;

	buf_add_str(&w->secrets, value);
	buf_addc(&w->secrets, '\n');
}

static inline struct world *world_begin(const char *scenario)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct err err = ERR_INIT;
	const char *port;

	assert_int_equal(loop_init(&w->loop, clock_system(), &err), 0);
	assert_int_equal(http_new(&(struct http_options){.loop = &w->loop,
							 .user_agent = "test"},
				  &w->http, &err),
			 0);
	while (authority_read(false))
		;
	buf_clear(&authority.log);
	assert_int_equal(fd_write_all(authority.in, scenario, strlen(scenario)),
			 0);
	assert_int_equal(fd_write_all(authority.in, "\n", 1), 0);
	while (!strstr(buf_cstr(&authority.log), "\n"))
		assert_true(authority_read(true));
	port = strstr(buf_cstr(&authority.log), "port ");
	assert_non_null(port);
	snprintf(w->base, sizeof(w->base), "http://127.0.0.1:%d",
		 (int)strtol(port + 5, NULL, 10));
	snprintf(w->url, sizeof(w->url), "%s/mcp", w->base);
	buf_clear(&authority.log);
	w->range = ADDRESS_LOOPBACK;
	w->secrets.max = BUF_UNBOUNDED;
	w->options.url = w->url;
	w->context = (struct auth_context){
		.loop = &w->loop,
		.http = w->http,
		.person = {.open = browser_open, .arg = w},
		.on_secret = world_secret,
		.server_range = &w->range,
		.arg = w,
		.server_name = "files",
	};
	return w;
}

static inline void world_end(struct world *w)
{
	auth_free(w->auth);
	store_free(w->context.store);
	http_free(w->http);
	loop_release(&w->loop);
	buf_wipe(&w->secrets);
	free(w);
}

static inline struct authorizer *world_authorizer(struct world *w)
{
	struct err err = ERR_INIT;
	struct authorizer *a;

	if (!w->auth && auth_new(&w->context, &w->options, &w->auth, &err) < 0)
		fail_msg("%s", err.msg);
	a = auth_authorizer(w->auth);
	a->changed = world_changed;
	a->arg = w;
	return a;
}

static inline void world_came(void *arg, const struct http_fetched *f)
{
	struct world *w = arg;
	struct authorizer *a = auth_authorizer(w->auth);

	w->status = f->status ? f->status : -1;
	assert_int_not_equal(f->status, 0);
	a->type->answered(a, f->head);
	w->tries.unauthorized += f->status == 401;
	w->tries.forbidden += f->status == 403;
	if (f->status == 401 || f->status == 403)
		w->verdict = a->type->refused(a, "POST", w->url, f->head,
					      f->body, &w->tries, &w->err);
}

static inline void world_send(struct world *w,
			      const struct http_headers *headers)
{
	struct reach reach = reach_of_user();

	w->status = 0;
	w->verdict = AUTHORIZER_GO;
	w->requests++;
	(void)!http_fetch(w->http,
			  &(struct http_request){.method = "POST",
						 .url = w->url,
						 .headers = headers,
						 .content = STR("{}"),
						 .reach = &reach},
			  world_came, w);
	while (!w->status)
		world_turn(w);
}

/* One request as a transport sends it; its status, or -1 with w->err. */
static inline int world_call(struct world *w)
{
	struct authorizer *a = world_authorizer(w);

	w->tries = (struct authorizer_try){0};
	for (;;) {
		struct http_headers headers = {0};
		enum authorizer_verdict v =
			a->type->sign(a, "POST", w->url, &headers, &w->err);

		w->is_changed = false;
		if (v == AUTHORIZER_GO) {
			world_send(w, &headers);
			v = w->verdict;
		}
		http_headers_release(&headers);
		if (v == AUTHORIZER_NO)
			return -1;
		while (v == AUTHORIZER_WAIT && !w->is_changed)
			world_turn(w);
		if (v == AUTHORIZER_GO && w->status != 401 && w->status != 403)
			return w->status;
	}
}

static inline void world_done(void *arg, const struct err *err)
{
	struct world *w = arg;

	w->is_done = true;
	w->has_failed = err != NULL;
	if (err)
		w->err = *err;
}

/* Requests whose line begins with this, or has it where it begins with "*". */
static inline size_t world_count(struct world *w, const char *what)
{
	struct str rest;
	size_t n = 0;

	(void)w;
	while (authority_read(false))
		;
	rest = buf_str(&authority.log);
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');

		n += *what == '*' ? memmem(line.p, line.n, what + 1,
					   strlen(what + 1)) != NULL
				  : str_starts(line, what);
	}
	return n;
}

static inline void world_expect(struct world *w, const char *part)
{
	if (!strstr(w->err.msg, part))
		fail_msg("no \"%s\" in: %s", part, w->err.msg);
}

/* What would be printed wherever it did not do what the test says. */
static inline void world_show(void)
{
	while (authority_read(false))
		;
	print_message("%s", buf_cstr(&authority.log));
}

#endif
