/*
 * Earlier runs of a routine, whose results are values, or stand for those of
 * another run.
 */
#ifndef CORE_RUN_PREVIOUS_H
#define CORE_RUN_PREVIOUS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/report/ledger.h"
#include "core/report/report.h"

/*
 * Find the report of the last whole run; one that was changed since then does
 * not count.
 *
 * which       the routine and its file
 * must_be_ok  false: a run with failures counts, too
 * before      runs of this generation and later do not count
 * returns  in `arena`; NULL: there is none, or it is not kept any more
 */
const struct report *previous_find(struct ledger *l,
				   const struct ledger_routine *which,
				   bool must_be_ok, uint64_t before,
				   struct arena *arena) MUST_USE;

/*
 * Find the last run that has a result of each of these steps, however it went.
 * Of a run that was lost its journal counts: the steps that were ok.
 *
 * errors  ERR_UNKNOWN
 */
int previous_with(struct ledger *l, const struct ledger_routine *which,
		  const struct strlist *steps, struct arena *arena,
		  const struct report **ret, struct err *err) MUST_USE;

/*
 * Find one run, as previous_with() would. A run that resumed another one and
 * was ended has the results of that one for steps that it did not come to.
 *
 * generation  a number, or "last"
 * errors      ERR_USAGE    neither of them
 *	       ERR_UNKNOWN  no run of this routine, or no report of it
 *	       ERR_BUSY     it runs
 */
int previous_get(struct ledger *l, const struct ledger_routine *which,
		 const char *generation, struct arena *arena,
		 const struct report **ret, struct err *err) MUST_USE;

/*
 * Find the last result of a step that `fits` says yes to; only so many runs
 * are looked through.
 *
 * returns  in `arena`; NULL: there is none
 */
const struct report_step *previous_fitting(
	struct ledger *l, const struct ledger_routine *which, struct str step,
	bool (*fits)(void *arg, const struct report_step *s), void *arg,
	struct arena *arena, uint64_t *ret_generation) MUST_USE;

/*
 * Write the facts of a result that was kept: `member` says which run it is of,
 * unless the facts say that already.
 */
struct str previous_facts(struct str run, uint64_t generation,
			  const char *member, struct arena *arena) MUST_USE;

/* The result of a step; NULL: there is no report, or no such step in it. */
const struct report_step *previous_step(const struct report *r, struct str name)
	MUST_USE;

/*
 * Add the steps of a journal, a line each, to a report. The last line may be
 * torn: what is behind one that is no such line does not count. Pure.
 *
 * text  lives as long as `all`, which borrows from it
 */
void previous_read_journal(struct str text, struct arena *arena,
			   struct report *all);

#endif
