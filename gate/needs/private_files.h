/*
 * What a trace leaves shut by what it is, not by where it lies: files that
 * only their user may read, and files of keys that projects have.
 */
#ifndef GATE_NEEDS_PRIVATE_FILES_H
#define GATE_NEEDS_PRIVATE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/* A file of ours that nobody else may read, and that is no program: 0600. */
bool trace_is_private(const struct stat *st) MUST_USE;

/*
 * Is a private file in the folder, or beneath it? What tools have fetched
 * (node_modules, site-packages, .git) is not looked at.
 *
 * but      a folder that is not looked at, or NULL
 * budget   entries that may still be looked at; less afterwards
 * returns  true also where the budget was not enough
 */
bool trace_holds_private(const char *dir, const char *but, size_t *budget)
	MUST_USE;

/* Is it named as files of keys of a project are: ".env", "server.key"? */
bool trace_is_project_key(const char *name) MUST_USE;

/*
 * The files in the folder and beneath it that are named so, but for what tools
 * have fetched.
 *
 * budget   as above
 */
void trace_project_keys(const char *dir, size_t *budget, struct arena *arena,
			struct strlist *ret);

#endif
