#include "gate/prepare/parts.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/policy/recipes.h"

static const struct strlist system_dirs =
	STRLIST("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin",
		"/usr/local/sbin");

/* ---- one program ---- */

/* Interpreters come with their script, or must be listed: the leash says. */
static int judge_interpreters(const struct gate_leash *leash,
			      const struct resolved *r, struct err *err)
{
	if (leash->interpreters || leash->exec.all)
		return 0;
	for (size_t i = 1; i < r->n; i++) {
		const struct resolved_file *f = &r->file[i];
		const char *asked =
			f->is_bare ? resolve_basename(f->asked) : f->asked;

		if (!f->is_loader && allow_exec(leash, asked, f->path, err) < 0)
			return err_wrap(err, "interpreter of %s",
					r->file[0].asked);
	}
	return 0;
}

/* A program to resolve: that of the request, a row, or one of a recipe. */
struct asking {
	const char *name;
	const char *path;	      /* to look in; NULL: our own */
	const struct recipe_used *of; /* NULL: a person named it */
};

/*
 * Programs of a recipe count as declared, as interpreters do; under a leash
 * that somebody wrote they must be listed.
 */
static int allow(const struct prepared *p, const struct asking *a,
		 const char *resolved, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (a->of && leash->interpreters)
		return 0;
	return allow_exec(leash, a->name, resolved, err);
}

/* A program that was resolved for this run; what is opened stays open. */
struct gate_program {
	struct gate_program *next;
	const char *name;
	struct resolved found;
};

#define PROGRAMS_KEPT 8

static struct gate_program *known_program(const struct gate *g,
					  const char *name)
{
	struct gate_program *k = g->programs;

	while (k && strcmp(k->name, name) != 0)
		k = k->next;
	return k;
}

/*
 * A plan judges what a start opens again: the files that were opened then are
 * taken where the name still leads to them and they are as they were.
 */
static int resolve_once(struct prepared *p, const struct asking *a,
			struct resolved *ret, struct err *err)
{
	struct gate *g = p->gate;
	struct gate_program *k = known_program(g, a->name);

	if (a->path || (k ? !resolved_holds(&k->found, a->name)
			  : g->n_programs == PROGRAMS_KEPT))
		return resolve_program(a->name, a->path, &p->arena, ret, err);
	if (!k) {
		k = ARENA_NEW(&g->arena, struct gate_program);
		k->name = arena_strdup(&g->arena, a->name);
		if (resolve_program(a->name, NULL, &g->arena, &k->found, err) <
		    0)
			return -1;
		k->next = g->programs;
		g->programs = k;
		g->n_programs++;
	}
	*ret = k->found;
	ret->is_borrowed = true;
	return 0;
}

void programs_release(struct gate *g)
{
	for (struct gate_program *k = g->programs; k; k = k->next)
		resolved_release(&k->found);
}

static int resolve_allowed(struct prepared *p, const struct asking *a,
			   struct resolved *ret, struct err *err)
{
	struct err not_found = ERR_INIT;

	if (resolve_once(p, a, ret, &not_found) < 0) {
		/* a program that is not allowed is refused, exist it or not */
		if (allow(p, a, NULL, err) < 0)
			return -1;
		*err = not_found;
		return -1;
	}
	if (allow(p, a, ret->file[0].path, err) < 0)
		return -1;
	return judge_interpreters(&p->gate->config.leash, ret, err);
}

/* A leash that names a launcher allows what that comes to. */
int prepare_program(struct prepared *p, struct err *err)
{
	const struct asking a = {.name = p->request->program};

	if (!p->direct.written)
		return resolve_allowed(p, &a, &p->program, err);
	if (resolve_program(a.name, NULL, &p->arena, &p->program, err) < 0)
		return err_wrap(err, "%s", p->direct.written->program);
	return judge_interpreters(&p->gate->config.leash, &p->program, err);
}

/* ---- rows of `exec` ---- */

/* Judge a folder of programs, which is kept as it was found; 1: it is none. */
static int judge_exec_folder(struct prepared *p, const struct asking *a,
			     struct err *err)
{
	struct exec_folder f = {
		.asked = a->name, .of = a->of, .found = WALK_INIT};
	bool is_folder = a->name[0] == '/' &&
			 walk_open(a->name, &p->arena, &f.found) == 0 &&
			 f.found.path && S_ISDIR(f.found.st.st_mode);

	if (is_folder && allow(p, a, f.found.path, err) == 0) {
		p->exec_folder[p->n_exec_folders++] = f;
		return 0;
	}
	walk_release(&f.found);
	return is_folder ? -1 : 1;
}

static int judge_exec_row(struct prepared *p, const struct asking *a,
			  struct err *err)
{
	struct resolved *program = &p->execs[p->n_execs];
	int r = judge_exec_folder(p, a, err);

