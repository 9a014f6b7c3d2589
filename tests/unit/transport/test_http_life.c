/* Many exchanges at once, connections, who may use them, and an early end. */
#include "tests/unit/transport/http_world.h"

/* "/stream" never ends; anything else is answered at once. */
static void answer(struct connection *c, const char *request)
{
	if (strstr(request, " /stream"))
		SAY(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		       "Transfer-Encoding: chunked\r\n\r\n"
		       "8\r\ndata: x\n\r\n");
	else
		SAY(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

/* ---- connections ---- */

TEST_IN(world, send, before_the_loop_turns, makes_no_callback)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	r.url = "no url at all";
	saw.exchange = http_send(w->http, &r);
	assert_false(saw.is_over);
	wait_for(w, &saw.is_over);
	assert_end(&saw, HTTP_BROKEN, "not a URL");
}

TEST_IN(world, HT_9, one_after_the_other, share_one_connection)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = answer;
	for (int i = 0; i < 5; i++) {
		assert_get(w, &saw, "/", HTTP_DONE, NULL);
	}
	assert_int_equal(w->server.requests, 5);
	assert_int_equal(w->server.accepted, 1);
}

TEST_IN(world, get, hundreds_at_once, are_all_answered)
{
	enum { MANY = 300 };
	struct world *w = *state;
	struct saw *saw = test_calloc(MANY, sizeof(*saw));

	w->server.answer = answer;
	for (int i = 0; i < MANY; i++) {
		struct http_request r = request_for(w, &saw[i]);

		ask(w, &r, "/");
	}
	for (int i = 0; i < MANY; i++) {
		wait_for(w, &saw[i].is_over);
		assert_end(&saw[i], HTTP_DONE, NULL);
		assert_body(&saw[i], "ok");
		saw_release(&saw[i]);
	}
	assert_int_equal(w->server.requests, MANY);
	test_free(saw);
}

TEST_IN(world, HT_9, post_beside_streams_that_stay_open, is_answered)
{
	enum { STREAMS = 20 };
	struct world *w = *state;
	struct saw stream[STREAMS] = {0};
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = answer;
	for (int i = 0; i < STREAMS; i++) {
		struct http_request r = request_for(w, &stream[i]);

		ask(w, &r, "/stream");
	}
	for (int i = 0; i < STREAMS; i++)
		while (!stream[i].body.n)
			turn(w);
	for (int i = 0; i < 3; i++) {
		struct http_request r = request_for(w, &saw);

		r.method = "POST";
		assert_ask(w, &r, "/", HTTP_DONE, NULL);
	}
	assert_int_equal(w->server.accepted, STREAMS + 1);
	for (int i = 0; i < STREAMS; i++) {
		assert_false(stream[i].is_over);
		http_cancel(stream[i].exchange);
		saw_release(&stream[i]);
	}
}

TEST_IN(world, options, connections_max, is_never_passed)
{
	struct world *w = *state;
	struct http_options options = {
		.loop = &w->loop,
		.user_agent = "matins/test",
		.connections_max = 3,
	};
	struct err err = ERR_INIT;
	struct saw saw[20] = {0};

	w->server.answer = answer;
	http_free(w->http);
	assert_int_equal(http_new(&options, &w->http, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(saw); i++) {
		struct http_request r = request_for(w, &saw[i]);

		ask(w, &r, "/");
	}
	for (size_t i = 0; i < ARRAY_LEN(saw); i++) {
		wait_for(w, &saw[i].is_over);
		assert_end(&saw[i], HTTP_DONE, NULL);
		saw_release(&saw[i]);
	}
	assert_in_range(w->server.accepted, 1, 3);
}

/* The second request on a connection is taken, and not answered. */
static void end_at_the_second(struct connection *c, const char *request)
{
	if (c->number == 1 && c->server->requests == 2)
		connection_end(c);
	else
		answer(c, request);
}

TEST_IN(world, post, kept_connection_ends, is_not_sent_again)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r;

	w->server.answer = end_at_the_second;
	assert_get(w, &saw, "/", HTTP_DONE, NULL);
	r = request_for(w, &saw);
	r.method = "POST";
	r.content = STR("pay");
	assert_ask(w, &r, "/", HTTP_CUT, "without an answer");
	assert_true(saw.end.is_sent);
	assert_int_equal(w->server.requests, 2);
}

TEST_IN(world, get, kept_connection_ends, is_sent_again)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = end_at_the_second;
	for (int i = 0; i < 2; i++) {
		assert_get(w, &saw, "/", HTTP_DONE, NULL);
	}
	assert_int_equal(w->server.requests, 3);
}

/* ---- who may be connected to ---- */

TEST_IN(world, SEC_2, address_out_of_reach, is_refused_before_connecting)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = answer;
	w->reach = reach_of_server(ADDRESS_PUBLIC);
	assert_get(w, &saw, "/", HTTP_REFUSED, "127.0.0.1 is loopback: ");
	assert_false(saw.end.is_sent);
	assert_int_equal(w->server.accepted, 0);
}

