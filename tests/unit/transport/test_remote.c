/*
 * A client over HTTP, with a server that misbehaves as its rows say: HTTP
 * itself, and the shape with sessions (2025-03-26 to 2025-11-25).
 */
#include "tests/unit/test.h"

#include "tests/unit/transport/remote_talk.h"

/* ---- which era, which transport ---- */

TEST(RW_90, probe_refused_by_400, is_legacy)
{
	static const char *const refusals[] = {
		"400 text/plain\n\nMissing session ID",
		"400 text/html\n\n<html>no</html>",
		"400 application/json\n\n",
		"400 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":null,"
		"\"error\":{\"code\":-32000,\"message\":\"unsupported "
		"version\"}}",
		"400 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":\"server-"
		"error\",\"error\":{\"code\":-32600,\"message\":\"missing "
		"session ID\"}}",
		"406 text/plain\n\nNot Acceptable",
	};

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		const struct peer_step steps[] = {
			{"POST server/discover", refusals[i], PEER_DONE, 0},
			OLD_SERVER,
			{"POST tools/call", CALLED, PEER_DONE, 0},
			{0},
		};
		struct world w;

		begin(&w, steps, NULL);
		ask(&w, "a");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nended\n");
		assert_string_equal(
			buf_cstr(&w.peer.log),
			"POST server/discover version=2026-07-28 "
			"method=server/discover\n"
			"POST initialize\n"
			"POST notifications/initialized version=2025-11-25\n"
			"POST tools/call version=2025-11-25\n");
		end(&w);
	}
}

