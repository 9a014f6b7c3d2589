#include "core/cli/run_report.h"

const struct option options_run[] = {RUN_SELECT_OPTIONS, RUN_OPTIONS, {0}};

int cmd_run(const struct command *cmd, int argc, char **argv, struct err *err)
{
	AUTO(args_release) struct args args = {0};

	if (args_parse(cmd, argc, argv, &args, err) < 0)
		return -1;
	if (args.help)
		return 0;
	if (args.n_positional != 1)
		return err_set(err, ERR_USAGE,
			       "run: name one routine; `matins list` shows "
			       "them");
	return run_and_print(&args, args.positional[0], NULL, err);
}
