/* A server with one tool, which repeats its argument. */
#ifndef TESTS_UNIT_ECHO_SERVER_H
#define TESTS_UNIT_ECHO_SERVER_H

#include <string.h>

#include "core/base/jw.h"
#include "core/server/tools.h"

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
					.capabilities =
						SERVER_TOOLS_CAPABILITIES,
					.methods = server_tools_methods,
					.list_ttl_ms = 3600000,
					.list_scope = "public"};
static const struct tool_env env;
static struct server_tools echo_tools = {tools, &env};

/* Feed all of it in portions of `step` bytes, and end the stream. */
static UNUSED char *converse(const char *in, size_t step)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct server_session s;
	size_t n = strlen(in);

	server_init(&s, &info, &echo_tools, server_send_to_buf, &out);
	for (size_t i = 0; i < n; i += step)
		server_feed(&s,
			    (struct str){in + i, n - i < step ? n - i : step});
	server_end(&s);
	server_release(&s);
	return buf_steal(&out);
}

#endif
