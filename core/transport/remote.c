/*
 * The remote transport, in layers; each calls down only:
 *
 *	remote.c	   decides what may be sent, acts on verdicts, ends
 *	remote_reply.c	   what a reply or message means
 *	remote_headers.c   header fields of a request
 *	post.h		   the server, and messages of ours on their way
 *	items.c		   the queue of what the caller gets
 *
 * Nothing is freed or sent within callbacks of HTTP: a post that may be sent,
 * or is gone, arms the timer `flow`, which is due at once.
 */
#include "core/transport/remote.h"

#include <assert.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/mcp/wire/mcp.h"
#include "core/mcp/wire/inbox.h"
#include "core/transport/remote_headers.h"
#include "core/transport/remote_reply.h"

#define REQUEST_MS 60000
/* Posts behind `initialized` wait for its acceptance, but not longer. */
#define OPENING_MS 2000
/* A notification that is not accepted. */
#define NOTICE_MS 60000
/* For a list of tools that the transport itself asks for. */
#define LIST_MS 10000
/* Bytes of a refusal, and of a notification's answer, that are looked at. */
#define REFUSAL_BYTES (1024 * 1024)
#define NOTICE_BYTES (64 * 1024)
/* For the first event of HTTP+SSE. */
#define ENDPOINT_MS 10000
/* The rest of a stream whose answer came is read for so long. */
#define LINGER_MS 200

#define META(name) "io.modelcontextprotocol/" name

static const struct buf empty_buf = BUF_INIT(BUF_UNBOUNDED);

/* ---- posts and their states ---- */

static const struct {
	const char *word;
	unsigned next; /* bits of states */
} states[] = {
#define TO(name) (1u << POST_##name)
#define POST_STATE(name, word, next) [name] = {word, next},
	POST_STATES(POST_STATE)
#undef POST_STATE
#undef TO
};

/* Look soon at what may be sent. */
static void wake(struct remote *r)
{
	loop_timer_set(r->o.loop, &r->flow, loop_now(r->o.loop));
}

/* Cancel the exchange and forget its reply. */
static void close_post(struct post *p)
{
	http_cancel(p->x);
	p->x = NULL;
	p->reply.status = 0;
	p->reply.is_stream = p->reply.is_too_long = false;
	buf_release(&p->reply.body);
	buf_clear(&p->reply.media_type);
	buf_clear(&p->reply.lines);
}

/* in_ms  deadline of the new state; POST_NO_TIME: it has none */
static void post_to(struct post *p, enum post_state state, uint64_t in_ms)
{
	struct remote *r = p->remote;
	struct loop *loop = r->o.loop;

	assert(states[p->state].next & (1u << state));
	log_debug("%s: %s -> %s", post_name(p), states[p->state].word,
		  states[state].word);
	p->state = state;
	/* a reply is kept that may still be told, or is still being read */
	if (state != POST_LINGERS && state != POST_ELSEWHERE)
		close_post(p);
	loop_timer_set(loop, &p->timer,
		       in_ms == POST_NO_TIME
			       ? UINT64_MAX
			       : loop_now(loop) + in_ms * NS_PER_MS);
	if (state == POST_GONE) {
		*(p->prev ? &p->prev->next : &r->first) = p->next;
		*(p->next ? &p->next->prev : &r->last) = p->prev;
		p->next = r->gone;
		r->gone = p;
	}
	if (state == POST_GONE || state == POST_QUEUED)
		wake(r);
}

static void send_again(struct post *p)
{
	post_to(p, POST_QUEUED, POST_NO_TIME);
}

static char *decoded(struct str json)
{
	AUTO(buf_release) struct buf text = empty_buf;

	scan_string(json, &text);
	return buf_steal(&text);
}

static void read_message(struct post *p)
{
	struct rpc_message m;
	struct str v, meta, date;

	p->params = STR("{}");
	if (scan_document(buf_str(&p->body), NULL, &v, ERR_IGNORED) < 0)
		v = STR("null");
	rpc_read(v, &m);
	if (m.type == RPC_REQUEST || m.type == RPC_NOTIFICATION) {
		p->method = decoded(m.method);
		p->params = m.params;
		if (scan_get(m.params, "_meta", &meta) &&
		    scan_get(meta, META("protocolVersion"), &date) &&
		    scan_type(date) == SCAN_STRING)
			p->protocol = decoded(date);
	} else {
		p->method = mem_strdup("");
	}
	if (m.type == RPC_REQUEST)
		p->id = m.id.raw;
	else
		p->kind = POST_NOTICE;
}

static void on_late(void *post);

/*
 * Add a post at the end of the line; a listener at its head, so that it takes
 * the connection that is free: an event sent before the listener is there is
 * lost.
 * body  copied; read where it is a message
 */
static struct post *add_post(struct remote *r, enum post_kind kind,
			     struct str body)
{
	struct post *p = mem_zalloc(sizeof(*p));
	bool is_first = kind == POST_LISTENER;

