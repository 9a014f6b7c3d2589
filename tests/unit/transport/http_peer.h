/*
 * A server of MCP over HTTP for tests, on http_server.h. It does what a list
 * of steps says: the first step that was not used up and fits a request is
 * its answer.
 */
#ifndef TESTS_UNIT_HTTP_PEER_H
#define TESTS_UNIT_HTTP_PEER_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/scan.h"
#include "tests/unit/transport/http_server.h"

enum peer_then {
	PEER_DONE,  /* the answer has its length; the connection stays */
	PEER_STAYS, /* no length: a stream that stays open */
	PEER_ENDS,  /* no length: closed behind it */
	PEER_CUT,   /* its length says more than what comes */
	PEER_HANGS, /* nothing is answered at all */
	PEER_SLOW,  /* as PEER_ENDS, one byte in each turn */
};

struct peer_step {
	/* "POST initialize": the verb, and a text that is in the request */
	const char *want;
	/*
	 * "200 application/json", more lines of headers, an empty line, the
	 * body. "$ID" is the id of the request. NULL ends a list of steps.
	 */
	const char *reply;
	enum peer_then then;
	unsigned times; /* 0: once; PEER_ALWAYS */
};

#define PEER_ALWAYS 1000000

struct peer;

/* What is still to be sent on a connection. */
struct peer_output {
	struct peer *peer;
	struct connection *to; /* NULL: none was accepted yet */
	struct buf bytes;
	bool is_slow, closes;
	struct loop_timer timer;
};

struct peer {
	struct http_server server; /* first */
	char url[64];
	struct peer_output output[CONNECTIONS_MAX]; /* by its number - 1 */
	const struct peer_step *steps;
	unsigned used[64];
	/* what came: "POST initialize session=S version=2025-06-18", … */
	struct buf log;
	size_t gets; /* those for a stream of its own, which come any time */
	uint64_t times_ns[256];
	size_t n_requests;
	/* bytes that go out on the stream that stays open */
	struct peer_output *stream;
};

static void peer_close(struct peer_output *o)
{
	connection_end(o->to);
}

static void peer_on_ended(struct connection *c)
{
	struct peer *p = (struct peer *)c->server;
	struct peer_output *o = &p->output[c->number - 1];

	loop_timer_clear(c->server->loop, &o->timer);
	if (p->stream == o)
		p->stream = NULL;
}

