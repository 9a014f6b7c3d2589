/*
 * Lines of a crontab that start a routine. Each ends in a mark, and lines
 * without it are never touched. Pure.
 *
 * source  crontab(5) of Debian's cron and of cronie
 */
#ifndef CORE_REPORT_CRONTAB_H
#define CORE_REPORT_CRONTAB_H

#include "core/report/schedule.h"

/* Behind it the id of a schedule; lines of units begin with it, too. */
#define SCHEDULE_MARK "# matins schedule "

/*
 * Append the lines of a job: a comment, its times, and where it catches up the
 * hourly look for times that were missed.
 *
 * errors  ERR_USAGE  cron cannot say the times, or the line is too long for it
 */
int crontab_add(const struct schedule_job *j, struct buf *out, struct err *err)
	MUST_USE;
/* Append the lines that bear the mark of a schedule, or those that do not. */
void crontab_pick(const char *id, struct str text, bool ours, struct buf *out);
/* Count the lines of a crontab that are neither empty nor a comment. */
size_t crontab_count(struct str text) MUST_USE;
/*
 * Refuse a crontab whose own settings change lines below them: a zone, a HOME
 * with other schedules, a shell of another language.
 *
 * id      settings below the last line of this schedule do not count; without
 *	   such a line all do
 * home    HOME of now; NULL: unknown
 * errors  ERR_CONFIG  with the setting
 */
int crontab_check(struct str text, const char *id, const char *home,
		  struct err *err) MUST_USE;

#endif
