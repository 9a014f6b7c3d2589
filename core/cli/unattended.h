/*
 * Environment of a program that a timer or cron starts: the variables of the
 * person's session are not there, but for those that say where things lie.
 */
#ifndef CORE_CLI_UNATTENDED_H
#define CORE_CLI_UNATTENDED_H

#include "core/base/arena.h"
#include "core/base/attr.h"

struct unattended {
	char **saved;	     /* the person's own; not ours */
	struct strlist kept; /* "NAME=VALUE" to be set by a timer or cron */
};

/* Have only these variables until unattended_end(); lists in the arena. */
void unattended_begin(struct unattended *u, struct arena *arena);
void unattended_end(struct unattended *u);

#endif
