/*
 * The client's state machine, fed with what servers really send.
 *
 * Each transcript runs twice, in one piece and byte by byte, and both runs
 * must give the same events and the same bytes for the server.
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

/* ticket 1 is initialize, 2 and 3 are calls of "echo" and "sum" */
struct transcript {
	struct session_options opt;
	const char *bytes;
	size_t n;	    /* 0: up to the NUL */
	bool raw;	    /* without HELLO before the bytes */
	bool two;	    /* a second call */
	bool eof;	    /* stdout ends behind the bytes */
	const char *events; /* expected */
	const char *output; /* expected after the first messages, or NULL */
};

static uint64_t call(struct session *s, const char *tool, uint64_t now)
{
	struct err err = ERR_INIT;
	uint64_t ticket = 0;

	assert_int_equal(session_call_tool(s, tool, STR("{\"a\":1}"), now,
					   &ticket, &err),
			 0);
	return ticket;
}

static void feed(struct session *s, const char *bytes)
{
	session_feed(s, str_of(bytes), START);
}

static struct session *play(const struct transcript *t, bool chop,
			    struct buf *log)
{
	struct session *s = session_new(&t->opt);
	struct str in = {t->bytes, t->n ? t->n : strlen(t->bytes)};

	call(s, "echo", START);
	if (t->two)
		call(s, "sum", START);
	session_start(s, START);
	drain(s, log);
	if (!t->raw)
		feed(s, HELLO);
	drain(s, log);
	session_wrote(s, session_output(s).n);
	for (size_t i = 0; i < (chop ? in.n : 1); i++) {
		struct str part = chop ? (struct str){in.p + i, 1} : in;

		session_feed(s, part, START);
		drain(s, log);
	}
	if (t->eof)
		session_eof(s, START);
	drain(s, log);
	return s;
}

static struct session *check(const struct transcript *t)
{
	struct buf whole_log = BUF_INIT(BUF_UNBOUNDED);
	struct buf chop_log = BUF_INIT(BUF_UNBOUNDED);
	struct session *whole = play(t, false, &whole_log);
	struct session *chopped = play(t, true, &chop_log);

	assert_string_equal(buf_cstr(&whole_log), t->events);
	assert_string_equal(buf_cstr(&chop_log), t->events);
	if (t->output) {
		struct str out = session_output(whole);
		AUTO(mem_freep) char *text = mem_strndup(out.p, out.n);

		assert_string_equal(text, t->output);
	}
	assert_true(str_eq(session_output(whole), session_output(chopped)));
	assert_true(str_eq(session_noise(whole), session_noise(chopped)));
	/* a session that failed takes no more bytes */
	if (session_state(whole) != SESSION_FAILED)
		assert_memory_equal(session_stats(whole),
				    session_stats(chopped),
				    sizeof(struct session_stats));
	assert_int_equal(session_state(whole), session_state(chopped));
	session_free(chopped);
	buf_release(&whole_log);
	buf_release(&chop_log);
	return whole;
}

#define CHECK(...)                 \
	AUTO(session_freep)        \
	struct session *s UNUSED = \
		check(&(const struct transcript){__VA_ARGS__})

static uint64_t stat_skipped(const struct session *s)
{
	return session_stats(s)->skipped_lines;
}

/* The handshake and the states. */

TEST(initialize, start, writes_newest_date_and_id_1)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){
		.client_name = "matins", .client_version = "0.1"});

	assert_int_equal(session_state(s), SESSION_NEW);
	assert_int_equal(session_output(s).n, 0);
	session_start(s, START);
	assert_int_equal(session_state(s), SESSION_INITIALIZING);
	assert_true(str_is(
		session_output(s),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":\"2025-11-25\","
		"\"capabilities\":{},\"clientInfo\":{\"name\":\"matins\","
		"\"version\":\"0.1\"}}}\n"));
	assert_true(session_deadline(s) < UINT64_MAX);
}

TEST(initialize, answer, sends_initialized_then_the_call)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);

	session_start(s, START);
	assert_int_equal(call(s, "echo", START), 2);
	session_wrote(s, session_output(s).n);
	feed(s, HELLO);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY);
	assert_int_equal(session_state(s), SESSION_READY);
	assert_true(str_is(
		session_output(s),
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		"initialized\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		"\"params\":{\"name\":\"echo\",\"arguments\":{\"a\":1},"
		"\"_meta\":{\"progressToken\":2}}}\n"));
	buf_release(&log);
}

TEST(initialize, nothing_sent_before_the_answer, but_pong)
{
	CHECK(.raw = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n",
	      .events = "",
	      .output = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
	assert_int_equal(session_state(s), SESSION_INITIALIZING);
}

TEST(initialize, pinned_revision, is_asked_for)
{
	AUTO(session_freep)
	struct session *s = session_new(
		&(struct session_options){.protocol = "2025-03-26"});

	session_start(s, START);
	assert_non_null(memmem(session_output(s).p, session_output(s).n,
			       "\"protocolVersion\":\"2025-03-26\"", 30));
}

TEST(initialize, pin_of_no_known_date, fails_unsent)
{
	CHECK(.raw = true, .opt.protocol = "2027-01-01", .bytes = "",
	      .events = "failed 0 handshake initialize\n", .output = "");
	assert_int_equal(session_state(s), SESSION_FAILED);
}

TEST(initialize, error, fails_with_the_reason)
{
	struct session_event e;
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});

	session_start(s, START);
	feed(s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
		"\"message\":\"Unsupported protocol version\",\"data\":{"
		"\"supported\":[\"2024-11-05\",\"2025-06-18\",\"1999-01-01\","
		"7,\"2025-11-25\"]}}}\n");
	assert_true(session_next(s, &e));
	assert_int_equal(e.type, SESSION_EVENT_FAILED);
	assert_int_equal(e.failure, SESSION_FAIL_HANDSHAKE);
	assert_int_equal(e.phase, SESSION_PHASE_INITIALIZE);
	assert_int_equal(e.code, -32602);
	assert_string_equal(e.retry_protocol, "2025-06-18");
	assert_non_null(strstr(e.err.msg, "Unsupported protocol version"));
	assert_false(session_next(s, &e));
	assert_int_equal(session_state(s), SESSION_FAILED);
	assert_int_equal(session_deadline(s), UINT64_MAX);
	assert_false(session_feed(s, STR(ANSWER), START));
}

