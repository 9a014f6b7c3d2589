#include "core/server/server.h"

#include <stdio.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/mcp/wire/rpc.h"

/* A member of `_meta` that the protocol has a name for. */
#define META(name) "io.modelcontextprotocol/" name

/* A message and the answer to it. */
struct exchange {
	struct server_session *s;
	const struct rpc_message *m;
	struct buf *out;
	bool in_batch;
	const struct mcp_revision *revision; /* NULL before initialize */
};

/* Era in which a method is served. */
enum method_era {
	METHOD_ALWAYS, /* in the older era */
	METHOD_ALONE,  /* in the newer era */
	METHOD_BOTH,   /* behind initialize, or alone */
};

struct method {
	const char *name;
	enum method_era when;
	void (*run)(const struct exchange *x);
};

static const char *const state_names[] = {
#define STATE(name, meaning) #name,
#include "core/server/states.def"
#undef STATE
};

/* Set the state; nothing else does. */
static void become(struct server_session *s, enum server_state state)
{
	log_debug("server: %s -> %s", state_names[s->state],
		  state_names[state]);
	s->state = state;
}

/* Report whether a request stands alone, with a version of its own. */
static bool is_alone(const struct exchange *x)
{
	return x->revision && x->revision->era == MCP_ERA_PER_REQUEST;
}

static void refuse(const struct exchange *x, int64_t code, const char *why)
{
	rpc_write_error(x->out, &x->m->id, code, why, (struct str){NULL, 0});
}

/* ISO dates compare as text. */
static bool since(const struct mcp_revision *r, const char *date)
{
	return strcmp(r->date, date) >= 0;
}

/* ---- results ---- */

/* Begin a result whose members the caller writes. */
static void begin_result(const struct exchange *x, struct rpc_writer *w)
{
	rpc_begin_result(w, x->out, &x->m->id);
	jw_object(&w->jw);
	if (is_alone(x))
		jw_kv_cstr(&w->jw, "resultType", "complete");
}

/* is_list: the same for every client, as long as the program runs */
static void end_result(const struct exchange *x, struct rpc_writer *w,
		       bool is_list)
{
	if (is_alone(x) && is_list) {
		jw_kv_int(&w->jw, "ttlMs", SERVER_TTL_MS);
		jw_kv_cstr(&w->jw, "cacheScope", "public");
	}
	if (is_alone(x)) {
		jw_kv_object(&w->jw, "_meta");
		jw_kv_object(&w->jw, META("serverInfo"));
		jw_kv_cstr(&w->jw, "name", x->s->info->name);
		jw_kv_cstr(&w->jw, "version", x->s->info->version);
		jw_end(&w->jw);
		jw_end(&w->jw);
	}
	jw_end(&w->jw);
	rpc_end(w);
}

/* The revisions in which a request may stand alone. */
static void write_dates(struct jw *w)
{
	size_t n;
	const struct mcp_revision *r = mcp_revisions(&n);

	jw_array(w);
	for (size_t i = 0; i < n; i++)
		if (r[i].era == MCP_ERA_PER_REQUEST)
			jw_cstr(w, r[i].date);
	jw_end(w);
}

/* ---- methods ---- */

static void on_discover(const struct exchange *x)
{
	struct rpc_writer w;

	begin_result(x, &w);
	jw_key(&w.jw, "supportedVersions");
	write_dates(&w.jw);
	jw_kv_raw(&w.jw, "capabilities", STR("{\"tools\":{}}"));
	if (x->s->info->instructions[0])
		jw_kv_cstr(&w.jw, "instructions", x->s->info->instructions);
	end_result(x, &w, true);
}

static void on_ping(const struct exchange *x)
{
	rpc_write_result(x->out, &x->m->id, STR("{}"));
}

static void on_initialize(const struct exchange *x)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct server_session *s = x->s;
	struct mcp_peer asked;
	struct mcp_peer answer = {
		.capabilities = STR("{\"tools\":{}}"),
		.name = str_of(s->info->name),
		.version = str_of(s->info->version),
		.instructions = str_of(s->info->instructions),
	};
	struct err err = ERR_INIT;
	struct rpc_writer w;

	if (x->in_batch) {
		refuse(x, RPC_INVALID_REQUEST,
		       "initialize must not be part of a batch");
		return;
	}
	if (s->state != SERVER_NEW && s->state != SERVER_ALONE) {
		refuse(x, RPC_INVALID_REQUEST,
		       "the session is initialized already");
		return;
	}
	if (mcp_read_initialize(x->m->params, &arena, &asked, &err) < 0) {
		refuse(x, RPC_INVALID_PARAMS, err.msg);
		return;
	}
	s->revision = mcp_revision_find(asked.protocol);
	if (!s->revision || s->revision->era != MCP_ERA_INITIALIZE)
		s->revision = mcp_revision_newest();
	answer.protocol = str_of(s->revision->date);
	rpc_begin_result(&w, x->out, &x->m->id);
	mcp_write_peer(&w.jw, &answer, "serverInfo");
	rpc_end(&w);
	become(s, SERVER_GREETED);
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
		jw_kv_object(w, "annotations");
		jw_kv_cstr(w, "title", t->title);
		jw_kv_bool(w, "readOnlyHint", true);
		jw_kv_bool(w, "destructiveHint", false);
		jw_kv_bool(w, "idempotentHint", true);
		jw_kv_bool(w, "openWorldHint", false);
		jw_end(w);
	}
	jw_end(w);
}

