/* Connections for other protocols: opened, used, ended. */
#include "tests/unit/transport/tls_server.h"

#include <errno.h>
/* Sends all of `out`, and ends when as much came back. */
struct talk {
	struct http_tunnel *tunnel;
	struct str out;
	struct buf in;
	bool is_over, has_failed;
	size_t whole;
	struct http_end end;
};

static void talk_on(void *arg)
{
	struct talk *t = arg;
	ssize_t n = 0;

	while (t->out.n && n >= 0) {
		n = http_tunnel_write(t->tunnel, t->out);
		if (n > 0)
			t->out = (struct str){t->out.p + n,
					      t->out.n - (size_t)n};
	}
	if (n < 0)
		assert_int_equal(errno, EAGAIN);
}

static void listen_to(void *arg)
{
	struct talk *t = arg;
	char bytes[5000];
	ssize_t n;

	while ((n = http_tunnel_read(t->tunnel, bytes, sizeof(bytes))) > 0)
		buf_add(&t->in, bytes, (size_t)n);
	if (n < 0)
		assert_int_equal(errno, EAGAIN);
	t->is_over = n == 0 || t->in.n == t->whole;
}

static void note_failure(void *arg, const struct http_end *end)
{
	struct talk *t = arg;

	t->is_over = t->has_failed = true;
	t->end = *end;
}

static void talk_to(struct world *w, struct talk *t, const char *url)
{
	struct http_request r = {.url = url, .reach = &w->reach};
	const struct http_tunnel_handler handler = {
		.opened = talk_on,
		.writable = talk_on,
		.readable = listen_to,
		.failed = note_failure,
		.arg = t,
	};

	t->in = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	t->whole = t->out.n;
	t->tunnel = http_tunnel_open(w->http, &r, &handler);
	wait_for(w, &t->is_over);
}

TEST_IN(tls_world, tunnel, over_tls, bytes_both_ways)
{
	AUTO(mem_freep) char *url = url_of("wss", "localhost", "echo", "/x");
	AUTO(buf_release) struct buf much = BUF_INIT(BUF_UNBOUNDED);
	struct world *w = *state;
	struct talk t = {.tunnel = NULL};

	while (much.n < 3000000)
		buf_addf(&much, "%zu,", much.n);
	t.out = buf_str(&much);
	talk_to(w, &t, url);
	assert_false(t.has_failed);
	assert_true(str_eq(buf_str(&t.in), buf_str(&much)));
	buf_release(&t.in);
	http_tunnel_free(t.tunnel);
}

static void echo(struct connection *c, const char *request)
{
	say(c, str_of(request));
	connection_end(c);
}

TEST_IN(tls_world, tunnel, plain, bytes_both_ways_and_the_end)
{
	struct world *w = *state;
	AUTO(mem_freep)
	char *url = mem_printf("ws://127.0.0.1:%u/", w->server.port);
	struct talk t = {.out = STR("GET / HTTP/1.1\r\n\r\n")};
	char byte;

	w->server.answer = echo;
	talk_to(w, &t, url);
	assert_false(t.has_failed);
	assert_string_equal(buf_cstr(&t.in), "GET / HTTP/1.1\r\n\r\n");
	t.is_over = false;
	t.whole = 0;
	wait_for(w, &t.is_over);
	assert_int_equal(http_tunnel_read(t.tunnel, &byte, 1), 0);
	buf_release(&t.in);
	http_tunnel_free(t.tunnel);
}

static const struct no_tunnel {
	const char *scheme, *host, *name;
	bool from_server;
	enum http_end_kind kind;
} NO_TUNNEL[] = {
	{"wss", "localhost", "expired", false, HTTP_TLS},
	{"wss", "localhost", "unknown", false, HTTP_TLS},
	{"wss", "localhost", "echo", true, HTTP_REFUSED},
	{"ws", "0.0.0.0", "echo", false, HTTP_REFUSED},
	{"wss", "nobody.invalid", "echo", false, HTTP_RESOLVE},
};

TEST_IN(tls_world, tunnel, not_to_be_opened, failed_with_reason)
{
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(NO_TUNNEL); i++) {
		const struct no_tunnel *n = &NO_TUNNEL[i];
		AUTO(mem_freep)
		char *url = url_of(n->scheme, n->host, n->name, "/");
		struct talk t = {.tunnel = NULL};

		w->reach = n->from_server ? reach_of_server(ADDRESS_PUBLIC)
					  : reach_of_user();
		talk_to(w, &t, url);
		assert_true(t.has_failed);
		if (t.end.kind != n->kind)
			fail_msg("%s: %s", url, t.end.err.msg);
		assert_int_equal(http_tunnel_write(t.tunnel, STR("x")), -1);
		http_tunnel_free(t.tunnel);
	}
}

static void note_opened(void *arg)
{
	struct talk *t = arg;

	t->is_over = true;
}

TEST_IN(tls_world, tunnel, freed_at_any_time, silent)
{
	AUTO(mem_freep) char *url = url_of("wss", "localhost", "echo", "/");
	struct world *w = *state;
	struct http_request r = {.url = url, .reach = &w->reach};
	struct talk t = {.tunnel = NULL};
	const struct http_tunnel_handler handler = {
		.opened = note_opened,
		.writable = talk_on,
		.readable = listen_to,
		.failed = note_failure,
		.arg = &t,
	};

	/* after each turn on the way, and when it is open */
	for (int turns = 0; !t.is_over; turns++) {
		t.tunnel = http_tunnel_open(w->http, &r, &handler);
		for (int i = 0; i < turns && !t.is_over; i++)
			turn(w);
		http_tunnel_free(t.tunnel);
	}
	http_tunnel_free(NULL);
	assert_false(t.has_failed);
	/* it outlives what it came from */
	t.tunnel = http_tunnel_open(w->http, &r, &handler);
	turn(w);
	http_free(w->http);
	w->http = NULL;
	assert_int_equal(http_tunnel_write(t.tunnel, STR("x")), -1);
	http_tunnel_free(t.tunnel);
}

TEST_FILE(tls_begin_file, tls_close);
