/*
 * Calendar expressions as systemd writes them: "Mon..Fri 07:00",
 * "*-*-01 06:30", "*:0/15", "weekly". Read, asked for the time before and
 * behind another, and said as the five fields of a crontab.
 *
 *	struct calendar c;
 *	if (calendar_parse(str_of("Mon..Fri 07:00"), &c, err) < 0)
 *		return -1;
 *	if (calendar_last(&c, now, &slot)) ...
 *
 * Pure: a time is what a clock on the wall shows, as seconds since 1970 of a
 * calendar without zones and changes of the clock; core/base/slot.h knows
 * clocks. Fractions of a second, and years before 1970 or beyond 2225, are
 * refused; whether a zone is one is not looked at.
 *
 * source  systemd.time(7), "Calendar Events"; crontab(5)
 */
#ifndef CORE_BASE_CALENDAR_H
#define CORE_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum calendar_part {
	CALENDAR_WEEKDAY, /* 0 is Monday */
	CALENDAR_YEAR,	  /* 0 is 1970 */
	CALENDAR_MONTH,	  /* 0 is January */
	CALENDAR_DAY,	  /* 0 is the first */
	CALENDAR_HOUR,
	CALENDAR_MINUTE,
	CALENDAR_SECOND,
	CALENDAR_PARTS
};

/* Bytes of "America/Argentina/ComodRivadavia", the longest, and some. */
#define CALENDAR_ZONE_BYTES 48

struct calendar {
	bool is[CALENDAR_PARTS][256];
	bool from_end;			/* day 0 is the last of its month */
	char zone[CALENDAR_ZONE_BYTES]; /* "": the machine's own */
};

/* errors  ERR_USAGE  what is wrong with it, and how one is written */
int calendar_parse(struct str text, struct calendar *ret, struct err *err)
	MUST_USE;
/* Append the expression that was perhaps meant by five fields of a crontab, or
   by "Mon-Fri 07:00"; nothing where there is none. */
void calendar_guess(struct str text, struct buf *out);
/* The last time at or before `at`; false: there is none in forty years. */
bool calendar_last(const struct calendar *c, int64_t at, int64_t *ret) MUST_USE;
/* The first time behind `at`; false: there is none in forty years. */
bool calendar_next(const struct calendar *c, int64_t at, int64_t *ret) MUST_USE;
/* Append "Mon..Fri *-*-* 07:00", which calendar_parse() reads. */
void calendar_text(const struct calendar *c, struct buf *out);
/*
 * Append the five fields of a crontab: "0 7 * * 1-5".
 * errors  ERR_USAGE  cron cannot say it; with the nearest that it can
 */
int calendar_cron(const struct calendar *c, struct buf *out, struct err *err)
	MUST_USE;

/* Bytes of "2026-01-31T12:00:30" with the NUL. */
#define CALENDAR_TIME_BYTES 24
/* "2026-01-31T12:00", with seconds where they are not 0. */
void calendar_time_format(int64_t time, char out[CALENDAR_TIME_BYTES]);
/* Read what calendar_time_format() writes, a day that exists; else false. */
bool calendar_time_parse(struct str s, int64_t *ret) MUST_USE;

#endif
