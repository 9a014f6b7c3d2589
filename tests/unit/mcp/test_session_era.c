/*
 * The session with servers of both eras: the probe, requests that stand alone,
 * results that ask something first, and results that come later.
 */
#include <string.h>

#include "tests/unit/test.h"

#include "tests/unit/mcp/session_talk.h"

/* ---- which era ---- */

TEST_IN(talk, PRB_1, unknown_server, is_asked_first)
{
	struct talk t;

	begin(&t, &probing);
	sent(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
		 "\"params\":{" FULL_META "}}}\n");
	assert_int_equal(session_state(t.s), SESSION_PROBING);
	end(&t);
}

TEST_IN(talk, PRB_2, discovered, needs_no_initialize)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, ANSWER("1", DISCOVERED));
	happened(&t, MODERN);
	sent(&t, "");
	calls(&t, "echo");
	sent(&t, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		 "\"params\":{\"name\":\"echo\",\"arguments\":" ARGS
		 "," FULL_META ",\"progressToken\":2}}}\n");
	says(&t, ANSWER("2", RESULT));
	happened(&t, "result 2 " RESULT "\n");
	assert_true(session_offers(t.s, "tools"));
	assert_true(session_offers(t.s, "resources.subscribe"));
	assert_false(session_offers(t.s, "prompts"));
	end(&t);
}

/* Whatever it says, if it is not of the newer era it is of the older. */
TEST_IN(talk, PRB_4, any_other_answer, is_the_older_era)
{
	static const char *const answers[] = {
		ANSWER("1", "{}"),
		ANSWER("1", "{\"supportedVersions\":\"2026-07-28\"}"),
		ANSWER("1", "{\"supportedVersions\":[1]}"),
		ERROR("1", "-32601", "null"),
		ERROR("1", "-32602", "null"),
		ERROR("1", "-32600", "{}"),
		ERROR("1", "-32000", "[]"),
		ERROR("1", "-32022", "{}"),
		ERROR("1", "-32022", "{\"supported\":\"x\"}"),
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct talk t;

		begin(&t, &probing);
		buf_clear(&t.sent);
		says(&t, answers[i]);
		happened(&t, "");
		assert_true(has_sent(&t, "\"id\":2,\"method\":\"initialize\""));
		assert_true(has_sent(&t, "\"protocolVersion\":\"2025-11-25\""));
		says(&t, ANSWER("2", INITIALIZED));
		happened(&t, LEGACY);
		end(&t);
	}
}

/* A pipe that leads back to us is no server, and no answer of the probe. */
TEST_IN(talk, handshake, comes_back, is_no_server)
{
	static const struct session_options pinned[] = {
		{.protocol = "2025-11-25"}, {.protocol = "2026-07-28"}, {0}};

	for (size_t i = 0; i < ARRAY_LEN(pinned); i++) {
		struct talk t;
		char *said;

		begin(&t, i < 2 ? &pinned[i] : &probing);
		said = mem_strdup(buf_cstr(&t.sent));
		buf_clear(&t.sent);
		says(&t, said);
		happened(&t, "failed 0 handshake initialize\n");
		assert_int_equal(session_state(t.s), SESSION_FAILED);
		assert_false(has_sent(&t, "Method not found"));
		free(said);
		end(&t);
	}
}

/* Servers count their own requests, from 1 as well (RW-62). */
TEST_IN(talk, handshake, request_with_its_id, is_another)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
		 "\"roots/list\"}\n");
	happened(&t, "");
	assert_true(has_sent(&t, "Method not found"));
	says(&t, ANSWER("1", DISCOVERED));
	happened(&t, MODERN);
	end(&t);
}

TEST_IN(talk, PRB_6, end_on_the_probe, is_to_be_started_again)
{
	struct session_event e;
	struct talk t;

	begin(&t, &probing);
	session_eof(t.s, t.now);
	assert_true(session_next(t.s, &e));
	assert_int_equal(e.type, SESSION_EVENT_FAILED);
	assert_int_equal(e.failure, SESSION_FAIL_EOF);
	assert_true(e.retry_era);
	assert_int_equal(e.era, SESSION_ERA_INITIALIZE);
	end(&t);
}

