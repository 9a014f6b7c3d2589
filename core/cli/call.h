/* A call of a tool whose outcome another command prints. */
#ifndef CORE_CLI_CALL_H
#define CORE_CLI_CALL_H

#include "core/cli/args.h"
#include "core/config/routine.h"

struct call_outcome {
	const struct action *action; /* in: its pin holds; NULL: none */
	struct buf output;	     /* text of the result; owned */
	struct buf structured;	     /* JSON, or empty; owned */
};

/*
 * Call as `matins call` does.
 *
 * args     its words
 * o        without `output` and `structured` the result is printed
 * returns  0, 2: the tool failed; -1 with err, or another status
 */
int call_tool(const struct args *args, struct call_outcome *o, struct err *err)
	MUST_USE;

#endif
