/*
 * TOML 1.0 text to a value tree, each value with its line and column.
 *
 * The one door to toml++, and the one C++ file of the program; nothing of C++
 * leaves it. The text is bounded first (LIMIT_CONFIG_*), because the packaged
 * toml++ recurses once per dotted part.
 *
 *	struct arena arena = ARENA_INIT;
 *	struct toml_value root;
 *	if (toml_parse(&arena, text, &root, err) < 0)
 *		return -1;
 *	... toml_get(&root, "routines") ...
 *	arena_release(&arena);
 */
#ifndef CORE_TOML_TOML_H
#define CORE_TOML_TOML_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum toml_type {
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOLEAN,
	TOML_DATETIME, /* also dates and times; text in .string */
	TOML_ARRAY,
	TOML_TABLE,
	TOML_NULL, /* of other formats; never of toml_parse() */
};

struct toml_member;

struct toml_value {
	enum toml_type type;
	uint32_t line, col; /* where the value begins, 1-based */
	union {
		struct str string; /* STRING, DATETIME (RFC 3339) */
		int64_t integer;
		double real;
		bool boolean;
		struct {
			struct toml_value *item;
			size_t n;
		} array;
		struct {
			struct toml_member *member; /* in file order */
			size_t n;
		} table;
	};
};

struct toml_member {
	const char *key;    /* ends in NUL; never contains NUL */
	uint32_t line, col; /* where the key begins */
	struct toml_value value;
};

/*
 * Everything that *ret_root points to lives in `arena`; `text` may go.
 *
 * errors  ERR_CONFIG with line and column; ERR_LIMIT for a bound
 */
int toml_parse(struct arena *arena, struct str text,
	       struct toml_value *ret_root, struct err *err) MUST_USE;

/* The value of a key, or NULL; `table` may be NULL or of another type. */
const struct toml_value *toml_get(const struct toml_value *table,
				  const char *key) MUST_USE;

/* "string", "integer", …; static. */
const char *toml_type_name(enum toml_type type) MUST_USE;

/*
 * Append the value as JSON. Floats that JSON lacks (nan, inf) become null,
 * dates their text.
 */
void toml_to_json(const struct toml_value *v, struct buf *out);

#endif