static void on_tools_list(const struct exchange *x)
{
	struct rpc_writer w;
	struct str cursor;

	if (scan_get_some(x->m->params, "cursor", &cursor)) {
		refuse(x, RPC_INVALID_PARAMS,
		       "unknown cursor: the list has one page");
		return;
	}
	begin_result(x, &w);
	jw_kv_array(&w.jw, "tools");
	for (const struct tool *t = x->s->info->tools; t->name; t++)
		write_tool(x->revision, t, &w.jw);
	jw_end(&w.jw);
	end_result(x, &w, true);
}

static void on_tools_call(const struct exchange *x)
{
	const struct tool *t = x->s->info->tools;
	bool structured = x->revision->structured != MCP_STRUCTURED_NONE;
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	AUTO(tool_result_release) struct tool_result result;
	struct rpc_writer w;
	struct str name, args;

	tool_result_init(&result);
	if (!scan_get(x->m->params, "name", &name) ||
	    scan_type(name) != SCAN_STRING) {
		refuse(x, RPC_INVALID_PARAMS,
		       "params.name must be the name of a tool");
		return;
	}
	/* Name every tool: they are few, so the nearest is among them. The name
	   as JSON text: its quotes and escapes make it safe. */
	buf_addf(&why, "unknown tool %.*s; known are ",
		 (int)(name.n < 80 ? name.n : 80), name.p);
	for (; t->name && !scan_is(name, t->name); t++)
		buf_addf(&why, "%s%s", t == x->s->info->tools ? "" : ", ",
			 t->name);
	if (!t->name) {
		refuse(x, RPC_INVALID_PARAMS, buf_cstr(&why));
		return;
	}
	if (!scan_get_some(x->m->params, "arguments", &args))
		args = STR("{}");
	if (scan_type(args) != SCAN_OBJECT) {
		refuse(x, RPC_INVALID_PARAMS,
		       "params.arguments must be an object");
		return;
	}
	tool_call(t, args, x->s->env, &result);
	begin_result(x, &w);
	tool_result_write(&result, structured, &w.jw);
	end_result(x, &w, false);
}

/* ---- table of methods ---- */

static const struct method methods[] = {
	{"initialize", METHOD_ALWAYS, on_initialize},
	{"ping", METHOD_ALWAYS, on_ping},
	{"server/discover", METHOD_ALONE, on_discover},
	{"tools/list", METHOD_BOTH, on_tools_list},
	{"tools/call", METHOD_BOTH, on_tools_call},
};

/* ---- messages ---- */

/* Error -32022: the versions supported, and the one asked for. */
static void refuse_version(const struct exchange *x, struct str version)
{
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&data);

	jw_key(&w, "supported");
	write_dates(&w);
	jw_kv_raw(&w, "requested", version);
	jw_end(&w);
	rpc_write_error(x->out, &x->m->id, MCP_UNSUPPORTED_VERSION,
			"unsupported protocol version", buf_str(&data));
}

/* Read a request that names its own version. False: an error was answered. */
static bool read_own_version(struct exchange *x, struct str meta,
			     struct str version)
{
	struct str can;

	if (scan_type(version) != SCAN_STRING) {
		refuse(x, RPC_INVALID_PARAMS,
		       "the protocol version in params._meta must be a "
		       "string");
		return false;
	}
	/* the string without its quotes */
	x->revision =
		mcp_revision_find((struct str){version.p + 1, version.n - 2});
	if (!is_alone(x)) {
		refuse_version(x, version);
		return false;
	}
	if (!scan_get(meta, META("clientCapabilities"), &can) ||
	    scan_type(can) != SCAN_OBJECT) {
		refuse(x, RPC_INVALID_PARAMS,
		       "params._meta must have the object \"" META(
			       "clientCapabilities") "\"");
		return false;
	}
	if (x->s->state == SERVER_NEW)
		become(x->s, SERVER_ALONE);
	return true;
}

/*
 * Find the revision of a request: that of initialize, or the one that it names
 * itself. False: an error was answered.
 */
static bool read_revision(struct exchange *x)
{
	struct str meta, version;

	x->revision = x->s->revision;
	/* initialize begins the older era, also behind a probe */
	if (scan_is(x->m->method, "initialize"))
		return true;
	if (scan_get_some(x->m->params, "_meta", &meta) &&
	    scan_get_some(meta, META("protocolVersion"), &version))
		return read_own_version(x, meta, version);
	if (x->s->state != SERVER_ALONE &&
	    (x->s->state != SERVER_NEW ||
	     !scan_is(x->m->method, "server/discover")))
		return true;
	refuse(x, RPC_INVALID_PARAMS,
	       "params._meta must name the version: \"" META(
		       "protocolVersion") "\"");
	return false;
}

