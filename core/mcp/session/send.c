#include "core/mcp/session/send.h"

#include <string.h>

#include "core/mcp/session/notice.h"

#define META(name) "io.modelcontextprotocol/" name

/* ---- params ---- */

/* Write the members of the modern era's _meta (META-1, META-2). */
static void write_modern_meta(struct session *s, struct jw *w)
{
	const struct mcp_revision *revision =
		mcp_revision_find(str_of(s->date));

	jw_kv_cstr(w, META("protocolVersion"), s->date);
	jw_kv_object(w, META("clientInfo"));
	jw_kv_cstr(w, "name", s->opt.client_name);
	jw_kv_cstr(w, "version", s->opt.client_version);
	jw_end(w);
	jw_key(w, META("clientCapabilities"));
	mcp_write_declared(w, &s->opt.declared, revision);
	if (s->opt.log_level)
		jw_kv_cstr(w, META("logLevel"), s->opt.log_level);
}

static void write_meta(struct session *s, const struct request *r,
		       struct str given, struct jw *w)
{
	static const char *const ours[] = {META("protocolVersion"),
					   META("clientInfo"),
					   META("clientCapabilities"),
					   META("logLevel"),
					   "progressToken",
					   NULL};
	static const char *const token[] = {"progressToken", NULL};
	bool modern = s->is_modern;
	struct str meta;

	jw_key_raw(w, STR("\"_meta\""));
	jw_object(w);
	if (scan_get_some(given, "_meta", &meta))
		copy_members(w, meta, modern ? ours : token);
	if (modern)
		write_modern_meta(s, w);
	if (r->has_token) {
		jw_key_raw(w, STR("\"progressToken\""));
		jw_uint(w, r->id);
	}
	jw_end(w);
}

/* Write the answers of this round, and the server's state (MR-5). */
static void write_round(const struct request *r, struct jw *w)
{
	if (r->responses.n)
		jw_kv_raw(w, "inputResponses", buf_str(&r->responses));
	if (r->state.n)
		jw_kv_raw(w, "requestState", buf_str(&r->state));
}

/* Copy the params without the members that the session writes itself. */
static void copy_params(struct session *s, const struct request *r,
			struct str given, struct jw *w)
{
	const char *except[5] = {"_meta"};
	size_t n = 1;

	/* tasks/update has inputResponses among its own params */
	if (s->is_modern && !r->parent) {
		except[n++] = "inputResponses";
		except[n++] = "requestState";
	}
	if (r->as_task_dropped)
		except[n++] = "task";
	copy_members(w, given, except);
}

static void write_params(struct session *s, const struct request *r,
			 struct jw *w)
{
	struct str given = r->params.n ? buf_str(&r->params) : STR("{}");

	if (!s->is_modern && !r->has_token) {
		if (r->params.n)
			jw_kv_raw(w, "params", given);
		return;
	}
	jw_kv_object(w, "params");
	copy_params(s, r, given, w);
	write_round(r, w);
	write_meta(s, r, given, w);
	jw_end(w);
}

/* ---- sending ---- */

/* Start the clocks of a request; the total spans all rounds (MR-9). */
static void mark_sent(struct session *s, struct request *r)
{
	bool is_again = r->sent;

	r->sent = true;
	r->parked = false;
	r->due_ns = UINT64_MAX;
	r->deadline_ns = session_ends_ms(s, session_timeout_ms(s, r));
	if (!is_again && !r->is_listen)
		r->total_deadline_ns =
			session_ends_ms(s, session_total_ms(s, r));
	requests_timed(&s->requests, r);
}

/* Do not ask for a task where the server has not declared tasks (TK-1). */
static void drop_task(struct session *s, struct request *r)
{
	if (!r->as_task)
		return;
	if (!s->is_modern && session_offers(s, "tasks.requests.tools.call"))
		return;
	r->as_task = false;
	r->as_task_dropped = true;
}

void send_request(struct session *s, struct request *r)
{
	struct rpc_writer w;

	/* each id goes over the wire once */
	if (r->sent)
		requests_renumber(&s->requests, r, s->next_id++);
	drop_task(s, r);
	if (!session_is_mute(s)) {
		rpc_begin_request(&w, &s->out, r->id, r->method);
		write_params(s, r, &w.jw);
		rpc_end(&w);
	}
	/* only the modern era sends a request twice */
	if (!s->is_modern)
		buf_release(&r->params);
	mark_sent(s, r);
}

struct request *send_own(struct session *s, const char *method, uint64_t parent,
			 struct str params)
{
	struct request *r;

	if (session_is_mute(s))
		return NULL;
	r = requests_add(&s->requests, s->next_id++, s->next_ticket++, method);
	r->parent = parent;
	r->timeout_ms = requests_find_ticket(&s->requests, parent)->timeout_ms;
	buf_add_str(&r->params, params);
	send_request(s, r);
	return r;
}

void send_pending(struct session *s)
{
	/* also for a server that no longer reads: the clocks must run */
	for (struct request *r = s->requests.first; r; r = r->next)
		if (!r->sent)
			send_request(s, r);
}

void send_notification(struct session *s, const char *method, struct str params)
{
	struct rpc_writer w;

	if (session_is_mute(s))
		return;
	rpc_begin_notification(&w, &s->out, method);
	if (params.p)
		jw_kv_raw(&w.jw, "params", params);
	rpc_end(&w);
}

