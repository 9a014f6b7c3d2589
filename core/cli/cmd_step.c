#include "core/cli/run_report.h"

const struct option options_step[] = {RUN_SELECT_OPTIONS, RUN_OPTIONS, {0}};

int cmd_step(const struct command *cmd, int argc, char **argv, struct err *err)
{
	AUTO(args_release) struct args args = {0};

	if (args_parse(cmd, argc, argv, &args, err) < 0)
		return -1;
	if (args.help)
		return 0;
	if (args.n_positional != 2)
		return err_set(err, ERR_USAGE,
			       "step: name a routine and one step of it");
	return run_and_print(&args, args.positional[0], args.positional[1],
			     err);
}
