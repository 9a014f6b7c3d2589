/*
 * Is a server stuck that did not answer a call in time? A step whose call is
 * not answered leaves the server to the steps after it; those would wait in
 * vain for one that works on a single call at a time and never ends it. So it
 * is asked for something that costs nothing: `ping`, or server/discover where
 * there is no ping. Any answer, an error as well, shows that it works; without
 * one it is stuck.
 *
 *	pool_doubt_init(&d, loop, verdict, arg);
 *	pool_doubt_raise(&d, "step");		gave up its call
 *	pool_doubt_ask(&d, client);		no other call is open
 *	... verdict(arg, is_stuck)
 */
#ifndef CORE_RUN_POOL_DOUBT_H
#define CORE_RUN_POOL_DOUBT_H

#include "core/client/client.h"

/* For the answer, unless a step waits that has less time. */
#define POOL_DOUBT_MS 2000

/* The client is open still; where it ended meanwhile no verdict comes. */
typedef void pool_doubt_fn(void *arg, bool is_stuck);

struct pool_doubt {
	struct loop *loop;
	pool_doubt_fn *verdict;
	void *arg;
	struct client *client;	/* asked; NULL: none is */
	uint64_t ticket;	/* of the question */
	const char *of;		/* the step; borrowed; NULL: no doubt */
	struct loop_timer late; /* the answer is */
};

void pool_doubt_init(struct pool_doubt *d, struct loop *loop,
		     pool_doubt_fn *verdict, void *arg);
/* step  its name; borrowed until the doubt is over */
void pool_doubt_raise(struct pool_doubt *d, const char *step);
/*
 * Ask, where there is a doubt and no question yet. A client that is not ready
 * is only slow to start: the doubt is forgotten.
 */
void pool_doubt_ask(struct pool_doubt *d, struct client *c);
/* Is a question open? Steps that come now wait. */
bool pool_doubt_is_asked(const struct pool_doubt *d) MUST_USE;
/* Give the verdict in so many ms at most: a step waits for it. */
void pool_doubt_hurry(struct pool_doubt *d, uint64_t ms);
/* The client is gone: no question, no doubt. */
void pool_doubt_clear(struct pool_doubt *d);

#endif
