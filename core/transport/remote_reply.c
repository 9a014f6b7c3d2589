#include "core/transport/remote_reply.h"

#include <string.h>
#include <strings.h>

#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/mcp/wire/salvage.h"

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

/* ---- what is known of the session ---- */

void era_release(struct era *e)
{
	buf_wipe(&e->session_id);
	buf_release(&e->initialize);
	buf_release(&e->initialized);
}

void era_note_ours(struct era *e, const struct post *p)
{
	if (p->protocol)
		e->is_modern = true;
	if (post_is(p, "initialize")) {
		e->is_modern = false;
		buf_clear(&e->initialize);
		buf_add_str(&e->initialize, buf_str(&p->body));
	} else if (post_is(p, "notifications/initialized")) {
		buf_clear(&e->initialized);
		buf_add_str(&e->initialized, buf_str(&p->body));
	}
}

/* ---- the session id ---- */

/* Visible ASCII only: MCP 2025-11-25, "Session Management". */
static bool is_session_id(struct str id)
{
	if (id.n > LIMIT_SESSION_ID_BYTES)
		return false;
	for (size_t i = 0; i < id.n; i++)
		if (id.p[i] < 0x21 || id.p[i] > 0x7e)
			return false;
	return id.n > 0;
}

enum era_head era_note_head(struct era *e, const struct post *p,
			    const struct http_head *head)
{
	struct str id;

	if (p->protocol || e->is_sse || head->status < 200 ||
	    head->status > 299 ||
	    !http_head_get(head, "Mcp-Session-Id", 0, &id))
		return ERA_HEAD_PLAIN;
	if (!post_is(p, "initialize"))
		return str_eq(id, buf_str(&e->session_id)) ? ERA_HEAD_PLAIN
							   : ERA_HEAD_ODD;
	buf_wipe(&e->session_id);
	e->has_worked = false;
	if (!is_session_id(id))
		return ERA_HEAD_BAD;
	e->session++;
	buf_add_str(&e->session_id, id);
	return ERA_HEAD_SESSION;
}

/* ---- the revision ---- */

static bool is_date(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '-' && (text.p[i] < '0' || text.p[i] > '9'))
			return false;
	return text.n > 0;
}

bool era_note_answer(struct era *e, const struct post *p,
		     const struct rpc_message *m)
{
	AUTO(buf_release) struct buf date = BUF_INIT(sizeof(e->protocol) - 1);
	struct str v;

	if (m->type != RPC_RESULT)
		return false;
	if (p->session && p->session == e->session)
		e->has_worked = true;
	if (!post_is(p, "initialize") || p->protocol ||
	    !scan_get(m->result, "protocolVersion", &v) ||
	    !scan_string(v, &date) || !is_date(buf_str(&date)))
		return false;
	memcpy(e->protocol, buf_cstr(&date), date.n + 1);
	return true;
}

/* ---- a session that is gone ---- */

static bool has_word(struct str text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= text.n; i++)
		if (strncasecmp(text.p + i, word, n) == 0)
			return true;
	return false;
}

/* "Bad Request: No valid session ID", and not a sentence that names one. */
static bool is_about_session(struct str text)
{
	static const char *const before[] = {
		"bad request: ", "invalid ", "unknown ", "expired ",
		"missing ",	 "no ",	     "valid ",	 "mcp ",
	};
	bool is_cut = true;

	while (is_cut) {
		is_cut = false;
		for (size_t i = 0; i < ARRAY_LEN(before); i++) {
			size_t n = strlen(before[i]);

			if (text.n < n || strncasecmp(text.p, before[i], n))
				continue;
			text = (struct str){text.p + n, text.n - n};
			is_cut = true;
		}
	}
	return text.n >= 7 && strncasecmp(text.p, "session", 7) == 0;
}

static bool says_lost(const struct era *e, const struct post *p,
		      struct str text)
{
	static const char *const gone[] = {
		"not found",  "expired", "invalid",   "unknown", "no valid",
		"terminated", "missing", "not exist", "closed",
	};

	if (!e->has_worked || !has_word(text, "session"))
		return false;
	if (p->reply.status == 400)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		if (has_word(text, gone[i]))
			return true;
	return false;
}

