/*
 * What transports of whole messages tell a session: the messages, requests
 * that are lost, and times that do not count.
 */
#include "tests/unit/test.h"

#include "tests/unit/mcp/session_talk.h"

static void hear(struct talk *t, const char *message)
{
	session_message(t->s, str_of(message), t->now);
	collect(t);
}

static void begin_ready(struct talk *t, uint64_t *ticket)
{
	const struct session_options o = {.protocol = "2025-11-25"};
	struct err err = ERR_INIT;

	begin(t, &o);
	hear(t, ANSWER("1", INITIALIZED));
	assert_int_equal(session_call_tool(t->s, "a", str_of(ARGS), t->now,
					   ticket, &err),
			 0);
	buf_clear(&t->events);
}

TEST(session, pretty_printed_message, stays_as_it_is)
{
	uint64_t ticket;
	struct talk t;

	begin_ready(&t, &ticket);
	hear(&t, "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 2,\n"
		 "  \"result\": {\n\t\"content\": []\n}\n}");
	assert_non_null(strstr(buf_cstr(&t.events), "{\n\t\"content\": []\n}"));
	end(&t);
}

TEST(session, array, is_as_many_messages)
{
	struct err err = ERR_INIT;
	uint64_t ticket, other;
	struct talk t;

	begin_ready(&t, &ticket);
	assert_int_equal(
		session_call_tool(t.s, "b", str_of(ARGS), t.now, &other, &err),
		0);
	hear(&t, "[\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"n\":2}},\n"
		 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":1}}]");
	assert_non_null(strstr(buf_cstr(&t.events), "{\"n\":2}"));
	assert_non_null(strstr(buf_cstr(&t.events), "{\"n\":1}"));
	end(&t);
}

TEST(session, text_that_is_none, is_skipped)
{
	uint64_t ticket;
	struct talk t;

	begin_ready(&t, &ticket);
	hear(&t, "");
	hear(&t, "hello\n{\"jsonrpc\"");
	hear(&t, "{\n}");
	hear(&t, "{\"level\":30,\n\"msg\":\"x\"}");
	hear(&t, "Content-Length: 12");
	assert_int_equal(session_state(t.s), SESSION_READY);
	end(&t);
}

TEST(session, message_over_the_ceiling, is_told)
{
	const struct session_options o = {.protocol = "2025-11-25",
					  .message_max = 300};
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	uint64_t ticket;
	struct talk t;

	begin(&t, &o);
	hear(&t, ANSWER("1", INITIALIZED));
	assert_int_equal(
		session_call_tool(t.s, "a", str_of(ARGS), t.now, &ticket, &err),
		0);
	buf_adds(&text, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"");
	while (text.n < 400)
		buf_addc(&text, 'x');
	buf_adds(&text, "\"}");
	hear(&t, buf_cstr(&text));
	assert_non_null(strstr(buf_cstr(&t.events), "output_limit"));
	assert_int_equal(session_state(t.s), SESSION_READY);
	end(&t);
}

TEST(session, large_result, can_be_taken)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;
	uint64_t ticket;
	struct talk t;
	char *memory;

	begin_ready(&t, &ticket);
	buf_adds(&text, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"");
	while (text.n < 200000)
		buf_addc(&text, 'x');
	buf_adds(&text, "\"}");
	session_message(t.s, buf_str(&text), t.now);
	assert_true(session_next(t.s, &e));
	memory = session_take(t.s, e.result);
	assert_non_null(memory);
	assert_int_equal(e.result.p[1], 'x');
	assert_false(session_next(t.s, &e));
	free(memory);
	end(&t);
}

/* ---- lost ---- */

static void lose(struct talk *t, const char *id, enum session_failure failure)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_PEER, "the wire broke");
	session_lost(t->s, id ? str_of(id) : (struct str){NULL, 0}, failure,
		     &err, t->now);
	collect(t);
}

