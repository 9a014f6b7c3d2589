/*
 * One line of progress on a terminal; nothing in a pipe.
 *
 * Call live_clear() before anything else is printed to stderr.
 */
#ifndef CORE_CLI_LIVE_H
#define CORE_CLI_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/run/run.h"

struct live {
	bool on;	   /* stderr is a terminal, without --quiet */
	bool drawn;	   /* the line is on the screen now */
	struct buf text;   /* shown text; as it came, without secrets */
	uint64_t begin_ns; /* since when */
};

void live_init(struct live *l);
/* Begin a line: "calling echo". */
void live_begin(struct live *l, const char *text, uint64_t now_ns);
/* Show the progress that a server reports: "40 % reading". */
void live_note(struct live *l, const char *text, struct str note);
void live_draw(struct live *l, uint64_t now_ns);
/* Take the line off the screen. */
void live_clear(struct live *l);
void live_release(struct live *l);

/*
 * One live line per running step on a terminal; nothing in a pipe.
 */

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
