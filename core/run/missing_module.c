#include "core/run/missing_module.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "core/config/paths.h"

/* Bytes of a script that may say where modules are. */
#define SCRIPT_BYTES (64 * 1024)

struct search {
	struct file_finder *f;
	struct gate_explained own;
	struct missing_module *ret;
};

static bool holds(const struct search *s, const char *folder)
{
	struct arena *arena = s->f->arena;
	const char *name = s->ret->name;

	return access(arena_printf(arena, "%s/%s.py", folder, name), F_OK) ==
		       0 ||
	       access(arena_printf(arena, "%s/%s/__init__.py", folder, name),
		      F_OK) == 0;
}

static bool is_granted(const struct search *s, const char *folder)
{
	for (size_t i = 0; i < s->own.n_grants; i++)
		if (s->own.grant[i].is_folder &&
		    place_covers(s->own.grant[i].path, folder))
			return true;
	return false;
}

/* Look into a folder: true where the search ends. */
static bool look_in(struct search *s, struct str path)
{
	const char *folder = path.n ? file_real(s->f, path) : "";

	if (!*folder || !holds(s, folder))
		return false;
	if (is_granted(s, folder))
		s->ret->is_elsewhere = true;
	else
		s->ret->folder = folder;
	return true;
}

static bool look_in_pythonpath(struct search *s)
{
	const char *const *env = s->f->known->request->env;
	static const char name[] = "PYTHONPATH=";

	for (; env && *env; env++) {
		struct str rest = str_of(*env);

		if (!str_starts(rest, name))
			continue;
		rest = str_skip(rest, strlen(name));
		while (rest.n)
			if (look_in(s, str_cut(&rest, ':')))
				return true;
	}
	return false;
}

static bool look_in_said(struct search *s)
{
	const struct strlist *said = file_said(s->f);

	for (size_t i = 0; i < said->n; i++)
		if (look_in(s, str_of(said->item[i])))
			return true;
	return false;
}

/* Look into the sites of an environment or of the user. */
static const char *site_of(struct search *s, const char *prefix)
{
	const char *found = NULL;
	glob_t g;

	if (glob(arena_printf(s->f->arena, "%s/lib/python3*/site-packages",
			      prefix),
		 0, NULL, &g) != 0)
		return NULL;
	for (size_t i = 0; i < g.gl_pathc && !found; i++)
		if (holds(s, g.gl_pathv[i]))
			found = arena_strdup(s->f->arena, g.gl_pathv[i]);
	globfree(&g);
	return found;
}

/* Look for another python, in the places where environments are made. */
static void look_in_environments(struct search *s)
{
	static const char *const names[] = {".venv", "venv", "env"};
	struct arena *arena = s->f->arena;
	const char *cwd = s->f->known->request->cwd;

	for (size_t i = 0; i < ARRAY_LEN(names) && cwd; i++) {
		const char *python =
			arena_printf(arena, "%s/%s/bin/python", cwd, names[i]);

		if (access(python, X_OK) < 0 ||
		    !site_of(s, arena_printf(arena, "%s/%s", cwd, names[i])))
			continue;
		s->ret->python = python;
		return;
	}
}

static bool has(struct str text, const char *words)
{
	return text.n && memmem(text.p, text.n, words, strlen(words));
}

/* Does the program change by itself where modules are looked for? */
static bool sets_path(struct search *s)
{
	AUTO(buf_release) struct buf text = BUF_INIT(SCRIPT_BYTES);
	const char *const *argv = s->f->known->request->argv;
	bool found = s->own.script &&
		     fd_read_regular(s->own.script, &text, ERR_IGNORED) == 0 &&
		     has(buf_str(&text), "sys.path");

	for (size_t i = 1; argv[0] && argv[i]; i++)
		found |= has(str_of(argv[i]), "sys.path");
	return found;
}

bool module_find(struct file_finder *f, struct missing_module *ret)
{
	const struct gate_request *r = f->known->request;
	struct search s = {.f = f, .ret = ret};
	struct str name = said_module(f->known->said);
	const char *home = path_own_home(0), *site;

	if (!name.p ||
	    gate_explain(f->known->gate, r, f->arena, &s.own, ERR_IGNORED) < 0)
		return false;
	*ret = (struct missing_module){
		.name = arena_strndup(f->arena, name.p, name.n)};
	if (look_in_pythonpath(&s) || look_in_said(&s))
		return true;
	if (r->cwd && look_in(&s, str_of(r->cwd))) {
		/* of a script its own folder is looked into instead */
		ret->is_unsearched = s.own.script;
		return true;
	}
	site = home ? site_of(&s, arena_printf(f->arena, "%s/.local", home))
		    : NULL;
	if (site && look_in(&s, str_of(site)))
		return true;
	look_in_environments(&s);
	ret->is_elsewhere = !ret->python && sets_path(&s);
	return true;
}
