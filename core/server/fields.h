/*
 * Arguments and results of a tool as a table: the JSON Schema that clients see
 * is printed from it, and arguments are validated by that schema, so the two
 * cannot drift apart.
 *
 *	static const struct field input[] = {
 *		{0, FIELD_STRINGS, 0, 64, "paths", "folders to look at"},
 *		{0, FIELD_OBJECTS, 0, 99, "items", "what is due"},
 *		{1, FIELD_STRING,  1, 0,  "title", "what it is"},
 *		FIELD_END};
 *
 * Rows with a greater depth are members of the row above them.
 */
#ifndef CORE_SERVER_FIELDS_H
#define CORE_SERVER_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/base/str.h"

enum field_type {
	FIELD_STRING,  /* without NUL */
	FIELD_DATE,    /* string, YYYY-MM-DD */
	FIELD_INTEGER, /* 64 bits */
	FIELD_NUMBER,
	FIELD_BOOLEAN,
	FIELD_OBJECT,  /* members follow, one deeper */
	FIELD_STRINGS, /* array of FIELD_STRING */
	FIELD_OBJECTS, /* array of objects; their members follow */
};

struct field {
	uint8_t depth;
	enum field_type type;
	bool required;
	uint32_t max; /* elements of an array at most; 0 = no bound */
	const char *name;
	const char *help;
};

#define FIELD_END                      \
	{                              \
		0, 0, 0, 0, NULL, NULL \
	}

/*
 * Write the JSON Schema of an object with these fields, as the next value.
 *
 * The schema carries no "$schema": without one the dialect is 2020-12, and
 * clients whose validator knows another one by default refuse what they cannot
 * name. source   MCP 2025-11-25, basic, "JSON Schema Usage"
 */
void fields_schema(const struct field *fields, struct jw *w);

/*
 * Validate arguments by the schema of the table.
 *
 * value    a proved JSON value
 * errors   ERR_USAGE  names the argument by its JSON pointer, and the nearest
 *		       name for an unknown one
 */
int fields_check(const struct field *fields, struct str value, struct err *err)
	MUST_USE;

/* Arguments that passed fields_check(), as C strings in `arena`. */

/* NULL when absent. */
const char *fields_string(struct str object, const char *name,
			  struct arena *arena) MUST_USE;
/* Empty when absent. */
struct strlist fields_strings(struct str object, const char *name,
			      struct arena *arena) MUST_USE;

#endif
