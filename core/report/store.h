/*
 * Reports kept on disk: `reports/GENERATION.json` in a state directory.
 *
 * A reader sees a whole report or none: a report is written beside its place,
 * synced and renamed. It knows bytes, not what is in them.
 */
#ifndef CORE_REPORT_STORE_H
#define CORE_REPORT_STORE_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/str.h"

/*
 * Keep a report, and of all reports only the `keep` with the highest
 * generations. With keep 0 nothing is written and all are removed.
 * errors  ERR_SYS
 */
int store_put(const char *state_dir, uint64_t generation,
	      const struct fd_text *report, uint64_t keep, struct err *err)
	MUST_USE;

/*
 * Append a kept report to `out`.
 * errors  ERR_UNKNOWN  there is none (any more)
 *	   ERR_SYS, ERR_LIMIT
 */
int store_get(const char *state_dir, uint64_t generation, struct buf *out,
	      struct err *err) MUST_USE;

#endif
