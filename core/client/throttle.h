/*
 * Turns of calls of one server: so many in a time, so many at once, held across
 * processes by a file in the state directory. A bucket holds a token for each
 * call of `rate`, and is filled over its time; `max_concurrent` is a lock each,
 * which the kernel gives back when a process dies.
 */
#ifndef CORE_CLIENT_THROTTLE_H
#define CORE_CLIENT_THROTTLE_H

#include <stdint.h>

#include "core/base/err.h"

/* Longest time that a server's Retry-After holds calls back. */
#define THROTTLE_HOLD_MAX_S 3600

struct throttle;

/* key  tells servers apart; rate  as of the key, or NULL; at_once  0: any */
int throttle_open(const char *key, const char *rate, uint64_t at_once,
		  struct throttle **ret, struct err *err) MUST_USE;
/* Takes NULL. */
void throttle_free(struct throttle *t);
/*
 * Take a turn.
 *
 * wall_ns      of now, since 1970 UTC
 * ret_slot     to be given back by throttle_give(); -1: nothing is
 * ret_wait_ns  0: it is taken; else ask again after so long
 * errors       ERR_SYS
 */
int throttle_take(struct throttle *t, int64_t wall_ns, int *ret_slot,
		  uint64_t *ret_wait_ns, struct err *err) MUST_USE;
/* Bound by which the last throttle_take() got no turn. */
enum throttle_bound { THROTTLE_RATE, THROTTLE_AT_ONCE, THROTTLE_HOLD };
enum throttle_bound throttle_bound(const struct throttle *t) MUST_USE;
void throttle_give(struct throttle *t, int slot);
/* Hold all calls back: the server said Retry-After. */
void throttle_hold(struct throttle *t, int64_t wall_ns, uint64_t seconds);

/* The bucket alone; pure. Times since 1970 UTC, tat_ns: when it is full. */
struct bucket {
	int64_t tat_ns, hold_ns;
};
/* Take a token: 0, else how long to wait. rate_n 0: there is no rate */
uint64_t bucket_take(struct bucket *b, uint64_t rate_n, uint64_t rate_ns,
		     int64_t now_ns) MUST_USE;

#endif
