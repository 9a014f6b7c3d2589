/* Exchanges with a plain server of our own, on loopback. */
#include "tests/unit/transport/http_world.h"

#include <signal.h>

#include "core/transport/http_head.h"

/* What the server says is chosen by the path. */
static void answer(struct connection *c, const char *request)
{
	if (strstr(request, " /chunked "))
		SAY(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		       "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n");
	else if (strstr(request, " /100 "))
		SAY(c, "HTTP/1.1 103 Early Hints\r\nX: early\r\n\r\n"
		       "HTTP/1.1 201 Created\r\nX: late\r\n"
		       "Content-Length: 0\r\n\r\n");
	else if (strstr(request, " /short "))
		SAY(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
	else if (strstr(request, " /bad-chunk "))
		SAY(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		       "3\r\nabc\r\nzz\r\n");
	else if (strstr(request, " /no-last-chunk "))
		SAY(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		       "3\r\nabc\r\n");
	else if (strstr(request, " /half-head "))
		SAY(c, "HTTP/1.1 200 OK\r\nContent-Le");
	else if (strstr(request, " /no-http "))
		SAY(c, "SSH-2.0-OpenSSH_9.2\r\n");
	else if (strstr(request, " /to-the-end "))
		SAY(c, "HTTP/1.1 200 OK\r\n\r\nall of it");
	else if (strstr(request, " /redirect "))
		SAY(c, "HTTP/1.1 307 Elsewhere\r\nLocation: /x\r\n"
		       "Set-Cookie: a=b\r\nContent-Length: 0\r\n\r\n");
	else if (!strstr(request, " /nothing ") &&
		 !strstr(request, " /hang ") && !strstr(request, " /s3cret?"))
		SAY(c, "HTTP/1.1 200 OK\r\nContent-Type: Text/PLAIN; x=y\r\n"
		       "X-Two: 1\r\nx-two:   2  \r\nX-Fold: a\r\n  b\r\n"
		       "Content-Length: 5\r\n\r\nhello");
	if (strstr(request, " /s3cret?") || strstr(request, " /to-the-end ") ||
	    strstr(request, " /short ") ||
	    strstr(request, " /no-last-chunk ") ||
	    strstr(request, " /half-head ") || strstr(request, " /nothing ") ||
	    strstr(request, " /no-http "))
		connection_end(c);
}

TEST_IN(world, get, answer, has_head_body_and_end)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_head head;
	struct str value;

	w->server.answer = answer;
	assert_get(w, &saw, "/", HTTP_DONE, NULL);
	assert_true(saw.end.is_sent);
	assert_int_equal(saw.heads, 1);
	assert_int_equal(saw.status, 200);
	assert_int_equal(saw.range, ADDRESS_LOOPBACK);
	assert_string_equal(buf_cstr(&saw.media_type), "text/plain");
	assert_body(&saw, "hello");
	head = (struct http_head){.lines = buf_str(&saw.lines)};
	assert_true(http_head_get(&head, "X-TWO", 1, &value));
	assert_true(str_is(value, "2"));
	assert_false(http_head_get(&head, "x-two", 2, &value));
	assert_true(http_head_get(&head, "x-fold", 0, &value));
	assert_true(str_is(value, "a b"));
}

TEST_IN(world, HT_10, request, has_what_was_given_and_no_more)
{
	struct world *w = *state;
	struct http_headers headers = {NULL, 0};
	struct err err = ERR_INIT;
	AUTO(mem_freep) char *expected = NULL;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	w->server.answer = answer;
	assert_int_equal(http_headers_set(&headers, "X-Empty", STR(""), &err),
			 0);
	assert_int_equal(http_headers_set(&headers, "Accept", STR("a/b"), &err),
			 0);
	r.headers = &headers;
	ask(w, &r, "/a/../b?c=%41");
	http_headers_release(&headers);
	wait_for(w, &saw.is_over);
	expected = mem_printf("GET /a/../b?c=%%41 HTTP/1.1\r\n"
			      "Host: 127.0.0.1:%u\r\n"
			      "User-Agent: matins/test\r\n"
			      "X-Empty:\r\nAccept: a/b\r\n"
			      "Accept-Encoding: identity\r\n\r\n",
			      w->server.port);
	assert_string_equal(buf_cstr(&w->server.last), expected);
}

