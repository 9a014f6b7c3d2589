/*
 * The ledger: an append-only record of runs in one state directory.
 *
 * A run takes a generation before anything is spawned and says how it ended
 * afterwards:
 *
 *	AUTO(ledger_freep) struct ledger *l = NULL;
 *	if (ledger_open(NULL, &l, err) < 0)
 *		return -1;
 *	if (ledger_start(l, &which, wall_ns, &generation, err) < 0 ||
 *	    ledger_sync(l, err) < 0)
 *		return -1;
 *	...
 *	ledger_finish(l, generation, &end, &report, keep_runs, err);
 *
 * Each event is one JSON line in `ledger.jsonl`. A line that a crash has torn
 * is passed over; a `started` line without its `finished` line is a run that
 * is still running or was lost. A `told` line says what notices have told of a
 * routine. Lines are never removed. Reports lie beside
 * it, see core/report/store.h.
 *
 * A run belongs to the configuration by its path, links resolved: routines of
 * the same name in different files are different ones, and a file that was
 * moved begins anew. Lines of earlier versions say nothing of a file.
 *
 * Dry runs take no generation: do not call it for them.
 */
#ifndef CORE_REPORT_LEDGER_H
#define CORE_REPORT_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/report/ledger_event.h"

struct ledger;

/*
 * Open for a run; the folder is created for the user alone (0700).
 *
 * state_dir  NULL means state_dir_find()
 * errors     ERR_SYS  it cannot be created or written
 */
int ledger_open(const char *state_dir, struct ledger **ret, struct err *err)
	MUST_USE;
/* Open for reading alone, and for store_get(); creates nothing. */
int ledger_open_read(const char *state_dir, struct ledger **ret,
		     struct err *err) MUST_USE;
void ledger_free(struct ledger *l);
/* For AUTO(). */
void ledger_freep(struct ledger **l);
/* As it was given or found; lives as long as the ledger. */
const char *ledger_dir(const struct ledger *l) MUST_USE;

/*
 * Take the next generation and write `started`. Others see it at once; nothing
 * may be done in the name of the run before ledger_sync().
 *
 * wall_ns  of now, nanoseconds since 1970 UTC
 */
int ledger_start(struct ledger *l, const struct ledger_routine *which,
		 int64_t wall_ns, uint64_t *ret_generation, struct err *err)
	MUST_USE;
/* The run of the routine before that one, where it was lost; 0: it was not, or
   is further away than the lines that ledger_start() read. */
uint64_t ledger_lost_before(const struct ledger *l) MUST_USE;

/*
 * Put what was written on disk: at most once for each line. What failed once
 * fails from then on: lines that did not come to the disk stay lost, and a
 * second flush would not tell.
 * errors  ERR_SYS
 */
int ledger_sync(struct ledger *l, struct err *err) MUST_USE;

struct ledger_end {
	struct ledger_routine which;
	const char *summary;
	bool success;
	int exit_status;
	int64_t wall_ns; /* of now, nanoseconds since 1970 UTC */
};

/* Remove the reports of a file that its next one pushes out, while steps run;
   ledger_finish() does what is left. */
void ledger_make_room(struct ledger *l, const char *file, uint64_t keep_runs);

/*
 * Store the report, then put `finished` with its hash on disk.
 *
 * When the report cannot be stored, `finished` is written all the same,
 * without a hash, and the error of the store is returned.
 *
 * report       JSON, as it will be read back; NULL: nothing is stored. What is
 *		to be done beside is not done where none is kept
 * keep_runs    reports kept of the file, this one included; 0 keeps none
 */
int ledger_finish(struct ledger *l, uint64_t generation,
		  const struct ledger_end *end, const struct fd_text *report,
		  uint64_t keep_runs, struct err *err) MUST_USE;

/* Add the members of a `started` line by which this process is known. */
void ledger_add_process(struct jw *w);

/* Lines added to a run that has finished. */
struct ledger_amendment {
	struct ledger_routine which;
	struct str notices; /* a JSON array, for the line */
	struct str report;  /* with them */
	uint64_t keep_runs; /* 0: reports are not kept */
	int64_t wall_ns;    /* of now */
};

/*
 * Replace the report of a run that has finished by one with its notices. A line
 * `notified` has its hash first, so that whatever a crash leaves is believed.
 *
 * errors  ERR_SYS  the report before stays
 */
int ledger_amend(struct ledger *l, uint64_t generation,
		 const struct ledger_amendment *a, struct err *err) MUST_USE;

/*
 * Report whether the process of a run lives, by boot, pid and start time.
 *
 * boot  proc_boot_id() of now
 */
bool ledger_is_alive(const struct ledger_event *started, struct str boot)
	MUST_USE;

/* ---- lines, for files that read and write other events ---- */

/*
 * Walk over the lines from the last one to the first; read as far as it goes.
 * Lines that are appended meanwhile are left out.
 *
 *	AUTO(ledger_lines_release) struct ledger_lines lines;
 *	ledger_lines_init(&lines, l);
 *	while ((r = ledger_lines_next(&lines, &e, err)) > 0)
 *		...
 */
struct ledger_lines {
	struct ledger *l; /* borrowed */
	struct buf text;  /* read, and not passed yet */
	uint64_t from;	  /* where the text begins */
	uint64_t end;	  /* where the walk began */
	size_t block;	  /* bytes that are read next */
	int sys;	  /* errno: its end is not known */
	struct str only;  /* of ledger_lines_only() */
	uint64_t most;	  /* bytes that are passed, then it ends; 0: all */
};

void ledger_lines_init(struct ledger_lines *w, struct ledger *l);
/* Pass over lines of other routines without a look at what they say: a walk to
   the first line takes milliseconds then. */
void ledger_lines_only(struct ledger_lines *w, const char *routine,
		       struct arena *arena);
void ledger_lines_release(struct ledger_lines *w);
/*
 * Give the next line that says something.
 *
 * ret      holds until the next call
 * returns  1; 0: that was the first of the ledger
 * errors   ERR_SYS
 */
int ledger_lines_next(struct ledger_lines *w, struct ledger_event *ret,
		      struct err *err) MUST_USE;
/* Bytes of the lines that were given or passed over. */
uint64_t ledger_lines_passed(const struct ledger_lines *w) MUST_USE;

/* Append a line, and its newline, under the lock: all of it or nothing. Others
   see it at once, and ledger_sync() keeps it. */
int ledger_append(struct ledger *l, struct buf *line, struct err *err) MUST_USE;

#endif
