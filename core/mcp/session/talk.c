#include "core/mcp/session/talk.h"

#include <string.h>

#include "core/base/mem.h"

/* Times that one request is sent again (MR-9), and that a task may ask. */
#define ROUNDS_MAX 10
#define TASK_ROUNDS_MAX 100
/* Wait before a request without questions is sent again (MR-8), ms. */
#define AGAIN_FIRST_MS 250
#define AGAIN_LAST_MS 5000
/* Between two looks at a task, milliseconds (TK-4). */
#define INTERVAL_MS 5000
#define INTERVAL_LEAST_MS 250
#define INTERVAL_MOST_MS 60000
/* Ceiling of a task's id, bytes of JSON text. */
#define TASK_ID_BYTES 1024

/* Questions of the server that are open at once (SEC-9). */
#define QUESTIONS_MAX 64

/* Log messages and changed resources that are passed on in a second (LOG-5). */
#define LOGS_PER_SECOND 100
/* Progress of one request is passed on this often (PRO-4). */
#define PROGRESS_EVERY_NS (NS_PER_S / 10)

/* ---- questions of the server ---- */

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

static struct question *questions_add(struct session *s, struct str method,
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

static enum verdict questions_on_cancelled(struct session *s,
					   const struct rpc_id *id,
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

static uint64_t questions_answer(struct session *s, uint64_t number,
				 struct str result)
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

static uint64_t questions_answer_error(struct session *s, uint64_t number,
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

/* ---- answers that are not the result yet ---- */

static enum verdict broken(struct session_event *ev, const char *rule)
{
	err_set(&ev->err, ERR_PEER, "%s", rule);
	return ENDS_BROKEN;
}

/* ---- questions in a result or in a task's status ---- */

static bool was_answered(const struct request *r, struct str key)
{
	struct str rest = buf_str(&r->task.answered);

	while (rest.n)
		if (str_eq(str_cut(&rest, '\n'), key))
			return true;
	return false;
}

/* Of two members of one name the last counts (RW-15). */
static bool comes_again(struct scan_iter rest, struct str key)
{
	struct buf name = BUF_INIT(BUF_UNBOUNDED);
	bool again = false;

	scan_string(key, &name);
	while (!again && scan_next(&rest))
		again = scan_is(rest.key, buf_cstr(&name));
	buf_release(&name);
	return again;
}

/* Add a question for each member, in their order. */
static enum verdict add_questions(struct session *s, struct request *r,
				  struct str requests, struct session_event *ev)
{
	struct scan_iter it;

	scan_iter_init(&it, requests);
	while (scan_next(&it)) {
		struct str method, params;
		struct question *ask;

		if (was_answered(r, it.key) || comes_again(it, it.key))
			continue;
		if (!scan_get(it.value, "method", &method))
			method = STR("null");
		if (!scan_get_some(it.value, "params", &params))
			params = STR("{}");
		ask = questions_add(s, method, params);
		if (!ask) {
			/* the server's fault (MR-10) */
			questions_drop(s, r->ticket);
			method =
				session_shown(method, VERSION_BYTES, &s->shown);
			err_set(&ev->err, ERR_PEER,
				"asks for %.*s, which was not offered",
				STR_ARG(method));
			return ENDS_BROKEN;
		}
		ask->is_key = true;
		ask->ticket = r->ticket;
		buf_add_str(&ask->key, it.key);
	}
	return DONE;
}

/* Write {"key": answer, ...} of a request, and forget its questions. */
static void take_answers(struct session *s, uint64_t ticket, struct buf *out,
			 struct buf *keys)
{
	const char *sep = "{";

	for (size_t i = 0; i < s->questions.n; i++) {
		const struct question *a = &s->questions.item[i];

		if (a->ticket != ticket)
			continue;
		buf_adds(out, sep);
		buf_add_str(out, buf_str(&a->key));
		buf_addc(out, ':');
		buf_add_str(out, buf_str(&a->answer));
		sep = ",";
		if (keys) {
			buf_add_str(keys, buf_str(&a->key));
			buf_addc(keys, '\n');
		}
	}
	buf_addc(out, '}');
	questions_drop(s, ticket);
}

/* ---- input_required ---- */

/* Send a request again after a while, which grows with each round. */
static void send_later(struct session *s, struct request *r)
{
	uint64_t ms = AGAIN_FIRST_MS;

	for (uint32_t i = 1; i < r->rounds && ms < AGAIN_LAST_MS; i++)
		ms *= 2;
	r->due_ns =
		session_after_ms(s, ms < AGAIN_LAST_MS ? ms : AGAIN_LAST_MS);
	requests_timed(&s->requests, r);
}

static enum verdict on_input_required(struct session *s, struct request *r,
				      struct str result,
				      struct session_event *ev)
{
	struct str asked, state;
	bool any = scan_get_some(result, "inputRequests", &asked) &&
		   scan_count(asked);

	if (!scan_get_some(result, "requestState", &state))
		state = (struct str){NULL, 0};
	if (!any && !state.p)
		return broken(ev, "input_required comes with neither "
				  "inputRequests nor requestState");
	if (any && scan_type(asked) != SCAN_OBJECT)
		return broken(ev, "inputRequests is not an object");
	if (state.p && scan_type(state) != SCAN_STRING)
		return broken(ev, "requestState is not a string");
	if (r->rounds++ == ROUNDS_MAX) {
		err_set(&ev->err, ERR_PEER,
			"gave up after %d rounds of input requests",
			ROUNDS_MAX);
		return ENDS_BROKEN;
	}
	buf_clear(&r->responses);
	buf_clear(&r->state);
	buf_add_str(&r->state, state);
	r->parked = true;
	if (any)
		return add_questions(s, r, asked, ev);
	send_later(s, r);
	return DONE;
}

/* ---- tasks of both eras ---- */

/* The object with the task's members, or {NULL, 0}. */
static struct str task_of(const struct session *s, struct str result)
{
	struct str v = {NULL, 0};

	if (s->is_modern)
		return scan_get_some(result, "resultType", &v) &&
				       scan_is(v, "task")
			       ? result
			       : (struct str){NULL, 0};
	return scan_get_some(result, "task", &v) ? v : (struct str){NULL, 0};
}

/* Was a task asked for, and is this result one? */
static bool is_task(const struct session *s, const struct request *r,
		    struct str result)
{
	if (strcmp(r->method, "tools/call") != 0)
		return false;
	if (s->is_modern ? !s->opt.declared.tasks : !r->as_task)
		return false;
	return task_of(s, result).p != NULL;
}

/* Read when to look next; the server may change that each time (TX-3). */
static void read_interval(struct session *s, struct request *r, struct str task)
{
	const char *name = s->is_modern ? "pollIntervalMs" : "pollInterval";
	int64_t ms = INTERVAL_MS;
	struct str v;

	if (scan_get_some(task, name, &v) && !scan_int64(v, &ms))
		ms = INTERVAL_MS;
	if (ms < INTERVAL_LEAST_MS)
		ms = INTERVAL_LEAST_MS;
	if (ms > INTERVAL_MOST_MS)
		ms = INTERVAL_MOST_MS;
	r->task.interval_ms = (uint64_t)ms;
}

static void look_later(struct session *s, struct request *r)
{
	r->due_ns = session_after_ms(s, r->task.interval_ms);
	/* a task that lives restarts the timeout; the total goes on */
	r->deadline_ns = session_ends_ms(s, session_timeout_ms(s, r) +
						    r->task.interval_ms);
	requests_timed(&s->requests, r);
}

/*
 * Send {"taskId": …, ...}. It never has related-task, also not with
 * tasks/result: the SDK servers take that for a message of the task, and queue
 * their answer to it for the next caller of tasks/result (TK-6).
 *
 * answers  JSON object of inputResponses, or {NULL, 0}
 */
static struct request *ask_server(struct session *s, struct request *r,
				  const char *method, struct str answers)
{
	struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct request *own;
	struct jw w;

	jw_init(&w, &params, false);
	jw_object(&w);
	jw_kv_raw(&w, "taskId", buf_str(&r->task.id));
	if (answers.p)
		jw_kv_raw(&w, "inputResponses", answers);
	jw_end(&w);
	own = send_own(s, method, r->ticket, buf_str(&params));
	buf_release(&params);
	return own;
}

static void fetch_result(struct session *s, struct request *r)
{
	struct request *own;

	if (r->task.is_waiting)
		return;
	r->task.is_waiting = true;
	r->deadline_ns = r->total_deadline_ns;
	own = ask_server(s, r, "tasks/result", (struct str){NULL, 0});
	/* the server answers at the end of the task (TK-5) */
	if (own)
		own->deadline_ns = own->total_deadline_ns = UINT64_MAX;
	r->due_ns = UINT64_MAX;
}

enum status { WORKING, INPUT_REQUIRED, COMPLETED, FAILED, CANCELLED, OTHER };

static enum status read_status(struct str task)
{
	static const char *const words[] = {"working", "input_required",
					    "completed", "failed", "cancelled"};
	struct str v;

	if (!scan_get_some(task, "status", &v))
		return OTHER;
	for (int i = 0; i < OTHER; i++)
		if (scan_is(v, words[i]))
			return (enum status)i;
	return OTHER;
}

static enum verdict follow_legacy(struct session *s, struct request *r,
				  struct str task, struct session_event *ev)
{
	switch (read_status(task)) {
	case WORKING:
		look_later(s, r);
		return DONE;
	case INPUT_REQUIRED: /* questions come as requests meanwhile */
	case COMPLETED:
	case FAILED: /* also a tool that failed: its result says so (TK-9) */
	case CANCELLED:
		fetch_result(s, r);
		return DONE;
	case OTHER:
		break;
	}
	return broken(ev, "the task has no known status");
}

static enum verdict end_badly(struct session *s, struct str task,
			      struct session_event *ev)
{
	struct rpc_message m = {.type = RPC_ERROR, .code = RPC_INTERNAL_ERROR};
	struct str v;

	if (!scan_get_some(task, "error", &m.raw_error))
		return broken(ev, "the task failed without an error");
	if (scan_get_some(m.raw_error, "message", &v) &&
	    scan_type(v) == SCAN_STRING)
		m.message = v;
	if (!scan_get_some(m.raw_error, "code", &v) || !scan_int64(v, &m.code))
		m.code = RPC_INTERNAL_ERROR;
	if (scan_get(m.raw_error, "data", &v))
		m.data = v;
	session_read_error(s, &m, ev);
	return ENDS_ERROR;
}

static bool has_questions(const struct session *s, uint64_t ticket)
{
	for (size_t i = 0; i < s->questions.n; i++)
		if (s->questions.item[i].ticket == ticket)
			return true;
	return false;
}

/* Read the questions of a task (TX-5). */
static enum verdict on_task_input(struct session *s, struct request *r,
				  struct str task, struct session_event *ev)
{
	size_t before = s->questions.n;
	enum verdict verdict;
	struct str requests;

	if (r->task.is_refused)
		return broken(ev, "the task refused the answer to its "
				  "question and asks again");
	look_later(s, r);
	if (!scan_get_some(task, "inputRequests", &requests) ||
	    has_questions(s, r->ticket))
		return DONE;
	verdict = add_questions(s, r, requests, ev);
	/* the status may lag behind the answers (TX-5) */
	if (verdict != DONE || s->questions.n == before ||
	    r->task.rounds++ < TASK_ROUNDS_MAX)
		return verdict;
	err_set(&ev->err, ERR_PEER,
		"gave up after %d rounds of input requests of the task",
		TASK_ROUNDS_MAX);
	return ENDS_BROKEN;
}

static enum verdict follow_modern(struct session *s, struct request *r,
				  struct str task, struct session_event *ev)
{
	struct str result;

	switch (read_status(task)) {
	case WORKING:
		look_later(s, r);
		return DONE;
	case INPUT_REQUIRED:
		return on_task_input(s, r, task, ev);
	case COMPLETED:
		if (!scan_get_some(task, "result", &result))
			return broken(ev, "the task ended without a result");
		ev->result = result;
		return ENDS_RESULT;
	case FAILED:
		return end_badly(s, task, ev);
	case CANCELLED:
		return broken(ev, "the server cancelled the task");
	case OTHER:
		break;
	}
	return broken(ev, "the task has no known status");
}

static enum verdict follow(struct session *s, struct request *r,
			   struct str task, struct session_event *ev)
{
	read_interval(s, r, task);
	return s->is_modern ? follow_modern(s, r, task, ev)
			    : follow_legacy(s, r, task, ev);
}

static enum verdict on_task(struct session *s, struct request *r,
			    struct str result, struct session_event *ev)
{
	struct str task = task_of(s, result), id;
	enum verdict verdict;

	if (!scan_get_some(task, "taskId", &id) ||
	    scan_type(id) != SCAN_STRING || id.n > TASK_ID_BYTES)
		return broken(ev, "the task has no usable taskId");
	buf_add_str(&r->task.id, id);
	r->parked = true;
	verdict = follow(s, r, task, ev);
	if (verdict != DONE)
		return verdict;
	ev->type = SESSION_EVENT_TASK;
	ev->params = task;
	return EVENT;
}

static bool is_method(const struct request *r, const char *method)
{
	return strcmp(r->method, method) == 0;
}

enum verdict later_on_response(struct session *s, struct request *own,
			       const struct rpc_message *m,
			       struct session_event *ev)
{
	struct request *r = requests_find_ticket(&s->requests, own->parent);
	bool is_get = is_method(own, "tasks/get");
	bool is_result = is_method(own, "tasks/result");
	bool is_update = is_method(own, "tasks/update");

	requests_remove(&s->requests, own);
	if (!r)
		return DONE; /* tasks/cancel, which has no use for an answer */
	if (m->type == RPC_ERROR && is_update) {
		/* the task may have ended meanwhile: its status says so */
		r->task.is_refused = true;
		r->due_ns = s->now_ns;
		requests_timed(&s->requests, r);
		return DONE;
	}
	if (m->type == RPC_ERROR) {
		session_read_error(s, m, ev);
		return ENDS_ERROR;
	}
	if (is_result) {
		ev->result = m->result;
		return ENDS_RESULT;
	}
	if (!is_get)
		return DONE; /* tasks/update is only acknowledged (TX-5) */
	return follow(s, r, m->result, ev);
}

/* ---- from outside ---- */

/* Requests that may be answered by questions (MR-2). */
static bool may_ask(const struct request *r)
{
	return is_method(r, "tools/call") || is_method(r, "resources/read") ||
	       is_method(r, "prompts/get");
}

enum verdict later_on_result(struct session *s, struct request *r,
			     struct str result, struct session_event *ev)
{
	struct str type;

	if (is_task(s, r, result))
		return on_task(s, r, result, ev);
	/* resultType is read first; absent it is `complete` (MR-1, RW-81) */
	if (!s->is_modern || !scan_get_some(result, "resultType", &type) ||
	    scan_is(type, "complete")) {
		ev->result = result;
		return ENDS_RESULT;
	}
	if (scan_is(type, "input_required") && may_ask(r))
		return on_input_required(s, r, result, ev);
	type = session_shown(type, VERSION_BYTES, &s->shown);
	err_set(&ev->err, ERR_PEER,
		"resultType \"%.*s\" is not known for this method",
		STR_ARG(type));
	return ENDS_BROKEN;
}

void later_do_due(struct session *s, struct request *r)
{
	r->due_ns = UINT64_MAX;
	if (r->task.id.n) {
		(void)ask_server(s, r, "tasks/get", (struct str){NULL, 0});
		return;
	}
	s->stats.rounds++;
	send_request(s, r);
}

static void update_task(struct session *s, struct request *r)
{
	struct buf answers = BUF_INIT(BUF_UNBOUNDED);

	take_answers(s, r->ticket, &answers, &r->task.answered);
	r->task.is_refused = false;
	(void)ask_server(s, r, "tasks/update", buf_str(&answers));
	buf_release(&answers);
}

static void later_go_on(struct session *s, uint64_t ticket)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	for (size_t i = 0; i < s->questions.n; i++)
		if (s->questions.item[i].ticket == ticket &&
		    !s->questions.item[i].answered)
			return;
	if (!r)
		return;
	s->stats.rounds++;
	if (r->task.id.n) {
		update_task(s, r);
		return;
	}
	take_answers(s, ticket, &r->responses, NULL);
	send_request(s, r);
}

void later_cancel_task(struct session *s, struct request *r)
{
	(void)ask_server(s, r, "tasks/cancel", (struct str){NULL, 0});
}

/* ---- answers of the caller ---- */

void session_answer(struct session *s, uint64_t ask, struct str result,
		    uint64_t now_ns)
{
	uint64_t ticket;

	session_hear_time(s, now_ns);
	ticket = questions_answer(s, ask, result);
	if (ticket)
		later_go_on(s, ticket);
}

void session_answer_error(struct session *s, uint64_t ask, int64_t code,
			  const char *message, uint64_t now_ns)
{
	struct request *r;

	session_hear_time(s, now_ns);
	r = requests_find_ticket(&s->requests,
				 questions_answer_error(s, ask, code, message));
	if (!r)
		return;
	/* session_next() ends the request with this text */
	buf_clear(&r->responses);
	buf_adds(&r->responses, message);
	r->is_given_up = true;
	r->due_ns = s->now_ns;
	requests_timed(&s->requests, r);
}

/* ---- notices ---- */

/* ---- progress ---- */

static struct str c_text(const char *text)
{
	return text[0] ? str_of(text) : (struct str){NULL, 0};
}

static void swap_progress(struct request_progress *a,
			  struct request_progress *b)
{
	struct request_progress c = *a;

	*a = *b;
	*b = c;
}

enum verdict notice_tell_progress(struct session *s, struct request *r,
				  struct session_event *ev)
{
	r->progress_held = false;
	r->next_progress_ns = s->now_ns + PROGRESS_EVERY_NS;
	swap_progress(&r->progress, &s->progress);
	ev->type = SESSION_EVENT_PROGRESS;
	ev->ticket = r->ticket;
	ev->message = buf_str(&s->progress.message);
	ev->progress = str_of(s->progress.progress);
	ev->total = c_text(s->progress.total);
	return EVENT;
}

static enum verdict on_progress(struct session *s, struct str params,
				struct session_event *ev)
{
	struct request *r = NULL;
	struct rpc_id token;
	struct str v;
	bool was_held;

	/* a token is the id of a request, also of one with a task (PRO-5) */
	if (scan_get(params, "progressToken", &v)) {
		token = rpc_read_id(v);
		r = requests_find_token(&s->requests, &token);
	}
	if (!r || !r->has_token)
		return DONE;
	was_held = r->progress_held;
	if (!request_take_progress(r, params))
		return DONE;
	s->stats.dropped_notifications += was_held;
	r->deadline_ns = session_ends_ms(s, session_timeout_ms(s, r));
	if (s->now_ns < r->next_progress_ns) {
		requests_timed(&s->requests, r);
		return DONE;
	}
	return notice_tell_progress(s, r, ev);
}

/* ---- log messages ---- */

static const char *log_level_of(struct str v)
{
	static const char *const levels[] = {
		"debug", "info",     "notice", "warning",
		"error", "critical", "alert",  "emergency",
	};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (scan_is(v, levels[i]))
			return levels[i];
	return "info";
}

/* Count an event against the bound of this second; false: drop it. */
static bool has_room(struct session *s)
{
	if (s->now_ns - s->log_second_ns >= NS_PER_S) {
		s->log_second_ns = s->now_ns;
		s->logs = 0;
	}
	if (s->logs == LOGS_PER_SECOND) {
		s->stats.dropped_notifications++;
		return false;
	}
	s->logs++;
	return true;
}

static enum verdict on_log(struct session *s, struct str params,
			   struct session_event *ev)
{
	struct str level, logger, data;

	/* not asked for, not passed on (LOG-3) */
	if (s->is_modern && !s->opt.log_level) {
		s->stats.dropped_notifications++;
		return DONE;
	}
	if (!scan_get(params, "data", &data) || !has_room(s))
		return DONE;
	ev->type = SESSION_EVENT_LOG;
	ev->level = scan_get(params, "level", &level) ? log_level_of(level)
						      : "info";
	ev->logger = scan_get_some(params, "logger", &logger)
			     ? session_shown(logger, TEXT_BYTES, &s->logger)
			     : STR("");
	ev->message = session_shown(data, TEXT_BYTES, &s->text);
	return EVENT;
}

/* ---- changes ---- */

/* Notices that are told once until the list is asked for again (RW-65). */
static const struct list_notice {
	const char *notice, *request;
} list_notices[] = {
	{"notifications/tools/list_changed", "tools/list"},
	{"notifications/prompts/list_changed", "prompts/list"},
	{"notifications/resources/list_changed", "resources/list"},
};

static void notice_list_asked(struct session *s, const char *method)
{
	for (size_t i = 0; i < ARRAY_LEN(list_notices); i++)
		if (strcmp(method, list_notices[i].request) == 0)
			s->changed &= ~(1U << i);
}

static enum verdict on_list_changed(struct session *s, size_t i,
				    struct session_event *ev)
{
	if (s->changed & 1U << i) {
		s->stats.dropped_notifications++;
		return DONE;
	}
	s->changed |= 1U << i;
	ev->type = SESSION_EVENT_CHANGED;
	ev->method = list_notices[i].notice;
	ev->message = STR("");
	return EVENT;
}

/* Tell a change of one thing, which a member of the params names. */
static enum verdict on_named(struct session *s, const char *method,
			     struct str params, const char *member,
			     struct session_event *ev)
{
	struct str name;

	if (!scan_get_some(params, member, &name) || !has_room(s))
		return DONE;
	ev->type = SESSION_EVENT_CHANGED;
	ev->method = method;
	ev->message = session_shown(name, TEXT_BYTES, &s->text);
	return EVENT;
}

/* ---- subscriptions ---- */

/* Find the subscription that a notification names in its _meta, or NULL. */
static struct request *subscription_of(struct session *s, struct str params)
{
	struct rpc_id id;
	struct request *r;
	struct str meta, v;

	if (!scan_get_some(params, "_meta", &meta) ||
	    !scan_get(meta, "io.modelcontextprotocol/subscriptionId", &v))
		return NULL;
	id = rpc_read_id(v);
	r = requests_find(&s->requests, &id);
	return r && r->is_listen ? r : NULL;
}

static enum verdict on_acknowledged(struct session *s, struct str params)
{
	struct request *r = subscription_of(s, params);

	if (!r)
		return DONE;
	r->is_acked = true;
	r->deadline_ns = UINT64_MAX; /* SUB-7 */
	return DONE;
}

/* In the modern era a change must belong to an open subscription (SUB-3). */
static bool is_wanted(struct session *s, struct str params)
{
	struct request *r;

	if (!s->is_modern)
		return true;
	r = subscription_of(s, params);
	if (r && r->is_acked)
		return true;
	s->stats.dropped_notifications++;
	return false;
}

/* The server gives up a request of its own, or a subscription of ours. */
static enum verdict on_cancelled(struct session *s, struct str params,
				 struct session_event *ev)
{
	struct rpc_id id;
	struct request *r;
	struct str v;

	if (!scan_get(params, "requestId", &v))
		return DONE;
	id = rpc_read_id(v);
	if (!s->is_modern)
		return questions_on_cancelled(s, &id, ev);
	r = requests_find(&s->requests, &id);
	if (!r || !r->is_listen)
		return DONE; /* CAN-8 */
	ev->ticket = r->ticket;
	ev->result = STR("{}");
	return ENDS_RESULT;
}

enum verdict notice_read(struct session *s, const struct rpc_message *m,
			 struct session_event *ev)
{
	s->stats.notifications++;
	if (scan_is(m->method, "notifications/progress"))
		return on_progress(s, m->params, ev);
	if (scan_is(m->method, "notifications/message"))
		return on_log(s, m->params, ev);
	if (scan_is(m->method, "notifications/cancelled"))
		return on_cancelled(s, m->params, ev);
	if (scan_is(m->method, "notifications/subscriptions/acknowledged"))
		return on_acknowledged(s, m->params);
	if (scan_is(m->method, "notifications/elicitation/complete"))
		return on_named(s, "notifications/elicitation/complete",
				m->params, "elicitationId", ev);
	for (size_t i = 0; i < ARRAY_LEN(list_notices); i++)
		if (scan_is(m->method, list_notices[i].notice))
			return is_wanted(s, m->params)
				       ? on_list_changed(s, i, ev)
				       : DONE;
	if (scan_is(m->method, "notifications/resources/updated") &&
	    is_wanted(s, m->params))
		return on_named(s, "notifications/resources/updated", m->params,
				"uri", ev);
	return DONE;
}

/* ---- requests of the caller ---- */

/* Prove that a value of the caller is a JSON object, or absent. */
static int check_object(struct str json, const char *what, struct err *err)
{
	struct str v;

	if (!json.p)
		return 0;
	if (json.n > LIMIT_QUEUE_BYTES)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes, at most %d",
			       what, json.n, LIMIT_QUEUE_BYTES);
	if (scan_document(json, NULL, &v, err) < 0)
		return err_wrap(err, "%s", what);
	if (scan_type(v) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "%s: not a JSON object", what);
	return 0;
}

/* Add a request whose params the caller writes; NULL: the session is over. */
static struct request *new_request(struct session *s, const char *method,
				   uint64_t now_ns, struct err *err)
{
	session_hear_time(s, now_ns);
	if (session_is_mute(s)) {
		err_set(err, ERR_PEER,
			"%s: the session with the server is over", method);
		return NULL;
	}
	return requests_add(&s->requests, s->next_id++, s->next_ticket++,
			    method);
}

static void queue_request(struct session *s, struct request *r,
			  uint64_t *ret_ticket)
{
	*ret_ticket = r->ticket;
	if (s->state == SESSION_READY)
		send_request(s, r);
}

static int call_tool(struct session *s, const char *tool, struct str arguments,
		     bool as_task, uint64_t now_ns, uint64_t *ret_ticket,
		     struct err *err)
{
	struct request *r;
	struct jw w;

	if (check_object(arguments, "arguments", err) < 0)
		return -1;
	if (!arguments.p)
		arguments = STR("{}");
	r = new_request(s, "tools/call", now_ns, err);
	if (!r)
		return -1;
	r->has_token = true;
	r->as_task = as_task;
	if (s->state == SESSION_READY && !s->is_modern && !as_task) {
		*ret_ticket = r->ticket;
		send_call_once(s, r, tool, arguments);
		return 0;
	}
	jw_init(&w, &r->params, false);
	jw_object(&w);
	jw_kv_cstr(&w, "name", tool);
	jw_kv_raw(&w, "arguments", arguments);
	if (as_task)
		jw_kv_raw(&w, "task", STR("{}"));
	jw_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}

int session_call_tool(struct session *s, const char *tool, struct str arguments,
		      uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	return call_tool(s, tool, arguments, false, now_ns, ret_ticket, err);
}

int session_call_task(struct session *s, const char *tool, struct str arguments,
		      uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	return call_tool(s, tool, arguments, true, now_ns, ret_ticket, err);
}

int session_request(struct session *s, const char *method, struct str params,
		    uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	struct request *r;

	if (check_object(params, method, err) < 0)
		return -1;
	r = new_request(s, method, now_ns, err);
	if (!r)
		return -1;
	notice_list_asked(s, method);
	if (params.p)
		buf_add_str(&r->params, str_trim(params));
	queue_request(s, r, ret_ticket);
	return 0;
}

int session_listen(struct session *s, struct str filter, uint64_t now_ns,
		   uint64_t *ret_ticket, struct err *err)
{
	struct request *r;
	struct jw w;

	if (check_object(filter, "notifications", err) < 0)
		return -1;
	r = new_request(s, "subscriptions/listen", now_ns, err);
	if (!r)
		return -1;
	r->is_listen = true;
	jw_init(&w, &r->params, false);
	jw_object(&w);
	jw_kv_raw(&w, "notifications", filter.p ? filter : STR("{}"));
	jw_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}
