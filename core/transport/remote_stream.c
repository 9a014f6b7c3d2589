/*
 * Event streams: the answer to a request, resumed where it broke, and the
 * stream of messages that belong to no request.
 */
#include <string.h>

#include "core/base/log.h"
#include "core/transport/remote_inner.h"

/* Reconnects without a new event in between (HL-11). */
#define ATTEMPTS_MAX 5
/* Without a word of the server: 1 s, growing by half, to 30 s (HL-10). */
#define DELAY_FIRST_MS 1000
#define DELAY_LAST_MS 30000
/* Subscriptions are opened again: 1 s, doubling, to 60 s (SUB-6). */
#define LISTEN_LAST_MS 60000
#define JITTER_MS 100

/* ---- events ---- */

static void on_too_long(struct post *p)
{
	struct err err = ERR_INIT;

	p->remote->oddities++;
	if (p->kind != POST_REQUEST || p->is_answered)
		return;
	err_set(&err, ERR_LIMIT,
		"the server sent an event of more than %llu bytes while %s was "
		"open; if it may be that long, raise stdout_max",
		(unsigned long long)p->remote->o.message_max, post_name(p));
	remote_lose(p, TRANSPORT_TOO_LONG, true, &err);
}

static void came_something(struct post *p)
{
	p->attempts = 0;
	p->delay_ms = 0;
}

static void on_event(struct post *p, const struct sse_event *e)
{
	if (p->kind == POST_EVENTS)
		remote_sse_event(p, e);
	if (p->is_gone || !str_is(e->name, "message") || !str_trim(e->data).n)
		return;
	came_something(p);
	if (!remote_take(p, e->data, &p->sse.data))
		p->remote->oddities++;
}

void remote_on_events(struct post *p, struct str bytes)
{
	struct sse_event e;
	enum sse_result got;

	while (!p->is_gone &&
	       (got = sse_next(&p->sse, &bytes, &e)) != SSE_NONE) {
		if (got == SSE_OVER)
			on_too_long(p);
		else
			on_event(p, &e);
	}
	/* the end of such an event may never come */
	if (!p->is_gone && p->sse.is_over && p->kind == POST_REQUEST &&
	    !p->is_answered)
		on_too_long(p);
	/* an id alone is a sign of life, too (SSE-5) */
	if (!p->is_gone && p->seen_ids != p->sse.ids)
		came_something(p);
	p->seen_ids = p->sse.ids;
}

/* ---- broken ---- */

static uint64_t longer(uint64_t ms, uint64_t by, uint64_t max)
{
	if (!ms)
		return DELAY_FIRST_MS;
	return ms + by < max ? ms + by : max;
}

/* When to come again: as the server said, or longer each time. */
static uint64_t delay(struct post *p)
{
	uint64_t ms = p->sse.retry_ms;

	/* event ids and `retry` are of the older era (HM-5) */
	if (p->protocol) {
		p->delay_ms = longer(p->delay_ms, p->delay_ms, LISTEN_LAST_MS);
		ms = p->delay_ms;
	} else if (!p->sse.has_retry) {
		p->delay_ms =
			longer(p->delay_ms, p->delay_ms / 2, DELAY_LAST_MS);
		ms = p->delay_ms;
	}
	return ms + remote_jitter(p->remote, JITTER_MS);
}

static void come_again(struct post *p)
{
	p->remote->reconnects++;
	p->attempts++;
	post_close(p);
	p->state = POST_PAUSED;
	post_after(p, delay(p));
}

static void lost(struct post *p, const struct http_end *end)
{
	struct err err = ERR_INIT;

	if (end && end->kind != HTTP_DONE)
		post_say_end(p, end, &err);
	else
		err_set(&err, ERR_PEER,
			"the server closed the stream before the answer to %s",
			post_name(p));
	post_say_unknown(p, &err);
	remote_lose(p, TRANSPORT_BROKE, true, &err);
}

/* Where every request stands alone: once more where that is safe (HM-6). */
static void modern_broke(struct post *p, const struct http_end *end)
{
	bool is_listen = strcmp(p->method, "subscriptions/listen") == 0;

	if (is_listen && p->attempts < ATTEMPTS_MAX) {
		remote_list_forget(p->remote);
		come_again(p);
	} else if (post_is_safe(p) && !p->was_repeated) {
		p->was_repeated = true;
		p->remote->reconnects++;
		post_close(p);
		p->state = POST_PAUSED;
		post_after(p, remote_jitter(p->remote, JITTER_MS));
	} else {
		lost(p, end);
	}
}

void remote_stream_broke(struct post *p, const struct http_end *end)
{
	if (p->protocol) {
		modern_broke(p, end);
		return;
	}
	if (!p->sse.last_id.n || p->attempts == ATTEMPTS_MAX) {
		lost(p, end);
		return;
	}
	p->is_resuming = true;
	come_again(p);
}

void remote_resumed_ended(struct post *p, const struct http_end *end)
{
	struct err err = ERR_INIT;
	int status = p->reply.status;

	if (p->reply.is_stream || !status || status >= 500) {
		remote_stream_broke(p, end);
		return;
	}
	/* the request was received: it is not sent in another session */
	post_say_status(p, &err);
	post_say_unknown(p, &err);
	remote_lose(p, TRANSPORT_BROKE, true, &err);
}

/* ---- the stream of its own ---- */

/* Older revisions: what the server says by itself comes here (HL-7). */
void remote_listen(struct remote *r)
{
	if (r->listener || r->is_sse || r->is_modern || r->is_ending)
		return;
	/*
	 * It takes the connection that is free, and requests follow on another:
	 * what a server asks while it works on them is lost where this stream
	 * is not there yet.
	 */
	r->listener = remote_post(r, POST_LISTENER, STR(""));
	post_first(r->listener);
}

/* Requests that wait for an answer on it. */
static void lose_elsewhere(struct remote *r)
{
	for (struct post *p = r->first, *next; p; p = next) {
		next = p->next;
		if (p->state == POST_ELSEWHERE)
			lost(p, NULL);
	}
}

void remote_listener_ended(struct post *p, const struct http_end *end)
{
	struct remote *r = p->remote;
	struct err err = ERR_INIT;
	int status = p->reply.status;
	bool is_moved = status >= 300 && status < 400;

	if (is_moved && post_redirect(p, &err)) {
		post_again(p);
		return;
	}
	/* an answer that is no stream: there is none (RW-102) */
	if ((status && !p->reply.is_stream) || p->attempts == ATTEMPTS_MAX) {
		log_debug("%s: no stream of its own (%d, %s)",
			  buf_cstr(&r->where), status, end->err.msg);
		remote_drop(p);
		lose_elsewhere(r);
		return;
	}
	come_again(p);
}
