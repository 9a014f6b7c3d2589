/*
 * A client over HTTP: sessions that servers give and lose, the end, redirects,
 * credentials, and HTTP+SSE of 2024-11-05.
 */
#include "tests/unit/test.h"

#include "tests/unit/transport/remote_talk.h"

#define OLD "2025-11-25"
#define IN_S1 " session=S1 version=2025-11-25\n"
#define IN_S2 " session=S2 version=2025-11-25\n"
#define WITH_SESSION(id)                            \
	"200 application/json\nMcp-Session-Id: " id \
	"\n\n{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":" INITIALIZED "}"
#define DELETED                                   \
	{                                         \
		"DELETE", "204\n\n", PEER_DONE, 0 \
	}
#define GONE                                                          \
	"{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32000," \
	"\"message\":\"Session not found\"}}"

/* ---- sessions ---- */

TEST(RW_103, session_lost, is_begun_anew_and_sent_once_more)
{
	static const char *const losses[] = {
		"404 text/plain\n\nno such session",
		"404\n\n",
		"404 application/json\n\n" GONE,
		"400 application/json\n\n" GONE,
		"400 text/plain\n\nBad Request: no valid session ID",
		"200 application/json\n\n" GONE,
		"200 text/event-stream\n\ndata: " GONE "\n\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(losses); i++) {
		const struct peer_step steps[] = {
			{"POST \"initialize\"", WITH_SESSION("S1"), PEER_DONE,
			 0},
			{"POST notifications/initialized", "202\n\n", PEER_DONE,
			 0},
			{"POST tools/list", CALLED, PEER_DONE, 0},
			{"POST tools/call", losses[i], PEER_DONE, 0},
			{"POST \"initialize\"", WITH_SESSION("S2"), PEER_DONE,
			 0},
			{"POST notifications/initialized", "202\n\n", PEER_DONE,
			 0},
			{"POST tools/call", CALLED, PEER_DONE, PEER_ALWAYS},
			{"GET", "405\n\n", PEER_DONE, PEER_ALWAYS},
			DELETED,
			{0},
		};
		struct world w;

		begin(&w, steps, OLD);
		ask_method(&w, "tools/list");
		turn_until_seen(&w, "result");
		ask(&w, "a");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nresult " RESULT
				    "\nended\n");
		assert_string_equal(
			buf_cstr(&w.peer.log),
			"POST initialize\nPOST notifications/initialized" IN_S1
			"POST tools/list" IN_S1 "POST tools/call" IN_S1
			"POST initialize\nPOST notifications/initialized" IN_S2
			"POST tools/call" IN_S2 "DELETE" IN_S2);
		assert_facts(&w, "\"restored\":1");
		end(&w);
	}
}

#define SPEAKS(code, message)                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":" code \
	",\"message\":\"" message "\"}}"