static void on_request(struct exchange *x)
{
	const struct method *m = NULL;

	if (!read_revision(x))
		return;
	for (size_t i = 0; !m && i < ARRAY_LEN(methods); i++)
		if (scan_is(x->m->method, methods[i].name) &&
		    (methods[i].when == METHOD_BOTH ||
		     (methods[i].when == METHOD_ALONE) == is_alone(x)))
			m = &methods[i];
	if (!m)
		refuse(x, RPC_METHOD_NOT_FOUND,
		       is_alone(x) ? "method not found: this server has "
				     "server/discover, tools/list and "
				     "tools/call"
				   : "method not found: this server has "
				     "initialize, ping, tools/list and "
				     "tools/call");
	else if (m->when == METHOD_BOTH && !x->revision)
		refuse(x, RPC_INVALID_REQUEST,
		       "not initialized: send initialize first");
	else if (scan_type(x->m->params) != SCAN_OBJECT)
		refuse(x, RPC_INVALID_PARAMS, "params must be an object");
	else
		m->run(x);
}

static void on_object(struct server_session *s, struct str object,
		      bool in_batch, struct buf *out)
{
	struct rpc_message m;
	struct exchange x = {s, &m, out, in_batch, NULL};
	enum rpc_type type = rpc_read(object, &m);

	/* JSON-RPC gives no answer to an answer, however odd it is */
	if (type == RPC_RESULT || type == RPC_ERROR)
		return;
	if (type == RPC_NOTIFICATION) {
		if (s->state == SERVER_GREETED &&
		    scan_is(m.method, "notifications/initialized"))
			become(s, SERVER_READY);
	} else if (type == RPC_INVALID || m.version != RPC_VERSION_OK) {
		refuse(&x, RPC_INVALID_REQUEST,
		       "invalid request: an object with \"jsonrpc\":\"2.0\" "
		       "and a method is needed");
	} else if (m.id.type == RPC_ID_OTHER) {
		refuse(&x, RPC_INVALID_REQUEST,
		       "invalid request: an id is a string or an integer");
	} else {
		on_request(&x);
	}
}

static void refuse_line(struct buf *out, int64_t code, const char *why)
{
	rpc_write_error(out, NULL, code, why, (struct str){NULL, 0});
}

static void on_batch(struct server_session *s, struct str array,
		     struct buf *out)
{
	AUTO(buf_release) struct buf answers = BUF_INIT(BUF_UNBOUNDED);
	size_t n = scan_count(array);

	if (!s->revision || strcmp(s->revision->date, "2025-03-26") != 0) {
		refuse_line(out, RPC_INVALID_REQUEST,
			    "batches belong to revision 2025-03-26 only");
		return;
	}
	if (!n || n > LIMIT_SERVER_BATCH) {
		refuse_line(out, RPC_INVALID_REQUEST,
			    n ? "the batch has too many messages"
			      : "the batch is empty");
		return;
	}
	for (struct scan_iter it = scan_over(array); scan_next(&it);)
		on_object(s, it.value, true, &answers);
	if (!answers.n)
		return;
	/* join the answers, one a line, to one array */
	for (size_t i = 0; i + 1 < answers.n; i++)
		if (answers.p[i] == '\n')
			answers.p[i] = ',';
	buf_addc(out, '[');
	buf_add(out, answers.p, answers.n - 1);
	buf_adds(out, "]\n");
}

static void on_line(struct server_session *s, struct str line, struct buf *out)
{
	struct err err = ERR_INIT;
	struct str value;

	if (scan_document(line, NULL, &value, &err) < 0) {
		err_wrap(&err, "parse error");
		refuse_line(out, RPC_PARSE_ERROR, err.msg);
		return;
	}
	if (scan_type(value) == SCAN_ARRAY)
		on_batch(s, value, out);
	else
		on_object(s, value, false, out);
}

static void on_frame(struct server_session *s, enum frame_result got,
		     struct str line, struct buf *out)
{
	char why[64];

	if (got == FRAME_LINE)
		on_line(s, line, out);
	if (got != FRAME_OVER)
		return;
	snprintf(why, sizeof(why), "the message is longer than %d MiB",
		 LIMIT_SERVER_BYTES / (1024 * 1024));
	refuse_line(out, RPC_INVALID_REQUEST, why);
}

void server_init(struct server_session *s, const struct server_info *info,
		 const struct tool_env *env)
{
	*s = (struct server_session){.info = info, .env = env};
	frame_init(&s->in, LIMIT_SERVER_BYTES);
}

void server_release(struct server_session *s)
{
	frame_release(&s->in);
}

void server_feed(struct server_session *s, struct str in, struct buf *out)
{
	enum frame_result got;
	struct str line = {NULL, 0};

	frame_add(&s->in, in);
	while ((got = frame_next(&s->in, &line)) != FRAME_NONE)
		on_frame(s, got, line, out);
}

void server_end(struct server_session *s, struct buf *out)
{
	struct str line = {NULL, 0};
	enum frame_result got = frame_rest(&s->in, &line);

	on_frame(s, got, line, out);
}
