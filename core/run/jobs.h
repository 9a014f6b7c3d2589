/*
 * One limit for all that runs side by side in a process, and everybody who has
 * something to begin: the walk over a plan, and whatever a step is made of.
 *
 *	jobs_join(&jobs, &giver);
 *	while (work is left)
 *		(jobs_begin(&jobs) ? loop_look : loop_turn)(&loop, err)
 */
#ifndef CORE_RUN_JOBS_H
#define CORE_RUN_JOBS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/attr.h"

struct jobs_giver {
	/* Begin one thing at most; true: more can begin at once. */
	bool (*begin)(void *arg);
	void *arg;
};

struct jobs {
	unsigned max, running;	   /* programs and calls */
	bool has_news;		   /* something ended: others may begin */
	struct jobs_giver **giver; /* the caller frees it */
	size_t n;
};

/* Report whether one more may run. */
bool jobs_have_room(const struct jobs *j) MUST_USE;
/* The giver is borrowed until it leaves; during jobs_begin(), too. */
void jobs_join(struct jobs *j, struct jobs_giver *g);
void jobs_leave(struct jobs *j, const struct jobs_giver *g);

#endif
