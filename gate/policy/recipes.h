/*
 * The table of recipes, recipes.def, as data.
 *
 * Pure: opens nothing.
 */
#ifndef GATE_POLICY_RECIPES_H
#define GATE_POLICY_RECIPES_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Columns of a row; words stand in one text, apart by spaces. */
struct recipe {
	const char *name;
	const char *markers, *exec, *folders, *read;
	const char *help;
};

/* Word of `preset` that leaves out what would apply by itself. */
#define RECIPE_NONE "none"

/* The rows; the last one has no name. */
extern const struct recipe RECIPES[];

/* Find a row by its name; NULL: there is none. */
const struct recipe *recipe_find(const char *name) MUST_USE;

/*
 * Check the names of `preset`.
 * errors  ERR_POLICY with the nearest
 */
int recipes_check(const struct strlist *names, struct err *err) MUST_USE;

#endif