TEST(RW_58, null_and_missing_members, are_absent)
{
	CHECK(.raw = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
		       "\"protocolVersion\":\"2024-11-05\","
		       "\"capabilities\":[],\"instructions\":null}}\n",
	      .events = "ready 2024-11-05 /\n");
	assert_int_equal(session_stats(s)->oddities, 2);
	assert_true(str_is(session_server(s)->capabilities, "{}"));
	assert_true(str_is(session_server(s)->instructions, ""));
}

TEST(initialize, instructions, are_decoded)
{
	CHECK(.raw = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
		       "\"protocolVersion\":\"2025-06-18\","
		       "\"capabilities\":{},\"serverInfo\":{\"name\":"
		       "\"a\\u00e9\",\"version\":\"2\"},"
		       "\"instructions\":\"be\\nkind\"}}\n",
	      .events = "ready 2025-06-18 a\xc3\xa9/2\n");
	assert_true(str_is(session_server(s)->instructions, "be\nkind"));
}

TEST(RW_68, each_known_date, is_accepted)
{
	static const char *const dates[] = {"2024-11-05", "2025-03-26",
					    "2025-06-18", "2025-11-25"};

	for (size_t i = 0; i < ARRAY_LEN(dates); i++) {
		AUTO(mem_freep)
		char *bytes =
			mem_printf("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
				   "\"protocolVersion\":\"%s\"}}\n" ANSWER,
				   dates[i]);
		AUTO(mem_freep)
		char *events = mem_printf("ready %s /\n" ANSWERED, dates[i]);
		CHECK(.raw = true, .opt.protocol = "2025-06-18", .bytes = bytes,
		      .events = events);
	}
}

TEST(RW_69, unknown_date, fails_and_quotes_it)
{
	static const char *const versions[] = {
		"\"2024-10-07\"", "\"1.0\"", "\"2026-07-28\"",
		"\"\"",		  "7",	     "null",
	};

	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		AUTO(session_freep)
		struct session *s = session_new(&(struct session_options){0});
		AUTO(mem_freep)
		char *line = mem_printf("{\"jsonrpc\":\"2.0\",\"id\":1,"
					"\"result\":{\"protocolVersion\":%s}}"
					"\n",
					versions[i]);
		struct session_event e;

		session_start(s, START);
		feed(s, line);
		assert_true(session_next(s, &e));
		assert_int_equal(e.type, SESSION_EVENT_FAILED);
		assert_int_equal(e.failure, SESSION_FAIL_HANDSHAKE);
		assert_non_null(strstr(e.err.msg, "2025-11-25"));
		if (i < 3)
			assert_non_null(strstr(e.err.msg, versions[i]));
	}
}

TEST(RW_69, no_version, fails)
{
	{
		CHECK(.raw = true,
		      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
		      .events = "failed 0 handshake initialize\n");
	}
	{
		CHECK(.raw = true,
		      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}\n",
		      .events = "failed 0 handshake initialize\n");
	}
	{
		CHECK(.raw = true,
		      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":1,"
			       "\"result\":\"x\"}\n",
		      .events = "failed 0 handshake initialize\n");
	}
}

TEST(RW_69, unknown_date_allowed, is_the_nearest_older)
{
	static const char *const pairs[][2] = {
		{"2024-10-07", "2024-11-05"}, {"1.0", "2024-11-05"},
		{"2025-04-01", "2025-03-26"}, {"2026-07-28", "2025-11-25"},
		{"", "2024-11-05"},
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		AUTO(mem_freep)
		char *bytes = mem_printf("{\"jsonrpc\":\"2.0\",\"id\":1,"
					 "\"result\":{\"protocolVersion\":"
					 "\"%s\"}}\n",
					 pairs[i][0]);
		AUTO(mem_freep)
		char *events = mem_printf("ready %s /\n", pairs[i][1]);
		CHECK(.raw = true, .opt.accept_unknown_protocol = true,
		      .bytes = bytes, .events = events);
	}
}

TEST(result, answer, is_given_byte_for_byte)
{
#define ODD                                                               \
	"{ \"z\":1.0 , \"content\" : [ {\"type\":\"text\",\"text\":"      \
	"\"\\u0000\\ud83d \\/\"} ],\"n\":123456789012345678901234567890," \
	"\"e\":1E+3,\"a\":-0}"
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" ODD "}\n",
	      .events = READY "result 2 " ODD "\n");
	assert_true(session_deadline(s) == UINT64_MAX);
#undef ODD
}

TEST(error, answer, has_code_message_and_data)
{
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":"
		       "-32602,\"message\":\"Unknown tool\",\"data\":[1.0]}}"
		       "\n",
	      .events = READY "error 2 -32602 Unknown tool [1.0]\n");
	assert_int_equal(session_state(s), SESSION_READY);
}

TEST(end, nothing_pending, is_clean)
{
	CHECK(.bytes = ANSWER, .eof = true,
	      .events = READY ANSWERED "closed\n");
	assert_int_equal(session_state(s), SESSION_CLOSED);
}

