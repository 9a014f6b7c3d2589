#include "tests/unit/test.h"

#include "core/client/client.h"
#include "tests/unit/client/replay.h"

struct world {
	struct loop loop;
	struct client_context ctx;
	struct transport *transport;
	struct client *client;
	struct buf seen; /* what came, one list a line */
	unsigned told;
};

static void on_list(void *arg, const struct client_listed *l)
{
	struct world *w = arg;

	w->told++;
	if (l->type == CLIENT_RESULT)
		buf_addf(&w->seen, "%zu%s", l->list->n,
			 l->is_known ? " known" : "");
	else if (l->type == CLIENT_ERROR)
		buf_addf(&w->seen, "error %lld", (long long)l->event->of->code);
	else
		buf_addf(&w->seen, "%s", report_reason_name(l->event->reason));
	buf_addc(&w->seen, '\n');
}

static void begin(struct world *w, const char *date, const char *transcript)
{
	struct client_options o = {
		.name = "t",
		.session = {.protocol = date},
		.watches_lists = true,
	};
	struct err err = ERR_INIT;

	*w = (struct world){.seen = BUF_INIT(BUF_UNBOUNDED)};
	assert_int_equal(loop_init(&w->loop, clock_system(), &err), 0);
	w->ctx.loop = &w->loop;
	assert_int_equal(
		transport_replay(str_of(transcript), &w->transport, &err), 0);
	w->client = client_new_over(&w->ctx, &o, w->transport);
	assert_int_equal(client_start(w->client, &err), 0);
}

static uint64_t ask(struct world *w, bool anew)
{
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.anew = anew,
		.done = on_list,
		.arg = w,
	};
	struct err err = ERR_INIT;
	uint64_t ticket;

	if (client_list(w->client, &list, &ticket, &err) < 0)
		fail_msg("%s", err.msg);
	return ticket;
}

static void wait_for(struct world *w, unsigned told)
{
	struct err err = ERR_INIT;

	while (w->told < told)
		assert_int_equal(loop_turn(&w->loop, &err), 0);
}

static void end(struct world *w, const char *seen)
{
	assert_string_equal(buf_cstr(&w->seen), seen);
	/* it ends with the server */
	if (!client_is_over(w->client))
		assert_string_equal(transport_replay_difference(w->transport),
				    "");
	client_free(w->client);
	loop_release(&w->loop);
	buf_release(&w->seen);
}

#define HELLO                                                              \
	"> {\"method\":\"initialize\"}\n"                                  \
	"< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":" \
	"\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":"   \
	"{\"name\":\"r\",\"version\":\"1\"}}}\n"                           \
	"> {\"method\":\"notifications/initialized\"}\n"
#define MODERN                                                        \
	"> {\"method\":\"server/discover\"}\n"                        \
	"< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":" \
	"\"complete\",\"supportedVersions\":[\"2026-07-28\"],"        \
	"\"capabilities\":{\"tools\":{\"listChanged\":true}}}}\n"
#define ASK "> {\"method\":\"tools/list\"}\n"
/* One tool, and what else stands in the result. */
#define ANSWER(id, more)                                  \
	"< {\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\"" \
	":{\"tools\":[{\"name\":\"t" id "\"}]" more "}}\n"
#define COMPLETE ",\"resultType\":\"complete\""
#define HOUR COMPLETE ",\"ttlMs\":3600000"
#define REST "> {\"method\":\"none\"}\n"

TEST(list, that_many_ask_for, is_asked_for_once)
{
	struct world w;

	begin(&w, "2025-11-25", HELLO ASK ANSWER("2", "") REST);
	ask(&w, false);
	ask(&w, false);
	wait_for(&w, 2);
	ask(&w, false);
	assert_int_equal(w.told, 3);
	assert_false(client_list_is_stale(w.client, LISTING_TOOLS));
	end(&w, "1\n1\n1 known\n");
}

TEST(list, asked_anew, is_fetched_again)
{
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", "") ASK ANSWER("3", "") REST);
	ask(&w, false);
	wait_for(&w, 1);
	ask(&w, true);
	wait_for(&w, 2);
	end(&w, "1\n1\n");
}

TEST(list, several_pages, becomes_one_list)
{
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", ",\"nextCursor\":\"c\"") ASK ANSWER("3", "")
		      REST);
	ask(&w, false);
	wait_for(&w, 1);
	end(&w, "2\n");
}

TEST(list, taken, is_the_takers)
{
	struct listing mine;
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", "") ASK ANSWER("3", "") REST);
	ask(&w, false);
	wait_for(&w, 1);
	client_take_list(w.client, LISTING_TOOLS, &mine);
	assert_int_equal(mine.n, 1);
	listing_release(&mine);
	assert_false(client_list_is_stale(w.client, LISTING_TOOLS));
	ask(&w, false);
	wait_for(&w, 2);
	end(&w, "1\n1\n");
}

TEST(LC_1, older_server, changes_by_itself)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", "") "< {\"jsonrpc\":\"2.0\",\"method\":"
					"\"notifications/tools/list_changed\"}"
					"\n" ASK ANSWER("3", "") REST);
	ask(&w, false);
	wait_for(&w, 1);
	while (!client_list_is_stale(w.client, LISTING_TOOLS))
		assert_int_equal(loop_turn(&w.loop, &err), 0);
	ask(&w, false);
	wait_for(&w, 2);
	assert_false(client_list_is_stale(w.client, LISTING_TOOLS));
	end(&w, "1\n1\n");
}

