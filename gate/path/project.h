/*
 * The project that a program is started in: the nearest folder, from one up,
 * that holds a mark of a project.
 *
 * Folders and marks above the first one must belong to root or the user, and
 * the search ends where a program may write: it could remove a mark, so that
 * a folder above would count. HOME, folders above HOME, hidden folders of HOME
 * and folders of the system are no project.
 *
 * Nothing is opened.
 */
#ifndef GATE_PATH_PROJECT_H
#define GATE_PATH_PROJECT_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

struct project {
	const char *path;   /* without links; NULL: none that may be granted */
	const char *marker; /* NULL: none was found, it is the first folder */
};

struct project_search {
	const char *from;	     /* folder; NULL: there is none */
	const char *markers;	     /* names of files or folders, by spaces */
	const struct strlist *homes; /* of the user, without links */
	/* Lists of folders that programs may write; the last one is NULL. */
	const struct strlist *const *written;
};

/* Find the project; its strings live in `arena`. */
struct project project_find(const struct project_search *s, struct arena *arena)
	MUST_USE;

#endif
