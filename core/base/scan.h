/*
 * JSON of peers: validated once, then read in slices, never copied or changed.
 *
 * A scan proves that a text is RFC 8259 JSON in UTF-8 within bounds; after
 * that the functions below walk it without further checks. Numbers keep their
 * text, strings their escapes, objects their order and duplicate keys, so a
 * slice can be written out byte for byte as it came.
 *
 *	struct str value, content;
 *	if (scan_document(text, NULL, &value, err) < 0)
 *		return -1;
 *	if (scan_get(value, "content", &content) && ...)
 *
 * Scanning builds nothing. core/base/jw.h writes, core/base/jdoc.h makes a
 *tree.
 */
#ifndef CORE_BASE_SCAN_H
#define CORE_BASE_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum scan_type {
	SCAN_NULL,
	SCAN_FALSE,
	SCAN_TRUE,
	SCAN_NUMBER,
	SCAN_STRING,
	SCAN_ARRAY,
	SCAN_OBJECT,
};

struct scan_limits {
	uint32_t depth;	  /* nesting of arrays and objects */
	uint32_t members; /* of one array or object */
};

/*
 * Prove that `text` is exactly one JSON value with optional white space
 * around it, and give its slice.
 *
 * limits   NULL means LIMIT_JSON_DEPTH and LIMIT_JSON_MEMBERS for objects
 * errors   ERR_SYNTAX with the line and column of the first bad byte,
 *          ERR_LIMIT for a bound
 * source   RFC 8259
 */
int scan_document(struct str text, const struct scan_limits *limits,
		  struct str *ret_value, struct err *err) MUST_USE;

/*
 * Prove one value at the start of `text` (after white space) and give its
 * slice; what follows is left unread. Errors as above.
 */
int scan_value(struct str text, const struct scan_limits *limits,
	       struct str *ret_value, struct err *err) MUST_USE;

/* Members of an object that scan_members() keeps. */
#define SCAN_MEMBERS 8

struct scan_member {
	struct str key; /* with its quotes */
	struct str value;
};

/* Members of a proved object, in their order: the first SCAN_MEMBERS of n. */
struct scan_members {
	size_t n; /* 0 for what is no object */
	struct scan_member item[SCAN_MEMBERS];
};

/*
 * scan_document() that notes the members of the outermost object on its way:
 * who reads them by scan_iter_noted() does not walk the text once more.
 */
int scan_members(struct str text, struct str *ret_value,
		 struct scan_members *ret_members, struct err *err) MUST_USE;

/* From here on: slices that were proved by the functions above. */

MUST_USE static inline enum scan_type scan_type(struct str value)
{
	switch (value.p[0]) {
	case 'n':
		return SCAN_NULL;
	case 'f':
		return SCAN_FALSE;
	case 't':
		return SCAN_TRUE;
	case '"':
		return SCAN_STRING;
	case '[':
		return SCAN_ARRAY;
	case '{':
		return SCAN_OBJECT;
	default:
		return SCAN_NUMBER;
	}
}

struct scan_iter {
	struct str rest; /* not yet walked */
	bool is_object;
	struct str key;	  /* of the current member, with its quotes */
	struct str value; /* of the current member or element */
	/* of those that were noted; borrowed, NULL: walk the text */
	const struct scan_member *noted, *noted_end;
};

/* Walk an array or object; any other value walks as empty. */
void scan_iter_init(struct scan_iter *it, struct str value);
/* for (struct scan_iter it = scan_over(value); scan_next(&it);) */
struct scan_iter scan_over(struct str value) MUST_USE;
/* Behind the value that begins at p, in a proved text up to `end`. */
const char *scan_after(const char *p, const char *end) MUST_USE;
/* Index of the members of this very value, or NULL: none was made. */
void scan_iter_noted(struct scan_iter *it, struct str value,
		     const struct scan_members *members);
/* True: key and value are set. False: there are no more. */
bool scan_next(struct scan_iter *it) MUST_USE;
/* Members of an array or object; 0 for others. */
size_t scan_count(struct str value) MUST_USE;

/*
 * The member of an object by its decoded name; the last one counts when it
 * is there more than once. False when absent or `value` is no object.
 */
bool scan_get(struct str value, const char *name, struct str *ret_value)
	MUST_USE;
/* scan_get() to which a member that is null counts as absent. */
bool scan_get_some(struct str value, const char *name, struct str *ret_value)
	MUST_USE;

/* Value of a member, {NULL, 0} when absent or null. */
struct str scan_some(struct str value, const char *name) MUST_USE;
/* A member that is true, and nothing else. */
bool scan_true(struct str value, const char *name) MUST_USE;
/* String member with its quotes, {NULL, 0} when absent or of another type. */
struct str scan_text(struct str value, const char *name) MUST_USE;
/* Member by a name that may hold NUL, {NULL, 0} when absent; the last counts.
 */
struct str scan_named(struct str value, struct str name) MUST_USE;

/* scan_is() of a string with escapes. */
bool scan_decoded_is(struct str string, const char *text) MUST_USE;

/* The decoded string equals `text`; false when `value` is no string. */
MUST_USE static inline bool scan_is(struct str value, const char *text)
{
	size_t n = strlen(text);

	if (value.n < n + 2 || value.p[0] != '"')
		return false;
	/* an escape is longer than what it stands for */
	if (value.n == n + 2)
		return memcmp(value.p + 1, text, n) == 0 &&
		       !memchr(text, '\\', n);
	return memchr(value.p, '\\', value.n) && scan_decoded_is(value, text);
}
/*
 * Append the decoded string. \u0000 becomes a NUL byte, a lone surrogate
 * U+FFFD. False (nothing appended) when `value` is no string or over the
 * ceiling of `out`.
 */
bool scan_string(struct str value, struct buf *out);
/*
 * scan_string() cut before the first character that would need more than `max`
 * bytes of the JSON text, and then ended in "…"; for what is only shown.
 */
bool scan_string_cut(struct str value, size_t max, struct buf *out);
/* Decoded string, cut like that, in `arena`; "" when `value` is no string. */
struct str scan_decoded(struct str value, size_t max, struct arena *arena)
	MUST_USE;
/* An integer without fraction or exponent that fits. */
bool scan_int64(struct str value, int64_t *ret) MUST_USE;

/*
 * The slice without insignificant white space, keys and numbers as they are;
 * for a message that must stand on one line.
 */
void scan_compact(struct str value, struct buf *out);

#endif