TEST_IN(talk, PRB_7, silence, initialize_as_well)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	passes(&t, 9999);
	sent(&t, "");
	passes(&t, 1);
	assert_true(has_sent(&t, "\"id\":2,\"method\":\"initialize\""));
	happened(&t, "");
	/* RW-27: the first usable answer counts, the other is dropped */
	says(&t, ANSWER("2", INITIALIZED) ANSWER("1", DISCOVERED));
	happened(&t, LEGACY);
	assert_int_equal(session_stats(t.s)->dropped_responses, 1);
	end(&t);
}

TEST_IN(talk, PRB_7, late_discovery, is_the_newer_era)
{
	struct talk t;

	begin(&t, &probing);
	passes(&t, 10000);
	says(&t, ANSWER("1", DISCOVERED) ERROR("2", "-32601", "null"));
	happened(&t, MODERN);
	end(&t);
}

TEST_IN(talk, PRB_7, refusal_of_one, waits_for_the_other)
{
	struct talk t;

	begin(&t, &probing);
	passes(&t, 10000);
	says(&t, ERROR("2", "-32601", "null"));
	happened(&t, "");
	says(&t, ANSWER("1", DISCOVERED));
	happened(&t, MODERN);
	end(&t);
}

TEST_IN(talk, PRB_7, both_silent, ends_with_the_time_of_a_start)
{
	struct talk t;

	begin(&t, &probing);
	passes(&t, 10000);
	passes(&t, 109999);
	happened(&t, "");
	passes(&t, 1);
	happened(&t, "failed 0 timeout initialize\n");
	end(&t);
}

TEST_IN(talk, PRB_8, only_older_dates, initialize_with_the_newest)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32022",
		       "{\"supported\":[\"2024-11-05\",\"2025-06-18\"]}"));
	assert_true(has_sent(&t, "\"protocolVersion\":\"2025-06-18\""));
	end(&t);
}

TEST_IN(talk, PRB_8, nothing_common, fails_and_names_both)
{
	struct session_event e;
	struct talk t;

	begin(&t, &probing);
	session_feed(t.s,
		     STR(ANSWER("1", "{\"supportedVersions\":[\"2031-01-01\"],"
				     "\"capabilities\":{}}")),
		     t.now);
	assert_true(session_next(t.s, &e));
	assert_int_equal(e.failure, SESSION_FAIL_HANDSHAKE);
	assert_non_null(strstr(e.err.msg, "2031-01-01"));
	assert_non_null(strstr(e.err.msg, "2025-11-25"));
	end(&t);
}

TEST_IN(talk, PRB_9, refused_what_it_names, tried_once_more)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32022", "{\"supported\":[\"2026-07-28\"]}"));
	assert_true(has_sent(&t, "\"id\":2,\"method\":\"server/discover\""));
	says(&t, ERROR("2", "-32022", "{\"supported\":[\"2026-07-28\"]}"));
	happened(&t, "failed 0 handshake initialize\n");
	end(&t);
}

TEST_IN(talk, PRB_3, missing_capability, is_no_older_era)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32021", "{}"));
	happened(&t, "failed 0 handshake initialize\n");
	sent(&t, "");
	end(&t);
}

TEST_IN(talk, PRB_11, pinned_older_date, is_not_probed)
{
	struct talk t;

	begin(&t, &(struct session_options){.era = SESSION_ERA_PROBE,
					    .protocol = "2025-03-26"});
	assert_true(has_sent(&t, "\"method\":\"initialize\""));
	assert_false(has_sent(&t, "discover"));
	end(&t);
}

TEST_IN(talk, PRB_12, pinned_newer_date, fails_with_an_older_server)
{
	struct talk t;

	begin(&t, &(struct session_options){.protocol = "2026-07-28"});
	assert_true(has_sent(&t, "server/discover"));
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32601", "null"));
	happened(&t, "failed 0 handshake initialize\n");
	sent(&t, "");
	end(&t);
}

