#include "core/mcp/wire/rpc.h"

struct rpc_id rpc_read_id(struct str raw)
{
	struct rpc_id id = {.type = RPC_ID_OTHER, .raw = raw};
	size_t n = raw.n;

	switch (scan_type(raw)) {
	case SCAN_NULL:
		id.type = RPC_ID_NONE;
		break;
	case SCAN_STRING:
		id.type = RPC_ID_STRING;
		break;
	case SCAN_NUMBER:
		/* 1.0 is the integer 1 to JSON */
		if (str_find(raw, '.') < n)
			while (raw.p[n - 1] == '0')
				n--;
		n -= raw.p[n - 1] == '.';
		if (str_int64((struct str){raw.p, n}, &id.number))
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

static bool is_some(struct str v)
{
	return v.p && scan_type(v) != SCAN_NULL;
}

/* PHP writes an empty object as [] (RW-57). */
static struct str read_params(struct str v)
{
	if (!is_some(v) || (scan_type(v) == SCAN_ARRAY && !scan_count(v)))
		return STR("{}");
	return v;
}

static void read_error(struct str error, struct rpc_message *ret)
{
	struct str code = scan_some(error, "code");

	ret->raw_error = error;
	ret->code = RPC_INTERNAL_ERROR;
	ret->bad_error = !code.p || !scan_int64(code, &ret->code);
	ret->message = scan_text(error, "message");
	ret->bad_error |= !ret->message.p;
	ret->data = scan_some(error, "data");
}

enum rpc_type rpc_read(struct str object, struct rpc_message *ret)
{
	return rpc_read_noted(object, NULL, ret);
}

enum rpc_type rpc_read_noted(struct str object,
			     const struct scan_members *members,
			     struct rpc_message *ret)
{
	struct str jsonrpc = {NULL, 0}, id = STR("null"), method = jsonrpc,
		   params = jsonrpc, result = jsonrpc, error = jsonrpc;
	struct scan_iter it;

	scan_iter_noted(&it, object, members);
	/* long names first: only keys that are longer may hold escapes */
	while (it.is_object && scan_next(&it)) {
		if (scan_is(it.key, "jsonrpc"))
			jsonrpc = it.value;
		else if (scan_is(it.key, "result"))
			result = it.value;
		else if (scan_is(it.key, "method"))
			method = it.value;
		else if (scan_is(it.key, "params"))
			params = it.value;
		else if (scan_is(it.key, "error"))
			error = it.value;
		else if (scan_is(it.key, "id"))
			id = it.value;
	}
	*ret = (struct rpc_message){
		.version = !jsonrpc.p		     ? RPC_VERSION_ABSENT
			   : scan_is(jsonrpc, "2.0") ? RPC_VERSION_OK
						     : RPC_VERSION_OTHER,
		.id = rpc_read_id(id),
		.whole = object,
	};
	if (method.p && scan_type(method) == SCAN_STRING) {
		ret->method = method;
		ret->params = read_params(params);
		ret->type = ret->id.type == RPC_ID_NONE ? RPC_NOTIFICATION
							: RPC_REQUEST;
	} else if (is_some(error)) {
		ret->type = RPC_ERROR;
		ret->both = is_some(result);
		read_error(error, ret);
	} else if (result.p && ret->id.type != RPC_ID_NONE) {
		ret->type = RPC_RESULT;
		ret->result = result;
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
	message = str_skip(buf_str(w->out), w->from);
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
