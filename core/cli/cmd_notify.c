/* `matins notify`: send a test to everybody whom notices would reach. */
#include <string.h>

#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/run/notify.h"

const struct option options_notify[] = {{0}};

int cmd_notify(const struct args *args, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	const char *name = args->positional[1];
	const struct config_options options = {.routine = name};
	const struct routine *r = NULL;
	int status;

	if (strcmp(args->positional[0], "test") != 0)
		return err_set(err, ERR_USAGE,
			       "notify: there is no action %s; write `matins "
			       "notify test [ROUTINE]`",
			       args->positional[0]);
	if (open_config(args, options, &file, err) < 0 ||
	    (name && find_routine(&file.config, name, &r, err) < 0))
		return -1;
	status = notify_test(&file, r, &said, err);
	if (status < 0 || put(buf_str(&said), PUT_TEXT, err) < 0)
		return -1;
	return status ? 2 : 0;
}