TEST_IN(talk, RW_82, server_info_at_the_top, is_shown)
{
	struct talk t;

	begin(&t, &probing);
	says(&t, ANSWER("1", "{\"supportedVersions\":[\"2026-07-28\"],"
			     "\"capabilities\":[],\"serverInfo\":{\"name\":"
			     "\"top\",\"version\":\"2\"}}"));
	happened(&t, "ready 2026-07-28 top/2\n");
	end(&t);
}

TEST_IN(talk, era, probe_refused_by_initialize, is_told)
{
	struct session_event e;
	struct talk t;

	begin(&t, &(struct session_options){.era = SESSION_ERA_INITIALIZE});
	session_feed(
		t.s,
		STR(ERROR("1", "-32022", "{\"supported\":[\"2026-07-28\"]}")),
		t.now);
	assert_true(session_next(t.s, &e));
	assert_true(e.retry_era);
	assert_int_equal(e.era, SESSION_ERA_PROBE);
	end(&t);
}

/* ---- requests that stand alone ---- */

TEST_IN(talk, META_1, given_meta, is_kept_beside_ours)
{
	struct err err = ERR_INIT;
	uint64_t ticket;
	struct talk t;
	struct str meta, v;

	begin_modern(&t, &(struct session_options){.log_level = "debug"});
	assert_int_equal(
		session_request(t.s, "resources/read",
				STR("{\"uri\":\"a:b\",\"_meta\":{\"x/y\":1.0,"
				    "\"" META "protocolVersion\":\"no\"}}"),
				t.now, &ticket, &err),
		0);
	collect(&t);
	meta = param(&t, "_meta");
	assert_true(scan_get(meta, "x/y", &v) && str_is(v, "1.0"));
	assert_true(scan_get(meta, META "protocolVersion", &v) &&
		    scan_is(v, "2026-07-28"));
	assert_true(scan_get(meta, META "logLevel", &v) && scan_is(v, "debug"));
	assert_true(scan_is(param(&t, "uri"), "a:b"));
	end(&t);
}

TEST_IN(talk, RW_64, request_of_the_server, is_not_answered)
{
	struct talk t;

	begin_modern(&t, &probing);
	says(&t, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
	sent(&t, "");
	happened(&t, "");
	assert_int_equal(session_stats(t.s)->ignored_requests, 1);
	end(&t);
}

#define LOG_MESSAGE                                        \
	"{\"jsonrpc\":\"2.0\",\"method\":"                 \
	"\"notifications/message\",\"params\":{\"level\":" \
	"\"error\",\"data\":\"x\"}}\n"

TEST_IN(talk, LOG_3, message_nobody_asked_for, is_dropped)
{
	struct talk t;

	begin_modern(&t, &probing);
	says(&t, LOG_MESSAGE);
	happened(&t, "");
	assert_int_equal(session_stats(t.s)->dropped_notifications, 1);
	end(&t);
}

TEST_IN(talk, LOG_3, message_asked_for, is_told)
{
	struct talk t;

	begin_modern(&t, &(struct session_options){.log_level = "info"});
	says(&t, LOG_MESSAGE);
	happened(&t, "log error [] x\n");
	end(&t);
}

TEST_IN(talk, MR_1, unknown_result_type, is_no_result)
{
	struct talk t;

	begin_modern(&t, &probing);
	calls(&t, "x");
	says(&t, ANSWER("2", "{\"resultType\":\"maybe\",\"content\":[]}"));
	happened(&t, "failed 2 bad_result call\n");
	assert_int_equal(session_state(t.s), SESSION_READY);
	end(&t);
}

/* ---- questions ---- */

static const struct session_options asking = {
	.era = SESSION_ERA_PROBE,
	.declared = {.roots = true, .elicit_form = true, .sampling = true},
};

#define ASKS(state)                                                         \
	"{\"resultType\":\"input_required\",\"inputRequests\":{\"b\":{"     \
	"\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\"}}" \
	",\"a\":{\"method\":\"roots/list\"}}" state "}"

TEST_IN(talk, MR_5, all_answered, is_sent_again_with_the_answers)
{
	struct talk t;

	begin_modern(&t, &asking);
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, ANSWER("2", ASKS(",\"requestState\":\"s\\u0041\\/1\"")));
	happened(&t, "asked 1 for 2: elicitation/create {\"message\":\"?\"}\n"
		     "asked 2 for 2: roots/list {}\n");
	session_answer(t.s, 2, STR("{\"roots\":[]}"), t.now);
	collect(&t);
	sent(&t, "");
	session_answer(t.s, 1, STR("{\"action\":\"decline\"}"), t.now);
	collect(&t);
	assert_true(has_sent(&t, "\"id\":3,\"method\":\"tools/call\""));
	assert_true(str_is(param(&t, "arguments"), ARGS));
	assert_true(str_is(param(&t, "inputResponses"),
			   "{\"b\":{\"action\":\"decline\"},"
			   "\"a\":{\"roots\":[]}}"));
	assert_true(str_is(param(&t, "requestState"), "\"s\\u0041\\/1\""));
	buf_clear(&t.sent);
	says(&t, ANSWER("3", RESULT));
	happened(&t, "result 2 " RESULT "\n");
	end(&t);
}

