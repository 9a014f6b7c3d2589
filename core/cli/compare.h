/*
 * Options and messages of commands that compare reports, and the files that
 * hold what a person accepted.
 */
#ifndef CORE_CLI_COMPARE_H
#define CORE_CLI_COMPARE_H

#include "core/base/outfile.h"
#include "core/cli/args.h"
#include "core/config/routine.h"
#include "core/report/diff_print.h"
#include "core/report/golden.h"

#define COMPARE_FORMATS "text|unified|json|patch|md|html"
#define COMPARE_OPTIONS                                                   \
	{"format", 0, COMPARE_FORMATS, "print differences in this form"}, \
	{                                                                 \
		"json", 0, NULL,                                          \
			"print differences as JSON, like --format "       \
			"json"                                            \
	}

/* --format, --json. errors  ERR_USAGE */
int compare_format(const struct args *args, const struct diff_format **ret,
		   struct err *err) MUST_USE;
/* Print; `after` follows as it is. errors  ERR_SYS */
int compare_put(const struct diff *d, const struct diff_format *format,
		const char *after, struct err *err) MUST_USE;
/*
 * Warn of rules that selected nothing.
 * errors  ERR_COMPARE with --strict when there were any
 */
int compare_warn_unused(const struct golden *g, const struct args *args,
			struct err *err) MUST_USE;
/*
 * Status 1 of a comparison means "differs", so that nothing else may end in
 * it: a failure (-1) becomes ERR_COMPARE, but for wrong usage and busy.
 * Returns `status`.
 */
int compare_status(int status, struct err *err) MUST_USE;

/* Read a file of a project into `arena`. errors  as path_read() */
int compare_read(const char *path, const char *project,
		 const struct config *config, struct arena *arena,
		 struct str *ret, struct err *err) MUST_USE;
/*
 * Look up the file that is to be written, whose folder is made.
 *
 * config  programs of it could have made a link there, which is refused; NULL:
 *	   none run before the writing
 * errors  ERR_SYS, ERR_OUTPUT
 */
int compare_open(struct outfile *f, const char *path,
		 const struct config *config, struct err *err) MUST_USE;
/*
 * Refuse a verb where CI is set.
 *
 * done    "recorded"; NULL: the verb is for CI as well
 * errors  ERR_CONFIG
 */
int compare_in_ci(const char *done, const char *verb, const char *path,
		  struct err *err) MUST_USE;

#endif
