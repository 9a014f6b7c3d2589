/*
 * The record of a run: the lock of the routine, its generation in the ledger,
 * results as they come, the report at the end.
 *
 *	struct record rec = {.o = o, …, .lock = -1, .journal = -1};
 *	if (record_open(&rec, err) < 0)
 *		…
 *	record_fill(&rec);		the report, but for facts of the run
 *	record_end(&rec, NULL);		or with the error that ended it
 *	record_amend(&rec);		with rec.notices
 *
 * Without a ledger the run goes on with a warning, unless it needs one.
 */
#ifndef CORE_RUN_RECORD_H
#define CORE_RUN_RECORD_H

#include "core/report/ledger.h"
#include "core/run/run.h"

struct record {
	/* all borrowed */
	const struct run_options *o;
	struct run_result *result;
	struct loop *loop;
	const char *leash;    /* where it was found; or NULL */
	const char *ended_by; /* name of a signal; or NULL */
	/* Lets go of programs beside the writing of the report. */
	void (*let_go)(void *arg);
	void *let_go_arg;
	uint64_t begin_ns;
	int64_t begin_wall_ns;

	/* members of the record alone */
	struct ledger_routine which; /* the routine, or a step of it */
	struct ledger *ledger; /* NULL: dry run or not writable; the caller
				  frees it, and closes what follows */
	int lock;	       /* of the routine; -1 without */
	int journal;	       /* of results; -1: none yet */
	bool has_no_journal;
	bool is_unsynced;	 /* the disk refuses, and that was said */
	struct strlist warnings; /* in the arena of the result */
	struct str notices;	 /* likewise: a JSON array; n = 0: none */
	int64_t end_wall_ns;	 /* 0: it goes on */
	uint64_t end_ns;
};

/*
 * Take the lock and a generation, or warn that there is none; signals are taken
 * from here on. Warnings of the plan come first.
 *
 * rec  set as above; the plan of the result is made
 *
 * errors  ERR_BUSY, or that of a ledger that is required;
 *	   0 with result->busy_skipped: another process runs it
 */
int record_open(struct record *rec, struct err *err) MUST_USE;
/* For gate_config.before_exec: nothing runs that is not recorded for good. */
int record_start(void *rec, struct err *err) MUST_USE;
/* Keep a result that `run --resume` may take. */
void record_keep(struct record *rec, const struct report_step *s);
/* Warn on stderr, and in the report. */
void record_warn(struct record *rec, const char *fmt, ...) PRINTF(2, 3);
/* Fill the report and the exit status of the result. */
void record_fill(struct record *rec);
/*
 * Add facts of the run to the report, and write it.
 *
 * why  nothing could be run, and a generation was perhaps taken; or NULL
 */
void record_end(struct record *rec, const struct err *why);
/* Write the report again where there are notices: the run has ended, however
   long they take. */
void record_amend(struct record *rec);

#endif
