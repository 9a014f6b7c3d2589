/*
 * Pauses before a server that ended is started again: 1 s, then twice as long
 * each time, 60 s at most; from the beginning again after one that answered.
 *
 *	backoff_ended(&b, client_has_answered(c), now_ns);
 *	... start it at b.not_before_ns
 *
 * Zeroed it is ready: no pause before the first start. Pure.
 */
#ifndef CORE_CLIENT_BACKOFF_H
#define CORE_CLIENT_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_LAST_MS 60000

struct backoff {
	uint64_t pause_ms; /* the last one; 0: none was needed */
	uint64_t not_before_ns;
};

/* A server ended that should not have. now_ns  monotonic */
void backoff_ended(struct backoff *b, bool has_answered, uint64_t now_ns);

#endif
