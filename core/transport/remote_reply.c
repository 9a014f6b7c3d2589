#include "core/transport/remote_reply.h"

#include <strings.h>

#include "core/base/log.h"

/* Bytes of an error's message that are looked at. */
#define MESSAGE_BYTES 1024
/* Bytes of a server's own words in a sentence. */
#define QUOTE_BYTES 300
#define REDIRECTS_MAX 3
/* Where a server asks to come later, and does not say when. */
#define AGAIN_MS 1000
/* Before a safe request is repeated whose exchange broke. */
#define REPEAT_MS 50
/* Reconnects without a new event in between. */
#define ATTEMPTS_MAX 5
/* Before a reconnect: 1 s, growing by half, to 30 s. */
#define DELAY_FIRST_MS 1000
#define DELAY_LAST_MS 30000
/* Subscriptions are opened again: 1 s, doubling, to 60 s. */
#define LISTEN_LAST_MS 60000
#define JITTER_MS 100

static bool is_beginning(const struct post *p)
{
	return post_is(p, "server/discover") || post_is(p, "initialize");
}

/* Lists and reads: repeating them does no harm. */
static bool is_safe(const struct post *p)
{
	static const char *const safe[] = {
		"resources/read", "prompts/get", "completion/complete",
		"tasks/get",	  "ping",	 "server/discover",
	};

	if (p->kind != POST_REQUEST)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(safe); i++)
		if (post_is(p, safe[i]))
			return true;
	return str_ends(str_of(p->method), "/list");
}

/* ---- which request a message answers ---- */

/* Ids of ours are integers, or strings of the transport itself. */
static bool is_id_of(const struct post *p, const struct rpc_id *id)
{
	uint64_t number, got;

	if (str_uint64(p->id, &number))
		return rpc_id_number(id, &got) && got == number;
	return str_eq(p->id, id->raw);
}

static bool is_waiting(const struct post *p)
{
	return p->kind == POST_REQUEST && !p->is_answered;
}

static void find_request(struct post *via, struct taken *ret)
{
	struct post *p = via->remote->first;

	while (p && !(is_waiting(p) && is_id_of(p, &ret->m.id)))
		p = p->next;
	/* an error without a known id is the reply's own */
	if (!p && ret->m.type == RPC_ERROR && is_waiting(via))
		p = via;
	ret->what = p ? TAKEN_ANSWER : TAKEN_MESSAGE;
	ret->post = p;
	ret->is_renamed = p && !is_id_of(p, &ret->m.id);
}

void reply_read_message(struct post *via, struct str object, struct taken *ret)
{
	struct str result;

	*ret = (struct taken){.what = TAKEN_NOTHING};
	switch (rpc_read(object, &ret->m)) {
	case RPC_RESULT:
	case RPC_ERROR:
		find_request(via, ret);
		break;
	case RPC_REQUEST:
		/* while the era is being asked for, no request is answered */
		if (!via->protocol || !post_is(via, "server/discover"))
			ret->what = TAKEN_MESSAGE;
		break;
	case RPC_NOTIFICATION:
		ret->what = scan_is(ret->m.method,
				    "notifications/tools/list_changed")
				    ? TAKEN_CHANGED
				    : TAKEN_MESSAGE;
		break;
	case RPC_INVALID:
		/* no message, but a result, in the reply to a request */
		if (is_waiting(via) && !via->reply.is_stream &&
		    scan_get(object, "result", &result) &&
		    scan_type(result) == SCAN_OBJECT)
			*ret = (struct taken){
				.what = TAKEN_ANSWER,
				.post = via,
				.is_renamed = true,
				.m = {.type = RPC_RESULT, .result = result},
			};
		break;
	}
}

/* ---- sentences ---- */

static bool is_page(const struct post *p)
{
	struct str body = str_trim(buf_str(&p->reply.body));

	return str_is(buf_str(&p->reply.media_type), "text/html") ||
	       (body.n > 5 && (!strncasecmp(body.p, "<html", 5) ||
			       !strncasecmp(body.p, "<!doc", 5)));
}

