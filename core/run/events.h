/*
 * Events of a run as they happen, a JSON line each, schema matins-event/1:
 *
 *	AUTO(events_freep) struct events *e = NULL;
 *	if (events_open("3", &config, &e, err) < 0)
 *		return -1;
 *	events_run_begun(e, 12, "morning");
 *	...
 *
 * Whoever reads them may be slow: lines wait in memory and hold up no step. Of
 * a reader that does not read at all the rest is left out.
 *
 * All but events_open() take NULL, and then do nothing.
 */
#ifndef CORE_RUN_EVENTS_H
#define CORE_RUN_EVENTS_H

#include "core/base/err.h"
#include "core/config/routine.h"
#include "core/report/report.h"

#define EVENT_SCHEMA "matins-event/1"

struct events;

/*
 * where   a descriptor of the caller's, in digits, or a file, which begins
 *	   anew; a FIFO must have a reader
 * errors  ERR_USAGE   no such descriptor, or none to write to
 *	   ERR_OUTPUT  a link in a folder that a program may write
 *	   ERR_SYS
 */
int events_open(const char *where, const struct config *config,
		struct events **ret, struct err *err) MUST_USE;

void events_run_begun(struct events *e, uint64_t generation,
		      const char *routine);
/* path  of the routines around, each with a "/" behind it; "" of the first
   note  without secrets, as the sentences of results are */
void events_step_begun(struct events *e, const char *path, const char *step);
/* nth  from 2 on */
void events_attempt(struct events *e, const char *path, const char *step,
		    uint64_t nth);
void events_progress(struct events *e, const char *path, const char *step,
		     const char *note);
void events_step_ended(struct events *e, const char *path,
		       const struct report_step *s);
/* summary  as in the report, or why nothing could be run */
void events_run_ended(struct events *e, int exit_status, const char *summary);

/* Wait a second at most for the reader, and close. */
void events_free(struct events *e);
/* For AUTO(). */
void events_freep(struct events **e);

#endif