TEST_IN(talk, MR_6, no_state_and_a_second_round, carry_nothing_over)
{
	struct talk t;

	begin_modern(&t, &asking);
	calls(&t, "echo");
	says(&t, ANSWER("2", ASKS(",\"requestState\":\"one\"")));
	session_answer(t.s, 1, STR("{\"action\":\"cancel\"}"), t.now);
	session_answer(t.s, 2, STR("{\"roots\":[]}"), t.now);
	collect(&t);
	says(&t, ANSWER("3", "{\"resultType\":\"input_required\","
			     "\"inputRequests\":{\"c\":{\"method\":"
			     "\"roots/list\"}}}"));
	buf_clear(&t.sent);
	session_answer(t.s, 3, STR("{\"roots\":[]}"), t.now);
	collect(&t);
	assert_true(
		str_is(param(&t, "inputResponses"), "{\"c\":{\"roots\":[]}}"));
	assert_null(param(&t, "requestState").p);
	end(&t);
}

TEST_IN(talk, MR_7, a_parallel_call, gets_none_of_it)
{
	struct talk t;

	begin_modern(&t, &asking);
	calls(&t, "echo");
	says(&t, ANSWER("2", ASKS(",\"requestState\":\"one\"")));
	buf_clear(&t.sent);
	calls(&t, "echo");
	assert_null(param(&t, "requestState").p);
	assert_null(param(&t, "inputResponses").p);
	end(&t);
}

TEST_IN(talk, MR_8, state_alone, is_sent_again_after_a_while)
{
	struct talk t;

	begin_modern(&t, &probing);
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, ANSWER("2", "{\"resultType\":\"input_required\","
			     "\"requestState\":\"w\"}"));
	passes(&t, 249);
	sent(&t, "");
	passes(&t, 1);
	assert_true(str_is(param(&t, "requestState"), "\"w\""));
	assert_null(param(&t, "inputResponses").p);
	buf_clear(&t.sent);
	says(&t, ANSWER("3", "{\"resultType\":\"input_required\","
			     "\"requestState\":\"w\"}"));
	passes(&t, 499);
	sent(&t, "");
	passes(&t, 1);
	assert_true(has_sent(&t, "\"id\":4"));
	end(&t);
}

TEST_IN(talk, MR_9, endless_rounds, end)
{
	char answer[128];
	struct talk t;

	begin_modern(&t, &probing);
	calls(&t, "echo");
	for (int i = 0; i < 11; i++) {
		snprintf(answer, sizeof(answer),
			 ANSWER("%d", "{\"resultType\":\"input_required\","
				      "\"requestState\":\"w\"}"),
			 2 + i);
		says(&t, answer);
		passes(&t, 5000);
	}
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

TEST_IN(talk, MR_9, neither_question_nor_state, is_no_result)
{
	struct talk t;

	begin_modern(&t, &probing);
	calls(&t, "echo");
	says(&t, ANSWER("2", "{\"resultType\":\"input_required\","
			     "\"inputRequests\":{}}"));
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

TEST_IN(talk, MR_10, undeclared_question, ends_the_call)
{
	struct talk t;

	begin_modern(&t, &(struct session_options){.declared.roots = true});
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, ANSWER("2", ASKS("")));
	happened(&t, "failed 2 bad_result call\n");
	sent(&t, "");
	end(&t);
}

TEST_IN(talk, MR_12, answer_that_has_no_form, ends_the_call)
{
	struct talk t;

	begin_modern(&t, &asking);
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, ANSWER("2", "{\"resultType\":\"input_required\","
			     "\"inputRequests\":{\"q\":{\"method\":\"sampling/"
			     "createMessage\",\"params\":{}}}}"));
	happened(&t, "asked 1 for 2: sampling/createMessage {}\n");
	session_answer_error(t.s, 1, -1, "nobody is there", t.now);
	collect(&t);
	happened(&t, "failed 2 bad_result call\n");
	sent(&t, "");
	end(&t);
}