TEST_IN(world, post, content, is_sent_with_its_length_as_given)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	w->server.answer = answer;
	r.method = "POST";
	r.content = STR("{\"a\":1}");
	assert_ask(w, &r, "/", HTTP_DONE, NULL);
	assert_non_null(strstr(w->server.last.p, "POST / HTTP/1.1\r\n"));
	assert_non_null(strstr(w->server.last.p, "\r\nContent-Length: 7\r\n"));
	assert_non_null(strstr(w->server.last.p, "\r\n\r\n{\"a\":1}"));
	assert_null(strstr(w->server.last.p, "Expect"));
	assert_null(strstr(w->server.last.p, "Content-Type"));

	r = request_for(w, &saw);
	r.method = "DELETE";
	ask(w, &r, "/x");
	wait_for(w, &saw.is_over);
	assert_non_null(strstr(w->server.last.p, "DELETE /x HTTP/1.1\r\n"));
	assert_null(strstr(w->server.last.p, "Content-"));
}

TEST_IN(world, post, large_content, is_sent_whole)
{
	AUTO(buf_release) struct buf content = BUF_INIT(BUF_UNBOUNDED);
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	w->server.answer = answer;
	while (content.n < 3000000)
		buf_adds(&content, "0123456789");
	r.method = "POST";
	r.content = buf_str(&content);
	assert_ask(w, &r, "/", HTTP_DONE, NULL);
	assert_true(str_ends(buf_str(&w->server.last), buf_cstr(&content)));
}

/* How each path ends. */
static const struct ending {
	const char *path;
	enum http_end_kind kind;
	int status;
	const char *body, *say_what;
} ENDINGS[] = {
	{"/chunked", HTTP_DONE, 200, "abcde", NULL},
	{"/100", HTTP_DONE, 201, "", NULL},
	{"/to-the-end", HTTP_DONE, 200, "all of it", NULL},
	{"/redirect", HTTP_DONE, 307, "", NULL},
	{"/short", HTTP_CUT, 200, "12345", "ended within the answer"},
	{"/bad-chunk", HTTP_CUT, 200, "abc", "ended within the answer"},
	{"/no-last-chunk", HTTP_CUT, 200, "abc", "ended within the answer"},
	{"/half-head", HTTP_CUT, 0, "", "without an answer"},
	{"/nothing", HTTP_CUT, 0, "", "without an answer"},
	{"/no-http", HTTP_BROKEN, 0, "", "not HTTP"},
};

TEST_IN(world, RW_111, each_ending, has_its_own_word)
{
	struct world *w = *state;

	w->server.answer = answer;
	for (size_t i = 0; i < ARRAY_LEN(ENDINGS); i++) {
		const struct ending *e = &ENDINGS[i];
		AUTO(saw_release) struct saw saw = {0};

		assert_get(w, &saw, e->path, e->kind, e->say_what);
		assert_true(saw.end.is_sent);
		assert_int_equal(saw.status, e->status);
		assert_body(&saw, e->body);
	}
	/* no cookie came back to it */
	assert_null(strstr(w->server.last.p, "Cookie"));
}

TEST_IN(world, SEC_10, sentence_of_an_end, has_no_query_and_no_path)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = answer;
	assert_get(w, &saw, "/s3cret?s3cret", HTTP_CUT, "127.0.0.1:");
	assert_null(strstr(saw.end.err.msg, "s3cret"));
}

/* ---- time and size ---- */

TEST_IN(world, get, silence, ends_by_the_idle_or_total_time)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	w->server.answer = answer;
	r.idle_ms = 30;
	assert_ask(w, &r, "/hang", HTTP_TIMEOUT, "nothing came for 30 ms");
	assert_true(saw.end.is_sent);

	r = request_for(w, &saw);
	r.total_ms = 30;
	assert_ask(w, &r, "/hang", HTTP_TIMEOUT,
		   "no whole answer within 30 ms");
}

TEST_IN(world, get, nobody_there, fails_to_connect)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	loop_unwatch(&w->loop, &w->server.watch);
	fd_closep(&w->server.fd);
	assert_get(w, &saw, "/", HTTP_CONNECT, "Connection refused");
	assert_false(saw.end.is_sent);
}

