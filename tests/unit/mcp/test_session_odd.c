/*
 * The session with servers that begin, ask and end in odd ways: the rows of
 * start and end that concern messages, and what is easily forgotten.
 */
#include <string.h>

#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "tests/unit/mcp/session_talk.h"

#define REQUEST(id, method, params)                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"," \
	"\"params\":" params "}\n"
#define NOTICE(method, params)                            \
	"{\"jsonrpc\":\"2.0\",\"method\":\"" method "\"," \
	"\"params\":" params "}\n"
#define FORM "{\"message\":\"?\",\"requestedSchema\":{}}"
#define ASK_FORM "{\"method\":\"elicitation/create\",\"params\":" FORM "}"
#define INPUT(asks) \
	"{\"resultType\":\"input_required\",\"inputRequests\":" asks "}"
#define TASK(status, more)                                                \
	"{\"resultType\":\"task\",\"taskId\":\"t1\",\"status\":\"" status \
	"\",\"pollIntervalMs\":1000" more "}"
#define ACCEPT "{\"action\":\"accept\",\"content\":{}}"

static const struct session_options answering = {
	.declared = {.roots = true, .elicit_form = true, .tasks = true}};

static void answers(struct talk *t, uint64_t ask, const char *result)
{
	session_answer(t->s, ask, str_of(result), t->now);
	collect(t);
}

static void ends(struct talk *t)
{
	session_eof(t->s, t->now);
	collect(t);
}

/* The last event of a session that failed. */
static struct session_event failed(struct session *s)
{
	struct session_event e;

	while (session_next(s, &e))
		if (e.type == SESSION_EVENT_FAILED)
			return e;
	fail_msg("there is no FAILED");
	return e;
}

/* ---- start ---- */

TEST_IN(talk, RW_22, exit_on_the_probe, start_again_with_initialize)
{
	struct session_event e;
	struct talk t;

	begin(&t, &probing);
	session_eof(t.s, t.now);
	e = failed(t.s);
	assert_int_equal(e.failure, SESSION_FAIL_EOF);
	assert_true(e.retry_era);
	assert_int_equal(e.era, SESSION_ERA_INITIALIZE);
	end(&t);
}

/* Some answer the probe first, and end then. */
TEST_IN(talk, RW_22, answer_to_the_probe_then_exit, start_again)
{
	struct session_event e;
	struct talk t;

	begin(&t, &probing);
	says(&t, ERROR("1", "-32600", "null"));
	assert_true(has_sent(&t, "\"method\":\"initialize\""));
	session_eof(t.s, t.now);
	e = failed(t.s);
	assert_true(e.retry_era);
	assert_int_equal(e.era, SESSION_ERA_INITIALIZE);
	end(&t);
}

TEST_IN(talk, RW_22, initialize_refused_behind_a_probe, start_again)
{
	struct session_event e;
	struct talk t;

	begin(&t, &probing);
	says(&t, ERROR("1", "-32601", "null"));
	session_feed(t.s, STR(ERROR("2", "-32603", "null")), t.now);
	e = failed(t.s);
	assert_int_equal(e.failure, SESSION_FAIL_HANDSHAKE);
	assert_true(e.retry_era);
	assert_int_equal(e.era, SESSION_ERA_INITIALIZE);
	end(&t);
}

TEST_IN(talk, RW_22, exit_on_initialize_first, is_the_end)
{
	struct session_event e;
	struct talk t;

	begin(&t, &(struct session_options){.era = SESSION_ERA_INITIALIZE});
	session_eof(t.s, t.now);
	e = failed(t.s);
	assert_false(e.retry_era);
	end(&t);
}

TEST_IN(talk, RW_23, silence, initialize_on_the_same_pipe)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	passes(&t, 9999);
	sent(&t, "");
	passes(&t, 1);
	assert_true(has_sent(&t, "\"id\":2,\"method\":\"initialize\""));
	says(&t, ANSWER("2", INITIALIZED));
	happened(&t, LEGACY);
	end(&t);
}

TEST_IN(talk, RW_24, any_refusal_of_the_probe, is_the_older_era)
{
	static const char *const answers[] = {
		ERROR("1", "-32601", "null"),
		ERROR("1", "-32602", "null"),
		ERROR("1", "-32600", "null"),
		ERROR("1", "-32000", "null"),
		ERROR("null", "-32600", "null"),
		ANSWER("1", "{}"),
		/* meant as an answer, and broken (RW-15) */
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{]}\n",
		"{\"jsonrpc\":\"2.0\",\"result\":{]}\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct talk t;

		begin(&t, &probing);
		says(&t, answers[i]);
		happened(&t, "");
		assert_true(has_sent(&t, "\"id\":2,\"method\":\"initialize\""));
		says(&t, ANSWER("2", INITIALIZED));
		happened(&t, LEGACY);
		end(&t);
	}
}

