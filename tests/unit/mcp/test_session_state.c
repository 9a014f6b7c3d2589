#include <string.h>

#include "tests/unit/test.h"

#include "core/mcp/session/core.h"
#include "tests/unit/mcp/session_talk.h"

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

/* Answers to the handshake that would begin another, after session_close(). */
TEST(state, closing, does_not_begin_again)
{
	static const char *const answers[] = {
		ERROR("1", "-32022", "{\"supported\":[\"2026-07-28\"]}"),
		ERROR("1", "-32601", "null"),
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct talk t;

		begin(&t, &(struct session_options){.era = SESSION_ERA_PROBE});
		session_close(t.s);
		buf_clear(&t.sent);
		says(&t, answers[i]);
		assert_int_equal(session_state(t.s), SESSION_CLOSING);
		assert_int_equal(t.sent.n, 0);
		happened(&t, "");
		end(&t);
	}
}

static void failed_with(const char *line, bool is_printed_over_lines)
{
	static const char hint[] = "printed over several lines";
	struct session_options o = {0};
	struct session *s = session_new(&o);
	struct session_event ev;

	session_start(s, START);
	session_feed(s, str_of(line), START);
	assert_true(session_next(s, &ev));
	assert_int_equal(ev.failure, SESSION_FAIL_BAD_MESSAGE);
	assert_int_equal(strstr(ev.err.msg, hint) != NULL,
			 is_printed_over_lines);
	session_free(s);
}

TEST(broken_message, with_unfinished_json, is_said_to_be_spread)
{
	failed_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n", true);
	failed_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":nul}\n", false);
	failed_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}}\n", false);
}
