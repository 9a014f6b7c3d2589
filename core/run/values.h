/*
 * The values that references of a routine stand for: inputs of the command
 * line, results of steps that have ended, facts of the run.
 *
 * Pure. What a reference gives is a slice of what is kept: nothing is parsed
 * into numbers or strings and written again.
 */
#ifndef CORE_RUN_VALUES_H
#define CORE_RUN_VALUES_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/config/ref.h"
#include "core/report/report.h"

/* A parameter. */
struct input {
	struct str name;
	struct str text; /* of -p NAME=TEXT, its type unknown; else p = NULL */
	struct str json; /* value where there is no text */
	bool is_given;	 /* false: the default of a declared one */
};

/* A result, or {NULL}: of a step that has not ended, or an unknown one. */
typedef const struct report_step *values_step(void *arg, enum ref_root root,
					      struct str name);

/* Outputs that were read as JSON, for who refers to them many times. */
struct values_read {
	struct arena arena; /* arena_release() it */
	struct values_output {
		const struct report_step *of;
		struct str json; /* p is NULL: it is none */
		struct values_output *next;
	} * first;
};

struct values {
	struct input *input;
	size_t n_inputs;
	bool is_optional;   /* an input that is missing is null */
	bool is_data;	    /* a step gave the inputs, from what others made */
	bool is_lenient;    /* a path that is not there is VALUES_ABSENT */
	bool is_judged;	    /* by `when`, which may ask for what is not there */
	bool has_no_record; /* of runs: no ledger can be opened */
	const char *step;   /* reader of the values; in messages */
	values_step *find;  /* NULL: before the run */
	/* Object behind $run. */
	struct str (*run)(void *arg);
	void *arg;		  /* of both */
	struct values_read *read; /* NULL: each output is read anew */
	struct str item;	  /* element of `foreach`; p is NULL without */
	size_t index;		  /* of it */
	bool owns_item;		  /* the person gave the elements */
};

/* The input of a name, the last one where it is given twice; NULL: none. */
const struct input *values_input(const struct values *v, struct str name)
	MUST_USE;
/*
 * The text of an input that a reference names as a whole; a value of -p whose
 * type nothing says is passed as text where a text is wanted.
 * returns  {NULL, 0}: it names none, or goes on into it, or has a type
 */
struct str values_text(const struct values *v, const struct ref *ref) MUST_USE;

/* Nothing is there; the value is null, its text empty. */
enum { VALUES_ABSENT = 1 };

/*
 * Find the value of a reference as JSON.
 *
 * ret     in `arena`, or borrowed from a result
 * returns 0, or VALUES_ABSENT
 * errors  ERR_USAGE    an input without -p
 *	   ERR_UNKNOWN  a path that is not there: what is there instead
 */
int values_find(const struct values *v, const struct ref *ref,
		struct arena *arena, struct str *ret, struct err *err) MUST_USE;

/*
 * Find what a path leads to in the result of a step: "$.json.n", or the path
 * behind "$steps.NAME".
 *
 * ret     in `arena`, or borrowed from the result
 * errors  ERR_UNKNOWN  the path is not there: what is there instead
 */
int values_of_result(const struct report_step *s, const struct ref *ref,
		     struct arena *arena, struct str *ret, struct err *err)
	MUST_USE;

#endif
