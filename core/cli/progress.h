/*
 * One live line per running step on a terminal; nothing in a pipe.
 */
#ifndef CORE_CLI_PROGRESS_H
#define CORE_CLI_PROGRESS_H

#include "core/run/run.h"

#define PROGRESS_LINES 8 /* further steps are counted */

struct progress {
	bool live; /* stderr is a terminal, without --quiet */
	struct progress_line {
		const char *step; /* borrowed */
		uint64_t begin_ns;
	} * running; /* in the order of their begin; owned */
	size_t n, cap;
	size_t drawn; /* lines on the screen now */
};

/* Fills `ret` so that a run tells this object. */
void progress_init(struct progress *p, struct run_observer *ret);
/* Take the lines off the screen and release. */
void progress_end(struct progress *p);

#endif
