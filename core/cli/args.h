/*
 * Options and words of a command line, read by a table.
 *
 *	static const struct option options[] = {
 *		{"json", 0, NULL, "print one JSON document"},
 *		{"only", 0, "A,B", "run these steps only"},
 *		{0}};
 *	struct args args;
 *	if (args_parse("run", options, argc, argv, &args, err) < 0)
 *		return -1;
 *
 * The options that every command has (--help, -q, -v, -c, --lax) are known
 * here. `--help` and completion print the same tables.
 */
#ifndef CORE_CLI_ARGS_H
#define CORE_CLI_ARGS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct option {
	const char *name;  /* without the dashes; NULL ends a table */
	char letter;	   /* short form, 0 without; of the end OPTIONS_... */
	const char *value; /* name of its value, NULL when it takes none */
	const char *help;
};

/* Rows that many commands have: at the end of a table, {.letter = …}. */
enum {
	OPTIONS_TARGET = 1, /* all of a command that has a target: its server,
			       core/config/servers.def, and those below */
	OPTIONS_REMOTE,	    /* of URLs, and what is below */
	OPTIONS_PROGRAM,    /* of sandboxes: policy_options.def */
};

extern const struct option options_of_urls[];	  /* ends in the next */
extern const struct option options_of_programs[]; /* ends with name NULL */

/* The first row of a table, or of what is left of it; NULL: there is none. */
const struct option *option_row(const struct option *o) MUST_USE;

/* Options of every command; ends with name NULL. */
extern const struct option args_common[];

struct args_option {
	const char *name;  /* name of the row, static */
	const char *value; /* word of argv, `~` expanded in a path; NULL: takes
			      none */
};

struct args {
	struct args_option *given; /* in order; owned */
	size_t n_given;
	char **positional; /* borrowed strings; array owned; ends in NULL */
	size_t n_positional;
	char **after;	    /* words behind "--", ends in NULL; NULL without */
	bool help;	    /* --help was given */
	struct arena arena; /* holds expanded values */
};

/*
 * Parse argv (argv[0] is the first word behind the command `name`). Options
 * may stand anywhere before "--"; "--name=value", "--name value", "-n value",
 * "-nvalue", and letters without a value in one word. -q, -v and --json take
 * effect at once. argv is only read.
 *
 * errors  ERR_USAGE with the nearest option
 */
int args_parse(const char *name, const struct option *options, int argc,
	       char **argv, struct args *ret, struct err *err) MUST_USE;
void args_release(struct args *a);
/* The last value of an option, "" for a flag that was given, or NULL. */
const char *args_get(const struct args *a, const char *name) MUST_USE;
bool args_has(const struct args *a, const char *name) MUST_USE;
/* Values of a repeated option; items borrowed, array in `arena`. */
struct strlist args_all(const struct args *a, const char *name,
			struct arena *arena) MUST_USE;
/*
 * The row of an option, of `options` or of args_common; NULL: unknown.
 *
 * letter  of the short form; '\0': by its name
 */
const struct option *args_find(const struct option *options, struct str name,
			       char letter) MUST_USE;

/* Set cli_json_errors when --json stands before "--". */
void args_find_json(int argc, char **argv);
/* An argument asked for JSON: main prints errors as JSON, too. */
extern bool cli_json_errors;

/*
 * Set ERR_USAGE: `--NAME: "TEXT" is not WANT`. Returns -1.
 * want  "a size; use for example 512MiB"
 */
int args_bad(const char *name, const char *text, const char *want,
	     struct err *err);

/*
 * Read an option that is a number from 1 to `max`; *ret stays without it.
 * errors  ERR_USAGE
 */
int args_count(const struct args *a, const char *name, unsigned max,
	       unsigned *ret, struct err *err) MUST_USE;

/*
 * Find the first word among the actions of a command.
 *
 * name        of the command
 * rows        n rows of `size` bytes; each begins with its word, a
 *             `const char *`
 * ret         number of the row
 * errors      ERR_USAGE with all actions and the nearest one
 */
int args_action(const struct args *a, const char *name, const void *rows,
		size_t n, size_t size, size_t *ret, struct err *err) MUST_USE;

struct args_meant {
	char text[256];
};
/* "; did you mean NAME?" with the nearest name, or "": ends a message. */
struct args_meant args_meant(struct str word, const char *const *names,
			     size_t n) MUST_USE;
/* args_meant() with a blank, or "; ": before the place where all names are. */
struct args_meant args_meant_or(struct str word, const char *const *names,
				size_t n) MUST_USE;

#endif
