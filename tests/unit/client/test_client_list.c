#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/client/client.h"
#include "core/transport/transport.h"

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

static void list__many_ask__asked_for_once(UNUSED void **state)
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

static void list__anew__asked_for_again(UNUSED void **state)
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

static void list__several_pages__one_list(UNUSED void **state)
{
	struct world w;

	begin(&w, "2025-11-25",
	      HELLO ASK ANSWER("2", ",\"nextCursor\":\"c\"") ASK ANSWER("3", "")
		      REST);
	ask(&w, false);
	wait_for(&w, 1);
	end(&w, "2\n");
}

static void list__taken__is_the_takers(UNUSED void **state)
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

static void LC_1__older_server__changes_by_itself(UNUSED void **state)
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

static void SUB_1__newer_server__is_asked_for_changes(UNUSED void **state)
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

static void CH_5__change__makes_it_stale_at_once(UNUSED void **state)
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

static void CH_9__pages__are_kept_singly(UNUSED void **state)
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

static void CH_7__refetch_fails__the_one_of_before(UNUSED void **state)
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

static void CH_7__unknown_tool__makes_it_stale(UNUSED void **state)
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

static void PAG_8__refused_cursor__begins_again(UNUSED void **state)
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

static void list__no_list__failed(UNUSED void **state)
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

static void list__server_ends__all_fail_once(UNUSED void **state)
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

static void list__nobody_waits__is_cancelled(UNUSED void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list__many_ask__asked_for_once),
		cmocka_unit_test(list__anew__asked_for_again),
		cmocka_unit_test(list__several_pages__one_list),
		cmocka_unit_test(list__taken__is_the_takers),
		cmocka_unit_test(LC_1__older_server__changes_by_itself),
		cmocka_unit_test(SUB_1__newer_server__is_asked_for_changes),
		cmocka_unit_test(CH_5__change__makes_it_stale_at_once),
		cmocka_unit_test(CH_9__pages__are_kept_singly),
		cmocka_unit_test(CH_7__refetch_fails__the_one_of_before),
		cmocka_unit_test(CH_7__unknown_tool__makes_it_stale),
		cmocka_unit_test(PAG_8__refused_cursor__begins_again),
		cmocka_unit_test(list__no_list__failed),
		cmocka_unit_test(list__server_ends__all_fail_once),
		cmocka_unit_test(list__nobody_waits__is_cancelled),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
