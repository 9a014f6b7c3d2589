/*
 * The table of our own requests that have no answer yet: ids, deadlines and
 * progress. It sends nothing; core/mcp/session/session.c does.
 *
 * Requests stand in the order in which they were added, so the first that
 * was sent is the oldest pending one. A pointer to a request lives until it
 * is removed. With a hundred thousand open none of this is slow: requests are
 * found by hash, and times are looked through only when one may have come.
 */
#ifndef CORE_MCP_SESSION_REQUESTS_H
#define CORE_MCP_SESSION_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/mcp/wire/rpc.h"

/* Ceiling of a number in a progress notification, bytes. */
#define REQUEST_NUMBER_BYTES 63
/* Ceiling of its message, bytes of JSON text. */
#define REQUEST_TEXT_BYTES 1024

/* Progress as it last came. */
struct request_progress {
	char progress[REQUEST_NUMBER_BYTES + 1];
	char total[REQUEST_NUMBER_BYTES + 1]; /* "" when absent */
	struct buf message;		      /* owned; decoded */
};

/* Task of a request whose result comes later. */
struct request_task {
	struct buf id;	      /* JSON string; owned */
	uint64_t interval_ms; /* between two looks */
	uint32_t rounds;      /* questions that were answered */
	bool is_waiting;      /* tasks/result was sent: it comes by itself */
	bool is_refused;      /* the server refused tasks/update */
	struct buf answered;  /* keys, each with a newline; owned (TX-5) */
};

enum requests_key { BY_ID, BY_TICKET, N_REQUESTS_KEYS };

struct request {
	uint64_t id;	    /* on the wire; never used twice; change it by
			       requests_renumber() */
	uint64_t ticket;    /* for the caller; outlives a retry with a new id */
	uint64_t parent;    /* the ticket that a request of the session itself
			       is made for; 0: the caller's own */
	const char *method; /* static */
	bool is_handshake;  /* server/discover or initialize */
	bool is_probe;	    /* server/discover */
	bool has_token;	    /* a progress token, which is the id */
	bool as_task;	    /* asked to be one (2025-11-25) */
	bool as_task_dropped; /* but the server has no tasks */
	bool is_listen;	      /* ends when somebody ends it */
	bool is_acked;	      /* the subscription was acknowledged */
	bool sent;	      /* else it waits for READY */
	bool parked;	      /* was answered, and goes on: due_ns, a task */
	bool is_given_up;     /* `responses` says why; told when it is due */
	struct buf params;    /* owned; JSON object, or empty */
	struct buf state;     /* requestState as it came; owned (MR-5) */
	struct buf responses; /* inputResponses; owned */
	uint32_t rounds;      /* of questions */
	uint64_t timeout_ms;  /* of the caller; 0: those of the session */
	uint64_t total_ms;
	uint64_t deadline_ns;	    /* restarted by progress */
	uint64_t total_deadline_ns; /* never moved */
	uint64_t due_ns;	    /* of a parked one: when it goes on */
	struct request_task task;   /* id.n = 0: none */

	struct request_progress progress;
	double last_progress; /* for comparing only */
	bool any_progress;
	bool progress_held;	   /* not yet passed on */
	uint64_t next_progress_ns; /* not before, for a bounded rate */

	struct request *next, *prev;		    /* in order; of the table */
	struct request *same_slot[N_REQUESTS_KEYS]; /* of the table */
};

struct requests {
	struct request *first, *last; /* owned */
	struct request *spare;	      /* memory to use again, or NULL; owned */
	size_t n;
	struct request **slots[N_REQUESTS_KEYS]; /* n_slots of each; owned */
	size_t n_slots;
	uint64_t soonest_ns; /* no time of any request lies before it */
};

void requests_release(struct requests *t);

/* A new request, zeroed but for its fields; times are UINT64_MAX. */
struct request *requests_add(struct requests *t, uint64_t id, uint64_t ticket,
			     const char *method);
/* Forget and free one of the table. */
void requests_remove(struct requests *t, struct request *r);
/* Give a request that is sent again a new id. */
void requests_renumber(struct requests *t, struct request *r, uint64_t id);
/* Note that a time of a request may be earlier, or its progress is held. */
void requests_timed(struct requests *t, const struct request *r);

/*
 * Find the sent request without answer that a response with `id` answers, or
 * NULL: by type and value first, then a string of the same digits (ID-4).
 */
struct request *requests_find(struct requests *t, const struct rpc_id *id)
	MUST_USE;
/* Find a sent request by its progress token, also a parked one, or NULL. */
struct request *requests_find_token(struct requests *t,
				    const struct rpc_id *token) MUST_USE;
struct request *requests_find_ticket(struct requests *t, uint64_t ticket)
	MUST_USE;
/* Find the oldest sent request that waits for an answer, or NULL. */
struct request *requests_oldest(struct requests *t) MUST_USE;
/* Count the sent requests that wait for an answer. */
size_t requests_sent(const struct requests *t) MUST_USE;

enum request_time {
	REQUEST_EXPIRED,  /* deadline_ns or total_deadline_ns */
	REQUEST_DUE,	  /* due_ns */
	REQUEST_PROGRESS, /* next_progress_ns, with progress held */
};
/* Find the first request whose time of that kind has come, or NULL. */
struct request *requests_find_time(struct requests *t, enum request_time time,
				   uint64_t now_ns) MUST_USE;
/*
 * Time when one of these three comes; UINT64_MAX is never. With many open
 * requests it may be too early: look again then.
 *
 * is_paused  the clocks of all requests stand still
 */
uint64_t requests_deadline(const struct requests *t, bool is_paused) MUST_USE;
/* Move all deadlines: the clocks have stood still for so long. */
void requests_shift(struct requests *t, uint64_t ns);

/*
 * Hold the params of notifications/progress for this request.
 *
 * returns  false: progress is not a number, or does not grow
 */
bool request_take_progress(struct request *r, struct str params) MUST_USE;

#endif
