/*
 * One name for a tool among those of many servers: mcp__SERVER__TOOL.
 *
 * Models take names of letters, digits, "_" and "-", of at most
 * MERGED_NAME_BYTES. A name that would break that rule, or could be another
 * tool's as well, or looks as if it had a hash, is cut and ends in a hash of
 * both parts. So a name without a hash can be read back: the server ends at
 * the first "__".
 *
 *	char name[MERGED_NAME_BYTES + 1];
 *	merged_name(server, tool, name);
 *
 * Pure.
 */
#ifndef CORE_MCP_WIRE_MERGED_NAME_H
#define CORE_MCP_WIRE_MERGED_NAME_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/str.h"

/* Source: function names of OpenAI's chat completions; others allow more. */
#define MERGED_NAME_BYTES 64

/* Write the name and its NUL. */
void merged_name(struct str server, struct str tool,
		 char out[MERGED_NAME_BYTES + 1]);
/* Write HEAD and a name, with a hash by the same rule. */
void headed_name(const char *head, struct str name,
		 char out[MERGED_NAME_BYTES + 1]);
/* Read the tool out of the name of one of this server's tools; false: it is
   no such name, or has a hash. */
bool merged_name_tool(struct str name, struct str server, struct str *ret_tool)
	MUST_USE;

/* Can a command line, or advice, hold the name of a tool as it is: letters,
   digits and "_-./:"? */
bool tool_name_is_word(struct str name) MUST_USE;

#endif
