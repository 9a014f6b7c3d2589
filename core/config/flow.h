/*
 * The order of a routine's steps: which must have ended before each of them,
 * by its `needs` and by its references.
 *
 * Pure.
 */
#ifndef CORE_CONFIG_FLOW_H
#define CORE_CONFIG_FLOW_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/config/findings.h"
#include "core/config/ref.h"
#include "core/config/routine.h"

/* A step that must have ended before another. */
struct flow_wait {
	size_t step;	 /* index in the routine */
	bool must_be_ok; /* else the other is skipped */
};

struct flow_step {
	struct flow_wait *wait; /* each step once */
	size_t n_waits;
	/* Refer to values that only the run has: `args`, or another key. */
	bool has_late_args, is_late;
	/* Values of other steps, or of $item, are in what it is given. */
	bool has_results;
};

/*
 * Find what every step of a routine waits for; one entry per step, in `arena`.
 *
 * findings  errors of references, `needs` and `when`; NULL: they are passed
 *	     over
 */
struct flow_step *flow_make(const struct routine *r, struct arena *arena,
			    struct findings *findings) MUST_USE;

#endif
