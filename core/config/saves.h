/*
 * Files that steps save: `save` of a step, in the folder `out` of its routine.
 *
 * Pure.
 */
#ifndef CORE_CONFIG_SAVES_H
#define CORE_CONFIG_SAVES_H

#include "core/config/findings.h"
#include "core/config/routine.h"

/*
 * Judge the name of a file: relative, a slash between folders and it.
 *
 * returns  what is wrong with it, for people; NULL: nothing. Static
 */
const char *saves_name_refused(struct str name) MUST_USE;

/*
 * Find what needs no run to be wrong: no `out`, names that lead elsewhere or
 * are those of other steps, steps and routines that would save the same files
 * over and over.
 */
void saves_check(const struct config *c, const struct routine *r,
		 struct findings *findings);

/* Does the absolute path lie in a folder that a routine makes for its files? */
bool saves_will_make(const struct config *c, const char *path) MUST_USE;

#endif