TEST_IN(talk, RW_14, line_over_the_bound_at_the_probe, is_the_older)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct talk t;

	buf_adds(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"");
	memset(buf_room(&line, 1000), 'x', 1000);
	line.n += 1000;
	buf_adds(&line, "\"}\n");
	begin(&t, &(struct session_options){.era = SESSION_ERA_PROBE,
					    .message_max = 500});
	says(&t, buf_cstr(&line));
	says(&t, ANSWER("2", INITIALIZED));
	happened(&t, LEGACY);
	end(&t);
}

TEST_IN(talk, PRB_12, broken_answer_to_a_pinned_probe, fails)
{
	struct talk t;

	begin(&t, &(struct session_options){.protocol = "2026-07-28"});
	says(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{]}\n");
	happened(&t, "failed 0 bad_message initialize\n");
	end(&t);
}

/* A server that has a ping for everybody shows that it is of the older era. */
TEST_IN(talk, PING_1, during_the_probe, is_answered)
{
	struct talk t;

	begin(&t, &probing);
	buf_clear(&t.sent);
	says(&t, REQUEST("\"p\"", "ping", "{}"));
	sent(&t, ANSWER("\"p\"", "{}"));
	end(&t);
}

/* Only a server of the newer era has no initialize. */
TEST_IN(talk, PRB_10, remembered_era_is_wrong, is_told)
{
	static const struct {
		const char *answer;
		bool retry;
	} cases[] = {
		{ERROR("1", "-32601", "null"), true},
		{ERROR("1", "-32602", "{}"), true},
		{ERROR("1", "-32022", "{\"supported\":[\"2026-07-28\"]}"),
		 true},
		{ERROR("1", "-32603", "null"), false},
		{ERROR("1", "-32000", "{\"supported\":[\"2031-01-01\"]}"),
		 false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct session_event e;
		struct talk t;

		begin(&t, &(struct session_options){0});
		session_feed(t.s, str_of(cases[i].answer), t.now);
		e = failed(t.s);
		assert_int_equal(e.failure, SESSION_FAIL_HANDSHAKE);
		assert_int_equal(e.retry_era, cases[i].retry);
		if (e.retry_era)
			assert_int_equal(e.era, SESSION_ERA_PROBE);
		end(&t);
	}
}

TEST_IN(talk, VER_5, refused_with_a_list, names_the_date_to_try)
{
	struct session_event e;
	struct talk t;

	begin(&t, &(struct session_options){0});
	session_feed(t.s,
		     STR(ERROR("1", "-32602",
			       "{\"supported\":[\"2024-11-05\",7,"
			       "\"2025-03-26\",\"1.0\"]}")),
		     t.now);
	e = failed(t.s);
	assert_string_equal(e.retry_protocol, "2025-03-26");
	assert_false(e.retry_era);
	end(&t);
}

TEST_IN(talk, CAP_2, declared, in_the_form_of_the_revision)
{
	static const struct {
		const char *date, *capabilities;
	} cases[] = {
		{"2024-11-05", "{\"roots\":{},\"sampling\":{}}"},
		{"2025-03-26", "{\"roots\":{},\"sampling\":{}}"},
		{"2025-06-18",
		 "{\"roots\":{},\"sampling\":{},\"elicitation\":{}}"},
		{"2025-11-25", "{\"roots\":{},\"sampling\":{},\"elicitation\":{"
			       "\"form\":{},\"url\":{}}}"},
	};
	struct session_options o = {.declared = {true, true, true, true, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct talk t;

		o.protocol = cases[i].date;
		begin(&t, &o);
		assert_true(str_is(param(&t, "capabilities"),
				   cases[i].capabilities));
		assert_true(
			scan_is(param(&t, "protocolVersion"), cases[i].date));
		end(&t);
	}
}

TEST_IN(talk, RW_82, no_hints_and_no_type, is_whole)
{
	struct talk t;

	begin(&t, &probing);
	says(&t, ANSWER("1", "{\"supportedVersions\":[\"2026-07-28\"],"
			     "\"serverInfo\":{\"name\":\"x\"}}"));
	happened(&t, "ready 2026-07-28 x/\n");
	end(&t);
}

TEST_IN(talk, RW_81, no_result_type, is_complete)
{
	struct talk t;

	begin_modern(&t, &probing);
	calls(&t, "echo");
	says(&t, ANSWER("2", RESULT));
	happened(&t, "result 2 " RESULT "\n");
	calls(&t, "echo");
	says(&t, ANSWER("3", "{\"resultType\":null,\"content\":[]}"));
	happened(&t, "result 3 {\"resultType\":null,\"content\":[]}\n");
	end(&t);
}

/* ---- messages ---- */

TEST_IN(talk, RW_67, ping_never_answered_or_oddly, is_no_end)
{
	struct err err = ERR_INIT;
	uint64_t ticket;
	struct talk t;

	begin_legacy(&t, &(struct session_options){0});
	for (int i = 0; i < 3; i++)
		assert_int_equal(session_request(t.s, "ping",
						 (struct str){NULL, 0}, t.now,
						 &ticket, &err),
				 0);
	says(&t, ANSWER("2", "[]") ERROR("3", "-32601", "null"));
	happened(&t, "result 2 []\nerror 3 -32601 no\n");
	passes(&t, 60000);
	happened(&t, "failed 4 timeout call\n");
	assert_int_equal(session_state(t.s), SESSION_READY);
	calls(&t, "echo");
	says(&t, ANSWER("5", RESULT));
	happened(&t, "result 5 " RESULT "\n");
	end(&t);
}

TEST_IN(talk, RPC_2, params_that_are_no_object, are_invalid)
{
	struct talk t;

	begin_legacy(&t, &answering);
	says(&t, REQUEST("1", "roots/list", "[1]"));
	assert_true(has_sent(&t, "\"id\":1,\"error\":{\"code\":-32602"));
	happened(&t, "");
	/* an empty array is what some make of no members (RW-57) */
	says(&t, REQUEST("2", "roots/list", "[]"));
	happened(&t, "asked 1 for 0: roots/list {}\n");
	end(&t);
}

TEST_IN(talk, RW_39, own_requests_in_the_queue, are_not_the_servers)
{
	AUTO(buf_release) struct buf big = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	uint64_t ticket;
	struct talk t;

	begin_legacy(&t, &answering);
	buf_adds(&big, "{\"a\":\"");
	memset(buf_room(&big, LIMIT_QUEUE_BYTES), 'x', LIMIT_QUEUE_BYTES - 99);
	big.n += LIMIT_QUEUE_BYTES - 99;
	buf_adds(&big, "\"}");
	for (int i = 0; i < 2; i++)
		assert_int_equal(session_call_tool(t.s, "echo", buf_str(&big),
						   t.now, &ticket, &err),
				 0);
	/* nothing of it was read yet, and a ping comes */
	session_feed(t.s, STR(REQUEST("1", "ping", "{}")), t.now);
	drain(t.s, &t.events);
	happened(&t, "");
	assert_int_equal(session_state(t.s), SESSION_READY);
	end(&t);
}

/* ---- clocks ---- */

TEST_IN(talk, EL_17, sent_while_somebody_is_asked, has_its_whole_time)
{
	struct talk t;

	begin_legacy(&t, &answering);
	says(&t, REQUEST("1", "roots/list", "{}"));
	happened(&t, "asked 1 for 0: roots/list {}\n");
	passes(&t, 50000);
	calls(&t, "echo");
	passes(&t, 50000);
	answers(&t, 1, "{\"roots\":[]}");
	/* 60 s from when it goes on, not 60 s and what stood before */
	assert_int_equal(session_deadline(t.s), t.now + 60 * SECOND);
	passes(&t, 60000);
	happened(&t, "failed 2 timeout call\n");
	end(&t);
}

TEST_IN(talk, EL_17, two_questions, the_last_answer_starts_the_clock)
{
	struct talk t;

	begin_legacy(&t, &answering);
	calls(&t, "echo");
	says(&t, REQUEST("1", "roots/list", "{}"));
	passes(&t, 40000);
	says(&t, REQUEST("2", "elicitation/create", FORM));
	passes(&t, 40000);
	answers(&t, 1, "{\"roots\":[]}");
	passes(&t, 40000);
	assert_int_equal(session_deadline(t.s), UINT64_MAX);
	buf_clear(&t.events);
	answers(&t, 2, ACCEPT);
	passes(&t, 59999);
	happened(&t, "");
	passes(&t, 1);
	happened(&t, "failed 2 timeout call\n");
	end(&t);
}

TEST_IN(talk, close, with_a_question_open, lets_the_clocks_run)
{
	struct talk t;

	begin_legacy(&t, &answering);
	calls(&t, "echo");
	says(&t, REQUEST("1", "roots/list", "{}"));
	passes(&t, 10000);
	buf_clear(&t.sent);
	buf_clear(&t.events);
	session_close(t.s);
	assert_int_equal(session_deadline(t.s), t.now + 60 * SECOND);
	answers(&t, 1, "{\"roots\":[]}");
	says(&t, REQUEST("2", "roots/list", "{}") REQUEST("3", "ping", "{}"));
	sent(&t, "");
	happened(&t, "");
	says(&t, ANSWER("2", RESULT));
	ends(&t);
	happened(&t, "result 2 " RESULT "\nclosed\n");
	end(&t);
}

TEST_IN(talk, end, with_a_question_open, is_an_end)
{
	struct talk t;

	begin_legacy(&t, &answering);
	calls(&t, "echo");
	says(&t, REQUEST("1", "roots/list", "{}"));
	buf_clear(&t.events);
	ends(&t);
	happened(&t, "failed 0 eof call\n");
	answers(&t, 1, "{\"roots\":[]}");
	end(&t);
}

/* ---- questions in results ---- */

TEST_IN(talk, MR_3, two_members_of_one_name, the_last_counts)
{
	struct talk t;

	begin_modern(&t, &answering);
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, ANSWER("2", INPUT("{\"a\":{\"method\":\"roots/list\"},"
				   "\"b\":{\"method\":\"roots/list\"},"
				   "\"\\u0061\":" ASK_FORM "}")));
	happened(&t, "asked 1 for 2: roots/list {}\n"
		     "asked 2 for 2: elicitation/create " FORM "\n");
	answers(&t, 2, ACCEPT);
	sent(&t, "");
	answers(&t, 1, "{\"roots\":[]}");
	assert_true(str_is(param(&t, "inputResponses"),
			   "{\"b\":{\"roots\":[]},\"\\u0061\":" ACCEPT "}"));
	end(&t);
}

TEST_IN(talk, MR_12, one_has_no_answer, the_others_are_taken_back)
{
	struct talk t;

	begin_modern(&t, &answering);
	calls(&t, "echo");
	buf_clear(&t.sent);
	says(&t, ANSWER("2", INPUT("{\"a\":{\"method\":\"roots/list\"},"
				   "\"b\":" ASK_FORM "}")));
	buf_clear(&t.events);
	session_answer_error(t.s, 1, -1, "nobody is here", t.now);
	collect(&t);
	happened(&t, "gone 2\nfailed 2 bad_result call\n");
	answers(&t, 2, ACCEPT);
	sent(&t, "");
	end(&t);
}

TEST_IN(talk, MR_5, progress_of_the_second_round, has_its_own_token)
{
	struct talk t;

	begin_modern(&t, &answering);
	calls(&t, "echo");
	says(&t, ANSWER("2", INPUT("{\"a\":" ASK_FORM "}")));
	buf_clear(&t.sent);
	buf_clear(&t.events);
	answers(&t, 1, ACCEPT);
	assert_true(has_sent(&t, "\"id\":3,"));
	assert_true(has_sent(&t, "\"progressToken\":3"));
	says(&t, NOTICE("notifications/progress",
			"{\"progressToken\":2,\"progress\":1}"));
	happened(&t, "");
	says(&t, NOTICE("notifications/progress",
			"{\"progressToken\":3,\"progress\":1}"));
	happened(&t, "progress 2 1/ \n");
	/* the answer to the first id is of nobody */
	says(&t, ANSWER("2", RESULT));
	happened(&t, "");
	says(&t, ANSWER("3", RESULT));
	happened(&t, "result 2 " RESULT "\n");
	end(&t);
}

TEST_IN(talk, CAN_4, parked_call_given_up, is_not_cancelled)
{
	struct talk t;

	begin_modern(&t, &answering);
	calls(&t, "echo");
	says(&t, ANSWER("2", INPUT("{\"a\":" ASK_FORM "}")));
	buf_clear(&t.sent);
	buf_clear(&t.events);
	session_cancel(t.s, 2, "no");
	collect(&t);
	sent(&t, "");
	happened(&t, "gone 1\n");
	assert_int_equal(session_deadline(t.s), UINT64_MAX);
	end(&t);
}

TEST_IN(talk, CAN_1, time_out_in_the_newer_era, sends_the_notification)
{
	struct talk t;

	begin_modern(&t, &answering);
	calls(&t, "echo");
	buf_clear(&t.sent);
	passes(&t, 60000);
	happened(&t, "failed 2 timeout call\n");
	sent(&t, NOTICE("notifications/cancelled",
			"{\"requestId\":2,\"reason\":\"timed out\"}"));
	says(&t, ANSWER("2", RESULT));
	happened(&t, "");
	assert_int_equal(session_stats(t.s)->dropped_responses, 1);
	end(&t);
}

/* ---- tasks ---- */

static void begin_task(struct talk *t, const char *status)
{
	begin_modern(t, &answering);
	calls(t, "echo");
	says(t, status);
	buf_clear(&t->sent);
	buf_clear(&t->events);
}

TEST_IN(talk, CAN_6, task_out_of_time, is_cancelled_as_one)
{
	struct talk t;

	begin_task(&t, ANSWER("2", TASK("working", "")));
	passes(&t, 1000);
	assert_true(has_sent(&t, "\"id\":3,\"method\":\"tasks/get\""));
	buf_clear(&t.sent);
	passes(&t, 60000);
	happened(&t, "failed 2 timeout call\n");
	assert_true(has_sent(&t, "\"method\":\"tasks/cancel\""));
	assert_false(has_sent(&t, "notifications/cancelled"));
	says(&t, ANSWER("3", TASK("completed", ",\"result\":" RESULT)));
	says(&t, ANSWER("4", "{}"));
	happened(&t, "");
	assert_int_equal(session_deadline(t.s), UINT64_MAX);
	end(&t);
}

TEST_IN(talk, TX_8, unknown_to_the_server, is_its_error)
{
	struct talk t;

	begin_task(&t, ANSWER("2", TASK("working", "")));
	passes(&t, 1000);
	says(&t, ERROR("3", "-32602", "null"));
	happened(&t, "error 2 -32602 no\n");
	end(&t);
}

TEST_IN(talk, TX_3, odd_states, end_the_call)
{
	static const char *const tasks[] = {
		ANSWER("3", "{}"),
		ANSWER("3", "[]"),
		ANSWER("3", TASK("dreaming", "")),
		ANSWER("3", TASK("completed", "")),
		ANSWER("3", TASK("failed", "")),
		ANSWER("3", TASK("cancelled", "")),
	};

	for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
		struct talk t;

		begin_task(&t, ANSWER("2", TASK("working", "")));
		passes(&t, 1000);
		says(&t, tasks[i]);
		happened(&t, "failed 2 bad_result call\n");
		end(&t);
	}
}

