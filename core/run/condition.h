/*
 * Conditions of a routine: a value is judged by a JSON Schema, or by whether it
 * is there.
 *
 * Pure.
 */
#ifndef CORE_RUN_CONDITION_H
#define CORE_RUN_CONDITION_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/config/routine.h"
#include "core/report/report.h"
#include "core/toml/toml.h"

/*
 * Judge a value by what `when` or `expect` says of it.
 *
 * condition  a JSON Schema as a table; true: it is there; false: it is not
 * value      JSON; .p = NULL: it is not there
 * missing    a sentence for that
 * lists_all  every violation, not just the first
 * ret_is_open
 *	      there is no verdict: the schema is too much work
 * returns    what is broken, or why there is no verdict, in `arena`; NULL:
 *	      nothing is
 */
const char *condition_broken(const struct toml_value *condition,
			     struct str value, const char *missing,
			     bool lists_all, bool *ret_is_open,
			     struct arena *arena) MUST_USE;

/*
 * Judge the result of a step by its `expect`.
 *
 * returns  what is broken, in `arena`; NULL: nothing is
 */
const char *condition_unexpected(const struct step *step,
				 const struct report_step *result,
				 struct arena *arena) MUST_USE;

#endif
