/*
 * Arguments that a call lacks, asked for on the terminal by the schema of the
 * tool: lists of choices, members of objects, elements of arrays.
 */
#ifndef CORE_CLI_ASK_ARGS_H
#define CORE_CLI_ASK_ARGS_H

#include "core/cli/target.h"

/*
 * Ask for the required arguments that are not there, each until the answer is
 * of its type. A value beyond JSON's reach of questions is asked for as JSON.
 *
 * schema  of the arguments; {NULL, 0}: nothing is asked
 * args    JSON object, {NULL, 0} for none; replaced, in t->arena
 * errors  ERR_USAGE  nobody is at a terminal, or the input ended
 *	   ERR_PEER   a signal
 */
int ask_args(struct target *t, struct str schema, struct str *args,
	     struct err *err) MUST_USE;

#endif
