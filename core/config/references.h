/*
 * References of a whole file: the inputs that a routine has, and strings that
 * look like a reference and are none. core/config/ref.h reads one,
 * core/config/flow.h those of a routine.
 *
 * Pure.
 */
#ifndef CORE_CONFIG_REFERENCES_H
#define CORE_CONFIG_REFERENCES_H

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/config/ref.h"
#include "core/config/routine.h"

/* Stands in references_inputs() for "$input", which is all of them. */
#define REFERENCES_ALL ""

/* Called with each reference of a step, as often as it stands there. */
typedef void references_each(void *arg, const struct ref *ref);

/* Tell the references of one step, in the order of its keys. */
void references_of_step(const struct step *s, references_each *each, void *arg);
/*
 * Every K that a step of the routine refers to, once, in file order; also of
 * steps that are disabled. In `arena`.
 */
struct strlist references_inputs(const struct routine *r, struct arena *arena)
	MUST_USE;

/*
 * Warn of strings that look like a reference and are none: "hello $input.x",
 * "${input.x}", one in `command`.
 *
 * root     the tree of a configuration
 * routine  of which one, and of its servers; NULL: all
 */
void references_check(const struct toml_value *root, const char *routine,
		      struct findings *findings);

#endif
