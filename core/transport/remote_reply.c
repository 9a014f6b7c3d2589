/*
 * What comes back of a POST: head, body, end, and what its status means.
 */
#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/transport/remote_inner.h"

/* Of a notification's answer, which nobody reads. */
#define NOTICE_BYTES (64 * 1024)

/* ---- head ---- */

static bool is_good(int status)
{
	return status >= 200 && status < 300;
}

/* Visible ASCII only (HL-2). */
static bool is_session_id(struct str id)
{
	if (id.n > LIMIT_SESSION_ID_BYTES)
		return false;
	for (size_t i = 0; i < id.n; i++)
		if (id.p[i] < 0x21 || id.p[i] > 0x7e)
			return false;
	return id.n > 0;
}

/* The first one counts; it is told with the answer to initialize. */
static void note_session(struct post *p, const struct http_head *head)
{
	struct remote *r = p->remote;
	struct str id;

	if (p->protocol || r->is_sse || !is_good(head->status) ||
	    !http_head_get(head, "Mcp-Session-Id", 0, &id))
		return;
	if (p->method && strcmp(p->method, "initialize") == 0) {
		buf_wipe(&r->session_id);
		r->has_worked = false;
		p->reply.is_bad_session = !is_session_id(id);
		if (p->reply.is_bad_session)
			return;
		r->session++;
		buf_add_str(&r->session_id, id);
		if (r->o.on_session)
			r->o.on_session(r->o.arg, id);
	} else if (!str_eq(id, buf_str(&r->session_id))) {
		/* RW-104 */
		r->oddities++;
		log_debug("%s: another session id is ignored",
			  buf_cstr(&r->where));
	}
}

/* A notification: whatever else is said of it is not waited for (HT-3). */
static void on_accepted(struct post *p)
{
	struct remote *r = p->remote;

	p->is_answered = true;
	if (strcmp(p->method, "notifications/initialized") == 0)
		remote_listen(r);
	if (p == r->opening) {
		r->opening = NULL;
		loop_timer_clear(r->o.loop, &p->timer);
	}
	remote_wake(r);
}

void remote_on_head(void *arg, const struct http_head *head)
{
	struct post *p = arg;
	struct remote *r = p->remote;
	bool may_stream = p->kind == POST_REQUEST || p->kind == POST_LISTENER ||
			  p->kind == POST_EVENTS;

	p->reply.status = head->status;
	buf_add_str(&p->reply.media_type, head->media_type);
	buf_add_str(&p->reply.lines, head->lines);
	p->reply.is_stream = is_good(head->status) && may_stream &&
			     str_is(head->media_type, "text/event-stream");
	remote_count_status(r, head->status);
	if (r->o.auth)
		r->o.auth->type->answered(r->o.auth, head);
	note_session(p, head);
	if (p->kind == POST_NOTICE && is_good(head->status))
		on_accepted(p);
	if (p->reply.is_stream)
		sse_again(&p->sse);
}

/* ---- body ---- */

static uint64_t body_max(const struct post *p)
{
	if (!is_good(p->reply.status))
		return REMOTE_REFUSAL_BYTES;
	return p->kind == POST_REQUEST ? p->remote->o.message_max
				       : NOTICE_BYTES;
}

bool remote_on_body(void *arg, struct str bytes)
{
	struct post *p = arg;

	if (p->reply.is_stream) {
		remote_on_events(p, bytes);
		return true;
	}
	if (p->reply.body.n + bytes.n > body_max(p)) {
		p->reply.is_too_long = true;
		return false;
	}
	buf_add_str(&p->reply.body, bytes);
	return true;
}

/* ---- the end ---- */

bool post_is_safe(const struct post *p)
{
	static const char *const safe[] = {
		"resources/read", "prompts/get", "completion/complete",
		"tasks/get",	  "ping",	 "server/discover",
	};

	if (p->kind != POST_REQUEST)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(safe); i++)
		if (strcmp(p->method, safe[i]) == 0)
			return true;
	return str_ends(str_of(p->method), "/list");
}

static enum transport_loss loss_of(enum http_end_kind kind)
{
	return kind == HTTP_REFUSED ? TRANSPORT_LEASH : TRANSPORT_BROKE;
}

/* Once more where nothing is done by it (HM-6). */
static bool repeat(struct post *p)
{
	if (p->was_repeated || !post_is_safe(p))
		return false;
	p->was_repeated = true;
	p->remote->reconnects++;
	post_close(p);
	p->state = POST_PAUSED;
	post_after(p, 50 + remote_jitter(p->remote, 100));
	return true;
}

