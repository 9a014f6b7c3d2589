/*
 * Which server a command means, and the options and keys for it.
 */
#ifndef CORE_CLI_TARGET_OPTIONS_H
#define CORE_CLI_TARGET_OPTIONS_H

#include "core/cli/target.h"

/*
 * Open the configuration and fill *t: keys of the server first, then options.
 *
 * ret_server  its table; NULL: a program or a URL of the command line
 * errors      ERR_USAGE  no target, two, or an option that is not for it
 *	       ERR_UNKNOWN_SERVER  the configuration has no such server
 */
int target_read_options(struct target *t, const struct args *args,
			const struct server **ret_server, struct err *err)
	MUST_USE;

#endif