TEST(end, call_pending, fails_it)
{
	CHECK(.bytes = "", .eof = true, .events = READY "failed 0 eof call\n");
	assert_int_equal(session_state(s), SESSION_FAILED);
	assert_true(session_deadline(s) == UINT64_MAX);
}

TEST(RW_21, end_before_initialize, keeps_what_was_said)
{
	CHECK(.raw = true, .bytes = "error: API_KEY is not set\n", .eof = true,
	      .events = "failed 0 eof initialize\n");
	assert_true(str_is(session_noise(s), "error: API_KEY is not set\n"));
}

TEST(RW_28, stdout_closed_with_pending, fails_all)
{
	CHECK(.two = true, .bytes = ANSWER, .eof = true,
	      .events = READY ANSWERED "failed 0 eof call\n");
}

TEST(RW_29, answer_then_end, counts)
{
	CHECK(.bytes = ANSWER, .eof = true,
	      .events = READY ANSWERED "closed\n");
}

TEST(RW_30, last_line_without_newline, is_processed)
{
	CHECK(.bytes =
		      "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" OK_RESULT "}",
	      .eof = true, .events = READY ANSWERED "closed\n");
}

TEST(RW_31, end_within_a_message, is_an_end)
{
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"resu", .eof = true,
	      .events = READY "failed 0 eof call\n");
	assert_int_equal(session_stats(s)->broken_messages, 1);
}

TEST(close, then_end, is_closed)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	uint64_t ticket;

	session_start(s, START);
	feed(s, HELLO);
	drain(s, &log);
	session_wrote(s, session_output(s).n);
	session_close(s);
	assert_int_equal(session_state(s), SESSION_CLOSING);
	assert_int_equal(session_call_tool(s, "x", (struct str){NULL, 0}, START,
					   &ticket, &err),
			 -1);
	assert_int_equal(err.kind, ERR_PEER);
	feed(s, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
	drain(s, &log);
	assert_int_equal(session_output(s).n, 0);
	session_eof(s, START);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY "closed\n");
	buf_release(&log);
}

TEST(close, answer_still_comes, counts)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);

	session_start(s, START);
	call(s, "echo", START);
	feed(s, HELLO);
	drain(s, &log);
	session_close(s);
	feed(s, ANSWER);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY ANSWERED);
	buf_release(&log);
}

TEST(RW_32, stdin_gone, nothing_is_queued)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);

	session_start(s, START);
	call(s, "echo", START);
	session_output_broke(s);
	feed(s, HELLO);
	drain(s, &log);
	assert_int_equal(session_output(s).n, 0);
	session_eof(s, START);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY "failed 0 eof call\n");
	buf_release(&log);
}

/* Arguments. */

TEST(call, arguments_on_many_lines, stand_on_one)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	uint64_t ticket;

	session_start(s, START);
	feed(s, HELLO);
	drain(s, &log);
	session_wrote(s, session_output(s).n);
	assert_int_equal(session_call_tool(s, "a\nb",
					   STR("{\n\t\"t\": \"x\\n y\",\r\n "
					       "\"n\": 1.0\n}\n"),
					   START, &ticket, &err),
			 0);
	assert_true(str_is(
		session_output(s),
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		"\"params\":{\"name\":\"a\\nb\",\"arguments\":{\"t\":"
		"\"x\\n y\",\"n\":1.0},\"_meta\":{\"progressToken\":2}}}\n"));
	buf_release(&log);
}

/* What waited for the handshake is written as what is sent at once. */
TEST(call, before_and_after_ready, is_the_same)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf waited = BUF_INIT(BUF_UNBOUNDED);
	const char *line;

	call(s, "e\"cho", START);
	session_start(s, START);
	session_wrote(s, session_output(s).n);
	feed(s, HELLO);
	drain(s, &log);
	buf_add_str(&waited, session_output(s));
	session_wrote(s, waited.n);
	line = strstr(buf_cstr(&waited), "{\"jsonrpc\":\"2.0\",\"id\":2,");
	assert_non_null(line);
	call(s, "e\"cho", START);
	assert_true(str_eq(
		session_output(s),
		STR("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
		    "\"params\":{\"name\":\"e\\\"cho\",\"arguments\":"
		    "{\"a\":1},\"_meta\":{\"progressToken\":3}}}\n")));
	assert_string_equal(
		line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		      "\"params\":{\"name\":\"e\\\"cho\",\"arguments\":"
		      "{\"a\":1},\"_meta\":{\"progressToken\":2}}}\n");
	buf_release(&log);
}

TEST(call, arguments_no_object, is_an_error)
{
	static const char *const bad[] = {"", "[]", "null", "1", "{", "{}{}"};
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct err err = ERR_INIT;
	uint64_t ticket = 77;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(session_call_tool(s, "x", str_of(bad[i]),
						   START, &ticket, &err),
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
				  START, &ticket, &err),
		-1);
	assert_int_equal(err.kind, ERR_LIMIT);
}

TEST(call, without_arguments, sends_an_empty_object)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	uint64_t ticket;

	session_start(s, START);
	feed(s, HELLO);
	drain(s, &log);
	assert_int_equal(session_call_tool(s, "x", (struct str){NULL, 0}, START,
					   &ticket, &err),
			 0);
	assert_non_null(memmem(session_output(s).p, session_output(s).n,
			       "\"arguments\":{},", 15));
	buf_release(&log);
}

TEST(request, any_method, is_sent_and_answered)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	uint64_t ticket;

	session_start(s, START);
	feed(s, HELLO);
	drain(s, &log);
	session_wrote(s, session_output(s).n);
	assert_int_equal(session_request(s, "tools/list", (struct str){NULL, 0},
					 START, &ticket, &err),
			 0);
	assert_int_equal(session_request(s, "tools/list",
					 STR("{\"cursor\":\"\"}"), START,
					 &ticket, &err),
			 0);
	assert_true(str_is(session_output(s),
			   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
			   "list\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
			   "\"tools/list\",\"params\":{\"cursor\":\"\"}}\n"));
	feed(s, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n");
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY "result 3 {}\n");
	buf_release(&log);
}

