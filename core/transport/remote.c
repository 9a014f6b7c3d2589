#include "core/transport/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/transport/remote_inner.h"

#define REQUEST_MS 60000

/* ---- posts ---- */

void remote_wake(struct remote *r)
{
	loop_timer_set(r->o.loop, &r->flow, loop_now(r->o.loop));
}

uint64_t remote_jitter(struct remote *r, uint64_t max)
{
	/* spread, not secret */
	r->jitter = r->jitter * 1664525 + 1013904223;
	return (r->jitter >> 8) % (max + 1);
}

void remote_write_own_id(struct remote *r, struct jw *w)
{
	char id[32];

	snprintf(id, sizeof(id), REMOTE_OWN_ID, ++r->next_own);
	jw_cstr(w, id);
}

static void on_timer(void *arg)
{
	struct post *p = arg;

	if (p->state == POST_LINGERS) {
		remote_drop(p);
		return;
	}
	if (p->kind == POST_EVENTS && p->state == POST_OPEN) {
		remote_sse_late(p);
		return;
	}
	if (p == p->remote->opening)
		p->remote->opening = NULL;
	if (p->state == POST_PAUSED)
		p->state = POST_QUEUED;
	remote_wake(p->remote);
}

struct post *remote_post(struct remote *r, enum post_kind kind, struct str body)
{
	struct post *p = mem_zalloc(sizeof(*p));

	p->remote = r;
	p->kind = kind;
	p->body = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	p->reply.media_type = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	p->reply.lines = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	p->reply.body = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	p->timer = (struct loop_timer){.fire = on_timer, .arg = p};
	sse_init(&p->sse, r->o.message_max);
	buf_add_str(&p->body, body);
	p->prev = r->last;
	*(r->last ? &r->last->next : &r->first) = p;
	r->last = p;
	remote_wake(r);
	return p;
}

void post_first(struct post *p)
{
	struct remote *r = p->remote;

	if (!p->prev)
		return;
	p->prev->next = p->next;
	*(p->next ? &p->next->prev : &r->last) = p->prev;
	p->prev = NULL;
	p->next = r->first;
	r->first->prev = p;
	r->first = p;
}

void post_close(struct post *p)
{
	http_cancel(p->x);
	p->x = NULL;
	p->reply.status = 0;
	p->reply.is_stream = p->reply.is_too_long = false;
	buf_release(&p->reply.body);
	buf_clear(&p->reply.media_type);
	buf_clear(&p->reply.lines);
}

void post_again(struct post *p)
{
	post_close(p);
	loop_timer_clear(p->remote->o.loop, &p->timer);
	p->state = POST_QUEUED;
	remote_wake(p->remote);
}

void post_after(struct post *p, uint64_t ms)
{
	struct loop *l = p->remote->o.loop;

	/* what was dropped is freed soon, and no timer may know of it then */
	if (!p->is_gone)
		loop_timer_set(l, &p->timer, loop_now(l) + ms * NS_PER_MS);
}

void remote_drop(struct post *p)
{
	struct remote *r = p->remote;

	if (p->is_gone)
		return;
	post_close(p);
	loop_timer_clear(r->o.loop, &p->timer);
	*(p->prev ? &p->prev->next : &r->first) = p->next;
	*(p->next ? &p->next->prev : &r->last) = p->prev;
	if (r->opening == p)
		r->opening = NULL;
	if (r->listener == p)
		r->listener = NULL;
	if (r->events == p)
		r->events = NULL;
	if (r->refused == p)
		r->refused = NULL;
	p->is_gone = true;
	p->next = r->gone;
	r->gone = p;
	remote_wake(r);
}

static void free_gone(struct remote *r)
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

/* ---- the end ---- */

static void over(struct remote *r)
{
	const struct transport_item item = {.type = TRANSPORT_OVER};

	if (r->is_over)
		return;
	while (r->first)
		remote_drop(r->first);
	loop_timer_clear(r->o.loop, &r->end);
	remote_give_item(r, &item);
	r->is_over = true;
}

