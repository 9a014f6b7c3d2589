/*
 * The remote transport, in layers; each calls down only:
 *
 *	remote.c	   decides what may be sent, acts on verdicts, ends
 *	remote_reply.c	   what a reply or message means, and what is known of
 *			   the session
 *	remote_headers.c   header fields of a request
 *	post.c		   one message of ours, and its state
 *	items.c		   the queue of what the caller gets
 */
#include "core/transport/remote.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/mcp.h"
#include "core/transport/items.h"
#include "core/transport/post.h"
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
/* An id that no request of the session has, since those are numbers. */
#define OWN_ID_BYTES 32
/* For the first event of HTTP+SSE. */
#define REMOTE_ENDPOINT_MS 10000
/* The rest of a stream whose answer came is read for so long. */
#define REMOTE_LINGER_MS 200

/* An answer code and how often it came. */
struct status_count {
	int status;
	uint64_t n;
};

struct remote {
	struct transport base; /* first */
	struct remote_options o;
	struct route route;
	struct items items;
	struct posts posts;
	struct era era;
	struct tools tools;
	struct buf line; /* a message of ours, not whole yet */
	unsigned next_own;
	char told[16]; /* the revision that the authorizer knows of */

	/* among the posts; NULL: none */
	struct post *opening;  /* `initialized`, not accepted yet */
	struct post *listener; /* the stream of its own */
	struct post *events;   /* the stream of HTTP+SSE */
	struct post *refused;  /* the initialize that led to HTTP+SSE */
	struct err refusal;    /* of that */

	bool is_ending, is_over;
	bool is_deleted; /* DELETE was sent, or need not be */
	struct loop_timer end;

	/* for reports; more kinds of answers than these are not counted */
	struct status_count status[32];
	size_t n_status;
	uint64_t reconnects, restored, oddities;
	uint32_t jitter;
};

static struct remote *remote_of(const struct post *p)
{
	return p->all->flow.arg;
}

static uint64_t next_jitter(struct remote *r, uint64_t max)
{
	/* spread, not secret */
	r->jitter = r->jitter * 1664525 + 1013904223;
	return (r->jitter >> 8) % (max + 1);
}

/* ---- the end of a post ---- */

/* Nothing more comes of it; harmless twice. */
static void drop_post(struct post *p)
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

static void drop_all(struct remote *r)
{
	while (r->posts.first)
		drop_post(r->posts.first);
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

/* No answer to this post will come: loss, is_unknown and err of the verdict. */
static void lose_post(struct post *p, const struct reply_verdict *v)
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
	drop_post(p);
}

static void lose_broken(struct post *p, const struct err *err)
{
	lose_post(p, &(struct reply_verdict){.loss = TRANSPORT_BROKE,
					     .err = *err});
}

static void send_again(struct post *p)
{
	post_to(p, POST_QUEUED, POST_NO_TIME);
}

/* Answer it with an error of our own. */
static void give_error(struct post *p, int64_t code, struct str message)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	taken_write_error(p, code, message, &text);
	items_add_message(&remote_of(p)->items, buf_str(&text), NULL);
	p->is_answered = true;
	drop_post(p);
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
		drop_post(r->listener);
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

/* Ask for a page of tools, with the _meta of `like`. */
static void ask_tools(struct remote *r, const struct post *like,
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
		ask_tools(r, p, cursor);
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

/* Tell the authorizer which revision is spoken, once for each. */
static void tell_protocol(struct remote *r, const char *protocol)
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
		tell_protocol(r, r->era.protocol);
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
			drop_post(p);
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

/* Until the authorizer calls; clocks stand still while it asks a person. */
static void wait_for_authorizer(struct post *p)
{
	struct remote *r = remote_of(p);

	post_to(p, POST_WAITS, POST_NO_TIME);
	if (r->o.auth->type->is_person(r->o.auth))
		items_hold(&r->items, true);
}

/* GET, POST or DELETE. */
static const char *verb_of(const struct post *p)
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
			a, verb_of(p), route_of(&r->route, p)->text.p, &head,
			buf_str(&p->reply.body), &p->tries, &v.err);
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
	drop_post(listener);
	for (struct post *p = r->posts.first, *next; p; p = next) {
		next = p->next;
		if (p->state != POST_ELSEWHERE)
			continue;
		reply_judge_stream(p, &end, &a, &v);
		lose_post(p, &v);
	}
}

