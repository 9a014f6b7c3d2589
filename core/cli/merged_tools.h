/* Tools of all servers of a configuration, out of the catalogue. */
#ifndef CORE_CLI_MERGED_TOOLS_H
#define CORE_CLI_MERGED_TOOLS_H

#include "core/cli/args.h"

/* `tools` without a target. */
int merged_tools_list(const struct args *args, struct err *err) MUST_USE;

#endif
