/*
 * What the server asks of us in the older era: requests with an id, answered
 * by a response.
 */
#include "core/mcp/session/session_inner.h"

void session_count_answer(struct session *s, size_t before)
{
	s->answers += session_output(s).n - before;
}

static enum outcome refuse(struct session *s, const struct rpc_message *m,
			   enum ask_verdict verdict)
{
	static const struct {
		int64_t code;
		const char *text;
	} texts[] = {
		[ASK_UNKNOWN_METHOD] = {RPC_METHOD_NOT_FOUND,
					"Method not found"},
		[ASK_UNDECLARED] = {RPC_METHOD_NOT_FOUND, "Method not found"},
		[ASK_UNDECLARED_MODE] = {RPC_INVALID_PARAMS,
					 "This mode of elicitation was not "
					 "declared"},
		[ASK_BAD_PARAMS] = {RPC_INVALID_PARAMS,
				    "params must be an object"},
	};
	size_t before = session_output(s).n;

	s->stats.refused_requests++;
	rpc_write_error(&s->out, &m->id, texts[verdict].code,
			texts[verdict].text, (struct str){NULL, 0});
	session_count_answer(s, before);
	return DONE;
}

static enum outcome too_many(struct session *s, struct session_event *ev)
{
	err_set(&ev->err, ERR_LIMIT,
		"the server asks and does not read the answers: %d "
		"bytes are waiting for its stdin",
		LIMIT_QUEUE_BYTES);
	return session_fail(s, SESSION_FAIL_QUEUE, ev);
}

/* A server that asks during the probe shows that it is of the older era. */
static bool is_undecided(const struct session *s)
{
	return s->state == SESSION_PROBING && !s->opt.protocol;
}

/* Our own handshake, back again. */
static struct request *find_echo(struct session *s, const struct rpc_message *m)
{
	struct request *r = requests_find(&s->requests, &m->id);

	return r && r->is_handshake && scan_is(m->method, r->method) ? r : NULL;
}

static enum outcome on_echo(struct session *s, struct request *r,
			    struct session_event *ev)
{
	err_set(&ev->err, ERR_PEER,
		"the server repeats what it is sent (%s came back): it is no "
		"MCP server, or it is behind a terminal that echoes",
		r->method);
	return session_fail_request(s, r, SESSION_FAIL_HANDSHAKE, ev);
}

/*
 * Answered at once, whatever is under way: a server that waits for an answer
 * may hold a lock (RW-60, RW-61).
 */
enum outcome session_on_request(struct session *s, const struct rpc_message *m,
				struct session_event *ev)
{
	struct request *echo = find_echo(s, m);
	size_t before = session_output(s).n;
	enum ask_verdict verdict;
	const char *method;
	struct ask *ask;

	s->stats.server_requests++;
	if (echo)
		return on_echo(s, echo, ev);
	if (session_is_modern(s) && !is_undecided(s)) {
		/* no response is ever written there (STD-31, RW-64) */
		s->stats.ignored_requests++;
		return DONE;
	}
	if (session_is_mute(s))
		return DONE;
	if (s->answers + m->id.raw.n > LIMIT_QUEUE_BYTES)
		return too_many(s, ev);
	if (scan_is(m->method, "ping")) {
		rpc_write_result(&s->out, &m->id, STR("{}"));
		session_count_answer(s, before);
		return DONE;
	}
	verdict = session_judge_ask(s, m->method, m->params, &method);
	if (verdict == ASK_ANSWERABLE && s->asks.n == ASKS_MAX) {
		s->stats.refused_requests++;
		rpc_write_error(&s->out, &m->id, RPC_INTERNAL_ERROR,
				"Too many open requests",
				(struct str){NULL, 0});
		session_count_answer(s, before);
		return DONE;
	}
	if (verdict != ASK_ANSWERABLE)
		return refuse(s, m, verdict);
	ask = session_add_ask(s, method, m->params);
	buf_add_str(&ask->id, m->id.raw);
	return DONE;
}

enum outcome session_ask_gone(struct session *s, const struct rpc_id *id,
			      struct session_event *ev)
{
	for (size_t i = 0; i < s->asks.n; i++) {
		struct ask *a = &s->asks.item[i];
		bool told = a->told;

		if (a->is_key || !str_eq(buf_str(&a->id), id->raw))
			continue;
		ev->type = SESSION_EVENT_ASK_GONE;
		ev->ask = a->number;
		session_remove_ask(s, a);
		return told ? EVENT : DONE;
	}
	return DONE;
}

/* What belongs to a task says so, our answers too (TK-6). */
void session_write_answer(struct session *s, const struct ask *a,
			  struct str result)
{
	static const char related[] = "io.modelcontextprotocol/related-task";
	static const char *const meta_too[] = {"_meta", NULL};
	static const char *const related_too[] = {related, NULL};
	struct rpc_id id = rpc_read_id(buf_str(&a->id));
	struct str meta, task;
	struct rpc_writer w;

	if (!scan_get_some(buf_str(&a->params), "_meta", &meta) ||
	    !scan_get_some(meta, related, &task)) {
		rpc_write_result(&s->out, &id, result);
		return;
	}
	rpc_begin_result(&w, &s->out, &id);
	jw_object(&w.jw);
	session_copy_members(&w.jw, result, meta_too);
	jw_key(&w.jw, "_meta");
	jw_object(&w.jw);
	if (scan_get_some(result, "_meta", &meta))
		session_copy_members(&w.jw, meta, related_too);
	jw_kv_raw(&w.jw, related, task);
	jw_end(&w.jw);
	jw_end(&w.jw);
	rpc_end(&w);
}