/* Output that is not a message. */

TEST(RW_1, banners_and_logs, are_skipped_and_kept)
{
	CHECK(.bytes = "\xe2\x94\x8c\xe2\x94\x80 My Server \xe2\x94\x90\n"
		       "listening...\n"
		       "{not json}\n" ANSWER "bye\n",
	      .events = READY ANSWERED);
	assert_int_equal(stat_skipped(s), 4);
	assert_true(str_is(session_noise(s),
			   "\xe2\x94\x8c\xe2\x94\x80 My Server "
			   "\xe2\x94\x90\nlistening...\n{not json}\nbye\n"));
	assert_int_equal(session_stats(s)->skipped_bytes,
			 session_noise(s).n - 4);
}

TEST(RW_1, much_noise, is_bounded)
{
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 2000; i++)
		buf_adds(&bytes, "some log line\n");
	buf_adds(&bytes, ANSWER);
	{
		CHECK(.bytes = buf_cstr(&bytes), .events = READY ANSWERED);
		assert_int_equal(stat_skipped(s), 2000);
		assert_int_equal(session_noise(s).n, LIMIT_NOISE_BYTES);
		assert_int_equal(session_stats(s)->skipped_bytes, 2000 * 13);
	}
	buf_release(&bytes);
}

TEST(RW_2, lines_like_json, are_skipped)
{
	CHECK(.bytes = "[db] connected\n123\n\"ready\"\nnull\ntrue\n[1,2]\n"
		       "[{\"a\":1}]\n{}\n" ANSWER,
	      .events = READY ANSWERED);
	assert_int_equal(stat_skipped(s), 8);
}

TEST(RW_3, structured_logs, are_skipped)
{
	CHECK(.bytes = "{\"level\":30,\"msg\":\"x\"}\n"
		       "{\"method\":\"GET\",\"url\":\"/\"}\n"
		       "{\"id\":5,\"method\":\"ping\"}\n"
		       "{\"id\":9,\"result\":\"ok\"}\n"
		       "{\"error\":{\"code\":1,\"message\":\"m\"}}\n"
		       "{\"jsonrpc\":\"2.0\"}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":2}\n" ANSWER,
	      .events = READY ANSWERED, .output = "");
	assert_int_equal(stat_skipped(s), 7);
}

TEST(RW_4, no_or_odd_jsonrpc_with_pending_id, is_accepted)
{
	{
		CHECK(.bytes = "{\"id\":2,\"result\":" OK_RESULT "}\n",
		      .events = READY ANSWERED);
		assert_int_equal(session_stats(s)->oddities, 1);
	}
	{
		CHECK(.bytes = "{\"jsonrpc\":2.0,\"id\":2,\"result\":" OK_RESULT
			       "}\n",
		      .events = READY ANSWERED);
		assert_int_equal(session_stats(s)->oddities, 1);
	}
}

TEST(RW_5, text_before_a_message, is_cut_off)
{
	{
		CHECK(.bytes = "Loading model..." ANSWER,
		      .events = READY ANSWERED);
		assert_int_equal(session_stats(s)->prefixed_messages, 1);
		assert_int_equal(stat_skipped(s), 0);
		assert_int_equal(session_stats(s)->skipped_bytes, 16);
		assert_true(str_is(session_noise(s), "Loading model...\n"));
	}
	{
		CHECK(.bytes = "{} Loading {x \"jsonrpc\" { \t\"jsonrpc\" : "
			       "\"2.0\",\"id\":2,\"result\":" OK_RESULT "}\n",
		      .events = READY ANSWERED);
	}
}

TEST(RW_6, escapes_and_prompt_before_a_message, are_cut_off)
{
	CHECK(.bytes = "\033[2K\033[1G> " ANSWER, .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->prefixed_messages, 1);
}

TEST(RW_7, crlf, is_stripped)
{
	CHECK(.bytes = "\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" OK_RESULT
		       "}\r\n\r\n",
	      .events = READY ANSWERED);
	assert_int_equal(stat_skipped(s), 0);
}

TEST(RW_8, byte_order_mark, is_stripped)
{
	CHECK(.two = true,
	      .bytes = "\xef\xbb\xbf" ANSWER
		       "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":"
		       "{}}\n\xef\xbb\xbf\n",
	      .events = READY ANSWERED "result 3 {}\n");
	assert_int_equal(stat_skipped(s), 0);
}

TEST(RW_9, bad_utf8_in_a_message, is_repaired_there)
{
	CHECK(.two = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"t\":\"caf"
		       "\xe9\"}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"t\":\"caf"
		       "\xc3\xa9\"}}\n",
	      .events = READY "result 2 {\"t\":\"caf\xef\xbf\xbd\"}\n"
			      "result 3 {\"t\":\"caf\xc3\xa9\"}\n");
	assert_int_equal(session_stats(s)->repairs, 1);
}

TEST(RW_9, bad_utf8_in_noise, is_skipped)
{
	CHECK(.bytes = "caf\xe9 is open\n" ANSWER, .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->repairs, 0);
	assert_int_equal(stat_skipped(s), 1);
}

TEST(RW_9, bad_utf8_before_a_message, still_finds_it)
{
	CHECK(.bytes = "caf\xe9" ANSWER, .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->prefixed_messages, 1);
}

