#include "core/run/jobs.h"

#include "core/base/mem.h"

bool jobs_have_room(const struct jobs *j)
{
	return j->running < j->max;
}

void jobs_join(struct jobs *j, struct jobs_giver *g)
{
	j->giver =
		mem_realloc(j->giver, (j->n + 1) * sizeof(struct jobs_giver *));
	j->giver[j->n++] = g;
	j->has_news = true;
}

void jobs_leave(struct jobs *j, const struct jobs_giver *g)
{
	/* the place stays until the next time that all are asked */
	for (size_t i = 0; i < j->n; i++)
		if (j->giver[i] == g)
			j->giver[i] = NULL;
}
