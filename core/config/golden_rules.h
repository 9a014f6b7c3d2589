/*
 * Rules of comparison as a configuration writes them: [golden].
 */
#ifndef CORE_CONFIG_GOLDEN_RULES_H
#define CORE_CONFIG_GOLDEN_RULES_H

#include "core/config/findings.h"
#include "core/config/routine.h"
#include "core/report/rules.h"

/*
 * Add the rules of a table. Rules that cannot be are left out.
 * findings  gets them, each with its place; NULL: nobody asks
 */
void golden_rules_load(const struct golden_rules *g, struct rules *rules,
		       struct arena *arena, struct findings *findings);

/* Add those of a routine, which may be NULL, and of its file; those of the
   routine count first. */
void golden_rules_of(const struct config *config, const struct routine *routine,
		     struct rules *rules, struct arena *arena);

#endif
