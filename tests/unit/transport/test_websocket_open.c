/*
 * The WebSocket transport before it is open: refused handshakes, credentials,
 * and pages that are no frames.
 */
#include "tests/unit/test.h"

#include "core/transport/remote.h"
#include "tests/unit/transport/guard.h"
#include "tests/unit/transport/http_peer.h"

#define REFUSED                                                      \
	"401 text/plain\nWWW-Authenticate: Bearer\n\nUnauthorized, " \
	"\x81\x02hi and so on"

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
	struct guard g;

	alarm(60);
	assert_int_equal(loop_init(&loop, clock_system(), &err), 0);
	peer_begin(&peer, &loop, steps);
	guard_begin(&g, &loop, verdict, true);
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
	expect(AUTHORIZER_NO, "lost <refused with 401, 1 times> over", 1);
}

TEST(refused, go, asked_once_more)
{
	expect(AUTHORIZER_GO, "lost <refused with 401, 2 times> over", 2);
}

/* What stands in the page of the refusal is not read as frames meanwhile. */
TEST(refused, wait, page_is_no_message)
{
	expect(AUTHORIZER_WAIT,
	       "held resumed lost <refused with 401, 2 times> over", 2);
}
