/*
 * Which server a command means, and the options and keys for it.
 */
#ifndef CORE_CLI_TARGET_OPTIONS_H
#define CORE_CLI_TARGET_OPTIONS_H

#include "core/cli/target.h"

/*
 * Open the configuration and fill *t: keys of the server first, then options.
 *
 * errors  ERR_USAGE  no target, two, or an option that is not for it
 *	   ERR_UNKNOWN_SERVER  the configuration has no such server
 */
int target_read_options(struct target *t, const struct args *args,
			struct err *err) MUST_USE;

#endif