/* In one array: what ends all requests, and an error for that of the stream. */
TEST(RPC_9, all_ends_within_an_array, rest_is_not_read)
{
	static const struct peer_step steps[] = {
		{"POST \"initialize\"", WITH_SESSION("S1"), PEER_DONE, 0},
		{"POST notifications/initialized", "202\n\n", PEER_DONE, 0},
		{"POST tools/call", "200 text/event-stream\n\n: hi\n\n",
		 PEER_STAYS, 0},
		{"POST tools/call", "404\n\n", PEER_DONE, 0},
		{"POST \"initialize\"", "", PEER_HANGS, 0},
		{"GET", "405\n\n", PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, OLD);
	ask(&w, "a");
	while (!w.peer.stream)
		turn(&w);
	ask(&w, "b");
	while (w.peer.n_requests < 6)
		turn(&w);
	peer_say(&w.peer,
		 "data: [{\"jsonrpc\":\"2.0\",\"id\":\"matins-1\",\"error\":"
		 "{\"code\":-1,\"message\":\"x\"}},{\"jsonrpc\":\"2.0\","
		 "\"id\":null,\"error\":{\"code\":-2,\"message\":\"y\"}}]"
		 "\n\n");
	turn_until_seen(&w, "failed");
	finish(&w);
	assert_seen(&w, "failed transport: the server has lost the session, "
			"and a new one did not begin: it refused initialize");
	assert_null(strstr(buf_cstr(&w.seen), "error -2"));
	end(&w);
}

/* ---- redirects ---- */

/* ---- credentials ---- */

struct guard {
	struct authorizer base;
	enum authorizer_verdict verdict;
	const char *token; /* NULL: none yet */
	bool is_person;
	unsigned refused;
	char spoke[16];
	struct loop_timer later;
	struct loop *loop;
};

static enum authorizer_verdict guard_sign(struct authorizer *a,
					  UNUSED const char *method,
					  UNUSED const char *url,
					  struct http_headers *headers,
					  struct err *err)
{
	struct guard *g = (struct guard *)a;

	if (g->token && http_headers_set(headers, "Authorization",
					 str_of(g->token), err) < 0)
		return AUTHORIZER_NO;
	return AUTHORIZER_GO;
}

static void guard_answered(UNUSED struct authorizer *a,
			   UNUSED const struct http_head *head)
{
}

static enum authorizer_verdict guard_refused(
	struct authorizer *a, UNUSED const char *method, UNUSED const char *url,
	const struct http_head *head, UNUSED struct str body,
	const struct authorizer_try *tries, struct err *err)
{
	struct guard *g = (struct guard *)a;

	g->refused++;
	if (tries->unauthorized > 1 || g->verdict == AUTHORIZER_NO) {
		err_set(err, ERR_PEER, "refused with %d", head->status);
		return AUTHORIZER_NO;
	}
	if (g->verdict == AUTHORIZER_WAIT)
		loop_timer_set(g->loop, &g->later, loop_now(g->loop));
	else
		g->token = "Bearer t";
	return g->verdict;
}

static void guard_later(void *arg)
{
	struct guard *g = arg;

	g->token = "Bearer t";
	g->base.changed(g->base.arg);
}

static bool guard_is_person(const struct authorizer *a)
{
	return ((const struct guard *)a)->is_person;
}

static void guard_spoke(struct authorizer *a, const char *protocol)
{
	snprintf(((struct guard *)a)->spoke, 16, "%s", protocol);
}

static const struct authorizer_type guard_type = {
	.sign = guard_sign,
	.answered = guard_answered,
	.refused = guard_refused,
	.is_person = guard_is_person,
	.spoke = guard_spoke,
};

static void begin_guarded(struct world *w, struct guard *g,
			  const struct peer_step *steps)
{
	g->base.type = &guard_type;
	g->loop = &w->loop;
	g->later = (struct loop_timer){.fire = guard_later, .arg = g};
	*w = (struct world){.auth = &g->base};
	begin_with(w, steps, NULL);
}

TEST(RW_92, probe_answered_by_401, is_authorized_first)
{
	static const struct peer_step steps[] = {
		{"POST Authorization: Bearer t", JSON_REPLY(DISCOVERED),
		 PEER_DONE, 0},
		{"POST server/discover", "401\nWWW-Authenticate: Bearer\n\n",
		 PEER_DONE, 0},
		{"POST tools/list", JSON_REPLY("{\"tools\":[]}"), PEER_DONE, 0},
		{"POST tools/call", CALLED, PEER_DONE, 0},
		{0},
	};
	static const enum authorizer_verdict verdicts[] = {AUTHORIZER_GO,
							   AUTHORIZER_WAIT};

	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
		struct guard g = {.verdict = verdicts[i], .is_person = i};
		struct world w;

		begin_guarded(&w, &g, steps);
		ask(&w, "a");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nended\n");
		assert_logged(&w,
			      PROBED "POST server/discover version=2026-07-28 "
				     "method=server/discover auth=Bearer t\n");
		assert_int_equal(g.refused, 1);
		assert_string_equal(g.spoke, "2026-07-28");
		end(&w);
	}
}

