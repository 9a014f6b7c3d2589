#include "gate/prepare/parts.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/place.h"
#include "core/base/text.h"
#include "core/base/user.h"
#include "gate/path/install.h"
#include "gate/path/mounts.h"
#include "gate/policy/allow.h"
#include "gate/policy/recipes.h"
#include "gate/prepare/own_paths.h"

/* Folders of programs: a file that can be read in there can be run by
   the loader. */
static const struct strlist program_dirs =
	STRLIST("/usr/bin", "/usr/sbin", "/usr/local/bin");

/* Links in there are the system's, made by whoever installed it. */
static const struct strlist system_dirs =
	STRLIST("/usr", "/etc", "/nix", "/snap");

/* Origin of a grant, by the reason in its rights. */
static const struct origin {
	unsigned by;
	const char *name;  /* in messages */
	bool is_dropped;   /* a refusal of the leash drops the grant only */
	bool is_implied;   /* a folder led to the path; no person named it */
	bool is_unleashed; /* the leash is not asked */
} origins[] = {
	{GRANT_BY(READ), "read", false, false, false},
	{GRANT_BY(WRITE), "write", false, false, false},
	{GRANT_BY(ARGUMENT), "argument", true, false, false},
	{GRANT_BY(EXEC), "exec", true, true, false},
	{GRANT_BY(RECIPE), "recipe", true, true, false},
	{GRANT_BY(PACKAGE), "folder of the script", true, true, false},
	/* with the program, which the leash has allowed */
	{GRANT_BY(INSTALLATION), "installation", true, true, true},
	{GRANT_BY(HELPERS), "helpers", true, true, true},
	{GRANT_BY(TMP), "tmp", false, false, true},
	{GRANT_BY(UNIX), "unix", false, false, false},
	/* any other, as strictly as can be */
	{0, "grant", false, true, false},
};

static const struct origin *origin_of(unsigned what)
{
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(origins) && !(what & origins[i].by))
		i++;
	return &origins[i];
}

/* ---- links ---- */

/* A link of root's, in a folder that only root writes. */
static bool is_trusted_link(const struct walk_link *l)
{
	return l->st.st_uid == 0 &&
	       (strcmp(l->folder, "/") == 0 ||
		(user_self() != 0 && access(l->folder, W_OK) < 0));
}

static bool is_system_link(const struct walk_link *l)
{
	return is_trusted_link(l) ||
	       (l->st.st_uid == 0 && place_around(&system_dirs, l->folder));
}

/* HOME, folders that hold it, keys, and folders with keys in them. */
static bool is_precious(struct prepared *p, const char *path)
{
	const struct closed closed = places_closed(p->gate);

	return place_beneath(&p->gate->homes, path) ||
	       closed_secret_row(&closed, path) ||
	       gate_secrets_in(p->gate, path, &p->arena);
}

/* A person who names HOME, or a place of keys, by its name means it. */
static bool is_meant(const struct prepared *p, const struct origin *o,
		     const char *path)
{
	const struct closed closed = places_closed(p->gate);

	return !o->is_implied &&
	       (closed_secret_row(&closed, path) ||
		(p->gate->home && place_covers(p->gate->home, path) &&
		 place_covers(path, p->gate->home)));
}

/* Every program may read the path, or a person granted it by another name. */
static bool is_granted(const struct prepared *p, const char *path)
{
	return grants_cover(&p->grants, path,
			    GRANT_BY(READ) | GRANT_BY(WRITE)) ||
	       gate_base_covers(p->gate, path, GRANT_ACCESS | GRANT_DEVICE);
}

/* A recipe names places in HOME that no person did: a link in HOME itself
   could lead it to any of the user's files. */
static bool stays_inside(const struct prepared *p, const struct origin *o,
			 const struct walk_link *l, const char *path)
{
	return place_covers(l->folder, path) &&
	       !(o->by == GRANT_BY(RECIPE) &&
		 place_beneath(&p->gate->homes, l->folder));
}

/* The line that grants the path; "" where a person is not to paste it: it would
   open keys, or other words stand in it than the path. */
static const char *line_for(struct prepared *p, const struct origin *o,
			    const char *path)
{
	static const char *const keys[] = {"write", "exec"};
	const char *key = "read";

	if (is_precious(p, path) || !place_can_be_pasted(path))
		return "";
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(o->name, keys[i]) == 0)
			key = keys[i];
	return arena_printf(&p->arena, ": sandbox.%s = [\"%s\"]", key, path);
}

