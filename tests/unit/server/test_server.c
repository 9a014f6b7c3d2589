#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/server/server.h"

/* A server with one tool that repeats its argument. */

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

static const struct server_info info = {
	.name = "test", .version = "1", .instructions = "", .tools = tools};
static const struct tool_env env;

#define INITIALIZE(date)                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","          \
	"\"params\":{\"protocolVersion\":\"" date "\",\"capabilities\":{}," \
	"\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n"
#define INITIALIZED \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define REQUEST(id, method, params)                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"," \
	"\"params\":" params "}\n"
#define ERROR(id, code) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ","

/* Feed all of it in portions of `step` bytes, and end the stream. */
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

/* The answer to everything behind the handshake of 2025-11-25. */
static char *ask(const char *in)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	char *out, *rest;

	buf_addf(&all, "%s%s%s", INITIALIZE("2025-11-25"), INITIALIZED, in);
	out = converse(buf_cstr(&all), all.n);
	rest = mem_strdup(strchr(out, '\n') + 1);
	free(out);
	return rest;
}

static void assert_starts(const char *text, const char *prefix)
{
	if (strncmp(text, prefix, strlen(prefix)) != 0)
		fail_msg("%s\ndoes not start with\n%s", text, prefix);
}

static void assert_ask(const char *in, const char *prefix)
{
	AUTO(mem_freep) char *out = ask(in);

	assert_starts(out, prefix);
	/* one message, one line */
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
}

TEST(initialize, each_revision, is_answered_with_it)
{
	static const char *const in[] = {
		INITIALIZE("2024-11-05"), INITIALIZE("2025-03-26"),
		INITIALIZE("2025-06-18"), INITIALIZE("2025-11-25")};
	static const char *const dates[] = {"2024-11-05", "2025-03-26",
					    "2025-06-18", "2025-11-25"};

	for (size_t i = 0; i < ARRAY_LEN(in); i++) {
		AUTO(mem_freep) char *out = converse(in[i], 1000);
		AUTO(buf_release) struct buf want = BUF_INIT(BUF_UNBOUNDED);

		buf_addf(&want,
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
			 "\"protocolVersion\":\"%s\","
			 "\"capabilities\":{\"tools\":{}},",
			 dates[i]);
		assert_starts(out, buf_cstr(&want));
	}
}

TEST(initialize, unknown_revision, newest_is_offered)
{
	AUTO(mem_freep) char *out = converse(INITIALIZE("2099-01-01"), 1000);

	assert_non_null(strstr(out, "\"protocolVersion\":\"2025-11-25\""));
}

TEST(initialize, without_version, invalid_params)
{
	AUTO(mem_freep)
	char *out = converse(REQUEST("1", "initialize", "{}"), 1000);

	assert_starts(out, ERROR("1", "-32602"));
}

TEST(initialize, twice, second_refused)
{
	assert_ask(INITIALIZE("2025-11-25"), ERROR("1", "-32600"));
}

