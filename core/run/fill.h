/*
 * Arguments of a step with the values of its references in their places.
 *
 * Pure. At the time of the plan where they refer to inputs alone, else when it
 * is the step's turn.
 */
#ifndef CORE_RUN_FILL_H
#define CORE_RUN_FILL_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/run/values.h"
#include "core/toml/toml.h"

/* Where a text of the command line stands in the arguments. */
struct fill_input {
	struct str pointer; /* JSON pointer of the value */
	struct str text;    /* as it was given */
	size_t at, n;	    /* place in the JSON, bytes */
};

struct fill_params {
	struct str json; /* the arguments: an object, n = 0 without params */
	struct fill_input *item;
	size_t n;
	bool has_data; /* a server or a program may have made a part */
};

/*
 * Write a table of the configuration as JSON. A reference as a whole string
 * becomes the value as it was written, texts have the text of theirs.
 *
 * params  NULL: there are none
 * errors  as values_find()
 */
int fill_params(const struct toml_value *params, const struct values *v,
		struct arena *arena, struct fill_params *ret, struct err *err)
	MUST_USE;

/* Values that a server or a program may have made, in a text. */
enum fill_data { FILL_NONE, FILL_INSIDE, FILL_FIRST };

/*
 * Write a text with the values of its references; a whole reference gives the
 * text of the value.
 *
 * ret       in `arena`; a slice of `text` where that has no reference
 * ret_data  whether a server or a program may have made it
 * errors    as values_find()
 */
int fill_text(struct str text, const struct values *v, struct arena *arena,
	      struct str *ret, enum fill_data *ret_data, struct err *err)
	MUST_USE;

/* Will a text hold such values? */
bool fill_has_data(struct str text, const struct values *v, struct arena *arena)
	MUST_USE;

/*
 * Write arguments again, with the inputs at these places as strings: the schema
 * of the tool refused what -p gave when it was typed as JSON.
 *
 * pointers  JSON pointers; those of no input do not count
 * returns   {NULL, 0}: nothing is another value than before
 */
struct str fill_as_text(const struct fill_params *a,
			const struct strlist *pointers, struct arena *arena)
	MUST_USE;

#endif
