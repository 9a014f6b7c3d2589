/*
 * Messages of ours: read for what HTTP has to say of them, put in order, sent.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/scan.h"
#include "core/transport/remote_inner.h"

#define META(name) "io.modelcontextprotocol/" name

/* ---- what a message is ---- */

static char *decoded(struct str json)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	scan_string(json, &text);
	return buf_steal(&text);
}

/* The date in a message that stands alone (2026-07-28); else NULL. */
static char *own_protocol(struct str params)
{
	struct str meta, date;

	if (!scan_get(params, "_meta", &meta) ||
	    !scan_get(meta, META("protocolVersion"), &date) ||
	    scan_type(date) != SCAN_STRING)
		return NULL;
	return decoded(date);
}

/* Fill what is known of a post from its body. */
static void read_message(struct post *p)
{
	struct err ignored = ERR_INIT;
	struct rpc_message m;
	struct str v;

	p->params = STR("{}");
	if (scan_document(buf_str(&p->body), NULL, &v, &ignored) < 0)
		v = STR("null");
	rpc_read(v, &m);
	if (m.type == RPC_REQUEST || m.type == RPC_NOTIFICATION) {
		p->method = decoded(m.method);
		p->params = m.params;
		p->protocol = own_protocol(m.params);
	} else {
		p->method = mem_strdup("");
	}
	if (m.type == RPC_REQUEST)
		p->id = m.id.raw;
	else
		p->kind = POST_NOTICE;
}

struct post *remote_request(struct remote *r, struct str body)
{
	struct post *p = remote_post(r, POST_REQUEST, body);

	read_message(p);
	return p;
}

static struct post *find_open(struct remote *r, struct str id)
{
	for (struct post *p = r->first; p; p = p->next)
		if (p->kind == POST_REQUEST && !p->answer && str_eq(p->id, id))
			return p;
	return NULL;
}

/*
 * We no longer wait for it. Where every request stands alone its stream is
 * closed, and that says it (HM-7); before that the message does (HL-13), and
 * the stream is left after it.
 *
 * returns  is the message to be sent?
 */
static bool on_cancelled(struct remote *r, const struct post *notice)
{
	struct post *of;
	struct str id;

	if (!scan_get(notice->params, "requestId", &id))
		return true;
	of = find_open(r, id);
	if (!of)
		return !r->is_modern;
	if (of->protocol || of->state == POST_QUEUED ||
	    of->state == POST_WAITS) {
		bool was_sent = of->is_resuming;

		remote_drop(of);
		return !r->is_modern && was_sent;
	}
	of->is_answered = true;
	of->state = POST_LINGERS;
	post_after(of, REMOTE_LINGER_MS);
	return true;
}

void remote_tell_protocol(struct remote *r, const char *protocol)
{
	struct authorizer *a = r->o.auth;

	if (!a || !a->type->spoke || strcmp(r->told, protocol) == 0)
		return;
	snprintf(r->told, sizeof(r->told), "%s", protocol);
	a->type->spoke(a, protocol);
}

/* What we say tells which era is spoken. */
static void note_beginning(struct remote *r, struct post *p)
{
	if (p->protocol) {
		r->is_modern = true;
		remote_tell_protocol(r, p->protocol);
	}
	if (strcmp(p->method, "initialize") == 0) {
		r->is_modern = false;
		buf_clear(&r->initialize);
		buf_add_str(&r->initialize, buf_str(&p->body));
	} else if (strcmp(p->method, "notifications/initialized") == 0) {
		buf_clear(&r->initialized);
		buf_add_str(&r->initialized, buf_str(&p->body));
		r->opening = p;
	}
}

static void take_line(struct remote *r, struct str line)
{
	struct post *p = remote_request(r, line);

	if (strcmp(p->method, "notifications/cancelled") == 0 &&
	    !on_cancelled(r, p))
		remote_drop(p);
	/* no response is ever written there (HM-5) */
	else if (r->is_modern && p->kind == POST_NOTICE && !*p->method)
		remote_drop(p);
	/* that transport is of the older era (HS-1) */
	else if (r->is_sse && strcmp(p->method, "server/discover") == 0)
		remote_answer_error(p, RPC_METHOD_NOT_FOUND,
				    STR("not over HTTP+SSE"));
	else
		note_beginning(r, p);
}

ssize_t remote_send(struct transport *t, struct str bytes)
{
	struct remote *r = (struct remote *)t;
	ssize_t taken = (ssize_t)bytes.n;

	while (bytes.n) {
		struct str piece = {bytes.p, str_find(bytes, '\n')};
		bool is_whole = piece.n < bytes.n;

		bytes.p += piece.n + is_whole;
		bytes.n -= piece.n + is_whole;
		buf_add_str(&r->line, piece);
		if (!is_whole)
			break;
		if (r->line.n && !r->is_ending)
			take_line(r, buf_str(&r->line));
		buf_clear(&r->line);
	}
	return taken;
}

/* ---- its fields ---- */

/* Revisions with this field: since 2025-06-18 (HL-1). */
static bool names_protocol(const struct remote *r, const struct post *p)
{
	return strcmp(r->protocol, "2025-06-18") >= 0 && !r->is_sse &&
	       !(p->method && strcmp(p->method, "initialize") == 0);
}

static int add_legacy(struct post *p, struct http_headers *h, struct err *err)
{
	struct remote *r = p->remote;

	if (names_protocol(r, p) &&
	    http_headers_set(h, "MCP-Protocol-Version", str_of(r->protocol),
			     err) < 0)
		return -1;
	p->session = 0;
	if (!r->session_id.n || r->is_sse)
		return 0;
	p->session = r->session;
	return http_headers_set(h, "Mcp-Session-Id", buf_str(&r->session_id),
				err);
}

