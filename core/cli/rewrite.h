/*
 * A configuration that a command writes: only the bytes that it has read are
 * replaced, by a text that loads as well, and its allowance goes on.
 *
 *	rewrite_read(file, "trace", &old, err)
 *	... edit ...
 *	rewrite_check(file->path, new, err)
 *	outfile_write_str(&out, new, err)
 *	rewrite_allow(file, "trace", new)
 *
 * Or, of the configuration that the options of a command name or find:
 *
 *	rewrite_open(&r, args, "add", err)
 *	... edit r.old ...
 *	rewrite_write(&r, new, err)
 *	rewrite_release(&r)
 */
#ifndef CORE_CLI_REWRITE_H
#define CORE_CLI_REWRITE_H

#include "core/cli/args.h"
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
/* Allow a new file, from its folder, as long as it has these bytes. False: a
   warning says why it is not. */
bool rewrite_allow_new(const char *path, struct str text);

/*
 * Write a path for a row of the sandbox as a person would: from the folder of
 * the configuration, or from HOME.
 *
 * key  of the row; in `exec` a slash tells a folder from the name of a program
 */
const char *rewrite_path(const char *dir, const char *key, const char *value,
			 struct arena *arena) MUST_USE;

struct rewrite {
	const char *command; /* for notes and errors */
	bool is_named;	     /* by --config */
	struct config_file file;
	const char *path; /* of the file, or of the one to make */
	const char *dir;  /* folder of it, absolute */
	struct buf old;	  /* text of the file */
	int lock;	  /* owned; of its folder, or -1 */
	struct arena arena;
};

#define REWRITE_INIT ((struct rewrite){.lock = -1})

/*
 * Find the configuration, or the place of a new one, and read it.
 * errors  config_open()
 */
int rewrite_open(struct rewrite *r, const struct args *args,
		 const char *command, struct err *err) MUST_USE;
/* The configuration, for a program that starts now; NULL: there is none, or it
   is not allowed. */
const struct config *rewrite_config(const struct rewrite *r) MUST_USE;
/*
 * Wait until no other command writes in its folder, keep them from that until
 * rewrite_release(), and read what is there now. What was taken from its parts
 * before is gone.
 *
 * errors  rewrite_open(), ERR_SYS
 */
int rewrite_lock(struct rewrite *r, const struct args *args, struct err *err)
	MUST_USE;
/* Append the text with tables behind it, an empty line between. */
void rewrite_appended(const struct rewrite *r, struct str tables,
		      struct buf *out);
/*
 * Replace or make the file, print the difference on stdout. An equal text is
 * not written; neither is one where the file has changed since it was read.
 *
 * errors  rewrite_check(), rewrite_read(), outfile_open(), outfile_write()
 */
int rewrite_write(struct rewrite *r, struct str text, struct err *err) MUST_USE;
void rewrite_release(struct rewrite *r);

#endif
