/*
 * The configuration file: found, trusted, read, loaded, expanded.
 *
 *	struct config_options options = {.path = path, .routine = name};
 *	struct config_file file;
 *	if (config_open(&options, &file, err) < 0)
 *		...			file.findings has all of it
 *	... file.config ...
 *	config_release(&file);		also after a failure
 *
 * Afterwards paths are absolute, `~/` and ${VAR} are replaced, and everything
 * lives until config_release(). Credentials are not resolved here.
 */
#ifndef CORE_CONFIG_CONFIG_H
#define CORE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/sha256.h"
#include "core/config/routine.h"

/* Zeroed options search the usual places and look at the whole file. */
struct config_options {
	const char *path; /* --config; NULL searches */
	/* SHA-256 of the only bytes that are taken, in hex; NULL: any are */
	const char *sha256;
	bool lax;	 /* unknown keys are warnings */
	bool quiet;	 /* print nothing on stderr; see the findings */
	bool names_only; /* neither expand nor look at granted paths */
	/* nothing will be started, sent, or read as a credential: a file that
	   lies in the current folder need not be allowed */
	bool passive;
	/*
	 * Names that will be used: variables and granted paths of other
	 * routines and servers are then left as written. Both NULL: everything
	 * is used.
	 */
	const char *routine;
	const char *server;
	struct buf *text; /* NULL, or gets the bytes that are parsed */
	bool policy_only; /* one policy, as of routine_load() */
	/* Text of the file that `path` was, absolute, which is not read again
	   and was judged where it was kept; p = NULL: it is read. */
	struct str kept;
	/* without a file, where `path` names none: succeed, and leave the path
	   of the file NULL and its configuration empty */
	bool optional;
};

struct config_file {
	struct arena arena;
	struct config config;
	struct findings findings; /* by place; errors and warnings */
	/* variables that one server or step lacks: errors of those alone */
	struct findings unset;
	const char *path;  /* as named, for messages; NULL: none found */
	bool found_in_cwd; /* found in the current folder, not named */
	/* Of a passive one: why nothing else may use it; NULL: it may. */
	const char *not_allowed;
	const char *found;   /* real path of its folder, and its name there */
	const char *shadows; /* the user's own that it is used instead of */
	char sha256[SHA256_HEX_BYTES]; /* of the bytes that were parsed */
	bool has_other_names;	       /* hard links */
	off_t bytes;		       /* of the file, when it was judged */
	struct strlist grants;	       /* rows of core/config/config_allow.h */
	/* Values of variables in headers, and in the path or query of a URL,
	   and literals of arguments: credentials, to be scrubbed. */
	struct strlist header_values;
};

/*
 * Find, read, check trust, parse, load, expand, and judge whether a file that
 * lay in the current folder is allowed; on a terminal the person is asked.
 * Unless quiet, warnings are logged.
 *
 * *ret_file is set in every case; the caller ends it with config_release().
 *
 * errors  ERR_CONFIG   the first error as "file:line:col: text"; all of them
 *			are in the findings (ERR_LIMIT for a bound)
 *	   ERR_UNKNOWN  there is no configuration, unless it is optional; says
 *			where it looked
 *	   ERR_NOT_ALLOWED  it lay in the current folder, and nobody allowed it
 */
int config_open(const struct config_options *options,
		struct config_file *ret_file, struct err *err) MUST_USE;
/* Wipes what came out of variables. */
void config_release(struct config_file *file);

#endif