/* What an exchange that failed means for its request. */
static void failed(struct post *p, const struct http_end *end)
{
	struct err err = ERR_INIT;

	/* an id of the older era is used up */
	if (end->is_sent && p->protocol && repeat(p))
		return;
	post_say_end(p, end, &err);
	if (end->is_sent)
		post_say_unknown(p, &err);
	remote_lose(p, loss_of(end->kind), end->is_sent, &err);
}

/* 202 to a request: the answer comes elsewhere, where there is such (HL-15). */
static void accepted_only(struct post *p)
{
	struct remote *r = p->remote;
	struct err err = ERR_INIT;

	if (r->is_sse || (r->listener && !p->protocol)) {
		post_close(p);
		p->state = POST_ELSEWHERE;
		return;
	}
	err_set(&err, ERR_PEER,
		"the server answered %s with HTTP status %d and nothing in it, "
		"and has no other stream for an answer",
		post_name(p), p->reply.status);
	post_say_unknown(p, &err);
	remote_lose(p, TRANSPORT_BROKE, true, &err);
}

static void too_long(struct post *p)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_LIMIT,
		"the answer to %s is longer than %llu bytes; if it may be that "
		"long, raise stdout_max",
		post_name(p), (unsigned long long)p->remote->o.message_max);
	remote_lose(p, TRANSPORT_TOO_LONG, true, &err);
}

static bool is_blank(struct str text)
{
	return str_trim(text).n == 0;
}

/* A whole answer that is no event stream. */
static void on_document(struct post *p)
{
	struct buf body = p->reply.body;
	struct err err = ERR_INIT;

	if (p->reply.is_too_long) {
		too_long(p);
		return;
	}
	if (is_blank(buf_str(&body))) {
		accepted_only(p);
		return;
	}
	/* what it is called does not count, what it is does (RW-96) */
	p->reply.body = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	if (remote_take(p, str_trim(buf_str(&body)), &body) &&
	    (p->is_gone || p->is_answered || p->state != POST_OPEN)) {
		buf_release(&body);
		if (p->is_answered)
			remote_drop(p);
		return;
	}
	p->reply.body = body;
	if (p->remote->is_sse) {
		post_close(p);
		p->state = POST_ELSEWHERE;
		return;
	}
	if (remote_beginning_refused(p))
		return;
	post_say_status(p, &err);
	post_say_unknown(p, &err);
	remote_lose(p, TRANSPORT_BROKE, true, &err);
}

static void on_request_end(struct post *p, const struct http_end *end)
{
	int status = p->reply.status;

	if (p->is_answered) {
		remote_drop(p);
	} else if (p->is_resuming) {
		remote_resumed_ended(p, end);
	} else if (p->reply.is_stream) {
		remote_stream_broke(p, end);
	} else if (!status || (end->kind != HTTP_DONE && is_good(status))) {
		/* nothing of a part is used (RW-111) */
		failed(p, end);
	} else if (is_good(status) && p->reply.is_bad_session) {
		struct err err = ERR_INIT;

		err_set(&err, ERR_PEER,
			"the server gave a session id with characters that "
			"are not allowed in one, or of more than %d bytes",
			LIMIT_SESSION_ID_BYTES);
		remote_lose(p, TRANSPORT_BROKE, false, &err);
	} else if (is_good(status)) {
		on_document(p);
	} else if (status < 400) {
		post_redirected(p);
	} else if (status == 401 || status == 403) {
		post_denied(p);
	} else {
		post_refused(p);
	}
}

/* A notification or a response of ours. */
static void on_notice_end(struct post *p, const struct http_end *end)
{
	int status = p->reply.status;

	if (end->kind == HTTP_DONE && status >= 300 && status < 400)
		post_redirected(p);
	else if (end->kind == HTTP_DONE && (status == 401 || status == 403))
		post_denied(p);
	else if (status == 404 && p->session && remote_session_lost(p))
		return;
	else
		remote_drop(p);
}

void remote_on_end(void *arg, const struct http_end *end)
{
	struct post *p = arg;

	p->x = NULL;
	if (p->is_gone)
		return;
	switch (p->kind) {
	case POST_REQUEST:
		on_request_end(p, end);
		break;
	case POST_NOTICE:
		on_notice_end(p, end);
		break;
	case POST_LISTENER:
		remote_listener_ended(p, end);
		break;
	case POST_EVENTS:
		remote_sse_ended(p, end);
		break;
	case POST_DELETE:
		remote_drop(p);
		break;
	}
}
