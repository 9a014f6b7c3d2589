/* The next event: what was read, what is due, the end of the output. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "core/mcp/session/session_inner.h"

/* ---- what was read ---- */

/* The first message shows that the server runs: its own time is over. */
static void first_heard(struct session *s)
{
	struct request *r = requests_oldest(&s->requests);
	uint64_t at_least = session_ends_ms(s, s->opt.request_timeout_ms);

	s->heard = true;
	if (r && s->state == SESSION_INITIALIZING && r->is_handshake &&
	    r->deadline_ns < at_least)
		r->deadline_ns = at_least;
}

static enum outcome on_object(struct session *s, const struct inbox_item *item,
			      struct session_event *ev)
{
	struct rpc_message m;
	bool response;
	enum outcome got;

	rpc_read_noted(item->object, item->members, &m);
	response = m.type == RPC_RESULT || m.type == RPC_ERROR;
	if (m.type == RPC_INVALID ||
	    (m.version == RPC_VERSION_ABSENT && !response))
		return NO_MESSAGE;
	if (response)
		got = session_on_response(s, &m, ev);
	else if (m.type == RPC_REQUEST)
		got = session_on_request(s, &m, ev);
	else
		got = session_on_notification(s, &m, ev);
	if (got == NO_MESSAGE || s->in.again.p)
		return got;
	s->stats.messages++;
	if (!response)
		s->stats.oddities += m.version != RPC_VERSION_OK;
	if (!s->heard)
		first_heard(s);
	return got;
}

/* RW-15: an answer may be lost, so nobody waits for it. */
static enum outcome on_broken(struct session *s, const struct inbox_item *item,
			      struct session_event *ev)
{
	bool cut = strstr(item->err.msg, "unexpected end") != NULL;
	struct request *r = NULL;
	struct rpc_id id;

	s->stats.broken_messages++;
	if (item->id.p) {
		id = rpc_read_id(item->id);
		r = requests_find(&s->requests, &id);
	}
	if (!r)
		r = requests_oldest(&s->requests);
	if (!r || session_probe_lost(s, r))
		return DONE;
	err_set(&ev->err, item->err.kind == ERR_LIMIT ? ERR_LIMIT : ERR_PEER,
		"the server sent a broken message while %s was open: %s%s",
		r->method, item->err.msg,
		cut ? " (is it printed over several lines?)" : "");
	return session_fail_request(s, r, SESSION_FAIL_BAD_MESSAGE, ev);
}

/* RW-14: the line is gone, and whose it was with it. */
static enum outcome on_over(struct session *s, struct session_event *ev)
{
	struct request *r = requests_oldest(&s->requests);

	s->stats.broken_messages++;
	if (!r || session_probe_lost(s, r))
		return DONE;
	err_set(&ev->err, ERR_LIMIT,
		"the server sent a line of more than %" PRIu64
		" bytes while %s was open; if it may be that long, raise "
		"stdout_max",
		s->opt.message_max, r->method);
	return session_fail_request(s, r, SESSION_FAIL_LIMIT, ev);
}

/* ---- the end of the output ---- */

static const char *handshake_text(const struct request *r)
{
	return strcmp(r->method, "initialize") == 0
		       ? "it answered initialize"
		       : "it answered server/discover";
}

/* Nobody waits for anything but changes. */
static bool is_idle(const struct session *s)
{
	for (const struct request *r = s->requests.first; r; r = r->next)
		if (!r->is_listen)
			return false;
	return true;
}

static enum outcome ended(struct session *s, struct session_event *ev)
{
	struct request *r = requests_oldest(&s->requests);

	if (is_idle(s) && s->server.revision) {
		/* STD-43: whatever the exit status */
		session_set_state(s, SESSION_CLOSED);
		ev->type = SESSION_EVENT_CLOSED;
		return EVENT;
	}
	err_set(&ev->err, ERR_PEER, "the server ended its output%s before %s",
		s->cut ? " in the middle of a message" : "",
		r && !r->is_handshake ? "it answered the request"
		: r		      ? handshake_text(r)
		: s->requests.n	      ? "the request was done"
				      : "the session began");
	/* many end on any message before initialize (PRB-6, RW-22) */
	ev->retry_era = s->probed && !s->server.revision && !s->opt.protocol;
	ev->era = SESSION_ERA_INITIALIZE;
	ev->is_cut = s->cut;
	return session_fail(s, SESSION_FAIL_EOF, ev);
}

/* ---- what is due ---- */

static enum outcome on_due(struct session *s, struct request *r,
			   struct session_event *ev)
{
	struct str why;

	if (!r->is_given_up) {
		session_do_due(s, r);
		return DONE;
	}
	why = session_shown(buf_str(&r->responses), SENTENCE_BYTES, &s->shown);
	return session_bad_result(s, r, ev, "%.*s", STR_ARG(why));
}

/* What is due when all lines were read. */
static enum outcome on_idle(struct session *s, struct session_event *ev)
{
	struct request *r = NULL;

	if (s->n_losses)
		return session_on_lost(s, ev);

	/* the clocks stand still while somebody is asked (EL-17) */
	if (!s->asks.open)
		r = requests_expired(&s->requests, s->now_ns);
	if (r)
		return session_expire(s, r, ev);
	r = requests_due(&s->requests, s->now_ns);
	if (r)
		return on_due(s, r, ev);
	r = requests_progressed(&s->requests, s->now_ns);
	if (r)
		return session_tell_progress(s, r, ev);
	return s->eof ? ended(s, ev) : NO_MESSAGE;
}

/* ---- one after the other ---- */

static enum outcome step(struct session *s, struct session_event *ev)
{
	struct inbox_item item;
	enum outcome got;

	if (s->refused)
		return session_refuse_to_start(s, ev);
	if (!session_is_mute(s) && session_tell_ask(s, ev))
		return EVENT;
	switch (inbox_next(&s->in, &item)) {
	case INBOX_OBJECT:
		got = on_object(s, &item, ev);
		if (!s->in.again.p)
			inbox_judge(&s->in, got != NO_MESSAGE);
		return got == NO_MESSAGE ? DONE : got;
	case INBOX_BROKEN:
		return on_broken(s, &item, ev);
	case INBOX_CUT:
		s->stats.broken_messages++;
		s->cut = true;
		return DONE;
	case INBOX_OVER:
		return on_over(s, ev);
	case INBOX_FRAMING:
		ev->err = item.err;
		return session_fail(s, SESSION_FAIL_FRAMING, ev);
	case INBOX_NONE:
		break;
	}
	return on_idle(s, ev);
}

static void clear_event(struct session_event *ev)
{
	memset(ev, 0, offsetof(struct session_event, err));
	err_clear(&ev->err);
}

bool session_next(struct session *s, struct session_event *ret)
{
	enum outcome got = DONE;

	while (!session_is_over(s) && s->state != SESSION_NEW && got == DONE) {
		clear_event(ret);
		got = step(s, ret);
	}
	s->stats.skipped_lines = s->in.skipped_lines;
	s->stats.skipped_bytes = s->in.skipped_bytes;
	s->stats.repairs = s->in.repairs;
	s->stats.prefixed_messages = s->in.prefixed;
	return got == EVENT;
}
