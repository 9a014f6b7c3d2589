/* Lists of servers into the catalogue, for commands that show it. */
#ifndef CORE_CLI_SYNC_H
#define CORE_CLI_SYNC_H

#include "core/cli/args.h"
#include "core/config/config.h"

/*
 * List all servers, and print errors only.
 *
 * returns  0; 1: a server failed; 128 + N after a signal; -1 with err
 */
int sync_quietly(const struct args *args, const struct config *config,
		 struct err *err) MUST_USE;

#endif
