/*
 * Paths that people write: made absolute by one rule, and where they lie. Both
 * look at this machine: HOME, the current folder, links on the way.
 */
#ifndef CORE_CONFIG_PATHS_H
#define CORE_CONFIG_PATHS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/outfile.h"
#include "core/base/str.h"
#include "core/config/routine.h"

struct stat;

/* Is `path`, real, one of these folders or beneath one, links followed? */
bool path_is_beneath(const char *path, const struct strlist *folders) MUST_USE;

/*
 * The rule for a path, wherever it is written: `~` and `~/…` lead to HOME, a
 * relative one begins in `folder`; "." and ".." are resolved, but ".." behind a
 * link stays, so that the link is seen by who judges it. Without HOME a `~` is
 * a name like others.
 *
 * folder    of the file that the path stands in; NULL: the caller's current
 *	     one, for the command line and the environment
 * returns   absolute, in `arena`
 */
const char *path_resolve(const char *path, const char *folder,
			 struct arena *arena) MUST_USE;
/* Resolve the path of a program; a bare name stays as it is. */
const char *path_program(const char *name, const char *folder,
			 struct arena *arena) MUST_USE;
/*
 * The homes of the user, by turns: $HOME, then that of the passwd entry, where
 * keys lie whatever the environment says. NULL where one is none.
 *
 * i         below PATH_HOMES
 * returns   borrowed until the next call
 */
#define PATH_HOMES 2
const char *path_own_home(unsigned i) MUST_USE;
/* Is a home of the user the path, or beneath it, links followed? */
bool path_holds_home(const char *path) MUST_USE;
/* Does a shell read such a text as a path of HOME: "~/x", "$HOME/x"? */
bool path_needs_shell(struct str text) MUST_USE;
/* `~` and `~/…` alone; other texts stay as they are. */
const char *path_home(const char *path, struct arena *arena) MUST_USE;
/*
 * The words of a command line that stands in a file: the program by the rule,
 * the others with `~` and `~/…` expanded.
 * errors  ERR_SYNTAX
 */
int path_words(const char *line, const char *folder, struct arena *arena,
	       struct strlist *ret, struct err *err) MUST_USE;

/*
 * A link that a confined program may have made leads a result to no place
 * that the program could not write itself.
 *
 * named   by the user, for the error
 * d       folder that it leads to
 * writes  folders that programs may write
 * errors  ERR_OUTPUT
 */
int path_check_links(const char *named, const struct outfolder *d,
		     const struct strlist *writes, struct err *err) MUST_USE;
/* Is the name, which may be NULL, that of another file in the folder of the
   configuration? What was kept for that one is not this one's. */
bool path_is_other(const struct config *config, const char *file) MUST_USE;
/* Check it for all folders that programs of a configuration may write; refuse
   the configuration itself, and files of its credentials. */
int path_check_links_of(const char *named, const struct outfolder *d,
			const struct config *config, struct err *err) MUST_USE;
/*
 * Open a file whose content is handed on, or that events go to, judged by the
 * same rule, without waiting for the other end of a FIFO.
 *
 * flags    O_RDONLY, or those for writing, of open(2)
 * returns  the descriptor, the caller's; -1: err, with `sys` where the cause
 *	    is an errno
 * errors   ERR_POLICY, ERR_SYS
 */
int path_open(const char *path, int flags, const struct config *config,
	      struct err *err) MUST_USE;
/*
 * Read a file that belongs to a project: one that another user owns, or that a
 * link leads to out of the project, is refused.
 *
 * project  folder; links on the way to it are the person's
 * config   may have no path; its programs may write, as for path_open()
 * errors   ERR_POLICY, ERR_SYS (also where it is no regular file), ERR_LIMIT
 */
int path_read(const char *path, const char *project,
	      const struct config *config, struct buf *out, struct err *err)
	MUST_USE;
/* Where an argument that is a file of keys lies: "~/.ssh"; NULL: it is none. */
const char *path_keys_of(const char *arg, struct arena *arena) MUST_USE;
/*
 * Whether a file or folder can be trusted: the first, it is owned by the user
 * or root; the second, no other user may write it.
 */
bool path_is_ours(const struct stat *st) MUST_USE;
bool path_is_written_by_others(const struct stat *st) MUST_USE;

#endif