	p->remote = r;
	p->kind = kind;
	p->body = empty_buf;
	p->reply.media_type = p->reply.lines = p->reply.body = empty_buf;
	p->timer = (struct loop_timer){.fire = on_late, .arg = p};
	sse_init(&p->sse, r->o.message_max);
	buf_add_str(&p->body, body);
	if (kind == POST_REQUEST)
		read_message(p);
	p->prev = is_first ? NULL : r->last;
	p->next = is_first ? r->first : NULL;
	*(p->prev ? &p->prev->next : &r->first) = p;
	*(p->next ? &p->next->prev : &r->last) = p;
	wake(r);
	return p;
}

/* Free the posts that are gone. */
static void sweep(struct remote *r)
{
	while (r->gone) {
		struct post *p = r->gone;

		r->gone = p->next;
		sse_release(&p->sse);
		buf_release(&p->body);
		buf_release(&p->reply.media_type);
		buf_wipe(&p->reply.lines);
		buf_release(&p->reply.body);
		free(p->method);
		free(p->protocol);
		free(p);
	}
}

/* ---- the end of a post ---- */

/* Nothing more comes of it; harmless twice. */
static void drop_post(struct post *p)
{
	struct remote *r = p->remote;
	struct post **const known[] = {&r->opening, &r->listener, &r->events,
				       &r->refused};

	if (p->state == POST_GONE)
		return;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (*known[i] == p)
			*known[i] = NULL;
	post_to(p, POST_GONE, POST_NO_TIME);
}

static void drop_all(struct remote *r)
{
	while (r->first)
		drop_post(r->first);
}

/* No answer to any request will come: the end of the session. */
static void lose_all(struct remote *r, enum transport_loss loss,
		     const struct err *err)
{
	drop_all(r);
	items_add(&r->items, &(struct transport_item){
				     .type = TRANSPORT_LOST,
				     .loss = loss,
				     .is_unknown = true,
				     .err = *err,
			     });
}

static void settle(struct post *p, enum reply_case of,
		   const struct http_end *end);
static void end_own(struct post *p, const struct rpc_message *m,
		    const struct reply_verdict *lost);

/* HTTP+SSE did not begin: the initialize that led to it fails, or all. */
static void fail_sse(struct remote *r, const struct reply_verdict *lost)
{
	struct post *p = r->refused;
	struct http_end end = {.err = ERR_INIT};

	r->events = NULL;
	if (!p) {
		lose_all(r, lost->loss, &lost->err);
		return;
	}
	r->refused = NULL;
	r->era.is_sse = false;
	err_set(&end.err, r->refusal.kind,
		"no MCP server is there: %s (HTTP+SSE was tried as well: %s)",
		r->refusal.msg, lost->err.msg);
	end.err.sys = r->refusal.sys;
	settle(p, REPLY_REFUSED, &end);
}

/* No answer to this post will come: loss, is_unknown and err of the verdict. */
static void lose_post(struct post *p, const struct reply_verdict *v)
{
	struct remote *r = p->remote;

	if (p->kind == POST_EVENTS)
		fail_sse(r, v);
	else if (p->own && !p->is_answered)
		end_own(p, NULL, v);
	else if (p->kind == POST_REQUEST && !p->is_answered)
		items_add(&r->items, &(struct transport_item){
					     .type = TRANSPORT_LOST,
					     .id = p->id,
					     .loss = v->loss,
					     .is_unknown = v->is_unknown,
					     .refusal = v->refusal,
					     .err = v->err,
				     });
	else
		log_debug("%s", v->err.msg);
	drop_post(p);
}

/* Answer it with an error of our own. */
static void give_error(struct post *p, int code, const char *message)
{
	AUTO(buf_release) struct buf text = empty_buf;

	buf_addf(&text,
		 "{\"jsonrpc\":\"2.0\",\"id\":%.*s,"
		 "\"error\":{\"code\":%d,\"message\":",
		 STR_ARG(p->id), code);
	jw_quote(&text, str_of(message));
	buf_adds(&text, "}}");
	items_add_message(&p->remote->items, buf_str(&text), NULL);
	p->is_answered = true;
	drop_post(p);
}

/* ---- requests of the transport itself ---- */

/*
 * Another session in place of one that is gone. Ids of the transport are
 * strings: numbers are those of the session.
 */
static void begin_session(struct remote *r)
{
	AUTO(buf_release) struct buf text = empty_buf;
	struct post *p;

	buf_addf(&text,
		 "{\"jsonrpc\":\"2.0\",\"id\":\"matins-%u\","
		 "\"method\":\"initialize\",\"params\":%s}",
		 ++r->next_own, buf_cstr(&r->era.initialize));
	log_debug("%s: the session is gone; another one begins",
		  buf_cstr(&r->route.shown));
	r->era.is_restoring = true;
	r->restored++;
	buf_wipe(&r->era.session_id);
	if (r->listener)
		drop_post(r->listener);
	p = add_post(r, POST_REQUEST, buf_str(&text));
	p->own = POST_OWN_INITIALIZE;
	p->was_resent = true;
}

