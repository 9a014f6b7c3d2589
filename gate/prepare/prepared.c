#include "gate/prepare/prepared.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/fd.h"

void prepared_cap(struct prepared *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	list_add(&p->policy.capped, &p->arena,
		 arena_vprintf(&p->arena, fmt, ap));
	va_end(ap);
}

struct setup_place *prepared_add_place(struct prepared *p, const char *path)
{
	struct setup_view *v = &p->view;
	struct setup_place *more =
		arena_grow(&p->arena, v->places, v->n_places, sizeof(*more));

	more[v->n_places] = (struct setup_place){.path = path};
	v->places = more;
	return &more[v->n_places++];
}

int prepared_make_folder(const struct prepared *p, const char *folder,
			 struct err *err)
{
	struct stat st;
	int r;

	if (!p->for_start)
		return 0;
	/* a file may be there already */
	r = fd_mkdirs(folder, 0700) < 0 ? errno : EEXIST;
	if ((stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) ||
	    !grants_cover(&p->grants, folder, GRANT_WRITES))
		return 0;
	/* a folder that we may not make cannot be made by the program */
	if (r == EACCES || r == EROFS)
		return 0;
	return err_set(err, ERR_POLICY,
		       "write: %s belongs to matins itself, must exist so that "
		       "no program makes it, and cannot be made: %s; make it, "
		       "or grant less",
		       folder, strerror(r));
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
