/*
 * Responses of the server, and everything that ends a request of ours.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/mcp/session/session_inner.h"

/* ---- failing; the caller has filled ev->err ---- */

enum outcome session_fail(struct session *s, enum session_failure failure,
			  struct session_event *ev)
{
	ev->type = SESSION_EVENT_FAILED;
	ev->failure = failure;
	ev->phase = s->server.revision ? SESSION_PHASE_CALL
				       : SESSION_PHASE_INITIALIZE;
	requests_release(&s->requests);
	asks_release(&s->asks);
	session_output_broke(s);
	session_set_state(s, SESSION_FAILED);
	return EVENT;
}

/* Requests of the session itself that were made for this one. */
static void drop_own(struct session *s, uint64_t ticket)
{
	for (struct request *r = s->requests.first, *next; r; r = next) {
		next = r->next;
		if (r->parent == ticket)
			requests_remove(&s->requests, r);
	}
}

void session_drop_request(struct session *s, struct request *r)
{
	session_drop_asks(s, r->ticket);
	if (r->task.id.n)
		drop_own(s, r->ticket);
	requests_remove(&s->requests, r);
}

/* The request of the caller that this one was made for. */
static struct request *of_caller(struct session *s, struct request *r)
{
	struct request *parent =
		r->parent ? requests_find_ticket(&s->requests, r->parent)
			  : NULL;

	return parent ? parent : r;
}

/* A request gets no answer; without a handshake there is no session. */
enum outcome session_fail_request(struct session *s, struct request *r,
				  enum session_failure failure,
				  struct session_event *ev)
{
	if (r->is_handshake)
		return session_fail(s, failure, ev);
	r = of_caller(s, r);
	ev->type = SESSION_EVENT_FAILED;
	ev->ticket = r->ticket;
	ev->failure = failure;
	ev->phase = SESSION_PHASE_CALL;
	session_drop_request(s, r);
	return EVENT;
}

enum outcome session_bad_result(struct session *s, struct request *r,
				struct session_event *ev, const char *fmt, ...)
{
	char why[LIMIT_ERR_MSG];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	s->stats.oddities++;
	err_set(&ev->err, ERR_PEER, "the server's answer to %s: %s",
		of_caller(s, r)->method, why);
	return session_fail_request(s, r, SESSION_FAIL_BAD_RESULT, ev);
}

/* ---- what an answer says ---- */

struct str session_error_text(struct session *s, const struct rpc_message *m)
{
	return session_shown(m->message.p ? m->message : m->raw_error,
			     TEXT_BYTES, &s->text);
}

enum outcome session_give_error(struct session *s, struct request *r,
				const struct rpc_message *m,
				struct session_event *ev)
{
	r = of_caller(s, r);
	ev->type = SESSION_EVENT_ERROR;
	ev->ticket = r->ticket;
	ev->code = m->code;
	ev->message = session_error_text(s, m);
	ev->data = m->data;
	if (m->bad_error && !m->data.p)
		ev->data = m->raw_error;
	s->stats.oddities += m->both + m->bad_error;
	session_drop_request(s, r);
	return EVENT;
}

enum outcome session_give_result(struct session *s, struct request *r,
				 struct str result, struct session_event *ev)
{
	r = of_caller(s, r);
	ev->type = SESSION_EVENT_RESULT;
	ev->ticket = r->ticket;
	ev->result = result;
	session_drop_request(s, r);
	return EVENT;
}

/* Requests that may be answered by questions (MR-2). */
static bool may_ask(const struct request *r)
{
	return strcmp(r->method, "tools/call") == 0 ||
	       strcmp(r->method, "resources/read") == 0 ||
	       strcmp(r->method, "prompts/get") == 0;
}

/* resultType is read first; absent it is `complete` (MR-1, RW-81). */
static enum outcome on_modern_result(struct session *s, struct request *r,
				     struct str result,
				     struct session_event *ev)
{
	struct str type, said;

	if (!scan_get_some(result, "resultType", &type) ||
	    scan_is(type, "complete"))
		return session_give_result(s, r, result, ev);
	if (scan_is(type, "input_required") && may_ask(r))
		return session_on_input_required(s, r, result, ev);
	said = session_shown(type, VERSION_BYTES, &s->shown);
	return session_bad_result(s, r, ev,
				  "its resultType \"%.*s\" is not one that we "
				  "know for it",
				  STR_ARG(said));
}

static enum outcome on_result(struct session *s, struct request *r,
			      struct str result, struct session_event *ev)
{
	if (session_is_task(s, r, result))
		return session_on_task(s, r, result, ev);
	if (session_is_modern(s))
		return on_modern_result(s, r, result, ev);
	return session_give_result(s, r, result, ev);
}

/* ---- whose answer it is ---- */

/*
 * An error whose id the server could not read, or made up, belongs to the
 * only request that can be meant (RPC-6, RW-52).
 */
static struct request *only_pending(struct session *s,
				    const struct rpc_message *m)
{
	struct str id = m->id.raw;
	uint64_t number;
	bool made_up = m->id.type == RPC_ID_NONE ||
		       (m->id.type == RPC_ID_STRING &&
			!str_uint64((struct str){id.p + 1, id.n - 2}, &number));

	if (m->type != RPC_ERROR || m->version == RPC_VERSION_ABSENT ||
	    !made_up || requests_sent(&s->requests) != 1)
		return NULL;
	return requests_oldest(&s->requests);
}

static enum outcome on_answer(struct session *s, struct request *r,
			      const struct rpc_message *m,
			      struct session_event *ev)
{
	if (r->is_handshake)
		return session_on_handshake(s, r, m, ev);
	if (r->parent)
		return session_on_task_response(s, r, m, ev);
	if (m->type == RPC_ERROR)
		return session_give_error(s, r, m, ev);
	return on_result(s, r, m->result, ev);
}

enum outcome session_on_response(struct session *s, const struct rpc_message *m,
				 struct session_event *ev)
{
	struct request *r = requests_find(&s->requests, &m->id), *of;

	if (!r)
		r = only_pending(s, m);
	if (!r) {
		/* a structured log may look like a response (RW-3) */
		if (m->version == RPC_VERSION_ABSENT)
			return NO_MESSAGE;
		s->stats.dropped_responses++;
		return DONE;
	}
	of = of_caller(s, r);
	if (of->progress_held) {
		/* the last progress goes first, then this once more */
		inbox_unread(&s->in);
		return session_tell_progress(s, of, ev);
	}
	s->stats.oddities += m->version != RPC_VERSION_OK;
	return on_answer(s, r, m, ev);
}
