/*
 * Table of mounts of this process, as /proc/self/mountinfo has it.
 *
 *	struct str text = mounts_first();
 *	struct mount m;
 *	while (mounts_next(&text, &m))
 *		... m.type, mounts_path(m.point, &arena) ...
 *
 * source  proc_pid_mountinfo(5)
 */
#ifndef GATE_PATH_MOUNTS_H
#define GATE_PATH_MOUNTS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/* Fields of a row, borrowed from its text. */
struct mount {
	struct str root;  /* folder of the file system that is shown */
	struct str point; /* path that it is shown at */
	struct str type;
	struct str options; /* of the file system */
};

/* The table as it was when it was first asked for; p is NULL: it cannot be
   read. Static. */
struct str mounts_first(void) MUST_USE;

/* The next row that is whole, moving *text behind it; false: no more. Pure. */
bool mounts_next(struct str *text, struct mount *ret) MUST_USE;

/* A path of a row with its blanks, which the kernel writes as "\040"; ends in
   NUL. In the arena. Pure. */
struct str mounts_path(struct str field, struct arena *arena) MUST_USE;

#endif