/*
 * Links of other users lead nowhere, and no line grants what they chose. A link
 * of the user's own may have been left by a program in a folder that it could
 * write: it may lead further beneath its own folder, and where a person named
 * the path, to anything but HOME and keys.
 */
static int judge_links(struct prepared *p, const struct origin *o,
		       const char *path, const struct walk *w, struct err *err)
{
	for (size_t i = 0; i < w->n_links; i++) {
		const struct walk_link *l = &w->link[i];
		bool is_itself = strcmp(path, l->at) == 0;
		bool is_ours = resolve_is_trusted(l->st.st_uid);
		const char *why;

		if (!is_ours)
			why = "the link belongs to another user";
		else if (is_trusted_link(l) || is_meant(p, o, path))
			continue;
		else if (is_precious(p, w->path))
			why = "keys or a whole HOME lie there";
		else if (!o->is_implied || is_system_link(l) ||
			 stays_inside(p, o, l, w->path) ||
			 is_granted(p, w->path))
			continue;
		else
			why = "a link that leads out of its folder and of what "
			      "is granted";
		return err_set(err, ERR_POLICY,
			       "%s: %s leads to %s%s%s: %s; if that is meant, "
			       "name %s itself%s",
			       o->name, path, w->path,
			       is_itself ? "" : " by the link ",
			       is_itself ? "" : l->at, why, w->path,
			       is_ours ? line_for(p, o, w->path) : "");
	}
	return 0;
}

/* ---- the leash ---- */

/* A row that is a link counts for where it leads, if it may lead there. */
static bool row_covers(struct prepared *p, const char *row, const char *path)
{
	static const struct origin as_named = {.name = "leash"};
	struct walk w = WALK_INIT;
	bool covers, is_system = true;

	if (walk_open(row, &p->arena, &w) < 0)
		return false;
	for (size_t i = 0; i < w.n_links; i++)
		is_system &= is_system_link(&w.link[i]);
	covers = w.path && place_covers(w.path, path) &&
		 (is_system ||
		  judge_links(p, &as_named, row, &w, ERR_IGNORED) == 0);
	walk_release(&w);
	return covers;
}

static bool axis_covers(struct prepared *p, const struct gate_axis *axis,
			const char *path)
{
	if (allow_axis_covers(axis, path))
		return true;
	for (size_t i = 0; i < axis->only.n; i++)
		if (row_covers(p, axis->only.item[i], path))
			return true;
	return false;
}

/* Name the axis of the leash that refuses the grant; NULL: none does. */
static const char *leash_refuses(struct prepared *p, const struct origin *o,
				 unsigned what, const char *path)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (o->is_unleashed)
		return NULL;
	if (what & (GRANT_WRITES | GRANT_SOCKET) &&
	    !axis_covers(p, &leash->fs_write, path))
		return "fs_write";
	/* a folder of programs in `exec` includes reading its files */
	if (what & GRANT_EXEC && (list_has(&leash->exec.only, path) ||
				  place_around(&program_dirs, path)))
		return NULL;
	if (what & (GRANT_READ | GRANT_WRITE | GRANT_EXEC | GRANT_SOCKET) &&
	    !axis_covers(p, &leash->fs_read, path))
		return "fs_read";
	return NULL;
}

static int refuse_by_leash(struct prepared *p, const struct origin *o,
			   const char *path, const struct walk *w,
			   const char *axis, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (!o->is_dropped)
		return err_set(err, ERR_LEASH,
			       "%s: %s leads to %s, which the leash (%s) does "
			       "not allow (%s)",
			       o->name, path, w->path,
			       leash->source ? leash->source : "given", axis);
	prepared_cap(p,
		     "%s \"%s\": not readable, the leash does not allow %s "
		     "(%s)",
		     o->name, path, strcmp(path, w->path) == 0 ? "it" : w->path,
		     axis);
	return 1;
}

/* ---- one path ---- */

/* Grant what a walk found already; `found` is empty when it is granted. */
static int grant_found(struct prepared *p, const char *path, struct walk *found,
		       unsigned what, struct err *err)
{
	const struct origin *o = origin_of(what);
	const char *axis = leash_refuses(p, o, what, found->path);
	const char *own = NULL;

	if (what & GRANT_WRITES)
		own = place_around(own_paths_protect(p->gate), found->path);
	if (axis)
		return refuse_by_leash(p, o, path, found, axis, err);
	if (judge_links(p, o, path, found, err) < 0)
		return -1;
	if (own)
		return err_set(err, ERR_POLICY,
			       "write: %s belongs to matins itself (%s) and is "
			       "never writable",
			       found->path, own);
	if (what & (GRANT_READ | GRANT_WRITES) && !(what & GRANT_EXEC) &&
	    place_beneath(&program_dirs, found->path))
		p->open_programs = true;
	grants_take(&p->grants, path, found, what);
	return 0;
}

