/*
 * A step whose program is run to its end, and whose whole stdout is judged:
 * `script`, `harness`, and `mcp-client` without a tool (subprocess-JSON).
 */
#ifndef CORE_RUN_STEP_PROGRAM_H
#define CORE_RUN_STEP_PROGRAM_H

#include "core/run/step.h"

extern const struct step_doer program_doer;

#endif
