/*
 * Arguments of a tool against its inputSchema before the call, what came back
 * against its outputSchema after it (TC-2, SC-3 to SC-6).
 *
 * Every violation is one warning with its JSON pointer; with `strict` they
 * are errors. A schema that cannot be used is said, and checks nothing.
 */
#ifndef CORE_CLI_TOOL_CHECK_H
#define CORE_CLI_TOOL_CHECK_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/base/str.h"
#include "core/schema/schema.h"

/* One schema of a tool, compiled when it is needed first. */
struct tool_schema {
	struct schema *compiled; /* owned; NULL before, and when it is bad */
	bool tried;
};

struct tool_check {
	struct str tool; /* the object of tools/list; borrowed */
	bool strict;
	struct tool_schema input, output;
};

/* tool  {NULL, 0}: it is not known, and nothing is checked */
void tool_check_init(struct tool_check *c, struct str tool, bool strict);
void tool_check_release(struct tool_check *c);

/* The inputSchema; {NULL, 0} without. */
struct str tool_input_schema(struct str tool) MUST_USE;

/*
 * arguments  JSON object; {NULL, 0} for none
 * what       begins each line: "arguments", "line 3"
 * errors     ERR_SYNTAX  when strict, with the first violation; the others
 *			  were printed
 */
int tool_check_arguments(struct tool_check *c, struct str arguments,
			 const char *what, struct err *err) MUST_USE;

/* result  a CallToolResult; nothing is checked when it is an error (SC-4) */
int tool_check_result(struct tool_check *c, struct str result, struct err *err)
	MUST_USE;

/* Must it be called as a task? (TK-2) */
bool tool_needs_task(struct str tool) MUST_USE;

#endif
