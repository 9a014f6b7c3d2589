/*
 * The server's side of a session, fed in two portions: the first byte says
 * where it is cut. Whatever comes in, what goes out is JSON, one value a line.
 */
#include "core/base/scan.h"
#include "core/server/tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct field input[] = {
	{0, FIELD_STRING, false, 0, "text", "text"},
	{0, FIELD_DATE, false, 0, "day", "day"},
	{0, FIELD_STRINGS, false, 4, "list", "list"},
	{0, FIELD_OBJECTS, false, 4, "items", "items"},
	{1, FIELD_INTEGER, true, 0, "n", "n"},
	FIELD_END,
};

static const struct field output[] = {FIELD_END};

static void echo(struct str args, UNUSED const struct tool_env *env,
		 struct arena *arena, struct tool_result *ret)
{
	const char *text = fields_string(args, "text", arena);
	struct strlist list = fields_strings(args, "list", arena);

	buf_adds(&ret->text, text ? text : "");
	for (size_t i = 0; i < list.n; i++)
		buf_adds(&ret->text, list.item[i]);
}

static const struct tool tools[] = {
	{"echo", "Echo", "repeats", input, output, echo},
	{0},
};

static void check_lines(struct str out)
{
	struct err err = ERR_INIT;
	struct str value;

	while (out.n)
		if (scan_document(str_cut(&out, '\n'), NULL, &value, &err) < 0)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct server_info info = {.name = "fuzz",
						.version = "1",
						.instructions = "",
						.capabilities = "{}",
						.methods = server_tools_methods,
						.list_scope = "public"};
	static const struct tool_env env;
	static struct server_tools all = {tools, &env};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct server_session s;
	const char *bytes = (const char *)data + 1;
	size_t cut;

	if (!size)
		return 0;
	size--;
	cut = size * data[0] / 256;
	server_init(&s, &info, &all, server_send_to_buf, &out);
	server_feed(&s, (struct str){bytes, cut});
	server_feed(&s, (struct str){bytes + cut, size - cut});
	server_end(&s);
	server_release(&s);
	check_lines(buf_str(&out));
	return 0;
}
