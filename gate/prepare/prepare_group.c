/*
 * The control group of a child, where there can be one.
 */
#include "core/base/fd.h"
#include "gate/prepare/inner.h"

void prepare_group(struct prepared *p)
{
	struct cgroups *pool = &p->gate->cgroups;
	const struct cgroup_want want = {p->policy.memory_bytes,
					 p->policy.processes};
	struct err err = ERR_INIT;

	/* groups are swept where they are made, folders only when needed */
	if (p->for_start && !p->gate->swept) {
		p->gate->swept = true;
		private_sweep();
	}
	cgroups_open(pool, NULL);
	memcpy(p->group_has, pool->has, sizeof(p->group_has));
	if (!p->for_start || !pool->n_trees)
		return;
	if (cgroups_take(pool, &want, &p->group, &err) == 0 &&
	    cgroup_doors(pool, p->group, &p->launch.fd[FD_GROUP], &err) == 0) {
		p->launch.has_group_folder = pool->is_unified;
		return;
	}
	/* the facts then say that there is none */
	for (int i = FD_GROUP; i <= FD_GROUP_LAST; i++)
		fd_closep(&p->launch.fd[i]);
	cgroups_give(pool, p->group);
	p->group = NULL;
	p->group_has[CGROUP_MEMORY] = p->group_has[CGROUP_PIDS] = false;
}

const char *prepared_group_text(struct prepared *p)
{
	return p->gate->cgroups.is_unified ? "control group (version 2)"
					   : "control group (version 1)";
}

const char *prepared_no_group(struct prepared *p)
{
	return *p->gate->cgroups.why ? p->gate->cgroups.why
				     : "none could be made";
}