TEST(RW_91, probe_refused_by_404, initialize_then_sse)
{
	static const struct peer_step steps[] = {
		{"POST server/discover", "404 text/plain\n\nno", PEER_DONE, 0},
		{"POST /mcp", "405 text/plain\n\nno", PEER_DONE, 0},
		{"GET /mcp",
		 "200 text/event-stream\n\nevent: endpoint\ndata: /m?s=1\n\n",
		 PEER_STAYS, 0},
		{"POST initialize", "202\n\n", PEER_DONE, 0},
		{"POST notifications/initialized", "202\n\n", PEER_DONE, 0},
		{"POST tools/call", "202\n\n", PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask(&w, "a");
	turn_until(&w, "POST initialize\nPOST initialize\n");
	peer_say(&w.peer, "event: message\ndata: " ANSWER("2", INITIALIZED));
	turn_until(&w, "tools/call");
	peer_say(&w.peer, "data: " ANSWER("3", RESULT));
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	assert_facts(&w, "\"transport\":\"http+sse\"");
	end(&w);
}

TEST(RW_93, probe_answered_by_500, era_stays_open)
{
	static const char *const failures[] = {"500 text/plain\n\nboom",
					       "502 text/html\n\n<p>",
					       "503\n\n", "429\n\n"};

	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		const struct peer_step steps[] = {
			{"POST", failures[i], PEER_DONE, PEER_ALWAYS},
			{0},
		};
		struct world w;

		begin(&w, steps, NULL);
		ask(&w, "a");
		finish(&w);
		assert_seen(&w, "failed transport: the server answered "
				"server/discover with HTTP status ");
		/* a request turned away by status is sent once more (HT-8) */
		assert_string_equal(buf_cstr(&w.peer.log),
				    i < 2 ? PROBED : PROBED PROBED);
		end(&w);
	}
}

TEST(RW_94, probe_answered_by_nothing, is_legacy)
{
	static const char *const answers[] = {
		"200 application/json\n\n{\"result\":{}}",
		"200 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":1,"
		"\"result\":{}}",
		"200 text/html\n\n<html>hello</html>",
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		const struct peer_step steps[] = {
			{"POST server/discover", answers[i], PEER_DONE, 0},
			OLD_SERVER,
			{"POST tools/call", CALLED, PEER_DONE, 0},
			{0},
		};
		struct world w;

		begin(&w, steps, NULL);
		ask(&w, "a");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nended\n");
		end(&w);
	}
}

TEST(RW_95, version_refused_and_named, tried_once_more)
{
	static const struct peer_step steps[] = {
		{"POST server/discover",
		 "400 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID,"
		 "\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{"
		 "\"supported\":[\"2026-07-28\"]}}}",
		 PEER_DONE, 0},
		NEW_SERVER,
		{"POST tools/call", CALLED, PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask(&w, "a");
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	end(&w);
}

/* ---- bodies ---- */

TEST(RW_96, media_type_missing, parsed_all_the_same)
{
	static const char *const types[] = {
		"200 text/plain\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":"
		"{\n  \"content\": []\n}}",
		"200\n\n\n [{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":"
		"{\n  \"content\": []\n}}]",
		"200 Application/JSON; charset=utf-8\n\n{\"jsonrpc\":\"2.0\","
		"\"id\":$ID,\"result\":{\n  \"content\": []\n}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const struct peer_step steps[] = {
			OLD_SERVER,
			{"POST tools/call", types[i], PEER_DONE, 0},
			{0},
		};
		struct world w;

		begin(&w, steps, "2025-11-25");
		ask(&w, "a");
		finish(&w);
		/* byte for byte, pretty-printed too */
		assert_string_equal(
			buf_cstr(&w.seen),
			"ready\nresult {\n  \"content\": []\n}\nended\n");
		end(&w);
	}
}

TEST(RW_97, stream_of_odd_forms, is_read)
{
	static const char *const streams[] = {
		"200 text/event-stream\n\ndata: {\"jsonrpc\":\"2.0\",\n"
		"data: \"id\":$ID,\"result\":" RESULT "}\n\n",
		"200 text/event-stream; charset=utf-8\n\n\xef\xbb\xbf: hi\r"
		"event: other\rdata: no\r\r"
		"data:{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":" RESULT
		"}\r\r",
		"200 text/event-stream\n\nid: 1\ndata:\n\n: ping\n\n"
		"event: message\r\ndata: " ANSWERED "\r\n\r\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
		for (int slow = 0; slow < 2; slow++) {
			const struct peer_step steps[] = {
				OLD_SERVER,
				{"POST tools/call", streams[i],
				 slow ? PEER_SLOW : PEER_ENDS, 0},
				{0},
			};
			struct world w;

			begin(&w, steps, "2025-11-25");
			ask(&w, "a");
			finish(&w);
			assert_string_equal(buf_cstr(&w.seen),
					    "ready\nresult " RESULT
					    "\nended\n");
			end(&w);
		}
	}
}

TEST(RW_107, notification_answered_by_200, accepted)
{
	static const char *const replies[] = {"200 application/json\n\n{}",
					      "200 application/json\n\nnull",
					      "204\n\n", "202\n\n"};

	for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
		const struct peer_step steps[] = {
			{"POST notifications/initialized", replies[i],
			 PEER_DONE, 0},
			OLD_SERVER,
			{"POST tools/call", CALLED, PEER_DONE, 0},
			{0},
		};
		struct world w;

		begin(&w, steps, "2025-11-25");
		ask(&w, "a");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nended\n");
		end(&w);
	}
}

TEST(RW_110, gzip_not_asked_for, never_garbage)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call",
		 "200 application/json\nContent-Encoding: gzip\n\nno gzip",
		 PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "ready\nfailed transport: ");
	end(&w);
}

TEST(RW_111, body_cut_short, nothing_of_it_is_used)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call", "200 application/json\n\n" ANSWERED,
		 PEER_CUT, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "ready\nfailed transport: no answer to tools/call");
	assert_seen(&w, "the outcome is unknown, and it was not repeated");
	end(&w);
}

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

TEST(HT_8, list_told_to_come_later, comes_once)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/list", "503\nRetry-After: 0\n\n", PEER_DONE, 0},
		{"POST tools/list", CALLED, PEER_DONE, 0},
		{"POST tools/call", "503\nRetry-After: 70\n\n", PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask_method(&w, "tools/list");
	turn_until(&w, "tools/list version=2025-11-25\nPOST tools/list");
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "result " RESULT);
	assert_seen(&w, "status 503; it asks to come again in 70 s");
	end(&w);
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