bool era_is_lost(const struct era *e, const struct post *p,
		 const struct rpc_message *m)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!m)
		return says_lost(e, p, buf_str(&p->reply.body));
	scan_string_cut(m->message.p ? m->message : m->raw_error, MESSAGE_BYTES,
			&text);
	if (!says_lost(e, p, buf_str(&text)))
		return false;
	return post_is_safe(p) || (m->code != RPC_INTERNAL_ERROR &&
				   m->code != RPC_INVALID_PARAMS &&
				   is_about_session(buf_str(&text)));
}

void era_write_initialize(const struct era *e, const char *id, struct buf *out)
{
	struct err ignored = ERR_INIT;
	struct rpc_message m;
	struct str v;
	struct jw w;

	/* proved before, when it was sent */
	if (scan_document(buf_str(&e->initialize), NULL, &v, &ignored) < 0)
		return;
	rpc_read(v, &m);
	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_cstr(&w, "jsonrpc", "2.0");
	jw_kv_cstr(&w, "id", id);
	jw_kv_cstr(&w, "method", "initialize");
	jw_kv_raw(&w, "params", m.params);
	jw_end(&w);
}

/* ---- which request a message answers ---- */

/* Ids of ours are integers, or strings of the transport itself. */
static bool is_id_of(const struct post *p, const struct rpc_id *id)
{
	uint64_t number;

	if (str_uint64(p->id, &number))
		return rpc_id_matches(id, number);
	return str_eq(p->id, id->raw);
}

static bool is_waiting(const struct post *p)
{
	return p->kind == POST_REQUEST && !p->is_answered;
}

static void find_request(struct post *via, struct taken *ret)
{
	struct post *p = via->all->first;

	while (p && !(is_waiting(p) && is_id_of(p, &ret->m.id)))
		p = p->next;
	/* an error without a known id is the reply's own */
	if (!p && ret->m.type == RPC_ERROR && is_waiting(via))
		p = via;
	ret->what = p ? TAKEN_ANSWER : TAKEN_MESSAGE;
	ret->post = p;
	ret->is_renamed = p && !is_id_of(p, &ret->m.id);
}

/* An object that is no message, but has a result, in the reply to a request. */
static void find_result(struct post *via, struct str object, struct taken *ret)
{
	struct str result;

	if (!is_waiting(via) || via->reply.is_stream ||
	    !scan_get(object, "result", &result) ||
	    scan_type(result) != SCAN_OBJECT)
		return;
	ret->what = TAKEN_ANSWER;
	ret->post = via;
	ret->is_renamed = true;
	ret->m = (struct rpc_message){.type = RPC_RESULT, .result = result};
}

static void judge_message(struct post *via, struct str object,
			  struct taken *ret)
{
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
		find_result(via, object, ret);
		break;
	}
}

bool taker_open(struct taker *t, struct post *via, struct str text)
{
	struct err ignored = ERR_INIT;
	struct str v;

	*t = (struct taker){.via = via, .repaired = BUF_INIT(BUF_UNBOUNDED)};
	if (scan_document(text, NULL, &v, &ignored) < 0 &&
	    (!salvage_utf8(text, &t->repaired) ||
	     scan_document(buf_str(&t->repaired), NULL, &v, &ignored) < 0))
		return false;
	t->is_array = scan_type(v) == SCAN_ARRAY;
	if (t->is_array)
		scan_iter_init(&t->more, v);
	else if (scan_type(v) == SCAN_OBJECT)
		t->one = v;
	return true;
}

bool taker_next(struct taker *t, struct taken *ret)
{
	while (t->is_array && scan_next(&t->more)) {
		if (scan_type(t->more.value) != SCAN_OBJECT)
			continue;
		judge_message(t->via, t->more.value, ret);
		return true;
	}
	if (!t->one.p)
		return false;
	judge_message(t->via, t->one, ret);
	t->one = (struct str){NULL, 0};
	return true;
}

void taker_release(struct taker *t)
{
	buf_release(&t->repaired);
}

/* ---- answers that are written here ---- */

static void begin_answer(const struct post *p, struct buf *out, struct jw *w)
{
	jw_init(w, out, false);
	jw_object(w);
	jw_kv_cstr(w, "jsonrpc", "2.0");
	jw_kv_raw(w, "id", p->id);
}

