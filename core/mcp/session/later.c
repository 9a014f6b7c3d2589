#include "core/mcp/session/later.h"

#include <string.h>

#include "core/mcp/session/questions.h"
#include "core/mcp/session/send.h"

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

void later_go_on(struct session *s, uint64_t ticket)
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