TEST(AU_2, refused_for_ever, is_denied)
{
	static const struct peer_step steps[] = {
		{"POST", "401\n\n", PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct guard g = {.verdict = AUTHORIZER_GO};
	struct world w;

	begin_guarded(&w, &g, steps);
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "failed auth: refused with 401");
	assert_int_equal(w.peer.n_requests, 2);
	end(&w);
}

/* ---- HTTP+SSE ---- */

static void begin_sse(struct world *w, const struct peer_step *steps)
{
	*w = (struct world){.kind = REMOTE_SSE};
	begin_with(w, steps, NULL);
}

TEST(RW_109, endpoint_of_all_forms, is_resolved)
{
	static const struct {
		const char *reference, *want;
	} forms[] = {
		{"/msg?s=1", "POST /msg?s=1 HTTP"},
		{"msg", "POST /msg HTTP"},
		{"?s=1", "POST /mcp?s=1 HTTP"},
		{NULL, "POST /abs HTTP"},
	};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const struct peer_step steps[] = {
			{"GET", "200 text/event-stream\n\n", PEER_STAYS, 0},
			{forms[i].want, "202\n\n", PEER_DONE, PEER_ALWAYS},
			{0},
		};
		char first[128];
		struct world w;

		begin_sse(&w, steps);
		ask(&w, "a");
		turn_until_get(&w);
		while (!w.peer.stream)
			turn(&w);
		snprintf(first, sizeof(first),
			 "event: endpoint\ndata: %.*s%s\n\n",
			 forms[i].reference ? 0 : (int)strlen(w.peer.url) - 4,
			 w.peer.url,
			 forms[i].reference ? forms[i].reference : "/abs");
		peer_say(&w.peer, first);
		turn_until(&w, "initialize");
		peer_say(&w.peer, "data: " ANSWER("2", INITIALIZED));
		turn_until(&w, "tools/call");
		peer_say(&w.peer, "data: " ANSWER("3", RESULT));
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nended\n");
		end(&w);
	}
}

TEST(RW_109, endpoint_elsewhere, is_refused)
{
	static const char *const places[] = {
		"200 text/event-stream\n\nevent: endpoint\n"
		"data: http://localhost:8080/m\n\n",
		"200 text/event-stream\n\nevent: endpoint\n"
		"data: https://127.0.0.1/m\n\n",
		"200 text/event-stream\n\nevent: endpoint\n"
		"data: javascript:alert(1)\n\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const struct peer_step steps[] = {
			{"GET", places[i], PEER_STAYS, 0},
			{0},
		};
		struct world w;

		begin_sse(&w, steps);
		ask(&w, "a");
		finish(&w);
		assert_seen(&w, "failed transport: ");
		assert_int_equal(w.peer.log.n, 0);
		end(&w);
	}
}

