#include "core/client/calls.h"

#include "core/base/mem.h"
#include "core/base/scan.h"

/* ---- the list ---- */

const struct call *calls_find_sent(const struct calls *c,
				   uint64_t session_ticket)
{
	for (size_t i = 0; session_ticket && i < c->n; i++)
		if (c->item[i].session_ticket == session_ticket)
			return &c->item[i];
	return NULL;
}

static void release_call(struct call *call)
{
	free(call->tool);
	buf_release(&call->params);
}

static void remove_call(struct calls *c, size_t i)
{
	release_call(&c->item[i]);
	memmove(&c->item[i], &c->item[i + 1], (--c->n - i) * sizeof(*c->item));
}

void calls_release(struct calls *c)
{
	for (size_t i = 0; i < c->n; i++)
		release_call(&c->item[i]);
	free(c->item);
}

bool calls_are_ready(const struct calls *c)
{
	return c->is_open && c->link->session &&
	       session_state(c->link->session) == SESSION_READY;
}

/* ---- telling ---- */

static void tell(const struct call *call, struct client_event *e)
{
	e->ticket = call->ticket;
	if (call->on_event)
		call->on_event(call->arg, e);
}

static void end_call(struct calls *c, size_t i, struct client_event *e)
{
	const struct call gone = c->item[i];

	remove_call(c, i);
	tell(&gone, e);
}

static void fail_call(struct calls *c, size_t i, enum step_reason reason,
		      const char *sentence)
{
	struct client_event e = {
		.type = CLIENT_FAILED,
		.reason = reason,
		.sentence = sentence,
		.details = buf_cstr(&c->why->details),
	};

	end_call(c, i, &e);
}

/* The session failed: a call that was sent may have been carried out. */
static void lose_call(struct calls *c, size_t i, enum step_reason reason,
		      const char *sentence)
{
	AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);
	const struct call *call = &c->item[i];
	bool is_sent = call->session_ticket != 0;

	if (!sentence) {
		failure_say_end(c->why, call->method, is_sent, &own);
	} else {
		buf_adds(&own, sentence);
		if (is_sent && reason != REASON_CANCELLED)
			buf_adds(&own, OUTCOME_IS_UNKNOWN);
	}
	fail_call(c, i, reason, buf_cstr(&own));
}

void calls_fail(struct calls *c, enum step_reason reason, const char *sentence)
{
	while (c->n) {
		uint64_t ticket = c->item[0].session_ticket;

		if (reason == REASON_CANCELLED && ticket)
			session_cancel(c->link->session, ticket,
				       "the caller no longer waits");
		lose_call(c, 0, reason, sentence);
	}
}

static void fail_one(struct calls *c, size_t i, const struct session_event *e)
{
	failure_note_details(c->why);
	fail_call(c, i, failure_of_event(e, c->item[i].method), e->err.msg);
}

void calls_tell(struct calls *c, const struct session_event *e)
{
	const struct call *call = calls_find_sent(c, e->ticket);
	struct client_event told = {.of = e};
	size_t i;

	if (!call)
		return;
	i = (size_t)(call - c->item);
	switch (e->type) {
	case SESSION_EVENT_RESULT:
		told.type = CLIENT_RESULT;
		end_call(c, i, &told);
		break;
	case SESSION_EVENT_ERROR:
		told.type = CLIENT_ERROR;
		end_call(c, i, &told);
		break;
	case SESSION_EVENT_FAILED:
		fail_one(c, i, e);
		break;
	case SESSION_EVENT_PROGRESS:
		told.type = CLIENT_PROGRESS;
		tell(call, &told);
		break;
	case SESSION_EVENT_TASK:
		told.type = CLIENT_TASK;
		tell(call, &told);
		break;
	default:
		break;
	}
}

/* ---- asking ---- */

/* tool  of the call; NULL: none */
static int send_call(struct calls *c, struct call *call, const char *tool,
		     struct str params, struct err *err)
{
	struct session *s = c->link->session;
	uint64_t now = loop_now(c->link->loop), ticket;
	int r;

