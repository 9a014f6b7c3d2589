/*
 * A configuration that a command writes: only the bytes that it has read are
 * replaced, by a text that loads as well, and its allowance goes on.
 *
 *	rewrite_read(file, "trace", &old, err)
 *	... edit ...
 *	rewrite_check(file->path, new, err)
 *	outfile_write_str(&out, new, err)
 *	rewrite_allow(file, "trace", new)
 */
#ifndef CORE_CLI_REWRITE_H
#define CORE_CLI_REWRITE_H

#include "core/config/config.h"

/*
 * Read the bytes that were read when the command began, and no others.
 *
 * command  for the error
 * errors   ERR_CONFIG  it has changed; ERR_SYS
 */
int rewrite_read(const struct config_file *file, const char *command,
		 struct buf *text, struct err *err) MUST_USE;
/* errors  ERR_CONFIG  the text would be no valid configuration */
int rewrite_check(const char *path, struct str text, struct err *err) MUST_USE;
/* Allow the new bytes exactly where the old ones were allowed. */
void rewrite_allow(const struct config_file *file, const char *command,
		   struct str text);
/* Allow a new file, from its folder, as long as it has these bytes. */
void rewrite_allow_new(const char *path, struct str text);

/*
 * Write a path for a row of the sandbox as a person would: from the folder of
 * the configuration, or from HOME.
 *
 * key  of the row; in `exec` a slash tells a folder from the name of a program
 */
const char *rewrite_path(const char *dir, const char *key, const char *value,
			 struct arena *arena) MUST_USE;

#endif
