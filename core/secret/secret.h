/*
 * Credential references become values.
 *
 *	AUTO(buf_wipe) struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
 *	if (secret_resolve(SECRET_FILE, path, NULL, &value, err) < 0)
 *		...		the step is skipped, err says why
 *
 * A value is never part of an error. Programs are started by the caller's
 * runner only, because that is the gate's business. What a value must not
 * reach is core/secret/scrub.h.
 */
#ifndef CORE_SECRET_SECRET_H
#define CORE_SECRET_SECRET_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum secret_source { SECRET_ENV, SECRET_FILE, SECRET_CMD };

struct secret_runner {
	/*
	 * Run the line (secret_split_words()) and add its stdout to `out`,
	 * whose ceiling is LIMIT_SECRET_BYTES.
	 * returns  0, or -1 with the cause, which must not show stdout
	 */
	int (*run)(void *arg, const char *line, struct buf *out,
		   struct err *err);
	/*
	 * Open a file for reading, without waiting. NULL: as open(2) does.
	 * returns  the descriptor, the caller's; or -1 and err, whose `sys`
	 *	    is set where the cause is an errno
	 */
	int (*open)(void *arg, const char *path, struct err *err);
	void *arg;
};

/*
 * Append the value of a reference to `out`, which the caller wipes. Files
 * and output of commands lose white space around them.
 *
 * from    the variable, absolute path, or command line
 * runner  may be NULL where the source is no command
 * errors  ERR_CREDENTIAL  name and cause, never the value: not set, empty,
 *			   unreadable, over LIMIT_SECRET_BYTES, holds NUL
 */
int secret_resolve(enum secret_source source, const char *from,
		   const struct secret_runner *runner, struct buf *out,
		   struct err *err) MUST_USE;

/*
 * Split a command line: words are separated by blanks; "…" and '…' and
 * backslash quote as in a shell, which is otherwise absent: no variables, no
 * globs, no pipes, and their characters are ordinary.
 *
 * ret     words in `arena`; item[n] is NULL
 * errors  ERR_SYNTAX  open quote, or no word at all
 */
int secret_split_words(struct str line, struct arena *arena,
		       struct strlist *ret, struct err *err) MUST_USE;

#endif
