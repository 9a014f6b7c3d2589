/*
 * References: strings of a routine that stand for a value of its run.
 *
 *	"$steps.list.json.items[0]"	as a whole string: that value
 *	"{{input.owner}} on {{run.date}}"  a text with the text of values in it
 *	"$$HOME"  "{{{{.ID}}"		the literal texts $HOME and {{.ID}}
 *
 * A path goes on with .key, ["any key"], [3] and, from the end, [-1]. Strings
 * that begin otherwise are themselves: "$5", "{{.ID}}" of other programs.
 *
 * Pure. Values are JSON texts that core/base/scan.h has proved; a value that is
 * found is a slice of them, so that it can be written byte for byte.
 */
#ifndef CORE_CONFIG_REF_H
#define CORE_CONFIG_REF_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* The values that a path may begin with. */
#define REF_ROOTS(X)            \
	X(INPUT, "input")       \
	X(STEPS, "steps")       \
	X(ITEM, "item")         \
	X(INDEX, "index")       \
	X(RUN, "run")           \
	X(PREVIOUS, "previous") \
	X(SELF, "") /* "$.a": the result that is judged; ref_read_self() */

enum ref_root {
#define X(name, word) REF_##name,
	REF_ROOTS(X)
#undef X
};

struct ref {
	enum ref_root root;
	struct str step; /* decoded name of REF_STEPS and REF_PREVIOUS */
	struct str head; /* as written, up to where the path begins */
	struct str path; /* as written; n = 0: the whole value */
};

/* A literal text, or a reference; .text.p is NULL then. */
struct ref_part {
	struct str text;
	struct ref ref;
};

/* A string in its parts: literals and references in turn. */
struct ref_string {
	struct ref_part *part; /* in the arena */
	size_t n;	       /* 0 for the empty string */
	bool is_whole;	       /* part[0] is a reference, and all there is */
	bool has_refs;
};

/*
 * Read a string of a routine; literals and the step's names lie in `arena` or
 * are slices of s.
 *
 * errors  ERR_SYNTAX  a reference that is begun and not well-formed, with the
 *	   column in err->col
 */
int ref_read(struct str s, struct arena *arena, struct ref_string *ret,
	     struct err *err) MUST_USE;

/* Read "$", "$.path" or "$[0]", a path into one result. Errors as above. */
int ref_read_self(struct str s, struct ref *ret, struct err *err) MUST_USE;

/*
 * Follow the path of a reference in the value of its root, or of its step.
 *
 * ret     slice of value
 * errors  ERR_UNKNOWN  the path is not there: a sentence that says what is
 *	   there instead
 */
int ref_follow(const struct ref *r, struct str value, struct str *ret,
	       struct err *err) MUST_USE;

/* The first key of the path of a reference, decoded, in `arena`; {NULL, 0}:
   there is none. */
struct str ref_first_key(const struct ref *r, struct arena *arena) MUST_USE;

/* The reference without that key, for the value that it leads to. */
struct ref ref_behind(const struct ref *r) MUST_USE;

/* Append the text of a value: a string as it is, else compact JSON. */
void ref_add_text(struct str value, struct buf *out);
/* ref_add_text() inside the quotes of a JSON string; escapes stay as written.
 */
void ref_add_quoted(struct str value, struct buf *out);

#endif
