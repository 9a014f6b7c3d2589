#include "core/transport/remote_era.h"

#include <string.h>
#include <strings.h>

#include "core/base/limits.h"
#include "core/base/scan.h"

/* Bytes of an error's message that are looked at. */
#define MESSAGE_BYTES 1024

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
