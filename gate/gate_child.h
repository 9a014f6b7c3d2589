/*
 * A child that was started: its tree, our ends of its pipes, its verdict.
 *
 * spawn.c fills it, reap.c lets it live and end.
 */
#ifndef GATE_GATE_CHILD_H
#define GATE_GATE_CHILD_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "gate/cgroup/cgroup.h"
#include "gate/child/launch.h"
#include "gate/gate.h"
#include "gate/policy/hit.h"
#include "gate/policy/policy.h"
#include "gate/policy/programs.h"
#include "gate/proxy/proxy.h"
#include "gate/watch/watch.h"

/* A file, or a folder of files, that a tree may execute. */
struct may_run {
	struct programs_file file;
	bool is_folder;
	const char *path;
};

struct gate_child {
	struct gate *gate; /* NULL when it is no longer in the gate's list */
	struct gate_child *prev, *next;
	struct launched run;
	struct proxy proxy; /* of POLICY_NET_PROXY */
	struct child_state state;
	int fd[3]; /* our ends; -1 */
	bool own_pids;
	bool ended;
	struct gate_verdict verdict;
	struct denials denials;
	struct watch watch;
	struct arena arena;	  /* of the rules */
	struct programs programs; /* rules that its tree is held to */
	struct may_run *may_run;  /* NULL: what may run was not noted */
	size_t n_may_run;
	const char *path, *cwd; /* texts of the gate */
	const char *exec_row[1];
	struct gate_fact facts[N_GUARANTEES]; /* texts of the gate */
	char *private_dir;
	struct cgroups *cgroups;   /* the gate's, as long as .group is there */
	struct cgroup *group;	   /* the pool's; NULL = none */
	struct gate_policy bounds; /* policy_bounds() */
	struct gate_seen_bounds seen_bounds;
	struct hits hits;
	bool killed; /* by us */
};

/* End the tree, reap it, close everything; the struct stays. */
void gate_child_end(struct gate_child *c);

#endif