void taken_write_renamed(const struct taken *t, struct buf *out)
{
	bool is_error = t->m.type == RPC_ERROR;
	struct jw w;

	begin_answer(t->post, out, &w);
	jw_kv_raw(&w, is_error ? "error" : "result",
		  is_error ? t->m.raw_error : t->m.result);
	jw_end(&w);
}

void taken_write_error(const struct post *p, int64_t code, struct str message,
		       struct buf *out)
{
	struct jw w;

	begin_answer(p, out, &w);
	jw_kv_object(&w, "error");
	jw_kv_int(&w, "code", code);
	jw_kv_str(&w, "message", message);
	jw_end(&w);
	jw_end(&w);
}

/* ---- sentences ---- */

static bool is_page(const struct post *p)
{
	struct str body = str_trim(buf_str(&p->reply.body));

	return str_is(buf_str(&p->reply.media_type), "text/html") ||
	       (body.n > 5 && (!strncasecmp(body.p, "<html", 5) ||
			       !strncasecmp(body.p, "<!doc", 5)));
}

static struct str title_of(struct str page)
{
	static const char begin[] = "<title>";
	const char *at = NULL;

	for (size_t i = 0; !at && i + sizeof(begin) <= page.n; i++)
		if (!strncasecmp(page.p + i, begin, sizeof(begin) - 1))
			at = page.p + i + sizeof(begin) - 1;
	if (!at)
		return STR("");
	page = (struct str){at, page.n - (size_t)(at - page.p)};
	return str_trim((struct str){page.p, str_find(page, '<')});
}

/* A quote of the server never shows the session id, which is a secret. */
static void add_quote(const struct post *p, const struct era *e,
		      struct buf *out)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);
	struct str text = str_trim(buf_str(&p->reply.body));
	struct str id = buf_str(&e->session_id);

	if (is_page(p)) {
		buf_adds(out, ", a web page");
		text = title_of(text);
	}
	if (!text.n || (id.n && memmem(text.p, text.n, id.p, id.n)))
		return;
	buf_add_cut(&cut, text, QUOTE_BYTES);
	buf_adds(out, ": ");
	log_visible(out, buf_str(&cut), false);
}

static bool is_beginning(const struct post *p)
{
	return post_is(p, "server/discover") || post_is(p, "initialize");
}

/* A beginning that meets something else has mostly the wrong URL. */
static void add_path_hint(const struct post *p, const struct route *r,
			  struct buf *out)
{
	int status = p->reply.status;

	if (!is_beginning(p) || (status != 404 && status != 405 && !is_page(p)))
		return;
	buf_adds(out, "; is this the MCP endpoint?");
	if (!str_ends(r->url.path, "/mcp"))
		buf_adds(out, " many end in /mcp");
}

static struct http_head head_of(const struct post *p)
{
	return (struct http_head){
		.status = p->reply.status,
		.media_type = buf_str(&p->reply.media_type),
		.lines = buf_str(&p->reply.lines),
	};
}

static void add_retry_after(const struct post *p, struct buf *out)
{
	const struct http_head head = head_of(p);
	uint64_t seconds;
	struct str v;

	if (http_head_get(&head, "Retry-After", 0, &v) &&
	    str_uint64(v, &seconds))
		buf_addf(out, "; it asks to come again in %llu s",
			 (unsigned long long)seconds);
}

/* "the server answered tools/call with HTTP status 500 (text/html): …" */
static void say_status(const struct post *p, const struct reply_around *a,
		       struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf type = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&type, str_first(buf_str(&p->reply.media_type), 80), false);
	buf_addf(&text, "the server answered %s with HTTP status %d",
		 post_name(p), p->reply.status);
	if (type.n)
		buf_addf(&text, " (%s)", buf_cstr(&type));
	add_quote(p, a->era, &text);
	add_retry_after(p, &text);
	add_path_hint(p, a->route, &text);
	err_set(err, ERR_PEER, "%s", buf_cstr(&text));
}

static void say_end(const struct post *p, const struct http_end *end,
		    const struct reply_around *a, struct err *err)
{
	const char *why = end->kind == HTTP_DONE
				  ? "the server closed the stream"
				  : end->err.msg;

	err_set(err, ERR_PEER, "no answer to %s from %s: %s", post_name(p),
		buf_cstr(&a->route->shown), why);
}

