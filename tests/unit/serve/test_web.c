#include "tests/unit/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/serve/web.h"

#define A "token-of-client-a"
#define B "token-of-client-b"
/* Turns of the loop in which whatever is to be sent must be there. */
#define TURNS 3000

/* A clock that a test sets. */
static uint64_t test_now_ns;

static uint64_t now_ns(UNUSED struct clock *c)
{
	return test_now_ns;
}

static struct clock test_clock = {.now_ns = now_ns};

static void on_hold(UNUSED struct server_call *c)
{
}

static void on_answered(void *arg, UNUSED const struct server_reply *r)
{
	struct server_call *c = arg;

	(void)!server_begin(c);
	server_finish(c, false);
}

static void on_park(struct server_call *c)
{
	assert_non_null(server_ask(c, "sampling/createMessage", STR("{}"),
				   on_answered, c));
	server_put(c);
}

static const struct server_method methods[] = {
	{"hold", SERVER_ALWAYS, on_hold},
	{"park", SERVER_ALWAYS, on_park},
	{0},
};

static const struct server_info info = {
	.name = "test",
	.version = "1",
	.instructions = "",
	.capabilities = "{}",
	.list_scope = "private",
	.methods = methods,
};

struct site {
	struct loop loop;
	struct web *web;
	int port;
	struct loop_timer at_once;
};

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static void nothing(UNUSED void *arg)
{
}

static int set_up(void **state)
{
	static const char *tokens[] = {A, B};
	struct site *s = test_calloc(1, sizeof(*s));
	const struct web_options o = {
		.loop = &s->loop,
		.info = &info,
		.address = "127.0.0.1:0",
		.tokens = {tokens, ARRAY_LEN(tokens)},
	};
	struct err err = ERR_INIT;

	test_now_ns = 1000 * NS_PER_S;
	s->at_once = (struct loop_timer){.fire = nothing};
	*state = s;
	assert_int_equal(loop_init(&s->loop, &test_clock, &err), 0);
	if (web_new(&o, &s->web, &err) == 0)
		s->port = number(strrchr(web_url(s->web), ':') + 1);
	else
		assert_int_equal(err.kind, ERR_UNKNOWN);
	return 0;
}

static int tear_down(void **state)
{
	struct site *s = *state;

	web_free(s->web);
	loop_timer_clear(&s->loop, &s->at_once);
	loop_release(&s->loop);
	test_free(s);
	return 0;
}

FIXTURE(web, set_up, tear_down);

/* Begin a test; it ends where libmicrohttpd is not installed. */
#define SITE                     \
	struct site *s = *state; \
                                 \
	if (!s->web) {           \
		skip();          \
		return;          \
	}

/* ---- clients ---- */

struct peer {
	struct site *s;
	const char *token;
	char session[33]; /* "" before */
	const char *name; /* of the newer era */
	int fd;
	bool is_closed;
	struct buf got;
};

/* Turn the loop until the peer has got the text, or its connection ends. */
static bool turn_until(struct peer *p, const char *text)
{
	struct err err = ERR_INIT;
	char in[4096];

	for (int i = 0; i < TURNS; i++) {
		struct pollfd wait = {.fd = p->fd, .events = POLLIN};
		ssize_t n;

		loop_timer_set(&p->s->loop, &p->s->at_once, test_now_ns);
		assert_int_equal(loop_turn(&p->s->loop, &err), 0);
		n = recv(p->fd, in, sizeof(in), MSG_DONTWAIT);
		if (n > 0)
			buf_add(&p->got, in, (size_t)n);
		p->is_closed |= n == 0 || (n < 0 && errno == ECONNRESET);
		if (strstr(buf_cstr(&p->got), text))
			return true;
		if (p->is_closed)
			return false;
		(void)poll(&wait, 1, i < 8 ? 0 : 1);
	}
	return false;
}

/* Let what is due happen. */
static void turn(struct site *s)
{
	struct err err = ERR_INIT;

	for (int i = 0; i < 8; i++) {
		loop_timer_set(&s->loop, &s->at_once, test_now_ns);
		assert_int_equal(loop_turn(&s->loop, &err), 0);
	}
}