static void send_in_new_session(struct post *p)
{
	struct remote *r = p->remote;

	p->was_resent = true;
	if (p->session == r->era.session && !r->era.is_restoring)
		begin_session(r);
	send_again(p);
}

static void end_initialize(struct remote *r, const struct rpc_message *m,
			   const struct reply_verdict *lost)
{
	struct err err = ERR_INIT;

	r->era.is_restoring = false;
	if (lost || m->type != RPC_RESULT) {
		err_set(&err, ERR_PEER,
			"the server has lost the session, and a new one did "
			"not begin: %s",
			lost ? lost->err.msg : "it refused initialize");
		lose_all(r, lost ? lost->loss : TRANSPORT_BROKE, &err);
	} else if (r->era.initialized.n) {
		r->opening =
			add_post(r, POST_REQUEST, buf_str(&r->era.initialized));
		r->opening->was_resent = true;
	}
}

/* Ask for a page of tools, see tools_write_request(); false: no more. */
static bool ask_tools(struct post *p, struct str result)
{
	AUTO(buf_release) struct buf text = empty_buf;
	struct remote *r = p->remote;

	if (!tools_write_request(&r->tools, p, result, r->next_own + 1, &text))
		return false;
	r->next_own++;
	r->tools.is_asked = true;
	add_post(r, POST_REQUEST, buf_str(&text))->own = POST_OWN_TOOLS;
	return true;
}

/* m: the answer, or NULL and why none will come */
static void end_own(struct post *p, const struct rpc_message *m,
		    const struct reply_verdict *lost)
{
	struct remote *r = p->remote;

	if (p->own == POST_OWN_INITIALIZE) {
		end_initialize(r, m, lost);
		return;
	}
	if (m && m->type == RPC_RESULT && ask_tools(p, m->result))
		return;
	/* a list that fails means calls without fields */
	r->tools.is_asked = false;
	r->tools.is_complete = true;
	wake(r);
}

/* ---- messages of the server ---- */

/* Tell the authorizer which revision is spoken, once for each. */
static void tell_protocol(struct remote *r, const char *protocol)
{
	struct authorizer *a = r->o.auth;

	if (!a || !a->type->spoke || strcmp(r->told, protocol) == 0)
		return;
	snprintf(r->told, sizeof(r->told), "%s", protocol);
	a->type->spoke(a, protocol);
}

/* A refusal for a reason that HTTP can mend: send the request once more. */
static bool is_mended(struct post *p, const struct rpc_message *m)
{
	if (m->type != RPC_ERROR)
		return false;
	if (!p->protocol && reply_lost_session(p, m)) {
		send_in_new_session(p);
		return true;
	}
	if (!p->protocol || m->code != MCP_HEADER_MISMATCH ||
	    !post_is(p, "tools/call") || p->was_mismatched)
		return false;
	p->was_mismatched = true;
	tools_forget(&p->remote->tools);
	send_again(p);
	return true;
}

/* Learn from the answer to `p`: the session works, the revision. */
static void note_answer(struct post *p, const struct rpc_message *m)
{
	struct era *e = &p->remote->era;
	AUTO(buf_release) struct buf date = BUF_INIT(sizeof(e->protocol) - 1);
	struct str v;

	if (m->type != RPC_RESULT)
		return;
	if (p->session && p->session == e->session)
		e->has_worked = true;
	if (p->protocol && post_is(p, "tools/list"))
		tools_learn(&p->remote->tools, p, m->result);
	if (!post_is(p, "initialize") || p->protocol ||
	    !scan_get(m->result, "protocolVersion", &v) ||
	    !scan_string(v, &date) || !date.n ||
	    strspn(date.p, "-0123456789") != date.n)
		return;
	memcpy(e->protocol, date.p, date.n + 1);
	tell_protocol(p->remote, e->protocol);
}

static void take_answer(struct remote *r, const struct taken *t,
			struct buf *memory)
{
	AUTO(buf_release) struct buf renamed = empty_buf;
	bool is_error = t->m.type == RPC_ERROR;
	struct post *p = t->post;

	if (is_mended(p, &t->m))
		return;
	p->is_answered = true;
	post_to(p, POST_LINGERS, p->x ? LINGER_MS : 0);
	note_answer(p, &t->m);
	if (p->own) {
		end_own(p, &t->m, NULL);
	} else if (r->is_ending) {
		return;
	} else if (t->is_renamed) {
		r->oddities++;
		buf_addf(&renamed, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"%s\":",
			 STR_ARG(p->id), is_error ? "error" : "result");
		buf_add_str(&renamed, is_error ? t->m.raw_error : t->m.result);
		buf_addc(&renamed, '}');
		items_add_message(&r->items, buf_str(&renamed), NULL);
	} else {
		items_add_message(&r->items, t->m.whole, memory);
	}
}

static void take_one(struct post *via, struct str object, struct buf *memory)
{
	struct remote *r = via->remote;
	struct taken t;

	reply_read_message(via, object, &t);
	switch (t.what) {
	case TAKEN_ANSWER:
		take_answer(r, &t, memory);
		return;
	case TAKEN_NOTHING:
		r->oddities++;
		return;
	case TAKEN_CHANGED:
		tools_forget(&r->tools);
		break;
	case TAKEN_MESSAGE:
		break;
	}
	if (!r->is_ending)
		items_add_message(&r->items, t.m.whole, memory);
}

