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

/*
 * Write a text with the values of its references; a whole reference gives the
 * text of the value.
 *
 * ret_from_data  NULL, or whether the text begins with a value that is no
 *		  input: a server or program may have made it
 * errors         as values_find()
 */
int fill_text(struct str text, const struct values *v, struct arena *arena,
	      struct str *ret, bool *ret_from_data, struct err *err) MUST_USE;

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