/* Let time go by, and what is due in it happen. */
static void pass(struct site *s, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		test_now_ns += NS_PER_S;
		turn(s);
	}
}

static struct peer connect_to(struct site *s, const char *token)
{
	const struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)s->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct peer p = {
		.s = s,
		.token = token,
		.name = "test",
		.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
		.got = BUF_INIT(BUF_UNBOUNDED),
	};

	assert_int_equal(connect(p.fd, (const void *)&at, sizeof(at)), 0);
	turn(s);
	return p;
}

static void leave(struct peer *p)
{
	fd_closep(&p->fd);
	buf_release(&p->got);
	turn(p->s);
}

static void put(struct peer *p, const char *text)
{
	size_t n = strlen(text);

	assert_int_equal(send(p->fd, text, n, MSG_NOSIGNAL), n);
}

/* Send the head of a request; `more`: its further lines. */
static void put_head(struct peer *p, const char *verb, size_t body_bytes,
		     const char *more)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_clear(&p->got);
	buf_addf(&out,
		 "%s /mcp HTTP/1.1\r\nHost: localhost\r\n"
		 "Authorization: Bearer %s\r\nContent-Length: %zu\r\n%s",
		 verb, p->token, body_bytes, more);
	if (p->session[0])
		buf_addf(&out, "Mcp-Session-Id: %s\r\n", p->session);
	buf_adds(&out, "\r\n");
	put(p, buf_cstr(&out));
}

/* Status of the answer; 0: there is none. */
static int take_answer(struct peer *p)
{
	const char *rest;
	ptrdiff_t end;

	if (!turn_until(p, "\r\n\r\n"))
		return 0;
	rest = strstr(buf_cstr(&p->got), "Content-Length: ");
	end = strstr(buf_cstr(&p->got), "\r\n\r\n") - buf_cstr(&p->got) + 4;
	if (rest && (size_t)(end + number(rest + 16)) > p->got.n)
		(void)turn_until(p, "}\n");
	return number(buf_cstr(&p->got) + 9);
}

static int ask(struct peer *p, const char *verb, const char *body,
	       const char *more)
{
	put_head(p, verb, strlen(body), more);
	put(p, body);
	return take_answer(p);
}

static int ping(struct peer *p)
{
	return ask(p, "POST",
		   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "");
}

/* Begin a session. */
static int hello(struct peer *p)
{
	static const char key[] = "Mcp-Session-Id: ";
	int status = ask(p, "POST",
			 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
			 "\"initialize\",\"params\":{\"protocolVersion\":"
			 "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
			 "\"name\":\"t\",\"version\":\"1\"}}}",
			 "");
	const char *id = strstr(buf_cstr(&p->got), key);

	if (id)
		snprintf(p->session, sizeof(p->session), "%.32s",
			 id + strlen(key));
	return status;
}

/* Send a call of the newer era. more  members of params, each with a comma
   behind it */
static void put_alone(struct peer *p, const char *method, const char *more)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&body,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{"
		 "%s\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
		 "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\""
		 ":{\"sampling\":{}},\"io.modelcontextprotocol/clientInfo\":{"
		 "\"name\":\"%s\",\"version\":\"1\"}}}}",
		 method, more, p->name);
	buf_addf(&head,
		 "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n",
		 method);
	put_head(p, "POST", body.n, buf_cstr(&head));
	put(p, buf_cstr(&body));
}

static int alone(struct peer *p, const char *method, const char *more)
{
	put_alone(p, method, more);
	return take_answer(p);
}

/* Begin a call of the older era that is not answered. */
static void hold(struct peer *p)
{
	static const char body[] =
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hold\","
		"\"params\":{}}";

	put_head(p, "POST", strlen(body), "");
	put(p, body);
}

/* Params that bring the answer to the last question. */
static void write_answer(const struct peer *p, struct buf *out)
{
	const char *state = strstr(buf_cstr(&p->got), "\"requestState\":\"");
	const char *key = strstr(buf_cstr(&p->got), "\"inputRequests\":{\"q");

	assert_non_null(state);
	assert_non_null(key);
	buf_addf(out, "%.49s,\"inputResponses\":{\"q%d\":{}},", state,
		 number(key + 19));
}