void send_cancelled(struct session *s, const struct request *r,
		    const char *reason)
{
	struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	/* initialize must not be cancelled (INI-4); a parked request has been
	   answered (CAN-4) */
	if (!r->sent || r->parked || r->is_handshake)
		return;
	jw_init(&w, &params, false);
	jw_object(&w);
	jw_key(&w, "requestId");
	jw_uint(&w, r->id);
	if (reason)
		jw_kv_cstr(&w, "reason", reason);
	jw_end(&w);
	send_notification(s, "notifications/cancelled", buf_str(&params));
	buf_release(&params);
}

/* ---- requests of the caller ---- */

/* Prove that a value of the caller is a JSON object, or absent. */
static int check_object(struct str json, const char *what, struct err *err)
{
	struct str v;

	if (!json.p)
		return 0;
	if (json.n > LIMIT_QUEUE_BYTES)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes, at most %d",
			       what, json.n, LIMIT_QUEUE_BYTES);
	if (scan_document(json, NULL, &v, err) < 0)
		return err_wrap(err, "%s", what);
	if (scan_type(v) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "%s: not a JSON object", what);
	return 0;
}

/* Add a request whose params the caller writes; NULL: the session is over. */
static struct request *new_request(struct session *s, const char *method,
				   uint64_t now_ns, struct err *err)
{
	session_hear_time(s, now_ns);
	if (session_is_mute(s)) {
		err_set(err, ERR_PEER,
			"%s: the session with the server is over", method);
		return NULL;
	}
	return requests_add(&s->requests, s->next_id++, s->next_ticket++,
			    method);
}

static void queue_request(struct session *s, struct request *r,
			  uint64_t *ret_ticket)
{
	*ret_ticket = r->ticket;
	if (s->state == SESSION_READY)
		send_request(s, r);
}

/* Append JSON on one line, as a message has to be. */
static void add_on_one_line(struct buf *out, struct str json)
{
	if (memchr(json.p, '\n', json.n) || memchr(json.p, '\r', json.n))
		scan_compact(json, out);
	else
		buf_add_str(out, json);
}

/*
 * Send a tools/call that is never sent again, as send_request() would, but
 * without keeping its params. The message is written as a whole: a writer for
 * each of its tokens would take as long as everything else of a call.
 */
static void send_call_once(struct session *s, struct request *r,
			   const char *tool, struct str arguments)
{
	struct buf *out = &s->out;

	buf_adds(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_addu(out, r->id);
	buf_adds(out, ",\"method\":\"tools/call\",\"params\":{\"name\":");
	jw_quote(out, str_of(tool));
	buf_adds(out, ",\"arguments\":");
	add_on_one_line(out, arguments);
	buf_adds(out, ",\"_meta\":{\"progressToken\":");
	buf_addu(out, r->id);
	buf_adds(out, "}}}\n");
	mark_sent(s, r);
}

static int call_tool(struct session *s, const char *tool, struct str arguments,
		     bool as_task, uint64_t now_ns, uint64_t *ret_ticket,
		     struct err *err)
{
	struct request *r;
	struct jw w;

	if (check_object(arguments, "arguments", err) < 0)
		return -1;
	if (!arguments.p)
		arguments = STR("{}");
	r = new_request(s, "tools/call", now_ns, err);
	if (!r)
		return -1;
	r->has_token = true;
	r->as_task = as_task;
	if (s->state == SESSION_READY && !s->is_modern && !as_task) {
		*ret_ticket = r->ticket;
		send_call_once(s, r, tool, arguments);
		return 0;
	}
	jw_init(&w, &r->params, false);
	jw_object(&w);
	jw_kv_cstr(&w, "name", tool);
	jw_kv_raw(&w, "arguments", arguments);
	if (as_task)
		jw_kv_raw(&w, "task", STR("{}"));
	jw_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}

int session_call_tool(struct session *s, const char *tool, struct str arguments,
		      uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	return call_tool(s, tool, arguments, false, now_ns, ret_ticket, err);
}

int session_call_task(struct session *s, const char *tool, struct str arguments,
		      uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	return call_tool(s, tool, arguments, true, now_ns, ret_ticket, err);
}

int session_request(struct session *s, const char *method, struct str params,
		    uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	struct request *r;

	if (check_object(params, method, err) < 0)
		return -1;
	r = new_request(s, method, now_ns, err);
	if (!r)
		return -1;
	notice_list_asked(s, method);
	if (params.p)
		buf_add_str(&r->params, str_trim(params));
	queue_request(s, r, ret_ticket);
	return 0;
}

int session_listen(struct session *s, struct str filter, uint64_t now_ns,
		   uint64_t *ret_ticket, struct err *err)
{
	struct request *r;
	struct jw w;

	if (check_object(filter, "notifications", err) < 0)
		return -1;
	r = new_request(s, "subscriptions/listen", now_ns, err);
	if (!r)
		return -1;
	r->is_listen = true;
	jw_init(&w, &r->params, false);
	jw_object(&w);
	jw_kv_raw(&w, "notifications", filter.p ? filter : STR("{}"));
	jw_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}