/*
 * Take a message, or an array of as many.
 *
 * via     in whose reply the text came
 * memory  where the text lies; taken where it is one message
 * returns false: it is not JSON, even with invalid UTF-8 replaced
 */
static bool take(struct post *via, struct str text, struct buf *memory)
{
	AUTO(buf_release) struct buf repaired = empty_buf;
	struct scan_iter it;
	struct str v;

	if (scan_document(text, NULL, &v, ERR_IGNORED) < 0 &&
	    (!inbox_repair_utf8(text, &repaired) ||
	     scan_document(buf_str(&repaired), NULL, &v, ERR_IGNORED) < 0))
		return false;
	if (scan_type(v) == SCAN_OBJECT) {
		take_one(via, v, memory);
		return true;
	}
	scan_iter_init(&it, v);
	/* one message of several may end them all */
	while (via->state != POST_GONE && scan_next(&it))
		if (scan_type(it.value) == SCAN_OBJECT)
			take_one(via, it.value, NULL);
	return true;
}

/* ---- verdicts ---- */

static void take_body(struct post *p)
{
	enum post_state before = p->state;
	struct buf body = p->reply.body;
	bool is_json;

	p->reply.body = empty_buf;
	is_json = take(p, str_trim(buf_str(&body)), &body);
	if (is_json && (p->is_answered || p->state != before)) {
		buf_release(&body);
		if (p->is_answered)
			drop_post(p);
		return;
	}
	/* for sentences that quote it */
	p->reply.body = body;
	settle(p, REPLY_UNANSWERED, NULL);
}

static void send_later(struct post *p, const struct reply_verdict *v)
{
	struct remote *r = p->remote;
	uint64_t ms;

	/* spread, not secret */
	r->jitter = r->jitter * 1664525 + 1013904223;
	ms = v->delay_ms + (r->jitter >> 8) % (v->jitter_ms + 1);
	log_debug("%s: %s: once more in %llu ms", buf_cstr(&r->route.shown),
		  post_name(p), (unsigned long long)ms);
	r->reconnects += v->is_reconnect;
	p->was_repeated |= v->is_repeat;
	p->is_resuming |= v->is_resuming;
	if (v->is_attempt) {
		p->attempts++;
		p->delay_ms = v->delay_ms;
	}
	if (v->refusal.has_time)
		items_add(&r->items, &(struct transport_item){
					     .type = TRANSPORT_PUT_OFF,
					     .refusal = v->refusal,
				     });
	/* changes of the list may be missed until then */
	if (v->is_attempt && post_is(p, "subscriptions/listen"))
		tools_forget(&r->tools);
	post_to(p, POST_PAUSED, ms);
}

/* Until the authorizer calls; clocks stand still while it asks a person. */
static void wait_for_authorizer(struct post *p)
{
	struct authorizer *a = p->remote->o.auth;

	post_to(p, POST_WAITS, POST_NO_TIME);
	if (a->type->is_person(a))
		items_hold(&p->remote->items, true);
}

static const char *verb_of(const struct post *p)
{
	return p->kind == POST_DELETE ? "DELETE"
	       : post_is_get(p)	      ? "GET"
				      : "POST";
}

static void ask_authorizer(struct post *p, const struct reply_verdict *denied)
{
	const struct http_head head = post_head(p);
	struct authorizer *a = p->remote->o.auth;
	struct reply_verdict v = *denied;
	enum authorizer_verdict verdict = AUTHORIZER_NO;

	*(head.status == 401 ? &p->tries.unauthorized : &p->tries.forbidden) +=
		1;
	if (a) {
		err_clear(&v.err);
		verdict = a->type->refused(a, verb_of(p), route_of(p)->text.p,
					   &head, buf_str(&p->reply.body),
					   &p->tries, &v.err);
	}
	if (verdict == AUTHORIZER_NO) {
		lose_post(p, &v);
		return;
	}
	send_again(p);
	if (verdict == AUTHORIZER_WAIT)
		wait_for_authorizer(p);
}

/* Go on by HTTP+SSE. p: the initialize that was refused, or NULL; err: how */
static void begin_sse(struct remote *r, struct post *p, const struct err *err)
{
	r->era.is_sse = true;
	r->refused = p;
	if (p) {
		post_to(p, POST_ELSEWHERE, POST_NO_TIME);
		r->refusal = *err;
	}
	r->events = add_post(r, POST_EVENTS, STR(""));
}

static void lose_listener(struct post *listener)
{
	struct remote *r = listener->remote;

	log_debug("%s: no stream of its own (%d)", buf_cstr(&r->route.shown),
		  listener->reply.status);
	drop_post(listener);
	for (struct post *p = r->first, *next; p; p = next) {
		next = p->next;
		if (p->state == POST_ELSEWHERE)
			settle(p, REPLY_CUT_OFF,
			       &(struct http_end){.kind = HTTP_DONE});
	}
}