TEST(RW_10, many_messages_in_one_write, are_all_read)
{
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct buf expected = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 100; i++) {
		buf_addf(&bytes,
			 "{\"jsonrpc\":\"2.0\",\"id\":\"p%d\",\"method\":"
			 "\"ping\"}\n",
			 i);
		buf_addf(&expected,
			 "{\"jsonrpc\":\"2.0\",\"id\":\"p%d\",\"result\":{}}\n",
			 i);
	}
	{
		CHECK(.bytes = buf_cstr(&bytes), .events = READY,
		      .output = buf_cstr(&expected));
	}
	buf_release(&bytes);
	buf_release(&expected);
}

TEST(RW_11, pretty_printed_message, fails_with_a_hint)
{
	CHECK(.bytes = "some banner\n{\n  \"id\": 2,\n  \"result\": {\n"
		       "    \"content\": [\n      \"}\"\n    ]\n  },\n"
		       "  \"jsonrpc\": \"2.0\"\n}\n",
	      .events = READY "failed 0 framing call\n");
	assert_int_equal(session_state(s), SESSION_FAILED);
}

TEST(RW_11, pretty_printed_log, is_noise)
{
	CHECK(.bytes = "{\n  \"level\": \"info\",\n  \"tags\": [\n \"a\"\n ]\n"
		       "}\n" ANSWER,
	      .events = READY ANSWERED);
	assert_int_equal(stat_skipped(s), 6);
}

TEST(RW_11, jsonrpc_on_the_first_line, fails_at_once)
{
	CHECK(.bytes = "{ \"jsonrpc\": \"2.0\",\n",
	      .events = READY "failed 2 bad_message call\n");
}

TEST(RW_12, content_length_header, fails_at_once)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct session_event e;

	session_start(s, START);
	feed(s, "content-length: 117\r\n");
	assert_true(session_next(s, &e));
	assert_int_equal(e.type, SESSION_EVENT_FAILED);
	assert_int_equal(e.failure, SESSION_FAIL_FRAMING);
	assert_int_equal(e.phase, SESSION_PHASE_INITIALIZE);
	assert_non_null(strstr(e.err.msg, "server speaks LSP framing "
					  "(Content-Length), not MCP"));
	assert_false(session_next(s, &e));
}

TEST(RW_12, such_a_line_after_messages, is_noise)
{
	CHECK(.bytes = "Content-Length: 117\r\n" ANSWER,
	      .events = READY ANSWERED);
	assert_int_equal(stat_skipped(s), 1);
}

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

TEST(RW_14, line_over_the_bound, fails_the_oldest)
{
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 1000; i++)
		buf_adds(&bytes, "xxxxxxxxxx");
	buf_adds(&bytes, "\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n");
	{
		CHECK(.two = true, .bytes = buf_cstr(&bytes),
		      .opt.message_max = 2000,
		      .events = READY "failed 2 output_limit call\n"
				      "result 3 {}\n");
		assert_int_equal(session_stats(s)->broken_messages, 1);
		assert_int_equal(session_state(s), SESSION_READY);
	}
	buf_release(&bytes);
}

TEST(RW_14, at_the_bound, is_accepted)
{
	CHECK(.bytes = ANSWER, .opt.message_max = sizeof(HELLO) - 2,
	      .events = READY ANSWERED);
}

TEST(RW_14, before_ready, fails_the_session)
{
	CHECK(.raw = true, .opt.message_max = 20, .bytes = HELLO,
	      .events = "failed 0 output_limit initialize\n");
}

TEST(RW_15, broken_message, fails_its_request)
{
	static const char *const broken[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"x\":NaN}}\n",
		"{\"jsonrpc\":\"2.0\",\"result\":{\"x\":1,},\"id\":3}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":\"3\",\"result\":{}\n",
		"{\"result\":{\"id\":2,\"x\":'a'},\"id\":3,\"jsonrpc\":2}\n",
		"log: {\"jsonrpc\":\"2.0\",\"id\": 3 ,\"result\":{}}}\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		AUTO(mem_freep)
		char *bytes = mem_printf("%s" ANSWER, broken[i]);
		CHECK(.two = true, .bytes = bytes,
		      .events = READY "failed 3 bad_message call\n" ANSWERED);
		assert_int_equal(session_stats(s)->broken_messages, 1);
	}
}

TEST(RW_15, id_not_readable, fails_the_oldest)
{
	static const char *const broken[] = {
		"{\"jsonrpc\":\"2.0\",\"result\":{\"id\":3}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":3\n",
		"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{]}\n",
		"{\"jsonrpc\":\"2.0\",\"result\":\"\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		CHECK(.two = true, .bytes = broken[i],
		      .events = READY "failed 2 bad_message call\n");
	}
}

TEST(RW_15, too_deep, is_a_broken_message)
{
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&bytes, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":");
	for (int i = 0; i < 300; i++)
		buf_addc(&bytes, '[');
	for (int i = 0; i < 300; i++)
		buf_addc(&bytes, ']');
	buf_adds(&bytes, "}\n");
	{
		CHECK(.two = true, .bytes = buf_cstr(&bytes),
		      .events = READY "failed 3 bad_message call\n");
	}
	buf_release(&bytes);
}

TEST(RW_15, duplicate_keys, last_one_counts)
{
	CHECK(.two = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":3,\"id\":2,\"result\":1,"
		       "\"result\":" OK_RESULT "}\n",
	      .events = READY ANSWERED);
}

TEST(RW_15, nothing_pending, is_a_diagnostic)
{
	CHECK(.bytes = ANSWER "{\"jsonrpc\":\"2.0\",\"id\":2,NaN}\n",
	      .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->broken_messages, 1);
}

TEST(RW_15, broken_answer_to_initialize, fails)
{
	CHECK(.raw = true, .bytes = "{\"jsonrpc\":\"2.0\",\"id\":1,x}\n",
	      .events = "failed 0 bad_message initialize\n");
}

