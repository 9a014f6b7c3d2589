/* Options that `matins do` has by the action that its words name. */
#ifndef CORE_CLI_CMD_DO_H
#define CORE_CLI_CMD_DO_H

#include "core/cli/command.h"

/*
 * Put the options of the parameters before the command's own ones.
 *
 * argv    "do" and the words behind it
 * own     copy of the command; unchanged where no action is named
 * errors  ERR_UNKNOWN  there is no such action; of config_open()
 */
int do_options(int argc, char **argv, struct arena *arena, struct command *own,
	       struct err *err) MUST_USE;
/*
 * Print what failed before or beside the call as the document of --json.
 *
 * argv     as above
 * err      what failed
 * returns  the status; -1 with err: it is not printed, as --json or the action
 *	    is missing
 */
int do_failed(int argc, char **argv, struct err *err) MUST_USE;

#endif
