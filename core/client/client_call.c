/*
 * What is asked of a server, kept until it can be sent, and what comes of it.
 */
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/rpc.h"
#include "core/client/client_inner.h"

/* ---- the list ---- */

static struct call *find_call(struct client *c, uint64_t ticket)
{
	for (size_t i = 0; i < c->n_calls; i++)
		if (c->calls[i].ticket == ticket)
			return &c->calls[i];
	return NULL;
}

static struct call *find_sent(struct client *c, uint64_t session_ticket)
{
	for (size_t i = 0; session_ticket && i < c->n_calls; i++)
		if (c->calls[i].session_ticket == session_ticket)
			return &c->calls[i];
	return NULL;
}

static void release_call(struct call *call)
{
	free(call->tool);
	buf_release(&call->params);
}

static void remove_call(struct client *c, struct call *call)
{
	size_t i = (size_t)(call - c->calls);

	release_call(call);
	memmove(call, call + 1, (--c->n_calls - i) * sizeof(*call));
}

void client_release_calls(struct client *c)
{
	for (size_t i = 0; i < c->n_calls; i++)
		release_call(&c->calls[i]);
	free(c->calls);
	c->calls = NULL;
	c->n_calls = c->cap_calls = 0;
}

/* ---- telling ---- */

void client_tell(struct client *c, const struct client_event *e)
{
	if (c->o.on_event)
		c->o.on_event(c->o.arg, e);
}

static void tell_call(const struct call *call, struct client_event *e)
{
	e->ticket = call->ticket;
	if (call->on_event)
		call->on_event(call->arg, e);
}

/* Its last event; it is forgotten before that is told. */
static void end_call(struct client *c, struct call *call,
		     struct client_event *e)
{
	struct call gone = {.ticket = call->ticket,
			    .on_event = call->on_event,
			    .arg = call->arg};

	remove_call(c, call);
	tell_call(&gone, e);
}

static void fail_call(struct client *c, struct call *call,
		      enum step_reason reason, const char *sentence)
{
	struct client_event e = {
		.type = CLIENT_FAILED,
		.reason = reason,
		.sentence = sentence,
		.details = buf_cstr(&c->details),
	};
	struct buf own = BUF_INIT(BUF_UNBOUNDED);

	if (!sentence) {
		client_say_end(c, call, &own);
		e.sentence = buf_cstr(&own);
	}
	end_call(c, call, &e);
	buf_release(&own);
}

/* The whole session failed: what was sent may have been done. */
static void lose_call(struct client *c, struct call *call,
		      enum step_reason reason, const char *sentence)
{
	AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&own, sentence);
	client_say_unknown(call, &own);
	fail_call(c, call, reason, buf_cstr(&own));
}

void client_fail_calls(struct client *c, enum step_reason reason,
		       const char *sentence)
{
	while (c->n_calls) {
		struct call *call = &c->calls[0];

		if (reason == REASON_CANCELLED && call->session_ticket)
			session_cancel(c->session, call->session_ticket,
				       "the caller no longer waits");
		if (sentence && reason != REASON_CANCELLED)
			lose_call(c, call, reason, sentence);
		else
			fail_call(c, call, reason, sentence);
	}
	if (sentence) {
		client_lists_fail(c, reason, sentence);
	} else {
		AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);

		client_say_end(c, NULL, &own);
		client_lists_fail(c, reason, buf_cstr(&own));
	}
}

/* ---- events of the session ---- */

static void on_request_failed(struct client *c, const struct session_event *e)
{
	struct call *call = find_sent(c, e->ticket);

	if (!call)
		return;
	client_note_details(c);
	fail_call(c, call, client_failure_reason(e, call), e->err.msg);
}

static void on_answer(struct client *c, const struct session_event *e,
		      enum client_event_type type)
{
	struct client_event told = {.type = type, .of = e};
	struct call *call = find_sent(c, e->ticket);

	if (call)
		end_call(c, call, &told);
}

static void on_error(struct client *c, const struct session_event *e)
{
	const struct call *call = find_sent(c, e->ticket);

	/* an unknown tool, or arguments of before */
	if (call && strcmp(call->method, "tools/call") == 0 &&
	    e->code == RPC_INVALID_PARAMS)
		client_lists_doubt(c);
	on_answer(c, e, CLIENT_ERROR);
}

static void on_sign(struct client *c, const struct session_event *e,
		    enum client_event_type type)
{
	struct client_event told = {.type = type, .of = e};
	struct call *call = find_sent(c, e->ticket);

	if (call)
		tell_call(call, &told);
}

static void on_notice(struct client *c, const struct session_event *e,
		      enum client_event_type type)
{
	struct client_event told = {.type = type, .of = e};
	struct call *call = find_sent(c, e->ticket);

	told.ticket = call ? call->ticket : 0;
	client_tell(c, &told);
}

static void on_asked(struct client *c, const struct session_event *e)
{
	if (c->o.on_event)
		on_notice(c, e, CLIENT_ASKED);
	else
		client_answer_error(c, e->ask, RPC_INTERNAL_ERROR,
				    "nobody is here to ask");
}

