/*
 * Candidate: what the last `golden check` saw of a golden file, for `accept`,
 * `reject` and `review`. Candidates lie in the state directory, one for each
 * file.
 */
#ifndef CORE_CLI_CANDIDATE_H
#define CORE_CLI_CANDIDATE_H

#include "core/base/arena.h"
#include "core/base/err.h"

/*
 * Keep the text that the golden file would get.
 *
 * path      of the golden file
 * accepted  text that the file has now
 * errors    ERR_SYS
 */
int candidate_keep(const char *path, struct str accepted, struct str text,
		   struct err *err) MUST_USE;

/*
 * Find the text that is kept, in `arena`; `accepted` as above.
 * errors  ERR_UNKNOWN	nothing is kept
 *	   ERR_DIFFERS  the golden file has changed since
 *	   ERR_SYNTAX   the file of the candidate is broken
 *	   ERR_SYS
 */
int candidate_take(const char *path, struct str accepted, struct arena *arena,
		   struct str *ret, struct err *err) MUST_USE;

void candidate_drop(const char *path);

#endif