/* A quote of the server never shows the session id, which is a secret. */
static void add_quote(const struct post *p, struct buf *out)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);
	struct str text = str_trim(buf_str(&p->reply.body));
	struct str id = buf_str(&p->remote->era.session_id);

	if (is_page(p)) {
		const char *title = strcasestr(text.p, "<title>");
		struct str rest = str_of(title ? title + 7 : "");

		buf_adds(out, ", a web page");
		text = str_trim(str_cut(&rest, '<'));
	}
	if (!text.n || (id.n && memmem(text.p, text.n, id.p, id.n)))
		return;
	buf_add_cut(&cut, text, QUOTE_BYTES);
	buf_adds(out, ": ");
	log_visible(out, buf_str(&cut), false);
}

/* "the server answered tools/call with HTTP status 500 (text/html): …" */
static void say_status(const struct post *p, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf type = BUF_INIT(BUF_UNBOUNDED);
	const struct http_head head = post_head(p);
	uint64_t seconds;
	struct str v;

	log_visible(&type, str_first(head.media_type, 80), false);
	buf_addf(&text, "the server answered %s with HTTP status %d",
		 post_name(p), head.status);
	if (type.n)
		buf_addf(&text, " (%s)", buf_cstr(&type));
	add_quote(p, &text);
	if (http_head_get(&head, "Retry-After", 0, &v) &&
	    str_uint64(v, &seconds))
		buf_addf(&text, "; it asks to come again in %llu s",
			 (unsigned long long)seconds);
	/* a beginning that meets something else has mostly the wrong URL */
	if (is_beginning(p) &&
	    (head.status == 404 || head.status == 405 || is_page(p))) {
		buf_adds(&text, "; is this the MCP endpoint?");
		if (!str_ends(p->remote->route.url.path, "/mcp"))
			buf_adds(&text, " many end in /mcp");
	}
	err_set(err, ERR_PEER, "%s", buf_cstr(&text));
}

static void say_end(const struct post *p, const struct http_end *end,
		    struct err *err)
{
	err_set(err, ERR_PEER, "no answer to %s from %s: %s", post_name(p),
		buf_cstr(&p->remote->route.shown),
		end->kind == HTTP_DONE ? "the server closed the stream"
				       : end->err.msg);
}

/* A query may hold ids and keys: it is not shown. */
static void say_redirect(const struct post *p, struct str where,
			 struct err *err)
{
	static const char *const login[] = {"login", "signin", "sign-in",
					    "/sso",  "//sso",  "/oauth",
					    "/auth"};
	AUTO(buf_release) struct buf to = BUF_INIT(BUF_UNBOUNDED);
	bool is_login = false;

	where = str_cut(&where, '?');
	/* a page where a person logs in; MCP's way to say that is a 401 */
	for (size_t i = 0; i < ARRAY_LEN(login); i++)
		is_login |= memmem(where.p, where.n, login[i],
				   strlen(login[i])) != NULL;
	log_visible(&to, str_first(where, QUOTE_BYTES), false);
	err_set(err, ERR_PEER,
		"the server answered %s with HTTP status %d: it points to "
		"\"%s\"; %s",
		post_name(p), p->reply.status, buf_cstr(&to),
		is_login ? "that looks like a login for browsers: give the "
			   "server a token or key as a header, or use the URL "
			   "that is for programs"
			 : "if that is the server, use its URL");
}

/* ---- losses ---- */

/* is_unknown: the server may have done it; err says why it is lost */
static void lose(const struct post *p, enum transport_loss loss,
		 bool is_unknown, struct reply_verdict *v)
{
	const struct err why = v->err;

	v->what = REPLY_LOST;
	v->loss = loss;
	v->is_unknown = is_unknown;
	/* a request without effects has no outcome that could be unknown */
	if (is_unknown && loss != TRANSPORT_TOO_LONG &&
	    p->kind == POST_REQUEST && !is_beginning(p) && !is_safe(p))
		err_set(&v->err, why.kind, "%s; %s", why.msg,
			p->was_repeated
				? "it was refused before and sent once more, "
				  "and the outcome is unknown"
				: "the outcome is unknown, and it was not "
				  "repeated");
}

