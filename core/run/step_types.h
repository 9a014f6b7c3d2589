/*
 * Behaviour of each row of core/config/step_types.def.
 */
#ifndef CORE_RUN_STEP_TYPES_H
#define CORE_RUN_STEP_TYPES_H

#include "core/run/step.h"

/* step_exec.c */
extern const struct step_type step_type_script, step_type_harness,
	step_type_subprocess;
/* step_mcp.c */
extern const struct step_type step_type_mcp;

/*
 * The type of a step whose aliases the loader has resolved. A step that this
 * program does not support never begins, by any type.
 */
const struct step_type *step_type_find(const struct step *step) MUST_USE;

#endif