static void act_on(struct post *p, const struct reply_verdict *v)
{
	struct remote *r = remote_of(p);

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
		give_error(p, RPC_INVALID_REQUEST, str_of(v->err.msg));
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

/* Begin its exchange; what comes of it is acted on here. */
static void open_exchange(struct post *p, const struct http_headers *h)
{
	struct remote *r = remote_of(p);
	bool is_message = p->body.n && !post_is_get(p);
	const struct http_request request = {
		.method = verb_of(p),
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

/* ---- sending ---- */

static void sign_and_send(struct post *p)
{
	struct remote *r = remote_of(p);
	struct authorizer *a = r->o.auth;
	struct http_headers h = {0};
	struct reply_verdict v = {.err = ERR_INIT};
	enum authorizer_verdict verdict = AUTHORIZER_NO;

	if (headers_make(p, &r->era, &r->tools, &h, &v.err) < 0) {
		v.loss = TRANSPORT_BROKE;
	} else {
		v.loss = TRANSPORT_DENIED;
		verdict = !a ? AUTHORIZER_GO
			     : a->type->sign(a, verb_of(p),
					     route_of(&r->route, p)->text.p, &h,
					     &v.err);
	}
	if (verdict == AUTHORIZER_GO)
		open_exchange(p, &h);
	else if (verdict == AUTHORIZER_WAIT)
		wait_for_authorizer(p);
	else
		lose_post(p, &v);
	http_headers_release(&h);
}

/* May this call go? Else the schemas of tools are asked for. */
static bool has_schema(struct post *p)
{
	struct remote *r = remote_of(p);

	if (!p->protocol || !post_is(p, "tools/call") ||
	    tools_know(&r->tools, p))
		return true;
	if (!r->tools.is_asked) {
		r->tools.pages = 0;
		ask_tools(r, p, (struct str){NULL, 0});
	}
	return false;
}

static bool may_go(struct post *p)
{
	struct remote *r = remote_of(p);

	if (p->kind == POST_DELETE || post_is_get(p))
		return true;
	if (r->era.is_sse && !r->route.endpoint)
		return false;
	if (r->era.is_restoring && !p->own)
		return false;
	/* `initialized` must not be overtaken */
	if (r->opening && r->opening != p)
		return false;
	return has_schema(p);
}

static void send_all(struct remote *r)
{
	if (r->era.is_sse && !r->events && !r->is_ending && r->posts.first)
		begin_sse(r, NULL, NULL);
	for (struct post *p = r->posts.first, *next; p; p = next) {
		/* another one may stand behind it afterwards */
		if (p->state == POST_QUEUED && may_go(p))
			sign_and_send(p);
		next = p->state == POST_GONE ? r->posts.first : p->next;
	}
}

/* ---- messages of ours ---- */

static struct post *find_open(struct remote *r, struct str id)
{
	for (struct post *p = r->posts.first; p; p = p->next)
		if (p->kind == POST_REQUEST && !p->own && str_eq(p->id, id))
			return p;
	return NULL;
}

/*
 * The session waits no longer for a request. Where every request stands alone
 * its stream is closed, and that says it; before that the message does, and
 * the stream is left after it.
 *
 * returns  is the message to be sent?
 */
static bool cancel(struct remote *r, const struct post *notice)
{
	struct post *of;
	struct str id;

	if (!scan_get(notice->params, "requestId", &id))
		return true;
	of = find_open(r, id);
	if (!of)
		return !r->era.is_modern;
	if (of->protocol || of->state == POST_QUEUED ||
	    of->state == POST_WAITS) {
		bool was_sent = of->is_resuming;

		drop_post(of);
		return !r->era.is_modern && was_sent;
	}
	of->is_answered = true;
	post_to(of, POST_LINGERS, REMOTE_LINGER_MS);
	return true;
}

static void take_line(struct remote *r, struct str line)
{
	struct post *p = posts_add(&r->posts, POST_REQUEST, line);

	if (post_is(p, "notifications/cancelled") && !cancel(r, p)) {
		drop_post(p);
	} else if (r->era.is_modern && p->kind == POST_NOTICE && !*p->method) {
		/* the modern era has no responses of ours */
		drop_post(p);
	} else if (r->era.is_sse && post_is(p, "server/discover")) {
		/* HTTP+SSE is of the older era */
		give_error(p, RPC_METHOD_NOT_FOUND, STR("not over HTTP+SSE"));
	} else {
		era_note_ours(&r->era, p);
		if (p->protocol)
			tell_protocol(r, p->protocol);
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

static void end_all(struct remote *r)
{
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
	for (const struct post *p = r->posts.first; p; p = p->next)
		if ((p->kind == POST_NOTICE || p->kind == POST_DELETE) &&
		    !p->is_answered)
			return;
	if (!r->is_deleted && r->era.session_id.n && !r->era.is_sse) {
		r->is_deleted = true;
		(void)!posts_add(&r->posts, POST_DELETE, STR(""));
		return;
	}
	end_all(r);
}

static void on_flow(void *arg)
{
	struct remote *r = arg;

	posts_sweep(&r->posts);
	send_all(r);
	if (r->is_ending && !r->is_over)
		go_on_ending(r);
}

static void on_end_time(void *arg)
{
	end_all(arg);
}

/* The deadline of a post's state has passed. */
static void on_late(void *arg)
{
	struct post *p = arg;
	struct remote *r = remote_of(p);
	struct reply_verdict v = {.loss = TRANSPORT_BROKE, .err = ERR_INIT};

	if (p->state == POST_LINGERS) {
		drop_post(p);
	} else if (p->kind == POST_EVENTS && p->state == POST_OPEN) {
		err_set(&v.err, ERR_PEER,
			"the server did not name its endpoint within %d s",
			REMOTE_ENDPOINT_MS / 1000);
		lose_post(p, &v);
	} else {
		if (p == r->opening)
			r->opening = NULL;
		if (p->state == POST_PAUSED)
			post_to(p, POST_QUEUED, POST_NO_TIME);
		posts_wake(&r->posts);
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
	for (struct post *p = r->posts.first, *next; p; p = next) {
		next = p->next;
		if (p->kind != POST_NOTICE || p->state == POST_WAITS)
			drop_post(p);
	}
	loop_timer_set(l, &r->end, loop_now(l) + r->o.end_ms * NS_PER_MS);
	posts_wake(&r->posts);
}

static void remote_end_input(UNUSED struct transport *t)
{
	/* nothing to do: the caller asks for no more items */
}

static void remote_free(struct transport *t)
{
	struct remote *r = (struct remote *)t;

	drop_all(r);
	posts_sweep(&r->posts);
	loop_timer_clear(r->o.loop, &r->posts.flow);
	loop_timer_clear(r->o.loop, &r->end);
	if (r->o.auth)
		r->o.auth->changed = NULL;
	items_release(&r->items);
	tools_forget(&r->tools);
	era_release(&r->era);
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

static void write_statuses(const struct remote *r, struct jw *w)
{
	char name[16];

	jw_kv_object(w, "status");
	for (size_t i = 0; i < r->n_status; i++) {
		snprintf(name, sizeof(name), "%d", r->status[i].status);
		jw_key(w, name);
		jw_uint(w, r->status[i].n);
	}
	jw_end(w);
}

static void remote_facts(const struct transport *t, struct jw *w)
{
	const struct remote *r = (const struct remote *)t;

	jw_kv_str(w, "url", buf_str(&r->route.shown));
	jw_kv_object(w, "http");
	jw_kv_cstr(w, "library", http_library());
	jw_kv_cstr(w, "transport",
		   r->era.is_sse ? "http+sse" : "streamable-http");
	write_statuses(r, w);
	jw_key(w, "reconnects");
	jw_uint(w, r->reconnects);
	jw_key(w, "restored");
	jw_uint(w, r->restored);
	jw_kv_bool(w, "session", r->era.session > 0);
	jw_key(w, "oddities");
	jw_uint(w, r->oddities);
	jw_end(w);
}

static int remote_in_fd(const struct transport *t)
{
	return ((const struct remote *)t)->items.event;
}

static int remote_out_fd(UNUSED const struct transport *t)
{
	return -1;
}

static const struct transport_type remote_type = {
	.name = "http",
	.in_fd = remote_in_fd,
	.out_fd = remote_out_fd,
	.send = remote_send,
	.end_output = remote_end_output,
	.end_input = remote_end_input,
	.free = remote_free,
	.next = remote_next,
	.facts = remote_facts,
};

/* The authorizer has credentials, or will never have them. */
static void on_authorizer_changed(void *arg)
{
	struct remote *r = arg;

	items_hold(&r->items, false);
	for (struct post *p = r->posts.first; p; p = p->next)
		if (p->state == POST_WAITS)
			post_to(p, POST_QUEUED, POST_NO_TIME);
	posts_wake(&r->posts);
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
	r->era = (struct era)ERA_INIT;
	r->era.is_sse = options->kind == REMOTE_SSE;
	r->jitter = (uint32_t)(loop_now(r->o.loop) >> 10);
	r->line = r->route.shown = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->posts = (struct posts){
		.loop = r->o.loop,
		.flow = {.fire = on_flow, .arg = r},
		.message_max = r->o.message_max,
		.late = on_late,
	};
	r->end = (struct loop_timer){.fire = on_end_time, .arg = r};
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
