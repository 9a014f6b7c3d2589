/*
 * Events of a run as they happen, a JSON line each, schema matins-event/1:
 *
 *	AUTO(events_freep) struct events *e = NULL;
 *	if (events_open("3", &config, &e, err) < 0)
 *		return -1;
 *	events_tell(e, &(struct event){"run_begun", .routine = "morning", …});
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
#include "core/base/loop.h"
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

/* Lines that wait are written when the loop turns and there is room; NULL: no
 * more, the loop goes. Borrowed. */
void events_use_loop(struct events *e, struct loop *loop);

/* One event; texts without secrets, borrowed. */
struct event {
	const char *event; /* name, as in the schema */
	/* of the run: where it begins */
	const char *routine; /* NULL: elsewhere */
	uint64_t generation;
	/* and where it ends */
	const char *summary; /* as in the report, or why nothing could be run;
				NULL: elsewhere */
	int exit_status;
	/* of a step; NULL: of none */
	const char *step;
	const char *path; /* of the routines around, each with a "/" behind it;
			     "" of the first */
	uint64_t attempt; /* from 2 on; 0: no new one */
	const char *note; /* of its progress; or NULL */
	const struct report_step *result; /* where it has ended; or NULL */
};

void events_tell(struct events *e, const struct event *v);

/* Wait a second at most for the reader, and close; for AUTO(). */
void events_freep(struct events **e);

#endif
