/*
 * References of a routine: strings that stand for a value. There is one kind,
 * "$input.K" as a whole string of `args` or `params`: the value of -p K=V.
 *
 * Pure.
 */
#ifndef CORE_CONFIG_REFERENCES_H
#define CORE_CONFIG_REFERENCES_H

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/config/routine.h"

/* The K of "$input.K", or {NULL, 0}. */
struct str reference_input(struct str s) MUST_USE;

/*
 * Every K that a step of the routine refers to, once, in file order; also of
 * steps that are disabled. In `arena`.
 */
struct strlist references_inputs(const struct routine *r, struct arena *arena)
	MUST_USE;

/*
 * Warn of strings that look like a reference and are none: "hello $input.x",
 * "${input.x}", "$steps.a.output", one in `command`.
 *
 * root     the tree of a configuration
 * routine  of which one, and of its servers; NULL: all
 */
void references_check(const struct toml_value *root, const char *routine,
		      struct findings *findings);

#endif