static void act_on(struct post *p, const struct reply_verdict *v)
{
	struct remote *r = p->remote;

	switch (v->what) {
	case REPLY_DONE:
		drop_post(p);
		break;
	case REPLY_LOST:
		lose_post(p, v);
		break;
	case REPLY_TAKE:
		take_body(p);
		break;
	case REPLY_LATER:
		send_later(p, v);
		break;
	case REPLY_ELSEWHERE:
		close_post(p);
		post_to(p, POST_ELSEWHERE, POST_NO_TIME);
		break;
	case REPLY_MOVED:
		/* the URL holds for what follows, too, DELETE included */
		p->redirects++;
		p->url = v->url;
		if (!r->era.is_sse)
			r->route.moved = v->url;
		send_again(p);
		break;
	case REPLY_DENIED:
		ask_authorizer(p, v);
		break;
	case REPLY_NO_SESSION:
		send_in_new_session(p);
		break;
	case REPLY_NO_PROBE:
		give_error(p, RPC_INVALID_REQUEST, v->err.msg);
		break;
	case REPLY_TRY_SSE:
		begin_sse(r, p, &v->err);
		break;
	case REPLY_NO_LISTENER:
		lose_listener(p);
		break;
	case REPLY_OVER:
		lose_all(r, TRANSPORT_BROKE, &v->err);
		break;
	}
}

/* Judge what became of a post, and act on it; as reply_judge(). */
static void settle(struct post *p, enum reply_case of,
		   const struct http_end *end)
{
	struct reply_verdict v;

	reply_judge(p, of, end, &v);
	act_on(p, &v);
}

/* ---- event streams ---- */

static void note_life(struct post *p)
{
	p->attempts = 0;
	p->delay_ms = 0;
}

/* HTTP+SSE: where our messages go. */
static void take_endpoint(struct post *p, struct str reference)
{
	AUTO(buf_release) struct buf shown = empty_buf;
	struct remote *r = p->remote;
	struct route *route = &r->route;
	struct url *url = ARENA_NEW(&route->arena, struct url);
	struct reply_verdict v = {.loss = TRANSPORT_BROKE, .err = ERR_INIT};

	if (url_resolve(route_of(p), str_trim(reference), &route->arena, url,
			&v.err) < 0) {
		err_wrap(&v.err, "its endpoint");
		lose_post(p, &v);
		return;
	}
	/* credentials would leave the server that they are for */
	if (!url_same_origin(url, &route->url)) {
		url_origin(url, &shown);
		err_set(&v.err, ERR_PEER,
			"its endpoint is on another origin, %s; that is "
			"refused",
			buf_cstr(&shown));
		lose_post(p, &v);
		return;
	}
	loop_timer_clear(r->o.loop, &p->timer);
	route->endpoint = url;
	if (r->refused)
		send_again(r->refused);
	r->refused = NULL;
	wake(r);
}

static void take_event(struct post *p, const struct sse_event *e)
{
	struct remote *r = p->remote;

	/* a second endpoint would move a session that is under way */
	if (p->kind == POST_EVENTS && str_is(e->name, "endpoint") &&
	    !r->route.endpoint)
		take_endpoint(p, e->data);
	if (p->state == POST_GONE || !str_is(e->name, "message") ||
	    !str_trim(e->data).n)
		return;
	note_life(p);
	if (!take(p, e->data, &p->sse.data))
		r->oddities++;
}

static void take_long_event(struct post *p)
{
	p->remote->oddities++;
	if (p->kind == POST_REQUEST && !p->is_answered)
		settle(p, REPLY_LONG_EVENT, NULL);
}

static void take_events(struct post *p, struct str bytes)
{
	struct sse_event e;
	enum sse_result got;

	while (p->state != POST_GONE &&
	       (got = sse_next(&p->sse, &bytes, &e)) != SSE_NONE) {
		if (got == SSE_OVER)
			take_long_event(p);
		else
			take_event(p, &e);
	}
	/* the end of such an event may never come */
	if (p->state != POST_GONE && p->sse.is_over &&
	    p->kind == POST_REQUEST && !p->is_answered)
		take_long_event(p);
	/* an id alone is a sign of life, too */
	if (p->state != POST_GONE && p->seen_ids != p->sse.ids)
		note_life(p);
	p->seen_ids = p->sse.ids;
}

/* ---- callbacks of HTTP ---- */

/* By status, in order. */
static void count_status(struct remote *r, int status)
{
	size_t i = 0;

	while (i < r->n_status && r->status[i].status < status)
		i++;
	if (i == r->n_status || r->status[i].status != status) {
		if (r->n_status == ARRAY_LEN(r->status))
			return;
		memmove(&r->status[i + 1], &r->status[i],
			(r->n_status++ - i) * sizeof(r->status[0]));
		r->status[i] = (struct status_count){status, 0};
	}
	r->status[i].n++;
}