	if (r <= 0)
		return r;
	if (resolve_allowed(p, a, program, err) == 0) {
		p->n_execs++;
		return 0;
	}
	resolved_release(program);
	return -1;
}

/* A path beneath the working directory is shown as most people wrote it. */
static int no_such_row(const struct prepared *p, const char *row,
		       struct err *err)
{
	const char *cwd = p->request->cwd;
	size_t n = cwd ? strlen(cwd) : 0;
	bool is_below = cwd && strncmp(row, cwd, n) == 0 && row[n] == '/';

	return err_set(err, ERR_NOT_FOUND,
		       "sandbox.exec names %s%s, which does not exist%s",
		       is_below ? "." : "", is_below ? row + n : row,
		       str_ends(str_of(row), "/node_modules")
			       ? " (run npm install first?)"
			       : "");
}

/* A row that the leash refuses is left out, and said to be. */
static int prepare_exec_rows(struct prepared *p, struct err *err)
{
	const struct strlist *rows = &p->policy.exec;

	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];
		struct err one = ERR_INIT;

		if (judge_exec_row(p, &(struct asking){.name = row}, &one) == 0)
			continue;
		if (one.kind == ERR_LEASH) {
			prepared_cap(p, "%s", one.msg);
			continue;
		}
		if (row[0] == '/' && access(row, F_OK) < 0 && errno == ENOENT) {
			/* a trace names hundreds, which come and go */
			if (p->request->record & GATE_RECORD_FILES)
				continue;
			return no_such_row(p, row, err);
		}
		*err = one;
		return err_wrap(err, "exec");
	}
	return 0;
}

/* ---- programs of recipes ---- */

/* Programs that change users are left out of those that a script names. */
static void keep_recipe_row(struct prepared *p, struct recipe_used *u,
			    const struct asking *a)
{
	struct resolved *last = p->n_execs ? &p->execs[p->n_execs - 1] : NULL;

	if (a->path && last && last->file[0].st.st_mode & (S_ISUID | S_ISGID)) {
		resolved_release(last);
		p->n_execs--;
		return;
	}
	list_add(&u->started, &p->arena, a->name);
}

/* Programs that this machine lacks, or that cannot be judged, are left out. */
static void add_recipe_row(struct prepared *p, struct recipe_used *u,
			   const struct asking *a)
{
	struct err one = ERR_INIT;

	if (judge_exec_row(p, a, &one) == 0)
		keep_recipe_row(p, u, a);
	else if (one.kind == ERR_LEASH)
		list_add(&u->refused, &p->arena, a->name);
	else if (u->is_named && one.kind != ERR_NOT_FOUND)
		prepared_cap(p, "preset \"%s\": %s", u->recipe->name, one.msg);
}

static bool is_system_program(const char *word)
{
	struct stat st;

	if (word[0] != '/')
		return !strchr(word, '/');
	return place_around(&system_dirs, word) && stat(word, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

static void add_recipe(struct prepared *p, struct recipe_used *u)
{
	AUTO(buf_release) struct buf refused = BUF_INIT(BUF_UNBOUNDED);
	const char *own = resolve_basename(p->program.file[0].asked);

	for (size_t i = 0; i < u->exec.n; i++)
		if (strcmp(u->exec.item[i], own) != 0 &&
		    !list_has(&p->policy.exec, u->exec.item[i]))
			add_recipe_row(p, u,
				       &(struct asking){.name = u->exec.item[i],
							.of = u});
	for (size_t i = 0; i < u->words.n; i++)
		if (!list_has(&p->policy.exec, u->words.item[i]) &&
		    is_system_program(u->words.item[i]))
			add_recipe_row(p, u,
				       &(struct asking){u->words.item[i],
							PREPARED_PATH, u});
	for (size_t i = 0; i < u->refused.n; i++)
		buf_addf(&refused, "%s%s", i ? ", " : "", u->refused.item[i]);
	if (refused.n)
		prepared_cap(p,
			     "recipe \"%s\": not started, because the leash "
			     "does not allow it: %s",
			     u->recipe->name, buf_cstr(&refused));
}

int prepare_execs(struct prepared *p, struct err *err)
{
	size_t n = p->policy.exec.n + 1;

	for (size_t i = 0; i < p->n_recipes; i++)
		n += p->recipes[i].exec.n + p->recipes[i].words.n;
	p->execs = ARENA_ARRAY(&p->arena, struct resolved, n);
	p->exec_folder = ARENA_ARRAY(&p->arena, struct exec_folder, n);
	if (prepare_exec_rows(p, err) < 0)
		return -1;
	p->n_listed = p->n_execs;
	for (size_t i = 0; i < p->n_recipes; i++)
		add_recipe(p, &p->recipes[i]);
	return 0;
}
