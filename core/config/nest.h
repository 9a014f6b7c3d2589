/*
 * Routines that are steps of others.
 *
 * Pure.
 */
#ifndef CORE_CONFIG_NEST_H
#define CORE_CONFIG_NEST_H

#include "core/base/arena.h"
#include "core/config/findings.h"
#include "core/config/routine.h"

/*
 * Find what a run of a routine runs: itself, and routines of its steps.
 *
 * from     name; NULL: all of them
 * returns  one flag per routine, in `arena`
 */
bool *nest_reached(const struct config *c, const char *from,
		   struct arena *arena) MUST_USE;

/*
 * Add an error for every routine that is not there, that runs itself, or that
 * lies too deep.
 *
 * reached  of which routines
 */
void nest_check(const struct config *c, const bool *reached,
		struct arena *arena, struct findings *findings);

/* Report whether "NAME", or "STEP/NAME" of a routine within, is a step of type
   approve. */
bool nest_has_approval(const struct config *c, const struct routine *r,
		       struct str name) MUST_USE;

/* Find a step for which `is` holds, in a routine and those of its steps; NULL:
   there is none. */
const struct step *nest_find_step(const struct config *c,
				  const struct routine *r,
				  bool (*is)(const struct step *s)) MUST_USE;

#endif