/* Visible ASCII only: MCP 2025-11-25, "Session Management". */
static bool is_session_id(struct str id)
{
	for (size_t i = 0; i < id.n; i++)
		if (id.p[i] < 0x21 || id.p[i] > 0x7e)
			return false;
	return id.n > 0 && id.n <= LIMIT_SESSION_ID_BYTES;
}

/* The session id counts in the answer to initialize only. */
static void note_session(struct post *p, const struct http_head *head)
{
	struct remote *r = p->remote;
	struct era *e = &r->era;
	struct str id;

	if (p->protocol || e->is_sse || !http_is_good(head->status) ||
	    !http_head_get(head, "Mcp-Session-Id", 0, &id))
		return;
	if (post_is(p, "initialize")) {
		buf_wipe(&e->session_id);
		e->has_worked = false;
		p->reply.is_bad_session = !is_session_id(id);
		if (p->reply.is_bad_session)
			return;
		e->session++;
		buf_add_str(&e->session_id, id);
		if (r->o.on_session)
			r->o.on_session(r->o.arg, id);
	} else if (!str_eq(id, buf_str(&e->session_id))) {
		r->oddities++;
		log_debug("%s: another session id is ignored",
			  buf_cstr(&r->route.shown));
	}
}

/* A notification is done with its head: its body says nothing. */
static void accept_notice(struct post *p)
{
	struct remote *r = p->remote;

	p->is_answered = true;
	/* older revisions: messages of the server's own come on a stream */
	if (post_is(p, "notifications/initialized") && !r->listener &&
	    !r->era.is_sse && !r->era.is_modern && !r->is_ending)
		r->listener = add_post(r, POST_LISTENER, STR(""));
	if (p == r->opening) {
		r->opening = NULL;
		loop_timer_clear(r->o.loop, &p->timer);
	}
	wake(r);
}

static void on_head(void *arg, const struct http_head *head)
{
	struct post *p = arg;
	struct remote *r = p->remote;
	bool is_good = http_is_good(head->status);

	p->reply.status = head->status;
	buf_add_str(&p->reply.media_type, head->media_type);
	buf_add_str(&p->reply.lines, head->lines);
	p->reply.is_stream = is_good && p->kind != POST_NOTICE &&
			     p->kind != POST_DELETE &&
			     str_is(head->media_type, "text/event-stream");
	count_status(r, head->status);
	if (r->o.auth)
		r->o.auth->type->answered(r->o.auth, head);
	note_session(p, head);
	if (p->kind == POST_NOTICE && is_good)
		accept_notice(p);
	if (p->reply.is_stream)
		sse_again(&p->sse);
}

static bool on_body(void *arg, struct str bytes)
{
	struct post *p = arg;
	uint64_t max = !http_is_good(p->reply.status) ? REFUSAL_BYTES
		       : p->kind == POST_REQUEST      ? p->remote->o.message_max
						      : NOTICE_BYTES;

	if (p->reply.is_stream) {
		take_events(p, bytes);
		return true;
	}
	if (p->reply.body.n + bytes.n > max) {
		p->reply.is_too_long = true;
		return false;
	}
	buf_add_str(&p->reply.body, bytes);
	return true;
}

static void on_end(void *arg, const struct http_end *end)
{
	struct post *p = arg;

	p->x = NULL;
	if (p->state != POST_GONE)
		settle(p, REPLY_ENDED, end);
}

/* ---- sending ---- */

/* Begin the exchange of a post. */
static void open_exchange(struct post *p, const struct http_headers *h)
{
	struct remote *r = p->remote;
	bool is_message = p->body.n && !post_is_get(p);
	const struct http_request request = {
		.method = verb_of(p),
		.url = route_of(p)->text.p,
		.headers = h,
		.content =
			is_message ? buf_str(&p->body) : (struct str){NULL, 0},
		.connect_ms = r->o.connect_ms,
		/* where no clock of the session runs */
		.total_ms = p->kind == POST_NOTICE     ? NOTICE_MS
			    : p->kind == POST_DELETE   ? r->o.end_ms
			    : p->own == POST_OWN_TOOLS ? LIST_MS
						       : 0,
		.reach = &r->o.reach,
		.head = on_head,
		.body = on_body,
		.end = on_end,
		.arg = p,
	};

	post_to(p, POST_OPEN,
		p == r->opening		 ? OPENING_MS
		: p->kind == POST_EVENTS ? ENDPOINT_MS
					 : POST_NO_TIME);
	p->x = http_send(r->o.http, &request);
}

static void sign_and_send(struct post *p)
{
	struct remote *r = p->remote;
	struct authorizer *a = r->o.auth;
	struct http_headers h = {0};
	struct reply_verdict v = {.loss = TRANSPORT_BROKE, .err = ERR_INIT};
	enum authorizer_verdict verdict = AUTHORIZER_NO;
	int got = headers_make(p, &h, &v.err);

	if (got == HEADERS_NEED_TOOLS) {
		if (!r->tools.is_asked)
			(void)ask_tools(p, (struct str){NULL, 0});
		return;
	}
	if (got == 0) {
		v.loss = TRANSPORT_DENIED;
		verdict = !a ? AUTHORIZER_GO
			     : a->type->sign(a, verb_of(p), route_of(p)->text.p,
					     &h, &v.err);
	}
	if (verdict == AUTHORIZER_GO)
		open_exchange(p, &h);
	else if (verdict == AUTHORIZER_WAIT)
		wait_for_authorizer(p);
	else
		lose_post(p, &v);
	http_headers_release(&h);
}

