/*
 * Changes: what a run gave that an earlier one did not. Pure.
 */
#ifndef CORE_RUN_CHANGES_H
#define CORE_RUN_CHANGES_H

#include "core/config/routine.h"
#include "core/report/diff.h"
#include "core/report/report.h"

/*
 * Compare two reports of a routine as a golden file would, by the rules of
 * [golden] of the routine and of its file. The result lives in `arena`.
 *
 * errors   ERR_COMPARE, ERR_SYNTAX, ERR_LIMIT
 */
int changes_diff(const struct report *old, const struct report *now,
		 const struct config *c, const struct routine *r,
		 struct arena *arena, struct diff *ret, struct err *err)
	MUST_USE;

#endif
