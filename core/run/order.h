/*
 * Which step of a plan begins next.
 *
 * In the order of the file a step begins when the one before it has ended, or
 * has begun and both are parallel; else as soon as all that it waits for has
 * ended. Steps with `after` come last, one after the other.
 *
 * Pure.
 */
#ifndef CORE_RUN_ORDER_H
#define CORE_RUN_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/arena.h"
#include "core/run/plan.h"

struct order {
	const struct plan *plan;
	bool *begun, *ended; /* by step */
	size_t n_begun, n_ended;
	size_t first;	  /* before it all steps have begun */
	size_t late_left; /* steps with `after` that have not begun */
};

/* The arrays lie in `arena`; `plan` is borrowed. */
void order_init(struct order *o, const struct plan *plan, struct arena *arena);

/*
 * has_room  one more may run
 * returns   index of a step that can begin now; n_steps: none can
 */
size_t order_next(const struct order *o, bool has_room) MUST_USE;
void order_begin(struct order *o, size_t step);
void order_end(struct order *o, size_t step);

/* Report whether all steps have ended. */
bool order_is_over(const struct order *o) MUST_USE;

#endif
