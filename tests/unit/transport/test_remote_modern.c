/*
 * A client over HTTP of 2026-07-28: every request stands alone and says in
 * its headers what it is.
 */
#include "tests/unit/test.h"

#include "tests/unit/transport/remote_talk.h"

#define NOW " version=2026-07-28"
#define TOOL(name, properties)                                         \
	"{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"," \
	"\"properties\":{" properties "}}}"
#define REGION "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}"
#define COUNT "\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"}"
#define MISMATCH                                                   \
	"400 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID," \
	"\"error\":{\"code\":-32020,\"message\":\"HeaderMismatch\"}}"

TEST(HM_1, every_request, says_what_it_is)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST", CALLED, PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	assert_int_equal(client_wait_ready(w.client, &(struct err){0}), 0);
	ask_with(&w, NULL, "resources/read", "{\"uri\":\"file:///a%20b\"}");
	turn_until(&w, "resources/read");
	ask_with(&w, NULL, "prompts/get", "{\"name\":\"p\\u00e9\"}");
	turn_until(&w, "prompts/get");
	ask_with(&w, NULL, "prompts/list", "");
	finish(&w);
	assert_string_equal(buf_cstr(&w.peer.log), PROBED
			    "POST resources/read" NOW
			    " method=resources/read name=file:///a%20b\n"
			    "POST prompts/get" NOW
			    " method=prompts/get name==?base64?cMOp?=\n"
			    "POST prompts/list" NOW " method=prompts/list\n");
	/* no stream of its own, no DELETE (HM-5) */
	assert_int_equal(w.peer.gets, 0);
	end(&w);
}

TEST(XH_1, list_that_passes_through, is_learned_from)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST tools/list",
		 JSON_REPLY("{\"tools\":[" TOOL("a", REGION) "]}"), PEER_DONE,
		 0},
		{"POST tools/call", CALLED, PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask_method(&w, "tools/list");
	turn_until_seen(&w, "result");
	ask_with(&w, "a", NULL, "{\"region\":\"\\u00fc\"}");
	ask_with(&w, "gone", NULL, "{\"region\":\"x\"}");
	finish(&w);
	assert_logged(&w, "name=a region==?base64?w7w=?=\n");
	assert_logged(&w, "name=gone\n");
	assert_int_equal(w.peer.n_requests, 4);
	end(&w);
}

/* Of two of one name the last one counts; the order of names is any. */
TEST(XH_1, list_with_a_name_twice, last_one_counts)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST tools/list",
		 JSON_REPLY("{\"tools\":[" TOOL("c", COUNT) "," TOOL(
			 "b", REGION) "," TOOL("a", "") "," TOOL("b",
								 COUNT) "]}"),
		 PEER_DONE, 0},
		{"POST tools/call", CALLED, PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask_method(&w, "tools/list");
	turn_until_seen(&w, "result");
	ask_with(&w, "b", NULL, "{\"region\":\"x\",\"n\":2}");
	ask_with(&w, "c", NULL, "{\"n\":3}");
	ask_with(&w, "a", NULL, "{\"n\":4}");
	finish(&w);
	assert_logged(&w, "name=b count=2\n");
	assert_logged(&w, "name=c count=3\n");
	assert_logged(&w, "name=a\n");
	assert_int_equal(w.peer.n_requests, 5);
	end(&w);
}

TEST(XH_9, mismatch_for_ever, is_the_error)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST tools/list", JSON_REPLY("{\"tools\":[]}"), PEER_DONE,
		 PEER_ALWAYS},
		{"POST tools/call", MISMATCH, PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask(&w, "a");
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nerror -32020 HeaderMismatch\nended\n");
	assert_int_equal(w.peer.n_requests, 5);
	end(&w);
}

TEST(RW_99, stream_of_a_call_breaks, outcome_unknown)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST tools/list", JSON_REPLY("{\"tools\":[]}"), PEER_DONE, 0},
		{"POST tools/call",
		 "200 text/event-stream\n\nid: 7\nretry: 1\ndata:\n\n",
		 PEER_ENDS, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "ready\nfailed transport: the server closed the stream "
			"before the answer to tools/call; the outcome is "
			"unknown, and it was not repeated\n");
	assert_int_equal(w.peer.n_requests, 3);
	end(&w);
}

TEST(HM_7, given_up, closes_the_stream)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST tools/list", JSON_REPLY("{\"tools\":[]}"), PEER_DONE, 0},
		{"POST tools/call", "200 text/event-stream\n\n: wait\n\n",
		 PEER_STAYS, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	client_cancel(w.client, ask_and_wait(&w, "a"), "why");
	while (w.peer.stream)
		turn(&w);
	finish(&w);
	assert_int_equal(w.peer.n_requests, 3);
	end(&w);
}

TEST(HM_9, server_asks, gets_no_answer)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST tools/list", JSON_REPLY("{\"tools\":[]}"), PEER_DONE, 0},
		{"POST tools/call",
		 "200 text/event-stream\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":"
		 "\"q\",\"method\":\"ping\"}\n\ndata: " ANSWERED "\n\n",
		 PEER_ENDS, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask(&w, "a");
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	assert_facts(&w, "\"ignored_requests\":1");
	assert_int_equal(w.peer.n_requests, 3);
	end(&w);
}

TEST(SUB_6, subscription_breaks, is_opened_again)
{
	static const struct peer_step steps[] = {
		NEW_SERVER,
		{"POST subscriptions/listen",
		 "200 text/event-stream\n\n: hello\n\n", PEER_ENDS, 0},
		{"POST subscriptions/listen", CALLED, PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask_with(&w, NULL, "subscriptions/listen",
		 "{\"toolsListChanged\":true}");
	finish(&w);
	assert_seen(&w, "result");
	assert_int_equal(w.peer.n_requests, 3);
	end(&w);
}

TEST(SSE_7, too_long, is_told_of_this_request)
{
	static const char *const replies[] = {
		"200 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID,"
		"\"result\":{\"content\":[],\"x\":\"0123456789012345678901234"
		"567890123456789012345678901234567890123456789\"}}",
		"200 text/event-stream\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":"
		"$ID,\"result\":{\"content\":[],\"x\":\"01234567890123456789"
		"01234567890123456789012345678901234567890123456789\"}}\n\n",
		/* one that does not end */
		"200 text/event-stream\n\ndata: {\"x\":\"0123456789012345678"
		"90123456789012345678901234567890123456789012345678901234567"
		"890123456789012345678901234567890123456789",
	};

	for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
		const struct peer_step steps[] = {
			NEW_SERVER,
			{"POST prompts/list", replies[i],
			 i == 2 ? PEER_STAYS : PEER_DONE, 0},
			{"POST resources/list", CALLED, PEER_DONE, 0},
			{0},
		};
		struct world w = {.message_max = 120};

		begin_with(&w, steps, NULL);
		ask_method(&w, "prompts/list");
		turn_until_seen(&w, "failed");
		ask_method(&w, "resources/list");
		finish(&w);
		assert_seen(&w, "failed output_limit: ");
		assert_seen(&w, "result " RESULT);
		end(&w);
	}
}

TEST(HE_5, nobody_answers, says_where)
{
	static const struct peer_step steps[] = {{0}};
	struct world w;

	begin(&w, steps, NULL);
	/* before the first turn nothing was connected */
	loop_unwatch(&w.loop, &w.peer.server.watch);
	close(w.peer.server.fd);
	w.peer.server.fd = dup(0);
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "failed transport: no answer to server/discover from "
			"http://127.0.0.1:");
	end(&w);
}
