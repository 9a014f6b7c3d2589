#include "core/server/server.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/server/server_inner.h"

static const char *const state_names[] = {
#define STATE(name, meaning) #name,
#include "core/server/states.def"
#undef STATE
};

void server_become(struct server_session *s, enum server_state state)
{
	log_debug("server: %s -> %s", state_names[s->state],
		  state_names[state]);
	s->state = state;
}

/* Does the request stand alone? */
bool server_is_alone(const struct server_exchange *x)
{
	return x->revision && x->revision->era == MCP_ERA_PER_REQUEST;
}

void server_refuse(const struct server_exchange *x, int64_t code,
		   const char *why)
{
	rpc_write_error(x->out, &x->m->id, code, why, (struct str){NULL, 0});
}

/* ---- messages ---- */

static void refuse_method(const struct server_exchange *x)
{
	server_refuse(x, RPC_METHOD_NOT_FOUND,
		      server_is_alone(x)
			      ? "method not found: this server has "
				"server/discover, tools/list and tools/call"
			      : "method not found: this server has initialize, "
				"ping, tools/list and tools/call");
}

/* -32022: which there are, and which it was. */
static void refuse_version(const struct server_exchange *x, struct str version)
{
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &data, false);
	jw_object(&w);
	jw_key(&w, "supported");
	server_write_dates(&w);
	jw_kv_raw(&w, "requested", version);
	jw_end(&w);
	rpc_write_error(x->out, &x->m->id, MCP_UNSUPPORTED_VERSION,
			"unsupported protocol version", buf_str(&data));
}

/* A request that names its own version; what is wrong was answered. */
static bool read_alone(struct server_exchange *x, struct str meta,
		       struct str version)
{
	struct str date = {version.p + 1, version.n - 2}, can;

	if (scan_type(version) != SCAN_STRING) {
		server_refuse(x, RPC_INVALID_PARAMS,
			      "the protocol version in params._meta must be a "
			      "string");
		return false;
	}
	x->revision = mcp_revision_find(date);
	if (!server_is_alone(x)) {
		refuse_version(x, version);
		return false;
	}
	if (!scan_get(meta, META("clientCapabilities"), &can) ||
	    scan_type(can) != SCAN_OBJECT) {
		server_refuse(x, RPC_INVALID_PARAMS,
			      "params._meta must have the object \"" META(
				      "clientCapabilities") "\"");
		return false;
	}
	if (x->s->state == SERVER_NEW)
		server_become(x->s, SERVER_ALONE);
	return true;
}

/* One that does not, where one would have to. */
static bool lacks_version(const struct server_exchange *x)
{
	return x->s->state == SERVER_ALONE ||
	       (x->s->state == SERVER_NEW &&
		scan_is(x->m->method, "server/discover"));
}

/*
 * Which revision a request is of: that of initialize, or the one that it
 * names itself. False: it was answered.
 */
static bool read_revision(struct server_exchange *x)
{
	struct str meta, version;

	x->revision = x->s->revision;
	/* it begins the older era, also behind a probe */
	if (scan_is(x->m->method, "initialize"))
		return true;
	if (scan_get_some(x->m->params, "_meta", &meta) &&
	    scan_get_some(meta, META("protocolVersion"), &version))
		return read_alone(x, meta, version);
	if (!lacks_version(x))
		return true;
	server_refuse(x, RPC_INVALID_PARAMS,
		      "params._meta must name the version: \"" META(
			      "protocolVersion") "\"");
	return false;
}

static void on_request(struct server_exchange *x)
{
	const struct server_method *m;

	if (!read_revision(x))
		return;
	m = server_find_method(x);
	if (!m)
		refuse_method(x);
	else if (m->when == METHOD_BOTH && !x->revision)
		server_refuse(x, RPC_INVALID_REQUEST,
			      "not initialized: send initialize first");
	else if (scan_type(x->m->params) != SCAN_OBJECT)
		server_refuse(x, RPC_INVALID_PARAMS,
			      "params must be an object");
	else
		m->run(x);
}

static void on_notification(struct server_session *s,
			    const struct rpc_message *m)
{
	if (s->state == SERVER_GREETED &&
	    scan_is(m->method, "notifications/initialized"))
		server_become(s, SERVER_READY);
}

static void on_object(struct server_session *s, struct str object,
		      bool in_batch, struct buf *out)
{
	struct rpc_message m;
	struct server_exchange x = {s, &m, out, in_batch, NULL};
	enum rpc_type type = rpc_read(object, &m);

	/* JSON-RPC gives no answer to an answer, however odd it is */
	if (type == RPC_RESULT || type == RPC_ERROR)
		return;
	if (type == RPC_NOTIFICATION)
		on_notification(s, &m);
	else if (type == RPC_INVALID || m.version != RPC_VERSION_OK)
		server_refuse(
			&x, RPC_INVALID_REQUEST,
			"invalid request: an object with \"jsonrpc\":\"2.0\" "
			"and a method is needed");
	else if (m.id.type == RPC_ID_OTHER)
		server_refuse(
			&x, RPC_INVALID_REQUEST,
			"invalid request: an id is a string or an integer");
	else
		on_request(&x);
}

static void refuse_line(struct buf *out, int64_t code, const char *why)
{
	rpc_write_error(out, NULL, code, why, (struct str){NULL, 0});
}

/* Join the answers, one a line, to one array. */
static void write_batch(struct buf *answers, struct buf *out)
{
	if (!answers->n)
		return;
	for (size_t i = 0; i + 1 < answers->n; i++)
		if (answers->p[i] == '\n')
			answers->p[i] = ',';
	buf_addc(out, '[');
	buf_add(out, answers->p, answers->n - 1);
	buf_adds(out, "]\n");
}

static void on_batch(struct server_session *s, struct str array,
		     struct buf *out)
{
	AUTO(buf_release) struct buf answers = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
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
	scan_iter_init(&it, array);
	while (scan_next(&it))
		on_object(s, it.value, true, &answers);
	write_batch(&answers, out);
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
	if (got == FRAME_LINE)
		on_line(s, line, out);
	else if (got == FRAME_OVER)
		refuse_line(out, RPC_INVALID_REQUEST,
			    "the message is longer than 4 MiB");
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
