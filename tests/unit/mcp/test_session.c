/*
 * The session with what no transcript can say: its table of states, messages
 * that are large or many, and events that are read one at a time.
 */
#include "core/base/limits.h"
#include "core/mcp/session/core.h"
#include "tests/unit/test.h"
#include "tests/unit/mcp/session_talk.h"

#define FORM "{\"message\":\"?\",\"requestedSchema\":{}}"
#define ASK_FORM "{\"method\":\"elicitation/create\",\"params\":" FORM "}"
#define ASKING(key)                                                      \
	"{\"resultType\":\"task\",\"taskId\":\"t1\",\"status\":"         \
	"\"input_required\",\"pollIntervalMs\":1000,\"inputRequests\":{" \
	"\"" key "\":" ASK_FORM "}}"
#define ACCEPT "{\"action\":\"accept\",\"content\":{}}"

static const struct session_options answering = {
	.declared = {.roots = true, .elicit_form = true, .tasks = true}};

/* A text of n bytes between two others; owned by the caller. */
static struct buf long_text(const char *before, size_t n, const char *behind)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&text, before);
	memset(buf_room(&text, n), 'x', n);
	text.n += n;
	buf_adds(&text, behind);
	return text;
}

TEST(state, each_move, leads_where_the_table_says)
{
	/* columns: probe, initialize, greet, close, end, fail; - is refused */
	static const struct {
		enum session_state from;
		const char *to[N_MOVES];
	} rows[] = {
		{SESSION_NEW,
		 {"probing", "initializing", "-", "closing", "-", "-"}},
		{SESSION_PROBING,
		 {"probing", "initializing", "ready", "closing", "-",
		  "failed"}},
		{SESSION_INITIALIZING,
		 {"probing", "-", "ready", "closing", "-", "failed"}},
		{SESSION_READY, {"-", "-", "-", "closing", "closed", "failed"}},
		{SESSION_CLOSING, {"-", "-", "-", "-", "closed", "failed"}},
		{SESSION_CLOSED, {"-", "-", "-", "-", "-", "-"}},
		{SESSION_FAILED, {"-", "-", "-", "-", "-", "-"}},
	};

	assert_string_equal(session_state_word(SESSION_NEW), "new");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (enum session_move move = 0; move < N_MOVES; move++) {
			enum session_state to =
				session_state_after(rows[i].from, move);

			assert_string_equal(to == SESSION_NEW
						    ? "-"
						    : session_state_word(to),
					    rows[i].to[move]);
		}
}

/* ---- arguments ---- */

TEST(call, arguments_no_object_or_too_long, is_an_error)
{
	AUTO(buf_release)
	struct buf big = long_text("", LIMIT_ARGUMENTS_BYTES, " ");
	const struct {
		const char *text;
		enum err_kind kind;
	} bad[] = {
		{"", ERR_SYNTAX},   {"[]", ERR_SYNTAX}, {"null", ERR_SYNTAX},
		{"1", ERR_SYNTAX},  {"{", ERR_SYNTAX},	{"{}{}", ERR_SYNTAX},
		{big.p, ERR_LIMIT},
	};
	struct session *s = session_new(&(struct session_options){0});
	struct err err = ERR_INIT;
	uint64_t ticket = 77;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(session_call_tool(s, "x", str_of(bad[i].text),
						   false, START, &ticket, &err),
				 -1);
		assert_int_equal(err.kind, bad[i].kind);
		assert_int_equal(ticket, 77);
	}
	assert_true(session_deadline(s) == UINT64_MAX);
	session_free(s);
}

/* ---- the buffer of lines ---- */

TEST(RW_13, long_line, is_given_in_place)
{
	AUTO(buf_release) struct buf chunk = long_text("", 65536, "");
	struct session_event e;
	struct talk t;

	begin_legacy(&t, &(struct session_options){0});
	calls(&t, "echo");
	session_feed(t.s, STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\""),
		     START);
	for (int i = 0; i < 800; i++) {
		session_feed(t.s, buf_str(&chunk), START);
		assert_false(session_next(t.s, &e));
	}
	session_feed(t.s, STR("\"}\n"), START);
	assert_true(session_next(t.s, &e));
	assert_int_equal(e.type, SESSION_EVENT_RESULT);
	assert_int_equal(e.result.n, 800 * 65536 + 2);
	end(&t);
}

TEST(RW_16, fed_in_the_middle_of_an_array, goes_on)
{
	AUTO(buf_release)
	struct buf more = long_text("", 250000, "\n");
	struct session_event e;
	struct talk t;

	begin_legacy(&t, &(struct session_options){0});
	for (int i = 0; i < 3; i++)
		calls(&t, "echo");
	session_feed(t.s,
		     STR("[{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"n\":1}},"
			 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":2}},"
			 "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"n\":3}}]"
			 "\n"),
		     START);
	for (int i = 0; i < 2; i++) {
		assert_true(session_next(t.s, &e));
		log_event(&t.events, t.s, &e);
		session_feed(t.s, buf_str(&more), START);
	}
	collect(&t);
	happened(&t, "result 3 {\"n\":1}\nresult 2 {\"n\":2}\n"
		     "result 4 {\"n\":3}\n");
	end(&t);
}

