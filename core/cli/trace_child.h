/*
 * One program of a trace, run to its end. What it prints goes to stderr, for
 * stdout is for the policy.
 */
#ifndef CORE_CLI_TRACE_CHILD_H
#define CORE_CLI_TRACE_CHILD_H

#include "core/cli/child_run.h"

/*
 * request  .stdio is filled in: stdin of the caller unless it is a terminal,
 *	    stdout and stderr both its stderr
 * again    stdin has been read before: it is read from its beginning where
 *	    that can be done, else it is empty
 * errors   as gate_spawn()
 */
int trace_child_run(struct gate *gate, struct gate_request *request, bool again,
		    struct child_end *ret, struct err *err) MUST_USE;

#endif
