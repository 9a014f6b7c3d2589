/*
 * Requests and notifications of ours: built when they are sent, because what
 * stands in them depends on the revision that is spoken by then.
 */
#include <string.h>

#include "core/base/mem.h"
#include "core/mcp/session/session_inner.h"

#define META(name) "io.modelcontextprotocol/" name

/* ---- params ---- */

/* Members of the era in which every request stands alone (META-1, META-2). */
static void write_modern_meta(struct session *s, struct jw *w)
{
	const struct mcp_revision *revision =
		mcp_revision_find(str_of(s->date));

	jw_kv_cstr(w, META("protocolVersion"), s->date);
	jw_key(w, META("clientInfo"));
	jw_object(w);
	jw_kv_cstr(w, "name", s->opt.client_name);
	jw_kv_cstr(w, "version", s->opt.client_version);
	jw_end(w);
	jw_key(w, META("clientCapabilities"));
	mcp_write_declared(w, &s->opt.declared, revision);
	if (s->opt.log_level)
		jw_kv_cstr(w, META("logLevel"), s->opt.log_level);
}

void session_copy_members(struct jw *w, struct str object,
			  const char *const *except)
{
	struct scan_iter it;

	scan_iter_init(&it, object);
	while (scan_next(&it)) {
		bool is_ours = false;

		for (size_t i = 0; except[i]; i++)
			is_ours |= scan_is(it.key, except[i]);
		if (is_ours)
			continue;
		jw_key_raw(w, it.key);
		jw_raw(w, it.value);
	}
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
	bool modern = session_is_modern(s);
	struct str meta;

	jw_key_raw(w, STR("\"_meta\""));
	jw_object(w);
	if (scan_get_some(given, "_meta", &meta))
		session_copy_members(w, meta, modern ? ours : token);
	if (modern)
		write_modern_meta(s, w);
	if (r->has_token) {
		jw_key_raw(w, STR("\"progressToken\""));
		jw_uint(w, r->id);
	}
	jw_end(w);
}

/* Answers to what was asked, and the server's own words (MR-5). */
static void write_round(const struct request *r, struct jw *w)
{
	if (r->responses.n)
		jw_kv_raw(w, "inputResponses", buf_str(&r->responses));
	if (r->state.n)
		jw_kv_raw(w, "requestState", buf_str(&r->state));
}

/* The params but for what is ours to write. */
static void copy_params(struct session *s, const struct request *r,
			struct str given, struct jw *w)
{
	const char *except[5] = {"_meta"};
	size_t n = 1;

	/* what tasks/update carries is its own */
	if (session_is_modern(s) && !r->parent) {
		except[n++] = "inputResponses";
		except[n++] = "requestState";
	}
	if (r->as_task_dropped)
		except[n++] = "task";
	session_copy_members(w, given, except);
}

static void write_params(struct session *s, const struct request *r,
			 struct jw *w)
{
	struct str given = r->params.n ? buf_str(&r->params) : STR("{}");

	if (!session_is_modern(s) && !r->has_token) {
		if (r->params.n)
			jw_kv_raw(w, "params", given);
		return;
	}
	jw_key(w, "params");
	jw_object(w);
	copy_params(s, r, given, w);
	write_round(r, w);
	write_meta(s, r, given, w);
	jw_end(w);
}

/* ---- sending ---- */

/* Its time runs from here; the total spans all rounds (MR-9). */
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

/* Only where the server has declared that it can (TK-1). */
static void drop_task(struct session *s, struct request *r)
{
	if (!r->as_task)
		return;
	if (!session_is_modern(s) &&
	    session_offers(s, "tasks.requests.tools.call"))
		return;
	r->as_task = false;
	r->as_task_dropped = true;
}

void session_send(struct session *s, struct request *r)
{
	struct rpc_writer w;

	/* an id that was on the wire is used up */
	if (r->sent)
		requests_renumber(&s->requests, r, s->next_id++);
	drop_task(s, r);
	if (!session_is_mute(s)) {
		rpc_begin_request(&w, &s->out, r->id, r->method);
		write_params(s, r, &w.jw);
		rpc_end(&w);
	}
	/* only the other era sends a request twice */
	if (!session_is_modern(s))
		buf_release(&r->params);
	mark_sent(s, r);
}

struct request *session_send_own(struct session *s, const char *method,
				 uint64_t parent, struct str params)
{
	struct request *r;

	if (session_is_mute(s))
		return NULL;
	r = requests_add(&s->requests, s->next_id++, s->next_ticket++, method);
	r->parent = parent;
	r->timeout_ms = requests_find_ticket(&s->requests, parent)->timeout_ms;
	buf_add_str(&r->params, params);
	session_send(s, r);
	return r;
}

void session_send_pending(struct session *s)
{
	/* also to a server that no longer reads: their time must run */
	for (struct request *r = s->requests.first; r; r = r->next)
		if (!r->sent)
			session_send(s, r);
}

void session_send_initialized(struct session *s)
{
	struct rpc_writer w;

	if (session_is_mute(s))
		return;
	rpc_begin_notification(&w, &s->out, "notifications/initialized");
	rpc_end(&w);
}

void session_send_cancelled(struct session *s, const struct request *r,
			    const char *reason)
{
	struct rpc_writer w;

	/* initialize must not be cancelled (INI-4); what is parked has been
	   answered (CAN-4) */
	if (session_is_mute(s) || !r->sent || r->parked || r->is_handshake)
		return;
	rpc_begin_notification(&w, &s->out, "notifications/cancelled");
	jw_key(&w.jw, "params");
	jw_object(&w.jw);
	jw_key(&w.jw, "requestId");
	jw_uint(&w.jw, r->id);
	if (reason)
		jw_kv_cstr(&w.jw, "reason", reason);
	jw_end(&w.jw);
	rpc_end(&w);
}

/* ---- requests of the caller ---- */

/* A JSON object, or nothing. */
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

/* A request whose params the caller writes, or NULL. */
static struct request *new_request(struct session *s, const char *method,
				   uint64_t now_ns, struct err *err)
{
	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
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
		session_send(s, r);
}

/* On one line, as a message has to be. */
static void add_on_one_line(struct buf *out, struct str json)
{
	if (memchr(json.p, '\n', json.n) || memchr(json.p, '\r', json.n))
		scan_compact(json, out);
	else
		buf_add_str(out, json);
}

/*
 * A tools/call that is sent now and never again: what session_send() makes of
 * its params, without keeping them. It is written as a whole, for with a
 * writer for each of its tokens it would take as long as all else of a call.
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
	if (s->state == SESSION_READY && !session_is_modern(s) && !as_task) {
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
	session_list_asked(s, method);
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

void session_cancel(struct session *s, uint64_t ticket, const char *reason)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	if (!r || r->is_handshake || r->parent)
		return;
	if (r->task.id.n)
		session_cancel_task(s, r);
	else
		session_send_cancelled(s, r, reason);
	session_drop_request(s, r);
}
