/*
 * Reports of past runs, by generation.
 */
#ifndef CORE_CLI_KEPT_REPORT_H
#define CORE_CLI_KEPT_REPORT_H

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * Append the report of a run as it was stored. A report that is not what the
 * ledger recorded is a warning.
 *
 * which    a generation, or "last": the last one that finished
 * routine  "last" of this routine only; NULL = of any
 * errors   ERR_USAGE    neither a number nor "last"
 *	    ERR_UNKNOWN  no such run, or its report is not kept (any more)
 *	    ERR_SYS
 */
int kept_report(const char *which, const char *routine, struct buf *out,
		struct err *err) MUST_USE;

#endif
