#include "core/mcp/session/questions.h"

#include <string.h>

#include "core/base/mem.h"

/* Questions of the server that are open at once (SEC-9). */
#define QUESTIONS_MAX 64

static void question_release(struct question *a)
{
	buf_release(&a->id);
	buf_release(&a->key);
	buf_release(&a->params);
	buf_release(&a->answer);
}

/* ---- which questions can be answered ---- */

/* Answers to a question that was not declared, as an error of JSON-RPC. */
struct refusal {
	int64_t code;
	const char *text;
};
static const struct refusal unknown = {RPC_METHOD_NOT_FOUND,
				       "Method not found"};
static const struct refusal undeclared_mode = {
	RPC_INVALID_PARAMS, "This mode of elicitation was not declared"};
static const struct refusal bad_params = {RPC_INVALID_PARAMS,
					  "params must be an object"};
static const struct refusal too_many = {RPC_INTERNAL_ERROR,
					"Too many open requests"};

static const struct refusal *judge_mode(const struct mcp_declared *d,
					struct str params)
{
	struct str mode;
	bool has_mode = scan_get_some(params, "mode", &mode);

	if (!d->elicit_form && !d->elicit_url)
		return &unknown;
	if (!has_mode || scan_is(mode, "form"))
		return d->elicit_form ? NULL : &undeclared_mode;
	return scan_is(mode, "url") && d->elicit_url ? NULL : &undeclared_mode;
}

/* Judge a question; NULL: it can be answered, and *ret_method is its name. */
static const struct refusal *judge(const struct session *s, struct str method,
				   struct str params, const char **ret_method)
{
	const struct mcp_declared *d = &s->opt.declared;
	const struct {
		const char *method;
		const struct refusal *why_not;
	} methods[] = {
		{"roots/list", d->roots ? NULL : &unknown},
		{"elicitation/create", judge_mode(d, params)},
		{"sampling/createMessage", d->sampling ? NULL : &unknown},
	};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (!scan_is(method, methods[i].method))
			continue;
		*ret_method = methods[i].method;
		if (methods[i].why_not)
			return methods[i].why_not;
		if (scan_type(params) != SCAN_OBJECT)
			return &bad_params;
		return s->questions.n == QUESTIONS_MAX ? &too_many : NULL;
	}
	return &unknown;
}

/* ---- open questions ---- */

static struct question *add(struct session *s, const char *method,
			    struct str params)
{
	struct questions *a = &s->questions;
	struct question *ask;

	a->item = mem_grow(a->item, a->n + 1, &a->cap, sizeof(*a->item));
	ask = &a->item[a->n++];
	*ask = (struct question){
		.number = ++a->next,
		.method = method,
		.id = BUF_INIT(BUF_UNBOUNDED),
		.key = BUF_INIT(BUF_UNBOUNDED),
		.params = BUF_INIT(BUF_UNBOUNDED),
		.answer = BUF_INIT(BUF_UNBOUNDED),
	};
	buf_add_str(&ask->params, params);
	return ask;
}

struct question *questions_add(struct session *s, struct str method,
			       struct str params)
{
	const char *name = NULL;

	return judge(s, method, params, &name) ? NULL : add(s, name, params);
}

static void remove_question(struct session *s, struct question *a)
{
	size_t at = (size_t)(a - s->questions.item);

	if (a->told && !a->answered)
		session_start_clocks(s);
	question_release(a);
	s->questions.n--;
	memmove(a, a + 1, (s->questions.n - at) * sizeof(*a));
}

void questions_drop(struct session *s, uint64_t ticket)
{
	for (size_t i = s->questions.n; i-- > 0;) {
		struct question *a = &s->questions.item[i];

		if (a->ticket != ticket || !ticket)
			continue;
		if (!a->told || a->answered) {
			remove_question(s, a);
			continue;
		}
		session_start_clocks(s);
		a->answered = a->gone = true;
		a->ticket = 0;
	}
}

void questions_forget(struct session *s)
{
	while (s->questions.n)
		remove_question(s, &s->questions.item[s->questions.n - 1]);
	free(s->questions.item);
	s->questions.item = NULL;
	s->questions.cap = 0;
}

static void tell_gone(struct session *s, struct question *a,
		      struct session_event *ev)
{
	ev->type = SESSION_EVENT_ASK_GONE;
	ev->ask = a->number;
	remove_question(s, a);
}

bool questions_tell(struct session *s, struct session_event *ev)
{
	for (size_t i = 0; i < s->questions.n; i++) {
		struct question *a = &s->questions.item[i];

		if (a->gone) {
			tell_gone(s, a, ev);
			return true;
		}
		if (a->told)
			continue;
		a->told = true;
		session_stop_clocks(s);
		ev->type = SESSION_EVENT_ASKED;
		ev->ask = a->number;
		ev->ticket = a->ticket;
		ev->method = a->method;
		ev->params = buf_str(&a->params);
		return true;
	}
	return false;
}

