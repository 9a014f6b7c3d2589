/*
 * What transports of whole messages say beside bytes: the message itself,
 * requests that are lost, and times that do not count.
 */
#include <string.h>

#include "core/base/mem.h"
#include "core/mcp/session/session_inner.h"

bool session_message(struct session *s, struct str message, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	if (session_is_over(s) || s->eof)
		return false;
	s->stats.bytes_in += message.n;
	inbox_message(&s->in, message);
	return true;
}

void session_lost(struct session *s, struct str id,
		  enum session_failure failure, const struct err *err,
		  uint64_t now_ns)
{
	struct rpc_id read = rpc_read_id(id.p ? id : STR("null"));
	struct request *r = requests_find(&s->requests, &read);

	session_hear_time(s, now_ns);
	if (session_is_over(s) || (id.p && !r))
		return;
	s->losses = mem_grow(s->losses, s->n_losses + 1, &s->cap_losses,
			     sizeof(*s->losses));
	s->losses[s->n_losses++] =
		(struct loss){r ? r->ticket : 0, failure, *err};
}

void session_hold(struct session *s, bool is_held, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	if (session_is_over(s) || s->is_held == is_held)
		return;
	s->is_held = is_held;
	if (is_held)
		session_stop_clocks(s);
	else
		session_start_clocks(s);
}

enum outcome session_on_lost(struct session *s, struct session_event *ev)
{
	struct loss loss = s->losses[0];
	struct request *r = requests_find_ticket(&s->requests, loss.ticket);

	memmove(s->losses, s->losses + 1, --s->n_losses * sizeof(loss));
	ev->err = loss.err;
	if (!loss.ticket)
		return session_fail(s, loss.failure, ev);
	/* it may have been given up meanwhile */
	return r ? session_fail_request(s, r, loss.failure, ev) : DONE;
}
