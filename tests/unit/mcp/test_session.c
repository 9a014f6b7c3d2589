/*
 * The client's state machine with what no transcript can say: long lines, many
 * of them, and events that are read one at a time.
 */
#include <string.h>

#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/mcp/session/session.h"
#include "tests/unit/mcp/session_log.h"

#define SECOND NS_PER_S
#define START (100 * SECOND)

#define HELLO                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"  \
	"\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{" \
	"\"name\":\"srv\",\"version\":\"1.2\"}}}\n"
#define READY "ready 2025-11-25 srv/1.2\n"
#define OK_RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}"
#define ANSWER "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" OK_RESULT "}\n"
#define ANSWERED "result 2 " OK_RESULT "\n"

static uint64_t call(struct session *s, const char *tool, uint64_t now)
{
	struct err err = ERR_INIT;
	uint64_t ticket = 0;

	assert_int_equal(session_call_tool(s, tool, STR("{\"a\":1}"), false,
					   now, &ticket, &err),
			 0);
	return ticket;
}

static void feed(struct session *s, const char *bytes)
{
	session_feed(s, str_of(bytes), START);
}

/* Arguments. */

TEST(call, arguments_no_object, is_an_error)
{
	static const char *const bad[] = {"", "[]", "null", "1", "{", "{}{}"};
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct err err = ERR_INIT;
	uint64_t ticket = 77;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(session_call_tool(s, "x", str_of(bad[i]),
						   false, START, &ticket, &err),
				 -1);
		assert_int_equal(err.kind, ERR_SYNTAX);
		assert_int_equal(ticket, 77);
	}
	assert_true(session_deadline(s) == UINT64_MAX);
}

TEST(call, arguments_over_the_queue, is_a_limit)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	AUTO(mem_freep) char *big = mem_alloc(LIMIT_QUEUE_BYTES + 1);
	struct err err = ERR_INIT;
	uint64_t ticket;

	memset(big, ' ', LIMIT_QUEUE_BYTES + 1);
	assert_int_equal(
		session_call_tool(s, "x",
				  (struct str){big, LIMIT_QUEUE_BYTES + 1},
				  false, START, &ticket, &err),
		-1);
	assert_int_equal(err.kind, ERR_LIMIT);
}

/* Output that is not a message. */

TEST(RW_13, long_line, is_given_in_place)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	AUTO(mem_freep) char *chunk = mem_alloc(65536);
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;

	memset(chunk, 'A', 65536);
	session_start(s, START);
	call(s, "echo", START);
	feed(s, HELLO);
	drain(s, &log);
	feed(s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"");
	for (int i = 0; i < 800; i++) {
		session_feed(s, (struct str){chunk, 65536}, START);
		assert_false(session_next(s, &e));
	}
	feed(s, "\"}\n");
	assert_true(session_next(s, &e));
	assert_int_equal(e.type, SESSION_EVENT_RESULT);
	assert_int_equal(e.result.n, 800 * 65536 + 2);
	buf_release(&log);
}

TEST(RW_16, fed_in_the_middle_of_an_array, goes_on)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct buf more = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;

	session_start(s, START);
	for (int i = 0; i < 3; i++)
		call(s, "echo", START);
	feed(s, HELLO "[{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"n\":1}},"
		      "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":2}},"
		      "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"n\":3}}]\n");
	for (int i = 0; i < 2; i++) {
		assert_true(session_next(s, &e));
		log_event(&log, s, &e);
	}
	for (int i = 0; i < 10000; i++)
		buf_adds(&more, "noise moves the buffer\n");
	session_feed(s, buf_str(&more), START);
	assert_true(session_next(s, &e));
	log_event(&log, s, &e);
	session_feed(s, buf_str(&more), START);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log),
			    READY "result 3 {\"n\":1}\nresult 2 {\"n\":2}\n"
				  "result 4 {\"n\":3}\n");
	buf_release(&more);
	buf_release(&log);
}

/* Time. */

TEST(timeout, answer_in_the_same_moment, counts)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);

	session_start(s, START);
	call(s, "echo", START);
	feed(s, HELLO);
	drain(s, &log);
	session_feed(s, STR(ANSWER), START + 60 * SECOND);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY ANSWERED);
	buf_release(&log);
}

/* Messages. */

TEST(LOG_5, long_log, is_cut)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;

	session_start(s, START);
	buf_adds(&line,
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		 "message\",\"params\":{\"level\":\"error\",\"data\":\"");
	for (int i = 0; i < 20000; i++)
		buf_adds(&line, "\\u00e9");
	buf_adds(&line, "\"}}\n");
	session_feed(s, buf_str(&line), START);
	assert_true(session_next(s, &e));
	assert_true(e.message.n <= 16384 && e.message.n > 4096);
	assert_true(str_is_utf8(e.message));
	buf_release(&line);
}

TEST(queue, server_asks_and_never_reads, fails)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e = {0};
	int n = 0;

	session_start(s, START);
	buf_adds(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"");
	for (int i = 0; i < 1024 * 1024; i++)
		buf_addc(&line, 'x');
	buf_adds(&line, "\"}\n");
	while (n++ < 100 && session_state(s) == SESSION_INITIALIZING) {
		session_feed(s, buf_str(&line), START);
		while (session_next(s, &e))
			;
	}
	assert_int_equal(session_state(s), SESSION_FAILED);
	assert_int_equal(e.failure, SESSION_FAIL_QUEUE);
	assert_in_range(n, 16, 18);
	buf_release(&line);
}

TEST(words, of_all_states, are_there)
{
	assert_string_equal(session_state_word(SESSION_NEW), "new");
	assert_string_equal(session_state_word(SESSION_FAILED), "failed");
}
