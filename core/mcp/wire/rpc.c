#include "core/mcp/wire/rpc.h"

#include <string.h>

static bool is_zero_fraction(struct str s)
{
	if (s.n < 2 || s.p[0] != '.')
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (s.p[i] != '0')
			return false;
	return true;
}

struct rpc_id rpc_read_id(struct str raw)
{
	struct rpc_id id = {.type = RPC_ID_OTHER, .raw = raw};
	size_t dot;

	switch (scan_type(raw)) {
	case SCAN_NULL:
		id.type = RPC_ID_NONE;
		break;
	case SCAN_STRING:
		id.type = RPC_ID_STRING;
		break;
	case SCAN_NUMBER:
		/* 1.0 is the integer 1 to JSON */
		dot = str_find(raw, '.');
		if (dot < raw.n &&
		    !is_zero_fraction((struct str){raw.p + dot, raw.n - dot}))
			break;
		if (str_int64((struct str){raw.p, dot}, &id.number))
			id.type = RPC_ID_INT;
		break;
	default:
		break;
	}
	return id;
}

bool rpc_id_number(const struct rpc_id *id, uint64_t *ret)
{
	struct str digits;

	if (id->type == RPC_ID_INT) {
		*ret = (uint64_t)id->number;
		return id->number >= 0;
	}
	if (id->type != RPC_ID_STRING)
		return false;
	digits = (struct str){id->raw.p + 1, id->raw.n - 2};
	return str_uint64(digits, ret) && (digits.p[0] != '0' || digits.n == 1);
}

/* The members of one object that an envelope knows, as they came. */
struct members {
	struct str jsonrpc, id, method, params, result, error;
};

static void collect(struct str object, const struct scan_members *noted,
		    struct members *ret)
{
	struct scan_iter it;

	*ret = (struct members){0};
	scan_iter_noted(&it, object, noted);
	if (!it.is_object)
		return;
	/* long names first: only keys that are longer may hold escapes */
	while (scan_next(&it)) {
		if (scan_is(it.key, "jsonrpc"))
			ret->jsonrpc = it.value;
		else if (scan_is(it.key, "result"))
			ret->result = it.value;
		else if (scan_is(it.key, "method"))
			ret->method = it.value;
		else if (scan_is(it.key, "params"))
			ret->params = it.value;
		else if (scan_is(it.key, "error"))
			ret->error = it.value;
		else if (scan_is(it.key, "id"))
			ret->id = it.value;
	}
}

static bool is_some(struct str v)
{
	return v.p && scan_type(v) != SCAN_NULL;
}

static enum rpc_version read_version(struct str v)
{
	if (!v.p)
		return RPC_VERSION_ABSENT;
	return scan_is(v, "2.0") ? RPC_VERSION_OK : RPC_VERSION_OTHER;
}

static struct str read_params(struct str v)
{
	bool empty_array;

	if (!is_some(v))
		return STR("{}");
	/* PHP writes an empty object as [] (RW-57) */
	empty_array = scan_type(v) == SCAN_ARRAY && scan_count(v) == 0;
	return empty_array ? STR("{}") : v;
}

static void read_error(struct str error, struct rpc_message *ret)
{
	struct str code, message;

	ret->raw_error = error;
	ret->code = RPC_INTERNAL_ERROR;
	if (!scan_get(error, "code", &code) || !scan_int64(code, &ret->code))
		ret->bad_error = true;
	if (scan_get(error, "message", &message) &&
	    scan_type(message) == SCAN_STRING)
		ret->message = message;
	else
		ret->bad_error = true;
	if (!scan_get_some(error, "data", &ret->data))
		ret->data = (struct str){NULL, 0};
}

enum rpc_type rpc_read(struct str object, struct rpc_message *ret)
{
	return rpc_read_noted(object, NULL, ret);
}

enum rpc_type rpc_read_noted(struct str object,
			     const struct scan_members *members,
			     struct rpc_message *ret)
{
	struct members m;

	collect(object, members, &m);
	*ret = (struct rpc_message){
		.type = RPC_INVALID,
		.version = read_version(m.jsonrpc),
		.id = rpc_read_id(m.id.p ? m.id : STR("null")),
		.whole = object,
	};
	if (m.method.p && scan_type(m.method) == SCAN_STRING) {
		ret->method = m.method;
		ret->params = read_params(m.params);
		ret->type = ret->id.type == RPC_ID_NONE ? RPC_NOTIFICATION
							: RPC_REQUEST;
	} else if (is_some(m.error)) {
		ret->type = RPC_ERROR;
		ret->both = is_some(m.result);
		read_error(m.error, ret);
	} else if (m.result.p && ret->id.type != RPC_ID_NONE) {
		ret->type = RPC_RESULT;
		ret->result = m.result;
	}
	return ret->type;
}

static void begin(struct rpc_writer *w, struct buf *out)
{
	w->out = out;
	w->from = out->n;
	jw_init(&w->jw, out, false);
	jw_object(&w->jw);
	jw_raw(&w->jw, STR("\"jsonrpc\":\"2.0\""));
}

void rpc_begin_request(struct rpc_writer *w, struct buf *out, uint64_t id,
		       const char *method)
{
	begin(w, out);
	jw_key_raw(&w->jw, STR("\"id\""));
	jw_uint(&w->jw, id);
	jw_key_raw(&w->jw, STR("\"method\""));
	jw_cstr(&w->jw, method);
}

void rpc_begin_notification(struct rpc_writer *w, struct buf *out,
			    const char *method)
{
	begin(w, out);
	jw_kv_cstr(&w->jw, "method", method);
}

static void write_id(struct rpc_writer *w, const struct rpc_id *id)
{
	jw_kv_raw(&w->jw, "id", id ? id->raw : STR("null"));
}

void rpc_begin_result(struct rpc_writer *w, struct buf *out,
		      const struct rpc_id *id)
{
	begin(w, out);
	write_id(w, id);
	jw_key(&w->jw, "result");
}

void rpc_end(struct rpc_writer *w)
{
	struct str message;

	jw_end(&w->jw);
	message = (struct str){w->out->p + w->from, w->out->n - w->from};
	/* only a raw slice can bring these, and then between its tokens */
	if (memchr(message.p, '\n', message.n) ||
	    memchr(message.p, '\r', message.n)) {
		struct buf line = BUF_INIT(BUF_UNBOUNDED);

		scan_compact(message, &line);
		w->out->n = w->from;
		buf_add_str(w->out, buf_str(&line));
		buf_release(&line);
	}
	buf_addc(w->out, '\n');
}

void rpc_write_result(struct buf *out, const struct rpc_id *id,
		      struct str result)
{
	struct rpc_writer w;

	rpc_begin_result(&w, out, id);
	jw_raw(&w.jw, result);
	rpc_end(&w);
}

void rpc_write_error(struct buf *out, const struct rpc_id *id, int64_t code,
		     const char *message, struct str data)
{
	struct rpc_writer w;

	begin(&w, out);
	write_id(&w, id);
	jw_kv_object(&w.jw, "error");
	jw_kv_int(&w.jw, "code", code);
	jw_kv_cstr(&w.jw, "message", message);
	if (data.p)
		jw_kv_raw(&w.jw, "data", data);
	jw_end(&w.jw);
	rpc_end(&w);
}
