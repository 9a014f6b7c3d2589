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
 * errors  those of prepare_hidden.h and prepare_protected.h
 *	   ERR_SYS
 */
int prepare_view(struct prepared *p, struct err *err) MUST_USE;

/* Is the path beneath a private place of the view? */
bool view_replaces(const struct prepared *p, const char *path) MUST_USE;

#endif
