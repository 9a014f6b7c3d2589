/*
 * The session with large messages and many of them, which are made here; all
 * else that servers do is in the files of transcripts.
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

/* ---- messages ---- */

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
						   false, t.now, &ticket, &err),
				 0);
	/* nothing of it was read yet, and a ping comes */
	session_feed(t.s, STR(REQUEST("1", "ping", "{}")), t.now);
	drain(t.s, &t.events);
	happened(&t, "");
	assert_int_equal(session_state(t.s), SESSION_READY);
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

/* ---- large results ---- */

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

TEST(session, large_result, can_be_taken)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;
	struct talk t;
	char *memory;

	begin_legacy(&t, &(struct session_options){0});
	calls(&t, "a");
	buf_clear(&t.events);
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