TEST_IN(talk, EL_17, while_somebody_is_asked, no_clock_runs)
{
	struct talk t;

	begin_modern(&t, &asking);
	calls(&t, "echo");
	passes(&t, 50000);
	says(&t, ANSWER("2", ASKS("")));
	buf_clear(&t.events);
	passes(&t, 3600000);
	happened(&t, "");
	session_answer(t.s, 1, STR("{\"action\":\"cancel\"}"), t.now);
	session_answer(t.s, 2, STR("{\"roots\":[]}"), t.now);
	collect(&t);
	passes(&t, 59999);
	happened(&t, "");
	passes(&t, 1);
	happened(&t, "failed 2 timeout call\n");
	end(&t);
}

TEST_IN(talk, asks, older_era, are_answered_by_a_response)
{
	struct talk t;

	begin_legacy(&t, &asking);
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/"
		 "create\",\"params\":{\"message\":\"?\"}}\n"
		 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"sampling/"
		 "createMessage\",\"params\":{}}\n");
	happened(&t, "asked 1 for 0: elicitation/create {\"message\":\"?\"}\n"
		     "asked 2 for 0: sampling/createMessage {}\n");
	session_answer(t.s, 1, STR("{\"action\":\"accept\"}"), t.now);
	session_answer_error(t.s, 2, -1, "rejected", t.now);
	session_answer(t.s, 2, STR("{}"), t.now);
	collect(&t);
	sent(&t,
	     ANSWER("\"q\"",
		    "{\"action\":\"accept\"}") "{\"jsonrpc\":\"2.0\",\"id\":0,"
					       "\"error\":{\"code\":-1,"
					       "\"message\":\"rejected\"}}\n");
	says(&t, ANSWER("2", RESULT));
	happened(&t, "result 2 " RESULT "\n");
	end(&t);
}

TEST_IN(talk, EL_3, mode_that_was_not_declared, is_invalid)
{
	struct talk t;

	begin_legacy(&t, &asking);
	says(&t, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"elicitation/"
		 "create\",\"params\":{\"mode\":\"url\"}}\n");
	happened(&t, "");
	assert_true(has_sent(&t, "\"id\":5,\"error\":{\"code\":-32602"));
	end(&t);
}

TEST_IN(talk, CAN_7, taken_back, is_not_answered)
{
	struct talk t;

	begin_legacy(&t, &asking);
	says(&t, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}\n"
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":5}}\n");
	happened(&t, "asked 1 for 0: roots/list {}\ngone 1\n");
	session_answer(t.s, 1, STR("{\"roots\":[]}"), t.now);
	collect(&t);
	sent(&t, "");
	end(&t);
}

TEST_IN(talk, SEC_9, too_many_questions, are_refused)
{
	struct talk t;

	begin_legacy(&t, &asking);
	for (int i = 0; i < 65; i++)
		says(&t, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":"
			 "\"roots/list\"}\n");
	assert_true(has_sent(&t, "\"error\":{\"code\":-32603"));
	end(&t);
}

/* ---- tasks ---- */

#define TASK(status, rest)                                                  \
	"{\"taskId\":\"t1\",\"status\":\"" status "\",\"createdAt\":\"x\"," \
	"\"lastUpdatedAt\":\"x\",\"ttl\":null,\"pollInterval\":1000,"       \
	"\"ttlMs\":null,\"pollIntervalMs\":1000" rest "}"
