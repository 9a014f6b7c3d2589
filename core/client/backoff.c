#include "core/client/backoff.h"

#include "core/base/clock.h"

void backoff_ended(struct backoff *b, bool has_answered, uint64_t now_ns)
{
	b->pause_ms = has_answered || !b->pause_ms ? BACKOFF_FIRST_MS
						   : 2 * b->pause_ms;
	if (b->pause_ms > BACKOFF_LAST_MS)
		b->pause_ms = BACKOFF_LAST_MS;
	b->not_before_ns = now_ns + b->pause_ms * NS_PER_MS;
}