TEST(HS_5, stream_ends, ends_the_session_too)
{
	static const struct peer_step steps[] = {
		{"GET",
		 "200 text/event-stream\n\nevent: endpoint\ndata: /m\n\n",
		 PEER_STAYS, 0},
		{"POST", "202\n\n", PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin_sse(&w, steps);
	ask(&w, "a");
	turn_until(&w, "initialize");
	peer_say(&w.peer, "data: " ANSWER("2", INITIALIZED));
	turn_until(&w, "tools/call");
	peer_close(w.peer.stream);
	finish(&w);
	assert_seen(&w, "ready\nfailed transport: the server closed its event "
			"stream, and the session with it; the outcome");
	end(&w);
}

TEST(HE_6, nothing_is_there, names_both_transports)
{
	static const struct peer_step steps[] = {
		{"POST", "404 text/plain\n\nNot Found", PEER_DONE, PEER_ALWAYS},
		{"GET", "404 text/plain\n\nNot Found", PEER_DONE, PEER_ALWAYS},
		{0},
	};
	struct world w;

	begin(&w, steps, NULL);
	ask(&w, "a");
	finish(&w);
	assert_seen(&w, "failed transport: no MCP server is there: the server "
			"answered ");
	assert_seen(&w, "(HTTP+SSE was tried as well: the server answered GET "
			"with HTTP status 404");
	/* the whole ladder is three requests (HE-7) */
	assert_int_equal(w.peer.n_requests, 3);
	end(&w);
}

TEST(HS_4, answer_in_the_reply, counts_once)
{
	static const struct peer_step steps[] = {
		{"GET",
		 "200 text/event-stream\n\nevent: endpoint\ndata: /m\n\n",
		 PEER_STAYS, 0},
		{"POST \"initialize\"", JSON_REPLY(INITIALIZED), PEER_DONE, 0},
		{"POST notifications", "200 text/plain\n\nAccepted", PEER_DONE,
		 0},
		{"POST tools/call", CALLED, PEER_DONE, 0},
		{0},
	};
	struct world w;

	begin_sse(&w, steps);
	ask(&w, "a");
	turn_until_seen(&w, "result");
	peer_say(&w.peer, "data: " ANSWER("3", RESULT));
	finish(&w);
	assert_string_equal(buf_cstr(&w.seen),
			    "ready\nresult " RESULT "\nended\n");
	end(&w);
}

/* ---- begun again ---- */

static enum session_era remembered(struct world *w)
{
	struct era_key key;

	eras_key_url(&key, w->peer.url);
	return eras_find(w->eras, &key);
}

TEST(PRB_10, era_of_a_url, is_remembered)
{
	static const struct peer_step steps[] = {
		{"POST server/discover", "400\n\n", PEER_DONE, 0},
		OLD_SERVER,
		{0},
	};
	struct world w = {.eras = eras_open(NULL), .known = SESSION_ERA_PROBE};

	begin_with(&w, steps, NULL);
	turn_until_seen(&w, "ready");
	finish(&w);
	assert_int_equal(remembered(&w), SESSION_ERA_INITIALIZE);
	eras_free(w.eras);
	end(&w);
}

TEST(PRB_10, remembered_era_is_wrong, is_asked_for_anew)
{
	static const char *const refusals[] = {
		"400 application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":1,"
		"\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{"
		"\"supported\":[\"2026-07-28\"]}}}",
		"404 text/plain\n\nno",
	};

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		const struct peer_step steps[] = {
			{"POST \"initialize\"", refusals[i], PEER_DONE,
			 PEER_ALWAYS},
			NEW_SERVER,
			{"POST tools/list", JSON_REPLY("{\"tools\":[]}"),
			 PEER_DONE, 0},
			{"POST tools/call", CALLED, PEER_DONE, 0},
			{"GET", "405\n\n", PEER_DONE, PEER_ALWAYS},
			{0},
		};
		struct world w = {.eras = eras_open(NULL),
				  .known = SESSION_ERA_INITIALIZE};

		begin_with(&w, steps, NULL);
		ask(&w, "a");
		finish(&w);
		assert_string_equal(buf_cstr(&w.seen),
				    "ready\nresult " RESULT "\nended\n");
		assert_facts(&w, "\"restarts\":1");
		assert_int_equal(remembered(&w), SESSION_ERA_PER_REQUEST);
		eras_free(w.eras);
		end(&w);
	}
}

TEST(HE_5, server_is_ill, does_not_forget_its_era)
{
	static const struct peer_step steps[] = {
		{"POST", "502\n\n", PEER_DONE, PEER_ALWAYS},
		{0},
	};
	static const enum session_era eras[] = {SESSION_ERA_INITIALIZE,
						SESSION_ERA_PER_REQUEST};

	for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
		struct world w = {.eras = eras_open(NULL), .known = eras[i]};

		begin_with(&w, steps, NULL);
		ask(&w, "a");
		finish(&w);
		assert_seen(&w, "failed transport: ");
		assert_int_equal(remembered(&w), eras[i]);
		eras_free(w.eras);
		end(&w);
	}
}