/* By its status, after the server has received it. */
static void lose_by_status(const struct post *p, bool is_unknown,
			   struct reply_verdict *v)
{
	const struct http_head head = post_head(p);
	struct str after;
	struct transport_refusal *r = &v->refusal;

	say_status(p, &v->err);
	lose(p, TRANSPORT_BROKE, is_unknown, v);
	r->status = head.status;
	r->has_time = http_head_get(&head, "Retry-After", 0, &after);
	if (r->has_time && (!str_int64(after, &r->after_s) || r->after_s < 0))
		r->after_s = INT64_MAX;
}

static void lose_stream(const struct post *p, const struct http_end *end,
			struct reply_verdict *v)
{
	if (end->kind != HTTP_DONE)
		say_end(p, end, &v->err);
	else
		err_set(&v->err, ERR_PEER,
			"the server closed the stream before the answer to %s",
			post_name(p));
	lose(p, TRANSPORT_BROKE, true, v);
}

static void deny(const struct post *p, struct reply_verdict *v)
{
	say_status(p, &v->err);
	v->what = REPLY_DENIED;
	v->loss = TRANSPORT_DENIED;
}

/* On the origin of the server only; false: err says where it points to. */
static bool follow(const struct post *p, struct reply_verdict *v)
{
	const struct http_head head = post_head(p);
	struct route *route = &p->remote->route;
	struct url *url = ARENA_NEW(&route->arena, struct url);
	struct str where = STR("");
	bool is_named = http_head_get(&head, "Location", 0, &where);

	say_redirect(p, where, &v->err);
	if (!is_named || (head.status != 307 && head.status != 308) ||
	    p->redirects == REDIRECTS_MAX ||
	    url_resolve(route_of(p), where, &route->arena, url, ERR_IGNORED) <
		    0 ||
	    !url_same_origin(url, &route->url))
		return false;
	v->what = REPLY_MOVED;
	v->url = url;
	return true;
}

/* ---- sessions that are gone ---- */

/* "Bad Request: No valid session ID", and not a sentence that names one. */
static bool is_about_session(const char *text)
{
	static const char *const before[] = {
		"bad request: ", "invalid ", "unknown ", "expired ",
		"missing ",	 "no ",	     "valid ",	 "mcp ",
	};
	size_t i = 0;

	while (i < ARRAY_LEN(before)) {
		size_t n = strlen(before[i]);
		bool is_there = strncasecmp(text, before[i], n) == 0;

		text += is_there ? n : 0;
		i = is_there ? 0 : i + 1;
	}
	return strncasecmp(text, "session", 7) == 0;
}

/* Do these words say that our session is gone? */
static bool says_lost(const struct post *p, const char *text)
{
	static const char *const gone[] = {
		"not found",  "expired", "invalid",   "unknown", "no valid",
		"terminated", "missing", "not exist", "closed",
	};

	if (!p->remote->era.has_worked || !strcasestr(text, "session"))
		return false;
	if (p->reply.status == 400)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		if (strcasestr(text, gone[i]))
			return true;
	return false;
}

/* A session that is gone can be begun again, once for each request. */
static bool may_restore(const struct post *p)
{
	return p->session && !p->was_resent && !p->is_resuming &&
	       p->remote->era.initialize.n && !p->remote->is_ending;
}

bool reply_lost_session(const struct post *p, const struct rpc_message *m)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!may_restore(p))
		return false;
	if (!m)
		return says_lost(p, buf_cstr(&p->reply.body));
	scan_string_cut(m->message.p ? m->message : m->raw_error, MESSAGE_BYTES,
			&text);
	return says_lost(p, buf_cstr(&text)) &&
	       (is_safe(p) || (m->code != RPC_INTERNAL_ERROR &&
			       m->code != RPC_INVALID_PARAMS &&
			       is_about_session(buf_cstr(&text))));
}