/* A request without effects has no outcome that could be unknown. */
static void add_unknown(const struct post *p, struct err *err)
{
	struct err before = *err;

	if (p->kind == POST_REQUEST && !is_beginning(p) && !post_is_safe(p))
		err_set(err, before.kind, "%s; %s", before.msg,
			p->was_repeated
				? "it was refused before and sent once more, "
				  "and the outcome is unknown"
				: "the outcome is unknown, and it was not "
				  "repeated");
}

/* A page where a person logs in; MCP's way to say that is a 401. */
static bool is_login(struct str where)
{
	static const char *const words[] = {"login", "signin", "sign-in",
					    "/sso",  "//sso",  "/oauth",
					    "/auth"};

	for (size_t w = 0; w < ARRAY_LEN(words); w++)
		if (memmem(where.p, where.n, words[w], strlen(words[w])))
			return true;
	return false;
}

/* A query may hold ids and keys: it is not shown. */
static void say_redirect(const struct post *p, struct str where,
			 struct err *err)
{
	AUTO(buf_release) struct buf to = BUF_INIT(BUF_UNBOUNDED);

	where = str_cut(&where, '?');
	log_visible(&to, str_first(where, QUOTE_BYTES), false);
	err_set(err, ERR_PEER,
		"the server answered %s with HTTP status %d: it points to "
		"\"%s\"; %s",
		post_name(p), p->reply.status, buf_cstr(&to),
		is_login(where)
			? "that looks like a login for browsers: give the "
			  "server a token or key as a header, or use the URL "
			  "that is for programs"
			: "if that is the server, use its URL");
}

/* ---- losses ---- */

static void lose(struct reply_verdict *v, enum transport_loss loss,
		 bool is_unknown)
{
	v->what = REPLY_LOST;
	v->loss = loss;
	v->is_unknown = is_unknown;
}

/* By its status, after the server has received it. */
static void lose_by_status(const struct post *p, const struct reply_around *a,
			   bool is_unknown, struct reply_verdict *v)
{
	say_status(p, a, &v->err);
	if (is_unknown)
		add_unknown(p, &v->err);
	lose(v, TRANSPORT_BROKE, is_unknown);
}

static void lose_stream(const struct post *p, const struct http_end *end,
			const struct reply_around *a, struct reply_verdict *v)
{
	if (end && end->kind != HTTP_DONE)
		say_end(p, end, a, &v->err);
	else
		err_set(&v->err, ERR_PEER,
			"the server closed the stream before the answer to %s",
			post_name(p));
	add_unknown(p, &v->err);
	lose(v, TRANSPORT_BROKE, true);
}

void reply_judge_stream(const struct post *p, const struct http_end *end,
			const struct reply_around *a, struct reply_verdict *v)
{
	*v = (struct reply_verdict){.err = ERR_INIT};
	lose_stream(p, end, a, v);
}

void reply_judge_long_event(const struct post *p, const struct reply_around *a,
			    struct reply_verdict *v)
{
	*v = (struct reply_verdict){.err = ERR_INIT};
	err_set(&v->err, ERR_LIMIT,
		"the server sent an event of more than %llu bytes while %s was "
		"open; if it may be that long, raise stdout_max",
		(unsigned long long)a->message_max, post_name(p));
	lose(v, TRANSPORT_TOO_LONG, true);
}

/* ---- redirects ---- */

/* On the origin of the server only; err says where it points to. */
static bool follow(const struct post *p, const struct reply_around *a,
		   struct reply_verdict *v)
{
	const struct http_head head = head_of(p);
	struct url *url = ARENA_NEW(&a->route->arena, struct url);
	struct str where = STR("");
	struct err ignored = ERR_INIT;
	bool is_named = http_head_get(&head, "Location", 0, &where);

	say_redirect(p, where, &v->err);
	if (!is_named || (head.status != 307 && head.status != 308) ||
	    p->redirects == REDIRECTS_MAX ||
	    url_resolve(route_of(a->route, p), where, &a->route->arena, url,
			&ignored) < 0 ||
	    !url_same_origin(url, &a->route->url))
		return false;
	v->what = REPLY_MOVED;
	v->url = url;
	return true;
}