static bool may_go(const struct post *p)
{
	const struct remote *r = p->remote;

	if (p->kind == POST_DELETE || post_is_get(p))
		return true;
	if (r->era.is_sse && !r->route.endpoint)
		return false;
	if (r->era.is_restoring && !p->own)
		return false;
	/* `initialized` must not be overtaken */
	return !r->opening || r->opening == p;
}

/* ---- messages of ours ---- */

/*
 * The session waits no longer for a request. Where every request stands alone
 * its stream is closed, and that says it; before that the message does, and
 * the stream is left after it.
 *
 * returns  is the message to be sent?
 */
static bool cancel(struct remote *r, const struct post *notice)
{
	struct post *of = r->first;
	bool was_sent;
	struct str id;

	if (!scan_get(notice->params, "requestId", &id))
		return true;
	while (of &&
	       (of->kind != POST_REQUEST || of->own || !str_eq(of->id, id)))
		of = of->next;
	if (!of)
		return !r->era.is_modern;
	if (of->protocol || of->state == POST_QUEUED ||
	    of->state == POST_WAITS) {
		was_sent = of->is_resuming;
		drop_post(of);
		return !r->era.is_modern && was_sent;
	}
	of->is_answered = true;
	post_to(of, POST_LINGERS, LINGER_MS);
	return true;
}

/* Learn from a message of ours: the first ones tell which era is spoken. */
static void note_ours(struct remote *r, const struct post *p)
{
	struct era *e = &r->era;

	if (p->protocol) {
		e->is_modern = true;
		tell_protocol(r, p->protocol);
	}
	if (post_is(p, "initialize")) {
		e->is_modern = false;
		buf_clear(&e->initialize);
		buf_add_str(&e->initialize, p->params);
	} else if (post_is(p, "notifications/initialized")) {
		buf_clear(&e->initialized);
		buf_add_str(&e->initialized, buf_str(&p->body));
	}
}

static void take_line(struct remote *r, struct str line)
{
	struct post *p = add_post(r, POST_REQUEST, line);

	if (post_is(p, "notifications/cancelled") && !cancel(r, p)) {
		drop_post(p);
	} else if (r->era.is_modern && p->kind == POST_NOTICE && !*p->method) {
		/* the modern era has no responses of ours */
		drop_post(p);
	} else if (r->era.is_sse && post_is(p, "server/discover")) {
		/* HTTP+SSE is of the older era */
		give_error(p, RPC_METHOD_NOT_FOUND, "not over HTTP+SSE");
	} else {
		note_ours(r, p);
		if (post_is(p, "notifications/initialized"))
			r->opening = p;
	}
}

static ssize_t remote_send(struct transport *t, struct str bytes)
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

/* ---- the end ---- */

static void end_all(void *remote)
{
	struct remote *r = remote;

	if (r->is_over)
		return;
	drop_all(r);
	loop_timer_clear(r->o.loop, &r->end);
	items_add(&r->items, &(struct transport_item){.type = TRANSPORT_OVER});
	r->is_over = true;
}

/* The last words first, then DELETE, then nothing. */
static void go_on_ending(struct remote *r)
{
	for (const struct post *p = r->first; p; p = p->next)
		if ((p->kind == POST_NOTICE || p->kind == POST_DELETE) &&
		    !p->is_answered)
			return;
	if (!r->is_deleted && r->era.session_id.n && !r->era.is_sse) {
		r->is_deleted = true;
		(void)!add_post(r, POST_DELETE, STR(""));
		return;
	}
	end_all(r);
}

static void on_flow(void *arg)
{
	struct remote *r = arg;

	sweep(r);
	if (r->era.is_sse && !r->events && !r->is_ending && r->first)
		begin_sse(r, NULL, NULL);
	for (struct post *p = r->first, *next; p; p = next) {
		/* another one may stand behind it afterwards */
		if (p->state == POST_QUEUED && may_go(p))
			sign_and_send(p);
		next = p->state == POST_GONE ? r->first : p->next;
	}
	if (r->is_ending && !r->is_over)
		go_on_ending(r);
}

/* The deadline of a post's state has passed. */
static void on_late(void *post)
{
	struct post *p = post;
	struct remote *r = p->remote;
	struct reply_verdict v = {.loss = TRANSPORT_BROKE, .err = ERR_INIT};

	if (p->state == POST_LINGERS) {
		drop_post(p);
	} else if (p->kind == POST_EVENTS && p->state == POST_OPEN) {
		err_set(&v.err, ERR_PEER,
			"the server did not name its endpoint within %d s",
			ENDPOINT_MS / 1000);
		lose_post(p, &v);
	} else {
		if (p == r->opening)
			r->opening = NULL;
		if (p->state == POST_PAUSED)
			send_again(p);
		wake(r);
	}
}

