#include "core/cli/run_report.h"

const struct option options_run[] = {RUN_SELECT_OPTIONS, RUN_OPTIONS, {0}};

int cmd_run(const struct command *cmd, int argc, char **argv, struct err *err)
{
	struct args args;
	int status = 0;

	if (args_parse(cmd, argc, argv, &args, err) < 0)
		return -1;
	if (args.help)
		status = 0;
	else if (args.n_positional != 1)
		status = err_set(err, ERR_USAGE,
				 "run: name one routine; `matins list` shows "
				 "them");
	else
		status = run_and_print(&args, args.positional[0], NULL, err);
	args_release(&args);
	return status;
}
