/*
 * Commands: one row each in commands.def.
 *
 * main.c hands command_run() the words of the command line; it finds the row,
 * reads the options, answers --help, checks how many words stand behind the
 * command, and calls cmd_IDENT().
 */
#ifndef CORE_CLI_COMMAND_H
#define CORE_CLI_COMMAND_H

#include "core/cli/args.h"

struct command {
	const char *name;
	const char *synopsis; /* words behind the name */
	const char *help;     /* help in one line */
	unsigned min, max;    /* words behind it that are no options */
	const char *usage;    /* said when there are fewer, or more */
	/* printed behind the options; or NULL */
	void (*more_help)(const struct args *args);
	const struct option *options;
	/*
	 * Returns the exit status; -1 with `err` filled, whose kind decides
	 * the status and which main.c prints.
	 */
	int (*run)(const struct args *args, struct err *err);
};

/* COMMAND(…, max): any number of words. */
#define COMMAND_ANY UINT32_MAX

#define COMMAND(ident, synopsis, help, min, max, usage, more) \
	extern const struct option options_##ident[];         \
	int cmd_##ident(const struct args *args, struct err *err);
#include "core/cli/commands.def"
#undef COMMAND

/* All commands, in the order of commands.def; ends with name NULL. */
extern const struct command commands[];

/*
 * Run the command of argv[0] with the words behind it.
 *
 * returns  the exit status; -1 with `err`
 * errors   ERR_USAGE with the nearest command or option; the command's own
 */
int command_run(int argc, char **argv, struct err *err) MUST_USE;

#endif
