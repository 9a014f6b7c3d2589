/*
 * The last whole run of a routine: for $previous, and for references of a step
 * that is traced alone.
 */
#ifndef CORE_RUN_PREVIOUS_H
#define CORE_RUN_PREVIOUS_H

#include "core/base/arena.h"
#include "core/report/ledger.h"
#include "core/report/report.h"

/*
 * Find its report; a report that was changed since then does not count.
 *
 * which       the routine and its file
 * must_be_ok  false: a run with failures counts, too
 * returns  in `arena`; NULL: there is none, or it is not kept any more
 */
const struct report *previous_find(struct ledger *l,
				   const struct ledger_routine *which,
				   bool must_be_ok, struct arena *arena)
	MUST_USE;

/* The result of a step; NULL: there is no report, or no such step in it. */
const struct report_step *previous_step(const struct report *r, struct str name)
	MUST_USE;

#endif
