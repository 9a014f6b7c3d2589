/*
 * Which bound of a policy a tree has hit, in words. Pure.
 *
 * Some cannot be known: a refused allocation (RLIMIT_DATA) or descriptor is
 * an error that only the program sees, and so is the file size when the
 * program ignores the signal.
 */
#ifndef GATE_POLICY_HIT_H
#define GATE_POLICY_HIT_H

#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"
#include "gate/gate.h"

/* End of the program. */
struct hit_end {
	uint64_t oom_kills, forks_refused; /* by its control group */
	uint64_t cpu_us;		   /* of the program itself */
	int signal; /* signal that ended the program, 0 = none */
	bool ended_by_us;
};

/*
 * Find them: a sentence each, in the arena.
 *
 * bounds  policy_bounds() of the child
 */
struct strlist hits_find(const struct gate_policy *bounds,
			 const struct hit_end *end, struct arena *arena)
	MUST_USE;

#endif
