/*
 * Replies that are no answer: redirects, credentials that are asked for, and
 * refusals.
 */
#include <string.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/transport/remote_inner.h"

#define REDIRECTS_MAX 3
/* Where a server asks to come later, and does not say when. */
#define AGAIN_MS 1000

/* ---- redirects ---- */

static struct http_head head_of(const struct post *p)
{
	return (struct http_head){
		.status = p->reply.status,
		.media_type = buf_str(&p->reply.media_type),
		.lines = buf_str(&p->reply.lines),
	};
}

bool post_redirect(struct post *p, struct err *err)
{
	const struct http_head head = head_of(p);
	struct remote *r = p->remote;
	struct url *url = ARENA_NEW(&r->arena, struct url);
	struct str where = STR("");
	struct err why = ERR_INIT;
	bool is_named = http_head_get(&head, "Location", 0, &where);

	post_say_redirect(p, where, err);
	if (!is_named || (head.status != 307 && head.status != 308) ||
	    p->redirects == REDIRECTS_MAX ||
	    url_resolve(post_url(p), where, &r->arena, url, &why) < 0 ||
	    !url_same_origin(url, &r->url))
		return false;
	p->redirects++;
	p->url = url;
	/* it is there for what follows, too, DELETE included */
	if (!r->is_sse)
		r->moved = url;
	return true;
}

void post_redirected(struct post *p)
{
	struct err err = ERR_INIT;

	if (post_redirect(p, &err))
		post_again(p);
	else
		remote_lose(p, TRANSPORT_BROKE, false, &err);
}

/* ---- refusals ---- */

void post_denied(struct post *p)
{
	const struct http_head head = head_of(p);
	struct authorizer *a = p->remote->o.auth;
	struct err err = ERR_INIT;
	enum authorizer_verdict verdict = AUTHORIZER_NO;

	*(head.status == 401 ? &p->tries.unauthorized : &p->tries.forbidden) +=
		1;
	if (a) {
		verdict = a->type->refused(a, post_verb(p), post_url(p)->text.p,
					   &head, buf_str(&p->reply.body),
					   &p->tries, &err);
	} else {
		post_say_status(p, &err);
	}
	if (verdict == AUTHORIZER_NO) {
		remote_lose(p, TRANSPORT_DENIED, false, &err);
		return;
	}
	post_again(p);
	if (verdict == AUTHORIZER_WAIT)
		post_wait(p);
}

/* Does the body answer the request, by its id? A gateway does not. */
static bool has_answer(const struct post *p, enum rpc_type *ret)
{
	struct err ignored = ERR_INIT;
	struct rpc_message m;
	struct str v;

	if (scan_document(buf_str(&p->reply.body), NULL, &v, &ignored) < 0)
		return false;
	*ret = rpc_read(v, &m);
	return (*ret == RPC_RESULT || *ret == RPC_ERROR) &&
	       str_eq(m.id.raw, p->id);
}

/*
 * Was nothing done of it? A server that limits how often it is asked has not
 * begun. 503 says that of a server, and of some proxies that lost theirs in the
 * middle; who names a time has refused. Where the answer is in the body it was
 * done, or failed on the way.
 */
static bool is_undone(const struct post *p, bool has_time)
{
	enum rpc_type answer;

	if (!post_is_safe(p) && has_answer(p, &answer) &&
	    (answer == RPC_RESULT || p->reply.status == 503))
		return false;
	if (p->reply.status == 429)
		return true;
	return p->reply.status == 503 && (has_time || post_is_safe(p) ||
					  strcmp(p->method, "initialize") == 0);
}

/* To come again, once, as the server says or soon; where there is time. */
static bool may_come_again(const struct post *p, uint64_t *ret_ms)
{
	const struct http_head head = head_of(p);
	struct str v;
	bool has_time = http_head_get(&head, "Retry-After", 0, &v);
	uint64_t s, max_s = p->remote->o.request_ms * 3 / 4 / 1000;

	if (p->was_repeated || !is_undone(p, has_time))
		return false;
	*ret_ms = AGAIN_MS + remote_jitter(p->remote, AGAIN_MS / 4);
	if (!has_time)
		return true;
	/* a date is not read: the sentence names none either */
	if (!str_uint64(v, &s) || s > max_s)
		return false;
	*ret_ms = s * 1000;
	return true;
}

/* An error of JSON-RPC in the body is the answer, whatever the status. */
static bool is_error_body(const struct post *p, struct rpc_message *m)
{
	struct err ignored = ERR_INIT;
	struct str v;

	return scan_document(buf_str(&p->reply.body), NULL, &v, &ignored) ==
		       0 &&
	       rpc_read(v, m) == RPC_ERROR;
}

/* The error as it stands in the body, for this request. */
static void take_error(struct post *p)
{
	struct buf body = p->reply.body;

	p->reply.body = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	(void)remote_take(p, str_trim(buf_str(&body)), &body);
	buf_release(&body);
	if (p->is_answered)
		remote_drop(p);
}

void remote_refuse(struct post *p, const struct err *err)
{
	struct rpc_message m;

	if (is_error_body(p, &m))
		take_error(p);
	else
		remote_lose(p, TRANSPORT_BROKE, false, err);
}

static void refused(struct post *p)
{
	struct err err = ERR_INIT;
	bool is_unknown = p->reply.status >= 500;

	post_say_status(p, &err);
	if (is_unknown)
		post_say_unknown(p, &err);
	remote_lose(p, TRANSPORT_BROKE, is_unknown, &err);
}

static bool is_probe(const struct post *p)
{
	return strcmp(p->method, "server/discover") == 0;
}

void post_refused(struct post *p)
{
	int status = p->reply.status;
	bool is_evidence =
		status < 500 && status != 407 && status != 408 && status != 429;
	struct rpc_message m;
	bool is_error = is_error_body(p, &m);
	uint64_t ms;

	if (may_come_again(p, &ms)) {
		log_debug("%s: %s was answered with %d: once more in %llu ms",
			  buf_cstr(&p->remote->where), p->method, status,
			  (unsigned long long)ms);
		p->was_repeated = true;
		post_close(p);
		p->state = POST_PAUSED;
		post_after(p, ms);
		return;
	}
	if (p->session &&
	    (status == 404 ||
	     (status == 400 &&
	      (is_error ? remote_is_of_session(p, &m)
			: remote_says_session(p, buf_str(&p->reply.body))))) &&
	    remote_session_lost(p))
		return;
	/* a beginning that failed says nothing of the era (HE-5) */
	if (!is_evidence && is_probe(p)) {
		refused(p);
		return;
	}
	if (is_evidence && strcmp(p->method, "initialize") == 0 &&
	    !(is_error && m.data.p) && remote_beginning_refused(p))
		return;
	if (is_error) {
		take_error(p);
		return;
	}
	if (!is_evidence || !remote_beginning_refused(p))
		refused(p);
}