TEST(RW_16, arrays, are_taken_apart)
{
	CHECK(.two = true,
	      .bytes = "[]\n[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":"
		       "\"ping\"},7,{\"jsonrpc\":\"2.0\",\"id\":3,"
		       "\"result\":{\"n\":1}},"
		       "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" OK_RESULT
		       "}]\n",
	      .events = READY "result 3 {\"n\":1}\n" ANSWERED,
	      .output = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n");
	assert_int_equal(stat_skipped(s), 0);
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

TEST(RW_17, silence, is_said_in_the_timeout)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct session_event e;

	session_start(s, START);
	session_tick(s, START + 120 * SECOND);
	assert_true(session_next(s, &e));
	assert_int_equal(e.failure, SESSION_FAIL_TIMEOUT);
	assert_int_equal(e.phase, SESSION_PHASE_INITIALIZE);
	assert_non_null(strstr(e.err.msg, "120 s"));
	assert_non_null(strstr(e.err.msg, "nothing"));
}

/* Time. */

TEST(RW_20, slow_start, has_120_seconds)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct session_event e;

	assert_int_equal(session_deadline(s), UINT64_MAX);
	session_start(s, START);
	assert_int_equal(session_deadline(s), START + 120 * SECOND);
	session_tick(s, START + 120 * SECOND - 1);
	assert_false(session_next(s, &e));
	session_feed(s, STR(HELLO), START + 120 * SECOND - 1);
	assert_true(session_next(s, &e));
	assert_int_equal(e.type, SESSION_EVENT_READY);
	assert_int_equal(session_deadline(s), UINT64_MAX);
}

TEST(RW_20, first_message, gives_initialize_a_request_time)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct session_event e;

	session_start(s, START);
	session_feed(s,
		     STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}"
			 "\n"),
		     START + 110 * SECOND);
	assert_false(session_next(s, &e));
	assert_int_equal(session_deadline(s), START + 170 * SECOND);
	session_tick(s, START + 170 * SECOND);
	assert_true(session_next(s, &e));
	assert_int_equal(e.failure, SESSION_FAIL_TIMEOUT);
	assert_int_equal(session_output(s).n, 0);
}

TEST(RW_80, answer_after_timeout_and_cancel, is_dropped)
{
	AUTO(session_freep)
	struct session *s = session_new(
		&(struct session_options){.request_timeout_ms = 2500});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;

	session_start(s, START);
	call(s, "echo", START);
	feed(s, HELLO);
	drain(s, &log);
	session_wrote(s, session_output(s).n);
	assert_int_equal(session_deadline(s), START + 2500 * NS_PER_MS);
	session_tick(s, START + 2500 * NS_PER_MS);
	assert_true(session_next(s, &e));
	assert_int_equal(e.type, SESSION_EVENT_FAILED);
	assert_int_equal(e.ticket, 2);
	assert_int_equal(e.failure, SESSION_FAIL_TIMEOUT);
	assert_int_equal(e.phase, SESSION_PHASE_CALL);
	assert_non_null(strstr(e.err.msg, "tools/call within 2500 ms"));
	assert_true(str_is(session_output(s),
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
			   "cancelled\",\"params\":{\"requestId\":2,"
			   "\"reason\":\"timed out\"}}\n"));
	/* CAN-5 */
	feed(s, ANSWER);
	assert_false(session_next(s, &e));
	assert_int_equal(session_stats(s)->dropped_responses, 1);
	assert_int_equal(session_state(s), SESSION_READY);
	buf_release(&log);
}

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

#define PROGRESS(token, value)                                        \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"," \
	"\"params\":{\"progressToken\":" token ",\"progress\":" value "}}\n"

TEST(timeout, progress, restarts_until_the_total)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){
		.request_timeout_ms = 10000, .total_timeout_ms = 25000});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;

	session_start(s, START);
	call(s, "echo", START);
	feed(s, HELLO);
	drain(s, &log);
	session_feed(s, STR(PROGRESS("2", "1")), START + 9 * SECOND);
	drain(s, &log);
	assert_int_equal(session_deadline(s), START + 19 * SECOND);
	/* no growth, no life */
	session_feed(s, STR(PROGRESS("2", "1")), START + 10 * SECOND);
	drain(s, &log);
	assert_int_equal(session_deadline(s), START + 19 * SECOND);
	session_feed(s, STR(PROGRESS("\"2\"", "1.5")), START + 18 * SECOND);
	drain(s, &log);
	assert_int_equal(session_deadline(s), START + 25 * SECOND);
	session_tick(s, START + 25 * SECOND);
	assert_true(session_next(s, &e));
	assert_non_null(strstr(e.err.msg, "25 s"));
	assert_string_equal(buf_cstr(&log),
			    READY "progress 2 1/ \nprogress 2 1.5/ \n");
	buf_release(&log);
}

TEST(cancel, pending, sends_the_notification)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);

	session_start(s, START);
	call(s, "echo", START);
	session_cancel(s, call(s, "unsent", START), NULL);
	session_cancel(s, 1, NULL); /* INI-4 */
	assert_true(session_deadline(s) < UINT64_MAX);
	feed(s, HELLO);
	drain(s, &log);
	session_wrote(s, session_output(s).n);
	session_cancel(s, 2, NULL);
	session_cancel(s, 2, NULL);
	assert_true(str_is(session_output(s),
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
			   "cancelled\",\"params\":{\"requestId\":2}}\n"));
	feed(s, ANSWER);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY);
	buf_release(&log);
}

/* Messages. */

TEST(RW_50, answers_out_of_order, match_by_id)
{
	CHECK(.two = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n" ANSWER,
	      .events = READY "result 3 {}\n" ANSWERED);
}

