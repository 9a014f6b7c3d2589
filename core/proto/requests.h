/*
 * The table of our own requests that have no answer yet: ids, deadlines and
 * progress. It sends nothing; core/proto/session.c does.
 *
 * Requests stand in the order in which they were added, so the first that
 * was sent is the oldest pending one. A pointer to a request lives until the
 * next requests_add() or requests_remove().
 */
#ifndef CORE_PROTO_REQUESTS_H
#define CORE_PROTO_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/proto/rpc.h"

/* A number of a progress notification, bytes of its text. */
#define REQUEST_NUMBER_BYTES 63
/* Its message, bytes of JSON text. */
#define REQUEST_TEXT_BYTES 1024

/* What progress was last told, as it came. */
struct request_progress {
	char progress[REQUEST_NUMBER_BYTES + 1];
	char total[REQUEST_NUMBER_BYTES + 1]; /* "" when absent */
	struct buf message;		      /* owned; decoded */
};

struct request {
	uint64_t id;	    /* on the wire; never used twice */
	uint64_t ticket;    /* for the caller; outlives a retry with a new id */
	const char *method; /* static */
	bool is_initialize;
	bool has_token;		    /* a progress token, which is the id */
	bool sent;		    /* else `message` waits for READY */
	struct buf message;	    /* owned; one line */
	uint64_t deadline_ns;	    /* restarted by progress */
	uint64_t total_deadline_ns; /* never moved */

	struct request_progress progress;
	double last_progress; /* for comparing only */
	bool any_progress;
	bool progress_held;	   /* not yet passed on */
	uint64_t next_progress_ns; /* not before, for a bounded rate */
};

struct requests {
	struct request *item; /* owned */
	size_t n, cap;
};

void requests_release(struct requests *t);

/* A new request, zeroed but for its fields; deadlines are UINT64_MAX. */
struct request *requests_add(struct requests *t, uint64_t id, uint64_t ticket,
			     const char *method);
/* Forget one of t->item. */
void requests_remove(struct requests *t, struct request *r);

/*
 * The sent request that a response with `id` answers, or NULL: by type and
 * value first, then a string of the same digits (ID-4).
 */
struct request *requests_find(struct requests *t, const struct rpc_id *id)
	MUST_USE;
struct request *requests_find_ticket(struct requests *t, uint64_t ticket)
	MUST_USE;
/* The oldest that was sent, or NULL. */
struct request *requests_oldest(struct requests *t) MUST_USE;
/* How many were sent. */
size_t requests_sent(const struct requests *t) MUST_USE;

/* The one whose time is over at now_ns, or NULL. */
struct request *requests_expired(struct requests *t, uint64_t now_ns) MUST_USE;
/* The one whose held progress may be passed on at now_ns, or NULL. */
struct request *requests_progressed(struct requests *t, uint64_t now_ns)
	MUST_USE;
/* When one of these two will be there; UINT64_MAX is never. */
uint64_t requests_deadline(const struct requests *t) MUST_USE;

/*
 * Take params of notifications/progress for this request; it is then held.
 *
 * returns  false when it is none: no number, or one that does not grow
 */
bool request_take_progress(struct request *r, struct str params) MUST_USE;

#endif
