/*
 * Parameters of a routine on the command line, for `run` and its like: options,
 * and what people see of those that a routine has.
 */
#ifndef CORE_CLI_PARAM_OPTIONS_H
#define CORE_CLI_PARAM_OPTIONS_H

#include "core/base/arena.h"
#include "core/cli/args.h"
#include "core/run/inputs.h"

/* Rows for a command's table of options. */
#define PARAM_OPTIONS                                                      \
	{"param", 'p', "NAME=VALUE",                                       \
	 "set the parameter \"$input.NAME\"; NAME:=JSON takes any JSON"},  \
	{                                                                  \
		"params", 0, "FILE",                                       \
			"read parameters, one JSON object; - is standard " \
			"input"                                            \
	}

/*
 * Read what the options give.
 *
 * ret     in `arena`
 * errors  ERR_USAGE, ERR_SYS  a file that cannot be read
 */
int param_options_read(const struct args *args, struct arena *arena,
		       struct inputs_given *ret, struct err *err) MUST_USE;

/*
 * Append the parameters of a routine for people, a line each below a heading;
 * nothing where it has none.
 *
 * path    of the file, for the error
 * errors  ERR_CONFIG  one that is declared is no usable schema
 */
int params_print(const char *path, const struct routine *r, struct buf *out,
		 struct err *err) MUST_USE;

/* Print those of the routine that a command names on stdout, for --help. */
void params_help(const struct args *args);
/* After the recipes of policies. */
void params_help_trace(const struct args *args);
/* The routine stands behind a word. */
void params_help_golden(const struct args *args);

#endif