static void judge_redirect(const struct post *p, const struct reply_around *a,
			   struct reply_verdict *v)
{
	if (!follow(p, a, v))
		lose(v, TRANSPORT_BROKE, false);
}

static void deny(const struct post *p, const struct reply_around *a,
		 struct reply_verdict *v)
{
	say_status(p, a, &v->err);
	v->what = REPLY_DENIED;
	v->loss = TRANSPORT_DENIED;
}

/* ---- refusals: 4xx and 5xx ---- */

static bool read_body(const struct post *p, struct rpc_message *m)
{
	struct err ignored = ERR_INIT;
	struct str v;

	if (scan_document(buf_str(&p->reply.body), NULL, &v, &ignored) < 0)
		return false;
	rpc_read(v, m);
	return true;
}

/* An error of JSON-RPC in the body is the answer, whatever the status. */
static bool is_error_body(const struct post *p, struct rpc_message *m)
{
	return read_body(p, m) && m->type == RPC_ERROR;
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
	bool is_answer = !post_is_safe(p) && read_body(p, &m) &&
			 (m.type == RPC_RESULT || m.type == RPC_ERROR) &&
			 str_eq(m.id.raw, p->id);

	if (is_answer && (m.type == RPC_RESULT || p->reply.status == 503))
		return false;
	if (p->reply.status == 429)
		return true;
	return p->reply.status == 503 &&
	       (has_time || post_is_safe(p) || post_is(p, "initialize"));
}

/* Once more, as the server says or soon; where there is time. */
static bool may_come_again(const struct post *p, const struct reply_around *a,
			   struct reply_verdict *v)
{
	const struct http_head head = head_of(p);
	struct str text;
	bool has_time = http_head_get(&head, "Retry-After", 0, &text);
	uint64_t s, max_s = a->request_ms * 3 / 4 / 1000;

	if (p->was_repeated || !is_undone(p, has_time))
		return false;
	v->delay_ms = AGAIN_MS;
	v->jitter_ms = AGAIN_MS / 4;
	v->is_repeat = true;
	if (has_time) {
		/* a date is not read: the sentence names none either */
		if (!str_uint64(text, &s) || s > max_s)
			return false;
		v->delay_ms = s * 1000;
		v->jitter_ms = 0;
	}
	v->what = REPLY_LATER;
	return true;
}

bool reply_may_restore(const struct post *p, const struct reply_around *a)
{
	return !p->was_resent && !p->is_resuming && a->era->initialize.n &&
	       !a->is_ending;
}

static bool is_session_lost(const struct post *p, const struct reply_around *a,
			    const struct rpc_message *error)
{
	return p->session &&
	       (p->reply.status == 404 ||
		(p->reply.status == 400 && era_is_lost(a->era, p, error))) &&
	       reply_may_restore(p, a);
}

/* Try a refused beginning in the other era; false: no beginning, or none. */
static bool try_other_era(const struct post *p, const struct reply_around *a,
			  struct reply_verdict *v)
{
	bool is_probe = post_is(p, "server/discover");

	if (!is_probe &&
	    (!post_is(p, "initialize") || p->own || a->era->is_sse ||
	     !a->may_try_sse || p->reply.status < 400))
		return false;
	say_status(p, a, &v->err);
	v->what = is_probe ? REPLY_NO_PROBE : REPLY_TRY_SSE;
	return true;
}

static void judge_refusal(const struct post *p, const struct reply_around *a,
			  struct reply_verdict *v)
{
	int status = p->reply.status;
	/* a beginning that failed says nothing of the era */
	bool is_evidence =
		status < 500 && status != 407 && status != 408 && status != 429;
	struct rpc_message m;
	bool is_error = is_error_body(p, &m);

	if (may_come_again(p, a, v))
		return;
	*v = (struct reply_verdict){.err = ERR_INIT};
	if (is_session_lost(p, a, is_error ? &m : NULL))
		v->what = REPLY_NO_SESSION;
	else if (!is_evidence && post_is(p, "server/discover"))
		lose_by_status(p, a, status >= 500, v);
	else if (is_evidence && post_is(p, "initialize") &&
		 !(is_error && m.data.p) && try_other_era(p, a, v))
		return;
	else if (is_error)
		v->what = REPLY_TAKE;
	else if (!is_evidence || !try_other_era(p, a, v))
		lose_by_status(p, a, status >= 500, v);
}