TEST(RW_51, id_as_string, matches_digits_only)
{
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":\"0x2\",\"result\":1}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":\"02\",\"result\":1}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":\" 2\",\"result\":1}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"result\":1}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":2.5,\"result\":1}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":\"2\",\"result\":" OK_RESULT
		       "}\n",
	      .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->dropped_responses, 5);
}

TEST(RW_52, error_without_id, belongs_to_the_only_one)
{
	static const char *const ids[] = {"\"id\":null,", "",
					  "\"id\":\"server-error\","};

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		AUTO(mem_freep)
		char *line = mem_printf("{\"jsonrpc\":\"2.0\",%s\"error\":{"
					"\"code\":-32700,\"message\":\"m\"}}\n",
					ids[i]);
		CHECK(.bytes = line, .events = READY "error 2 -32700 m\n");
	}
}

TEST(RW_52, error_without_id_and_two_pending, is_dropped)
{
	CHECK(.two = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{"
		       "\"code\":-32700,\"message\":\"m\"}}\n" ANSWER,
	      .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->dropped_responses, 1);
}

TEST(RW_53, second_and_unknown_answers, are_dropped)
{
	CHECK(.two = true,
	      .bytes = ANSWER ANSWER
	      "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n"
	      "{\"jsonrpc\":\"2.0\",\"id\":77,\"error\":{\"code\":1,"
	      "\"message\":\"m\"}}\n",
	      .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->dropped_responses, 3);
	assert_true(session_deadline(s) < UINT64_MAX);
}

TEST(RW_54, result_with_null_error, is_a_result)
{
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":null,"
		       "\"result\":" OK_RESULT "}\n",
	      .events = READY ANSWERED);
}

TEST(RW_55, result_and_error, is_an_error)
{
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{},\"error\":"
		       "{\"code\":5,\"message\":\"m\"}}\n",
	      .events = READY "error 2 5 m\n");
	assert_int_equal(session_stats(s)->oddities, 1);
}

TEST(RW_56, malformed_error, has_code_and_raw_value)
{
	static const char *const rows[][2] = {
		{"\"boom\"", "error 2 -32603 boom \"boom\"\n"},
		{"{\"code\":\"7\",\"message\":\"m\"}",
		 "error 2 -32603 m {\"code\":\"7\",\"message\":\"m\"}\n"},
		{"{\"message\":\"m\"}", "error 2 -32603 m {\"message\":\"m\"}"
					"\n"},
		{"{\"code\":4}", "error 2 4 {\"code\":4} {\"code\":4}\n"},
		{"{\"code\":1.5,\"message\":\"m\",\"data\":0}",
		 "error 2 -32603 m 0\n"},
		{"[]", "error 2 -32603 [] []\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(mem_freep)
		char *line = mem_printf("{\"jsonrpc\":\"2.0\",\"id\":2,"
					"\"error\":%s}\n",
					rows[i][0]);
		AUTO(mem_freep)
		char *events = mem_printf(READY "%s", rows[i][1]);
		CHECK(.bytes = line, .events = events);
		assert_int_equal(session_stats(s)->oddities, 1);
	}
}

TEST(RW_59, messages_before_the_answer, are_accepted)
{
	CHECK(.raw = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		       "message\",\"params\":{\"level\":\"warning\",\"logger\":"
		       "\"db\",\"data\":\"slow\\tdisk\"}}\n"
		       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
		       "list_changed\"}\n" PROGRESS("2", "1") HELLO ANSWER,
	      .events = "log warning [db] slow\tdisk\n"
			"changed notifications/tools/list_changed []\n" READY
				ANSWERED);
	assert_int_equal(session_stats(s)->notifications, 3);
}

TEST(RW_60, undeclared_requests, are_refused_at_once)
{
	CHECK(.bytes =
		      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}"
		      "\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"sampling/"
		      "createMessage\",\"params\":{}}\n"
		      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"elicitation/"
		      "create\"}\n{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":"
		      "\"no/such\"}\n",
	      .events = READY,
	      .output = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":"
			"-32601,\"message\":\"Method not found\"}}\n"
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":"
			"-32601,\"message\":\"Method not found\"}}\n"
			"{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":"
			"-32601,\"message\":\"Method not found\"}}\n"
			"{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":"
			"-32601,\"message\":\"Method not found\"}}\n");
	assert_int_equal(session_stats(s)->server_requests, 4);
	assert_int_equal(session_stats(s)->refused_requests, 4);
	assert_true(session_deadline(s) < UINT64_MAX);
}

TEST(RW_61, ping_during_the_call, is_answered)
{
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
	      .events = READY,
	      .output = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
	assert_int_equal(session_stats(s)->server_requests, 1);
	assert_int_equal(session_stats(s)->refused_requests, 0);
}

TEST(RW_63, odd_ids_of_the_server, are_echoed)
{
	static const char *const ids[] = {
		"\"abc\"",
		"\"\"",
		"0",
		"-7",
		"1.5",
		"12345678901234567890123",
		"\"\\u0000\\n\"",
	};

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		AUTO(mem_freep)
		char *line = mem_printf("{\"method\":\"ping\",\"id\":%s,"
					"\"jsonrpc\":\"2.0\"}\n",
					ids[i]);
		AUTO(mem_freep)
		char *out = mem_printf("{\"jsonrpc\":\"2.0\",\"id\":%s,"
				       "\"result\":{}}\n",
				       ids[i]);
		CHECK(.bytes = line, .events = READY, .output = out);
	}
}

TEST(notification, unknown, is_not_answered)
{
	CHECK(.bytes =
		      "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}\n"
		      "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n",
	      .events = READY, .output = "");
	assert_int_equal(session_stats(s)->notifications, 2);
}

