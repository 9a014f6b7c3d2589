/*
 * Unit files of systemd that start a routine: a service, and its timer. Each
 * begins with a line that marks the schedule. Pure.
 *
 * source  systemd.unit(5), systemd.service(5), systemd.timer(5),
 *	   systemd.syntax(7)
 */
#ifndef CORE_REPORT_UNIT_FILES_H
#define CORE_REPORT_UNIT_FILES_H

#include "core/report/schedule.h"

enum unit_file { UNIT_SERVICE, UNIT_TIMER, UNIT_FILES };

/* Name of a unit file of a schedule, in the arena. */
const char *unit_file_name(const struct schedule *s, enum unit_file which,
			   struct arena *arena) MUST_USE;
/* Name that the units of a schedule have, without a suffix; in the arena. */
const char *unit_files_stem(const struct schedule *s, struct arena *arena)
	MUST_USE;
/*
 * Append one.
 * errors  ERR_USAGE  systemd could not read a folder, a word or .on_failure
 */
int unit_file_add(const struct schedule_job *j, enum unit_file which,
		  struct buf *out, struct err *err) MUST_USE;
/* Report whether a file begins with the mark of the schedule. */
bool unit_file_is_of(struct str text, const char *id) MUST_USE;

#endif
