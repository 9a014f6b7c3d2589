/*
 * Folders and files of packages that were installed somewhere: found by a
 * name, so judged more strictly than what a person names by its path.
 *
 * Folder, file and the links on the way belong to root or the user, and are
 * closed to everybody else.
 */
#ifndef GATE_PATH_PACKAGE_FILE_H
#define GATE_PATH_PACKAGE_FILE_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "gate/path/resolve.h"

/* Bytes of the start of a program. */
#define PACKAGE_HEAD_BYTES 4096

/*
 * Open the folder of a package. Release the walk whatever comes back.
 *
 * homes    folders that are the user's HOME, without links
 * returns  1; 0: there is no such folder
 * errors   ERR_POLICY  of another user, open to all, or a link to HOME
 */
int package_folder_open(const char *path, const struct strlist *homes,
			struct arena *arena, struct walk *ret, struct err *err)
	MUST_USE;

/* Read a file right in the folder; false: it has none that is a regular one. */
bool package_folder_read(const struct walk *folder, const char *name,
			 struct buf *out) MUST_USE;

/*
 * Find a program and read its first bytes.
 *
 * folder    its package: it must lie in there, links followed
 * path      absolute
 * ret_real  the same without links
 * ret_head  in the arena
 * errors    ERR_NOT_FOUND, ERR_POLICY, ERR_SYS
 */
int package_file_head(const struct walk *folder, const char *path,
		      struct arena *arena, const char **ret_real,
		      struct str *ret_head, struct err *err) MUST_USE;

#endif
