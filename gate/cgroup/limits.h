/*
 * Resource limits of a child.
 *
 * An rlimit bounds each process, and the number of processes
 * where the kernel counts them for this sandbox alone. They do not add up the
 * memory of a tree: control groups do (gate/cgroup/cgroup.h), and where there
 * is none a report says so.
 */
#ifndef GATE_CGROUP_LIMITS_H
#define GATE_CGROUP_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "core/base/attr.h"
#include "gate/policy/policy.h"

struct limit {
	int resource;	    /* RLIMIT_... */
	struct rlimit both; /* soft and hard */
};

enum {
#define LIMIT(resource, value) LIMITS_##resource,
#include "gate/cgroup/limits.def"
#undef LIMIT
	N_LIMITS,
};

struct limits_context {
	uint64_t tasks;	     /* bound of processes and threads */
	bool memory_counted; /* a control group bounds that of the tree */
};

/* Fill all N_LIMITS; the child takes them where its own are not lower. */
void limits_build(const struct policy *p, const struct limits_context *c,
		  struct limit ret[N_LIMITS]);

/* Counters that bound the tasks of a child. */
enum limits_counted {
	LIMITS_OWN_GROUP, /* pids.max of its control group */
	LIMITS_OWN_USER,  /* RLIMIT_NPROC, in a user namespace of its own */
	LIMITS_OWN_PIDS,  /* pid_max of its pid namespace */
	LIMITS_SHARED,	  /* RLIMIT_NPROC, together with all of its user */
};

/*
 * How many tasks the uid of a child may have. RLIMIT_NPROC counts all tasks
 * of a uid in a user namespace; where that is not the child's own, those that
 * run already are added (all of the host: the count per uid is not to be had
 * cheaply).
 */
uint64_t limits_tasks(const struct policy *p, enum limits_counted counted)
	MUST_USE;

#endif
