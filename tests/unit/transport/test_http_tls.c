/* Certificates and HTTP/2. */
#include "tests/unit/transport/tls_server.h"

static void begin_at(struct world *w, struct saw *saw, const char *host,
		     const char *name, const char *path)
{
	AUTO(mem_freep) char *url = url_of("https", host, name, path);
	struct http_request r = request_for(w, saw);

	r.url = url;
	saw->exchange = http_send(w->http, &r);
}

static void get_at(struct world *w, struct saw *saw, const char *host,
		   const char *name)
{
	begin_at(w, saw, host, name, "/");
	wait_for(w, &saw->is_over);
}

static int connection_of(const struct saw *saw)
{
	struct http_head head = {.lines = buf_str(&saw->lines)};
	struct str value;
	uint64_t n;

	assert_true(http_head_get(&head, "x-connection", 0, &value));
	assert_true(str_uint64(value, &n));
	return (int)n;
}

/* ---- certificates ---- */

static const struct certificate {
	const char *name, *host, *say_what;
} BAD[] = {
	{"expired", "127.0.0.1", "expired"},
	{"expired", "localhost", "expired"},
	{"wrong", "127.0.0.1", "no alternative certificate subject name"},
	{"wrong", "localhost", "no alternative certificate subject name"},
	{"unknown", "127.0.0.1", "not accepted"},
	{"unknown", "localhost", "issuer"},
};

TEST_IN(tls_world, RW_112, certificate_not_good, nothing_is_sent)
{
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		AUTO(saw_release) struct saw saw = {0};

		get_at(w, &saw, BAD[i].host, BAD[i].name);
		assert_end(&saw, HTTP_TLS, NULL);
		if (!strstr(saw.end.err.msg, BAD[i].say_what))
			fail_msg("%s, %s: %s", BAD[i].name, BAD[i].host,
				 saw.end.err.msg);
		assert_false(saw.end.is_sent || saw.has_head);
	}
}

TEST_IN(tls_world, certificate, good_with_its_authority, accepted)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	get_at(w, &saw, "localhost", "good");
	assert_end(&saw, HTTP_DONE, NULL);
	assert_body(&saw, "GET ");
	assert_int_equal(saw.range, ADDRESS_LOOPBACK);
	get_at(w, &saw, "127.0.0.1", "good");
	assert_end(&saw, HTTP_DONE, NULL);
}

TEST_IN(tls_world, certificate, good_without_its_authority, refused)
{
	struct world w;
	AUTO(saw_release) struct saw saw = {0};

	world_open(&w, NULL);
	get_at(&w, &saw, "localhost", "good");
	assert_end(&saw, HTTP_TLS, "not accepted");
	world_close(&w);
}

TEST_IN(tls_world, authorities, no_file_or_none_in_it, error)
{
	AUTO(mem_freep)
	char *key = mem_printf("%s/ca.key", (char *)tls.folder);
	struct world *w = *state;
	struct http_options options = {
		.loop = &w->loop,
		.user_agent = "x",
		.ca_file = "/nonexistent/ca.pem",
	};
	struct err err = ERR_INIT;
	struct http *h = NULL;

	assert_int_equal(http_new(&options, &h, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	options.ca_file = key;
	assert_int_equal(http_new(&options, &h, &err), -1);
	assert_int_equal(err.kind, ERR_SYNTAX);
	assert_null(h);
}

TEST_IN(tls_world, tls, older_than_1_2, refused)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	get_at(w, &saw, "localhost", "old");
	assert_end(&saw, HTTP_TLS, "1.2 or later");
	assert_false(saw.end.is_sent);
}

/* Those that wait for the first connection to a host must hear of its end. */
TEST_IN(tls_world, certificate, not_good_for_many_at_once, each_fails)
{
	struct world *w = *state;
	struct saw saw[10] = {0};

	for (size_t i = 0; i < ARRAY_LEN(saw); i++)
		begin_at(w, &saw[i], "localhost", "expired", "/");
	for (size_t i = 0; i < ARRAY_LEN(saw); i++) {
		wait_for(w, &saw[i].is_over);
		assert_end(&saw[i], HTTP_TLS, "expired");
		saw_release(&saw[i]);
	}
}

TEST_IN(tls_world, tls, to_a_plain_server_or_plain_to_tls, fails)
{
	AUTO(mem_freep) char *plain = url_of("http", "localhost", "good", "/");
	struct world *w = *state;
	AUTO(mem_freep)
	char *silent = mem_printf("https://127.0.0.1:%u/", w->server.port);
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	r.url = plain;
	saw.exchange = http_send(w->http, &r);
	wait_for(w, &saw.is_over);
	assert_int_not_equal(saw.end.kind, HTTP_DONE);

	r = request_for(w, &saw);
	r.url = silent;
	r.connect_ms = 50;
	saw.exchange = http_send(w->http, &r);
	wait_for(w, &saw.is_over);
	assert_end(&saw, HTTP_TIMEOUT, "no connection within 50 ms");
	assert_false(saw.end.is_sent);
}

/* ---- HTTP/2 ---- */

static bool has_http2(struct world *w)
{
	AUTO(saw_release) struct saw saw = {0};
	bool has;

	get_at(w, &saw, "localhost", "good");
	has = saw.is_http2;
	return has;
}

TEST_IN(tls_world, HT_9, http2_and_many_at_once, one_connection)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw stream = {0};
	struct saw saw[20] = {0};

	if (!has_http2(w))
		skip();
	begin_at(w, &stream, "localhost", "good", "/stream");
	while (!stream.body.n)
		turn(w);
	for (size_t i = 0; i < ARRAY_LEN(saw); i++)
		begin_at(w, &saw[i], "localhost", "good", "/");
	for (size_t i = 0; i < ARRAY_LEN(saw); i++) {
		wait_for(w, &saw[i].is_over);
		assert_end(&saw[i], HTTP_DONE, NULL);
		assert_true(saw[i].is_http2);
		assert_int_equal(connection_of(&saw[i]),
				 connection_of(&stream));
		saw_release(&saw[i]);
	}
	assert_false(stream.is_over);
	http_cancel(stream.exchange);
}

TEST_IN(tls_world, HT_9, http1_beside_a_stream, another_connection)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw stream = {0};
	AUTO(saw_release) struct saw saw = {0};

	begin_at(w, &stream, "localhost", "one", "/stream");
	while (!stream.body.n)
		turn(w);
	get_at(w, &saw, "localhost", "one");
	assert_end(&saw, HTTP_DONE, NULL);
	assert_false(saw.is_http2);
	assert_int_not_equal(connection_of(&saw), connection_of(&stream));
	http_cancel(stream.exchange);
}

TEST_IN(tls_world, http2, connection_of_a_wider_reach, not_reused)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	get_at(w, &saw, "localhost", "good");
	assert_end(&saw, HTTP_DONE, NULL);
	w->reach = reach_of_server(ADDRESS_PUBLIC);
	get_at(w, &saw, "localhost", "good");
	assert_end(&saw, HTTP_REFUSED, "localhost is ");
	assert_false(saw.end.is_sent);
}

TEST_FILE(tls_begin_file, tls_close);
