#include "core/transport/remote_act.h"

#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/mcp/wire/mcp.h"
#include "core/transport/remote_take.h"

/* Posts behind `initialized` wait for its acceptance, but not longer. */
#define OPENING_MS 2000
/* A notification that is not accepted. */
#define NOTICE_MS 60000
/* For a list of tools that the transport itself asks for. */
#define LIST_MS 10000
/* Bytes of a refusal, and of a notification's answer, that are looked at. */
#define REFUSAL_BYTES (1024 * 1024)
#define NOTICE_BYTES (64 * 1024)
/* An id that no request of the session has, since those are numbers. */
#define OWN_ID_BYTES 32

static uint64_t next_jitter(struct remote *r, uint64_t max)
{
	/* spread, not secret */
	r->jitter = r->jitter * 1664525 + 1013904223;
	return (r->jitter >> 8) % (max + 1);
}

/* ---- the end of a post ---- */

void remote_drop(struct post *p)
{
	struct remote *r = remote_of(p);
	struct post **const known[] = {&r->opening, &r->listener, &r->events,
				       &r->refused};

	if (p->state == POST_GONE)
		return;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (*known[i] == p)
			*known[i] = NULL;
	post_to(p, POST_GONE, POST_NO_TIME);
}

void remote_drop_all(struct remote *r)
{
	while (r->posts.first)
		remote_drop(r->posts.first);
}

/* No answer to any request will come: the end of the session. */
static void lose_all(struct remote *r, enum transport_loss loss,
		     const struct err *err)
{
	remote_drop_all(r);
	items_add(&r->items, &(struct transport_item){
				     .type = TRANSPORT_LOST,
				     .loss = loss,
				     .is_unknown = true,
				     .err = *err,
			     });
}

static void act_on(struct post *p, const struct reply_verdict *v);
static void end_own(struct post *p, const struct rpc_message *m,
		    const struct reply_verdict *lost);

/* HTTP+SSE did not begin: the initialize that led to it fails, or all. */
static void fail_sse(struct remote *r, const struct reply_verdict *lost)
{
	struct post *p = r->refused;
	struct reply_verdict v;
	struct err err = ERR_INIT;

	if (!p) {
		lose_all(r, lost->loss, &lost->err);
		return;
	}
	r->refused = NULL;
	r->era.is_sse = false;
	err_set(&err, r->refusal.kind,
		"no MCP server is there: %s (HTTP+SSE was tried as well: %s)",
		r->refusal.msg, lost->err.msg);
	err.sys = r->refusal.sys;
	reply_judge_refused(p, &err, &v);
	act_on(p, &v);
}

void remote_lose(struct post *p, const struct reply_verdict *v)
{
	struct remote *r = remote_of(p);

	if (p->kind == POST_EVENTS) {
		r->events = NULL;
		fail_sse(r, v);
	} else if (p->own && !p->is_answered) {
		end_own(p, NULL, v);
	} else if (p->kind == POST_REQUEST && !p->is_answered) {
		items_add(&r->items, &(struct transport_item){
					     .type = TRANSPORT_LOST,
					     .id = p->id,
					     .loss = v->loss,
					     .is_unknown = v->is_unknown,
					     .err = v->err,
				     });
	} else {
		log_debug("%s", v->err.msg);
	}
	remote_drop(p);
}

static void lose_broken(struct post *p, const struct err *err)
{
	remote_lose(p, &(struct reply_verdict){.loss = TRANSPORT_BROKE,
					       .err = *err});
}

static void send_again(struct post *p)
{
	post_to(p, POST_QUEUED, POST_NO_TIME);
}

void remote_give_error(struct post *p, int64_t code, struct str message)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	taken_write_error(p, code, message, &text);
	items_add_message(&remote_of(p)->items, buf_str(&text), NULL);
	p->is_answered = true;
	remote_drop(p);
}

/* ---- requests of the transport itself ---- */

static void make_own_id(struct remote *r, char ret[OWN_ID_BYTES])
{
	snprintf(ret, OWN_ID_BYTES, "matins-%u", ++r->next_own);
}

