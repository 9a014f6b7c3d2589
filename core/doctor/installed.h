/*
 * Schedules as they are installed: the crontab of the user, units of systemd.
 */
#ifndef CORE_DOCTOR_INSTALLED_H
#define CORE_DOCTOR_INSTALLED_H

#include "core/report/schedule.h"
#include "core/report/unit_files.h"

/* Ceiling of a crontab and of a unit file. */
#define INSTALLED_BYTES (4 * 1024 * 1024)

/*
 * Run a tool of the system; a status other than 0 is an error, with what it
 * said.
 *
 * errors  those of gate_run_tool()
 *	   ERR_SYS  its status
 */
int installed_tool(const char *const argv[], struct str input,
		   struct arena *arena, struct buf *out, struct err *err)
	MUST_USE;
/* Append the crontab of the user; nothing where there is none. */
int installed_crontab(struct arena *arena, struct buf *out, struct err *err)
	MUST_USE;
/* Report whether a cron runs; true where processes are hidden. */
bool installed_has_cron(void) MUST_USE;
/* Path of a unit file in the user's own folder, in the arena. */
const char *installed_unit(const struct schedule *s, enum unit_file which,
			   struct arena *arena) MUST_USE;
/* Report whether timers of the user go on when nobody is logged in. */
bool installed_lingers(struct arena *arena) MUST_USE;
/* The crontab, read once for many schedules; {.arena = …}, and end the arena.
 */
struct installed {
	struct arena *arena;
	struct str crontab; /* .p NULL: not read yet */
};
/*
 * Append the lines or units of a schedule that are there now.
 * errors  ERR_SYS  a unit is gone (ENOENT)
 *	   ERR_UNKNOWN  a line is gone
 *	   ERR_DIFFERS  they are not as they were added
 */
int installed_read(struct installed *in, const struct schedule *s,
		   struct buf *out, struct err *err) MUST_USE;
/* Refuse settings of the crontab above the lines of a schedule, as
   crontab_check() does. errors  ERR_CONFIG, ERR_SYS */
int installed_check(struct installed *in, const struct schedule *s,
		    struct err *err) MUST_USE;
/*
 * Times of a schedule now. Without what starts it no next one is promised.
 *
 * returns  "2026-11-23T07:00", "never", "never (its line is gone)": the next
 *	    one for people
 */
const char *installed_times(struct installed *in, const struct schedule *s,
			    struct schedule_times *ret) MUST_USE;

#endif