/* ---- refusals: 4xx and 5xx ---- */

static bool read_body(const struct post *p, struct rpc_message *m)
{
	struct str v;

	if (scan_document(buf_str(&p->reply.body), NULL, &v, ERR_IGNORED) < 0)
		return false;
	rpc_read(v, m);
	return true;
}

/*
 * Was nothing done of it? A server that limits how often it is asked has not
 * begun. 503 says that of a server, and of some proxies that lost theirs in the
 * middle; a server that names a time has refused. Where the answer is in the
 * body the request was done, or failed on the way.
 */
static bool is_undone(const struct post *p, bool has_time)
{
	struct rpc_message m;
	bool is_answer = !is_safe(p) && read_body(p, &m) &&
			 (m.type == RPC_RESULT || m.type == RPC_ERROR) &&
			 str_eq(m.id.raw, p->id);

	if (is_answer && (m.type == RPC_RESULT || p->reply.status == 503))
		return false;
	if (p->reply.status == 429)
		return true;
	return p->reply.status == 503 &&
	       (has_time || is_safe(p) || post_is(p, "initialize"));
}

/* Once more, as the server says or soon; where there is time. */
static bool may_come_again(const struct post *p, struct reply_verdict *v)
{
	const struct http_head head = post_head(p);
	struct str text;
	bool has_time = http_head_get(&head, "Retry-After", 0, &text);
	uint64_t s = 0, max_s = p->remote->o.request_ms * 3 / 4 / 1000;

	if (p->was_repeated || !is_undone(p, has_time))
		return false;
	/* a date is not read: the sentence names none either */
	if (has_time && (!str_uint64(text, &s) || s > max_s))
		return false;
	v->what = REPLY_LATER;
	v->is_repeat = true;
	v->refusal = (struct transport_refusal){p->reply.status, has_time,
						(int64_t)s};
	v->delay_ms = has_time ? s * 1000 : AGAIN_MS;
	v->jitter_ms = has_time ? 0 : AGAIN_MS / 4;
	return true;
}

/* Try a refused beginning in the other era; false: no beginning, or none. */
static bool try_other_era(const struct post *p, struct reply_verdict *v)
{
	bool is_probe = post_is(p, "server/discover");
	const struct remote *r = p->remote;

	if (!is_probe &&
	    (!post_is(p, "initialize") || p->own || r->era.is_sse ||
	     r->o.kind != REMOTE_AUTO || p->reply.status < 400))
		return false;
	say_status(p, &v->err);
	v->what = is_probe ? REPLY_NO_PROBE : REPLY_TRY_SSE;
	return true;
}

static void judge_refusal(const struct post *p, struct reply_verdict *v)
{
	int status = p->reply.status;
	/* a beginning that failed says nothing of the era */
	bool is_evidence =
		status < 500 && status != 407 && status != 408 && status != 429;
	struct rpc_message m;
	/* an error of JSON-RPC in the body is the answer, whatever the status
	 */
	bool is_error = read_body(p, &m) && m.type == RPC_ERROR;

	if (may_come_again(p, v))
		return;
	if ((status == 404 && may_restore(p)) ||
	    (status == 400 && reply_lost_session(p, is_error ? &m : NULL)))
		v->what = REPLY_NO_SESSION;
	else if (!is_evidence && post_is(p, "server/discover"))
		lose_by_status(p, status >= 500, v);
	else if (is_evidence && post_is(p, "initialize") &&
		 !(is_error && m.data.p) && try_other_era(p, v))
		return;
	else if (is_error)
		v->what = REPLY_TAKE;
	else if (!is_evidence || !try_other_era(p, v))
		lose_by_status(p, status >= 500, v);
}

