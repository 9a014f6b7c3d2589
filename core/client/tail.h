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

static inline void tail_init(struct tail *t, size_t max)
{
	*t = (struct tail){.kept = BUF_INIT(BUF_UNBOUNDED), .max = max};
}

static inline void tail_add(struct tail *t, struct str bytes)
{
	t->total += bytes.n;
	if (bytes.n > t->max)
		bytes = (struct str){bytes.p + bytes.n - t->max, t->max};
	buf_add_str(&t->kept, bytes);
	if (t->kept.n > 2 * t->max)
		buf_drop(&t->kept, t->kept.n - t->max);
}

/* The last bytes, at most max; borrowed. */
static inline struct str tail_str(const struct tail *t)
{
	struct str s = buf_str(&t->kept);

	if (s.n > t->max)
		s = (struct str){s.p + s.n - t->max, t->max};
	return s;
}

static inline void tail_release(struct tail *t)
{
	buf_release(&t->kept);
}

#endif
