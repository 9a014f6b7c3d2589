/*
 * Reports of past runs, by generation; cmd_history.c.
 */
#ifndef CORE_CLI_KEPT_REPORT_H
#define CORE_CLI_KEPT_REPORT_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/report/ledger.h"

struct kept_query {
	const char *which; /* a generation, or "last": the last that finished */
	/* For "last"; NULL: any. */
	const char *routine;
	const char *file; /* real path of the configuration */
	bool whole;	  /* for "last": only runs of all steps */
};

/*
 * Append the report of a run as it was stored. A report that is not what the
 * ledger recorded is a warning.
 *
 * ret_run  the run, in `arena`; may be NULL
 * errors   ERR_USAGE	 neither a number nor "last"
 *	    ERR_UNKNOWN_RUN  no such run
 *	    ERR_UNKNOWN	 its report is not kept (any more)
 *	    ERR_SYS
 */
int kept_report(const struct kept_query *q, struct arena *arena,
		struct buf *out, const struct ledger_run **ret_run,
		struct err *err) MUST_USE;

#endif