#define TASK_STARTED                                             \
	"{\"resultType\":\"task\",\"taskId\":\"t1\",\"status\":" \
	"\"working\",\"ttlMs\":null,\"pollIntervalMs\":1000}"

static const struct session_options with_tasks = {
	.declared = {.tasks = true, .elicit_form = true},
};

TEST_IN(talk, TX_3, task, is_followed_to_its_result)
{
	struct talk t;

	begin_modern(&t, &with_tasks);
	calls(&t, "slow");
	assert_true(has_sent(&t, "\"extensions\":{\"" META "tasks\":{}}"));
	buf_clear(&t.sent);
	says(&t, ANSWER("2", TASK_STARTED));
	happened(&t, "task 2 " TASK_STARTED "\n");
	passes(&t, 999);
	sent(&t, "");
	passes(&t, 1);
	assert_true(has_sent(&t, "\"method\":\"tasks/get\""));
	assert_true(scan_is(param(&t, "taskId"), "t1"));
	says(&t, ANSWER("3", TASK("working", "")));
	passes(&t, 1000);
	says(&t, ANSWER("4", TASK("completed", ",\"result\":" RESULT)));
	happened(&t, "result 2 " RESULT "\n");
	assert_true(session_deadline(t.s) == UINT64_MAX);
	end(&t);
}

TEST_IN(talk, TX_4, failed_task, is_an_error)
{
	struct talk t;

	begin_modern(&t, &with_tasks);
	calls(&t, "slow");
	says(&t, ANSWER("2", TASK_STARTED));
	passes(&t, 1000);
	buf_clear(&t.events);
	says(&t, ANSWER("3", TASK("failed", ",\"error\":{\"code\":-32603,"
					    "\"message\":\"broke\"}")));
	happened(&t, "error 2 -32603 broke\n");
	end(&t);
}

TEST_IN(talk, TX_5, question_of_a_task, is_answered_once)
{
	static const char asks[] =
		TASK("input_required",
		     ",\"inputRequests\":{\"k\":{\"method\":\"elicitation/"
		     "create\",\"params\":{}}}");
	char answer[512];
	struct talk t;

	begin_modern(&t, &with_tasks);
	calls(&t, "slow");
	says(&t, ANSWER("2", TASK_STARTED));
	passes(&t, 1000);
	buf_clear(&t.events);
	snprintf(answer, sizeof(answer), ANSWER("3", "%s"), asks);
	says(&t, answer);
	happened(&t, "asked 1 for 2: elicitation/create {}\n");
	buf_clear(&t.sent);
	session_answer(t.s, 1, STR("{\"action\":\"decline\"}"), t.now);
	collect(&t);
	assert_true(has_sent(&t, "\"method\":\"tasks/update\""));
	assert_true(str_is(param(&t, "inputResponses"),
			   "{\"k\":{\"action\":\"decline\"}}"));
	says(&t, ANSWER("4", "{}"));
	/* its status may lag: the same question is not asked again */
	passes(&t, 1000);
	snprintf(answer, sizeof(answer), ANSWER("5", "%s"), asks);
	says(&t, answer);
	happened(&t, "");
	end(&t);
}

