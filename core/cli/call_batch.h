/*
 * Many calls in one session: lines {"tool":…,"arguments":{…}} in, one line
 * out for each, in their order: a CallToolResult or {"error":{…}}.
 *
 * A wrong line gets an error line with its number, and the rest goes on. An
 * answer is printed as soon as it is its turn; a few answers more than calls in
 * flight are kept. Tools are listed again when the server says that they have
 * changed, or a call shows it.
 */
#ifndef CORE_CLI_CALL_BATCH_H
#define CORE_CLI_CALL_BATCH_H

#include "core/cli/content_show.h"
#include "core/cli/target.h"
#include "core/cli/tool_say.h"

struct batch_options {
	const char *path;	     /* "-" is stdin */
	unsigned jobs;		     /* calls in flight, at least 1 */
	enum tool_rigour rigour;     /* for arguments */
	struct listing *tools;	     /* taken; NULL: not known */
	struct content_files *files; /* files of --save */
};

/* Outcomes of all lines. */
struct batch_counts {
	uint64_t lines, tool_errors, errors;
};

/*
 * returns  0 when every line of the file has its answer
 * errors   ERR_USAGE, ERR_SYS  the file cannot be read, stdout not written
 */
int call_batch(struct target *t, const struct batch_options *o,
	       struct batch_counts *ret, struct err *err) MUST_USE;

#endif