TEST(SUB_1, newer_server, is_asked_for_changes)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, "2026-07-28",
	      MODERN ASK ANSWER("2", HOUR) "> {\"method\":"
					   "\"subscriptions/listen\"}\n" REST);
	ask(&w, false);
	wait_for(&w, 1);
	/* a subscription is nothing that is waited for */
	assert_int_equal(client_open_calls(w.client), 0);
	assert_int_equal(client_wait(w.client, &err), 0);
	ask(&w, false);
	end(&w, "1\n1 known\n");
}

#define SUBSCRIPTION                                            \
	"\"params\":{\"_meta\":{\"io.modelcontextprotocol/"     \
	"subscriptionId\":3},\"notifications\":{\"toolsListCha" \
	"nged\":true}}}\n"

TEST(CH_5, change, makes_it_stale_at_once)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, "2026-07-28",
	      MODERN ASK ANSWER(
		      "2", HOUR) "> {\"method\":\"subscriptions/listen\"}\n"
				 "< {\"jsonrpc\":\"2.0\",\"method\":"
				 "\"notifications/subscriptions/"
				 "acknowledged\"," SUBSCRIPTION
				 "< {\"jsonrpc\":\"2.0\",\"method\":"
				 "\"notifications/tools/"
				 "list_changed\"," SUBSCRIPTION ASK ANSWER(
					 "4", HOUR) REST);
	ask(&w, false);
	wait_for(&w, 1);
	while (!client_list_is_stale(w.client, LISTING_TOOLS))
		assert_int_equal(loop_turn(&w.loop, &err), 0);
	ask(&w, false);
	wait_for(&w, 2);
	ask(&w, false);
	end(&w, "1\n1\n1 known\n");
}

TEST(CH_9, pages, are_kept_singly)
{
	struct world w;

	begin(&w, "2026-07-28",
	      MODERN ASK ANSWER("2", HOUR ",\"nextCursor\":\"c\"") ASK ANSWER(
		      "3", COMPLETE
		      ",\"ttlMs\":1") "> "
				      "{\"method\":\"subscriptions/listen\"}\n"
				      "> "
				      "{\"method\":\"tools/"
				      "list\",\"params\":{\"cursor\":"
				      "\"c\"}}\n" ANSWER("5", HOUR) REST);
	ask(&w, false);
	wait_for(&w, 1);
	while (!client_list_is_stale(w.client, LISTING_TOOLS))
		;
	ask(&w, false);
	wait_for(&w, 2);
	ask(&w, false);
	end(&w, "2\n2 known\n2 known\n");
}

TEST(CH_7, refetch_fails, keeps_the_list_of_before)
{
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", "") ASK
	      "< {\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,"
	      "\"message\":\"no\"}}\n" REST);
	ask(&w, false);
	wait_for(&w, 1);
	ask(&w, true);
	wait_for(&w, 2);
	assert_true(client_list_is_stale(w.client, LISTING_TOOLS));
	end(&w, "1\n1 known\n");
}

TEST(CH_7, unknown_tool, makes_it_stale)
{
	const struct client_call call = {.tool = "x"};
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", "") "> {\"method\":\"tools/call\"}\n"
					"< {\"jsonrpc\":\"2.0\",\"id\":3,"
					"\"error\":{\"code\":-32602,"
					"\"message\":\"no\"}}\n" REST);
	ask(&w, false);
	wait_for(&w, 1);
	assert_int_equal(client_call(w.client, &call, NULL, &err), 0);
	assert_int_equal(client_wait(w.client, &err), 0);
	assert_true(client_list_is_stale(w.client, LISTING_TOOLS));
	end(&w, "1\n");
}

TEST(PAG_8, refused_cursor, begins_again)
{
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", ",\"nextCursor\":\"c\"") ASK
	      "< {\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,"
	      "\"message\":\"no\"}}\n" ASK ANSWER("4", "") REST);
	ask(&w, false);
	wait_for(&w, 1);
	end(&w, "1\n");
}

TEST(list, that_is_no_list, has_failed)
{
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK "< {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n" ASK
			"< {\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":"
			"-32601,\"message\":\"no\"}}\n" REST);
	ask(&w, false);
	wait_for(&w, 1);
	ask(&w, false);
	wait_for(&w, 2);
	end(&w, "bad_message\nerror -32601\n");
}

TEST(list, server_ends, all_fail_once)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, "2025-11-25", HELLO ASK);
	ask(&w, false);
	ask(&w, false);
	wait_for(&w, 2);
	while (!client_is_over(w.client))
		assert_int_equal(loop_turn(&w.loop, &err), 0);
	end(&w, "server_exit\nserver_exit\n");
	begin(&w, "2025-11-25", "> {\"method\":\"initialize\"}\n");
	ask(&w, false);
	wait_for(&w, 1);
	end(&w, "server_exit\n");
}

TEST(list, nobody_waits, is_cancelled)
{
	struct err err = ERR_INIT;
	struct world w;
	uint64_t one, two;

	begin(&w, "2025-11-25",
	      HELLO ASK
	      "> {\"method\":\"notifications/cancelled\"}\n" ASK ANSWER("3", "")
		      REST);
	assert_int_equal(client_wait_ready(w.client, &err), 0);
	one = ask(&w, false);
	two = ask(&w, false);
	client_unlist(w.client, one);
	assert_int_equal(client_open_calls(w.client), 1);
	client_unlist(w.client, two);
	client_unlist(w.client, two);
	assert_int_equal(client_open_calls(w.client), 0);
	ask(&w, false);
	wait_for(&w, 1);
	end(&w, "1\n");
}
