/*
 * What the files behind cgroup.h share: cgroup_folders.c finds, makes, sweeps
 * and removes folders, cgroup.c hands groups out.
 */
#ifndef GATE_CGROUP_CGROUP_INNER_H
#define GATE_CGROUP_CGROUP_INNER_H

#include "gate/cgroup/cgroup.h"

/* Text of one file of a group; lists of processes are read in parts. */
#define CGROUP_FILE_BYTES 4096

/* The text ends in NUL; "" when there is none. Borrows `text`. */
struct str cgroup_read(int dir, const char *path, char text[CGROUP_FILE_BYTES]);
/* returns  0, or -1 with errno */
int cgroup_write(int dir, const char *path, const char *text) MUST_USE;

/* End what is in the group of this name. */
void cgroup_end(int base, const char *name);
/*
 * Remove one group; what is in it is ended first. What cannot go is left to
 * the sweep of the next gate.
 */
void cgroup_remove(const struct cgroup_fs *fs, int base, const char *name);

/*
 * Sets .name, .is_unified and .tree: the best that can be made. The first
 * group is there then, locked.
 */
void cgroup_open_trees(struct cgroups *pool,
		       const struct cgroup_places *places);
/* Remove the first group, the last one there, and close all. */
void cgroup_close_tree(const struct cgroups *pool, struct cgroup_tree *t);
/* Keep the first reason why something cannot be had, in .why. */
void cgroup_note(struct cgroups *pool, const char *where, const char *what);

#endif
