#include "gate/prepare/prepared.h"

#include <limits.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/place.h"

void prepared_cap(struct prepared *p, const char *fmt, ...)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	va_list ap;

	va_start(ap, fmt);
	log_visible(&shown, str_of(arena_vprintf(&p->arena, fmt, ap)), false);
	va_end(ap);
	list_add(&p->policy.capped, &p->arena,
		 arena_strdup(&p->arena, buf_cstr(&shown)));
}

void prepared_leave(struct prepared *p, const char *arg)
{
	const char *cwd = p->request->cwd;
	char real[PATH_MAX];

	if (strncmp(arg, "..", 2) == 0 && cwd && realpath(cwd, real))
		p->left_cwd = arena_strdup(&p->arena, real);
}

/* Does a row cover the path, and not `beside`, where that is a path? */
static bool covers(struct prepared *p, const struct strlist *rows,
		   const char *path, const char *beside)
{
	for (size_t i = 0; i < rows->n; i++) {
		const char *real = resolve_links(rows->item[i], &p->arena);
		const char *row = real ? real : rows->item[i];

		if (place_covers(row, path) &&
		    !(beside && place_covers(row, beside)))
			return true;
	}
	return false;
}

bool prepared_writes(struct prepared *p, const char *path, const char *beside,
		     enum writers who)
{
	const struct strlist tmp = STRLIST("/tmp", "/var/tmp");

	return covers(p, &p->policy.write, path, beside) ||
	       covers(p, &p->policy.write_only, path, beside) ||
	       (p->policy.tmp_shared && covers(p, &tmp, path, beside)) ||
	       (who == BY_ANY_PROGRAM &&
		covers(p, &p->gate->config.written, path, beside));
}

void prepared_close_doors(struct prepared *p)
{
	/* descriptors that the child opens are of the pool */
	for (int i = FD_GROUP; !p->launch.group_door && i <= FD_GROUP_LAST; i++)
		fd_closep(&p->launch.fd[i]);
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
	prepared_close_doors(p);
	cgroups_give(&p->gate->cgroups, p->group);
	if (p->private_dir)
		private_remove(p->private_dir);
	free(p->private_dir);
	arena_release(&p->arena);
}
