#include "core/cli/command.h"

#include <stdio.h>

#include "core/cli/key_options.h"
#include "core/cli/target.h"

const struct command commands[] = {
#define COMMAND(ident, synopsis, help, min, max, usage, more)  \
	{#ident, synopsis,	  help,	      min, max, usage, \
	 more,	 options_##ident, cmd_##ident},
#include "core/cli/commands.def"
#undef COMMAND
	{0},
};

/* The help of a longer option stands on the next line. */
#define OPTION_COLUMN 30

static int find_command(const char *name, const struct command **ret,
			struct err *err)
{
	const char *names[ARRAY_LEN(commands)];
	size_t n = 0;

	for (const struct command *c = commands; c->name; c++) {
		names[n++] = c->name;
		if (strcmp(c->name, name) != 0)
			continue;
		*ret = c;
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "unknown command %s%s`matins help` lists them", name,
		       args_meant_or(str_of(name), names, n).text);
}

/* ---- help ---- */

static void print_options(const struct option *o)
{
	for (; o->name; o++) {
		char left[128];

		snprintf(left, sizeof(left), "%s%c%s--%s%s%s",
			 o->letter ? "-" : " ", o->letter ? o->letter : ' ',
			 o->letter ? ", " : "  ", o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		if (strlen(left) > OPTION_COLUMN)
			printf("  %s\n  %*s %s\n", left, OPTION_COLUMN, "",
			       o->help);
		else
			printf("  %-*s %s\n", OPTION_COLUMN, left, o->help);
	}
}

static void explain(const struct command *cmd)
{
	printf("usage: matins %s%s%s\n\n%s\n\n", cmd->name,
	       *cmd->synopsis ? " " : "", cmd->synopsis, cmd->help);
	print_options(cmd->options);
	if (cmd->options->name)
		printf("\n");
	print_options(args_common);
	printf("\nThe manual page says more: man matins\n");
}

const struct option options_help[] = {{0}};

int cmd_help(const struct args *args, struct err *err)
{
	const struct command *about;

	if (args->n_positional) {
		if (find_command(args->positional[0], &about, err) < 0)
			return -1;
		explain(about);
		return 0;
	}
	printf("usage: matins COMMAND [OPTIONS]\n\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-12s %s\n", c->name, c->help);
	printf("\n`matins COMMAND --help` explains one; "
	       "`matins --version` prints the version.\n");
	return 0;
}

/* ---- one command ---- */

int command_run(int argc, char **argv, struct err *err)
{
	AUTO(args_release) struct args args = {0};
	const struct command *cmd;

	/* a command of completion scripts only, so it has no row */
	if (strcmp(argv[0], "__complete") == 0)
		return completion_answer(argc - 1, argv + 1, err);
	args_find_json(argc, argv);
	if (find_command(argv[0], &cmd, err) < 0 ||
	    args_parse(cmd->name, cmd->options, argc - 1, argv + 1, &args,
		       err) < 0)
		return -1;
	if (args.help) {
		explain(cmd);
		if (cmd->more_help)
			cmd->more_help();
		return 0;
	}
	if (args.n_positional < cmd->min || args.n_positional > cmd->max)
		return err_set(err, ERR_USAGE, "%s: %s", cmd->name, cmd->usage);
	return cmd->run(&args, err);
}
