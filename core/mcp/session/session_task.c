/*
 * Results that come later. A tools/call may be answered by a task: the core
 * feature of 2025-11-25 (TK-1 to TK-9) or the extension of 2026-07-28 (TX-1 to
 * TX-10). The session asks for it at the server's pace until it has ended; the
 * caller gets the result as if it had come at once.
 */
#include <string.h>

#include "core/mcp/session/session_inner.h"

/* Between two looks, milliseconds (TK-4). */
#define INTERVAL_MS 5000
#define INTERVAL_LEAST_MS 250
#define INTERVAL_MOST_MS 60000
/* Bytes of an id. */
#define TASK_ID_BYTES 1024

/* The object that holds the task's members, or {NULL, 0}. */
static struct str task_of(const struct session *s, struct str result)
{
	struct str v = {NULL, 0};

	if (session_is_modern(s))
		return scan_get_some(result, "resultType", &v) &&
				       scan_is(v, "task")
			       ? result
			       : (struct str){NULL, 0};
	return scan_get_some(result, "task", &v) ? v : (struct str){NULL, 0};
}

bool session_is_task(const struct session *s, const struct request *r,
		     struct str result)
{
	if (strcmp(r->method, "tools/call") != 0)
		return false;
	if (session_is_modern(s) ? !s->opt.declared.tasks : !r->as_task)
		return false;
	return task_of(s, result).p != NULL;
}

/* When to look next; the server may change its mind about it (TX-3). */
static void read_interval(struct session *s, struct request *r, struct str task)
{
	const char *name =
		session_is_modern(s) ? "pollIntervalMs" : "pollInterval";
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
	/* it lives: its time begins anew, the total goes on */
	r->deadline_ns = session_ends_ms(s, session_timeout_ms(s, r) +
						    r->task.interval_ms);
	requests_timed(&s->requests, r);
}

/*
 * {"taskId": …}, and nothing of related-task also with tasks/result: the SDK
 * servers take that for a message of the task, and queue their answer to it
 * for who asks next (TK-6).
 */
static struct request *ask_server(struct session *s, struct request *r,
				  const char *method)
{
	struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct request *own;
	struct jw w;

	jw_init(&w, &params, false);
	jw_object(&w);
	jw_kv_raw(&w, "taskId", buf_str(&r->task.id));
	jw_end(&w);
	own = session_send_own(s, method, r->ticket, buf_str(&params));
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
	own = ask_server(s, r, "tasks/result");
	/* it blocks until the end (TK-5) */
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

/* ---- the shape of 2025-11-25 ---- */

static enum outcome follow_legacy(struct session *s, struct request *r,
				  struct str task, struct session_event *ev)
{
	switch (read_status(task)) {
	case WORKING:
		look_later(s, r);
		return DONE;
	case INPUT_REQUIRED: /* the questions come to us meanwhile */
	case COMPLETED:
	case FAILED: /* also a tool that failed: its result says so (TK-9) */
	case CANCELLED:
		fetch_result(s, r);
		return DONE;
	case OTHER:
		break;
	}
	return session_bad_result(s, r, ev, "the task has no known status");
}

/* ---- the extension ---- */

static enum outcome ended_badly(struct session *s, struct request *r,
				struct str task, struct session_event *ev)
{
	struct rpc_message m = {.type = RPC_ERROR, .code = RPC_INTERNAL_ERROR};
	struct str error, v;

	if (!scan_get_some(task, "error", &error))
		return session_bad_result(s, r, ev,
					  "the task failed without an error");
	m.raw_error = error;
	if (scan_get_some(error, "message", &v) && scan_type(v) == SCAN_STRING)
		m.message = v;
	if (!scan_get_some(error, "code", &v) || !scan_int64(v, &m.code))
		m.code = RPC_INTERNAL_ERROR;
	if (scan_get(error, "data", &v))
		m.data = v;
	return session_give_error(s, r, &m, ev);
}

static enum outcome follow_modern(struct session *s, struct request *r,
				  struct str task, struct session_event *ev)
{
	struct str v;
	enum outcome got;

	switch (read_status(task)) {
	case WORKING:
		look_later(s, r);
		return DONE;
	case INPUT_REQUIRED:
		if (r->task.is_refused)
			return session_bad_result(
				s, r, ev,
				"the task refused our answer and asks on");
		look_later(s, r);
		if (!scan_get_some(task, "inputRequests", &v))
			return DONE;
		got = session_on_task_input(s, r, v, ev);
		return got;
	case COMPLETED:
		if (!scan_get_some(task, "result", &v))
			return session_bad_result(
				s, r, ev, "the task ended without a result");
		return session_give_result(s, r, v, ev);
	case FAILED:
		return ended_badly(s, r, task, ev);
	case CANCELLED:
		return session_bad_result(s, r, ev,
					  "the server cancelled the task");
	case OTHER:
		break;
	}
	return session_bad_result(s, r, ev, "the task has no known status");
}

static enum outcome follow(struct session *s, struct request *r,
			   struct str task, struct session_event *ev)
{
	read_interval(s, r, task);
	return session_is_modern(s) ? follow_modern(s, r, task, ev)
				    : follow_legacy(s, r, task, ev);
}

/* ---- from outside ---- */

enum outcome session_on_task(struct session *s, struct request *r,
			     struct str result, struct session_event *ev)
{
	struct str task = task_of(s, result), id;
	uint64_t ticket = r->ticket;
	enum outcome got;

	if (!scan_get_some(task, "taskId", &id) ||
	    scan_type(id) != SCAN_STRING || id.n > TASK_ID_BYTES)
		return session_bad_result(s, r, ev,
					  "a task without a usable taskId");
	buf_add_str(&r->task.id, id);
	r->parked = true;
	got = follow(s, r, task, ev);
	if (got != DONE || !requests_find_ticket(&s->requests, ticket))
		return got;
	ev->type = SESSION_EVENT_TASK;
	ev->ticket = ticket;
	ev->params = task;
	return EVENT;
}

static bool is_method(const struct request *r, const char *method)
{
	return strcmp(r->method, method) == 0;
}

enum outcome session_on_task_response(struct session *s, struct request *own,
				      const struct rpc_message *m,
				      struct session_event *ev)
{
	struct request *r = requests_find_ticket(&s->requests, own->parent);
	bool is_get = is_method(own, "tasks/get");
	bool is_result = is_method(own, "tasks/result");
	bool is_update = is_method(own, "tasks/update");

	requests_remove(&s->requests, own);
	if (!r)
		return DONE; /* tasks/cancel: nobody waits for it */
	if (m->type == RPC_ERROR && is_update) {
		/* it may have ended meanwhile: its status says so */
		r->task.is_refused = true;
		r->due_ns = s->now_ns;
		requests_timed(&s->requests, r);
		return DONE;
	}
	if (m->type == RPC_ERROR)
		return session_give_error(s, r, m, ev);
	if (is_result)
		return session_give_result(s, r, m->result, ev);
	if (!is_get)
		return DONE; /* tasks/update is only acknowledged (TX-5) */
	return follow(s, r, m->result, ev);
}

void session_do_due(struct session *s, struct request *r)
{
	r->due_ns = UINT64_MAX;
	if (r->task.id.n) {
		(void)ask_server(s, r, "tasks/get");
		return;
	}
	s->stats.rounds++;
	session_send(s, r);
}

void session_cancel_task(struct session *s, struct request *r)
{
	/* without guarantee, and its answer is for nobody (TX-6) */
	(void)ask_server(s, r, "tasks/cancel");
}
