/*
 * The session with servers of both eras: the probe, requests that stand alone,
 * results that ask something first, and results that come later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/mcp/session_talk.h"

/* ---- which era ---- */

static void PRB_1__unknown_server__is_asked_first(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	sent(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
		 "\"params\":{" FULL_META "}}}\n");
	assert_int_equal(session_state(t.s), SESSION_PROBING);
	end(&t);
}

static void PRB_2__discovered__needs_no_initialize(void **state)
{
	struct talk t;

	(void)state;
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
static void PRB_4__any_other_answer__is_the_older_era(void **state)
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

	(void)state;
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
static void handshake__comes_back__is_no_server(void **state)
{
	static const struct session_options pinned[] = {
		{.protocol = "2025-11-25"}, {.protocol = "2026-07-28"}, {0}};

	(void)state;
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
static void handshake__request_with_its_id__is_another(void **state)
{
	struct talk t;

	(void)state;
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

static void PRB_6__end_on_the_probe__is_to_be_started_again(void **state)
{
	struct session_event e;
	struct talk t;

	(void)state;
	begin(&t, &probing);
	session_eof(t.s, t.now);
	assert_true(session_next(t.s, &e));
	assert_int_equal(e.type, SESSION_EVENT_FAILED);
	assert_int_equal(e.failure, SESSION_FAIL_EOF);
	assert_true(e.retry_era);
	assert_int_equal(e.era, SESSION_ERA_INITIALIZE);
	end(&t);
}

static void PRB_7__silence__initialize_as_well(void **state)
{
	struct talk t;

	(void)state;
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

static void PRB_7__late_discovery__is_the_newer_era(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	passes(&t, 10000);
	says(&t, ANSWER("1", DISCOVERED) ERROR("2", "-32601", "null"));
	happened(&t, MODERN);
	end(&t);
}

static void PRB_7__refusal_of_one__waits_for_the_other(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	passes(&t, 10000);
	says(&t, ERROR("2", "-32601", "null"));
	happened(&t, "");
	says(&t, ANSWER("1", DISCOVERED));
	happened(&t, MODERN);
	end(&t);
}

static void PRB_7__both_silent__ends_with_the_time_of_a_start(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	passes(&t, 10000);
	passes(&t, 109999);
	happened(&t, "");
	passes(&t, 1);
	happened(&t, "failed 0 timeout initialize\n");
	end(&t);
}

static void PRB_8__only_older_dates__initialize_with_the_newest(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32022",
		       "{\"supported\":[\"2024-11-05\",\"2025-06-18\"]}"));
	assert_true(has_sent(&t, "\"protocolVersion\":\"2025-06-18\""));
	end(&t);
}

static void PRB_8__nothing_common__fails_and_names_both(void **state)
{
	struct session_event e;
	struct talk t;

	(void)state;
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

static void PRB_9__refused_what_it_names__tried_once_more(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32022", "{\"supported\":[\"2026-07-28\"]}"));
	assert_true(has_sent(&t, "\"id\":2,\"method\":\"server/discover\""));
	says(&t, ERROR("2", "-32022", "{\"supported\":[\"2026-07-28\"]}"));
	happened(&t, "failed 0 handshake initialize\n");
	end(&t);
}

static void PRB_3__missing_capability__is_no_older_era(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32021", "{}"));
	happened(&t, "failed 0 handshake initialize\n");
	sent(&t, "");
	end(&t);
}

static void PRB_11__pinned_older_date__is_not_probed(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &(struct session_options){.era = SESSION_ERA_PROBE,
					    .protocol = "2025-03-26"});
	assert_true(has_sent(&t, "\"method\":\"initialize\""));
	assert_false(has_sent(&t, "discover"));
	end(&t);
}

static void PRB_12__pinned_newer_date__fails_with_an_older_server(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &(struct session_options){.protocol = "2026-07-28"});
	assert_true(has_sent(&t, "server/discover"));
	buf_clear(&t.sent);
	says(&t, ERROR("1", "-32601", "null"));
	happened(&t, "failed 0 handshake initialize\n");
	sent(&t, "");
	end(&t);
}

static void RW_82__server_info_at_the_top__is_shown(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, &probing);
	says(&t, ANSWER("1", "{\"supportedVersions\":[\"2026-07-28\"],"
			     "\"capabilities\":[],\"serverInfo\":{\"name\":"
			     "\"top\",\"version\":\"2\"}}"));
	happened(&t, "ready 2026-07-28 top/2\n");
	end(&t);
}

