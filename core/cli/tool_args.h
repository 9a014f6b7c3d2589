/*
 * Arguments as people write them, as one JSON object:
 *
 *	name=text	typed as the schema says; a string where it says nothing
 *	name:=JSON	as it stands
 *	name=@FILE	the text of a file; name:=@FILE the JSON in it; "@-" is
 *			standard input
 *	--args JSON|@FILE|-	the whole object; single names win over it
 *
 * A name that is given twice makes an array where the schema wants one.
 */
#ifndef CORE_CLI_TOOL_ARGS_H
#define CORE_CLI_TOOL_ARGS_H

#include "core/base/arena.h"
#include "core/cli/args.h"

/*
 * Read the words behind the first one, and --args; or those of an option.
 *
 * option  takes one word, and may repeat; NULL: the words of the command
 * schema  of the arguments; {NULL, 0} without
 * ret     JSON object in `arena`; {NULL, 0} when nothing was given
 * errors  ERR_USAGE
 */
int tool_args_read(const struct args *args, const char *option,
		   struct str schema, struct arena *arena, struct str *ret,
		   struct err *err) MUST_USE;

#endif
