#include "tests/unit/test.h"

#include "core/base/mem.h"
#include "core/client/client.h"
#include "tests/unit/client/replay.h"

/* What came, in words, one event a line. */
struct seen {
	struct buf text;
	struct client *client;
};

static void on_event(void *arg, const struct client_event *e)
{
	static const char *const words[] = {
#define CLIENT_EVENT(name, word) word,
		CLIENT_EVENTS(CLIENT_EVENT)
#undef CLIENT_EVENT
	};
	struct seen *s = arg;

	buf_addf(&s->text, "%s", words[e->type]);
	if (e->type == CLIENT_RESULT)
		buf_addf(&s->text, " %.*s", STR_ARG(e->of->result));
	if (e->type == CLIENT_FAILED)
		buf_addf(&s->text, " %s: %s", report_reason_name(e->reason),
			 e->sentence);
	buf_addc(&s->text, '\n');
}

struct world {
	struct loop loop;
	struct client_context ctx;
	struct transport *transport;
	struct client *client;
	struct seen seen;
};

static void begin_with(struct world *w, const struct session_options *session,
		       const char *transcript)
{
	struct client_options o = {.name = "t",
				   .session = *session,
				   .on_event = on_event,
				   .arg = &w->seen};
	struct err err = ERR_INIT;

	*w = (struct world){.seen = {.text = BUF_INIT(BUF_UNBOUNDED)}};
	assert_int_equal(loop_init(&w->loop, clock_system(), &err), 0);
	w->ctx.loop = &w->loop;
	assert_int_equal(
		transport_replay(str_of(transcript), &w->transport, &err), 0);
	w->client = client_new_over(&w->ctx, &o, w->transport);
	assert_int_equal(client_start(w->client, &err), 0);
}

static void begin(struct world *w, const char *transcript)
{
	begin_with(w, &(struct session_options){.protocol = "2025-11-25"},
		   transcript);
}

static uint64_t ask(struct world *w, const char *tool)
{
	const struct client_call call = {
		.tool = tool, .on_event = on_event, .arg = &w->seen};
	struct err err = ERR_INIT;
	uint64_t ticket;

	if (client_call(w->client, &call, &ticket, &err) < 0)
		fail_msg("%s", err.msg);
	return ticket;
}

static void end(struct world *w)
{
	client_free(w->client);
	loop_release(&w->loop);
	buf_release(&w->seen.text);
}

#define HELLO                                                              \
	"> {\"method\":\"initialize\"}\n"                                  \
	"< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":" \
	"\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":"   \
	"{\"name\":\"r\",\"version\":\"1\"}}}\n"                           \
	"> {\"method\":\"notifications/initialized\"}\n"

TEST(client, asked_before_ready, sends_it_then)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, HELLO "> {\"method\":\"tools/call\"}\n"
			"< {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
			"# nothing more\n"
			"> {\"method\":\"none\"}\n");
	ask(&w, "a");
	assert_int_equal(client_wait(w.client, &err), 0);
	assert_string_equal(buf_cstr(&w.seen.text), "ready\nresult {}\n");
	assert_true(client_offers(w.client, "tools"));
	assert_string_equal(transport_replay_difference(w.transport), "");
	assert_int_equal(client_finish(w.client, &err), 0);
	assert_true(client_is_over(w.client));
	end(&w);
}

TEST(client, two_in_flight, matches_them_by_id)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w,
	      HELLO "> {\"method\":\"tools/call\"}\n"
		    "> {\"method\":\"tools/call\"}\n"
		    "< {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"n\":2}}\n"
		    "< {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":1}}\n"
		    "> {\"method\":\"none\"}\n");
	assert_int_equal(client_wait_ready(w.client, &err), 0);
	ask(&w, "a");
	ask(&w, "b");
	assert_int_equal(client_open_calls(w.client), 2);
	assert_int_equal(client_wait(w.client, &err), 0);
	assert_string_equal(buf_cstr(&w.seen.text),
			    "ready\nresult {\"n\":2}\nresult {\"n\":1}\n");
	end(&w);
}

TEST(client, ends_in_flight, fails_once_and_for_all)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, HELLO "> {\"method\":\"tools/call\"}\n");
	ask(&w, "a");
	assert_int_equal(client_wait(w.client, &err), 0);
	while (!client_is_over(w.client))
		assert_int_equal(loop_turn(&w.loop, &err), 0);
	assert_non_null(
		strstr(buf_cstr(&w.seen.text), "ready\nfailed server_exit: "));
	assert_int_equal(client_failure(w.client), REASON_SERVER_EXIT);
	assert_false(client_is_open(w.client));
	end(&w);
}

TEST(client, cancelled, told_and_forgotten)
{
	struct err err = ERR_INIT;
	struct world w;
	uint64_t ticket;

	begin(&w, HELLO "> {\"method\":\"tools/call\"}\n"
			"> {\"method\":\"notifications/cancelled\"}\n"
			"> {\"method\":\"none\"}\n");
	assert_int_equal(client_wait_ready(w.client, &err), 0);
	ticket = ask(&w, "a");
	client_cancel(w.client, ticket, "enough");
	client_cancel(w.client, ticket, "enough");
	assert_int_equal(client_open_calls(w.client), 0);
	assert_string_equal(transport_replay_difference(w.transport), "");
	assert_string_equal(buf_cstr(&w.seen.text), "ready\n");
	end(&w);
}

