/*
 * A client of HTTP, a server for it (http_server.h), and what the client was
 * told.
 *
 *	struct world w;
 *	world_open(&w, NULL);	or a file of authorities
 *	w.server.answer = ...	called for each whole request
 *	r = request_for(&w, &saw);	AUTO(saw_release) struct saw saw = {0};
 *	assert_ask(&w, &r, "/path", HTTP_DONE, NULL);
 *	world_close(&w);
 */
#ifndef TESTS_UNIT_HTTP_WORLD_H
#define TESTS_UNIT_HTTP_WORLD_H

#include <signal.h>

#include "core/transport/http.h"
#include "tests/unit/transport/http_server.h"

struct world {
	struct loop loop;
	struct http_server server;
	struct http *http;
	struct reach reach;
};

/* What one exchange was told. */
struct saw {
	struct world *world;
	struct http_exchange *exchange;
	bool is_over, has_head;
	bool cancels_in_head, cancels_in_body, has_enough;
	int status, heads;
	struct buf lines, media_type, body;
	enum address_class range;
	bool is_http2;
	struct http_end end;
};

static inline void world_open(struct world *w, const char *ca_file)
{
	struct http_options options = {
		.loop = &w->loop,
		.user_agent = "matins/test",
		.ca_file = ca_file,
	};
	struct err err = ERR_INIT;

	memset(w, 0, sizeof(*w));
	w->reach = reach_of_user();
	assert_int_equal(loop_init(&w->loop, clock_system(), &err), 0);
	http_server_open(&w->server, &w->loop);
	if (http_new(&options, &w->http, &err) < 0)
		fail_msg("%s", err.msg);
}

static inline void world_close(struct world *w)
{
	http_free(w->http);
	http_server_close(&w->server);
	loop_release(&w->loop);
}

/* Harmless for one that is zeroed; request_for() begins with it. */
static inline void saw_release(struct saw *s)
{
	buf_release(&s->lines);
	buf_release(&s->media_type);
	buf_release(&s->body);
}

static inline void on_head(void *arg, const struct http_head *head)
{
	struct saw *s = arg;

	s->has_head = true;
	s->heads++;
	s->status = head->status;
	s->range = head->range;
	s->is_http2 = head->is_http2;
	buf_add_str(&s->lines, head->lines);
	buf_add_str(&s->media_type, head->media_type);
	if (s->cancels_in_head)
		http_cancel(s->exchange);
}

static inline bool on_body(void *arg, struct str bytes)
{
	struct saw *s = arg;

	assert_true(s->has_head);
	buf_add_str(&s->body, bytes);
	if (s->cancels_in_body)
		http_cancel(s->exchange);
	return !s->has_enough;
}

static inline void on_end(void *arg, const struct http_end *end)
{
	struct saw *s = arg;

	assert_false(s->is_over || s->cancels_in_head || s->cancels_in_body);
	s->is_over = true;
	s->end = *end;
}

/* A request that is filled but for what the test wants else. */
static inline struct http_request request_for(struct world *w, struct saw *saw)
{
	saw_release(saw);
	*saw = (struct saw){
		.world = w,
		.lines = BUF_INIT(BUF_UNBOUNDED),
		.media_type = BUF_INIT(BUF_UNBOUNDED),
		.body = BUF_INIT(BUF_UNBOUNDED),
	};
	return (struct http_request){
		.method = "GET",
		.reach = &w->reach,
		.head = on_head,
		.body = on_body,
		.end = on_end,
		.arg = saw,
	};
}

/* Send to the server of the world. */
static inline void ask(struct world *w, struct http_request *r,
		       const char *path)
{
	AUTO(mem_freep)
	char *url = mem_printf("http://127.0.0.1:%u%s", w->server.port, path);
	struct saw *saw = r->arg;

	r->url = url;
	saw->exchange = http_send(w->http, r);
	r->url = NULL;
}

static inline void turn(struct world *w)
{
	struct err err = ERR_INIT;

	assert_int_equal(loop_turn(&w->loop, &err), 0);
}

static inline void wait_for(struct world *w, const bool *what)
{
	while (!*what)
		turn(w);
}

static inline void assert_end(const struct saw *s, enum http_end_kind kind,
			      const char *say_what)
{
	static const char *const words[] = {
#define HTTP_END(name, word) [name] = (word),
		HTTP_ENDS(HTTP_END)
#undef HTTP_END
	};

	if (s->end.kind != kind)
		fail_msg("%s (%s), not %s", words[s->end.kind],
			 s->end.kind == HTTP_DONE ? "" : s->end.err.msg,
			 words[kind]);
	if (say_what && !strstr(s->end.err.msg, say_what))
		fail_msg("\"%s\" has no \"%s\"", s->end.err.msg, say_what);
}

/* ask(), and how it must end; say_what is in the sentence, NULL: any */
static inline void assert_ask(struct world *w, struct http_request *r,
			      const char *path, enum http_end_kind kind,
			      const char *say_what)
{
	struct saw *saw = r->arg;

	ask(w, r, path);
	wait_for(w, &saw->is_over);
	assert_end(saw, kind, say_what);
}

static inline void assert_get(struct world *w, struct saw *saw,
			      const char *path, enum http_end_kind kind,
			      const char *say_what)
{
	struct http_request r = request_for(w, saw);

	assert_ask(w, &r, path, kind, say_what);
}

static inline void assert_body(const struct saw *s, const char *body)
{
	assert_string_equal(buf_cstr(&s->body), body);
}

static inline int world_set_up(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	world_open(w, NULL);
	*state = w;
	return 0;
}

static inline int world_tear_down(void **state)
{
	world_close(*state);
	test_free(*state);
	return 0;
}

FIXTURE(world, world_set_up, world_tear_down);

/* Once for a file: a test that hangs is a failure, not a long wait. */
static inline int world_begin_file(UNUSED void **state)
{
	signal(SIGPIPE, SIG_IGN);
	alarm(60);
	return 0;
}

#endif