/* Another session in place of one that is gone. */
static void begin_session(struct remote *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	char id[OWN_ID_BYTES];
	struct post *p;

	make_own_id(r, id);
	era_write_initialize(&r->era, id, &text);
	log_debug("%s: the session is gone; another one begins",
		  buf_cstr(&r->route.shown));
	r->era.is_restoring = true;
	r->restored++;
	buf_wipe(&r->era.session_id);
	if (r->listener)
		remote_drop(r->listener);
	p = posts_add(&r->posts, POST_REQUEST, buf_str(&text));
	p->own = POST_OWN_INITIALIZE;
	p->was_resent = true;
}

static void send_in_new_session(struct post *p)
{
	struct remote *r = remote_of(p);

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
		return;
	}
	if (!r->era.initialized.n)
		return;
	r->opening = posts_add(&r->posts, POST_REQUEST,
			       buf_str(&r->era.initialized));
	r->opening->was_resent = true;
}

void remote_ask_tools(struct remote *r, const struct post *like,
		      struct str cursor)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	char id[OWN_ID_BYTES];

	make_own_id(r, id);
	tools_write_request(like, id, cursor, &text);
	r->tools.is_asked = true;
	posts_add(&r->posts, POST_REQUEST, buf_str(&text))->own =
		POST_OWN_TOOLS;
}

/* A list that fails means calls without fields. */
static void end_tools(struct remote *r, struct post *p,
		      const struct rpc_message *m)
{
	struct str cursor;

	if (m && m->type == RPC_RESULT &&
	    tools_next_page(&r->tools, p, m->result, &cursor)) {
		remote_ask_tools(r, p, cursor);
		return;
	}
	r->tools.is_asked = false;
	r->tools.is_complete = true;
	posts_wake(&r->posts);
}

/* m: the answer, or NULL and why none will come */
static void end_own(struct post *p, const struct rpc_message *m,
		    const struct reply_verdict *lost)
{
	struct remote *r = remote_of(p);

	if (p->own == POST_OWN_INITIALIZE)
		end_initialize(r, m, lost);
	else
		end_tools(r, p, m);
}

/* ---- messages of the server ---- */

void remote_tell_protocol(struct remote *r, const char *protocol)
{
	struct authorizer *a = r->o.auth;

	if (!a || !a->type->spoke || strcmp(r->told, protocol) == 0)
		return;
	snprintf(r->told, sizeof(r->told), "%s", protocol);
	a->type->spoke(a, protocol);
}

static struct reply_around around(struct remote *r)
{
	return (struct reply_around){
		.era = &r->era,
		.route = &r->route,
		.message_max = r->o.message_max,
		.request_ms = r->o.request_ms,
		.may_try_sse = r->o.kind == REMOTE_AUTO,
		.has_listener = r->listener,
		.is_ending = r->is_ending,
	};
}

/* A refusal for a reason that HTTP can mend: send the request once more. */
static bool is_mended(struct post *p, const struct rpc_message *m)
{
	struct remote *r = remote_of(p);
	const struct reply_around a = around(r);

	if (m->type != RPC_ERROR)
		return false;
	if (p->protocol) {
		if (m->code != MCP_HEADER_MISMATCH ||
		    !post_is(p, "tools/call") || p->was_mismatched)
			return false;
		p->was_mismatched = true;
		tools_forget(&r->tools);
		send_again(p);
		return true;
	}
	if (!p->session || !era_is_lost(&r->era, p, m) ||
	    !reply_may_restore(p, &a))
		return false;
	send_in_new_session(p);
	return true;
}

static void give_renamed(struct remote *r, const struct taken *t)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	r->oddities++;
	taken_write_renamed(t, &text);
	items_add_message(&r->items, buf_str(&text), NULL);
}

static void take_answer(struct remote *r, const struct taken *t,
			struct buf *memory)
{
	struct post *p = t->post;

