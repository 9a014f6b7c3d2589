/*
 * The remote transport, in layers; each calls down only:
 *
 *	remote.c	   decides what may be sent, and ends
 *	remote_act.c	   acts on replies, messages and events
 *	remote_reply.c	   what the end of an exchange means
 *	remote_take.c	   which request a message of the server answers
 *	remote_headers.c   header fields of a request
 *	remote_era.c	   what is known of the session
 *	post.c		   one message of ours, and its state
 *	items.c		   the queue of what the caller gets
 */
#include "core/transport/remote.h"

#include <stdio.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/transport/remote_act.h"

#define REQUEST_MS 60000

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
			     : a->type->sign(a, remote_verb_of(p),
					     route_of(&r->route, p)->text.p, &h,
					     &v.err);
	}
	if (verdict == AUTHORIZER_GO)
		remote_open(p, &h);
	else if (verdict == AUTHORIZER_WAIT)
		remote_wait_for_authorizer(p);
	else
		remote_lose(p, &v);
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
		remote_ask_tools(r, p, (struct str){NULL, 0});
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
		remote_begin_sse(r, NULL, NULL);
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

		remote_drop(of);
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
		remote_drop(p);
	} else if (r->era.is_modern && p->kind == POST_NOTICE && !*p->method) {
		/* the modern era has no responses of ours */
		remote_drop(p);
	} else if (r->era.is_sse && post_is(p, "server/discover")) {
		/* HTTP+SSE is of the older era */
		remote_give_error(p, RPC_METHOD_NOT_FOUND,
				  STR("not over HTTP+SSE"));
	} else {
		era_note_ours(&r->era, p);
		if (p->protocol)
			remote_tell_protocol(r, p->protocol);
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
	remote_drop_all(r);
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
		remote_drop(p);
	} else if (p->kind == POST_EVENTS && p->state == POST_OPEN) {
		err_set(&v.err, ERR_PEER,
			"the server did not name its endpoint within %d s",
			REMOTE_ENDPOINT_MS / 1000);
		remote_lose(p, &v);
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
			remote_drop(p);
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

	remote_drop_all(r);
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
