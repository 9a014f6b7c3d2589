/*
 * Options and messages that `golden` and `diff` share.
 */
#ifndef CORE_CLI_GOLDEN_PRINT_H
#define CORE_CLI_GOLDEN_PRINT_H

#include "core/cli/args.h"
#include "core/cli/kept_report.h"
#include "core/report/golden.h"

/* --format, --json. errors  ERR_USAGE */
int golden_format(const struct args *args, enum diff_format *ret,
		  struct err *err) MUST_USE;

/*
 * Warn of rules that selected nothing.
 * errors  ERR_COMPARE when `strict` and there were any
 */
int golden_warn_unused(const struct golden *g, bool strict, struct err *err)
	MUST_USE;

/*
 * Status 1 of a comparison means "differs", so that nothing else may end in
 * it: a failure (-1) becomes ERR_COMPARE, but for wrong usage and busy.
 * Returns `status`.
 */
int golden_cannot_compare(int status, struct err *err);

/*
 * Append a report: the file of that name, "-" for stdin; without such a file
 * a generation, or "last".
 *
 * q        how "last" is found; .which is the name
 * ret_run  in `arena`; NULL when the report is a file; may be NULL
 * errors   ERR_SYS, ERR_LIMIT, ERR_UNKNOWN
 */
int golden_read_report(const struct kept_query *q, struct arena *arena,
		       struct buf *out, const struct ledger_run **ret_run,
		       struct err *err) MUST_USE;

#endif