void reply_judge_refused(const struct post *p, const struct err *err,
			 struct reply_verdict *v)
{
	struct rpc_message m;

	*v = (struct reply_verdict){.what = REPLY_TAKE, .err = *err};
	if (!is_error_body(p, &m))
		lose(v, TRANSPORT_BROKE, false);
}

/* ---- streams that broke ---- */

static uint64_t longer(uint64_t ms, uint64_t by, uint64_t max)
{
	if (!ms)
		return DELAY_FIRST_MS;
	return ms + by < max ? ms + by : max;
}

/* When to come again: as the server said, or longer each time. */
static void come_again(const struct post *p, struct reply_verdict *v)
{
	uint64_t ms = p->delay_ms;

	v->what = REPLY_LATER;
	v->is_reconnect = v->is_attempt = true;
	v->jitter_ms = JITTER_MS;
	/* event ids and `retry` are of the older era */
	if (p->protocol)
		v->delay_ms = longer(ms, ms, LISTEN_LAST_MS);
	else if (p->sse.has_retry)
		v->delay_ms = p->sse.retry_ms;
	else
		v->delay_ms = longer(ms, ms / 2, DELAY_LAST_MS);
}

/* Once more where nothing is done by it. */
static bool repeat_safe(const struct post *p, uint64_t delay_ms,
			struct reply_verdict *v)
{
	if (p->was_repeated || !post_is_safe(p))
		return false;
	v->what = REPLY_LATER;
	v->is_repeat = v->is_reconnect = true;
	v->delay_ms = delay_ms;
	v->jitter_ms = JITTER_MS;
	return true;
}

static void judge_broken(const struct post *p, const struct http_end *end,
			 const struct reply_around *a, struct reply_verdict *v)
{
	bool has_attempts = p->attempts < ATTEMPTS_MAX;

	if (p->protocol) {
		if (post_is(p, "subscriptions/listen") && has_attempts)
			come_again(p, v);
		else if (!repeat_safe(p, 0, v))
			lose_stream(p, end, a, v);
	} else if (p->sse.last_id.n && has_attempts) {
		come_again(p, v);
		v->is_resuming = true;
	} else {
		lose_stream(p, end, a, v);
	}
}

static void judge_resumed(const struct post *p, const struct http_end *end,
			  const struct reply_around *a, struct reply_verdict *v)
{
	int status = p->reply.status;

	if (p->reply.is_stream || !status || status >= 500)
		judge_broken(p, end, a, v);
	else
		/* the request was received: no other session gets it */
		lose_by_status(p, a, true, v);
}

static void judge_listener(const struct post *p, const struct reply_around *a,
			   struct reply_verdict *v)
{
	int status = p->reply.status;

	if (status >= 300 && status < 400 && follow(p, a, v))
		return;
	/* an answer that is no stream: the server has none */
	if ((status && !p->reply.is_stream) || p->attempts == ATTEMPTS_MAX)
		v->what = REPLY_NO_LISTENER;
	else
		come_again(p, v);
}

static void judge_events(const struct post *p, const struct http_end *end,
			 const struct reply_around *a, struct reply_verdict *v)
{
	int status = p->reply.status;

	if (a->route->endpoint) {
		err_set(&v->err, ERR_PEER,
			"the server closed its event stream, and the session "
			"with it");
		v->what = REPLY_OVER;
	} else if (!status || p->reply.is_stream) {
		say_end(p, end, a, &v->err);
		lose(v, TRANSPORT_BROKE, false);
	} else if (status == 401 || status == 403) {
		deny(p, a, v);
	} else if (status < 300 || status >= 400 || !follow(p, a, v)) {
		lose_by_status(p, a, false, v);
	}
}

/* ---- answers ---- */

/* The exchange failed. */
static void judge_failed(const struct post *p, const struct http_end *end,
			 const struct reply_around *a, struct reply_verdict *v)
{
	/* in the older era the id of the request is used up */
	if (end->is_sent && p->protocol && repeat_safe(p, REPEAT_MS, v))
		return;
	say_end(p, end, a, &v->err);
	if (end->is_sent)
		add_unknown(p, &v->err);
	lose(v, end->kind == HTTP_REFUSED ? TRANSPORT_LEASH : TRANSPORT_BROKE,
	     end->is_sent);
}

