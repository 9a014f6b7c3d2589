/*
 * Time behind a pointer, so that tests own it.
 *
 * Deadlines are absolute and monotonic; wall-clock time is only for people.
 */
#ifndef CORE_BASE_CLOCK_H
#define CORE_BASE_CLOCK_H

#include <stdint.h>

#include "core/base/attr.h"

struct clock {
	/* monotonic nanoseconds (CLOCK_MONOTONIC) */
	uint64_t (*now_ns)(struct clock *);
	/* nanoseconds since 1970 UTC */
	int64_t (*wall_ns)(struct clock *);
};

/* The system's clock; static. */
struct clock *clock_system(void) MUST_USE;

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* Bytes of "2026-01-31T12:00:00.123Z" with the NUL. */
#define CLOCK_TEXT_BYTES 32
/* RFC 3339 in UTC with milliseconds; into the caller's array. */
void clock_format(int64_t wall_ns, char out[CLOCK_TEXT_BYTES]);

#endif