static struct question *find(struct session *s, uint64_t number)
{
	for (size_t i = 0; i < s->questions.n; i++)
		if (s->questions.item[i].number == number &&
		    s->questions.item[i].told && !s->questions.item[i].answered)
			return &s->questions.item[i];
	return NULL;
}

/* ---- requests of the initialize era ---- */

/* Write an error response, and count its bytes as an answer. */
static void write_error(struct session *s, const struct rpc_id *id,
			int64_t code, const char *message)
{
	size_t before = s->out.n;

	rpc_write_error(&s->out, id, code, message, (struct str){NULL, 0});
	s->answers += s->out.n - before;
}

static enum verdict queue_is_full(struct session_event *ev)
{
	err_set(&ev->err, ERR_LIMIT,
		"the server sends requests and does not read the answers: %d "
		"bytes are waiting for its stdin",
		LIMIT_QUEUE_BYTES);
	ev->failure = SESSION_FAIL_QUEUE;
	return ENDS_SESSION;
}

/*
 * A server that sends a request during the probe shows that it is of the
 * initialize era. In the modern era no response is ever written (STD-31,
 * RW-64).
 */
static bool is_answered(const struct session *s)
{
	return !s->is_modern ||
	       (s->state == SESSION_PROBING && !s->opt.protocol);
}

/*
 * Requests are answered at once, whatever is open: a server that waits for an
 * answer may hold a lock (RW-60, RW-61).
 */
enum verdict questions_on_request(struct session *s,
				  const struct rpc_message *m,
				  struct session_event *ev)
{
	size_t before = s->out.n;
	const struct refusal *refusal;
	const char *method;

	if (!is_answered(s)) {
		s->stats.ignored_requests++;
		return DONE;
	}
	if (session_is_mute(s))
		return DONE;
	if (s->answers + m->id.raw.n > LIMIT_QUEUE_BYTES)
		return queue_is_full(ev);
	if (scan_is(m->method, "ping")) {
		rpc_write_result(&s->out, &m->id, STR("{}"));
		s->answers += s->out.n - before;
		return DONE;
	}
	refusal = judge(s, m->method, m->params, &method);
	if (!refusal) {
		buf_add_str(&add(s, method, m->params)->id, m->id.raw);
		return DONE;
	}
	s->stats.refused_requests++;
	write_error(s, &m->id, refusal->code, refusal->text);
	return DONE;
}

enum verdict questions_on_cancelled(struct session *s, const struct rpc_id *id,
				    struct session_event *ev)
{
	for (size_t i = 0; i < s->questions.n; i++) {
		struct question *a = &s->questions.item[i];
		bool told = a->told;

		if (a->is_key || !str_eq(buf_str(&a->id), id->raw))
			continue;
		tell_gone(s, a, ev);
		return told ? EVENT : DONE;
	}
	return DONE;
}

/*
 * Write a result. An answer to a question of a task says so: it repeats the
 * related-task member of the question's _meta (TK-6).
 */
static void write_result(struct session *s, const struct question *a,
			 const struct rpc_id *id, struct str result)
{
	static const char related[] = "io.modelcontextprotocol/related-task";
	static const char *const meta_too[] = {"_meta", NULL};
	static const char *const related_too[] = {related, NULL};
	struct str meta, task;
	struct rpc_writer w;

	if (!scan_get_some(buf_str(&a->params), "_meta", &meta) ||
	    !scan_get_some(meta, related, &task)) {
		rpc_write_result(&s->out, id, result);
		return;
	}
	rpc_begin_result(&w, &s->out, id);
	jw_object(&w.jw);
	copy_members(&w.jw, result, meta_too);
	jw_kv_object(&w.jw, "_meta");
	if (scan_get_some(result, "_meta", &meta))
		copy_members(&w.jw, meta, related_too);
	jw_kv_raw(&w.jw, related, task);
	jw_end(&w.jw);
	jw_end(&w.jw);
	rpc_end(&w);
}

/* ---- answers of the caller ---- */

uint64_t questions_answer(struct session *s, uint64_t number, struct str result)
{
	struct question *a = find(s, number);
	size_t before = s->out.n;
	struct rpc_id id;

	if (!a)
		return 0;
	if (a->is_key) {
		buf_add_str(&a->answer, result);
		a->answered = true;
		session_start_clocks(s);
		return a->ticket;
	}
	id = rpc_read_id(buf_str(&a->id));
	if (!session_is_mute(s))
		write_result(s, a, &id, result);
	s->answers += s->out.n - before;
	remove_question(s, a);
	return 0;
}

uint64_t questions_answer_error(struct session *s, uint64_t number,
				int64_t code, const char *message)
{
	struct question *a = find(s, number);
	uint64_t ticket = a ? a->ticket : 0;
	struct rpc_id id;

	if (!a)
		return 0;
	if (!a->is_key && !session_is_mute(s)) {
		id = rpc_read_id(buf_str(&a->id));
		write_error(s, &id, code, message);
	}
	remove_question(s, a);
	questions_drop(s, ticket);
	return ticket;
}
