/*
 * Findings of core/client/tool_check.h, for a command that calls a tool: every
 * violation is one warning; with `strict` they are errors. A required argument
 * that is missing is an error always, unless the caller takes note of it. A
 * schema that cannot be used checks nothing, which is a warning once, and with
 * `strict` an error like any violation.
 */
#ifndef CORE_CLI_TOOL_SAY_H
#define CORE_CLI_TOOL_SAY_H

#include "core/client/tool_check.h"

enum tool_rigour {
	TOOL_NO_CHECK, /* everything is a warning */
	TOOL_CHECK,    /* so is everything but a missing argument */
	TOOL_STRICT,
};

/*
 * errors  ERR_SYNTAX  the first violation that is no warning; the others were
 *		       printed
 */
int tool_say(const struct tool_findings *f, enum tool_rigour rigour,
	     struct err *err) MUST_USE;

#endif
