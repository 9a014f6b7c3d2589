/*
 * Check of a tool's arguments by its inputSchema before the call, and of its
 * result by its outputSchema after it (TC-2, SC-3 to SC-6): the one verdict for
 * `call` and for steps. Callers print it and decide how to go on.
 *
 *	struct tool_check c;
 *	tool_check_init(&c, listing_find(&list, name)->json);
 *	if (!tool_check_arguments(&c, arguments, "arguments", &arena, &found))
 *		... found.violations ...
 *	tool_check_release(&c);
 */
#ifndef CORE_CLIENT_TOOL_CHECK_H
#define CORE_CLIENT_TOOL_CHECK_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/mcp/wire/listing.h"
#include "core/schema/schema.h"

/* One schema of a tool, compiled when it is needed first. */
struct tool_schema {
	struct schema *compiled; /* owned; NULL before, and when it is bad */
	bool tried;
	char *why; /* of a bad schema; owned */
};

struct tool_check {
	struct str tool; /* the object of tools/list; borrowed */
	struct tool_schema input, output;
};

/* All in the arena of the check; whole sentences of one line each. */
struct tool_findings {
	/* "arguments: /repo: is a number, must be a string" */
	struct strlist violations;
	struct strlist places; /* JSON pointers, one of each of these */
	size_t n_more;	       /* violations that were not kept */
	/* the first violation by which a required argument is missing; NULL:
	   none is */
	const char *missing;
	/* names that the schema does not know, but knows one much like them;
	   they may be allowed all the same */
	struct strlist hints;
	/* sentence about a schema that cannot be used, so that nothing was
	   checked; NULL: it can */
	const char *unusable;
	bool is_told; /* an earlier call had these findings, too */
};

/* tool  {NULL, 0}: the tool is not known, and nothing is checked */
void tool_check_init(struct tool_check *c, struct str tool);
void tool_check_release(struct tool_check *c);

/* Title of a tool, prompt or resource, for people: a JSON string of the server;
   {NULL, 0} without. */
struct str tool_title(struct str tool) MUST_USE;
/* The inputSchema; {NULL, 0} without. */
struct str tool_input_schema(struct str tool) MUST_USE;

/*
 * arguments  JSON object; {NULL, 0} for none
 * what       begins each sentence: "arguments", "line 3"
 * returns    false: there are violations
 */
bool tool_check_arguments(struct tool_check *c, struct str arguments,
			  const char *what, struct arena *arena,
			  struct tool_findings *ret) MUST_USE;

/* result  a CallToolResult; nothing is checked when it is an error (SC-4) */
bool tool_check_result(struct tool_check *c, struct str result,
		       struct arena *arena, struct tool_findings *ret) MUST_USE;

/* Append the findings as one sentence: an unusable schema, violations,
   hints. */
void tool_findings_say(const struct tool_findings *f, struct buf *out);

/* Does the tool say that calling it once more does no harm: is it read-only, or
   idempotent? */
bool tool_may_repeat(struct str tool) MUST_USE;

/* Must the tool be called as a task? (TK-2) */
bool tool_needs_task(struct str tool) MUST_USE;

/*
 * Say "no tool serach; did you mean search?", or list the names that exist.
 * what  "tool", "prompt"
 * why   follows the name where none is near; "" for nothing
 */
const char *tool_unknown(const struct listing *l, const char *what,
			 const char *name, const char *why, struct arena *arena)
	MUST_USE;

#endif
