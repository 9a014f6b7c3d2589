/* `matins golden record|check|accept --tools`: the tools of pinned servers. */
#ifndef CORE_CLI_GOLDEN_TOOLS_H
#define CORE_CLI_GOLDEN_TOOLS_H

#include "core/cli/args.h"

/*
 * Keep or compare the tools/list of the servers that a routine calls, all
 * routines without one; `accept` takes one server, and what was shown of it
 * last: where nothing was, it shows what differs.
 *
 * returns  0; 1: something differs, or nothing is to be recorded
 */
int golden_tools(const struct args *args, struct err *err) MUST_USE;

#endif
