#include "core/cli/command.h"
#include "core/cli/run_report.h"

const struct option options_step[] = {RUN_SELECT_OPTIONS, RUN_OPTIONS, {0}};

int cmd_step(const struct args *args, struct err *err)
{
	return run_and_print(args, args->positional[0], args->positional[1],
			     err);
}