TEST_IN(world, get, name_of_an_address_out_of_reach, is_refused)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	w->reach = reach_of_server(ADDRESS_PUBLIC);
	r.url = "http://localhost:1/";
	saw.exchange = http_send(w->http, &r);
	wait_for(w, &saw.is_over);
	assert_end(&saw, HTTP_REFUSED, "localhost is ");

	r = request_for(w, &saw);
	r.url = "http://0.0.0.0:1/";
	w->reach = reach_of_user();
	saw.exchange = http_send(w->http, &r);
	wait_for(w, &saw.is_over);
	assert_end(&saw, HTTP_REFUSED, "0.0.0.0");
}

/* What the user may use is open already; that lets nobody else in. */
TEST_IN(world, SEC_2, connection_of_a_wider_reach, is_not_reused)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = answer;
	assert_get(w, &saw, "/", HTTP_DONE, NULL);
	w->reach = reach_of_server(ADDRESS_PUBLIC);
	assert_get(w, &saw, "/", HTTP_REFUSED, "loopback");
	assert_false(saw.end.is_sent);
	assert_int_equal(w->server.requests, 1);
	w->reach = reach_of_server(ADDRESS_LOOPBACK);
	assert_get(w, &saw, "/", HTTP_DONE, NULL);
}

static bool allows_one_port(void *arg, struct str host,
			    const struct sockaddr *address, struct err *err)
{
	struct sockaddr_in v4;

	memcpy(&v4, address, sizeof(v4));
	assert_true(str_is(host, "127.0.0.1"));
	if (ntohs(v4.sin_port) == *(uint16_t *)arg)
		return true;
	err_set(err, ERR_PEER, "the leash forbids port %u", ntohs(v4.sin_port));
	return false;
}

TEST_IN(world, get, rule_of_a_leash, is_asked_with_address_and_port)
{
	struct world *w = *state;
	uint16_t port = w->server.port;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = answer;
	w->reach.allows = allows_one_port;
	w->reach.arg = &port;
	assert_get(w, &saw, "/", HTTP_DONE, NULL);
	port++;
	assert_get(w, &saw, "/", HTTP_REFUSED, "the leash forbids port");
	assert_int_equal(w->server.requests, 1);
}

TEST_IN(world, get, proxy_of_the_environment, is_not_used)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};

	w->server.answer = answer;
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	assert_get(w, &saw, "/", HTTP_DONE, NULL);
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
}

/* ---- an early end ---- */

TEST_IN(world, cancel, queued_running_or_in_callback, is_followed_by_nothing)
{
	struct world *w = *state;
	struct saw saw[5] = {0};
	AUTO(saw_release) struct saw other = {0};

	w->server.answer = answer;
	for (size_t i = 0; i < ARRAY_LEN(saw); i++) {
		struct http_request r = request_for(w, &saw[i]);

		saw[i].cancels_in_head = i == 3;
		saw[i].cancels_in_body = i == 4;
		ask(w, &r, i == 2 ? "/stream" : "/");
	}
	http_cancel(saw[0].exchange);
	turn(w);
	http_cancel(saw[1].exchange);
	while (!saw[2].body.n || !saw[3].has_head || !saw[4].body.n)
		turn(w);
	http_cancel(saw[2].exchange);
	assert_get(w, &other, "/", HTTP_DONE, NULL);
	for (size_t i = 0; i < ARRAY_LEN(saw); i++) {
		assert_false(saw[i].is_over);
		saw_release(&saw[i]);
	}
	assert_int_equal(saw[3].body.n, 0);
	http_cancel(NULL);
}

struct pair {
	struct saw saw;
	struct saw *other;
};

static bool cancel_other(void *arg, UNUSED struct str bytes)
{
	struct pair *p = arg;

	http_cancel(p->other->exchange);
	return true;
}

TEST_IN(world, cancel, another_from_a_callback, ends_it_silently)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw stream = {0};
	AUTO(saw_release) struct saw after = {0};
	struct http_request r = request_for(w, &stream);
	struct pair pair = {.other = &stream};

	w->server.answer = answer;
	ask(w, &r, "/stream");
	while (!stream.body.n)
		turn(w);
	r = request_for(w, &pair.saw);
	r.arg = &pair;
	r.body = cancel_other;
	assert_ask(w, &r, "/", HTTP_DONE, NULL);
	assert_get(w, &after, "/", HTTP_DONE, NULL);
	assert_false(stream.is_over);
	saw_release(&pair.saw);
}

TEST_IN(world, body, enough, end_follows_as_done)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw saw = {0};
	struct http_request r = request_for(w, &saw);

	w->server.answer = answer;
	saw.has_enough = true;
	assert_ask(w, &r, "/stream", HTTP_DONE, NULL);
	assert_body(&saw, "data: x\n");
}

TEST_IN(world, free, with_exchanges_of_each_kind, is_silent)
{
	struct world *w = *state;
	AUTO(saw_release) struct saw running = {0};
	AUTO(saw_release) struct saw queued = {0};
	struct http_request r = request_for(w, &running);

	w->server.answer = answer;
	ask(w, &r, "/stream");
	while (!running.body.n)
		turn(w);
	r = request_for(w, &queued);
	ask(w, &r, "/");
	http_free(w->http);
	w->http = NULL;
	assert_false(running.is_over || queued.is_over);
}

TEST_FILE(world_begin_file, NULL);