/* ---- streams that broke ---- */

/* When to come again: as the server said, or longer each time. */
static void come_again(const struct post *p, struct reply_verdict *v)
{
	/* event ids and `retry` are of the older era */
	uint64_t ms =
		p->delay_ms + (p->protocol ? p->delay_ms : p->delay_ms / 2);
	uint64_t max = p->protocol ? LISTEN_LAST_MS : DELAY_LAST_MS;

	v->what = REPLY_LATER;
	v->is_reconnect = v->is_attempt = true;
	v->jitter_ms = JITTER_MS;
	if (!p->protocol && p->sse.has_retry)
		v->delay_ms = p->sse.retry_ms;
	else if (!ms)
		v->delay_ms = DELAY_FIRST_MS;
	else
		v->delay_ms = ms < max ? ms : max;
}

/* Once more where nothing is done by it. */
static bool repeat_safe(const struct post *p, uint64_t delay_ms,
			struct reply_verdict *v)
{
	if (p->was_repeated || !is_safe(p))
		return false;
	v->what = REPLY_LATER;
	v->is_repeat = v->is_reconnect = true;
	v->delay_ms = delay_ms;
	v->jitter_ms = JITTER_MS;
	return true;
}

static void judge_broken(const struct post *p, const struct http_end *end,
			 struct reply_verdict *v)
{
	bool has_attempts = p->attempts < ATTEMPTS_MAX;

	if (p->protocol && post_is(p, "subscriptions/listen") && has_attempts) {
		come_again(p, v);
	} else if (!p->protocol && p->sse.last_id.n && has_attempts) {
		come_again(p, v);
		v->is_resuming = true;
	} else if (!p->protocol || !repeat_safe(p, 0, v)) {
		lose_stream(p, end, v);
	}
}

static void judge_listener(const struct post *p, struct reply_verdict *v)
{
	int status = p->reply.status;

	if (status >= 300 && status < 400 && follow(p, v))
		return;
	/* an answer that is no stream: the server has none */
	if ((status && !p->reply.is_stream) || p->attempts == ATTEMPTS_MAX)
		v->what = REPLY_NO_LISTENER;
	else
		come_again(p, v);
}

static void judge_events(const struct post *p, const struct http_end *end,
			 struct reply_verdict *v)
{
	int status = p->reply.status;

	if (p->remote->route.endpoint) {
		err_set(&v->err, ERR_PEER,
			"the server closed its event stream, and the session "
			"with it");
		v->what = REPLY_OVER;
	} else if (!status || p->reply.is_stream) {
		say_end(p, end, &v->err);
		lose(p, TRANSPORT_BROKE, false, v);
	} else if (status == 401 || status == 403) {
		deny(p, v);
	} else if (status < 300 || status >= 400 || !follow(p, v)) {
		lose_by_status(p, false, v);
	}
}

/* ---- answers ---- */

/* A whole 2xx answer that is no event stream; its media type does not count. */
static void judge_document(const struct post *p, struct reply_verdict *v)
{
	const struct remote *r = p->remote;

	if (p->reply.is_bad_session) {
		err_set(&v->err, ERR_PEER,
			"the server gave a session id with characters that "
			"are not allowed in one, or of more than %d bytes",
			LIMIT_SESSION_ID_BYTES);
		lose(p, TRANSPORT_BROKE, false, v);
	} else if (p->reply.is_too_long) {
		err_set(&v->err, ERR_LIMIT,
			"the answer to %s is longer than %llu bytes; if it may "
			"be that long, raise stdout_max",
			post_name(p), (unsigned long long)r->o.message_max);
		lose(p, TRANSPORT_TOO_LONG, true, v);
	} else if (str_trim(buf_str(&p->reply.body)).n) {
		v->what = REPLY_TAKE;
	} else if (r->era.is_sse || (r->listener && !p->protocol)) {
		/* 202: the answer comes on that stream */
		v->what = REPLY_ELSEWHERE;
	} else {
		err_set(&v->err, ERR_PEER,
			"the server answered %s with HTTP status %d and "
			"nothing in it, and has no other stream for an answer",
			post_name(p), p->reply.status);
		lose(p, TRANSPORT_BROKE, true, v);
	}
}

