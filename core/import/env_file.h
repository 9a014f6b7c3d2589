/*
 * Lines of a file of variables, which a client reads at each start.
 *
 * Readers of such files differ in where a line ends, in blanks, quotes and
 * colons. A variable that any of them may see is told; a line that they read in
 * different ways is not clear. Pure.
 *
 *	env_file_begin(&text);
 *	while (env_file_next(&text, &line)) …
 */
#ifndef CORE_IMPORT_ENV_FILE_H
#define CORE_IMPORT_ENV_FILE_H

#include "core/base/attr.h"
#include "core/base/str.h"

struct env_line {
	bool is_clear;	  /* all readers agree on it */
	struct str name;  /* n = 0: no variable, or, where it is not clear,
			     maybe one of any name */
	struct str value; /* without quotes */
};

/* Skip a byte order mark. */
void env_file_begin(struct str *text);
/* Cut the next line off; false: there is none. */
bool env_file_next(struct str *text, struct env_line *ret) MUST_USE;

#endif
