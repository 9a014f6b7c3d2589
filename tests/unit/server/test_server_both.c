/* Our client and our server joined in memory, in all revisions. */
#include <string.h>

#include "tests/unit/test.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/listing.h"
#include "core/mcp/session/session.h"
#include "core/server/server.h"
#include "tests/unit/mcp/session_log.h"
#include "tests/unit/server/echo_server.h"

struct pair {
	struct session *client;
	struct server_session server;
	struct buf back, events;
};

/* Until nobody has anything to say; in portions of `step` bytes. */
static void converse_both(struct pair *p, size_t step)
{
	for (;;) {
		struct str out = session_output(p->client);
		size_t n = out.n < step ? out.n : step;

		if (n) {
			server_feed(&p->server, (struct str){out.p, n});
			session_wrote(p->client, n);
		} else if (p->back.n) {
			n = p->back.n < step ? p->back.n : step;
			session_feed(p->client, (struct str){p->back.p, n},
				     NS_PER_S);
			drain(p->client, &p->events);
			buf_drop(&p->back, n);
		} else {
			return;
		}
	}
}

static struct str last_result(const struct pair *p, struct buf *into)
{
	const char *at = strstr(buf_cstr(&p->events), "result ");

	assert_non_null(at);
	at = strchr(at + strlen("result "), ' ') + 1;
	buf_clear(into);
	buf_adds(into, at);
	return str_trim(buf_str(into));
}

static uint64_t ask(struct pair *p, const char *method, struct str params,
		    size_t step)
{
	struct err err = ERR_INIT;
	uint64_t ticket;

	buf_clear(&p->events);
	assert_int_equal(session_request(p->client, method, params, false,
					 NS_PER_S, &ticket, &err),
			 0);
	converse_both(p, step);
	return ticket;
}

static void check_tools(struct pair *p, const struct mcp_revision *r,
			size_t step)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct mcp_tool_result result;
	struct listing list;
	struct str v;

	listing_init(&list, LISTING_TOOLS);
	ask(p, "tools/list", listing_params(&list), step);
	assert_int_equal(listing_add(&list, last_result(p, &text), &err),
			 LISTING_DONE);
	assert_int_equal(list.n, 1);
	assert_true(scan_get(list.item[0].json, "inputSchema", &v));
	assert_int_equal(scan_get(list.item[0].json, "outputSchema", &v),
			 r->structured != MCP_STRUCTURED_NONE);
	listing_release(&list);

	ask(p, "tools/call",
	    STR("{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}"), step);
	assert_int_equal(
		mcp_read_tool_result(last_result(p, &text), r, &result, &err),
		0);
	assert_int_equal(result.repairs, 0);
	assert_false(result.is_error);
	assert_int_equal(result.structured.p != NULL,
			 r->structured != MCP_STRUCTURED_NONE);
	mcp_tool_result_release(&result);
}

static void play(const char *pin, const struct mcp_revision *r, size_t step)
{
	struct pair p = {
		.client = session_new(&(struct session_options){
			.protocol = pin, .era = SESSION_ERA_PROBE}),
		.back = BUF_INIT(BUF_UNBOUNDED),
		.events = BUF_INIT(BUF_UNBOUNDED),
	};
	bool older = r->era == MCP_ERA_INITIALIZE;

	server_init(&p.server, &info, &echo_tools, server_send_to_buf, &p.back);
	session_start(p.client, NS_PER_S);
	drain(p.client, &p.events);
	converse_both(&p, step);
	assert_int_equal(session_state(p.client), SESSION_READY);
	assert_ptr_equal(session_server(p.client)->revision, r);
	assert_true(str_is(session_server(p.client)->name, "test"));
	assert_true(str_is(session_server(p.client)->instructions, "be kind"));
	assert_true(session_offers(p.client, "tools"));
	assert_false(session_offers(p.client, "resources"));
	assert_int_equal(p.server.state, older ? SERVER_READY : SERVER_ALONE);
	check_tools(&p, r, step);
	ask(&p, "ping", (struct str){NULL, 0}, step);
	assert_int_equal(
		strncmp(buf_cstr(&p.events), older ? "result" : "error", 5), 0);
	ask(&p, "resources/list", (struct str){NULL, 0}, step);
	assert_non_null(strstr(buf_cstr(&p.events), " -32601 "));
	ask(&p, "server/discover", (struct str){NULL, 0}, step);
	assert_int_equal(
		strncmp(buf_cstr(&p.events), older ? "error" : "result", 5), 0);
	assert_int_equal(session_stats(p.client)->oddities, 0);
	session_free(p.client);
	server_release(&p.server);
	buf_release(&p.back);
	buf_release(&p.events);
}

TEST(both_sides, every_revision, understand_each_other)
{
	size_t n;
	const struct mcp_revision *r = mcp_revisions(&n);

	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++)
		for (size_t step = 1; step < 5000; step += 1 + step * 3)
			play(r[i].date, &r[i], step);
}

TEST(both_sides, nothing_pinned, speak_the_newest)
{
	play(NULL, mcp_revision_modern(), 1);
	play(NULL, mcp_revision_modern(), 100000);
}