/*
 * Grant one path, wherever it comes from: follow it once, judge where it led,
 * and grant that by its descriptor.
 *
 * Every grant of a request but its programs' own files comes through here.
 * Judges are the leash, the owners and targets of the links on the way, and
 * the list of what is never writable.
 *
 * what     GRANT_..., and one GRANT_BY() that says where it comes from
 * returns  0; 1: the path leads nowhere, or the leash does not allow it,
 *	    which is said in .policy.capped
 * errors   ERR_LEASH   a path of `read` or `write` leads out of the leash
 *	    ERR_POLICY  a link that is not to be trusted, our own files
 *	    ERR_SYS
 */
static int grant_path(struct prepared *p, const char *path, unsigned what,
		      struct err *err)
{
	struct walk found = WALK_INIT;
	int r = grants_find(&p->grants, path, &found, err);

	if (r < 0)
		return err_wrap(err, "%s", origin_of(what)->name);
	if (r == 0)
		r = grant_found(p, path, &found, what, err);
	walk_release(&found);
	return r;
}

/* A file that is missing, or closed to us, is closed to the child. */
static int grant_seen(struct prepared *p, const char *path, unsigned what,
		      struct err *err)
{
	int r = grant_path(p, path, what, err);

	return r < 0 && (err->kind != ERR_SYS || err->sys != EACCES) ? -1 : 0;
}

/* ---- programs and what belongs to them ---- */

/*
 * Programs that a program starts itself lie beside it. git starts some of them
 * by a shell, which a leash that somebody wrote must name as well.
 */
static int add_helpers(struct prepared *p, const struct resolved_file *f,
		       struct err *err)
{
	const unsigned what = GRANT_EXEC | GRANT_READ | GRANT_BY(HELPERS);
	const struct gate_leash *leash = &p->gate->config.leash;
	const char *dirs = recipe_helpers(f->asked);
	struct str rest = str_of(dirs ? dirs : recipe_helpers(f->path));
	const char *prefix;

	if (!rest.p)
		return 0;
	prefix =
		resolve_dirname(resolve_dirname(f->path, &p->arena), &p->arena);
	while (rest.n) {
		struct str dir = str_cut(&rest, ' ');

		if (grant_seen(p,
			       arena_printf(&p->arena, "%s/%.*s", prefix,
					    STR_ARG(dir)),
			       what, err) < 0)
			return -1;
	}
	if (strcmp(resolve_basename(f->path), "git") != 0 ||
	    (!leash->interpreters &&
	     allow_exec(leash, "sh", "/bin/sh", ERR_IGNORED) < 0))
		return 0;
	return grant_seen(p, "/bin/sh", what, err);
}

/*
 * Find a writable folder around the script: there a mark of its package could
 * be removed, so that a folder above would count. NULL: there is none.
 */
static const char *writable_around(const struct prepared *p, const char *path,
				   const char *package)
{
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (g->what & GRANT_WRITES && place_covers(g->path, path) &&
		    S_ISDIR(g->st.st_mode) && !place_covers(g->path, package))
			return g->path;
	}
	return NULL;
}

static int add_script_package(struct prepared *p, const char *path,
			      struct err *err)
{
	const char *written;
	const char *dir = install_of_script(path, &p->gate->homes, &p->arena);
	int r;

	if (!dir)
		return 0;
	written = writable_around(p, path, dir);
	if (written) {
		prepared_cap(p,
			     "folder of the script \"%s\": not readable, it "
			     "is found above %s, which the program may write; "
			     "if it is meant, add it to `read`",
			     dir, written);
		return 0;
	}
	r = grant_path(p, dir, GRANT_READ | GRANT_BY(PACKAGE), err);
	if (r == 0)
		p->installation = dir;
	return r < 0 ? -1 : 0;
}