TEST_IN(talk, TX_2, task_without_an_id, is_no_result)
{
	struct talk t;

	begin_modern(&t, &answering);
	calls(&t, "echo");
	says(&t, ANSWER("2", "{\"resultType\":\"task\",\"taskId\":7}"));
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

TEST_IN(talk, TX_5, ended_while_somebody_is_asked, question_is_gone)
{
	struct talk t;

	begin_task(&t, ANSWER("2",
			      TASK("input_required",
				   ",\"inputRequests\":{\"a\":" ASK_FORM "}")));
	passes(&t, 1000);
	says(&t, ANSWER("3", TASK("completed", ",\"result\":" RESULT)));
	happened(&t, "result 2 " RESULT "\ngone 1\n");
	buf_clear(&t.sent);
	answers(&t, 1, ACCEPT);
	sent(&t, "");
	end(&t);
}

TEST_IN(talk, TX_5, answer_refused_after_the_end, result_counts)
{
	struct talk t;

	begin_task(&t, ANSWER("2",
			      TASK("input_required",
				   ",\"inputRequests\":{\"a\":" ASK_FORM "}")));
	answers(&t, 1, ACCEPT);
	assert_true(has_sent(&t, "\"id\":3,\"method\":\"tasks/update\""));
	buf_clear(&t.sent);
	says(&t, ERROR("3", "-32602", "null"));
	passes(&t, 0);
	assert_true(has_sent(&t, "\"id\":4,\"method\":\"tasks/get\""));
	says(&t, ANSWER("4", TASK("completed", ",\"result\":" RESULT)));
	happened(&t, "result 2 " RESULT "\n");
	end(&t);
}

TEST_IN(talk, TX_5, answer_refused_and_asked_on, ends_the_call)
{
	struct talk t;

	begin_task(&t, ANSWER("2",
			      TASK("input_required",
				   ",\"inputRequests\":{\"a\":" ASK_FORM "}")));
	answers(&t, 1, ACCEPT);
	says(&t, ERROR("3", "-32602", "null"));
	passes(&t, 0);
	says(&t, ANSWER("4", TASK("input_required",
				  ",\"inputRequests\":{\"a\":" ASK_FORM "}")));
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

TEST_IN(talk, TX_5, status_that_lags, is_waited_for)
{
	struct talk t;

	begin_task(&t, ANSWER("2",
			      TASK("input_required",
				   ",\"inputRequests\":{\"a\":" ASK_FORM "}")));
	answers(&t, 1, ACCEPT);
	says(&t, ANSWER("3", "{}"));
	for (int id = 4; id < 300; id++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		buf_addf(&line,
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":", id);
		buf_adds(&line,
			 TASK("input_required",
			      ",\"inputRequests\":{\"a\":" ASK_FORM "}") "}\n");
		passes(&t, 1000);
		says(&t, buf_cstr(&line));
	}
	happened(&t, "");
	end(&t);
}

TEST_IN(talk, TX_5, asks_without_end, end_the_call)
{
	uint64_t id = 3, ask = 1;
	struct talk t;

	begin_task(&t, ANSWER("2",
			      TASK("input_required",
				   ",\"inputRequests\":{\"a\":" ASK_FORM "}")));
	for (; ask < 200 && !strstr(buf_cstr(&t.events), "failed"); ask++) {
		AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);

		answers(&t, ask, ACCEPT);
		buf_addf(&lines,
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\n",
			 (int)id++);
		says(&t, buf_cstr(&lines));
		passes(&t, 1000);
		buf_clear(&lines);
		buf_addf(&lines,
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{"
			 "\"resultType\":\"task\",\"taskId\":\"t1\",\"status\":"
			 "\"input_required\",\"pollIntervalMs\":1000,"
			 "\"inputRequests\":{\"k%d\":" ASK_FORM "}}}\n",
			 (int)id++, (int)ask);
		says(&t, buf_cstr(&lines));
	}
	assert_int_equal(ask, 101);
	end(&t);
}

TEST_IN(talk, PRO_5, progress_of_a_task, comes_before_its_result)
{
	struct talk t;

	begin_task(&t, ANSWER("2", TASK("working", "")));
	passes(&t, 1000);
	says(&t, NOTICE("notifications/progress",
			"{\"progressToken\":2,\"progress\":1}")
			 NOTICE("notifications/progress",
				"{\"progressToken\":2,\"progress\":2}"));
	happened(&t, "progress 2 1/ \n");
	says(&t, ANSWER("3", TASK("completed", ",\"result\":" RESULT)));
	happened(&t, "progress 2 2/ \nresult 2 " RESULT "\n");
	end(&t);
}

static uint64_t calls_task(struct talk *t)
{
	struct err err = ERR_INIT;
	uint64_t ticket = 0;

	assert_int_equal(session_call_task(t->s, "echo", STR(ARGS), t->now,
					   &ticket, &err),
			 0);
	collect(t);
	return ticket;
}

TEST_IN(talk, TK_1, server_without_tasks, is_asked_for_none)
{
	struct talk t;

	begin(&t, &(struct session_options){0});
	says(&t, ANSWER("1", "{\"protocolVersion\":\"2025-11-25\","
			     "\"capabilities\":{\"tools\":{}}}"));
	buf_clear(&t.sent);
	calls_task(&t);
	assert_null(param(&t, "task").p);
	assert_true(scan_is(param(&t, "name"), "echo"));
	end(&t);
	/* the newer era has another way */
	begin_modern(&t, &answering);
	calls_task(&t);
	assert_null(param(&t, "task").p);
	end(&t);
	begin_legacy(&t, &answering);
	calls_task(&t);
	assert_true(str_is(param(&t, "task"), "{}"));
	end(&t);
}

TEST_IN(talk, TK_6, answer_to_a_question_of_a_task, names_it)
{
	struct talk t;

	begin_legacy(&t, &answering);
	says(&t, REQUEST("7", "roots/list",
			 "{\"_meta\":{\"" META
			 "related-task\":{\"taskId\":\"x\"}}}"));
	buf_clear(&t.sent);
	answers(&t, 1,
		"{\"roots\":[],\"_meta\":{\"a/b\":1,\"" META
		"related-task\":0}}");
	sent(&t, ANSWER("7", "{\"roots\":[],\"_meta\":{\"a/b\":1,\"" META
			     "related-task\":{\"taskId\":\"x\"}}}"));
	end(&t);
}

TEST_IN(talk, TK_8, older_shape_out_of_time, is_cancelled_as_one)
{
	struct talk t;

	begin_legacy(&t, &answering);
	calls_task(&t);
	says(&t, ANSWER("2", "{\"task\":{\"taskId\":\"x\",\"status\":"
			     "\"working\",\"ttl\":null}}"));
	passes(&t, 5000);
	says(&t,
	     ANSWER("3", "{\"taskId\":\"x\",\"status\":\"input_required\"}"));
	assert_true(has_sent(&t, "\"id\":4,\"method\":\"tasks/result\""));
	buf_clear(&t.sent);
	buf_clear(&t.events);
	passes(&t, 15 * 60000);
	happened(&t, "failed 2 timeout call\n");
	assert_true(has_sent(&t, "\"method\":\"tasks/cancel\""));
	end(&t);
}

TEST_IN(talk, TK_4, odd_intervals, are_kept_within_bounds)
{
	static const struct {
		const char *interval;
		uint64_t ms;
	} cases[] = {
		{"0", 250},	 {"-5", 250},	 {"90000000", 60000},
		{"\"x\"", 5000}, {"null", 5000}, {"1e999", 5000},
		{"2000", 2000},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
		struct talk t;

		begin_modern(&t, &answering);
		calls(&t, "echo");
		buf_addf(&line,
			 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{"
			 "\"resultType\":\"task\",\"taskId\":\"t\","
			 "\"status\":\"working\",\"pollIntervalMs\":%s}}\n",
			 cases[i].interval);
		says(&t, buf_cstr(&line));
		assert_int_equal(session_deadline(t.s),
				 t.now + cases[i].ms * NS_PER_MS);
		end(&t);
	}
}

TEST_IN(talk, TK_4, older_shape_of_no_known_status, ends_the_call)
{
	struct talk t;

	begin_legacy(&t, &answering);
	calls_task(&t);
	says(&t, ANSWER("2", "{\"task\":{\"taskId\":\"x\",\"status\":"
			     "\"dreaming\"}}"));
	happened(&t, "failed 2 bad_result call\n");
	end(&t);
}

TEST_IN(talk, TK_5, status_behind_the_request_for_the_result, asks_no_more)
{
	struct talk t;

	begin_legacy(&t, &answering);
	calls_task(&t);
	says(&t, ANSWER("2", "{\"task\":{\"taskId\":\"x\",\"status\":"
			     "\"failed\"}}"));
	assert_true(has_sent(&t, "\"id\":3,\"method\":\"tasks/result\""));
	buf_clear(&t.events);
	says(&t, ERROR("3", "-32000", "{\"a\":1}"));
	happened(&t, "error 2 -32000 no {\"a\":1}\n");
	end(&t);
}

TEST_IN(talk, TX_4, failed_with_all_of_an_error, is_passed_on)
{
	struct talk t;

	begin_task(&t, ANSWER("2", TASK("working", "")));
	passes(&t, 1000);
	says(&t, ANSWER("3", TASK("failed", ",\"error\":{\"code\":-7,"
					    "\"message\":\"m\","
					    "\"data\":[1]}")));
	happened(&t, "error 2 -7 m [1]\n");
	end(&t);
	begin_task(&t, ANSWER("2", TASK("working", "")));
	passes(&t, 1000);
	says(&t, ANSWER("3", TASK("failed", ",\"error\":{\"code\":\"x\"}")));
	happened(&t, "error 2 -32603 {\"code\":\"x\"}\n");
	end(&t);
}

TEST_IN(talk, TX_5, waiting_without_a_question, is_looked_at_again)
{
	struct talk t;

	begin_task(&t, ANSWER("2", TASK("input_required", "")));
	passes(&t, 1000);
	assert_true(has_sent(&t, "\"id\":3,\"method\":\"tasks/get\""));
	says(&t, ANSWER("3", TASK("completed", ",\"result\":" RESULT)));
	happened(&t, "result 2 " RESULT "\n");
	end(&t);
}

/* ---- questions of odd shapes ---- */

TEST_IN(talk, MR_3, questions_of_odd_shapes, end_the_call)
{
	static const char *const results[] = {
		INPUT("[1]"),
		INPUT("{\"a\":{}}"),
		INPUT("{\"a\":{\"method\":\"tools/list\"}}"),
		INPUT("{\"a\":{\"method\":\"elicitation/create\","
		      "\"params\":{\"mode\":\"telepathy\"}}}"),
		INPUT("{\"a\":{\"method\":\"roots/list\",\"params\":7}}"),
		"{\"resultType\":\"input_required\",\"requestState\":7}",
	};

	for (size_t i = 0; i < ARRAY_LEN(results); i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
		struct talk t;

		begin_modern(&t, &answering);
		calls(&t, "echo");
		buf_addf(&line,
			 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":%s}\n",
			 results[i]);
		says(&t, buf_cstr(&line));
		happened(&t, "failed 2 bad_result call\n");
		end(&t);
	}
}

TEST_IN(talk, EL_3, mode_nobody_knows, is_invalid)
{
	struct talk t;

	begin_legacy(&t, &answering);
	says(&t,
	     REQUEST("5", "elicitation/create", "{\"mode\":\"telepathy\"}"));
	assert_true(has_sent(&t, "\"id\":5,\"error\":{\"code\":-32602"));
	happened(&t, "");
	end(&t);
}

/* ---- times of single requests, and large results ---- */

TEST_IN(talk, TMO_1, times_of_one_request, count_for_it_alone)
{
	struct talk t;

	begin_legacy(&t, &(struct session_options){0});
	calls(&t, "slow");
	calls(&t, "fast");
	session_set_times(t.s, 3, 500, 2000);
	session_set_times(t.s, 99, 1, 1);
	assert_int_equal(session_deadline(t.s), t.now + 500 * NS_PER_MS);
	passes(&t, 400);
	says(&t, NOTICE("notifications/progress",
			"{\"progressToken\":3,\"progress\":1}"));
	assert_int_equal(session_deadline(t.s), t.now + 500 * NS_PER_MS);
	buf_clear(&t.events);
	passes(&t, 500);
	happened(&t, "failed 3 timeout call\n");
	assert_int_equal(session_state(t.s), SESSION_READY);
	end(&t);
}

TEST_IN(talk, RW_13, large_result, can_be_taken_with_its_memory)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	AUTO(mem_freep) char *taken = NULL;
	struct session_event e;
	struct str result;
	struct talk t;

	begin_legacy(&t, &(struct session_options){0});
	calls(&t, "big");
	calls(&t, "small");
	buf_adds(&line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"");
	memset(buf_room(&line, 1000000), 'x', 1000000);
	line.n += 1000000;
	buf_adds(&line, "\"}\n" ANSWER("3", RESULT));
	session_feed(t.s, buf_str(&line), t.now);
	assert_true(session_next(t.s, &e));
	result = e.result;
	taken = session_take(t.s, result);
	assert_non_null(taken);
	/* what stood behind it is still read, and what was taken stays */
	assert_true(session_next(t.s, &e));
	assert_true(str_is(e.result, RESULT));
	assert_null(session_take(t.s, e.result));
	assert_int_equal(result.n, 1000002);
	assert_int_equal(result.p[1000000], 'x');
	says(&t, NOTICE("notifications/message", "{\"data\":\"on\"}"));
	happened(&t, "log info [] on\n");
	end(&t);
}

/* ---- the end of stdin ---- */

TEST_IN(talk, STD_17, stdin_broke, nothing_is_written_any_more)
{
	struct err err = ERR_INIT;
	uint64_t ticket;
	struct talk t;

	begin_modern(&t, &answering);
	calls(&t, "echo");
	says(&t, ANSWER("2", INPUT("{\"a\":" ASK_FORM "}")));
	buf_clear(&t.sent);
	session_output_broke(t.s);
	answers(&t, 1, ACCEPT);
	assert_int_equal(
		session_call_tool(t.s, "echo", STR("{}"), t.now, &ticket, &err),
		-1);
	sent(&t, "");
	buf_clear(&t.events);
	/* its time runs all the same */
	passes(&t, 60000);
	happened(&t, "failed 2 timeout call\n");
	ends(&t);
	happened(&t, "closed\n");
	end(&t);
}

TEST_IN(talk, STD_17, stdin_broke, a_task_is_not_looked_at)
{
	struct talk t;

	begin_task(&t, ANSWER("2", TASK("working", "")));
	session_output_broke(t.s);
	passes(&t, 1000);
	passes(&t, 60000);
	happened(&t, "failed 2 timeout call\n");
	sent(&t, "");
	end(&t);
}