TEST_IN(talk, TX_1, task_nobody_asked_for, is_no_result)
{
	struct talk t;

	begin_modern(&t, &probing);
	calls(&t, "slow");
	says(&t, ANSWER("2", TASK_STARTED));
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

TEST_IN(talk, CAN_6, cancelled_task, is_cancelled_as_one)
{
	uint64_t ticket;
	struct talk t;

	begin_modern(&t, &with_tasks);
	ticket = calls(&t, "slow");
	says(&t, ANSWER("2", TASK_STARTED));
	buf_clear(&t.sent);
	session_cancel(t.s, ticket, "enough");
	collect(&t);
	assert_true(has_sent(&t, "\"method\":\"tasks/cancel\""));
	assert_false(has_sent(&t, "notifications/cancelled"));
	assert_true(session_deadline(t.s) == UINT64_MAX);
	end(&t);
}

static uint64_t calls_task(struct talk *t)
{
	struct err err = ERR_INIT;
	uint64_t ticket = 0;

	assert_int_equal(session_call_task(t->s, "slow", STR(ARGS), t->now,
					   &ticket, &err),
			 0);
	collect(t);
	return ticket;
}

TEST_IN(talk, TK_5, older_shape, result_is_fetched)
{
	struct talk t;

	begin_legacy(&t, &with_tasks);
	calls_task(&t);
	assert_true(has_sent(&t, "\"task\":{}"));
	says(&t, ANSWER("2", "{\"task\":" TASK("working", "") "}"));
	happened(&t, "task 2 " TASK("working", "") "\n");
	buf_clear(&t.sent);
	passes(&t, 1000);
	sent(&t, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/get\","
		 "\"params\":{\"taskId\":\"t1\"}}\n");
	says(&t, ANSWER("3", TASK("failed", "")));
	sent(&t, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tasks/result\","
		 "\"params\":{\"taskId\":\"t1\"}}\n");
	says(&t, ANSWER("4", RESULT));
	happened(&t, "result 2 " RESULT "\n");
	end(&t);
}

TEST_IN(talk, TK_5, waiting_for_input, result_is_fetched_at_once)
{
	struct talk t;

	begin_legacy(&t, &with_tasks);
	calls_task(&t);
	buf_clear(&t.sent);
	says(&t, ANSWER("2", "{\"task\":" TASK("input_required", "") "}"));
	assert_true(has_sent(&t, "tasks/result"));
	end(&t);
}

TEST_IN(talk, TK_3, plain_result_all_the_same, counts)
{
	struct talk t;

	begin_legacy(&t, &with_tasks);
	calls_task(&t);
	says(&t, ANSWER("2", RESULT));
	happened(&t, "result 2 " RESULT "\n");
	end(&t);
}

/* ---- subscriptions ---- */

#define NOTICE(method, id, rest)                                            \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method           \
	"\",\"params\":{\"_meta\":{\"" META "subscriptionId\":" id "}" rest \
	"}}\n"

static uint64_t listens(struct talk *t)
{
	struct err err = ERR_INIT;
	uint64_t ticket = 0;

	assert_int_equal(session_listen(t->s,
					STR("{\"toolsListChanged\":true}"),
					t->now, &ticket, &err),
			 0);
	collect(t);
	return ticket;
}

TEST_IN(talk, SUB_3, changes, come_with_the_subscription)
{
	uint64_t ticket;
	struct talk t;

	begin_modern(&t, &probing);
	ticket = listens(&t);
	assert_true(has_sent(&t, "\"notifications\":{\"toolsListChanged\":"));
	/* before the acknowledgement, and of another: dropped */
	says(&t, NOTICE("tools/list_changed", "2", ""));
	says(&t, NOTICE("subscriptions/acknowledged", "2",
			",\"notifications\":{\"toolsListChanged\":true}"));
	says(&t, NOTICE("tools/list_changed", "9", ""));
	happened(&t, "");
	says(&t, NOTICE("tools/list_changed", "2", ""));
	happened(&t, "changed notifications/tools/list_changed []\n");
	says(&t, NOTICE("resources/updated", "2", ",\"uri\":\"a:b\""));
	happened(&t, "changed notifications/resources/updated [a:b]\n");
	passes(&t, 3600000);
	happened(&t, "");
	buf_clear(&t.sent);
	session_cancel(t.s, ticket, NULL);
	collect(&t);
	sent(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":2}}\n");
	end(&t);
}

TEST_IN(talk, SUB_7, no_acknowledgement, is_a_time_out)
{
	struct talk t;

	begin_modern(&t, &probing);
	listens(&t);
	passes(&t, 60000);
	happened(&t, "failed 2 timeout call\n");
	end(&t);
}

TEST_IN(talk, CAN_8, cancelled_by_the_server, ends_a_subscription_only)
{
	struct talk t;

	begin_modern(&t, &probing);
	calls(&t, "x");
	listens(&t);
	says(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":2}}\n");
	happened(&t, "");
	says(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":3}}\n");
	happened(&t, "result 3 {}\n");
	end(&t);
}
