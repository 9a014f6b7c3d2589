/* What a hostile program says to the proxy, and what it is answered. */

#include "tests/unit/test.h"

#include "gate/proxy/proxy_request.h"

#define BYTES(s)                   \
	{                          \
		(s), sizeof(s) - 1 \
	}

static const struct said_case {
	struct str in;
	bool greeted;
	enum proxy_said want;
	enum proxy_outcome outcome; /* when wrong */
	const char *target;	    /* when asked */
	size_t left;		    /* bytes behind the request */
} SAID[] = {
	/* CONNECT */
	{BYTES("CONNECT a.example:443 HTTP/1.1\r\nHost: b\r\n\r\n"), false,
	 PROXY_ASKED, 0, "a.example:443", 0},
	{BYTES("CONNECT A.Example.:443 HTTP/1.0\r\n\r\nbytes"), false,
	 PROXY_ASKED, 0, "a.example:443", 5},
	{BYTES("CONNECT [::1]:443 HTTP/1.1\r\n\r\n"), false, PROXY_ASKED, 0,
	 "[::1]:443", 0},
	{BYTES("CONNECT a.example HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_HOST, NULL, 0},
	{BYTES("CONNECT a.example:443\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("CONNECT a.example:443 HTTP/2.0\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("CONNECT  a.example:443 HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("CONNECT a\0.example:443 HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("CONNECT a%00.example:443 HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_HOST, NULL, 0},
	{BYTES("CONNECT 127.1:443 HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_HOST, NULL, 0},
	{BYTES("CONNECT a.example:443 HTTP/1.1\r\n"), false, PROXY_MORE, 0,
	 NULL, 0},
	{BYTES("CONNECT a.example:443 HTTP/1.1\n\n"), false, PROXY_MORE, 0,
	 NULL, 0},
	/* absolute form */
	{BYTES("GET http://a.example/x HTTP/1.1\r\n\r\n"), false, PROXY_ASKED,
	 0, "a.example:80", 0},
	{BYTES("GET HTTP://a.example:81?q HTTP/1.1\r\n\r\n"), false,
	 PROXY_ASKED, 0, "a.example:81", 0},
	{BYTES("POST http://a.example/ HTTP/1.1\r\nContent-Length: "
	       "2\r\n\r\nab"),
	 false, PROXY_ASKED, 0, "a.example:80", 2},
	{BYTES("GET http://u:p@a.example/ HTTP/1.1\r\n\r\n"), false,
	 PROXY_WRONG, PROXY_BAD_HOST, NULL, 0},
	{BYTES("GET http:///x HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_HOST, NULL, 0},
	{BYTES("GET http://a.example/#x HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("GET https://a.example/ HTTP/1.1\r\n\r\n"), false, PROXY_WRONG,
	 PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n"), false,
	 PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("GET http://a.example/ HTTP/1.1\r\nA b\r\n\r\n"), false,
	 PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("GET http://a.example/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n"), false,
	 PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("GET http://a.example/ HTTP/1.1\r\nA: b\rc\r\n\r\n"), false,
	 PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("GET http://a.example/ HTTP/1.1\r\nA : b\r\n\r\n"), false,
	 PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	/* neither */
	{BYTES(""), false, PROXY_MORE, 0, NULL, 0},
	{BYTES("\x04\x01"), false, PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("\x16\x03\x01"), false, PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("\r\n"), false, PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	/* SOCKS5 */
	{BYTES("\5"), false, PROXY_MORE, 0, NULL, 0},
	{BYTES("\5\2\0"), false, PROXY_MORE, 0, NULL, 0},
	{BYTES("\5\2\2\0"), false, PROXY_GREETED, 0, NULL, 0},
	{BYTES("\5\1\2"), false, PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("\5\0"), false, PROXY_WRONG, PROXY_BAD_REQUEST, NULL, 0},
	{BYTES("\5\1\0\3\x09"
	       "a.example\1\xbbmore"),
	 true, PROXY_ASKED, 0, "a.example:443", 4},
	{BYTES("\5\1\0\1\x7f\0\0\1\0\x50"), true, PROXY_ASKED, 0,
	 "127.0.0.1:80", 0},
	{BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50"), true,
	 PROXY_ASKED, 0, "[::1]:80", 0},
	{BYTES("\5\1\0\3\x09"
	       "127.0.0.1\0\x50"),
	 true, PROXY_ASKED, 0, "127.0.0.1:80", 0},
	{BYTES("\5\1\0\3\x09"
	       "a.example\1"),
	 true, PROXY_MORE, 0, NULL, 0},
	{BYTES("\5\1\0\3"), true, PROXY_MORE, 0, NULL, 0},
	{BYTES("\5\1\0\3\0\0\x50"), true, PROXY_WRONG, PROXY_BAD_HOST, NULL, 0},
	{BYTES("\5\1\0\3\x0b"
	       "evil.b\0.com\0\x50"),
	 true, PROXY_WRONG, PROXY_BAD_HOST, NULL, 0},
	{BYTES("\5\1\0\3\x09"
	       "a.example\0\0"),
	 true, PROXY_WRONG, PROXY_BAD_HOST, NULL, 0},
	{BYTES("\5\2\0\1\1\2\3\4\0\x50"), true, PROXY_WRONG, PROXY_BAD_COMMAND,
	 NULL, 0},
	{BYTES("\5\3\0\1\1\2\3\4\0\x50"), true, PROXY_WRONG, PROXY_BAD_COMMAND,
	 NULL, 0},
	{BYTES("\5\1\0\2\1\2\3\4\0\x50"), true, PROXY_WRONG, PROXY_BAD_TYPE,
	 NULL, 0},
	{BYTES("GET http://a.example/ HTTP/1.1\r\n\r\n"), true, PROXY_WRONG,
	 PROXY_BAD_REQUEST, NULL, 0},
};

TEST(read, table, is_a_request_or_what_is_wrong)
{
	for (size_t i = 0; i < ARRAY_LEN(SAID); i++) {
		AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
		const struct said_case *c = &SAID[i];
		char target[ENDPOINT_TEXT_BYTES] = "";
		struct proxy_request r;
		enum proxy_said said = proxy_read(c->in, c->greeted, &head, &r);

		if (said != c->want)
			fail_msg("row %zu (%s): said %d", i, c->in.p, said);
		if (said == PROXY_WRONG && r.outcome != c->outcome)
			fail_msg("row %zu (%s): outcome %d", i, c->in.p,
				 r.outcome);
		if (said != PROXY_ASKED)
			continue;
		endpoint_target_text(&r.target, target);
		if (strcmp(target, c->target) != 0 ||
		    c->in.n - r.used != c->left)
			fail_msg("row %zu: \"%s\", %zu used", i, target,
				 r.used);
	}
}

/* However the bytes come, the request is the same once it is whole. */
TEST(read, chopped_anywhere, asks_for_more_until_whole)
{
	for (size_t i = 0; i < ARRAY_LEN(SAID); i++) {
		const struct said_case *c = &SAID[i];

		if (c->want != PROXY_ASKED)
			continue;
		for (size_t n = 0; n < c->in.n - c->left; n++) {
			AUTO(buf_release)
			struct buf head = BUF_INIT(BUF_UNBOUNDED);
			struct proxy_request r;

			if (proxy_read((struct str){c->in.p, n}, c->greeted,
				       &head, &r) != PROXY_MORE)
				fail_msg("row %zu at byte %zu", i, n);
		}
	}
}

TEST(read, head_at_its_ceiling, takes_a_head_at_its_ceiling)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	struct proxy_request r;

	buf_adds(&in, "GET http://a.example/ HTTP/1.1\r\nA: ");
	while (in.n < PROXY_HEAD_BYTES - 4)
		buf_addc(&in, 'x');
	assert_int_equal(proxy_read(buf_str(&in), false, &head, &r),
			 PROXY_MORE);
	buf_adds(&in, "\r\n\r\n");
	assert_int_equal(proxy_read(buf_str(&in), false, &head, &r),
			 PROXY_ASKED);
	assert_true(head.n <= PROXY_HEAD_BYTES + PROXY_HEAD_MORE);
	in.p[in.n - 4] = 'x';
	assert_int_equal(proxy_read(buf_str(&in), false, &head, &r),
			 PROXY_WRONG);
	assert_int_equal(r.outcome, PROXY_TOO_LARGE);
}

TEST(head, absolute_form, is_written_anew)
{
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	struct proxy_request r;

	assert_int_equal(
		proxy_read(STR("PUT http://a.example:8080/p?q HTTP/1.1\r\n"
			       "hOST: evil.example\r\nAccept: */*\r\n"
			       "Proxy-Connection: keep-alive\r\n"
			       "proxy-authorization: secret\r\n"
			       "Connection: keep-alive, x\r\nUpgrade: h2c\r\n"
			       "Content-Length: 1\r\n\r\nb"),
			   false, &head, &r),
		PROXY_ASKED);
	assert_string_equal(buf_cstr(&head),
			    "PUT /p?q HTTP/1.1\r\nHost: a.example:8080\r\n"
			    "Accept: */*\r\nContent-Length: 1\r\n"
			    "Connection: close\r\n\r\n");
	buf_clear(&head);
	assert_int_equal(proxy_read(STR("GET http://[2001:db8::1]?a HTTP/1.0"
					"\r\n\r\n"),
				    false, &head, &r),
			 PROXY_ASKED);
	assert_string_equal(buf_cstr(&head),
			    "GET /?a HTTP/1.0\r\nHost: [2001:db8::1]\r\n"
			    "Connection: close\r\n\r\n");
}

static struct endpoint_target target(const char *text)
{
	struct endpoint_target t;

	assert_int_equal(endpoint_target_authority(str_of(text), 0, &t), 0);
	return t;
}

TEST(answer, every_outcome, is_well_formed)
{
	const struct endpoint_target t = target("a.example:443");

	for (int i = 0; i < N_PROXY_OUTCOMES; i++) {
		AUTO(buf_release) struct buf http = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf socks = BUF_INIT(BUF_UNBOUNDED);

		proxy_answer(PROXY_HTTP_CONNECT, (enum proxy_outcome)i, &t,
			     &http);
		proxy_answer(PROXY_SOCKS, (enum proxy_outcome)i, &t, &socks);
		assert_memory_equal(buf_cstr(&http), "HTTP/1.1 ", 9);
		assert_non_null(strstr(buf_cstr(&http), "\r\n\r\n"));
		assert_int_equal(socks.p[0], 5);
		assert_int_equal((i == PROXY_CONNECTED), socks.p[1] == 0);
	}
}

TEST(answer, refused, names_the_line)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct endpoint_target t = target("a.example:443");

	proxy_answer(PROXY_HTTP_PLAIN, PROXY_UNLISTED, &t, &out);
	assert_non_null(strstr(buf_cstr(&out), "403 Forbidden"));
	assert_non_null(strstr(buf_cstr(&out),
			       "sandbox = { net = [\"a.example:443\"] }"));
	buf_clear(&out);
	/* nothing allows a name to mean this machine */
	proxy_answer(PROXY_HTTP_PLAIN, PROXY_LOCAL, &t, &out);
	assert_null(strstr(buf_cstr(&out), "to allow it"));
	buf_clear(&out);
	proxy_answer(PROXY_HTTP_PLAIN, PROXY_CONNECTED, &t, &out);
	assert_int_equal(out.n, 0);
}
