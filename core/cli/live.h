/*
 * Lines of progress on a terminal; nothing in a pipe. One line tells of the
 * request that waits, or one of each step of a run.
 *
 * Call live_clear() before anything else is printed to stderr.
 */
#ifndef CORE_CLI_LIVE_H
#define CORE_CLI_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/loop.h"
#include "core/run/run.h"

struct live {
	bool on;	   /* stderr is a terminal, without --quiet */
	bool is_drawn;	   /* the line is on the screen now */
	bool is_held;	   /* a person is typing: draw nothing */
	struct buf text;   /* shown text; as it came, without secrets */
	uint64_t begin_ns; /* since when */
	struct loop *loop; /* borrowed; NULL: not opened */
	struct loop_timer tick;
};

/* Draw by turns of the loop, which lives until live_release(). */
void live_open(struct live *l, struct loop *loop);
/* Begin a line: "calling echo". */
void live_begin(struct live *l, const char *text);
/* Change the line, which goes on. */
void live_say(struct live *l, const char *text);
/* Take the line off the screen. */
void live_clear(struct live *l);
/* Also of a zeroed one. */
void live_release(struct live *l);

/* Write to stderr; a terminal that went away is no failure. */
void live_put(const struct buf *out);

/* ---- steps of a run ---- */

#define PROGRESS_LINES 8 /* further steps are counted */

struct progress {
	bool live; /* stderr is a terminal, without --quiet */
	struct progress_line {
		char *step; /* owned */
		uint64_t begin_ns;
		char *note; /* progress of its tool; owned, or NULL */
	} * running;	    /* in the order of their begin; owned */
	size_t n, cap;
	size_t drawn; /* lines on the screen now */
	uint64_t begin_ns;
	struct buf ended; /* lines of steps that ended, not shown yet */
	bool has_colour;
	bool is_slow; /* quick runs show nothing */
	bool is_held; /* a person is asked: draw nothing */
};

/* Fills `ret` so that a run tells this object. */
void progress_init(struct progress *p, struct run_observer *ret);
/* Take the lines off the screen and release. */
void progress_end(struct progress *p);

#endif