TEST_IN(world, get, name_without_address, fails_to_resolve)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	r.url = "http://nobody.invalid/?q=s3cret";
	r.connect_ms = 60000;
	saw.exchange = http_send(w->http, &r);
	wait_for(w, &saw.is_over);
	assert_end(&saw, HTTP_RESOLVE, "nobody.invalid: ");
	assert_null(strstr(saw.end.err.msg, "s3cret"));
	assert_false(saw.end.is_sent);
}

TEST_IN(world, get, scheme_that_is_none_of_ours, fails)
{
	static const char *const urls[] = {
		"file:///etc/passwd",
		"gopher://127.0.0.1/",
		"x",
		"",
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		AUTO(saw_release) struct saw saw = {0};
		struct http_request r = request_for(w, &saw);

		r.url = urls[i];
		r.reach = &w->reach;
		saw.exchange = http_send(w->http, &r);
		wait_for(w, &saw.is_over);
		assert_int_not_equal(saw.end.kind, HTTP_DONE);
		assert_false(saw.end.is_sent);
		assert_body(&saw, "");
	}
}

TEST_IN(world, get, body_over_its_max, ends_at_the_limit)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	w->server.answer = answer;
	r.body_max = 5;
	assert_ask(w, &r, "/", HTTP_DONE, NULL);

	r = request_for(w, &saw);
	r.body_max = 4;
	assert_ask(w, &r, "/", HTTP_LIMIT, "over 4 bytes");
}

static void say_large_head(struct connection *c, const char *request)
{
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	size_t line_bytes = strstr(request, "/one-line") ? 200000 : 1000;

	buf_adds(&head, "HTTP/1.1 200 OK\r\n");
	while (head.n < 300000) {
		buf_adds(&head, "X-Pad: ");
		for (size_t i = 0; i < line_bytes; i++)
			buf_addc(&head, 'x');
		buf_adds(&head, "\r\n");
	}
	buf_adds(&head, "\r\n");
	/* the client closes when it has had enough */
	(void)!send(c->watch.fd, head.p, head.n, MSG_NOSIGNAL);
	connection_end(c);
}

TEST_IN(world, get, head_over_its_max, ends_at_the_limit)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = say_large_head;
	assert_get(w, &saw, "/", HTTP_LIMIT, NULL);
	assert_get(w, &saw, "/one-line", HTTP_LIMIT, NULL);
	assert_int_equal(saw.heads, 0);
}

/* ---- packed though not asked for ---- */

/* "hello, hello, hello" by gzip. */
static const char PACKED[] = {
	0x1f,	    (char)0x8b, 0x08,	    0x00,	0x00,	    0x00,
	0x00,	    0x00,	0x02,	    0x03,	(char)0xcb, 0x48,
	(char)0xcd, (char)0xc9, (char)0xc9, (char)0xd7, 0x51,	    (char)0xc8,
	0x40,	    (char)0xa2, 0x00,	    (char)0x9f, (char)0xa1, (char)0xca,
	0x09,	    0x13,	0x00,	    0x00,	0x00,
};

static void say_packed(struct connection *c, const char *request)
{
	struct str packed = {PACKED, sizeof(PACKED)};
	AUTO(mem_freep) char *head = NULL;

	head = mem_printf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n"
			  "Content-Length: %zu\r\n\r\n",
			  strstr(request, "/odd") ? "rot13" : "gzip", packed.n);
	say(c, str_of(head));
	if (strstr(request, "/garbage"))
		packed.p = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03!!!!!!!!!!!"
			   "!!!!!!!!!!!!!!!!!";
	say(c, packed);
}

TEST_IN(world, RW_110, packed_though_not_asked_for, is_unpacked_or_refused)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r;

	w->server.answer = say_packed;
	assert_get(w, &saw, "/", HTTP_DONE, NULL);
	assert_body(&saw, "hello, hello, hello");
	assert_get(w, &saw, "/garbage", HTTP_BROKEN, "cannot be unpacked");
	assert_get(w, &saw, "/odd", HTTP_BROKEN, "cannot be unpacked");
	assert_body(&saw, "");
	/* the ceiling is that of the unpacked bytes */
	r = request_for(w, &saw);
	r.body_max = 18;
	assert_ask(w, &r, "/", HTTP_LIMIT, NULL);
}

TEST_FILE(world_begin_file, NULL);
