/* The methods, and what each answers. */
#include <string.h>

#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/server/server_inner.h"

/* ISO dates compare as text. */
static bool since(const struct mcp_revision *r, const char *date)
{
	return strcmp(r->date, date) >= 0;
}

/* ---- results ---- */

/* Begin a result whose members the caller writes. */
static void begin_result(const struct server_exchange *x, struct rpc_writer *w)
{
	rpc_begin_result(w, x->out, &x->m->id);
	jw_object(&w->jw);
	if (server_is_alone(x))
		jw_kv_cstr(&w->jw, "resultType", "complete");
}

/* It is the same for everybody, as long as the program runs. */
static void write_cache_hints(const struct server_exchange *x, struct jw *w)
{
	if (!server_is_alone(x))
		return;
	jw_key(w, "ttlMs");
	jw_uint(w, SERVER_TTL_MS);
	jw_kv_cstr(w, "cacheScope", "public");
}

static void end_result(const struct server_exchange *x, struct rpc_writer *w)
{
	if (server_is_alone(x)) {
		jw_key(&w->jw, "_meta");
		jw_object(&w->jw);
		jw_key(&w->jw, META("serverInfo"));
		jw_object(&w->jw);
		jw_kv_cstr(&w->jw, "name", x->s->info->name);
		jw_kv_cstr(&w->jw, "version", x->s->info->version);
		jw_end(&w->jw);
		jw_end(&w->jw);
	}
	jw_end(&w->jw);
	rpc_end(w);
}

/* The revisions in which a request may stand alone. */
void server_write_dates(struct jw *w)
{
	size_t n;
	const struct mcp_revision *r = mcp_revisions(&n);

	jw_array(w);
	for (size_t i = 0; i < n; i++)
		if (r[i].era == MCP_ERA_PER_REQUEST)
			jw_cstr(w, r[i].date);
	jw_end(w);
}

/* ---- one by one ---- */

static void on_discover(const struct server_exchange *x)
{
	struct rpc_writer w;

	begin_result(x, &w);
	jw_key(&w.jw, "supportedVersions");
	server_write_dates(&w.jw);
	jw_kv_raw(&w.jw, "capabilities", STR("{\"tools\":{}}"));
	if (x->s->info->instructions[0])
		jw_kv_cstr(&w.jw, "instructions", x->s->info->instructions);
	write_cache_hints(x, &w.jw);
	end_result(x, &w);
}

static void on_ping(const struct server_exchange *x)
{
	rpc_write_result(x->out, &x->m->id, STR("{}"));
}

static void on_initialize(const struct server_exchange *x)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct server_session *s = x->s;
	struct mcp_initialize asked;
	struct mcp_initialize_result answer = {
		.capabilities = STR("{\"tools\":{}}"),
		.name = str_of(s->info->name),
		.version = str_of(s->info->version),
		.instructions = str_of(s->info->instructions),
	};
	struct err err = ERR_INIT;
	struct rpc_writer w;

	if (x->in_batch) {
		server_refuse(x, RPC_INVALID_REQUEST,
			      "initialize must not be part of a batch");
		return;
	}
	if (s->state != SERVER_NEW && s->state != SERVER_ALONE) {
		server_refuse(x, RPC_INVALID_REQUEST,
			      "the session is initialized already");
		return;
	}
	if (mcp_read_initialize(x->m->params, &arena, &asked, &err) < 0) {
		server_refuse(x, RPC_INVALID_PARAMS, err.msg);
		return;
	}
	s->revision = mcp_revision_find(asked.protocol);
	if (!s->revision || s->revision->era != MCP_ERA_INITIALIZE)
		s->revision = mcp_revision_newest();
	answer.protocol = str_of(s->revision->date);
	rpc_begin_result(&w, x->out, &x->m->id);
	mcp_write_initialize_result(&w.jw, &answer);
	rpc_end(&w);
	server_become(s, SERVER_GREETED);
}

