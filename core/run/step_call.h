/*
 * A step that calls a tool: `mcp-client` with a tool, one tools/call in a
 * session that other steps of the run may use as well (core/run/pool.h). With
 * `strict` the tools are listed first, and arguments and result must fit the
 * schemas of the tool.
 */
#ifndef CORE_RUN_STEP_CALL_H
#define CORE_RUN_STEP_CALL_H

#include "core/run/step.h"

extern const struct step_doer call_doer;

#endif