TEST(session, request_lost, fails_alone)
{
	struct err err = ERR_INIT;
	uint64_t ticket, other;
	struct talk t;

	begin_ready(&t, &ticket);
	assert_int_equal(
		session_call_tool(t.s, "b", str_of(ARGS), t.now, &other, &err),
		0);
	lose(&t, "2", SESSION_FAIL_TRANSPORT);
	assert_non_null(strstr(buf_cstr(&t.events), "failed"));
	assert_int_equal(session_state(t.s), SESSION_READY);
	hear(&t, ANSWER("3", RESULT));
	assert_non_null(strstr(buf_cstr(&t.events), RESULT));
	end(&t);
}

TEST(session, unknown_id_lost, is_nothing)
{
	uint64_t ticket;
	struct talk t;

	begin_ready(&t, &ticket);
	lose(&t, "99", SESSION_FAIL_TRANSPORT);
	lose(&t, "\"x\"", SESSION_FAIL_AUTH);
	assert_string_equal(buf_cstr(&t.events), "");
	end(&t);
}

TEST(session, all_lost, is_the_end)
{
	uint64_t ticket;
	struct talk t;

	begin_ready(&t, &ticket);
	lose(&t, NULL, SESSION_FAIL_LEASH);
	assert_int_equal(session_state(t.s), SESSION_FAILED);
	assert_non_null(strstr(buf_cstr(&t.events), "failed"));
	end(&t);
}

TEST(session, handshake_lost, no_other_era_is_tried)
{
	const struct session_options o = {.era = SESSION_ERA_PROBE};
	struct session_event e;
	struct err err = ERR_INIT;
	struct talk t;

	begin(&t, &o);
	err_set(&err, ERR_PEER, "no such host");
	session_lost(t.s, STR("1"), SESSION_FAIL_TRANSPORT, &err, t.now);
	assert_true(session_next(t.s, &e));
	assert_int_equal(e.type, SESSION_EVENT_FAILED);
	assert_int_equal(e.failure, SESSION_FAIL_TRANSPORT);
	assert_int_equal(e.phase, SESSION_PHASE_INITIALIZE);
	assert_false(e.retry_era);
	assert_int_equal(session_state(t.s), SESSION_FAILED);
	end(&t);
}

/* ---- held ---- */

static void later(struct talk *t, uint64_t seconds)
{
	t->now += seconds * SECOND;
	session_tick(t->s, t->now);
	collect(t);
}

TEST(session, held, no_clock_runs)
{
	uint64_t ticket;
	struct talk t;

	begin_ready(&t, &ticket);
	later(&t, 50);
	session_hold(t.s, true, t.now);
	session_hold(t.s, true, t.now);
	assert_int_equal(session_deadline(t.s), UINT64_MAX);
	later(&t, 1000);
	session_hold(t.s, false, t.now);
	later(&t, 9);
	assert_string_equal(buf_cstr(&t.events), "");
	later(&t, 2);
	assert_non_null(strstr(buf_cstr(&t.events), "timeout"));
	end(&t);
}

TEST(session, held_in_the_probe, the_start_has_its_time)
{
	const struct session_options o = {.era = SESSION_ERA_PROBE,
					  .probe_timeout_ms = UINT64_MAX,
					  .is_remote = true};
	struct talk t;

	begin(&t, &o);
	later(&t, 100);
	session_hold(t.s, true, t.now);
	later(&t, 500);
	session_hold(t.s, false, t.now);
	hear(&t, ERROR("1", "-32601", "null"));
	assert_int_equal(session_state(t.s), SESSION_INITIALIZING);
	later(&t, 10);
	assert_int_equal(session_state(t.s), SESSION_INITIALIZING);
	end(&t);
}

TEST(HE_5, silent_probe, no_second_beginning)
{
	const struct session_options o = {.era = SESSION_ERA_PROBE,
					  .probe_timeout_ms = UINT64_MAX,
					  .is_remote = true};
	struct talk t;

	begin(&t, &o);
	later(&t, 119);
	assert_int_equal(session_state(t.s), SESSION_PROBING);
	later(&t, 2);
	assert_int_equal(session_state(t.s), SESSION_FAILED);
	assert_null(strstr(buf_cstr(&t.sent), "initialize"));
	assert_null(strstr(buf_cstr(&t.events), "stdout"));
	end(&t);
}
