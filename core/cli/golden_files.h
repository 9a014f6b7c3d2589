/*
 * Golden files on disk: where they lie, and what the last check saw.
 *
 * A check that finds a difference keeps what it saw in the state directory,
 * not beside the golden files; `accept` takes it from there. With CI set
 * nothing is written at all.
 */
#ifndef CORE_CLI_GOLDEN_FILES_H
#define CORE_CLI_GOLDEN_FILES_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/outfile.h"
#include "core/base/str.h"
#include "core/cli/kept_report.h"

/* $CI is set and is neither empty, "0" nor "false". */
bool golden_in_ci(void) MUST_USE;

/*
 * Append a report: the file of that name, "-" for stdin; without such a file
 * a generation, or "last".
 *
 * q        what "last" means; .which is the name
 * ret_run  in `arena`; NULL when it was read from a file; may be NULL
 * errors   ERR_SYS, ERR_LIMIT, ERR_UNKNOWN
 */
int golden_read_report(const struct kept_query *q, struct arena *arena,
		       struct buf *out, const struct ledger_run **ret_run,
		       struct err *err) MUST_USE;

/*
 * Look up a golden file that is to be written; its folder is made.
 * errors  outfile_open(); ERR_CONFIG when CI is set
 */
int golden_open(struct outfile *f, const char *path, struct err *err) MUST_USE;

/*
 * Keep what a check saw.
 *
 * path      of the golden file that it was compared with
 * accepted  text of that file
 * seen      text that it would get
 */
int golden_keep_candidate(const char *path, struct str accepted,
			  struct str seen, struct err *err) MUST_USE;
/* Forget it; nothing happens when there is none. */
void golden_drop_candidate(const char *path);
/*
 * Append what the last check saw.
 * errors  ERR_UNKNOWN  nothing is kept
 *	   ERR_DIFFERS  the golden file is no longer what the check saw
 *	   ERR_SYNTAX, ERR_SYS
 */
int golden_take_candidate(const char *path, struct buf *out, struct err *err)
	MUST_USE;

/* The file names in a folder that end in ".json", sorted, in `arena`. */
int golden_list(const char *dir, struct arena *arena, struct strlist *ret,
		struct err *err) MUST_USE;

#endif
