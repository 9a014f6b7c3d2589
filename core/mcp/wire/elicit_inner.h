/*
 * What the files of elicitation share. Who is asked sees elicit.h.
 *
 *	elicit.c	 the question: its words, its fields
 *	elicit_check.c	 does a value fit its field?
 *	elicit_answer.c	 what a person types; the answer
 */
#ifndef CORE_MCP_WIRE_ELICIT_INNER_H
#define CORE_MCP_WIRE_ELICIT_INNER_H

#include "core/mcp/wire/elicit.h"

/* Texts that are shown, bytes of JSON text. */
#define ELICIT_SHOWN_BYTES (16 * 1024)

/*
 * "name: what"; always -1.
 * err  NULL: nobody wants to know why
 */
int elicit_bad(const struct elicit_field *f, struct err *err, const char *what);
/* Do two JSON strings stand for the same text? Neither being one: no. */
bool elicit_same(struct str a, struct str b) MUST_USE;

#endif
