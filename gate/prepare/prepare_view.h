/*
 * View of a child: private places, grants, protected and hidden paths, and the
 * Landlock rules; without namespaces private folders instead.
 */
#ifndef GATE_PREPARE_PREPARE_VIEW_H
#define GATE_PREPARE_PREPARE_VIEW_H

#include "gate/prepare/prepared.h"

/*
 * Fill .view, .rules, .home, .tmp and the setup list of .launch.
 *
 * errors  ERR_POLICY  a hidden or protected path cannot be kept so
 *	   ERR_LIMIT   too many places
 *	   ERR_SYS
 */
int prepare_view(struct prepared *p, struct err *err) MUST_USE;

/* Is the path beneath a private place of the view? */
bool view_replaces(const struct prepared *p, const char *path) MUST_USE;
/*
 * Is what the child finds at the path private, and gone with it? No grant is
 * put there, or above it in the private place.
 */
bool view_hides(const struct prepared *p, const char *path) MUST_USE;

#endif
