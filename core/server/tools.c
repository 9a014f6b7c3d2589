#include "core/server/tools.h"

#include "core/base/scan.h"

void server_write_annotations(struct server_call *c, struct jw *w,
			      const char *title, bool is_read_only)
{
	if (!server_is_since(c, "2025-03-26"))
		return;
	jw_kv_object(w, "annotations");
	jw_kv_cstr(w, "title", title);
	jw_kv_bool(w, "readOnlyHint", is_read_only);
	if (is_read_only) {
		jw_kv_bool(w, "destructiveHint", false);
		jw_kv_bool(w, "idempotentHint", true);
		jw_kv_bool(w, "openWorldHint", false);
	}
	jw_end(w);
}

static void write_tool(struct server_call *c, const struct tool *t,
		       struct jw *w)
{
	jw_object(w);
	jw_kv_cstr(w, "name", t->name);
	if (server_is_since(c, "2025-06-18"))
		jw_kv_cstr(w, "title", t->title);
	jw_kv_cstr(w, "description", t->description);
	jw_key(w, "inputSchema");
	fields_schema(t->input, w);
	if (c->revision->structured != MCP_STRUCTURED_NONE) {
		jw_key(w, "outputSchema");
		fields_schema(t->output, w);
	}
	server_write_annotations(c, w, t->title, true);
	jw_end(w);
}

static void on_list(struct server_call *c)
{
	const struct server_tools *all = c->s->arg;
	struct jw *w;

	if (!server_read_page(c))
		return;
	w = server_begin(c);
	jw_kv_array(w, "tools");
	for (const struct tool *t = all->tools; t->name; t++)
		write_tool(c, t, w);
	jw_end(w);
	server_finish(c, true);
}

static void on_call(struct server_call *c)
{
	const struct server_tools *all = c->s->arg;
	const struct tool *t = all->tools;
	bool structured = c->revision->structured != MCP_STRUCTURED_NONE;
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	AUTO(tool_result_release) struct tool_result result;
	struct str name, args;

	tool_result_init(&result);
	if (!server_read_tool(c, &name, &args))
		return;
	/* Name every tool: they are few, so the nearest is among them. The name
	   as JSON text: its quotes and escapes make it safe. */
	buf_addf(&why, "unknown tool %.*s; known are ",
		 (int)(name.n < 80 ? name.n : 80), name.p);
	for (; t->name && !scan_is(name, t->name); t++)
		buf_addf(&why, "%s%s", t == all->tools ? "" : ", ", t->name);
	if (!t->name) {
		server_refuse(c, RPC_INVALID_PARAMS, buf_cstr(&why));
		return;
	}
	tool_call(t, args, all->env, &result);
	tool_result_write(&result, structured, server_begin(c));
	server_finish(c, false);
}

const struct server_method server_tools_methods[] = {
	{"tools/list", SERVER_ALWAYS, on_list},
	{"tools/call", SERVER_ALWAYS, on_call},
	{0},
};