/* ---- time ---- */

TEST_IN(web, session, idle_for_its_limit, ends)
{
	SITE struct peer idle = connect_to(s, A), used = connect_to(s, A);
	struct peer streams = connect_to(s, A), reads;

	assert_int_equal(hello(&idle), 200);
	leave(&idle);
	assert_int_equal(hello(&used), 200);
	leave(&used);
	assert_int_equal(hello(&streams), 200);
	assert_int_equal(ask(&streams, "GET", "", ""), 200);
	test_now_ns += WEB_IDLE_S / 2 * NS_PER_S;
	turn(s);
	reads = connect_to(s, A);
	memcpy(reads.session, used.session, sizeof(reads.session));
	assert_int_equal(ping(&reads), 200);
	test_now_ns += (WEB_IDLE_S / 2 - 1) * NS_PER_S;
	leave(&reads);
	pass(s, 10);
	reads = connect_to(s, A);
	memcpy(reads.session, idle.session, sizeof(reads.session));
	assert_int_equal(ping(&reads), 404);
	memcpy(reads.session, used.session, sizeof(reads.session));
	assert_int_equal(ping(&reads), 200);
	memcpy(reads.session, streams.session, sizeof(reads.session));
	assert_int_equal(ping(&reads), 200);
	leave(&reads);
	leave(&streams);
}

TEST_IN(web, connection, with_half_a_head, ends)
{
	SITE struct peer slow = connect_to(s, A), twin = connect_to(s, B);

	for (unsigned i = 0; i < WEB_PATIENCE_S; i += 10) {
		assert_false(slow.is_closed);
		put(&slow, i ? "x" : "POST /mcp HTTP/1.1\r\nX: ");
		pass(s, 10);
		assert_int_equal(alone(&twin, "server/discover", ""), 200);
	}
	pass(s, 10);
	assert_false(turn_until(&slow, "HTTP"));
	assert_true(slow.is_closed);
	assert_int_equal(alone(&twin, "server/discover", ""), 200);
	leave(&slow);
	leave(&twin);
}

TEST_IN(web, connection, with_half_a_body, ends)
{
	SITE struct peer slow = connect_to(s, A), twin = connect_to(s, B);

	put_head(&slow, "POST", 1000, "");
	for (unsigned i = 0; i < WEB_BODY_S; i += 10) {
		put(&slow, " ");
		pass(s, 10);
		assert_int_equal(alone(&twin, "server/discover", ""), 200);
	}
	assert_int_equal(recv(slow.fd, slow.session, 1, MSG_DONTWAIT), -1);
	pass(s, 10);
	assert_false(turn_until(&slow, "HTTP"));
	assert_true(slow.is_closed);
	assert_int_equal(alone(&twin, "server/discover", ""), 200);
	leave(&slow);
	leave(&twin);
}

TEST_IN(web, connection, whose_client_leaves_within_a_message, ends)
{
	SITE struct peer head = connect_to(s, A), body = connect_to(s, A);

	put(&head, "POST /mcp HTTP/1.1\r\nX: ");
	(void)shutdown(head.fd, SHUT_WR);
	put_head(&body, "POST", 1000, "");
	put(&body, "{");
	(void)shutdown(body.fd, SHUT_WR);
	pass(s, 10);
	assert_false(turn_until(&head, "HTTP"));
	assert_true(head.is_closed);
	assert_false(turn_until(&body, "HTTP"));
	assert_true(body.is_closed);
	leave(&head);
	leave(&body);
}

