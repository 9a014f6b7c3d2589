/*
 * Runs as the ledger tells them.
 */
#ifndef CORE_REPORT_LEDGER_RUNS_H
#define CORE_REPORT_LEDGER_RUNS_H

#include "core/report/ledger.h"

enum run_state {
	RUN_RUNNING,  /* process of the run is alive */
	RUN_LOST,     /* started, and its process is gone */
	RUN_FINISHED, /* said how it ended */
};

struct ledger_run {
	uint64_t generation;
	const char *routine;
	const char *file; /* "" in lines of earlier versions */
	bool whole;	  /* false where `file` is "" */
	const char *slot; /* "" without one */
	enum run_state state;
	const char *started;  /* RFC 3339; "" when the line is missing */
	const char *finished; /* RFC 3339; "" while there is none */
	int64_t started_ns;   /* since 1970 UTC; 0 when unknown */
	int64_t finished_ns;
	const char *summary; /* "" while there is none */
	bool success;
	int exit_status;
	const char *sha256; /* of the report, hexadecimal; "" without one */
	const char *sha256_before; /* of it without its notices; "" */
};

/*
 * Is it a run of this routine? One of which the file is not known counts.
 *
 * routine, file  NULL: any
 */
bool ledger_run_is(const struct ledger_run *run, const char *routine,
		   const char *file) MUST_USE;
/* Is it the report of the run? A run that was ended while it added the facts
   of notices has left the one before. */
bool ledger_run_wrote(const struct ledger_run *run, struct str report) MUST_USE;
/*
 * Append the report that is kept of a run to `out`.
 *
 * returns  1; 0: it is there, and is not what the run wrote; -1
 * errors   as store_get()
 */
int ledger_run_report(const struct ledger *l, const struct ledger_run *run,
		      struct buf *out, struct err *err) MUST_USE;
/* "running", "lost", "finished"; static. */
const char *run_state_name(enum run_state s) MUST_USE;
/* "running", "lost", and of those that finished "ok" or "failed"; static. */
const char *ledger_run_outcome(const struct ledger_run *run) MUST_USE;

/*
 * Walk over the runs from the last one to the first; read as far as it goes.
 *
 *	AUTO(ledger_walk_release) struct ledger_walk w;
 *	ledger_walk_init(&w, l, &arena);
 *	while ((r = ledger_walk_next(&w, &run, err)) > 0)
 *		...
 */
struct ledger_walk {
	/* Set it to end the walk behind a hundred runs in a row that began
	   earlier, since 1970 UTC; one alone may be of a clock that was wrong.
	   0: goes on to the first. */
	int64_t since_ns;

	/* members of the walk alone */
	struct ledger_lines lines;
	struct arena *arena;
	struct buf boot;
	struct ledger_run **ended; /* whose beginning was not met; owned */
	size_t n_ended, cap_ended;
	struct ledger_run *next;	 /* newer ones that ended go first */
	const struct ledger_run **given; /* the newest first; in the arena */
	size_t n_given;
	size_t n_older; /* in a row */
};

/* arena  holds the runs */
void ledger_walk_init(struct ledger_walk *w, struct ledger *l,
		      struct arena *arena);
void ledger_walk_release(struct ledger_walk *w);
/*
 * Give the next older run.
 *
 * returns  1; 0: there is none
 * errors   ERR_SYS
 */
int ledger_walk_next(struct ledger_walk *w, const struct ledger_run **ret,
		     struct err *err) MUST_USE;
/*
 * Give a run by its place, for several that look: those that were met are kept,
 * others are read.
 *
 * i        0: the last run
 * returns  NULL: there is none, or it cannot be read
 */
const struct ledger_run *ledger_walk_at(struct ledger_walk *w, size_t i)
	MUST_USE;

#endif