TEST(request, before_initialize, only_ping_is_served)
{
	AUTO(mem_freep)
	char *out = converse(REQUEST("1", "ping", "{}")
				     REQUEST("2", "tools/list", "{}"),
			     1000);

	assert_starts(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
	assert_starts(strchr(out, '\n') + 1, ERROR("2", "-32600"));
}

TEST(request, between_answer_and_initialized, served)
{
	AUTO(mem_freep)
	char *out = converse(INITIALIZE("2025-11-25")
				     REQUEST("2", "tools/list", "{}"),
			     1000);

	assert_starts(strchr(out, '\n') + 1,
		      "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[");
}

TEST(request, unknown_method, method_not_found)
{
	assert_ask(REQUEST("7", "resources/list", "{}"), ERROR("7", "-32601"));
	assert_ask(REQUEST("\"a\"", "server/discover", "{}"),
		   ERROR("\"a\"", "-32601"));
}

/* A client that probes without saying its version; then it begins anew. */
TEST(discover, without_version, invalid_and_initialize_goes_on)
{
	AUTO(mem_freep)
	char *out = converse(REQUEST("1", "server/discover", "{}")
				     INITIALIZE("2025-11-25"),
			     1000);

	assert_starts(out, ERROR("1", "-32602"));
	assert_non_null(strstr(out, "\"protocolVersion\":\"2025-11-25\""));
}

TEST(request, odd_ids, echoed_as_they_came)
{
	assert_ask(REQUEST("0", "ping", "{}"),
		   "{\"jsonrpc\":\"2.0\",\"id\":0,");
	assert_ask(REQUEST("\"\"", "ping", "{}"),
		   "{\"jsonrpc\":\"2.0\",\"id\":\"\",");
	assert_ask(REQUEST("-9007199254740993", "ping", "{}"),
		   "{\"jsonrpc\":\"2.0\",\"id\":-9007199254740993,");
	assert_ask(REQUEST("1.5", "ping", "{}"), ERROR("1.5", "-32600"));
}

TEST(message, broken, error_and_the_session_goes_on)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"nonsense\n", ERROR("null", "-32700")},
		{"{\"jsonrpc\":\"2.0\",\n", ERROR("null", "-32700")},
		{"\"\xff\"\n", ERROR("null", "-32700")},
		{"42\n", ERROR("null", "-32600")},
		{"{}\n", ERROR("null", "-32600")},
		{"{\"jsonrpc\":\"1.0\",\"id\":3,\"method\":\"ping\"}\n",
		 ERROR("3", "-32600")},
		{"{\"id\":3,\"method\":\"ping\"}\n", ERROR("3", "-32600")},
		{"[]\n", ERROR("null", "-32600")},
		{REQUEST("3", "ping", "[1]"), ERROR("3", "-32602")},
		{REQUEST("3", "tools/list", "{\"cursor\":\"x\"}"),
		 ERROR("3", "-32602")},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
		AUTO(mem_freep) char *out = NULL;

		buf_addf(&in, "%s%s", cases[i].in,
			 REQUEST("\"next\"", "ping", "{}"));
		out = ask(buf_cstr(&in));
		assert_starts(out, cases[i].out);
		assert_string_equal(strchr(out, '\n') + 1,
				    "{\"jsonrpc\":\"2.0\",\"id\":\"next\","
				    "\"result\":{}}\n");
	}
}

TEST(message, too_long, error_and_the_session_goes_on)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
	AUTO(mem_freep) char *out = NULL;
	char *room = buf_room(&in, LIMIT_SERVER_BYTES + 1);

	memset(room, ' ', LIMIT_SERVER_BYTES + 1);
	room[0] = '1';
	in.n += LIMIT_SERVER_BYTES + 1;
	buf_adds(&in, "\n" REQUEST("3", "ping", "{}"));
	out = converse(buf_cstr(&in), 65536);
	assert_starts(out, ERROR("null", "-32600"));
	assert_string_equal(strchr(out, '\n') + 1,
			    "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n");
}

TEST(notification_or_response, any, no_answer)
{
	AUTO(mem_freep)
	char *out = ask("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n"
			"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}\n"
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
			"cancelled\",\"params\":{\"requestId\":1}}\n"
			"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n"
			"{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":1,"
			"\"message\":\"x\"}}\n"
			"\n  \r\n");

	assert_string_equal(out, "");
}

