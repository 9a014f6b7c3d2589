/*
 * Facts of one child, guarantee by guarantee: enforced and by what, partly and
 * what is missing, or absent and why; and the remedy of each.
 */
#ifndef GATE_PREPARE_FACTS_H
#define GATE_PREPARE_FACTS_H

#include "gate/prepare/prepared.h"

/*
 * Fill .facts; after all other parts.
 *
 * errors  ERR_PROTECTION  `require` names something that does not hold here, or
 *			   neither Landlock nor namespaces would confine it
 */
int prepare_facts(struct prepared *p, struct err *err) MUST_USE;

/* Advice how to have a mechanism here; NULL: there is none. */
const char *mechanism_remedy_here(const struct prepared *p, enum mechanism m)
	MUST_USE;

#endif