/* 202 to a request: the answer comes on another stream, where there is one. */
static void judge_accepted(const struct post *p, const struct reply_around *a,
			   struct reply_verdict *v)
{
	v->what = REPLY_ELSEWHERE;
	if (a->era->is_sse || (a->has_listener && !p->protocol))
		return;
	err_set(&v->err, ERR_PEER,
		"the server answered %s with HTTP status %d and nothing in it, "
		"and has no other stream for an answer",
		post_name(p), p->reply.status);
	add_unknown(p, &v->err);
	lose(v, TRANSPORT_BROKE, true);
}

/* A whole 2xx answer that is no event stream; its media type does not count. */
static void judge_document(const struct post *p, const struct reply_around *a,
			   struct reply_verdict *v)
{
	if (p->reply.is_too_long) {
		err_set(&v->err, ERR_LIMIT,
			"the answer to %s is longer than %llu bytes; if it may "
			"be that long, raise stdout_max",
			post_name(p), (unsigned long long)a->message_max);
		lose(v, TRANSPORT_TOO_LONG, true);
	} else if (!str_trim(buf_str(&p->reply.body)).n) {
		judge_accepted(p, a, v);
	} else {
		v->what = REPLY_TAKE;
	}
}

void reply_judge_unanswered(const struct post *p, const struct reply_around *a,
			    struct reply_verdict *v)
{
	*v = (struct reply_verdict){.what = REPLY_ELSEWHERE, .err = ERR_INIT};
	if (p->reply.status >= 400)
		lose_by_status(p, a, p->reply.status >= 500, v);
	else if (!a->era->is_sse && !try_other_era(p, a, v))
		lose_by_status(p, a, true, v);
}

static bool is_good(int status)
{
	return status >= 200 && status < 300;
}

static void judge_request(const struct post *p, const struct http_end *end,
			  const struct reply_around *a, struct reply_verdict *v)
{
	int status = p->reply.status;

	if (p->is_answered) {
		v->what = REPLY_DONE;
	} else if (p->is_resuming) {
		judge_resumed(p, end, a, v);
	} else if (p->reply.is_stream) {
		judge_broken(p, end, a, v);
	} else if (!status || (end->kind != HTTP_DONE && is_good(status))) {
		/* a part of an answer is not used */
		judge_failed(p, end, a, v);
	} else if (is_good(status) && p->reply.is_bad_session) {
		err_set(&v->err, ERR_PEER,
			"the server gave a session id with characters that "
			"are not allowed in one, or of more than %d bytes",
			LIMIT_SESSION_ID_BYTES);
		lose(v, TRANSPORT_BROKE, false);
	} else if (is_good(status)) {
		judge_document(p, a, v);
	} else if (status < 400) {
		judge_redirect(p, a, v);
	} else if (status == 401 || status == 403) {
		deny(p, a, v);
	} else {
		judge_refusal(p, a, v);
	}
}

/* A notification or a response of ours. */
static void judge_notice(const struct post *p, const struct http_end *end,
			 const struct reply_around *a, struct reply_verdict *v)
{
	int status = p->reply.status;
	bool is_whole = end->kind == HTTP_DONE;

	if (is_whole && status >= 300 && status < 400)
		judge_redirect(p, a, v);
	else if (is_whole && (status == 401 || status == 403))
		deny(p, a, v);
	else if (status == 404 && p->session && reply_may_restore(p, a))
		v->what = REPLY_NO_SESSION;
	else
		v->what = REPLY_DONE;
}

void reply_judge(const struct post *p, const struct http_end *end,
		 const struct reply_around *a, struct reply_verdict *v)
{
	*v = (struct reply_verdict){.what = REPLY_DONE, .err = ERR_INIT};
	switch (p->kind) {
	case POST_REQUEST:
		judge_request(p, end, a, v);
		break;
	case POST_NOTICE:
		judge_notice(p, end, a, v);
		break;
	case POST_LISTENER:
		judge_listener(p, a, v);
		break;
	case POST_EVENTS:
		judge_events(p, end, a, v);
		break;
	case POST_DELETE:
		break;
	}
}
