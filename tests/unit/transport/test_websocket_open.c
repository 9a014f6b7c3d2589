/*
 * The WebSocket transport before it is open: refused handshakes, credentials,
 * and pages that are no frames.
 */
#include "tests/unit/test.h"

#include "core/transport/remote.h"
#include "tests/unit/transport/http_peer.h"

#define REFUSED                                                      \
	"401 text/plain\nWWW-Authenticate: Bearer\n\nUnauthorized, " \
	"\x81\x02hi and so on"

/* Whoever is refused says `verdict` the first time, and then no more. */
struct guard {
	struct authorizer base; /* first */
	struct loop *loop;
	struct loop_timer later;
	enum authorizer_verdict verdict;
	bool is_waiting;
	unsigned refused;
};

static enum authorizer_verdict guard_sign(struct authorizer *a,
					  UNUSED const char *method,
					  UNUSED const char *url,
					  UNUSED struct http_headers *headers,
					  UNUSED struct err *err)
{
	const struct guard *g = (const struct guard *)a;

	return g->is_waiting ? AUTHORIZER_WAIT : AUTHORIZER_GO;
}

static enum authorizer_verdict guard_refused(
	struct authorizer *a, UNUSED const char *method, UNUSED const char *url,
	const struct http_head *head, UNUSED struct str body,
	UNUSED const struct authorizer_try *tries, struct err *err)
{
	struct guard *g = (struct guard *)a;

	assert_int_equal(head->status, 401);
	if (g->refused++ || g->verdict == AUTHORIZER_NO) {
		err_set(err, ERR_PEER, "refused %u times", g->refused);
		return AUTHORIZER_NO;
	}
	g->is_waiting = g->verdict == AUTHORIZER_WAIT;
	if (g->is_waiting)
		loop_timer_set(g->loop, &g->later,
			       loop_now(g->loop) + 20 * NS_PER_MS);
	return g->verdict;
}

static bool guard_is_person(UNUSED const struct authorizer *a)
{
	return true;
}

static void guard_later(void *arg)
{
	struct guard *g = arg;

	g->is_waiting = false;
	g->base.changed(g->base.arg);
}

static const struct authorizer_type guard_type = {
	.sign = guard_sign,
	.refused = guard_refused,
	.is_person = guard_is_person,
};

/* What a transport told until it was over, a word each. */
static void listen_to(struct transport *t, struct loop *loop, struct buf *told)
{
	static const char *const words[] = {
		[TRANSPORT_MESSAGE] = "message",
		[TRANSPORT_LOST] = "lost",
		[TRANSPORT_HELD] = "held",
		[TRANSPORT_RESUMED] = "resumed",
		[TRANSPORT_OVER] = "over",
	};
	struct transport_item item;
	struct err err = ERR_INIT;

	for (;;) {
		transport_next(t, &item);
		if (item.type == TRANSPORT_NONE) {
			assert_int_equal(loop_turn(loop, &err), 0);
			continue;
		}
		buf_addf(told, "%s%s", told->n ? " " : "", words[item.type]);
		if (item.type == TRANSPORT_LOST)
			buf_addf(told, " <%s>", item.err.msg);
		if (item.type == TRANSPORT_OVER)
			return;
	}
}

static void expect(enum authorizer_verdict verdict, const char *told,
		   size_t requests)
{
	static const struct peer_step steps[] = {
		{"GET Upgrade: websocket", REFUSED, PEER_DONE, PEER_ALWAYS},
		{0},
	};
	AUTO(buf_release) struct buf seen = BUF_INIT(BUF_UNBOUNDED);
	struct loop loop;
	struct peer peer;
	struct http *http;
	struct transport *t;
	struct err err = ERR_INIT;
	struct guard g = {.base = {.type = &guard_type},
			  .loop = &loop,
			  .verdict = verdict};

	alarm(60);
	assert_int_equal(loop_init(&loop, clock_system(), &err), 0);
	peer_begin(&peer, &loop, steps);
	g.later = (struct loop_timer){.fire = guard_later, .arg = &g};
	assert_int_equal(http_new(&(struct http_options){.loop = &loop,
							 .user_agent = "t"},
				  &http, &err),
			 0);
	assert_int_equal(
		transport_websocket(
			&(struct remote_options){.http = http,
						 .loop = &loop,
						 .url = peer.url,
						 .auth = &g.base,
						 .reach = reach_of_user()},
			&t, &err),
		0);
	assert_int_equal(transport_send(t, STR("{}\n")), 3);
	listen_to(t, &loop, &seen);
	assert_string_equal(buf_cstr(&seen), told);
	assert_int_equal(peer.n_requests, requests);
	transport_free(t);
	http_free(http);
	peer_end(&peer);
	loop_release(&loop);
}

TEST(refused, no_credentials, lost)
{
	expect(AUTHORIZER_NO, "lost <refused 1 times> over", 1);
}

TEST(refused, go, asked_once_more)
{
	expect(AUTHORIZER_GO, "lost <refused 2 times> over", 2);
}

/* What stands in the page of the refusal is not read as frames meanwhile. */
TEST(refused, wait, page_is_no_message)
{
	expect(AUTHORIZER_WAIT, "held resumed lost <refused 2 times> over", 2);
}
