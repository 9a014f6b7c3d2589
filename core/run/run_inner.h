/*
 * What the files of a run share. Who wants one sees run.h.
 *
 *	run.c	       from first to last; which steps may run
 *	run_prepare.c  plan, lock, generation, gate, what the steps share
 *	run_walk.c     which step begins when; signals
 *	run_record.c   the report, and the end in the ledger
 */
#ifndef CORE_RUN_RUN_INNER_H
#define CORE_RUN_RUN_INNER_H

#include "core/report/ledger.h"
#include "core/run/credentials.h"
#include "core/client/eras.h"
#include "core/config/leash.h"
#include "core/run/remotes.h"
#include "core/run/run.h"

/* Everything of one run that is not part of its result. */
struct run {
	const struct run_options *o;
	struct run_result *result;
	struct plan plan;
	struct gate_leash leash;
	struct gate *gate;
	struct gate_policy cmd_policy; /* of credential programs */
	struct ledger *ledger;	       /* NULL: dry run or not writable */
	int lock;		       /* of the routine; -1 without */
	struct loop loop;
	bool has_loop;
	struct scrub *scrub;
	struct eras *eras;
	struct pool *pool;
	struct step_context ctx;
	struct credentials *credentials;
	struct remotes *remotes;
	size_t next, running;
	unsigned jobs;
	struct loop_timer tick;
	uint64_t begin_ns;
	int64_t begin_wall_ns;
	const char *warnings[8];
	size_t n_warnings;
};

/* run.c */
/* On stderr, and in the report. */
void run_warn(struct run *r, const char *sentence);

/* run_prepare.c */
/* 0 as well when somebody else runs it: r->result->busy_skipped. */
int run_prepare(struct run *r, struct err *err) MUST_USE;

/* run_walk.c */
/* Until all steps and servers have ended. */
int run_walk(struct run *r, struct err *err) MUST_USE;
/* Of struct step_context; `arg` is the run. */
void run_on_step_ended(void *arg, struct step_run *s);
void run_on_verdict(void *arg, const struct step_run *s,
		    const struct gate_verdict *v);
/* Of those that end a run. */
const char *run_signal_name(int signal) MUST_USE;

/* run_record.c */
void run_fill_report(struct run *r);
void run_finish_ledger(struct run *r);
/* A generation was taken, and then nothing could be run. */
void run_record_failure(struct run *r, const struct err *why);
/* Which routine of which file, and whether all of it; in the arena. */
struct ledger_routine run_which(struct run *r) MUST_USE;

#endif