static void judge_request(const struct post *p, const struct http_end *end,
			  struct reply_verdict *v)
{
	int status = p->reply.status;
	bool is_good = http_is_good(status);

	if (p->is_answered) {
		v->what = REPLY_DONE;
	} else if (p->is_resuming && !p->reply.is_stream && status &&
		   status < 500) {
		/* the request was received: no other session gets it */
		lose_by_status(p, true, v);
	} else if (p->is_resuming || p->reply.is_stream) {
		judge_broken(p, end, v);
	} else if (!status || (end->kind != HTTP_DONE && is_good)) {
		/* in the older era the id of the request is used up */
		if (end->is_sent && p->protocol && repeat_safe(p, REPEAT_MS, v))
			return;
		/* a part of an answer is not used */
		say_end(p, end, &v->err);
		lose(p,
		     end->kind == HTTP_REFUSED ? TRANSPORT_LEASH
					       : TRANSPORT_BROKE,
		     end->is_sent, v);
	} else if (is_good) {
		judge_document(p, v);
	} else if (status < 400 && !follow(p, v)) {
		lose(p, TRANSPORT_BROKE, false, v);
	} else if (status == 401 || status == 403) {
		deny(p, v);
	} else if (status >= 400) {
		judge_refusal(p, v);
	}
}

/* A notification or a response of ours. */
static void judge_notice(const struct post *p, const struct http_end *end,
			 struct reply_verdict *v)
{
	int status = p->reply.status;
	bool is_whole = end->kind == HTTP_DONE;

	if (is_whole && status >= 300 && status < 400 && !follow(p, v))
		lose(p, TRANSPORT_BROKE, false, v);
	else if (is_whole && (status == 401 || status == 403))
		deny(p, v);
	else if (status == 404 && may_restore(p))
		v->what = REPLY_NO_SESSION;
}

static void judge_end(const struct post *p, const struct http_end *end,
		      struct reply_verdict *v)
{
	switch (p->kind) {
	case POST_REQUEST:
		judge_request(p, end, v);
		break;
	case POST_NOTICE:
		judge_notice(p, end, v);
		break;
	case POST_LISTENER:
		judge_listener(p, v);
		break;
	case POST_EVENTS:
		judge_events(p, end, v);
		break;
	case POST_DELETE:
		break;
	}
}

void reply_judge(const struct post *p, enum reply_case of,
		 const struct http_end *end, struct reply_verdict *v)
{
	struct rpc_message m;

	*v = (struct reply_verdict){.what = REPLY_DONE, .err = ERR_INIT};
	switch (of) {
	case REPLY_ENDED:
		judge_end(p, end, v);
		break;
	case REPLY_UNANSWERED:
		v->what = REPLY_ELSEWHERE;
		if (p->reply.status >= 400)
			lose_by_status(p, p->reply.status >= 500, v);
		else if (!p->remote->era.is_sse && !try_other_era(p, v))
			lose_by_status(p, true, v);
		break;
	case REPLY_LONG_EVENT:
		err_set(&v->err, ERR_LIMIT,
			"the server sent an event of more than %llu bytes "
			"while %s was open; if it may be that long, raise "
			"stdout_max",
			(unsigned long long)p->remote->o.message_max,
			post_name(p));
		lose(p, TRANSPORT_TOO_LONG, true, v);
		break;
	case REPLY_CUT_OFF:
		lose_stream(p, end, v);
		break;
	case REPLY_REFUSED:
		v->err = end->err;
		if (read_body(p, &m) && m.type == RPC_ERROR)
			v->what = REPLY_TAKE;
		else
			lose(p, TRANSPORT_BROKE, false, v);
		break;
	}
}
