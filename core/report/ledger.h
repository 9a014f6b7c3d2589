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
 * is still running or was lost. Lines are never removed. Reports lie beside
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

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/str.h"

struct ledger;

/*
 * Open for a run; the folder is created for the user alone (0700).
 *
 * state_dir  NULL means state_dir_find()
 * errors     ERR_SYS  it cannot be created or written
 */
int ledger_open(const char *state_dir, struct ledger **ret, struct err *err)
	MUST_USE;
/* Open for ledger_read() and store_get() only; creates nothing. */
int ledger_open_read(const char *state_dir, struct ledger **ret,
		     struct err *err) MUST_USE;
void ledger_free(struct ledger *l);
/* For AUTO(). */
void ledger_freep(struct ledger **l);
/* As it was given or found; lives as long as the ledger. */
const char *ledger_dir(const struct ledger *l) MUST_USE;

/* Which routine runs, and how much of it. */
struct ledger_routine {
	const char *name; /* of one step alone "morning/host" */
	const char *file; /* real path of the configuration */
	bool whole;	  /* no step was left out by hand; it began */
};

/*
 * Take the next generation and write `started`. Others see it at once; nothing
 * may be done in the name of the run before ledger_sync().
 *
 * wall_ns  of now, nanoseconds since 1970 UTC
 */
int ledger_start(struct ledger *l, const struct ledger_routine *which,
		 int64_t wall_ns, uint64_t *ret_generation, struct err *err)
	MUST_USE;

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

/*
 * Hold a routine for oneself until the descriptor is closed (or the process
 * ends); for `on_busy`.
 *
 * wait    false: ERR_BUSY at once. True: waits in flock(2); a signal that is
 *	   handled ends the wait with ERR_SYS, EINTR
 * errors  ERR_BUSY, ERR_SYS
 */
int ledger_lock_routine(struct ledger *l, const struct ledger_routine *which,
			bool wait, int *ret_fd, struct err *err) MUST_USE;

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
	enum run_state state;
	const char *started;  /* RFC 3339; "" when the line is missing */
	const char *finished; /* RFC 3339; "" while there is none */
	int64_t started_ns;   /* since 1970 UTC; 0 when unknown */
	int64_t finished_ns;
	const char *summary; /* "" while there is none */
	bool success;
	int exit_status;
	const char *sha256; /* of the report, hexadecimal; "" without one */
};

/*
 * Is it a run of this routine? One of which the file is not known counts.
 *
 * routine, file  NULL: any
 */
bool ledger_run_is(const struct ledger_run *run, const char *routine,
		   const char *file) MUST_USE;
/* "running", "lost", "finished"; static. */
const char *run_state_name(enum run_state s) MUST_USE;

/*
 * All runs, oldest first, in `arena`. Of a very long ledger the last 64 MiB
 * are read.
 */
int ledger_read(struct ledger *l, struct arena *arena, struct ledger_run **ret,
		size_t *ret_n, struct err *err) MUST_USE;

#endif
