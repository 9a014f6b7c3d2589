/*
 * Commands: one row each in commands.def, one file each beside this one.
 *
 * main.c finds the row; the command parses its own options with the helpers
 * below, whose tables are also what `--help` and completion print.
 *
 *	static const struct option options[] = {
 *		{"json", 0, NULL, "print one JSON document"},
 *		{"only", 0, "A,B", "run these steps only"},
 *		{0}};
 *	struct args args;
 *	if (args_parse(cmd, argc, argv, &args, err) < 0)
 *		return -1;
 */
#ifndef CORE_CLI_COMMAND_H
#define CORE_CLI_COMMAND_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct option {
	const char *name;  /* without the dashes; NULL ends a table */
	char letter;	   /* short form, 0 without */
	const char *value; /* name of its value, NULL when it takes none */
	const char *help;
};

struct command {
	const char *name;
	const char *synopsis; /* what follows the name */
	const char *help;     /* one line */
	const struct option *options;
	/*
	 * returns  the exit status; -1 with `err` filled, whose kind decides
	 *	    it and which main.c prints
	 */
	int (*run)(const struct command *cmd, int argc, char **argv,
		   struct err *err);
};

#define COMMAND(ident, synopsis, help)                                    \
	extern const struct option options_##ident[];                     \
	int cmd_##ident(const struct command *cmd, int argc, char **argv, \
			struct err *err);
#include "core/cli/commands.def"
#undef COMMAND

/* All commands, in the order of commands.def; ends with name NULL. */
extern const struct command commands[];
const struct command *command_find(const char *name) MUST_USE;
/* Print usage and options of one command on stdout. */
void command_help(const struct command *cmd);

struct args_option {
	const char *name; /* of the row, static */
	const char
		*value; /* of argv, `~` expanded in a path; NULL: takes none */
};

struct args {
	struct args_option *given; /* in order; owned */
	size_t n_given;
	char **positional; /* borrowed strings; array owned; ends in NULL */
	size_t n_positional;
	char **after;	    /* what follows "--", ends in NULL; NULL without */
	bool help;	    /* --help was given and has been printed */
	struct arena arena; /* of expanded values */
};

/*
 * Parse argv (argv[0] is the first word behind the command). Options may
 * stand anywhere before "--"; "--name=value", "--name value", "-n value".
 * The options that every command has (--help, -q, -v, -c, --lax, --color)
 * are known here and applied.
 *
 * errors  ERR_USAGE with the nearest option
 */
int args_parse(const struct command *cmd, int argc, char **argv,
	       struct args *ret, struct err *err) MUST_USE;
void args_release(struct args *a);
/* The last value of an option, "" for a flag that was given, or NULL. */
const char *args_get(const struct args *a, const char *name) MUST_USE;
bool args_has(const struct args *a, const char *name) MUST_USE;
/* All values of a repeated option; items borrowed, array in `arena`. */
struct strlist args_all(const struct args *a, const char *name,
			struct arena *arena) MUST_USE;

/* Sets cli_json_errors when --json stands before "--". */
void args_find_json(int argc, char **argv);
/* Did any of the arguments ask for JSON: then main prints errors so, too. */
extern bool cli_json_errors;

#endif
