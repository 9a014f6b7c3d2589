/*
 * The server's side in the era where every request stands alone, and both
 * sides of ours joined in memory, in all revisions.
 */
#include <string.h>

#include "tests/unit/test.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/listing.h"
#include "core/mcp/session/session.h"
#include "core/server/server.h"
#include "tests/unit/mcp/session_log.h"

#define KEY(name) "\"io.modelcontextprotocol/" name "\":"
#define META_OF(version)                                 \
	"\"_meta\":{" KEY("protocolVersion") version     \
		"," KEY("clientCapabilities") "{}," KEY( \
			"clientInfo") "{\"name\":\"c\",\"version\":\"1\"}}"
#define META META_OF("\"2026-07-28\"")
#define REQUEST(id, method, params)                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"," \
	"\"params\":{" params "}}\n"
#define ERROR(id, code) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ","
#define SIGNED             \
	"\"_meta\":{" KEY( \
		"serverInfo") "{\"name\":\"test\",\"version\":\"1\"}}}}\n"

static const struct field echo_input[] = {
	{0, FIELD_STRING, true, 0, "text", "what to say"},
	FIELD_END,
};

static const struct field echo_output[] = {
	{0, FIELD_STRING, true, 0, "said", "what was said"},
	FIELD_END,
};

static void echo(struct str args, UNUSED const struct tool_env *env,
		 struct arena *arena, struct tool_result *ret)
{
	const char *text = fields_string(args, "text", arena);
	struct jw w;

	buf_adds(&ret->text, text);
	jw_init(&w, &ret->structured, false);
	jw_object(&w);
	jw_kv_cstr(&w, "said", text);
	jw_end(&w);
}

static const struct tool tools[] = {
	{"echo", "Echo", "repeats", echo_input, echo_output, echo},
	{0},
};

static const struct server_info info = {.name = "test",
					.version = "1",
					.instructions = "be kind",
					.tools = tools};
static const struct tool_env env;

static char *converse(const char *in, size_t step)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct server_session s;
	size_t n = strlen(in);

	server_init(&s, &info, &env);
	for (size_t i = 0; i < n; i += step)
		server_feed(&s,
			    (struct str){in + i, n - i < step ? n - i : step},
			    &out);
	server_end(&s, &out);
	server_release(&s);
	return buf_steal(&out);
}

/* In one piece and byte by byte. */
static void assert_answers(const char *in, const char *answers)
{
	AUTO(mem_freep) char *whole = converse(in, strlen(in));
	AUTO(mem_freep) char *chopped = converse(in, 1);

	assert_string_equal(whole, answers);
	assert_string_equal(chopped, answers);
}

static void assert_starts(const char *in, const char *prefix)
{
	AUTO(mem_freep) char *out = converse(in, 7);

	if (strncmp(out, prefix, strlen(prefix)) != 0)
		fail_msg("%s\ndoes not start with\n%s", out, prefix);
	/* one message, one line */
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
}

TEST(DIS_2, discover, tells_what_there_is)
{
	assert_answers(REQUEST("\"a\"", "server/discover", META),
		       "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{"
		       "\"resultType\":\"complete\",\"supportedVersions\":["
		       "\"2026-07-28\"],\"capabilities\":{\"tools\":{}},"
		       "\"instructions\":\"be kind\",\"ttlMs\":3600000,"
		       "\"cacheScope\":\"public\"," SIGNED);
}

TEST(VER_8, any_request, may_be_the_first)
{
	assert_answers(REQUEST("1", "tools/call",
			       "\"name\":\"echo\",\"arguments\":{\"text\":"
			       "\"hi\"}," META),
		       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
		       "\"resultType\":\"complete\",\"content\":[{\"type\":"
		       "\"text\",\"text\":\"hi\"}],\"structuredContent\":{"
		       "\"said\":\"hi\"},\"isError\":false," SIGNED);
}

TEST(CH_3, list, says_how_long_it_is_good)
{
	AUTO(mem_freep)
	char *out = converse(REQUEST("1", "tools/list", META), 9);

	assert_non_null(strstr(out, "\"resultType\":\"complete\",\"tools\":[{"
				    "\"name\":\"echo\",\"title\":\"Echo\""));
	assert_non_null(strstr(out, "\"outputSchema\""));
	assert_non_null(strstr(out, "}],\"ttlMs\":3600000,\"cacheScope\":"
				    "\"public\"," SIGNED));
}

