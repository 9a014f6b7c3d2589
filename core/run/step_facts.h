/*
 * Facts of a step: the object `run` of its result, in which two equal runs
 * differ.
 */
#ifndef CORE_RUN_STEP_FACTS_H
#define CORE_RUN_STEP_FACTS_H

#include "core/run/step.h"

/* Write the facts, again where more is known than when the step ended. */
void step_write_facts(struct step_run *s);

#endif
