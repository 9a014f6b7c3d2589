/*
 * The tables of recipes.def as data: what programs are known to need.
 *
 * Pure: opens nothing.
 */
#ifndef GATE_POLICY_RECIPES_H
#define GATE_POLICY_RECIPES_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* The columns of a row; words stand in one text, apart by spaces. */
struct recipe {
	const char *name, *programs, *subcommands;
	enum {
		RECIPE_NOTHING,
		RECIPE_NAMED,
		RECIPE_PROJECT,
		RECIPE_SCRIPT,
		RECIPE_ARGUMENT,
		RECIPE_STARTED,
		RECIPE_WORD
	} finds;
	const char *markers, *at, *made;
	const char *exec, *folders, *read, *env, *says;
	const char *help;
};

/* Word of `preset` that leaves out what would apply by itself. */
#define RECIPE_NONE "none"

/* The rows; the last one has no name. */
extern const struct recipe RECIPES[];

/* The first operand of a call that names one: "install" of npm; or NULL. */
const char *recipe_operand(const struct strlist *argv) MUST_USE;

/*
 * Value of the option `at` before the operands: of git -C REPO status, REPO.
 * NULL where there is none.
 */
const char *recipe_place(const struct recipe *r, const struct strlist *argv)
	MUST_USE;

/*
 * Folders of programs that a program starts itself, beside its own folder;
 * NULL: none.
 *
 * path  by which the program was found
 */
const char *recipe_helpers(const char *path) MUST_USE;

/*
 * Check the names of `preset`.
 * errors  ERR_POLICY with the nearest
 */
int recipes_check(const struct strlist *names, struct err *err) MUST_USE;

#endif
