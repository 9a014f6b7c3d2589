/*
 * A client over HTTP, with a server that misbehaves as its rows say: HTTP
 * itself, and the shape with sessions (2025-03-26 to 2025-11-25).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/transport/remote_talk.h"

/* ---- which era, which transport ---- */

static void RW_90__probe_refused_by_400__is_legacy(UNUSED void **state)
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

static void RW_91__probe_refused_by_404__initialize_then_sse(UNUSED void **s)
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

static void RW_93__probe_answered_by_500__era_stays_open(UNUSED void **state)
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

static void RW_94__probe_answered_by_nothing__is_legacy(UNUSED void **state)
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

static void RW_95__version_refused_and_named__tried_once_more(UNUSED void **s)
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

static void RW_96__media_type_missing__parsed_all_the_same(UNUSED void **state)
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

static void RW_97__stream_of_odd_forms__is_read(UNUSED void **state)
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

static void RW_107__notification_answered_by_200__accepted(UNUSED void **state)
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

static void RW_110__gzip_not_asked_for__never_garbage(UNUSED void **state)
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

static void RW_111__body_cut_short__nothing_of_it_is_used(UNUSED void **state)
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

static void HT_5__error_of_a_foreign_id__is_of_this_request(UNUSED void **s)
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

static void HT_5__error_without_json__says_status_and_text(UNUSED void **s)
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
static void HT_8__refused_before_it_was_done__comes_once(UNUSED void **state)
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

static void HT_8__list_told_to_come_later__comes_once(UNUSED void **state)
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

static void RW_98__stream_broken_with_ids__is_resumed(UNUSED void **state)
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

static void RW_99__stream_broken_without_ids__outcome_unknown(UNUSED void **s)
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

static void HL_11__resumed_five_times_in_vain__is_lost(UNUSED void **state)
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

static void RW_100__stream_open_after_the_answer__returns(UNUSED void **state)
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

static void HL_8__server_asks_on_the_stream__is_answered(UNUSED void **state)
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

static void HL_13__given_up__is_said_by_a_message(UNUSED void **state)
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

static void HL_13__given_up_before_it_went__is_not_sent(UNUSED void **state)
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

static void HL_7__initialized_hangs__calls_go_all_the_same(UNUSED void **state)
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

static void HE_6__refused_with_an_error__that_is_told(UNUSED void **state)
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

static void RW_101__stream_that_says_nothing__costs_nothing(UNUSED void **s)
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

static void RW_102__no_such_stream__session_works(UNUSED void **state)
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

static void RW_108__answered_on_the_other_stream__by_its_id(UNUSED void **s)
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

static void HL_15__nothing_and_no_other_stream__fails(UNUSED void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(RW_90__probe_refused_by_400__is_legacy),
		cmocka_unit_test(
			RW_91__probe_refused_by_404__initialize_then_sse),
		cmocka_unit_test(RW_93__probe_answered_by_500__era_stays_open),
		cmocka_unit_test(RW_94__probe_answered_by_nothing__is_legacy),
		cmocka_unit_test(
			RW_95__version_refused_and_named__tried_once_more),
		cmocka_unit_test(
			RW_96__media_type_missing__parsed_all_the_same),
		cmocka_unit_test(RW_97__stream_of_odd_forms__is_read),
		cmocka_unit_test(RW_98__stream_broken_with_ids__is_resumed),
		cmocka_unit_test(
			RW_99__stream_broken_without_ids__outcome_unknown),
		cmocka_unit_test(RW_100__stream_open_after_the_answer__returns),
		cmocka_unit_test(
			RW_101__stream_that_says_nothing__costs_nothing),
		cmocka_unit_test(RW_102__no_such_stream__session_works),
		cmocka_unit_test(
			RW_107__notification_answered_by_200__accepted),
		cmocka_unit_test(
			RW_108__answered_on_the_other_stream__by_its_id),
		cmocka_unit_test(RW_110__gzip_not_asked_for__never_garbage),
		cmocka_unit_test(RW_111__body_cut_short__nothing_of_it_is_used),
		cmocka_unit_test(
			HT_5__error_of_a_foreign_id__is_of_this_request),
		cmocka_unit_test(
			HT_5__error_without_json__says_status_and_text),
		cmocka_unit_test(HT_8__list_told_to_come_later__comes_once),
		cmocka_unit_test(HT_8__refused_before_it_was_done__comes_once),
		cmocka_unit_test(HL_11__resumed_five_times_in_vain__is_lost),
		cmocka_unit_test(HL_8__server_asks_on_the_stream__is_answered),
		cmocka_unit_test(HL_13__given_up__is_said_by_a_message),
		cmocka_unit_test(HL_13__given_up_before_it_went__is_not_sent),
		cmocka_unit_test(
			HL_7__initialized_hangs__calls_go_all_the_same),
		cmocka_unit_test(HE_6__refused_with_an_error__that_is_told),
		cmocka_unit_test(HL_15__nothing_and_no_other_stream__fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
