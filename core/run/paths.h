/*
 * Paths of a caller: made absolute, and where they lie. Both look at this
 * machine: the current folder, links on the way.
 */
#ifndef CORE_RUN_PATHS_H
#define CORE_RUN_PATHS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/outfile.h"
#include "core/base/str.h"
#include "core/routine/routine.h"

/* Is `path`, real, one of these folders or beneath one, links followed? */
bool path_is_beneath(const char *path, const struct strlist *folders) MUST_USE;

/* `path` made absolute; in `arena`, or as it is when it was before. */
const char *path_absolute(const char *path, struct arena *arena) MUST_USE;

/*
 * A link that a confined program may have made leads a result to no place
 * that the program could not write itself.
 *
 * named   by the user, for the error
 * d       folder that it leads to
 * writes  folders that programs may write
 * errors  ERR_POLICY
 */
int path_check_links(const char *named, const struct outfolder *d,
		     const struct strlist *writes, struct err *err) MUST_USE;
/* That, for all folders that programs of a configuration may write. */
int path_check_links_of(const char *named, const struct outfolder *d,
			const struct config *config, struct err *err) MUST_USE;

#endif