void client_on_event(struct client *c, const struct session_event *e)
{
	switch (e->type) {
	case SESSION_EVENT_READY:
		client_on_ready(c);
		break;
	case SESSION_EVENT_RESULT:
		on_answer(c, e, CLIENT_RESULT);
		break;
	case SESSION_EVENT_ERROR:
		on_error(c, e);
		break;
	case SESSION_EVENT_FAILED:
		if (e->ticket)
			on_request_failed(c, e);
		else
			client_on_failed(c, e);
		break;
	case SESSION_EVENT_PROGRESS:
		on_sign(c, e, CLIENT_PROGRESS);
		break;
	case SESSION_EVENT_TASK:
		on_sign(c, e, CLIENT_TASK);
		break;
	case SESSION_EVENT_LOG:
		on_notice(c, e, CLIENT_LOG);
		break;
	case SESSION_EVENT_ASKED:
		on_asked(c, e);
		break;
	case SESSION_EVENT_ASK_GONE:
		on_notice(c, e, CLIENT_ASK_GONE);
		break;
	case SESSION_EVENT_CHANGED:
		client_lists_changed(c, e->method, e->message);
		on_notice(c, e, CLIENT_CHANGED);
		break;
	case SESSION_EVENT_CLOSED:
		client_on_left(c);
		break;
	}
}

/* ---- asking ---- */

/* tool  of the call; NULL: none */
static int send_call(struct client *c, struct call *call, const char *tool,
		     struct str params, struct err *err)
{
	struct session *s = c->session;
	uint64_t now = loop_now(c->ctx.loop), ticket;
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

void client_send_waiting(struct client *c)
{
	const struct str none = {NULL, 0};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < c->n_calls; i++) {
		struct call *call = &c->calls[i];

		if (call->session_ticket)
			continue;
		if (send_call(c, call, call->tool,
			      call->has_params ? buf_str(&call->params) : none,
			      &err) == 0)
			buf_release(&call->params);
		else
			fail_call(c, &c->calls[i--], REASON_INTERNAL, err.msg);
	}
}

/* What can be said against it at once is, though it is sent later. */
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

/* RW-32: it was ready, and left before anything was asked. */
static int refuse_call(const struct client *c, const char *method,
		       struct err *err)
{
	AUTO(buf_release) struct buf how = BUF_INIT(BUF_UNBOUNDED);

	if (c->sentence.n)
		buf_adds(&how, buf_cstr(&c->sentence));
	else if (c->session)
		client_say_end(c, NULL, &how);
	else
		buf_adds(&how, "the session with the server is over");
	return err_set(err, ERR_PEER, "%s was not sent: %s", method,
		       buf_cstr(&how));
}

int client_call(struct client *c, const struct client_call *call,
		uint64_t *ret_ticket, struct err *err)
{
	const struct str none = {NULL, 0};
	struct str params = call->params.n ? call->params : none;
	struct call made = {
		.ticket = c->next_ticket,
		.method = call->tool ? "tools/call" : call->method,
		.params = BUF_INIT(BUF_UNBOUNDED),
		.has_params = call->params.n > 0,
		.as_task = call->as_task,
		.timeout_ms = call->timeout_ms,
		.total_ms = call->total_ms,
		.on_event = call->on_event,
		.arg = call->arg,
	};

	if (!c->is_open)
		return refuse_call(c, made.method, err);
	if (!client_is_ready(c) && check_params(call, err) < 0)
		return -1;
	if (client_is_ready(c) &&
	    send_call(c, &made, call->tool, params, err) < 0)
		return err->kind == ERR_PEER ? refuse_call(c, made.method, err)
					     : -1;
	if (!made.session_ticket) {
		made.tool = call->tool ? mem_strdup(call->tool) : NULL;
		buf_add_str(&made.params, call->params);
	}
	c->next_ticket++;
	c->calls = mem_grow(c->calls, c->n_calls + 1, &c->cap_calls,
			    sizeof(*c->calls));
	c->calls[c->n_calls++] = made;
	if (ret_ticket)
		*ret_ticket = made.ticket;
	client_update(c);
	return 0;
}

void client_cancel(struct client *c, uint64_t ticket, const char *reason)
{
	struct call *call = find_call(c, ticket);

	if (!call)
		return;
	if (call->session_ticket)
		session_cancel(c->session, call->session_ticket, reason);
	remove_call(c, call);
	client_update(c);
}

void client_answer(struct client *c, uint64_t ask, struct str result)
{
	if (!c->session)
		return;
	session_answer(c->session, ask, result, loop_now(c->ctx.loop));
	client_update(c);
}

void client_answer_error(struct client *c, uint64_t ask, int64_t code,
			 const char *message)
{
	if (!c->session)
		return;
	session_answer_error(c->session, ask, code, message,
			     loop_now(c->ctx.loop));
	client_update(c);
}

bool client_keep(struct client *c, const struct client_event *e,
		 struct arena *arena)
{
	char *memory = session_take(c->session, e->of->result);

	if (memory)
		arena_adopt(arena, memory);
	return memory != NULL;
}