	if (is_mended(p, &t->m))
		return;
	p->is_answered = true;
	post_to(p, POST_LINGERS, p->x ? REMOTE_LINGER_MS : 0);
	if (era_note_answer(&r->era, p, &t->m))
		remote_tell_protocol(r, r->era.protocol);
	if (p->protocol && t->m.type == RPC_RESULT && post_is(p, "tools/list"))
		tools_learn(&r->tools, p, t->m.result);
	if (p->own)
		end_own(p, &t->m, NULL);
	else if (r->is_ending)
		return;
	else if (t->is_renamed)
		give_renamed(r, t);
	else
		items_add_message(&r->items, t->m.whole, memory);
}

static void take_one(struct remote *r, const struct taken *t,
		     struct buf *memory)
{
	switch (t->what) {
	case TAKEN_ANSWER:
		take_answer(r, t, memory);
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
		items_add_message(&r->items, t->m.whole, memory);
}

/*
 * via     in whose reply the text came
 * memory  where the text lies; taken where it is one message
 * returns false: it is not JSON
 */
static bool take(struct post *via, struct str text, struct buf *memory)
{
	AUTO(taker_release) struct taker t;
	struct taken found;

	if (!taker_open(&t, via, text))
		return false;
	/* one message of several may end them all */
	while (via->state != POST_GONE && taker_next(&t, &found))
		take_one(remote_of(via), &found, t.is_array ? NULL : memory);
	return true;
}

/* ---- verdicts ---- */

static void take_body(struct post *p)
{
	const struct reply_around a = around(remote_of(p));
	enum post_state before = p->state;
	struct buf body = p->reply.body;
	struct reply_verdict v;
	bool is_json;

	p->reply.body = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	is_json = take(p, str_trim(buf_str(&body)), &body);
	if (is_json && (p->is_answered || p->state != before)) {
		buf_release(&body);
		if (p->is_answered)
			remote_drop(p);
		return;
	}
	/* for sentences that quote it */
	p->reply.body = body;
	reply_judge_unanswered(p, &a, &v);
	act_on(p, &v);
}

static void send_later(struct post *p, const struct reply_verdict *v)
{
	struct remote *r = remote_of(p);
	uint64_t ms = v->delay_ms + next_jitter(r, v->jitter_ms);

	log_debug("%s: %s: once more in %llu ms", buf_cstr(&r->route.shown),
		  post_name(p), (unsigned long long)ms);
	r->reconnects += v->is_reconnect;
	p->was_repeated |= v->is_repeat;
	p->is_resuming |= v->is_resuming;
	if (v->is_attempt) {
		p->attempts++;
		p->delay_ms = v->delay_ms;
	}
	/* changes of the list may be missed until then */
	if (v->is_attempt && post_is(p, "subscriptions/listen"))
		tools_forget(&r->tools);
	post_to(p, POST_PAUSED, ms);
}

/* The URL holds for what follows, too, DELETE included. */
static void move(struct post *p, struct url *url)
{
	struct remote *r = remote_of(p);

	p->redirects++;
	p->url = url;
	if (!r->era.is_sse)
		r->route.moved = url;
	send_again(p);
}

void remote_wait_for_authorizer(struct post *p)
{
	struct remote *r = remote_of(p);

	post_to(p, POST_WAITS, POST_NO_TIME);
	if (r->o.auth->type->is_person(r->o.auth))
		items_hold(&r->items, true);
}

const char *remote_verb_of(const struct post *p)
{
	return p->kind == POST_DELETE ? "DELETE"
	       : post_is_get(p)	      ? "GET"
				      : "POST";
}

static void ask_authorizer(struct post *p, const struct reply_verdict *denied)
{
	struct remote *r = remote_of(p);
	const struct http_head head = {
		.status = p->reply.status,
		.media_type = buf_str(&p->reply.media_type),
		.lines = buf_str(&p->reply.lines),
	};
	struct authorizer *a = r->o.auth;
	struct reply_verdict v = *denied;
	enum authorizer_verdict verdict = AUTHORIZER_NO;

	*(head.status == 401 ? &p->tries.unauthorized : &p->tries.forbidden) +=
		1;
	if (a) {
		err_clear(&v.err);
		verdict = a->type->refused(
			a, remote_verb_of(p), route_of(&r->route, p)->text.p,
			&head, buf_str(&p->reply.body), &p->tries, &v.err);
	}
	if (verdict == AUTHORIZER_NO) {
		remote_lose(p, &v);
		return;
	}
	send_again(p);
	if (verdict == AUTHORIZER_WAIT)
		remote_wait_for_authorizer(p);
}

void remote_begin_sse(struct remote *r, struct post *p, const struct err *err)
{
	r->era.is_sse = true;
	r->refused = p;
	if (p) {
		post_to(p, POST_ELSEWHERE, POST_NO_TIME);
		r->refusal = *err;
	}
	r->events = posts_add(&r->posts, POST_EVENTS, STR(""));
}

static void lose_listener(struct post *listener)
{
	struct remote *r = remote_of(listener);
	const struct http_end end = {.kind = HTTP_DONE};
	const struct reply_around a = around(r);
	struct reply_verdict v;

	log_debug("%s: no stream of its own (%d)", buf_cstr(&r->route.shown),
		  listener->reply.status);
	remote_drop(listener);
	for (struct post *p = r->posts.first, *next; p; p = next) {
		next = p->next;
		if (p->state != POST_ELSEWHERE)
			continue;
		reply_judge_stream(p, &end, &a, &v);
		remote_lose(p, &v);
	}
}

static void act_on(struct post *p, const struct reply_verdict *v)
{
	struct remote *r = remote_of(p);

	switch (v->what) {
	case REPLY_DONE:
		remote_drop(p);
		break;
	case REPLY_LOST:
		remote_lose(p, v);
		break;
	case REPLY_TAKE:
		take_body(p);
		break;
	case REPLY_LATER:
		send_later(p, v);
		break;
	case REPLY_ELSEWHERE:
		post_close(p);
		post_to(p, POST_ELSEWHERE, POST_NO_TIME);
		break;
	case REPLY_MOVED:
		move(p, v->url);
		break;
	case REPLY_DENIED:
		ask_authorizer(p, v);
		break;
	case REPLY_NO_SESSION:
		send_in_new_session(p);
		break;
	case REPLY_NO_PROBE:
		remote_give_error(p, RPC_INVALID_REQUEST, str_of(v->err.msg));
		break;
	case REPLY_TRY_SSE:
		remote_begin_sse(r, p, &v->err);
		break;
	case REPLY_NO_LISTENER:
		lose_listener(p);
		break;
	case REPLY_OVER:
		lose_all(r, TRANSPORT_BROKE, &v->err);
		break;
	}
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
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct remote *r = remote_of(p);
	struct route *route = &r->route;
	struct url *url = ARENA_NEW(&route->arena, struct url);
	struct err err = ERR_INIT;

	if (url_resolve(route_of(route, p), str_trim(reference), &route->arena,
			url, &err) < 0) {
		err_wrap(&err, "its endpoint");
		lose_broken(p, &err);
		return;
	}
	/* credentials would leave the server that they are for */
	if (!url_same_origin(url, &route->url)) {
		url_origin(url, &shown);
		err_set(&err, ERR_PEER,
			"its endpoint is on another origin, %s; that is "
			"refused",
			buf_cstr(&shown));
		lose_broken(p, &err);
		return;
	}
	loop_timer_clear(r->o.loop, &p->timer);
	route->endpoint = url;
	if (r->refused)
		send_again(r->refused);
	r->refused = NULL;
	posts_wake(&r->posts);
}

static void take_event(struct post *p, const struct sse_event *e)
{
	struct remote *r = remote_of(p);

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
	const struct reply_around a = around(remote_of(p));
	struct reply_verdict v;

	remote_of(p)->oddities++;
	if (p->kind != POST_REQUEST || p->is_answered)
		return;
	reply_judge_long_event(p, &a, &v);
	act_on(p, &v);
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

/* Older revisions: messages of the server's own come on this stream. */
static void open_listener(struct remote *r)
{
	if (!r->listener && !r->era.is_sse && !r->era.is_modern &&
	    !r->is_ending)
		r->listener = posts_add(&r->posts, POST_LISTENER, STR(""));
}

/* ---- callbacks of HTTP ---- */

static bool is_good(int status)
{
	return status >= 200 && status < 300;
}

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

static void note_session(struct post *p, const struct http_head *head)
{
	struct remote *r = remote_of(p);

	switch (era_note_head(&r->era, p, head)) {
	case ERA_HEAD_SESSION:
		p->reply.is_bad_session = false;
		if (r->o.on_session)
			r->o.on_session(r->o.arg, buf_str(&r->era.session_id));
		break;
	case ERA_HEAD_BAD:
		p->reply.is_bad_session = true;
		break;
	case ERA_HEAD_ODD:
		r->oddities++;
		log_debug("%s: another session id is ignored",
			  buf_cstr(&r->route.shown));
		break;
	case ERA_HEAD_PLAIN:
		break;
	}
}

/* A notification is done with its head: its body says nothing. */
static void accept_notice(struct post *p)
{
	struct remote *r = remote_of(p);

	p->is_answered = true;
	if (post_is(p, "notifications/initialized"))
		open_listener(r);
	if (p == r->opening) {
		r->opening = NULL;
		loop_timer_clear(r->o.loop, &p->timer);
	}
	posts_wake(&r->posts);
}

static void on_head(void *arg, const struct http_head *head)
{
	struct post *p = arg;
	struct remote *r = remote_of(p);
	bool may_stream = p->kind == POST_REQUEST || p->kind == POST_LISTENER ||
			  p->kind == POST_EVENTS;

	p->reply.status = head->status;
	buf_add_str(&p->reply.media_type, head->media_type);
	buf_add_str(&p->reply.lines, head->lines);
	p->reply.is_stream = is_good(head->status) && may_stream &&
			     str_is(head->media_type, "text/event-stream");
	count_status(r, head->status);
	if (r->o.auth)
		r->o.auth->type->answered(r->o.auth, head);
	note_session(p, head);
	if (p->kind == POST_NOTICE && is_good(head->status))
		accept_notice(p);
	if (p->reply.is_stream)
		sse_again(&p->sse);
}

static uint64_t body_max(const struct post *p)
{
	if (!is_good(p->reply.status))
		return REFUSAL_BYTES;
	return p->kind == POST_REQUEST ? remote_of(p)->o.message_max
				       : NOTICE_BYTES;
}

static bool on_body(void *arg, struct str bytes)
{
	struct post *p = arg;

	if (p->reply.is_stream) {
		take_events(p, bytes);
		return true;
	}
	if (p->reply.body.n + bytes.n > body_max(p)) {
		p->reply.is_too_long = true;
		return false;
	}
	buf_add_str(&p->reply.body, bytes);
	return true;
}

static void on_end(void *arg, const struct http_end *end)
{
	struct post *p = arg;
	const struct reply_around a = around(remote_of(p));
	struct reply_verdict v;

	p->x = NULL;
	if (p->state == POST_GONE)
		return;
	reply_judge(p, end, &a, &v);
	act_on(p, &v);
}

/* ---- an exchange ---- */

/* Where no clock of the session runs; 0: one does. */
static uint64_t total_ms(const struct post *p)
{
	if (p->kind == POST_NOTICE)
		return NOTICE_MS;
	if (p->kind == POST_DELETE)
		return remote_of(p)->o.end_ms;
	return p->own == POST_OWN_TOOLS ? LIST_MS : 0;
}

void remote_open(struct post *p, const struct http_headers *h)
{
	struct remote *r = remote_of(p);
	bool is_message = p->body.n && !post_is_get(p);
	const struct http_request request = {
		.method = remote_verb_of(p),
		.url = route_of(&r->route, p)->text.p,
		.headers = h,
		.content =
			is_message ? buf_str(&p->body) : (struct str){NULL, 0},
		.connect_ms = r->o.connect_ms,
		.total_ms = total_ms(p),
		.reach = &r->o.reach,
		.head = on_head,
		.body = on_body,
		.end = on_end,
		.arg = p,
	};

	post_to(p, POST_OPEN,
		p == r->opening		 ? OPENING_MS
		: p->kind == POST_EVENTS ? REMOTE_ENDPOINT_MS
					 : POST_NO_TIME);
	p->x = http_send(r->o.http, &request);
}
