#include "core/transport/remote_take.h"

#include "core/base/jw.h"
#include "core/mcp/wire/salvage.h"

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

static void judge(struct post *via, struct str object, struct taken *ret)
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
		judge(t->via, t->more.value, ret);
		return true;
	}
	if (!t->one.p)
		return false;
	judge(t->via, t->one, ret);
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
