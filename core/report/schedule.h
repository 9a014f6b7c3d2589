/*
 * Schedules: routines that a timer or cron starts, as `matins schedule add`
 * keeps them in the state directory, one file each. What a slot is: a time
 * that a schedule names, such as 2026-11-23T07:00, at which its routine runs
 * once.
 *
 * Times are of the zone of the machine, as timers and cron take them, whatever
 * TZ says; or of the zone that an expression ends in.
 */
#ifndef CORE_REPORT_SCHEDULE_H
#define CORE_REPORT_SCHEDULE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slot.h"

/* Hexadecimal digits, with the NUL. */
#define SCHEDULE_ID_BYTES 17

struct schedule {
	const char *id; /* of file and routine */
	const char *routine;
	const char *file; /* real path of the configuration */
	const char *at;	  /* a calendar expression */
	const char *unit; /* of systemd, without ".timer"; NULL: cron */
	uint64_t jitter_ms;
	bool catches_up;
	int64_t added_ns; /* since 1970 UTC: earlier slots are none of it */
	/* SHA-256 of the lines or units as they were added; NULL: unknown */
	const char *sum;
};

/* A schedule that is to be installed, and how its routine is started. */
struct schedule_job {
	struct schedule s;
	struct calendar calendar;
	struct strlist env;	/* "NAME=VALUE" */
	struct strlist words;	/* program and arguments */
	const char *folder;	/* where it starts; NULL: HOME */
	const char *on_failure; /* unit of systemd; NULL: none */
	uint64_t salt; /* chooses the jitter and the minute of catching up:
			  the same for this schedule on this machine */
};

/* The id of the one schedule that a routine of a file can have. */
void schedule_id(const char *file, const char *routine,
		 char out[SCHEDULE_ID_BYTES]);
/* errors  ERR_SYS */
int schedule_keep(const char *state_dir, const struct schedule *s,
		  struct err *err) MUST_USE;
int schedule_forget(const char *state_dir, const char *id, struct err *err)
	MUST_USE;
/*
 * Read the schedules that are kept, by routine and file; a file that is none
 * is left out, with a warning.
 *
 * state_dir  NULL: there are none
 */
void schedule_read(const char *state_dir, struct arena *arena,
		   struct schedule **ret, size_t *ret_n);
/* The one of a routine; NULL: it has none. */
const struct schedule *schedule_of(const struct schedule *s, size_t n,
				   const char *file, const char *routine)
	MUST_USE;

struct schedule_times {
	char last[SLOT_BYTES]; /* slot that came last; "": none since
					   it was added */
	char next[SLOT_BYTES]; /* "": there is none */
	int64_t next_ns;       /* since 1970 UTC */
	/* slot that must have begun by now, or a later one: timers and cron
	   have some minutes, and the jitter; "": none */
	char due[SLOT_BYTES];
	int64_t due_ns; /* schedule_slot_ns() of it */
};

/* Is the zone of an expression known here? "" is the machine's own. */
bool schedule_has_zone(const char *zone) MUST_USE;

/* "2026-11-23T07:00" on this machine's clock; ns  since 1970 UTC */
void schedule_clock(int64_t ns, char ret[SLOT_BYTES]);
/*
 * The first slot behind another one, which is none of its zone or "": behind
 * the time when the schedule was added.
 */
void schedule_first(const struct schedule *s, const char *behind,
		    char ret[SLOT_BYTES]);
/* When a slot comes on the clock of the schedule; since 1970 UTC, 0: none is.
   Slots of an hour that is there twice are not ordered by their text. */
int64_t schedule_slot_ns(const struct schedule *s, const char *slot) MUST_USE;
/* now_ns  since 1970 UTC */
void schedule_times(const struct schedule *s, int64_t now_ns,
		    struct schedule_times *ret);

/*
 * The slot of `run --slot`: a time that has come, or the last one of an
 * expression.
 *
 * of            schedule of the routine; NULL: it has none
 * ret_since_ns  since 1970 UTC: no run of that slot began earlier
 * returns	 1: the slot of an expression is older than the schedule
 * errors	 ERR_USAGE  neither, in the future, or none has come
 */
int schedule_slot(const char *word, const struct schedule *of, int64_t now_ns,
		  char ret[SLOT_BYTES], int64_t *ret_since_ns, struct err *err)
	MUST_USE;

#endif