	if (tool)
		r = (call->as_task ? session_call_task : session_call_tool)(
			s, tool, params, now, &ticket, err);
	else if (strcmp(call->method, "subscriptions/listen") == 0)
		r = session_listen(s, params, now, &ticket, err);
	else
		r = session_request(s, call->method, params, now, &ticket, err);
	if (r < 0)
		return -1;
	call->session_ticket = ticket;
	if (call->timeout_ms || call->total_ms)
		session_set_times(s, ticket, call->timeout_ms, call->total_ms);
	return 0;
}

void calls_send_waiting(struct calls *c)
{
	const struct str none = {NULL, 0};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < c->n; i++) {
		struct call *call = &c->item[i];

		if (call->session_ticket)
			continue;
		if (send_call(c, call, call->tool,
			      call->has_params ? buf_str(&call->params) : none,
			      &err) == 0)
			buf_release(&call->params);
		else
			fail_call(c, i--, REASON_INTERNAL, err.msg);
	}
}

/* Params of a call that is sent later, judged as the session will. */
static int check_params(const struct client_call *call, struct err *err)
{
	const char *what = call->tool ? "arguments" : call->method;
	struct str v;

	if (!call->params.n)
		return 0;
	if (call->params.n > LIMIT_QUEUE_BYTES)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes, at most %d",
			       what, call->params.n, LIMIT_QUEUE_BYTES);
	if (scan_document(call->params, NULL, &v, err) < 0)
		return err_wrap(err, "%s", what);
	if (scan_type(v) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "%s: not a JSON object", what);
	return 0;
}

/* A server that was ready, and left before anything was asked (RW-32). */
static int refuse_call(const struct calls *c, const char *method,
		       struct err *err)
{
	AUTO(buf_release) struct buf how = BUF_INIT(BUF_UNBOUNDED);

	if (c->why->sentence.n)
		buf_adds(&how, buf_cstr(&c->why->sentence));
	else if (c->link->session)
		failure_say_end(c->why, NULL, false, &how);
	else
		buf_adds(&how, "the session with the server is over");
	return err_set(err, ERR_PEER, "%s was not sent: %s", method,
		       buf_cstr(&how));
}

int calls_ask(struct calls *c, const struct client_call *call,
	      uint64_t *ret_ticket, struct err *err)
{
	const struct str none = {NULL, 0};
	struct call made = {
		.ticket = c->last_ticket + 1,
		.method = call->tool ? "tools/call" : call->method,
		.params = BUF_INIT(BUF_UNBOUNDED),
		.has_params = call->params.n > 0,
		.as_task = call->as_task,
		.is_background = call->is_background,
		.timeout_ms = call->timeout_ms,
		.total_ms = call->total_ms,
		.on_event = call->on_event,
		.arg = call->arg,
	};

	if (!c->is_open)
		return refuse_call(c, made.method, err);
	if (!calls_are_ready(c)) {
		if (check_params(call, err) < 0)
			return -1;
		made.tool = call->tool ? mem_strdup(call->tool) : NULL;
		buf_add_str(&made.params, call->params);
	} else if (send_call(c, &made, call->tool,
			     made.has_params ? call->params : none, err) < 0) {
		return err->kind == ERR_PEER ? refuse_call(c, made.method, err)
					     : -1;
	}
	c->last_ticket++;
	c->item = mem_grow(c->item, c->n + 1, &c->cap, sizeof(*c->item));
	c->item[c->n++] = made;
	if (ret_ticket)
		*ret_ticket = made.ticket;
	return 0;
}

void calls_cancel(struct calls *c, uint64_t ticket, const char *reason)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->item[i].ticket != ticket)
			continue;
		if (c->item[i].session_ticket)
			session_cancel(c->link->session,
				       c->item[i].session_ticket, reason);
		remove_call(c, i);
		return;
	}
}
