/*
 * Values of the command line in the arguments of a step: "$input.K" becomes
 * that of -p K=V.
 *
 *	plan_inputs_read(&given, step, arena, &a, err)	typed as JSON
 *	... the schema of the tool is known, and refuses what stands at `at`
 *	plan_inputs_as_text(&a, &at, arena)		as it was written
 */
#ifndef CORE_RUN_PLAN_INPUTS_H
#define CORE_RUN_PLAN_INPUTS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/config/routine.h"

/* The values that were given. */
struct plan_given {
	struct strlist params; /* "KEY=VALUE" of -p */
	bool is_optional;      /* one that is missing is null: for `doctor` */
};

/* Where a text of the command line stands in the arguments. */
struct plan_input {
	struct str pointer; /* JSON pointer of the value */
	struct str text;    /* as it was given */
	size_t at, n;	    /* its bytes in the JSON */
};

struct plan_inputs {
	struct str json; /* the arguments: an object, n = 0 without params */
	struct plan_input *item;
	size_t n;
};

/* errors  ERR_USAGE  there is no -p of that name */
int plan_input_value(const struct plan_given *given, const struct step *step,
		     struct str name, struct str *ret, struct err *err)
	MUST_USE;

/*
 * The arguments of a step. A text is typed as JSON when it parses.
 *
 * errors  ERR_USAGE  an "$input.K" without -p K=V
 */
int plan_inputs_read(const struct plan_given *given, const struct step *step,
		     struct arena *arena, struct plan_inputs *ret,
		     struct err *err) MUST_USE;

/*
 * Arguments once more, with the inputs at these places as strings.
 *
 * pointers  JSON pointers; those of no input do not count
 * returns   {NULL, 0}: nothing is another value than before
 */
struct str plan_inputs_as_text(const struct plan_inputs *a,
			       const struct strlist *pointers,
			       struct arena *arena) MUST_USE;

#endif
