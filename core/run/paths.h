/*
 * Paths of a caller: made absolute, and where they lie. Both look at this
 * machine: the current folder, links on the way.
 */
#ifndef CORE_RUN_PATHS_H
#define CORE_RUN_PATHS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/* Is `path`, real, one of these folders or beneath one, links followed? */
bool path_is_beneath(const char *path, const struct strlist *folders) MUST_USE;

/* `path` made absolute; in `arena`, or as it is when it was before. */
const char *path_absolute(const char *path, struct arena *arena) MUST_USE;

#endif
