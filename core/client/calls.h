/*
 * Open calls of one client: kept until the session can send them, and matched
 * with their answers. A call is forgotten before its last event is told.
 */
#ifndef CORE_CLIENT_CALLS_H
#define CORE_CLIENT_CALLS_H

#include "core/client/client.h"
#include "core/client/failure.h"

struct call {
	uint64_t ticket;	 /* of the caller */
	uint64_t session_ticket; /* 0: not sent yet */
	char *tool;		 /* owned; until it is sent; NULL: none */
	const char *method;	 /* static */
	struct buf params;	 /* owned; until it is sent */
	bool has_params, as_task, is_background;
	uint64_t timeout_ms, total_ms;
	client_event_fn *on_event;
	void *arg;
};

struct calls {
	struct link *link;   /* borrowed, as is the next */
	struct failure *why; /* why no answer comes, once that is known */
	bool is_open;	     /* calls may be made */
	struct call *item;   /* owned, in the order of asking */
	size_t n, cap;
	uint64_t last_ticket; /* the number given last; 0: none */
};

void calls_release(struct calls *c);

/* Can a call be sent at once? */
bool calls_are_ready(const struct calls *c) MUST_USE;
/* As client_call(). */
int calls_ask(struct calls *c, const struct client_call *call,
	      uint64_t *ret_ticket, struct err *err) MUST_USE;
/* Send the calls that were made before the session was ready. */
void calls_send_waiting(struct calls *c);
/* As client_cancel(). */
void calls_cancel(struct calls *c, uint64_t ticket, const char *reason);
/* End all calls. sentence  NULL: one is made for each */
void calls_fail(struct calls *c, enum step_reason reason, const char *sentence);

/* The call behind a ticket of the session; NULL: none is open. */
const struct call *calls_find_sent(const struct calls *c,
				   uint64_t session_ticket) MUST_USE;
/* Tell its call of an answer, an error, a failure, progress or a task. */
void calls_tell(struct calls *c, const struct session_event *e);

#endif
