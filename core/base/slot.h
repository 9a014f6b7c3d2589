/*
 * Slots: times of a calendar expression, on a clock that is put forward and
 * back. Pure.
 *
 * A time in an hour that the clock skips comes when the clock is put forward.
 * One in an hour that the clock shows twice comes once, in the first pass.
 * Expressions of each hour, or of each minute, follow the clock: nothing comes
 * for the hour that is skipped, and in the second pass each comes again, told
 * apart by its zone: 2026-11-01T01:30-05:00.
 *
 * source  cron(8) of Debian, "Daylight Saving Time and other time changes"
 */
#ifndef CORE_BASE_SLOT_H
#define CORE_BASE_SLOT_H

#include "core/base/calendar.h"

/* Bytes of "2026-11-01T01:30:30-05:00", with the NUL and some to spare. */
#define SLOT_BYTES 32

/* Seconds that the clock on a wall is ahead of UTC, at a time since 1970 UTC.
 */
typedef int64_t slot_clock(int64_t at);

struct slot {
	int64_t at;    /* when it comes; seconds since 1970 UTC */
	int64_t wall;  /* as core/base/calendar.h has it */
	int64_t ahead; /* of the clock, where it is told apart */
	bool is_again; /* second pass: it is told apart */
};

/* The last slot at or before `now`; false: there is none in forty years. */
bool slot_last(const struct calendar *c, slot_clock *clock, int64_t now,
	       struct slot *ret) MUST_USE;
/* The first slot behind `now`; false: there is none in forty years. */
bool slot_next(const struct calendar *c, slot_clock *clock, int64_t now,
	       struct slot *ret) MUST_USE;
/* Read a time; with a zone behind it as "-05:00" or "+01:00" any will do.
   False: it is none. */
bool slot_parse(struct str text, slot_clock *clock, struct slot *ret) MUST_USE;
/* "2026-11-01T01:30", which slot_parse() reads. */
void slot_format(const struct slot *s, char out[SLOT_BYTES]);

#endif
