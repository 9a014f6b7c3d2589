/*
 * The end of a stream: the last bytes are kept, the rest is counted.
 */
#ifndef CORE_CLIENT_TAIL_H
#define CORE_CLIENT_TAIL_H

#include <stdint.h>

#include "core/base/buf.h"

struct tail {
	struct buf kept; /* at most 2 * max while growing */
	size_t max;	 /* bytes kept */
	uint64_t total;	 /* bytes seen */
};

void tail_init(struct tail *t, size_t max);
void tail_add(struct tail *t, struct str bytes);
/* The last bytes, at most max; borrowed. */
struct str tail_str(const struct tail *t) MUST_USE;
void tail_release(struct tail *t);

#endif