TEST(RW_99, stream_broken_without_ids, outcome_unknown)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call", "200 text/event-stream\n\n: hello\n\n",
		 PEER_ENDS, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "ready\nfailed transport: the server closed the stream "
			"before the answer to tools/call; the outcome is "
			"unknown, and it was not repeated\n");
	assert_null(strstr(buf_cstr(&w.peer.log), "last="));
	end(&w);
}

TEST(HL_11, resumed_five_times_in_vain, is_lost)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call",
		 "200 text/event-stream\n\nid: e1\nretry: 1\ndata:\n\n",
		 PEER_ENDS, 0},
		{"GET last-event-id", "200 text/event-stream\n\n: no\n\n",
		 PEER_ENDS, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "failed transport: the server closed the stream");
	assert_facts(&w, "\"reconnects\":5");
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

TEST(HL_8, server_asks_on_the_stream, is_answered)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call",
		 "200 text/event-stream\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":"
		 "\"q\",\"method\":\"ping\"}\n\n",
		 PEER_STAYS, 0},
		{"POST \"id\":\"q\",\"result\":{}", "202\n\n", PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	turn_until(&w, "tools/call version=2025-11-25\nPOST version");
	peer_say(&w.peer, "data: " ANSWER("2", RESULT));
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
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

TEST(HL_7, initialized_hangs, calls_go_all_the_same)
{
	static const struct peer_step steps[] = {
		{"POST notifications/initialized", "hangs", PEER_HANGS, 0},
		OLD_SERVER,
		{"POST tools/call", CALLED, PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	end(&w);
}

TEST(HE_6, refused_with_an_error, that_is_told)
{
	static const struct peer_step steps[] = {
		{"POST",
		 "400 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID,"
		 "\"error\":{\"code\":-32602,\"message\":\"no such "
		 "client\"}}",
		 PEER_DONE, PEER_ALWAYS},
		{"GET", "404\n\n", PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "failed handshake: the server refused initialize: no "
			"such client (code -32602)");
	end(&w);
}

/* ---- the standalone stream ---- */

TEST(RW_101, stream_that_says_nothing, costs_nothing)
{
	static const struct peer_step steps[] = {
		{"GET /mcp", "200 text/event-stream\n\n", PEER_STAYS, 0},
		OLD_SERVER,
		{"POST tools/call", CALLED, PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	ask(&w, "a");
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	end(&w);
}

TEST(RW_102, no_such_stream, session_works)
{
	static const struct peer_step refusals[] = {
		{"GET", "404\n\n", PEER_DONE, 0},
		{"GET", "406 text/plain\n\nno", PEER_DONE, 0},
		{"GET", "400\n\n", PEER_DONE, 0},
		{"GET", "501\n\n", PEER_DONE, 0},
		{"GET", "hangs", PEER_HANGS, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		const struct peer_step steps[] = {
			refusals[i],
			OLD_SERVER,
			{"POST tools/call", CALLED, PEER_DONE, 0},
			{0},
		};
		struct world w;

		begin(&w, steps, "2025-11-25");
		ask(&w, "a");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nended\n");
		end(&w);
	}
}

TEST(RW_108, answered_on_the_other_stream, by_its_id)
{
	static const struct peer_step steps[] = {
		{"GET /mcp", "200 text/event-stream\n\n", PEER_STAYS, 0},
		OLD_SERVER,
		{"POST tools/call", "202\n\n", PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	turn_until_get(&w);
	ask(&w, "a");
	turn_until(&w, "tools/call");
	peer_say(&w.peer, "data: " ANSWER("2", RESULT));
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	end(&w);
}

TEST(HL_15, nothing_and_no_other_stream, fails)
{
	static const struct peer_step steps[] = {
		OLD_SERVER,
		{"POST tools/call", "202\n\n", PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, "2025-11-25");
	turn_until_get(&w);
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "failed transport: the server ");
	assert_seen(&w, "the outcome is unknown");
	end(&w);
}