TEST(LOG_5, long_log, is_cut)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;
	struct talk t;

	begin(&t, &(struct session_options){0});
	buf_adds(&line,
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		 "message\",\"params\":{\"level\":\"error\",\"data\":\"");
	for (int i = 0; i < 20000; i++)
		buf_adds(&line, "\\u00e9");
	buf_adds(&line, "\"}}\n");
	session_feed(t.s, buf_str(&line), START);
	assert_true(session_next(t.s, &e));
	assert_true(e.message.n <= 16384 && e.message.n > 4096);
	assert_true(str_is_utf8(e.message));
	end(&t);
}

TEST(broken_message, with_unfinished_json, is_said_to_be_spread)
{
	static const struct {
		const char *line;
		bool is_spread;
	} rows[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n", true},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":nul}\n", false},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}}\n", false},
	};
	struct session_event e;
	struct talk t;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		begin(&t, &(struct session_options){0});
		session_feed(t.s, str_of(rows[i].line), START);
		assert_true(session_next(t.s, &e));
		assert_int_equal(e.failure, SESSION_FAIL_BAD_MESSAGE);
		assert_int_equal(
			!!strstr(e.err.msg, "printed over several lines"),
			rows[i].is_spread);
		end(&t);
	}
}

/* ---- the queue ---- */

TEST(queue, server_asks_and_never_reads, fails)
{
	AUTO(buf_release)
	struct buf line =
		long_text("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"",
			  1024 * 1024, "\"}\n");
	struct session_event e = {0};
	struct talk t;
	int n = 0;

	begin(&t, &(struct session_options){0});
	while (n++ < 100 && session_state(t.s) == SESSION_INITIALIZING) {
		session_feed(t.s, buf_str(&line), START);
		while (session_next(t.s, &e))
			;
	}
	assert_int_equal(session_state(t.s), SESSION_FAILED);
	assert_int_equal(e.failure, SESSION_FAIL_QUEUE);
	assert_in_range(n, 16, 18);
	end(&t);
}

TEST(RW_39, own_requests_in_the_queue, are_not_the_servers)
{
	AUTO(buf_release)
	struct buf big = long_text("{\"a\":\"", LIMIT_QUEUE_BYTES - 99, "\"}");
	struct err err = ERR_INIT;
	uint64_t ticket;
	struct talk t;

	begin_legacy(&t, &answering);
	for (int i = 0; i < 2; i++)
		assert_int_equal(session_call_tool(t.s, "echo", buf_str(&big),
						   false, t.now, &ticket, &err),
				 0);
	/* nothing of it was read yet, and a ping comes */
	session_feed(
		t.s,
		STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"),
		t.now);
	drain(t.s, &t.events);
	happened(&t, "");
	assert_int_equal(session_state(t.s), SESSION_READY);
	end(&t);
}

/* ---- tasks ---- */

/* Call a tool that becomes a task and asks; answer, and ask again as `again`.
 */
static uint64_t ask_on(struct talk *t, int rounds, bool is_answered)
{
	uint64_t id = 3, ask = 1;

	begin_modern(t, &answering);
	calls(t, "echo");
	says(t, ANSWER("2", ASKING("a")));
	buf_clear(&t->events);
	for (; rounds-- && !strstr(buf_cstr(&t->events), "failed"); ask++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		if (ask == 1 || is_answered) {
			session_answer(t->s, ask, STR(ACCEPT), t->now);
			collect(t);
			buf_addf(&line,
				 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}"
				 "\n",
				 (int)id++);
			says(t, buf_cstr(&line));
			buf_clear(&line);
		}
		passes(t, 1000);
		buf_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":",
			 (int)id++);
		if (is_answered)
			buf_addf(&line, ASKING("k%d"), (int)ask);
		else
			buf_adds(&line, ASKING("a"));
		buf_adds(&line, "}\n");
		says(t, buf_cstr(&line));
	}
	return ask;
}

TEST_IN(talk, TX_5, status_that_lags, is_waited_for)
{
	struct talk t;

	ask_on(&t, 296, false);
	happened(&t, "");
	end(&t);
}

TEST_IN(talk, TX_5, asks_without_end, end_the_call)
{
	struct talk t;

	assert_int_equal(ask_on(&t, 200, true), 101);
	end(&t);
}

/* ---- large results ---- */

TEST_IN(talk, RW_13, large_result, can_be_taken_with_its_memory)
{
	AUTO(buf_release)
	struct buf line =
		long_text("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"",
			  1000000, "\"}\n" ANSWER("3", RESULT));
	AUTO(mem_freep) char *taken = NULL;
	struct session_event e;
	struct str result;
	struct talk t;

	begin_legacy(&t, &(struct session_options){0});
	calls(&t, "big");
	calls(&t, "small");
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
	says(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
		 "\"params\":{\"data\":\"on\"}}\n");
	happened(&t, "log info [] on\n");
	end(&t);
}

TEST(session, large_result, can_be_taken)
{
	AUTO(buf_release)
	struct buf text = long_text(
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"", 200000, "\"}");
	AUTO(mem_freep) char *memory = NULL;
	struct session_event e;
	struct talk t;

	begin_legacy(&t, &(struct session_options){0});
	calls(&t, "a");
	session_message(t.s, buf_str(&text), t.now);
	assert_true(session_next(t.s, &e));
	memory = session_take(t.s, e.result);
	assert_non_null(memory);
	assert_int_equal(e.result.p[1], 'x');
	assert_false(session_next(t.s, &e));
	end(&t);
}