/* Reason for the i-th file of a program: itself, or a file that runs it. */
static unsigned file_reason(const struct prepared *p, const struct resolved *r,
			    size_t i)
{
	if (r != &p->program)
		return r - p->execs < (ptrdiff_t)p->n_listed ? GRANT_BY(EXEC)
							     : GRANT_BY(RECIPE);
	if (!i)
		return GRANT_BY(PROGRAM);
	return r->file[i].is_loader ? GRANT_BY(LOADER) : GRANT_BY(INTERPRETER);
}

static int add_program(struct prepared *p, const struct resolved *r,
		       struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct resolved_file *f = &r->file[i];
		struct install in;

		grants_add(&p->grants, f->asked, f->path, f->fd, &f->st,
			   GRANT_EXEC | file_reason(p, r, i));
		if (f->is_loader)
			continue;
		install_of_program(f->asked, f->path, &p->gate->homes,
				   &p->arena, &in);
		for (size_t k = 0; k < in.read.n; k++) {
			const char *dir = in.read.item[k];

			if (!gate_base_covers(p->gate, dir, GRANT_READ) &&
			    grant_seen(p, dir,
				       GRANT_READ | GRANT_BY(INSTALLATION),
				       err) < 0)
				return -1;
			if (!p->installation)
				p->installation = dir;
		}
		if (add_helpers(p, f, err) < 0)
			return -1;
		if (f->is_script && add_script_package(p, f->path, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- arguments that are files ---- */

/*
 * A file named as a whole argument is met with the leash, whatever the program
 * makes of it. Only a script comes with the folder of its package.
 */
static int add_file(struct prepared *p, const char *arg, const char *path,
		    struct walk *found, bool is_script, struct err *err)
{
	const char *real = found->path;
	int r;

	if (!S_ISREG(found->st.st_mode))
		return 0;
	r = grant_found(p, path, found,
			GRANT_READ | GRANT_ASKED | GRANT_BY(ARGUMENT), err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (arg[0] != '/' && place_covers(p->request->cwd, real))
		p->cwd_shown = true;
	prepared_leave(p, arg);
	if (!is_script)
		return 0;
	p->script = arena_strdup(&p->arena, real);
	return add_script_package(p, real, err);
}

static int add_argument(struct prepared *p, const char *arg, bool is_script,
			struct err *err)
{
	const char *cwd = p->request->cwd, *path = arg;
	struct walk found = WALK_INIT;
	int r;

	if (arg[0] != '/')
		path = cwd && *arg ? arena_printf(&p->arena, "%s/%s", cwd, arg)
				   : NULL;
	if (is_script && path && access(path, F_OK) < 0)
		p->missing_script = arena_strdup(&p->arena, path);
	if (!path)
		return 0;
	r = grants_find(&p->grants, path, &found, ERR_IGNORED);
	if (r > 0)
		list_add(&p->missing, &p->arena, path);
	if (r != 0)
		return 0;
	r = add_file(p, arg, path, &found, is_script, err);
	walk_release(&found);
	return r;
}

/*
 * A module that lies in the working directory is found there first, by what
 * python lists there: it comes with that folder, as a script does with its own.
 */
static int add_module(struct prepared *p, const char *name, struct err *err)
{
	struct arena *arena = &p->arena;
	const char *cwd = p->request->cwd;
	char *path = arena_strdup(arena, name);
	struct walk found = WALK_INIT;
	int r;

	for (char *dot = path; (dot = strchr(dot, '.'));)
		*dot = '/';
	if (!cwd || strchr(name, '/') || !*name ||
	    (access(arena_printf(arena, "%s/%s.py", cwd, path), R_OK) < 0 &&
	     access(arena_printf(arena, "%s/%s/__main__.py", cwd, path), R_OK) <
		     0))
		return 0;
	if (walk_open(cwd, arena, &found) < 0)
		return 0;
	/* the file has no other name that could lead elsewhere */
	r = found.path
		    ? add_script_package(
			      p, arena_printf(arena, "%s/module", found.path),
			      err)
		    : 0;
	walk_release(&found);
	return r;
}

static int add_arguments(struct prepared *p, struct err *err)
{
	const struct resolved_file *program = &p->program.file[0];
	struct strlist argv = {NULL, 0};
	const char *module;
	size_t script = 0;

	while (p->request->argv[argv.n])
		list_add(&argv, &p->arena, p->request->argv[argv.n]);
	/* arguments of a script belong to the script */
	if (!p->program.prefix.n)
		script = programs_script(program->asked, program->path, &argv);
	module = p->program.prefix.n ? NULL
				     : programs_module(program->asked,
						       program->path, &argv);
	if (module && add_module(p, module, err) < 0)
		return -1;
	for (size_t i = 1; i < argv.n; i++)
		if (!data_is(p->request, i) &&
		    add_argument(p, argv.item[i], i == script, err) < 0)
			return -1;
	return 0;
}

/* ---- the policy ---- */

static int add_grant(struct prepared *p, const char *path, unsigned what,
		     struct err *err)
{
	bool is_write = what & GRANT_WRITES;
	int r;

	what |= GRANT_ASKED | (is_write ? GRANT_BY(WRITE) : GRANT_BY(READ));
	r = grant_path(p, path, what, err);
	if (r <= 0)
		return r;
	if (is_write)
		return err_set(err, ERR_POLICY,
			       "write: %s does not exist; mkdir -p %s", path,
			       path);
	if (p->for_start)
		log_warning("read: %s does not exist", path);
	return 0;
}

/* Grant the host's /tmp, as far as the leash allows it. */
static int share_tmp(struct prepared *p, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (!p->policy.tmp_shared)
		return 0;
	if (allow_axis_covers(&leash->fs_write, "/tmp") &&
	    allow_axis_covers(&leash->fs_read, "/tmp"))
		/* not as asked for: HOME stays private in there */
		return grant_seen(p, "/tmp", GRANT_WRITE | GRANT_BY(TMP), err);
	p->policy.tmp_shared = false;
	prepared_cap(p, "tmp \"shared\": private, the leash does not allow "
			"/tmp (fs_read, fs_write)");
	return 0;
}

static int add_socket(struct prepared *p, const char *path, struct err *err)
{
	struct walk found = WALK_INIT;
	int r = grants_find(&p->grants, path, &found, err);

	if (r < 0)
		return err_wrap(err, "unix");
	if (r == 0 && !S_ISSOCK(found.st.st_mode))
		r = err_set(err, ERR_POLICY, "unix: %s is not a socket", path);
	else if (r == 0)
		r = grant_found(p, path, &found,
				GRANT_SOCKET | GRANT_ASKED | GRANT_BY(UNIX),
				err);
	else if (p->for_start)
		log_warning("unix: %s does not exist", path);
	walk_release(&found);
	return r < 0 ? -1 : 0;
}

static int add_policy(struct prepared *p, struct err *err)
{
	const struct {
		const struct strlist *list;
		unsigned what;
	} kinds[] = {
		{&p->policy.read, GRANT_READ},
		{&p->policy.write, GRANT_WRITE},
		{&p->policy.write_only, GRANT_WRITE_ONLY},
	};

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		for (size_t i = 0; i < kinds[k].list->n; i++)
			if (add_grant(p, kinds[k].list->item[i], kinds[k].what,
				      err) < 0)
				return -1;
	for (size_t i = 0; i < p->policy.unix_files.n; i++)
		if (add_socket(p, p->policy.unix_files.item[i], err) < 0)
			return -1;
	return share_tmp(p, err);
}

static bool leads_out(const char *folder, const char *link, const char *target)
{
	return strcmp(folder, target) != 0 && place_covers(folder, link) &&
	       !place_covers(folder, target);
}

/*
 * A grant of a recipe: an error where a person named the recipe, and dropped
 * where it applies by itself.
 */
static int recipe_result(struct prepared *p, const struct recipe_used *u, int r,
			 struct err *err)
{
	if (r >= 0 || u->is_named)
		return r;
	prepared_cap(p, "%s", err->msg);
	*err = (struct err)ERR_INIT;
	return 0;
}

static int add_recipe(struct prepared *p, const struct recipe_used *u,
		      struct err *err)
{
	const unsigned what = GRANT_READ | GRANT_BY(RECIPE);

	if (u->project.path &&
	    recipe_result(
		    p, u,
		    grant_seen(p, u->project.path, what | GRANT_ASKED, err),
		    err) < 0)
		return -1;
	for (size_t i = 0; i < u->read.n; i++)
		if (recipe_result(p, u,
				  grant_seen(p, u->read.item[i], what, err),
				  err) < 0)
			return -1;
	return 0;
}

static int add_exec_folder(struct prepared *p, struct exec_folder *f,
			   struct err *err)
{
	unsigned by = f->of ? GRANT_BY(RECIPE) : GRANT_BY(EXEC);
	int r = grant_found(p, f->asked, &f->found,
			    GRANT_EXEC | GRANT_READ | by, err);

	return f->of ? recipe_result(p, f->of, r, err) : r;
}

/*
 * A link that an earlier child could have made, in a folder that this one or
 * another of the same configuration may write, must not lead out of it.
 */
static bool is_own_link(const struct prepared *p, const char *link,
			const char *target)
{
	const struct strlist *written = &p->gate->config.written;

	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & GRANT_WRITES &&
		    leads_out(p->grants.grant[i].path, link, target))
			return false;
	for (size_t i = 0; i < written->n; i++)
		if (leads_out(written->item[i], link, target))
			return false;
	return true;
}

static int check_links(struct prepared *p, struct err *err)
{
	for (size_t i = 0; i < p->grants.n_links; i++) {
		const struct grant_link *l = &p->grants.link[i];

		for (size_t k = 0; k < l->n_steps; k++)
			if (!is_own_link(p, l->step[k].at, l->target))
				return err_set(
					err, ERR_POLICY,
					"%s leads to %s by a link in a folder "
					"that the program, or another one of "
					"the configuration, may write; if "
					"that is meant, name %s itself",
					l->path, l->target, l->target);
	}
	return 0;
}

/* ---- sealed paths ---- */

/*
 * No writable grant may lie above a sealed path, under whatever name: a folder
 * is known by its inode, so that another mount of it is the same.
 */

/* Is the file this path, or one of the folders above it? */
static bool is_above(const struct stat *one, const char *path,
		     struct arena *arena)
{
	char *at = arena_strdup(arena, path);
	struct stat st;
	char *slash;

	do {
		if (stat(at, &st) == 0 && stat_is_same(&st, one))
			return true;
		slash = strrchr(at, '/');
		*slash = '\0';
	} while (slash > at);
	return stat("/", &st) == 0 && stat_is_same(&st, one);
}

/* Is a folder above the path mounted somewhere beneath the grant? True, too,
   where the table of mounts cannot be read. */
static bool is_mounted_beneath(const struct grant *g, const char *path,
			       struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;
	struct mount m;
	struct stat st;

	if (fd_read_file("/proc/self/mountinfo", &text, ERR_IGNORED) < 0)
		return true;
	rest = buf_str(&text);
	while (mounts_next(&rest, &m)) {
		const char *at = mounts_path(m.point, arena).p;

		if (place_covers(g->path, at) && stat(at, &st) == 0 &&
		    is_above(&st, path, arena))
			return true;
	}
	return false;
}

static bool holds(const struct grant *g, const char *path, struct arena *arena)
{
	return place_covers(g->path, path) || is_above(&g->st, path, arena) ||
	       is_mounted_beneath(g, path, arena);
}

const char *grants_why_sealed(const char *path, struct arena *arena)
{
	AUTO(buf_release) struct buf word = BUF_INIT(BUF_UNBOUNDED);

	text_add_word(&word, path);
	return arena_printf(
		arena,
		"holds %s, which is allowed with all later edits (--edits): a "
		"program that writes there could grant itself anything; let it "
		"write into another folder, or %s %s",
		strrchr(path, '/') + 1,
		access(path, F_OK) < 0
			? "take that back: matins disallow"
			: "allow the file only as it is now: matins allow",
		buf_cstr(&word));
}

static int check_sealed(struct prepared *p, struct err *err)
{
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];
		const struct strlist *sealed;

		if (!(g->what & GRANT_WRITES))
			continue;
		sealed = own_paths_sealed(p->gate);
		for (size_t k = 0; k < sealed->n; k++)
			if (holds(g, sealed->item[k], &p->arena))
				return err_set(
					err, ERR_POLICY, "write: %s %s",
					g->path,
					grants_why_sealed(sealed->item[k],
							  &p->arena));
	}
	return 0;
}

/* ---- all together ---- */

int prepare_grants(struct prepared *p, struct err *err)
{
	if (add_policy(p, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_exec_folders; i++)
		if (add_exec_folder(p, &p->exec_folder[i], err) < 0)
			return -1;
	for (size_t i = 0; i < p->n_recipes; i++)
		if (add_recipe(p, &p->recipes[i], err) < 0)
			return -1;
	if (add_program(p, &p->program, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_execs; i++)
		if (add_program(p, &p->execs[i], err) < 0)
			return -1;
	if (add_arguments(p, err) < 0)
		return -1;
	if (p->direct.modules &&
	    grant_path(p, p->direct.modules, GRANT_READ | GRANT_BY(PACKAGE),
		       err) < 0)
		return -1;
	return check_links(p, err) < 0 ? -1 : check_sealed(p, err);
}
