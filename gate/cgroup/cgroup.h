/*
 * Control groups: the memory and the number of processes of a whole tree are
 * bounded, and the tree can be ended by its group.
 *
 * Each tree that runs has one group (two with version 1, which has a hierarchy
 * for each controller). The first of a gate is named matins-PID-STARTTIME-N
 * and locked while the gate lives, the others matins-PID-STARTTIME-N-NUMBER,
 * beside it: none is made only to hold others. Making and removing a group
 * costs more than using one again, so those of ended trees are kept for the
 * next. What a dead gate has left is swept by the next gate that opens.
 *
 *	cgroups_open(&pool, &places);               what can be had: pool.has
 *	cgroups_take(&pool, &want, &group, err);
 *	cgroup_open_doors(&pool, group, fd, err);        for the child
 *	...                                         the tree has ended
 *	cgroup_read_events(&pool, group, &events);
 *	cgroups_give(&pool, group);
 *	cgroups_close(&pool);
 *
 * Version 2: the nearest group above ours whose children have the
 * controllers and in which we may make some; never our own group, since one
 * with processes has none in it to bound. Version 1: a child of our own group.
 *
 * Only programs go into a group. The owner of a tree shares the runner's
 * memory: killed for its group's memory it would take the runner along.
 */
#ifndef GATE_CGROUP_CGROUP_H
#define GATE_CGROUP_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/cgroup/cgroup_find.h"
#include "core/base/str.h"

/* Name of a group's folder, with the NUL; its path from a folder beside it. */
#define CGROUP_NAME_BYTES 80
#define CGROUP_PATH_BYTES (CGROUP_NAME_BYTES + 3)
#define CGROUP_DOOR_BYTES (CGROUP_PATH_BYTES + 6)

/* How folders are made and removed; tests put another one in its place. */
struct cgroup_fs {
	int (*make)(int at, const char *name);
	int (*remove)(int at, const char *name);
};

/* Hierarchies that one tree is in: version 1 has one for each controller. */
#define CGROUP_TREES 2

/*
 * A group never has less memory than this. While it is executing, a program
 * still shares the runner's memory and its arguments (6 MiB at most,
 * fs/exec.c) are counted for the group: running out of it then would end the
 * runner.
 */
#define CGROUP_MEMORY_MIN (UINT64_C(16) << 20)

enum cgroup_controller { CGROUP_MEMORY, CGROUP_PIDS, N_CGROUP_CONTROLLERS };

struct cgroup_events {
	uint64_t oom_kills;	/* processes killed for want of memory */
	uint64_t forks_refused; /* starts of processes */
};

struct cgroup {
	struct cgroup *next;
	bool is_first; /* holds the lock: never removed */
	bool was_used; /* by a tree that has ended */
	bool is_empty; /* as its user knows; else cgroups_give() looks */
	char path[CGROUP_PATH_BYTES]; /* seen from our first one: ../NAME */
	const char *name;	      /* in .path */
	/* Of version 1: what a child opens beside our first one; else "" */
	char door[CGROUP_DOOR_BYTES];
	uint64_t memory_bytes, processes; /* as they are set; 0 = not yet */
	struct cgroup_events before;	  /* of earlier trees */
};

struct cgroup_tree {
	int lock; /* our first one there; the others are beside it */
	bool has[N_CGROUP_CONTROLLERS];
};

struct cgroups {
	bool is_open;	 /* found out what there is */
	bool is_unified; /* version 2 */
	bool has[N_CGROUP_CONTROLLERS];
	char why[160];		      /* of what is not there; for reports */
	char name[CGROUP_NAME_BYTES]; /* of our first group */
	struct cgroup_tree tree[CGROUP_TREES];
	size_t n_trees;
	struct cgroup *idle;
	size_t n_idle;
	unsigned made;
	const struct cgroup_fs *fs; /* NULL = the kernel's */
};

struct cgroup_want {
	uint64_t memory_bytes, processes;
};

/*
 * Find out by trial what can be had: our first group is made, locked, and its
 * bounds set. Nothing of that is an error; .has and .why say what came of it.
 * Stale groups of this user are swept first.
 *
 * places  borrowed for the call; NULL: those of this process
 */
void cgroups_open(struct cgroups *pool, const struct cgroup_places *places);
/* Removes our groups, which must have been given back. */
void cgroups_close(struct cgroups *pool);

/*
 * A group with these bounds and nothing in it. The pool's until it is given
 * back.
 * errors  ERR_SYS
 */
int cgroups_take(struct cgroups *pool, const struct cgroup_want *want,
		 struct cgroup **ret, struct err *err) MUST_USE;
/* Give a group back; processes still in it are killed and waited for, seconds
   at most. NULL is fine. */
void cgroups_give(struct cgroups *pool, struct cgroup *group);

/*
 * Descriptors through which a child goes into the group; -1 where there are
 * fewer, also after an error. Version 1: the pool's; the child opens
 * group->door at each and writes "0" to it. Version 2: the caller's; the first
 * one is for CLONE_INTO_CGROUP, and where that cannot be had "0" is written to
 * the second.
 */
int cgroup_open_doors(const struct cgroups *pool, const struct cgroup *group,
		      int ret_fd[CGROUP_TREES], struct err *err) MUST_USE;

/* Bounds hit since the group was taken, or since the last look. */
void cgroup_read_events(const struct cgroups *pool, struct cgroup *group,
			struct cgroup_events *ret);

#endif
