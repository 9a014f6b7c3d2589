/*
 * How a conversation begins over HTTP: refused beginnings, and sessions that
 * the server has lost.
 */
#include <string.h>
#include <strings.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/transport/remote_inner.h"

/* ---- what was agreed on ---- */

static bool is_date(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '-' && (text.p[i] < '0' || text.p[i] > '9'))
			return false;
	return text.n > 0;
}

void remote_initialized(struct remote *r, const struct post *p,
			const struct rpc_message *m)
{
	AUTO(buf_release) struct buf date = BUF_INIT(sizeof(r->protocol) - 1);
	struct str v;

	if (m->type != RPC_RESULT || p->protocol ||
	    !scan_get(m->result, "protocolVersion", &v) ||
	    !scan_string(v, &date) || !is_date(buf_str(&date)))
		return;
	memcpy(r->protocol, buf_cstr(&date), date.n + 1);
	remote_tell_protocol(r, r->protocol);
}

/* ---- a session that is gone (HL-3, HL-6) ---- */

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

bool remote_is_of_session(const struct post *p, const struct rpc_message *m)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	scan_string_cut(m->message.p ? m->message : m->raw_error, 1024, &text);
	if (!remote_says_session(p, buf_str(&text)))
		return false;
	return post_is_safe(p) || (m->code != RPC_INTERNAL_ERROR &&
				   m->code != RPC_INVALID_PARAMS &&
				   is_about_session(buf_str(&text)));
}

bool remote_says_session(const struct post *p, struct str text)
{
	static const char *const gone[] = {
		"not found",  "expired", "invalid",   "unknown", "no valid",
		"terminated", "missing", "not exist", "closed",
	};

	if (!p->remote->has_worked || !has_word(text, "session"))
		return false;
	if (p->reply.status == 400)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		if (has_word(text, gone[i]))
			return true;
	return false;
}

static void on_begun_anew(struct remote *r, UNUSED struct post *p,
			  const struct rpc_message *m,
			  const struct transport_item *lost)
{
	struct err err = ERR_INIT;

	r->is_restoring = false;
	if (lost || m->type != RPC_RESULT) {
		err_set(&err, ERR_PEER,
			"the server has lost the session, and a new one did "
			"not begin: %s",
			lost ? lost->err.msg : "it refused initialize");
		remote_lose_all(r, lost ? lost->loss : TRANSPORT_BROKE, &err);
		return;
	}
	if (!r->initialized.n)
		return;
	r->opening = remote_request(r, buf_str(&r->initialized));
	r->opening->was_resent = true;
}

static void begin_anew(struct remote *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;
	struct rpc_message m;
	struct post *p;
	struct str v;
	struct jw w;

	if (scan_document(buf_str(&r->initialize), NULL, &v, &ignored) < 0)
		return;
	rpc_read(v, &m);
	jw_init(&w, &text, false);
	jw_object(&w);
	jw_kv_cstr(&w, "jsonrpc", "2.0");
	jw_key(&w, "id");
	remote_write_own_id(r, &w);
	jw_kv_cstr(&w, "method", "initialize");
	jw_kv_raw(&w, "params", m.params);
	jw_end(&w);
	log_debug("%s: the session is gone; it begins anew",
		  buf_cstr(&r->where));
	r->is_restoring = true;
	r->restored++;
	buf_wipe(&r->session_id);
	if (r->listener)
		remote_drop(r->listener);
	p = remote_request(r, buf_str(&text));
	p->answer = on_begun_anew;
	p->was_resent = true;
}

bool remote_session_lost(struct post *p)
{
	struct remote *r = p->remote;

	if (p->was_resent || p->is_resuming || !r->initialize.n || r->is_ending)
		return false;
	p->was_resent = true;
	if (p->session == r->session && !r->is_restoring)
		begin_anew(r);
	post_again(p);
	return true;
}

/* ---- a beginning that is refused ---- */

bool remote_beginning_refused(struct post *p)
{
	struct remote *r = p->remote;
	struct err err = ERR_INIT;

	post_say_status(p, &err);
	if (strcmp(p->method, "server/discover") == 0) {
		/* the session tries the other era (HE-3, HE-4) */
		remote_answer_error(p, RPC_INVALID_REQUEST, str_of(err.msg));
		return true;
	}
	if (strcmp(p->method, "initialize") != 0 || p->answer || r->is_sse ||
	    r->o.kind != REMOTE_AUTO || p->reply.status < 400)
		return false;
	remote_sse_begin(r, p, &err);
	return true;
}