TEST(client, own_time, is_over_before_that_of_others)
{
	const struct client_call call = {
		.method = "tools/list", .timeout_ms = 20, .on_event = on_event};
	struct client_call timed = call;
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, HELLO "> {\"method\":\"tools/call\"}\n"
			"> {\"method\":\"tools/list\"}\n"
			"> {\"method\":\"notifications/cancelled\"}\n"
			"> {\"method\":\"none\"}\n");
	assert_int_equal(client_wait_ready(w.client, &err), 0);
	ask(&w, "a");
	timed.arg = &w.seen;
	assert_int_equal(client_call(w.client, &timed, NULL, &err), 0);
	while (client_open_calls(w.client) == 2)
		assert_int_equal(loop_turn(&w.loop, &err), 0);
	assert_non_null(strstr(buf_cstr(&w.seen.text),
			       "failed deadline_list: no answer to tools/list "
			       "within 20 ms"));
	assert_true(client_is_ready(w.client));
	end(&w);
}

TEST(client, stopped, calls_fail_as_cancelled)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, HELLO "> {\"method\":\"tools/call\"}\n"
			"> {\"method\":\"notifications/cancelled\"}\n"
			"> {\"method\":\"none\"}\n");
	assert_int_equal(client_wait_ready(w.client, &err), 0);
	ask(&w, "a");
	client_stop(w.client, "SIGINT", CLIENT_GRACE_STOPPED_MS);
	assert_string_equal(buf_cstr(&w.seen.text),
			    "ready\nfailed cancelled: cancelled: SIGINT\n"
			    "ended\n");
	end(&w);
}

#define NOTE(method, params)                                        \
	"< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method \
	"\",\"params\":" params "}\n"

TEST(client, notices_of_each_kind, are_told)
{
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, HELLO "> {\"method\":\"tools/call\"}\n" NOTE(
			  "message", "{\"level\":\"info\",\"data\":\"x\"}")
			  NOTE("tools/list_changed", "{}")
				  NOTE("progress",
				       "{\"progressToken\":2,\"progress\":"
				       "1}") "< "
					     "{\"jsonrpc\":\"2.0\",\"id\":2,"
					     "\"error\":"
					     "{\"code\":-32603,\"message\":"
					     "\"no\"}}\n"
					     "> {\"method\":\"none\"}\n");
	ask(&w, "a");
	assert_int_equal(client_wait(w.client, &err), 0);
	assert_int_equal(client_finish(w.client, &err), 0);
	assert_string_equal(buf_cstr(&w.seen.text),
			    "ready\nlog\nchanged\nprogress\nerror\nended\n");
	end(&w);
}

TEST(client, question, is_told_and_taken_back)
{
	struct err err = ERR_INIT;
	struct world w;

	begin_with(&w,
		   &(struct session_options){.protocol = "2025-11-25",
					     .declared.sampling = true},
		   HELLO
		   "> {\"method\":\"tools/call\"}\n"
		   "< {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":"
		   "\"sampling/createMessage\",\"params\":{}}\n" NOTE(
			   "cancelled",
			   "{\"requestId\":7}") "< "
						"{\"jsonrpc\":\"2.0\",\"id\":2,"
						"\"result\":"
						"{}}\n"
						"> {\"method\":\"none\"}\n");
	ask(&w, "a");
	assert_int_equal(client_wait(w.client, &err), 0);
	assert_string_equal(buf_cstr(&w.seen.text),
			    "ready\nasked\nask_gone\nresult {}\n");
	end(&w);
}

TEST(client, task, is_told_before_its_result)
{
	const struct client_call call = {
		.tool = "a", .as_task = true, .on_event = on_event};
	struct client_call asked = call;
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, "> {\"method\":\"initialize\"}\n"
		  "< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"
		  "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
		  "{\"tasks\":{\"requests\":{\"tools\":{\"call\":{}}}}}}}\n"
		  "> {\"method\":\"notifications/initialized\"}\n"
		  "> {\"method\":\"tools/call\"}\n"
		  "< {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"task\":"
		  "{\"taskId\":\"t1\",\"status\":\"completed\"}}}\n"
		  "> {\"method\":\"tasks/result\"}\n"
		  "< {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"
		  "> {\"method\":\"none\"}\n");
	assert_int_equal(client_wait_ready(w.client, &err), 0);
	asked.arg = &w.seen;
	assert_int_equal(client_call(w.client, &asked, NULL, &err), 0);
	assert_int_equal(client_wait(w.client, &err), 0);
	assert_string_equal(buf_cstr(&w.seen.text), "ready\ntask\nresult {}\n");
	end(&w);
}

/* What can be said against params is said at once, before READY too. */
TEST(client, params_that_are_none, are_refused)
{
	static const char *const bad[] = {"[]", "{", "1"};
	struct client_call call = {.method = "tools/list"};
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, HELLO "> {\"method\":\"none\"}\n");
	for (int ready = 0; ready < 2; ready++) {
		for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
			call.params = str_of(bad[i]);
			assert_int_equal(
				client_call(w.client, &call, NULL, &err), -1);
			assert_int_equal(err.kind, ERR_SYNTAX);
		}
		assert_int_equal(client_wait_ready(w.client, &err), 0);
	}
	assert_int_equal(client_open_calls(w.client), 0);
	client_kill(w.client);
	client_kill(w.client);
	client_stop(w.client, "SIGINT", 0);
	client_terminate(w.client);
	assert_true(client_is_over(w.client));
	end(&w);
}