TEST(RW_62, ids_of_the_server, are_a_separate_space)
{
	CHECK(.bytes = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"
		       "\n" ANSWER,
	      .events = READY ANSWERED,
	      .output = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
}

TEST(RW_65, list_changed_storm, is_one_event)
{
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 500; i++)
		buf_adds(&bytes, "{\"jsonrpc\":\"2.0\",\"method\":"
				 "\"notifications/tools/list_changed\"}\n");
	buf_adds(&bytes, ANSWER);
	{
		CHECK(.bytes = buf_cstr(&bytes),
		      .events = READY
		      "changed notifications/tools/list_changed []\n" ANSWERED,
		      .output = "");
		assert_int_equal(session_stats(s)->notifications, 500);
		assert_int_equal(session_stats(s)->dropped_notifications, 499);
	}
	buf_release(&bytes);
}

#define LOG_LINE                                                     \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"," \
	"\"params\":{\"level\":\"loud\",\"data\":{\"a\":[1.0]}}}\n"

TEST(RW_66, log_flood, is_bounded_and_counted)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;
	int n = 0;

	session_start(s, START);
	feed(s, HELLO);
	drain(s, &log);
	for (int i = 0; i < 1000; i++)
		feed(s, LOG_LINE);
	while (session_next(s, &e)) {
		assert_int_equal(e.type, SESSION_EVENT_LOG);
		assert_string_equal(e.level, "info");
		assert_true(str_is(e.message, "{\"a\":[1.0]}"));
		n++;
	}
	assert_int_equal(n, 100);
	assert_int_equal(session_stats(s)->dropped_notifications, 900);
	session_feed(s, STR(LOG_LINE), START + SECOND);
	assert_true(session_next(s, &e));
	buf_release(&log);
}

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

TEST(RW_66, progress_flood, passes_first_and_last)
{
	CHECK(.bytes = PROGRESS("2", "0") PROGRESS("2", "0.5")
		      PROGRESS("2", "1") PROGRESS("2", "1e2") ANSWER,
	      .events = READY "progress 2 0/ \nprogress 2 1e2/ \n" ANSWERED);
	assert_int_equal(session_stats(s)->dropped_notifications, 2);
	assert_int_equal(session_stats(s)->messages, 6);
}

TEST(RW_70, no_tools_declared, the_call_is_tried)
{
	CHECK(.raw = true,
	      .bytes = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
		       "\"protocolVersion\":\"2025-11-25\","
		       "\"capabilities\":{},\"serverInfo\":{}}}\n",
	      .events = "ready 2025-11-25 /\n");
	assert_non_null(memmem(session_output(s).p, session_output(s).n,
			       "\"tools/call\"", 12));
}

TEST(RW_78, unknown_tool_as_a_result, is_a_result)
{
#define UNKNOWN "{\"content\":[],\"isError\":true}"
	CHECK(.bytes =
		      "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" UNKNOWN "}\n",
	      .events = READY "result 2 " UNKNOWN "\n");
#undef UNKNOWN
}

TEST(RW_79, progress_after_the_answer, is_ignored)
{
	CHECK(.bytes = PROGRESS("\"2\"", "1") ANSWER PROGRESS("2", "5"),
	      .events = READY "progress 2 1/ \n" ANSWERED);
}

TEST(PRO_4, held_progress, comes_after_its_time)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf log = BUF_INIT(BUF_UNBOUNDED);

	session_start(s, START);
	call(s, "echo", START);
	feed(s, HELLO PROGRESS("2", "1"));
	feed(s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
		"\"params\":{\"progressToken\":2,\"progress\":2,\"total\":10,"
		"\"message\":\"a\\u00e9\"}}\n");
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY "progress 2 1/ \n");
	assert_int_equal(session_deadline(s), START + SECOND / 10);
	session_tick(s, START + SECOND / 10);
	drain(s, &log);
	assert_string_equal(buf_cstr(&log), READY "progress 2 1/ \n"
						  "progress 2 2/10 a\xc3\xa9"
						  "\n");
	assert_int_equal(session_deadline(s), START + 60 * SECOND);
	buf_release(&log);
}

TEST(PRO_3, odd_progress, is_ignored)
{
	CHECK(.bytes = PROGRESS("9", "1") PROGRESS("2", "\"1\"")
		      PROGRESS("2", "null") PROGRESS(
			      "{}", "1") "{\"jsonrpc\":\"2.0\",\"method\":"
					 "\"notifications/"
					 "progress\"}\n{\"jsonrpc\":\"2.0\","
					 "\"method\":"
					 "\"notifications/"
					 "progress\",\"params\":[]}\n" ANSWER,
	      .events = READY ANSWERED);
	assert_int_equal(session_stats(s)->notifications, 6);
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

TEST(output, written_in_portions, loses_nothing)
{
	AUTO(session_freep)
	struct session *s = session_new(&(struct session_options){0});
	struct buf got = BUF_INIT(BUF_UNBOUNDED);
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct buf all = BUF_INIT(BUF_UNBOUNDED);

	session_start(s, START);
	buf_add_str(&all, session_output(s));
	while (session_output(s).n) {
		struct str out = session_output(s);

		buf_add(&got, out.p, out.n < 7 ? out.n : 7);
		session_wrote(s, out.n < 7 ? out.n : 7);
	}
	assert_true(str_eq(buf_str(&all), buf_str(&got)));
	assert_int_equal(session_stats(s)->bytes_out, all.n);
	feed(s, HELLO);
	drain(s, &log);
	assert_true(str_starts(session_output(s), "{\"jsonrpc\":\"2.0\","
						  "\"method\":\"notifications"
						  "/initialized\"}"));
	buf_release(&all);
	buf_release(&got);
	buf_release(&log);
}

TEST(words, of_all_states, are_there)
{
	assert_string_equal(session_state_word(SESSION_NEW), "new");
	assert_string_equal(session_state_word(SESSION_FAILED), "failed");
}
