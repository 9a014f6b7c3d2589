#include "gate/prepare/prepared.h"

#include <stdarg.h>
#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/place.h"

void prepared_cap(struct prepared *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	list_add(&p->policy.capped, &p->arena,
		 arena_vprintf(&p->arena, fmt, ap));
	va_end(ap);
}

static bool covers(struct prepared *p, const struct strlist *rows,
		   const char *path)
{
	for (size_t i = 0; i < rows->n; i++) {
		const char *real = resolve_links(rows->item[i], &p->arena);

		if (place_covers(real ? real : rows->item[i], path))
			return true;
	}
	return false;
}

bool prepared_writes(struct prepared *p, const char *path)
{
	return covers(p, &p->policy.write, path) ||
	       covers(p, &p->policy.write_only, path) ||
	       (p->policy.tmp_shared &&
		(place_covers("/tmp", path) || place_covers("/var/tmp", path)));
}

bool prepared_is_written(struct prepared *p, const char *path)
{
	return prepared_writes(p, path) ||
	       covers(p, &p->gate->config.written, path);
}

void prepared_release(struct prepared *p)
{
	resolved_release(&p->program);
	for (size_t i = 0; i < p->n_execs; i++)
		resolved_release(&p->execs[i]);
	for (size_t i = 0; i < p->n_exec_folders; i++)
		walk_release(&p->exec_folder[i].found);
	grants_release(&p->grants);
	landlock_rules_release(&p->rules);
	fd_closep(&p->launch.fd[FD_RULESET]);
	for (int i = FD_GROUP; i <= FD_GROUP_LAST; i++)
		fd_closep(&p->launch.fd[i]);
	cgroups_give(&p->gate->cgroups, p->group);
	if (p->private_dir)
		private_remove(p->private_dir);
	free(p->private_dir);
	arena_release(&p->arena);
}
