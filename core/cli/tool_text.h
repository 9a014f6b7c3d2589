/*
 * Tools, prompts and resources in words for people. All of it is a server's
 * text: without secrets, with control characters made visible.
 */
#ifndef CORE_CLI_TOOL_TEXT_H
#define CORE_CLI_TOOL_TEXT_H

#include "core/base/buf.h"
#include "core/mcp/wire/listing.h"
#include "core/secret/scrub.h"

/* Longest text of one line in a list. */
#define TEXT_LINE_CHARS 100

/* scrub  may be NULL, as of all below */
void text_show(const struct scrub *scrub, struct str text, bool keep_newlines,
	       struct buf *out);
/*
 * Append a JSON string of the server on one line.
 *
 * max      characters, cut with "…"; 0: all of it, with its lines
 * returns  false: there is none
 */
bool text_line(const struct scrub *scrub, struct str json, size_t max,
	       struct buf *out);
/*
 * Append " with a = 1, b = \"x\"" on the line: the first arguments of a call,
 * long values cut with "…", and the number of the others.
 *
 * json  object; {NULL, 0} or an empty one: nothing is appended
 */
void text_given(const struct scrub *scrub, struct str json, struct buf *out);
/* Append lines of a text, each behind `indent`. */
void text_indented(struct str text, const char *indent, struct buf *out);
/* Append the name, and the title where it says something else (TL-7). */
void text_head(const struct scrub *scrub, const struct listing_item *item,
	       struct buf *out);
/*
 * Append a line for each property of a schema.
 *
 * schema  {NULL, 0}: nothing is said
 * whole   with the descriptions
 */
void text_arguments(const struct scrub *scrub, struct str schema, bool whole,
		    struct buf *out);
/* Append the whole entry of one tool: what it takes and gives, its hints. */
void text_tool(const struct scrub *scrub, const struct listing_item *item,
	       struct buf *out);

#endif
