/*
 * Folder of a control group: its files, what runs in it, its removal, and the
 * sweep of folders that dead gates have left.
 *
 * The first group of a gate is named matins-PID-STARTTIME-N, and the gate
 * holds a lock on its folder; the others are matins-PID-STARTTIME-N-NUMBER.
 */
#ifndef GATE_CGROUP_CGROUP_FOLDER_H
#define GATE_CGROUP_CGROUP_FOLDER_H

#include "core/base/attr.h"
#include "core/base/str.h"

/* Name of a group's folder, with the NUL. */
#define CGROUP_NAME_BYTES 80
/* Text of one file of a group; lists of processes are read in parts. */
#define CGROUP_FILE_BYTES 4096

/* How folders are made and removed; tests put another one in its place. */
struct cgroup_fs {
	int (*make)(int at, const char *name);
	int (*remove)(int at, const char *name);
};

/* A name for the first group of another gate of this process. */
void cgroup_new_name(char ret[CGROUP_NAME_BYTES]);

/* A folder and no link, close-on-exec; -1 and errno. */
int cgroup_open(int at, const char *name) MUST_USE;
/* The text ends in NUL; "" when there is none. Borrows `text`. */
struct str cgroup_read(int dir, const char *path, char text[CGROUP_FILE_BYTES]);
/* returns  0, or -1 with errno */
int cgroup_write(int dir, const char *path, const char *text) MUST_USE;

/* Kill the processes in a group, and wait for them, seconds at most. */
void cgroup_end(int base, const char *name);
/*
 * Remove a group; what is in it is ended first. A group that cannot go is left
 * to the sweep of the next gate.
 */
void cgroup_remove(const struct cgroup_fs *fs, int base, const char *name);
/* Remove the groups of this user's gates that are dead. */
void cgroup_sweep(const struct cgroup_fs *fs, int base);

#endif