TEST_IN(web, stream, never_read, ends_alone)
{
	SITE struct peer deaf = connect_to(s, A), twin = connect_to(s, A);
	bool is_told = true;

	assert_int_equal(hello(&deaf), 200);
	assert_int_equal(ask(&deaf, "GET", "", ""), 200);
	assert_int_equal(hello(&twin), 200);
	assert_int_equal(ask(&twin, "GET", "", ""), 200);
	/* more than the sockets hold, and a stream may hold unread */
	for (unsigned i = 0; is_told && i < 100000; i++) {
		web_changed(s->web, "notifications/tools/list_changed");
		if (i % 1000)
			continue;
		buf_clear(&twin.got);
		web_changed(s->web, "notifications/prompts/list_changed");
		is_told = turn_until(&twin, "prompts");
	}
	assert_true(is_told);
	while (turn_until(&deaf, "list_changed"))
		buf_clear(&deaf.got);
	assert_true(deaf.is_closed);
	leave(&deaf);
	leave(&twin);
}

TEST_IN(web, initialize, refused, begins_no_session)
{
	static const char *const bodies[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":7}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"initialize\"}",
	};
	SITE struct peer p = connect_to(s, A);

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		assert_int_equal(ask(&p, "POST", bodies[i], ""),
				 i == 2 ? 202 : 200);
		assert_null(strstr(buf_cstr(&p.got), "Mcp-Session-Id"));
	}
	assert_int_equal(hello(&p), 200);
	leave(&p);
}

TEST_IN(web, the_end, with_requests_open_and_unread, is_orderly)
{
	SITE struct peer reads = connect_to(s, A), open = connect_to(s, A);
	struct peer waits = connect_to(s, A), fresh = connect_to(s, A);

	put_alone(&open, "hold", "");
	assert_int_equal(hello(&reads), 200);
	assert_int_equal(ask(&reads, "GET", "", ""), 200);
	put_alone(&waits, "hold", "");
	put_head(&fresh, "POST", 100, "");
	web_free(s->web);
	s->web = NULL;
	leave(&reads);
	leave(&open);
	leave(&waits);
	leave(&fresh);
}

/* ---- clients against each other ---- */

TEST_IN(web, session, of_another_client, is_none)
{
	SITE struct peer mine = connect_to(s, A), other = connect_to(s, B);

	assert_int_equal(hello(&mine), 200);
	memcpy(other.session, mine.session, sizeof(other.session));
	assert_int_equal(ping(&other), 404);
	assert_int_equal(ask(&other, "GET", "", ""), 404);
	assert_int_equal(ask(&other, "DELETE", "", ""), 404);
	assert_int_equal(ping(&mine), 200);
	leave(&mine);
	leave(&other);
}

TEST_IN(web, sessions, too_many_of_one_client, leave_those_of_another)
{
	static struct peer greedy[WEB_SESSIONS + 1];
	SITE struct peer mine = connect_to(s, B), other = connect_to(s, B);

	assert_int_equal(hello(&mine), 200);
	for (size_t i = 0; i < ARRAY_LEN(greedy); i++) {
		greedy[i] = connect_to(s, A);
		/* its own sessions have open calls, that of the other is idle
		 */
		if (hello(&greedy[i]) == 200)
			hold(&greedy[i]);
		else
			assert_int_equal(i, ARRAY_LEN(greedy) - 2);
		if (i == ARRAY_LEN(greedy) - 2)
			break;
	}
	assert_int_equal(ping(&mine), 200);
	assert_int_equal(hello(&other), 200);
	for (size_t i = 0; i < ARRAY_LEN(greedy) - 1; i++)
		leave(&greedy[i]);
	leave(&mine);
	leave(&other);
}

TEST_IN(web, parked_calls, too_many_of_one_client, leave_those_of_another)
{
	SITE AUTO(buf_release) struct buf answer = BUF_INIT(BUF_UNBOUNDED);
	struct peer mine = connect_to(s, B), greedy = connect_to(s, A);

	assert_int_equal(alone(&mine, "park", ""), 200);
	write_answer(&mine, &answer);
	for (int i = 0; i <= SERVER_PARKED_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "name %d", i);
		greedy.name = name;
		assert_int_equal(alone(&greedy, "park", ""), 200);
	}
	greedy.name = "test";
	assert_int_equal(alone(&greedy, "park", buf_cstr(&answer)), 400);
	assert_int_equal(alone(&mine, "park", buf_cstr(&answer)), 200);
	assert_non_null(strstr(buf_cstr(&mine.got), "complete"));
	leave(&mine);
	leave(&greedy);
}