static void write_tool(const struct mcp_revision *r, const struct tool *t,
		       struct jw *w)
{
	jw_object(w);
	jw_kv_cstr(w, "name", t->name);
	if (since(r, "2025-06-18"))
		jw_kv_cstr(w, "title", t->title);
	jw_kv_cstr(w, "description", t->description);
	jw_key(w, "inputSchema");
	fields_schema(t->input, w);
	if (r->structured != MCP_STRUCTURED_NONE) {
		jw_key(w, "outputSchema");
		fields_schema(t->output, w);
	}
	if (since(r, "2025-03-26")) {
		jw_key(w, "annotations");
		jw_object(w);
		jw_kv_cstr(w, "title", t->title);
		jw_kv_bool(w, "readOnlyHint", true);
		jw_kv_bool(w, "destructiveHint", false);
		jw_kv_bool(w, "idempotentHint", true);
		jw_kv_bool(w, "openWorldHint", false);
		jw_end(w);
	}
	jw_end(w);
}

static void on_tools_list(const struct server_exchange *x)
{
	struct rpc_writer w;
	struct str cursor;

	if (scan_get_some(x->m->params, "cursor", &cursor)) {
		server_refuse(x, RPC_INVALID_PARAMS,
			      "unknown cursor: the list has one page");
		return;
	}
	begin_result(x, &w);
	jw_key(&w.jw, "tools");
	jw_array(&w.jw);
	for (const struct tool *t = x->s->info->tools; t->name; t++)
		write_tool(x->revision, t, &w.jw);
	jw_end(&w.jw);
	write_cache_hints(x, &w.jw);
	end_result(x, &w);
}

static const struct tool *find_tool(const struct server_session *s,
				    struct str name)
{
	for (const struct tool *t = s->info->tools; t->name; t++)
		if (scan_is(name, t->name))
			return t;
	return NULL;
}

/* Says which tools there are: few, so the nearest is among them. */
static void refuse_tool(const struct server_exchange *x, struct str name)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);

	/* the name as JSON text: its quotes and escapes make it safe */
	buf_addf(&why, "unknown tool %.*s; there are ",
		 (int)(name.n < 80 ? name.n : 80), name.p);
	for (const struct tool *t = x->s->info->tools; t->name; t++)
		buf_addf(&why, "%s%s", t == x->s->info->tools ? "" : ", ",
			 t->name);
	server_refuse(x, RPC_INVALID_PARAMS, buf_cstr(&why));
}

static void call(const struct server_exchange *x, const struct tool *t,
		 struct str args)
{
	bool structured = x->revision->structured != MCP_STRUCTURED_NONE;
	AUTO(tool_result_release) struct tool_result result;
	struct rpc_writer w;

	tool_result_init(&result);
	tool_call(t, args, x->s->env, &result);
	begin_result(x, &w);
	tool_result_members(&result, structured, &w.jw);
	end_result(x, &w);
}

static void on_tools_call(const struct server_exchange *x)
{
	const struct tool *t;
	struct str name, args;

	if (!scan_get(x->m->params, "name", &name) ||
	    scan_type(name) != SCAN_STRING) {
		server_refuse(x, RPC_INVALID_PARAMS,
			      "params.name must be the name of a tool");
		return;
	}
	t = find_tool(x->s, name);
	if (!t) {
		refuse_tool(x, name);
		return;
	}
	if (!scan_get_some(x->m->params, "arguments", &args))
		args = STR("{}");
	if (scan_type(args) != SCAN_OBJECT) {
		server_refuse(x, RPC_INVALID_PARAMS,
			      "params.arguments must be an object");
		return;
	}
	call(x, t, args);
}

/* ---- which there are ---- */

static const struct server_method methods[] = {
	{"initialize", METHOD_ALWAYS, on_initialize},
	{"ping", METHOD_ALWAYS, on_ping},
	{"server/discover", METHOD_ALONE, on_discover},
	{"tools/list", METHOD_BOTH, on_tools_list},
	{"tools/call", METHOD_BOTH, on_tools_call},
};

const struct server_method *server_find_method(const struct server_exchange *x)
{
	bool alone = server_is_alone(x);

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (scan_is(x->m->method, methods[i].name) &&
		    (methods[i].when == METHOD_BOTH ||
		     (methods[i].when == METHOD_ALONE) == alone))
			return &methods[i];
	return NULL;
}