TEST(tools_list, each_revision, has_what_it_knows)
{
	static const struct {
		const char *in;
		bool annotations, structured;
	} cases[] = {
		{INITIALIZE("2024-11-05"), false, false},
		{INITIALIZE("2025-03-26"), true, false},
		{INITIALIZE("2025-06-18"), true, true},
		{INITIALIZE("2025-11-25"), true, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
		AUTO(mem_freep) char *out = NULL;

		buf_addf(&in, "%s%s%s", cases[i].in,
			 REQUEST("2", "tools/list", "{}"),
			 REQUEST("3", "tools/call",
				 "{\"name\":\"echo\",\"arguments\":"
				 "{\"text\":\"x\"}}"));
		out = converse(buf_cstr(&in), 1000);
		assert_int_equal(strstr(out, "readOnlyHint") != NULL,
				 cases[i].annotations);
		assert_int_equal(strstr(out, "outputSchema") != NULL,
				 cases[i].structured);
		assert_int_equal(strstr(out, "structuredContent") != NULL,
				 cases[i].structured);
		assert_non_null(strstr(out, "\"inputSchema\""));
	}
}

TEST(tools_call, right, result)
{
	assert_ask(REQUEST("5", "tools/call",
			   "{\"name\":\"echo\",\"arguments\":{\"text\":"
			   "\"a\\nb\"},\"_meta\":{\"progressToken\":1}}"),
		   "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[{"
		   "\"type\":\"text\",\"text\":\"a\\nb\"}],"
		   "\"structuredContent\":{\"said\":\"a\\nb\"},"
		   "\"isError\":false}}\n");
}

TEST(tools_call, wrong_arguments, is_a_tool_error)
{
	assert_ask(REQUEST("5", "tools/call",
			   "{\"name\":\"echo\",\"arguments\":{\"txt\":1}}"),
		   "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[{"
		   "\"type\":\"text\",\"text\":\"echo: unknown argument txt, "
		   "did you mean text?; it takes text\"}],\"isError\":true}}");
	/* null counts as absent, which is missing here */
	assert_ask(REQUEST("5", "tools/call",
			   "{\"name\":\"echo\",\"arguments\":null}"),
		   "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[{"
		   "\"type\":\"text\",\"text\":\"echo: argument text is "
		   "missing");
}

TEST(tools_call, wrong_request, invalid_params)
{
	assert_ask(REQUEST("5", "tools/call", "{\"name\":\"ehco\"}"),
		   ERROR("5", "-32602") "\"message\":\"unknown tool "
					"\\\"ehco\\\"; known are echo\"");
	assert_ask(REQUEST("5", "tools/call", "{}"), ERROR("5", "-32602"));
	assert_ask(REQUEST("5", "tools/call", "{\"name\":1}"),
		   ERROR("5", "-32602"));
	assert_ask(REQUEST("5", "tools/call",
			   "{\"name\":\"echo\",\"arguments\":[]}"),
		   ERROR("5", "-32602"));
}

TEST(batch, in_2025_03_26, one_array_of_answers)
{
	AUTO(mem_freep)
	char *out = converse(
		INITIALIZE("2025-03-26") INITIALIZED
		"[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},"
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},7,"
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nope\"}]\n"
		"[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]\n"
		"[]\n",
		100000);
	const char *line = strchr(out, '\n') + 1;

	assert_starts(line, "[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}},"
			    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{"
			    "\"code\":-32600,");
	assert_non_null(strstr(line, "},{\"jsonrpc\":\"2.0\",\"id\":3,"
				     "\"error\":{\"code\":-32601,"));
	line = strchr(line, '\n');
	assert_int_equal(line[-1], ']');
	assert_starts(line + 1,
		      ERROR("null",
			    "-32600") "\"message\":\"the batch is empty\"}}\n");
}

TEST(batch, with_initialize, that_element_is_refused)
{
	AUTO(mem_freep)
	char *out = converse(
		INITIALIZE("2025-03-26") "[{\"jsonrpc\":\"2.0\",\"id\":9,"
					 "\"method\":\"initialize\","
					 "\"params\":{\"protocolVersion\":"
					 "\"2025-03-26\"}}]\n",
		100000);

	assert_starts(strchr(out, '\n') + 1,
		      "[" ERROR("9", "-32600") "\"message\":\"initialize must "
					       "not be part of a batch");
}

TEST(batch, in_other_revisions, refused)
{
	assert_ask("[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]\n",
		   ERROR("null", "-32600"));
}

TEST(feed, cut_anywhere, same_answers)
{
	static const char in[] = INITIALIZE("2025-11-25") INITIALIZED
		"garbage\r\n" REQUEST("2", "tools/list", "{}")
			REQUEST("3", "tools/call",
				"{\"name\":\"echo\",\"arguments\":{\"text\":"
				"\"x\"}}") "{\"jsonrpc\":\"2.0\",\"id\":4,"
					   "\"method\":\"ping\"}";
	AUTO(mem_freep) char *whole = converse(in, sizeof(in));

	assert_non_null(strstr(whole, "\"id\":4,\"result\":{}"));
	for (size_t step = 1; step < 200; step++) {
		AUTO(mem_freep) char *out = converse(in, step);

		assert_string_equal(out, whole);
	}
}
