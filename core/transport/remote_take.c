/*
 * Messages of the server: whose answer it is, and what HTTP learns from it.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/mcp/wire/mcp.h"
#include "core/mcp/wire/salvage.h"
#include "core/transport/remote_inner.h"

/* ---- whose it is ---- */

/* Ours are integers or the strings of REMOTE_OWN_ID (ID-4). */
static bool is_id_of(const struct post *p, const struct rpc_id *id)
{
	uint64_t number;

	if (str_uint64(p->id, &number))
		return rpc_id_matches(id, number);
	return str_eq(p->id, id->raw);
}

static struct post *find(struct remote *r, const struct rpc_id *id)
{
	for (struct post *p = r->first; p; p = p->next)
		if (p->kind == POST_REQUEST && !p->is_answered &&
		    is_id_of(p, id))
			return p;
	return NULL;
}

/* ---- what is learned ---- */

static bool is_method(const struct post *p, const char *method)
{
	return strcmp(p->method, method) == 0;
}

static void learn(struct remote *r, struct post *p, const struct rpc_message *m)
{
	if (is_method(p, "initialize"))
		remote_initialized(r, p, m);
	else if (p->protocol && is_method(p, "tools/list") &&
		 m->type == RPC_RESULT)
		remote_list_learn(r, p, m->result);
	if (p->session && p->session == r->session && m->type == RPC_RESULT)
		r->has_worked = true;
}

/* ---- answers ---- */

/* The same answer, with the id of the request it belongs to (HT-5, RW-52). */
static void give_renamed(struct post *p, const struct rpc_message *m,
			 struct str result)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	p->remote->oddities++;
	jw_init(&w, &text, false);
	jw_object(&w);
	jw_kv_cstr(&w, "jsonrpc", "2.0");
	jw_kv_raw(&w, "id", p->id);
	if (m && m->type == RPC_ERROR)
		jw_kv_raw(&w, "error", m->raw_error);
	else
		jw_kv_raw(&w, "result", result);
	jw_end(&w);
	remote_give(p->remote, buf_str(&text), NULL);
}

/* It has its answer; the stream may say a little more. */
static void answered(struct post *p)
{
	p->is_answered = true;
	p->state = POST_LINGERS;
	post_after(p, p->x ? REMOTE_LINGER_MS : 0);
}

/* Was it refused for a reason that HTTP can mend? Then it goes once more. */
static bool is_mended(struct post *p, const struct rpc_message *m)
{
	if (m->type != RPC_ERROR)
		return false;
	if (p->protocol)
		return m->code == MCP_HEADER_MISMATCH &&
		       is_method(p, "tools/call") && remote_list_mismatch(p);
	return p->session && remote_is_of_session(p, m) &&
	       remote_session_lost(p);
}

/* result  of an answer that names no request; m is NULL then */
static void on_answer(struct post *p, const struct rpc_message *m,
		      struct str result, struct buf *memory)
{
	post_answer_fn *answer = p->answer;
	const struct rpc_message made = {.type = RPC_RESULT, .result = result};
	bool is_ours = m && is_id_of(p, &m->id);

	if (m && is_mended(p, m))
		return;
	answered(p);
	learn(p->remote, p, m ? m : &made);
	if (answer) {
		p->answer = NULL;
		answer(p->remote, p, m ? m : &made, NULL);
	} else if (is_ours) {
		remote_give(p->remote, m->whole, memory);
	} else {
		give_renamed(p, m, result);
	}
}

void remote_answer_error(struct post *p, int64_t code, struct str message)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &text, false);
	jw_object(&w);
	jw_kv_cstr(&w, "jsonrpc", "2.0");
	jw_kv_raw(&w, "id", p->id);
	jw_key(&w, "error");
	jw_object(&w);
	jw_kv_int(&w, "code", code);
	jw_kv_str(&w, "message", message);
	jw_end(&w);
	jw_end(&w);
	remote_give(p->remote, buf_str(&text), NULL);
	p->is_answered = true;
	remote_drop(p);
}

/* ---- all messages ---- */

static void on_response(struct post *via, const struct rpc_message *m,
			struct buf *memory)
{
	const struct str none = {NULL, 0};
	struct post *p = find(via->remote, &m->id);
	bool is_via = via->kind == POST_REQUEST && !via->is_answered;

	if (!p && m->type == RPC_ERROR && is_via)
		p = via;
	if (p)
		on_answer(p, m, none, memory);
	else
		remote_give(via->remote, m->whole, memory);
}

/* No message, but a result in the reply to a request is its result. */
static void on_other(struct post *via, struct str object)
{
	struct str result;

	if (via->kind == POST_REQUEST && !via->is_answered &&
	    !via->reply.is_stream && scan_get(object, "result", &result) &&
	    scan_type(result) == SCAN_OBJECT)
		on_answer(via, NULL, result, NULL);
	else
		via->remote->oddities++;
}

static void on_object(struct post *via, struct str object, struct buf *memory)
{
	struct remote *r = via->remote;
	struct rpc_message m;

	switch (rpc_read(object, &m)) {
	case RPC_RESULT:
	case RPC_ERROR:
		on_response(via, &m, memory);
		break;
	case RPC_REQUEST:
		/* before the era is known it is not the session's to answer */
		if (via->protocol && is_method(via, "server/discover"))
			r->oddities++;
		else
			remote_give(r, object, memory);
		break;
	case RPC_NOTIFICATION:
		if (scan_is(m.method, "notifications/tools/list_changed"))
			remote_list_forget(r);
		remote_give(r, object, memory);
		break;
	case RPC_INVALID:
		on_other(via, object);
		break;
	}
}

static bool read_json(struct str text, struct buf *repaired, struct str *ret)
{
	struct err ignored = ERR_INIT;

	if (scan_document(text, NULL, ret, &ignored) == 0)
		return true;
	return salvage_utf8(text, repaired) &&
	       scan_document(buf_str(repaired), NULL, ret, &ignored) == 0;
}

bool remote_take(struct post *via, struct str text, struct buf *memory)
{
	AUTO(buf_release) struct buf repaired = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	struct str v;

	if (!read_json(text, &repaired, &v))
		return false;
	if (scan_type(v) == SCAN_OBJECT) {
		on_object(via, v, memory);
		return true;
	}
	scan_iter_init(&it, v);
	/* an array is as many messages (RPC-9); one of them may end them all */
	while (scan_type(v) == SCAN_ARRAY && !via->is_gone && scan_next(&it))
		if (scan_type(it.value) == SCAN_OBJECT)
			on_object(via, it.value, NULL);
	return true;
}
