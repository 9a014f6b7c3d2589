#include "core/cli/command.h"

const struct option options_help[] = {{0}};

int cmd_help(const struct command *cmd, int argc, char **argv, struct err *err)
{
	struct args a;
	const struct command *about;

	if (args_parse(cmd, argc, argv, &a, err) < 0)
		return -1;
	if (a.help || !a.n_positional) {
		args_release(&a);
		if (a.help)
			return 0;
		printf("usage: matins COMMAND [OPTIONS]\n\n");
		for (const struct command *c = commands; c->name; c++)
			printf("  %-12s %s\n", c->name, c->help);
		printf("\n`matins COMMAND --help` explains one; "
		       "`matins --version` prints the version.\n");
		return 0;
	}
	about = command_find(a.positional[0]);
	if (!about) {
		err_set(err, ERR_USAGE,
			"there is no command %s; `matins help` lists them",
			a.positional[0]);
		args_release(&a);
		return -1;
	}
	args_release(&a);
	command_help(about);
	return 0;
}