static void era__probe_refused_by_initialize__is_told(void **state)
{
	struct session_event e;
	struct talk t;

	(void)state;
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

static void META_1__given_meta__is_kept_beside_ours(void **state)
{
	struct err err = ERR_INIT;
	uint64_t ticket;
	struct talk t;
	struct str meta, v;

	(void)state;
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

static void RW_64__request_of_the_server__is_not_answered(void **state)
{
	struct talk t;

	(void)state;
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

static void LOG_3__message_nobody_asked_for__is_dropped(void **state)
{
	struct talk t;

	(void)state;
	begin_modern(&t, &probing);
	says(&t, LOG_MESSAGE);
	happened(&t, "");
	assert_int_equal(session_stats(t.s)->dropped_notifications, 1);
	end(&t);
}

static void LOG_3__message_asked_for__is_told(void **state)
{
	struct talk t;

	(void)state;
	begin_modern(&t, &(struct session_options){.log_level = "info"});
	says(&t, LOG_MESSAGE);
	happened(&t, "log error [] x\n");
	end(&t);
}

static void MR_1__unknown_result_type__is_no_result(void **state)
{
	struct talk t;

	(void)state;
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

static void MR_5__all_answered__is_sent_again_with_the_answers(void **state)
{
	struct talk t;

	(void)state;
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

static void MR_6__no_state_and_a_second_round__carry_nothing_over(void **state)
{
	struct talk t;

	(void)state;
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

static void MR_7__a_parallel_call__gets_none_of_it(void **state)
{
	struct talk t;

	(void)state;
	begin_modern(&t, &asking);
	calls(&t, "echo");
	says(&t, ANSWER("2", ASKS(",\"requestState\":\"one\"")));
	buf_clear(&t.sent);
	calls(&t, "echo");
	assert_null(param(&t, "requestState").p);
	assert_null(param(&t, "inputResponses").p);
	end(&t);
}

static void MR_8__state_alone__is_sent_again_after_a_while(void **state)
{
	struct talk t;

	(void)state;
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

static void MR_9__endless_rounds__end(void **state)
{
	char answer[128];
	struct talk t;

	(void)state;
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

static void MR_9__neither_question_nor_state__is_no_result(void **state)
{
	struct talk t;

	(void)state;
	begin_modern(&t, &probing);
	calls(&t, "echo");
	says(&t, ANSWER("2", "{\"resultType\":\"input_required\","
			     "\"inputRequests\":{}}"));
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

static void MR_10__undeclared_question__ends_the_call(void **state)
{
	struct talk t;

	(void)state;
	begin_modern(&t, &(struct session_options){.declared.roots = true});
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, ANSWER("2", ASKS("")));
	happened(&t, "failed 2 bad_result call\n");
	sent(&t, "");
	end(&t);
}

static void MR_12__answer_that_has_no_form__ends_the_call(void **state)
{
	struct talk t;

	(void)state;
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

static void EL_17__while_somebody_is_asked__no_clock_runs(void **state)
{
	struct talk t;

	(void)state;
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

static void asks__older_era__are_answered_by_a_response(void **state)
{
	struct talk t;

	(void)state;
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

static void EL_3__mode_that_was_not_declared__is_invalid(void **state)
{
	struct talk t;

	(void)state;
	begin_legacy(&t, &asking);
	says(&t, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"elicitation/"
		 "create\",\"params\":{\"mode\":\"url\"}}\n");
	happened(&t, "");
	assert_true(has_sent(&t, "\"id\":5,\"error\":{\"code\":-32602"));
	end(&t);
}

static void CAN_7__taken_back__is_not_answered(void **state)
{
	struct talk t;

	(void)state;
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

static void SEC_9__too_many_questions__are_refused(void **state)
{
	struct talk t;

	(void)state;
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

static void TX_3__task__is_followed_to_its_result(void **state)
{
	struct talk t;

	(void)state;
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

static void TX_4__failed_task__is_an_error(void **state)
{
	struct talk t;

	(void)state;
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

static void TX_5__question_of_a_task__is_answered_once(void **state)
{
	static const char asks[] =
		TASK("input_required",
		     ",\"inputRequests\":{\"k\":{\"method\":\"elicitation/"
		     "create\",\"params\":{}}}");
	char answer[512];
	struct talk t;

	(void)state;
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

static void TX_1__task_nobody_asked_for__is_no_result(void **state)
{
	struct talk t;

	(void)state;
	begin_modern(&t, &probing);
	calls(&t, "slow");
	says(&t, ANSWER("2", TASK_STARTED));
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

static void CAN_6__cancelled_task__is_cancelled_as_one(void **state)
{
	uint64_t ticket;
	struct talk t;

	(void)state;
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

static void TK_5__older_shape__result_is_fetched(void **state)
{
	struct talk t;

	(void)state;
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

static void TK_5__waiting_for_input__result_is_fetched_at_once(void **state)
{
	struct talk t;

	(void)state;
	begin_legacy(&t, &with_tasks);
	calls_task(&t);
	buf_clear(&t.sent);
	says(&t, ANSWER("2", "{\"task\":" TASK("input_required", "") "}"));
	assert_true(has_sent(&t, "tasks/result"));
	end(&t);
}

static void TK_3__plain_result_all_the_same__counts(void **state)
{
	struct talk t;

	(void)state;
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

static void SUB_3__changes__come_with_the_subscription(void **state)
{
	uint64_t ticket;
	struct talk t;

	(void)state;
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

static void SUB_7__no_acknowledgement__is_a_time_out(void **state)
{
	struct talk t;

	(void)state;
	begin_modern(&t, &probing);
	listens(&t);
	passes(&t, 60000);
	happened(&t, "failed 2 timeout call\n");
	end(&t);
}

static void CAN_8__cancelled_by_the_server__ends_a_subscription_only(
	void **state)
{
	struct talk t;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TALK_TEST(PRB_1__unknown_server__is_asked_first),
		TALK_TEST(PRB_2__discovered__needs_no_initialize),
		TALK_TEST(PRB_4__any_other_answer__is_the_older_era),
		TALK_TEST(handshake__comes_back__is_no_server),
		TALK_TEST(handshake__request_with_its_id__is_another),
		TALK_TEST(PRB_6__end_on_the_probe__is_to_be_started_again),
		TALK_TEST(PRB_7__silence__initialize_as_well),
		TALK_TEST(PRB_7__late_discovery__is_the_newer_era),
		TALK_TEST(PRB_7__refusal_of_one__waits_for_the_other),
		TALK_TEST(PRB_7__both_silent__ends_with_the_time_of_a_start),
		TALK_TEST(PRB_8__only_older_dates__initialize_with_the_newest),
		TALK_TEST(PRB_8__nothing_common__fails_and_names_both),
		TALK_TEST(PRB_9__refused_what_it_names__tried_once_more),
		TALK_TEST(PRB_3__missing_capability__is_no_older_era),
		TALK_TEST(PRB_11__pinned_older_date__is_not_probed),
		TALK_TEST(
			PRB_12__pinned_newer_date__fails_with_an_older_server),
		TALK_TEST(RW_82__server_info_at_the_top__is_shown),
		TALK_TEST(era__probe_refused_by_initialize__is_told),
		TALK_TEST(META_1__given_meta__is_kept_beside_ours),
		TALK_TEST(RW_64__request_of_the_server__is_not_answered),
		TALK_TEST(LOG_3__message_nobody_asked_for__is_dropped),
		TALK_TEST(LOG_3__message_asked_for__is_told),
		TALK_TEST(MR_1__unknown_result_type__is_no_result),
		TALK_TEST(MR_5__all_answered__is_sent_again_with_the_answers),
		TALK_TEST(
			MR_6__no_state_and_a_second_round__carry_nothing_over),
		TALK_TEST(MR_7__a_parallel_call__gets_none_of_it),
		TALK_TEST(MR_8__state_alone__is_sent_again_after_a_while),
		TALK_TEST(MR_9__endless_rounds__end),
		TALK_TEST(MR_9__neither_question_nor_state__is_no_result),
		TALK_TEST(MR_10__undeclared_question__ends_the_call),
		TALK_TEST(MR_12__answer_that_has_no_form__ends_the_call),
		TALK_TEST(EL_17__while_somebody_is_asked__no_clock_runs),
		TALK_TEST(asks__older_era__are_answered_by_a_response),
		TALK_TEST(EL_3__mode_that_was_not_declared__is_invalid),
		TALK_TEST(CAN_7__taken_back__is_not_answered),
		TALK_TEST(SEC_9__too_many_questions__are_refused),
		TALK_TEST(TX_3__task__is_followed_to_its_result),
		TALK_TEST(TX_4__failed_task__is_an_error),
		TALK_TEST(TX_5__question_of_a_task__is_answered_once),
		TALK_TEST(TX_1__task_nobody_asked_for__is_no_result),
		TALK_TEST(CAN_6__cancelled_task__is_cancelled_as_one),
		TALK_TEST(TK_5__older_shape__result_is_fetched),
		TALK_TEST(TK_5__waiting_for_input__result_is_fetched_at_once),
		TALK_TEST(TK_3__plain_result_all_the_same__counts),
		TALK_TEST(SUB_3__changes__come_with_the_subscription),
		TALK_TEST(SUB_7__no_acknowledgement__is_a_time_out),
		TALK_TEST(
			CAN_8__cancelled_by_the_server__ends_a_subscription_only),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
