/*
 * A client over HTTP, with a server that misbehaves as its rows say: HTTP
 * itself, and the shape with sessions (2025-03-26 to 2025-11-25).
 */
#include "tests/unit/test.h"

#include "tests/unit/transport/remote_talk.h"

/* ---- which era, which transport ---- */

/* ---- bodies ---- */

TEST(HT_5, error_of_a_foreign_id, is_of_this_request)
{
	static const char *const ids[] = {
		"400 application/json\n\n{\"jsonrpc\":\"2.0\",\"error\":{"
		"\"code\":-32602,\"message\":\"no\"}}",
		"500 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":null,"
		"\"error\":{\"code\":-32602,\"message\":\"no\"}}",
		"200 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":77,"
		"\"error\":{\"code\":-32602,\"message\":\"no\"}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		const struct peer_step steps[] = {
			OLD_SERVER,
			{"POST tools/call", ids[i], PEER_DONE, 2},
			{0},
		};
		struct world w;

		begin(&w, steps, "2025-11-25");
		ask(&w, "a");
		ask(&w, "b");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nerror -32602 no\n"
				    "error -32602 no\nended\n");
		end(&w);
	}
}

TEST(HT_5, error_without_json, says_status_and_text)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call", "500 text/plain\n\nout of \x1b[31mluck",
		 PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "failed transport: the server answered tools/call with "
			"HTTP status 500 (text/plain): out of ");
	assert_null(strchr(buf_cstr(&w.seen), '\x1b'));
	end(&w);
}

/* What is refused first, and whether it is asked again. */
TEST(HT_8, refused_before_it_was_done, comes_once)
{
	static const struct {
		const char *reply;
		const char *method; /* NULL: tools/call */
		bool again;
	} rows[] = {
		{"429\nRetry-After: 0\n\n", NULL, true},
		{"503\nRetry-After: 0\n\n", NULL, true},
		{"429\nRetry-After: 0\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID,"
		 "\"error\":{\"code\":-32000,\"message\":\"slow down\"}}",
		 NULL, true},
		{"503\nRetry-After: 0\n\n{\"jsonrpc\":\"2.0\",\"id\":null,"
		 "\"error\":{\"code\":-32000,\"message\":\"starting\"}}",
		 NULL, true},
		/* an answer was given: it was done, or begun */
		{"503\nRetry-After: 0\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID,"
		 "\"error\":{\"code\":-32603,\"message\":\"half of it\"}}",
		 NULL, false},
		{"503\nRetry-After: 0\n\n" ANSWER("$ID", RESULT), NULL, false},
		{"429\nRetry-After: 0\n\n" ANSWER("$ID", RESULT), NULL, false},
		{"429\nRetry-After: 3600\n\n", NULL, false},
		{"429\nRetry-After: Wed, 21 Oct 2099 07:28:00 GMT\n\n", NULL,
		 false},
		{"503\n\n", NULL, false},
		{"500\nRetry-After: 0\n\n", NULL, false},
		{"502\n\n", NULL, false},
		{"503\nRetry-After: 0\n\n", "prompts/list", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *method = rows[i].method;
		const char *want =
			method ? "POST prompts/list" : "POST tools/call";
		const struct peer_step steps[] = {
			NEW_SERVER,
			{"POST tools/list",
			 JSON_REPLY("{\"tools\":[{\"name\":\"a\","
				    "\"inputSchema\":{\"type\":\"object\"}}]}"),
			 PEER_DONE, PEER_ALWAYS},
			{want, rows[i].reply, PEER_DONE, 0},
			{want, CALLED, PEER_DONE, 0},
			{0},
		};
		struct world w;

		begin(&w, steps, NULL);
		if (method)
			ask_method(&w, method);
		else
			ask(&w, "a");
		finish(&w);
		if (!strstr(buf_cstr(&w.seen), "result ") == rows[i].again)
			fail_msg("%s: %s", rows[i].reply, buf_cstr(&w.seen));
		end(&w);
	}
}

/* ---- the stream of an answer ---- */

TEST(RW_98, stream_broken_with_ids, is_resumed)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call",
		 "200 text/event-stream\n\nid: e1\nretry: 120\ndata:\n\n",
		 PEER_ENDS, 0},
		{"GET last-event-id: e1",
		 "200 text/event-stream\n\nid: e2\ndata: {\"jsonrpc\":\"2.0\","
		 "\"method\":\"x\"}\n\n",
		 PEER_ENDS, 0},
		{"GET last-event-id: e2",
		 "200 text/event-stream\n\ndata: " ANSWER("2", RESULT),
		 PEER_ENDS, 0},
		{0},
	};
	struct world w;
	size_t n;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	assert_logged(&w, "POST tools/call version=2025-11-25\n"
			  "GET version=2025-11-25 last=e1\n"
			  "GET version=2025-11-25 last=e2\n");
	/* not before the time that the server has named (HL-10) */
	n = w.peer.n_requests;
	assert_true(w.peer.times_ns[n - 1] - w.peer.times_ns[n - 2] >=
		    120 * NS_PER_MS);
	end(&w);
}

TEST(RW_100, stream_open_after_the_answer, returns)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call",
		 "200 text/event-stream\n\ndata: " ANSWERED "\n\n", PEER_STAYS,
		 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	turn_until_seen(&w, "result");
	assert_non_null(w.peer.stream);
	/* it is closed by us */
	while (w.peer.stream)
		turn(&w);
	finish(&w);
	end(&w);
}

TEST(HL_13, given_up, is_said_by_a_message)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call", "200 text/event-stream\n\n: wait\n\n",
		 PEER_STAYS, 0},
		{"POST notifications/cancelled", "202\n\n", PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	client_cancel(w.client, ask_and_wait(&w, "a"), "why");
	finish(&w);
	assert_logged(&w, "POST notifications/cancelled version=2025-11-25\n");
	end(&w);
}

TEST(HL_13, given_up_before_it_went, is_not_sent)
{
	static const struct peer_step steps[] = {
		{"POST notifications/initialized", "hangs", PEER_HANGS, 0},
		OLD_SERVER,
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	turn_until(&w, "notifications/initialized");
	client_cancel(w.client, ask(&w, "a"), "why");
	finish(&w);
	assert_null(strstr(buf_cstr(&w.peer.log), "tools/call"));
	assert_null(strstr(buf_cstr(&w.peer.log), "cancelled"));
	end(&w);
}

/* ---- the standalone stream ---- */