/* The session waits for no answer any more. */
static void remote_end_output(struct transport *t)
{
	struct remote *r = (struct remote *)t;
	struct loop *l = r->o.loop;

	if (r->is_ending)
		return;
	r->is_ending = true;
	items_hold(&r->items, false);
	for (struct post *p = r->first, *next; p; p = next) {
		next = p->next;
		if (p->kind != POST_NOTICE || p->state == POST_WAITS)
			drop_post(p);
	}
	loop_timer_in(l, &r->end, r->o.end_ms);
	wake(r);
}

static void remote_free(struct transport *t)
{
	struct remote *r = (struct remote *)t;

	drop_all(r);
	sweep(r);
	loop_timer_clear(r->o.loop, &r->flow);
	loop_timer_clear(r->o.loop, &r->end);
	if (r->o.auth)
		r->o.auth->changed = NULL;
	items_release(&r->items);
	tools_forget(&r->tools);
	buf_wipe(&r->era.session_id);
	buf_release(&r->era.initialize);
	buf_release(&r->era.initialized);
	buf_release(&r->line);
	buf_release(&r->route.shown);
	arena_release(&r->route.arena);
	free(r);
}

/* ---- for the caller ---- */

static void remote_next(struct transport *t, struct transport_item *ret)
{
	struct remote *r = (struct remote *)t;

	items_next(&r->items, ret);
	if (ret->type == TRANSPORT_NONE && r->is_over)
		ret->type = TRANSPORT_OVER;
}

static void remote_facts(const struct transport *t, struct jw *w)
{
	const struct remote *r = (const struct remote *)t;
	char name[16];

	jw_kv_str(w, "url", buf_str(&r->route.shown));
	jw_kv_object(w, "http");
	jw_kv_cstr(w, "library", http_library());
	jw_kv_cstr(w, "transport",
		   r->era.is_sse ? "http+sse" : "streamable-http");
	jw_kv_object(w, "status");
	for (size_t i = 0; i < r->n_status; i++) {
		snprintf(name, sizeof(name), "%d", r->status[i].status);
		jw_kv_int(w, name, (int64_t)r->status[i].n);
	}
	jw_end(w);
	jw_kv_int(w, "reconnects", (int64_t)r->reconnects);
	jw_kv_int(w, "restored", (int64_t)r->restored);
	jw_kv_bool(w, "session", r->era.session > 0);
	jw_kv_int(w, "oddities", (int64_t)r->oddities);
	jw_end(w);
}

static int remote_in_fd(const struct transport *t)
{
	return ((const struct remote *)t)->items.event;
}

static const struct transport_type remote_type = {
	.name = "http",
	.in_fd = remote_in_fd,
	.send = remote_send,
	.end_output = remote_end_output,
	.free = remote_free,
	.next = remote_next,
	.facts = remote_facts,
};

/* The authorizer has credentials, or will never have them. */
static void on_authorizer_changed(void *arg)
{
	struct remote *r = arg;

	items_hold(&r->items, false);
	for (struct post *p = r->first; p; p = p->next)
		if (p->state == POST_WAITS)
			send_again(p);
	wake(r);
}

static int set_url(struct remote *r, const char *text, struct err *err)
{
	struct url *u = &r->route.url;

	if (url_parse(str_of(text), &r->route.arena, u, err) < 0)
		return -1;
	if (!str_is(u->scheme, "http") && !str_is(u->scheme, "https"))
		return err_set(err, ERR_SYNTAX,
			       "a server's URL begins with http or https, "
			       "not with %.*s",
			       STR_ARG(u->scheme));
	url_origin(u, &r->route.shown);
	buf_add_str(&r->route.shown, u->path);
	return 0;
}

int transport_remote(const struct remote_options *options,
		     struct transport **ret, struct err *err)
{
	struct remote *r = mem_zalloc(sizeof(*r));

	r->base.type = &remote_type;
	r->o = *options;
	r->o.url = NULL;
	r->o.message_max =
		r->o.message_max ? r->o.message_max : LIMIT_MESSAGE_BYTES;
	r->o.request_ms = r->o.request_ms ? r->o.request_ms : REQUEST_MS;
	r->o.end_ms = r->o.end_ms ? r->o.end_ms : REMOTE_END_MS;
	r->era.is_sse = options->kind == REMOTE_SSE;
	r->era.session_id = r->era.initialize = r->era.initialized = empty_buf;
	r->jitter = (uint32_t)(loop_now(r->o.loop) >> 10);
	r->line = r->route.shown = empty_buf;
	r->flow = (struct loop_timer){.fire = on_flow, .arg = r};
	r->end = (struct loop_timer){.fire = end_all, .arg = r};
	if (items_init(&r->items, err) < 0 ||
	    set_url(r, options->url, err) < 0) {
		remote_free(&r->base);
		return -1;
	}
	if (r->o.auth) {
		r->o.auth->changed = on_authorizer_changed;
		r->o.auth->arg = r;
	}
	*ret = &r->base;
	return 0;
}
