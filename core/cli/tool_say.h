/*
 * What core/run/tool_check.h found, for who calls a tool: every violation is
 * one warning; with `strict` they are errors. A schema that cannot be used is
 * said, and checks nothing.
 */
#ifndef CORE_CLI_TOOL_SAY_H
#define CORE_CLI_TOOL_SAY_H

#include "core/run/tool_check.h"

/*
 * errors  ERR_SYNTAX  when strict and there are violations: the first; the
 *		       others were printed
 */
int tool_say(const struct tool_findings *f, bool strict, struct err *err)
	MUST_USE;

#endif
