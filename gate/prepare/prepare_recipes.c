#include "gate/prepare/prepare_recipes.h"

#include <unistd.h>

#include "gate/path/project.h"
#include "gate/policy/recipes.h"

static struct project find_project(struct prepared *p, const struct recipe *r)
{
	const struct strlist *const written[] = {
		&p->policy.write, &p->policy.write_only,
		&p->gate->config.written, NULL};
	const struct project_search search = {
		.from = p->request->cwd,
		.markers = r->markers,
		.homes = &p->gate->homes,
		.written = written,
	};

	return project_find(&search, &p->arena);
}

/* Add the words; behind `prefix` those files that are there. */
static void add_words(struct prepared *p, const char *words, const char *prefix,
		      int mode, struct strlist *list)
{
	struct str rest = str_of(words);

	while (rest.n) {
		struct str word = str_cut(&rest, ' ');
		const char *path = arena_printf(&p->arena, "%s%.*s", prefix,
						STR_ARG(word));

		if (mode < 0 || access(path, mode) == 0)
			list_add_new(list, &p->arena, path);
	}
}

static void use(struct prepared *p, const struct recipe *r)
{
	struct recipes_used *u = &p->recipes;
	struct project project = find_project(p, r);

	add_words(p, r->exec, "", -1, &u->exec);
	add_words(p, r->read, "", R_OK, &u->read);
	if (!project.path) {
		prepared_cap(p,
			     "preset \"%s\" grants a project, and the starting "
			     "folder is too wide for one; go into the project, "
			     "or name it in `read` (--read PATH)",
			     r->name);
		return;
	}
	list_add_new(&u->read, &p->arena, project.path);
	list_add_new(&u->projects, &p->arena,
		     arena_printf(&p->arena, "%s, %s%s", project.path,
				  project.marker ? "for its "
						 : "the starting folder",
				  project.marker ? project.marker : ""));
	add_words(p, r->folders, arena_printf(&p->arena, "%s/", project.path),
		  F_OK, &u->folders);
}

void prepare_recipes(struct prepared *p)
{
	const struct strlist *names = &p->policy.preset;

	for (size_t i = 0; i < names->n; i++) {
		const struct recipe *r = recipe_find(names->item[i]);

		if (r)
			use(p, r);
	}
}
