#include "core/cli/command.h"
#include "core/cli/run_report.h"

const struct option options_run[] = {RUN_SELECT_OPTIONS, RUN_OPTIONS, {0}};

int cmd_run(const struct args *args, struct err *err)
{
	return run_and_print(args, args->positional[0], NULL, err);
}