static void peer_write(struct peer_output *o)
{
	struct loop *loop = o->peer->server.loop;
	int fd = o->to->watch.fd;

	while (o->bytes.n && fd >= 0) {
		size_t n = o->is_slow ? 1 : o->bytes.n;
		ssize_t w =
			send(fd, o->bytes.p, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (w < 0 && errno == EAGAIN)
			break;
		if (w < 0) {
			peer_close(o);
			return;
		}
		buf_drop(&o->bytes, (size_t)w);
		if (o->is_slow)
			break;
	}
	if (o->bytes.n)
		loop_timer_set(loop, &o->timer, loop_now(loop) + 1);
	else if (o->closes)
		peer_close(o);
}

static void peer_on_timer(void *arg)
{
	peer_write(arg);
}

/* Say more on the stream that is open. */
static UNUSED void peer_say(struct peer *p, const char *text)
{
	if (!p->stream)
		return;
	buf_adds(&p->stream->bytes, text);
	peer_write(p->stream);
}

static bool peer_find(struct str text, const char *what, size_t *ret)
{
	size_t n = strlen(what);

	for (size_t i = 0; i + n <= text.n; i++)
		if (strncasecmp(text.p + i, what, n) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

static bool peer_header(struct str head, const char *name, struct str *ret)
{
	char line[64];
	size_t at;

	snprintf(line, sizeof(line), "\r\n%s:", name);
	if (!peer_find(head, line, &at))
		return false;
	at += strlen(line);
	*ret = (struct str){head.p + at, head.n - at};
	ret->n = str_find(*ret, '\r');
	*ret = str_trim(*ret);
	return true;
}

static void peer_log(struct peer *p, struct str verb, struct str head,
		     struct str method)
{
	static const char *const shown[][2] = {
		{"mcp-session-id", "session"},
		{"mcp-protocol-version", "version"},
		{"mcp-method", "method"},
		{"mcp-name", "name"},
		{"mcp-param-region", "region"},
		{"mcp-param-count", "count"},
		{"last-event-id", "last"},
		{"authorization", "auth"},
	};
	struct str v;

	if (str_is(verb, "GET") && !peer_header(head, "last-event-id", &v)) {
		p->gets++;
		return;
	}
	buf_add_str(&p->log, verb);
	if (method.n)
		buf_addf(&p->log, " %.*s", STR_ARG(method));
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (peer_header(head, shown[i][0], &v))
			buf_addf(&p->log, " %s=%.*s", shown[i][1], STR_ARG(v));
	buf_addc(&p->log, '\n');
}

static const struct peer_step *peer_step_for(struct peer *p, struct str verb,
					     struct str whole)
{
	for (size_t i = 0; p->steps[i].reply; i++) {
		const struct peer_step *s = &p->steps[i];
		struct str want = str_of(s->want);
		struct str of = str_cut(&want, ' ');
		size_t at;

		if (p->used[i] >= (s->times ? s->times : 1) ||
		    !str_eq(of, verb))
			continue;
		if (want.n && !peer_find(whole, want.p, &at))
			continue;
		p->used[i]++;
		return s;
	}
	return NULL;
}

/* The reply of a step, with the id in it. */
static void peer_reply(struct peer_output *o, const struct peer_step *s,
		       struct str id)
{
	struct str text = str_of(s->reply);
	struct str line = str_cut(&text, '\n');
	struct str status = str_cut(&line, ' ');
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&o->bytes, "HTTP/1.1 %.*s X\r\n", STR_ARG(status));
	if (line.n)
		buf_addf(&o->bytes, "Content-Type: %.*s\r\n", STR_ARG(line));
	while (text.n && text.p[0] != '\n') {
		struct str header = str_cut(&text, '\n');

		buf_addf(&o->bytes, "%.*s\r\n", STR_ARG(header));
	}
	/* the empty line */
	text.p += text.n > 0;
	text.n -= text.n > 0;
	while (text.n) {
		if (str_starts(text, "$ID")) {
			buf_add_str(&body, id);
			text.p += 3;
			text.n -= 3;
			continue;
		}
		buf_addc(&body, *text.p++);
		text.n--;
	}
	if (s->then == PEER_DONE || s->then == PEER_CUT)
		buf_addf(&o->bytes, "Content-Length: %zu\r\n",
			 body.n + (s->then == PEER_CUT ? 100 : 0));
	else
		buf_adds(&o->bytes, "Connection: close\r\n");
	buf_adds(&o->bytes, "\r\n");
	buf_add_str(&o->bytes, buf_str(&body));
	o->closes = s->then == PEER_ENDS || s->then == PEER_CUT ||
		    s->then == PEER_SLOW;
	o->is_slow = s->then == PEER_SLOW;
	if (s->then == PEER_STAYS)
		o->peer->stream = o;
	peer_write(o);
}

static struct peer_output *peer_output_of(struct connection *c)
{
	struct peer *p = (struct peer *)c->server;
	struct peer_output *o = &p->output[c->number - 1];

	if (!o->to)
		*o = (struct peer_output){
			.peer = p,
			.to = c,
			.bytes = BUF_INIT(BUF_UNBOUNDED),
			.timer = {.fire = peer_on_timer, .arg = o},
		};
	return o;
}

static void peer_answer(struct connection *c, const char *request)
{
	static const struct peer_step none = {"", "599 text/plain\n\nno step",
					      PEER_DONE, 0};
	struct peer_output *o = peer_output_of(c);
	struct peer *p = o->peer;
	struct str in = str_of(request), head, verb, id = STR("null");
	struct str body, method = STR(""), value;
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	const struct peer_step *s;
	struct err ignored = ERR_INIT;
	size_t at = 0;

	assert_true(peer_find(in, "\r\n\r\n", &at));
	head = (struct str){in.p, at + 2};
	body = (struct str){in.p + at + 4, in.n - at - 4};
	verb = (struct str){head.p, str_find(head, ' ')};
	if (scan_document(body, NULL, &value, &ignored) == 0) {
		if (!scan_get(value, "id", &id))
			id = STR("null");
		if (scan_get(value, "method", &method))
			scan_string(method, &name);
	}
	method = buf_str(&name);
	p->times_ns[p->n_requests++ % ARRAY_LEN(p->times_ns)] =
		loop_now(p->server.loop);
	peer_log(p, verb, head, method);
	s = peer_step_for(p, verb, in);
	if (!s)
		s = &none;
	if (s->then != PEER_HANGS)
		peer_reply(o, s, id);
}

static UNUSED void peer_begin(struct peer *p, struct loop *loop,
			      const struct peer_step *steps)
{
	*p = (struct peer){
		.steps = steps,
		.log = BUF_INIT(BUF_UNBOUNDED),
	};
	http_server_open(&p->server, loop);
	p->server.answer = peer_answer;
	p->server.ended = peer_on_ended;
	snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%u/mcp",
		 p->server.port);
}

static UNUSED void peer_end(struct peer *p)
{
	int n = p->server.accepted;

	http_server_close(&p->server);
	for (int i = 0; i < n; i++)
		buf_release(&p->output[i].bytes);
	buf_release(&p->log);
}

#endif
