/*
 * Fate of a step when it is its turn: whether the steps that it needs
 * went well, whether its conditions hold, and the values of its arguments.
 *
 * Pure.
 */
#ifndef CORE_RUN_TURN_H
#define CORE_RUN_TURN_H

#include "core/base/arena.h"
#include "core/run/plan.h"
#include "core/run/values.h"

/* The result of a step of the plan; NULL while it has none. */
typedef const struct report_step *turn_result(void *arg, size_t step);

struct turn {
	struct plan *plan;
	turn_result *result;
	void *arg;	      /* of both callbacks */
	struct values values; /* .step and .is_lenient are set here */
};

/*
 * Decide about a step of the plan that has no reason yet: give it one with a
 * sentence, or the arguments that it lacks, or what it runs for each of. All of
 * it lives in `arena`, or is borrowed from results.
 */
void turn_take(const struct turn *t, size_t step, struct arena *arena);

/*
 * Say of a step of a dry run whether it would run, as far as that can be known:
 * steps that it needs would not, conditions on inputs do not hold; or which
 * conditions the run decides.
 */
void turn_foresee(const struct turn *t, size_t step, struct arena *arena);

#endif
