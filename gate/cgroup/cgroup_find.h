/*
 * Where the control groups of this process lie, from the text of
 * /proc/self/mountinfo and /proc/self/cgroup. Pure; both texts are written by
 * the kernel, the names in them by any user.
 */
#ifndef GATE_CGROUP_CGROUP_FIND_H
#define GATE_CGROUP_CGROUP_FIND_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/* Folders of the groups that we are in; NULL where there is none. */
struct cgroup_places {
	const char *unified;	   /* version 2 */
	const char *unified_top;   /* mount point: nothing above it */
	const char *memory, *pids; /* version 1; one folder where mounted so */
};

/*
 * A group that is not beneath what is mounted (another namespace's) is none,
 * and a mount that hides part of the tree shows only what is beneath its
 * root.
 *
 * The result lives in the arena.
 */
void cgroup_find(struct str mountinfo, struct str cgroup, struct arena *arena,
		 struct cgroup_places *ret);

/* Is a word in a list that is separated by `sep` and may end in a newline? */
bool cgroup_has_word(struct str list, char sep, const char *word) MUST_USE;

/*
 * The number in the line "NAME NUMBER" of a file like memory.events; 0 when
 * there is none.
 */
uint64_t cgroup_find_count(struct str text, const char *name) MUST_USE;

#endif
