/*
 * Files that nothing opens by itself wherever they lie: those that only their
 * user may read, and files of keys that projects have.
 */
#ifndef GATE_PREPARE_PRIVATE_FILES_H
#define GATE_PREPARE_PRIVATE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/* Is it our file, not empty, readable for us alone, and no program: 0600? */
bool file_is_private(const struct stat *st) MUST_USE;

/*
 * Is a private file in the folder, or beneath it? Folders of files that tools
 * have fetched (node_modules, site-packages, .git) are not looked at.
 *
 * but      a folder that is not looked at, or NULL
 * budget   entries that may still be looked at; less afterwards
 * returns  true also where the budget was not enough
 */
bool folder_holds_private(const char *dir, const char *but, size_t *budget)
	MUST_USE;

/* Is the name one of files with keys of a project: ".env", "server.key"? */
bool file_is_project_key(const char *name) MUST_USE;

/*
 * List the files with such names in the folder and beneath it, but for those
 * that tools have fetched.
 *
 * budget   as above
 */
void find_project_keys(const char *dir, size_t *budget, struct arena *arena,
		       struct strlist *ret);

#endif