static int add_modern(struct post *p, struct http_headers *h, struct err *err)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	if (http_headers_set(h, "MCP-Protocol-Version", str_of(p->protocol),
			     err) < 0 ||
	    http_headers_set(h, "Mcp-Method", str_of(p->method), err) < 0)
		return -1;
	if (http_name_value(p->method, p->params, &name) &&
	    http_headers_set(h, "Mcp-Name", buf_str(&name), err) < 0)
		return -1;
	return strcmp(p->method, "tools/call") == 0
		       ? remote_list_headers(p, h, err)
		       : 0;
}

static bool is_get(const struct post *p)
{
	return p->kind == POST_LISTENER || p->kind == POST_EVENTS ||
	       p->is_resuming;
}

const char *post_verb(const struct post *p)
{
	return p->kind == POST_DELETE ? "DELETE" : is_get(p) ? "GET" : "POST";
}

static int add_get(struct post *p, struct http_headers *h, struct err *err)
{
	struct str last = buf_str(&p->sse.last_id);

	if (http_headers_set(h, "Accept", STR("text/event-stream"), err) < 0)
		return -1;
	return last.n && p->kind != POST_EVENTS
		       ? http_headers_set(h, "Last-Event-ID", last, err)
		       : 0;
}

static int add_post(struct http_headers *h, struct err *err)
{
	if (http_headers_set(h, "Content-Type", STR("application/json"), err) <
	    0)
		return -1;
	return http_headers_set(
		h, "Accept", STR("application/json, text/event-stream"), err);
}

static int make_headers(struct post *p, struct http_headers *h, struct err *err)
{
	int r = 0;

	if (is_get(p))
		r = add_get(p, h, err);
	else if (p->kind != POST_DELETE)
		r = add_post(h, err);
	if (r < 0)
		return -1;
	return p->protocol ? add_modern(p, h, err) : add_legacy(p, h, err);
}

/* ---- sent ---- */

const struct url *post_url(const struct post *p)
{
	const struct remote *r = p->remote;

	if (p->url)
		return p->url;
	if (r->endpoint && p->kind != POST_EVENTS)
		return r->endpoint;
	return r->moved ? r->moved : &r->url;
}

/* Of what nobody else has a clock for; 0: the session has. */
static uint64_t bound_of(const struct post *p)
{
	if (p->kind == POST_NOTICE)
		return REMOTE_NOTICE_MS;
	if (p->kind == POST_DELETE)
		return p->remote->o.end_ms;
	/* a list that does not come is done without (XH-11) */
	return p->answer && p->method && strcmp(p->method, "tools/list") == 0
		       ? REMOTE_LIST_MS
		       : 0;
}

static void send_now(struct post *p, const struct http_headers *h)
{
	struct remote *r = p->remote;
	bool is_message = p->body.n && !is_get(p);
	const struct http_request request = {
		.method = post_verb(p),
		.url = post_url(p)->text.p,
		.headers = h,
		.content =
			is_message ? buf_str(&p->body) : (struct str){NULL, 0},
		.connect_ms = r->o.connect_ms,
		.total_ms = bound_of(p),
		.reach = &r->o.reach,
		.head = remote_on_head,
		.body = remote_on_body,
		.end = remote_on_end,
		.arg = p,
	};

	post_close(p);
	p->state = POST_OPEN;
	p->x = http_send(r->o.http, &request);
	if (p == r->opening)
		post_after(p, REMOTE_OPENING_MS);
	if (p->kind == POST_EVENTS)
		post_after(p, REMOTE_ENDPOINT_MS);
}

void post_wait(struct post *p)
{
	struct authorizer *a = p->remote->o.auth;

	p->state = POST_WAITS;
	if (a->type->is_person(a))
		remote_hold(p->remote, true);
}

/* GET or POST it now. */
static void go(struct post *p)
{
	struct http_headers h = {0};
	struct authorizer *a = p->remote->o.auth;
	struct err err = ERR_INIT;
	enum authorizer_verdict verdict = AUTHORIZER_GO;

	if (make_headers(p, &h, &err) < 0) {
		http_headers_release(&h);
		remote_lose(p, TRANSPORT_BROKE, false, &err);
		return;
	}
	if (a)
		verdict = a->type->sign(a, post_verb(p), post_url(p)->text.p,
					&h, &err);
	if (verdict == AUTHORIZER_GO)
		send_now(p, &h);
	else if (verdict == AUTHORIZER_WAIT)
		post_wait(p);
	else
		remote_lose(p, TRANSPORT_DENIED, false, &err);
	http_headers_release(&h);
}

/* ---- what may go ---- */

static bool may_go(struct post *p)
{
	struct remote *r = p->remote;

	if (p->kind == POST_LISTENER || p->kind == POST_EVENTS ||
	    p->kind == POST_DELETE || p->is_resuming)
		return true;
	if (r->is_sse && !r->endpoint)
		return false;
	if (r->is_restoring && !p->answer)
		return false;
	/* what follows `initialized` must not overtake it */
	if (r->opening && r->opening != p)
		return false;
	return !p->protocol || strcmp(p->method, "tools/call") != 0 ||
	       remote_list_ready(p);
}

void remote_flow(struct remote *r)
{
	if (r->is_sse && !r->events && !r->is_ending && r->first)
		remote_sse_begin(r, NULL, NULL);
	for (struct post *p = r->first, *next; p; p = next) {
		/* a new one may stand behind it afterwards */
		if (p->state == POST_QUEUED && may_go(p))
			go(p);
		next = p->is_gone ? r->first : p->next;
	}
}
