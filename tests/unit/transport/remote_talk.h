/*
 * A client over HTTP and a server in the same loop, for tests: what the
 * client tells, one event a line, and what the server was asked.
 */
#ifndef TESTS_UNIT_REMOTE_TALK_H
#define TESTS_UNIT_REMOTE_TALK_H

#include "core/client/client.h"
#include "core/client/eras.h"
#include "core/transport/remote.h"
#include "tests/unit/transport/guard.h"
#include "tests/unit/transport/http_peer.h"

#define INITIALIZED                                                        \
	"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":" \
	"{}},\"serverInfo\":{\"name\":\"old\",\"version\":\"1\"}}"
#define DISCOVERED                                                   \
	"{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{" \
	"\"tools\":{}}}"
#define JSON_REPLY(result)                                         \
	"200 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID," \
	"\"result\":" result "}"
/* Steps of servers without and with sessions, but for their tools. */
static const struct peer_step OLD_SERVER[] = {
	{"POST \"initialize\"", JSON_REPLY(INITIALIZED), PEER_DONE, 0},
	{"POST notifications/initialized", "202\n\n", PEER_DONE, 0},
	{"GET /mcp HTTP", "405\n\n", PEER_DONE, 0},
};
static const struct peer_step NEW_SERVER[] = {
	{"POST server/discover", JSON_REPLY(DISCOVERED), PEER_DONE, 0},
};

struct world {
	struct loop loop;
	struct http *http;
	struct peer peer;
	struct client_context ctx;
	struct client *client;
	struct buf seen;
	struct authorizer *auth;
	enum remote_kind kind;
	uint64_t message_max;
	struct eras *eras;
	enum session_era known; /* of this server, in eras */
};

static void on_event(void *arg, const struct client_event *e)
{
	static const char *const words[] = {
#define CLIENT_EVENT(name, word) word,
		CLIENT_EVENTS(CLIENT_EVENT)
#undef CLIENT_EVENT
	};
	struct world *w = arg;

	if (e->type == CLIENT_FAILED && !e->ticket &&
	    !client_open_calls(w->client) && w->seen.n)
		return;
	buf_addf(&w->seen, "%s", words[e->type]);
	if (e->type == CLIENT_RESULT)
		buf_addf(&w->seen, " %.*s", STR_ARG(e->of->result));
	if (e->type == CLIENT_ERROR)
		buf_addf(&w->seen, " %lld %.*s", (long long)e->of->code,
			 STR_ARG(e->of->message));
	if (e->type == CLIENT_FAILED)
		buf_addf(&w->seen, " %s: %s", report_reason_name(e->reason),
			 e->sentence);
	buf_addc(&w->seen, '\n');
}

static int open_transport(void *arg, struct transport **ret, struct err *err)
{
	struct world *w = arg;
	const struct remote_options o = {
		.http = w->http,
		.loop = &w->loop,
		.url = w->peer.url,
		.auth = w->auth,
		.reach = reach_of_user(),
		.kind = w->kind,
		.message_max = w->message_max,
	};

	return transport_remote(&o, ret, err);
}

/* A client and its server, by the choices in *w. */
static void begin(struct world *w, const struct peer_step *steps,
		  const char *protocol)
{
	const struct http_options o = {.loop = &w->loop,
				       .user_agent = "matins/test"};
	const struct client_options options = {
		.name = "t",
		.open = open_transport,
		.open_arg = w,
		.url = w->peer.url,
		.session = {.protocol = protocol,
			    .message_max = w->message_max},
		.on_event = on_event,
		.arg = w,
	};
	struct err err = ERR_INIT;

	/* a conversation that hangs is a failure, not a long wait */
	alarm(60);
	w->seen = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	assert_int_equal(loop_init(&w->loop, clock_system(), &err), 0);
	w->ctx.loop = &w->loop;
	w->ctx.eras = w->eras;
	if (http_new(&o, &w->http, &err) < 0)
		fail_msg("%s", err.msg);
	peer_begin(&w->peer, &w->loop, steps);
	if (w->eras && w->known != SESSION_ERA_PROBE) {
		struct era_key key;

		eras_key_url(&key, w->peer.url);
		eras_learn(w->eras, &key, w->known);
	}
	w->client = client_new(&w->ctx, &options);
	assert_int_equal(client_start(w->client, &err), 0);
}

static void turn(struct world *w)
{
	struct err err = ERR_INIT;

	if (loop_turn(&w->loop, &err) < 0)
		fail_msg("%s", err.msg);
}

static uint64_t ask(struct world *w, const char *tool, const char *method,
		    const char *params)
{
	const struct client_call call = {
		.tool = tool,
		.method = method,
		.params = str_of(params),
		.on_event = on_event,
		.arg = w,
	};
	struct err err = ERR_INIT;
	uint64_t ticket = 0;

	if (client_call(w->client, &call, &ticket, &err) < 0)
		fail_msg("%s", err.msg);
	return ticket;
}

/* All answers, and an orderly end. */
static void finish(struct world *w)
{
	struct err err = ERR_INIT;

	assert_int_equal(client_wait(w->client, &err), 0);
	assert_int_equal(client_finish(w->client, &err), 0);
}

static void assert_facts(struct world *w, const char *text)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw jw;

	jw_init(&jw, &out, false);
	jw_object(&jw);
	client_facts(w->client, &jw, NULL);
	jw_end(&jw);
	if (!strstr(buf_cstr(&out), text))
		fail_msg("no %s in: %s", text, buf_cstr(&out));
}

static void end(struct world *w)
{
	client_free(w->client);
	http_free(w->http);
	peer_end(&w->peer);
	loop_release(&w->loop);
	buf_release(&w->seen);
	eras_free(w->eras);
}

#endif