TEST(VER_7, other_version, is_told_what_there_is)
{
	assert_answers(
		REQUEST("1", "server/discover", META_OF("\"2099-01-01\"")),
		ERROR("1", "-32022") "\"message\":\"unsupported protocol "
				     "version\",\"data\":{\"supported\":["
				     "\"2026-07-28\"],\"requested\":"
				     "\"2099-01-01\"}}}\n");
	/* a date that begins with initialize cannot stand alone */
	assert_starts(REQUEST("1", "tools/list", META_OF("\"2025-11-25\"")),
		      ERROR("1", "-32022"));
	assert_starts(REQUEST("1", "tools/list", META_OF("\"\"")),
		      ERROR("1", "-32022"));
}

TEST(META_1, incomplete_meta, is_invalid_params)
{
	assert_starts(REQUEST("1", "server/discover", ""),
		      ERROR("1", "-32602"));
	assert_starts(REQUEST("1", "tools/list", META_OF("7")),
		      ERROR("1", "-32602"));
	assert_starts(
		REQUEST("1", "tools/list",
			"\"_meta\":{" KEY("protocolVersion") "\"2026-07-28\"}"),
		ERROR("1", "-32602"));
	assert_starts(REQUEST("1", "tools/list",
			      "\"_meta\":{" KEY(
				      "protocolVersion") "\"2026-07-"
							 "28\"," KEY("clientCap"
								     "abilitie"
								     "s") "true"
									  "}"),
		      ERROR("1", "-32602"));
}

TEST(META_1, missing_behind_such_a_request, is_invalid)
{
	AUTO(mem_freep)
	char *out = converse(REQUEST("1", "server/discover", META)
				     REQUEST("2", "tools/list", ""),
			     1);

	assert_non_null(strstr(out, "\n" ERROR("2", "-32602")));
}

TEST(PING_4, methods_of_the_older_era, are_unknown)
{
	static const char *const in[] = {
		REQUEST("1", "ping", META),
		REQUEST("1", "logging/setLevel", "\"level\":\"info\"," META),
		REQUEST("1", "resources/subscribe", "\"uri\":\"a:b\"," META),
		REQUEST("1", "subscriptions/listen",
			"\"notifications\":{}," META),
	};

	for (size_t i = 0; i < ARRAY_LEN(in); i++)
		assert_starts(in[i], ERROR("1", "-32601"));
}

TEST(RPC_3, notifications, are_not_answered)
{
	assert_answers("{\"jsonrpc\":\"2.0\",\"method\":"
		       "\"notifications/cancelled\",\"params\":{"
		       "\"requestId\":1," META "}}\n"
		       "{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\","
		       "\"params\":{" META "}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n",
		       "");
}

TEST(calls, wrong_ones, fail_as_in_the_older_era)
{
	assert_starts(REQUEST("1", "tools/call", "\"name\":\"nope\"," META),
		      ERROR("1", "-32602"));
	assert_starts(REQUEST("1", "tools/list", "\"cursor\":\"x\"," META),
		      ERROR("1", "-32602"));
	assert_starts(REQUEST("1", "tools/call", "\"name\":\"echo\"," META),
		      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
		      "\"resultType\":\"complete\",\"content\":[{\"type\":"
		      "\"text\",\"text\":\"echo: argument text is missing");
}

TEST(eras, initialize_behind_a_probe, begins_the_older)
{
	AUTO(mem_freep)
	char *out = converse(REQUEST("1", "server/discover", META) REQUEST(
				     "2", "initialize",
				     "\"protocolVersion\":\"2025-06-18\"," META)
				     REQUEST("3", "ping", "")
					     REQUEST("4", "tools/list", META),
			     1000);

	assert_non_null(strstr(out, "\"id\":2,\"result\":{\"protocolVersion\":"
				    "\"2025-06-18\""));
	assert_non_null(strstr(out, "\"id\":3,\"result\":{}}\n"));
	/* a request that names its version is of that version all the same */
	assert_non_null(strstr(out, "\"id\":4,\"result\":{\"resultType\":"));
}

/* ---- both sides of ours ---- */

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
			server_feed(&p->server, (struct str){out.p, n},
				    &p->back);
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
	assert_int_equal(session_request(p->client, method, params, NS_PER_S,
					 &ticket, &err),
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

	server_init(&p.server, &info, &env);
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
