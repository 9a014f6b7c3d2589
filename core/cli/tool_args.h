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
#include "core/schema/schema.h"

/*
 * Read the words behind the first one, and --args.
 *
 * schema  of the arguments; {NULL, 0} without
 * ret     JSON object in `arena`; {NULL, 0} when nothing was given
 * errors  ERR_USAGE
 */
int tool_args_read(const struct args *args, struct str schema,
		   struct arena *arena, struct str *ret, struct err *err)
	MUST_USE;
/* Like tool_args_read(), for words of an option and without a schema. */
int tool_args_pairs(const struct strlist *words, struct arena *arena,
		    struct str *ret, struct err *err) MUST_USE;

#endif