static void on_end_time(void *arg)
{
	over(arg);
}

/* The last words first, then DELETE, then nothing. */
static void go_on_ending(struct remote *r)
{
	for (const struct post *p = r->first; p; p = p->next)
		if ((p->kind == POST_NOTICE || p->kind == POST_DELETE) &&
		    !p->is_answered)
			return;
	if (!r->is_deleted && r->session_id.n && !r->is_sse) {
		r->is_deleted = true;
		remote_post(r, POST_DELETE, STR(""));
		return;
	}
	over(r);
}

static void on_flow(void *arg)
{
	struct remote *r = arg;

	free_gone(r);
	remote_flow(r);
	if (r->is_ending && !r->is_over)
		go_on_ending(r);
}

/* Nobody waits for answers any more. */
static void remote_end_output(struct transport *t)
{
	struct remote *r = (struct remote *)t;
	struct loop *l = r->o.loop;

	if (r->is_ending)
		return;
	r->is_ending = true;
	remote_hold(r, false);
	for (struct post *p = r->first, *next; p; p = next) {
		next = p->next;
		if (p->kind != POST_NOTICE || p->state == POST_WAITS)
			remote_drop(p);
	}
	loop_timer_set(l, &r->end, loop_now(l) + r->o.end_ms * NS_PER_MS);
	remote_wake(r);
}

static void remote_end_input(UNUSED struct transport *t)
{
	/* what arrives is not taken: the caller no longer asks */
}

static void remote_free(struct transport *t)
{
	struct remote *r = (struct remote *)t;

	while (r->first)
		remote_drop(r->first);
	free_gone(r);
	loop_timer_clear(r->o.loop, &r->flow);
	loop_timer_clear(r->o.loop, &r->end);
	if (r->o.auth)
		r->o.auth->changed = NULL;
	remote_items_release(r);
	remote_list_forget(r);
	buf_release(&r->line);
	buf_release(&r->where);
	buf_wipe(&r->session_id);
	buf_release(&r->initialize);
	buf_release(&r->initialized);
	arena_release(&r->arena);
	fd_closep(&r->event);
	free(r);
}

/* ---- made ---- */

static int remote_in_fd(const struct transport *t)
{
	return ((const struct remote *)t)->event;
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

/* The authorizer has what it wanted, or was told that it gets nothing. */
static void on_authorizer_changed(void *arg)
{
	struct remote *r = arg;

	remote_hold(r, false);
	for (struct post *p = r->first; p; p = p->next)
		if (p->state == POST_WAITS)
			p->state = POST_QUEUED;
	remote_wake(r);
}

static int set_url(struct remote *r, const char *url, struct err *err)
{
	const struct url *u = &r->url;

	if (url_parse(str_of(url), &r->arena, &r->url, err) < 0)
		return -1;
	if (!str_is(u->scheme, "http") && !str_is(u->scheme, "https"))
		return err_set(err, ERR_SYNTAX,
			       "a server's URL begins with http or https, "
			       "not with %.*s",
			       STR_ARG(u->scheme));
	url_origin(u, &r->where);
	buf_add_str(&r->where, u->path);
	return 0;
}

static int fill(struct remote *r, const struct remote_options *o,
		struct err *err)
{
	if (set_url(r, o->url, err) < 0)
		return -1;
	r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->event < 0)
		return err_sys(err, errno, "eventfd");
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
	r->event = -1;
	r->is_sse = options->kind == REMOTE_SSE;
	r->jitter = (uint32_t)(loop_now(r->o.loop) >> 10);
	r->line = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->where = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->session_id = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->initialize = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->initialized = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->given.memory = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->flow = (struct loop_timer){.fire = on_flow, .arg = r};
	r->end = (struct loop_timer){.fire = on_end_time, .arg = r};
	if (fill(r, options, err) < 0) {
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
