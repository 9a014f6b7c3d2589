/*
 * Which paths a request comes to: the program's files and installation, the
 * files that its arguments name, and what the policy grants.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "gate/allow.h"
#include "gate/inner.h"
#include "gate/install.h"

/* Folders of programs: what can be read in there can be run by the loader. */
static const char *const program_dirs[] = {"/usr/bin", "/usr/sbin",
					   "/usr/local/bin"};

/* Links that lead to links; the kernel follows 40. */
#define LINK_DEPTH 40

static bool each_link(struct prepared *p, const char *path,
		      bool (*fn)(struct prepared *p, const char *link,
				 const struct stat *st, const void *arg),
		      const void *arg, unsigned depth)
{
	char real[PATH_MAX], text[PATH_MAX];

	for (size_t i = 1; path[0] == '/' && path[i - 1]; i++) {
		const char *part, *at;
		struct stat st;
		ssize_t n;

		if (path[i] && path[i] != '/')
			continue;
		part = arena_strndup(&p->arena, path, i);
		if (lstat(part, &st) < 0 || !S_ISLNK(st.st_mode) ||
		    !realpath(resolve_dirname(part, &p->arena), real))
			continue;
		at = arena_printf(&p->arena, "%s/%s",
				  strcmp(real, "/") == 0 ? "" : real,
				  resolve_basename(part));
		if (!fn(p, at, &st, arg))
			return false;
		n = readlink(part, text, sizeof(text) - 1);
		if (n <= 0 || !depth)
			continue;
		text[n] = '\0';
		at = text[0] == '/'
			     ? arena_strdup(&p->arena, text)
			     : arena_printf(&p->arena, "%s/%s", real, text);
		if (!each_link(p, at, fn, arg, depth - 1))
			return false;
	}
	return true;
}

bool prepared_each_link(struct prepared *p, const char *path,
			bool (*fn)(struct prepared *p, const char *link,
				   const struct stat *st, const void *arg),
			const void *arg)
{
	return each_link(p, path, fn, arg, LINK_DEPTH);
}

static int open_seen(struct prepared *p, const char *path, unsigned what,
		     struct err *err)
{
	int r = grants_open(&p->grants, path, what, NULL, err);

	return r < 0 && err->sys != EACCES ? -1 : 0;
}

/* ---- programs and what belongs to them ---- */

/* Every child may read it anyway. */
static bool is_base(const struct prepared *p, const char *path)
{
	const struct grants *base = &p->gate->base;

	for (size_t i = 0; i < base->n; i++)
		if (base->grant[i].what == GRANT_READ &&
		    allow_covers(base->grant[i].path, path))
			return true;
	return false;
}

static int add_installation(struct prepared *p, const struct install *in,
			    struct err *err)
{
	for (size_t i = 0; i < in->read.n; i++) {
		if (!is_base(p, in->read.item[i]) &&
		    open_seen(p, in->read.item[i],
			      GRANT_READ | GRANT_BY(INSTALLATION), err) < 0)
			return -1;
		if (!p->installation)
			p->installation = in->read.item[i];
	}
	return 0;
}

/*
 * The helpers that git starts lie beside its libraries. It starts some of
 * them by a shell, which a leash that somebody wrote must name as well.
 */
static int add_git_helpers(struct prepared *p, const struct resolved_file *f,
			   struct err *err)
{
	static const char *const dirs[] = {"lib/git-core", "libexec/git-core"};
	const struct gate_leash *leash = &p->gate->config.leash;
	struct err ignored = ERR_INIT;
	const char *prefix;

	if (strcmp(resolve_basename(f->path), "git") != 0)
		return 0;
	prefix =
		resolve_dirname(resolve_dirname(f->path, &p->arena), &p->arena);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (open_seen(p,
			      arena_printf(&p->arena, "%s/%s", prefix, dirs[i]),
			      GRANT_EXEC | GRANT_READ | GRANT_BY(HELPERS),
			      err) < 0)
			return -1;
	if (!leash->interpreters &&
	    allow_exec(leash, "sh", "/bin/sh", &ignored) < 0)
		return 0;
	return open_seen(p, "/bin/sh",
			 GRANT_EXEC | GRANT_READ | GRANT_BY(HELPERS), err);
}

static int add_script_package(struct prepared *p, const char *path,
			      struct err *err)
{
	const struct gate_axis *axis = &p->gate->config.leash.fs_read;
	const char *dir =
		install_of_script(path, p->gate->home_path, &p->arena);

	if (!dir)
		return 0;
	if (!allow_axis_covers(axis, dir)) {
		list_add(&p->policy.capped, &p->arena,
			 arena_printf(&p->arena,
				      "folder %s of the script: not readable, "
				      "the leash does not allow it (fs_read)",
				      dir));
		return 0;
	}
	p->installation = dir;
	return open_seen(p, dir, GRANT_READ | GRANT_BY(PACKAGE), err);
}

/* Of the i-th file that a program comes to: itself, or what runs it. */
static unsigned file_reason(const struct prepared *p, const struct resolved *r,
			    size_t i)
{
	if (r != &p->program)
		return GRANT_BY(EXEC);
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
		install_of_program(f->asked, f->path, p->gate->home_path,
				   &p->arena, &in);
		if (add_installation(p, &in, err) < 0 ||
		    add_git_helpers(p, f, err) < 0)
			return -1;
		if (f->is_script && add_script_package(p, f->path, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- arguments that are files ---- */

static const char *absolute(struct prepared *p, const char *path)
{
	if (path[0] == '/')
		return path;
	if (!p->request->cwd || !*path)
		return NULL;
	return arena_printf(&p->arena, "%s/%s", p->request->cwd, path);
}

/*
 * A file named as a whole argument is met with the leash, whatever the program
 * makes of it. Only a script comes with the folder of its package.
 */
static int add_argument(struct prepared *p, const char *arg, bool is_script,
			struct err *err)
{
	const struct gate_axis *axis = &p->gate->config.leash.fs_read;
	const char *path = absolute(p, arg), *real;
	const struct grant *g;
	AUTO(fd_closep) int fd = -1;
	struct stat st;

	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = fd_open(path, O_PATH, 0);
	real = fd < 0 ? NULL : resolve_fd_path(fd, &p->arena);
	if (!real || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (!allow_axis_covers(axis, real)) {
		list_add(&p->policy.capped, &p->arena,
			 arena_printf(&p->arena,
				      "argument \"%s\": not readable, the "
				      "leash does not allow it (fs_read)",
				      arg));
		return 0;
	}
	/* opened a second time; what is granted is what was judged */
	if (grants_open(&p->grants, path,
			GRANT_READ | GRANT_ASKED | GRANT_BY(ARGUMENT), &g,
			err) ||
	    strcmp(g->path, real) != 0)
		return err_set(err, ERR_POLICY,
			       "argument %s: changed while it was judged", arg);
	if (arg[0] != '/' && allow_covers(p->request->cwd, real))
		p->cwd_shown = true;
	return is_script ? add_script_package(p, real, err) : 0;
}

static int add_arguments(struct prepared *p, struct err *err)
{
	const struct resolved_file *program = &p->program.file[0];
	struct strlist argv = {NULL, 0};
	size_t script = 0;

	while (p->request->argv[argv.n])
		list_add(&argv, &p->arena, p->request->argv[argv.n]);
	/* what a script is told is its own */
	if (!p->program.prefix.n)
		script = programs_script(program->asked, program->path, &argv);
	for (size_t i = 1; i < argv.n; i++)
		if (add_argument(p, argv.item[i], i == script, err) < 0)
			return -1;
	return 0;
}

/* ---- the policy ---- */

/* What a link led to is judged again, against rows as they really lie. */
static bool leash_covers(const struct gate_axis *axis, const char *path)
{
	char real[PATH_MAX];

	if (allow_axis_covers(axis, path))
		return true;
	for (size_t i = 0; i < axis->only.n; i++)
		if (realpath(axis->only.item[i], real) &&
		    allow_covers(real, path))
			return true;
	return false;
}

static int missing(const struct prepared *p, const char *path, bool is_write,
		   struct err *err)
{
	if (is_write)
		return err_set(err, ERR_POLICY,
			       "write: %s does not exist; mkdir -p %s", path,
			       path);
	if (p->for_start)
		log_warning("read: %s does not exist", path);
	return 0;
}

static int check_protected(struct prepared *p, const char *path,
			   struct err *err)
{
	const struct strlist *protect = &p->gate->config.protect;

	for (size_t i = 0; i < protect->n; i++)
		if (allow_covers(protect->item[i], path))
			return err_set(
				err, ERR_POLICY,
				"write: %s belongs to matins itself (%s) "
				"and is never writable",
				path, protect->item[i]);
	return 0;
}

static int add_grant(struct prepared *p, const char *path, unsigned what,
		     struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;
	bool is_write = what & (GRANT_WRITE | GRANT_WRITE_ONLY);
	const struct grant *g;
	int r;

	what |= GRANT_ASKED | (is_write ? GRANT_BY(WRITE) : GRANT_BY(READ));
	r = grants_open(&p->grants, path, what, &g, err);

	if (r < 0)
		return err_wrap(err, is_write ? "write" : "read");
	if (r > 0)
		return missing(p, path, is_write, err);
	if (!leash_covers(is_write ? &leash->fs_write : &leash->fs_read,
			  g->path))
		return err_set(err, ERR_LEASH,
			       "%s: %s leads to %s, which the leash (%s) does "
			       "not allow",
			       is_write ? "write" : "read", path, g->path,
			       leash->source ? leash->source : "given");
	for (size_t i = 0; i < ARRAY_LEN(program_dirs); i++)
		p->open_programs |= allow_covers(g->path, program_dirs[i]);
	return is_write ? check_protected(p, g->path, err) : 0;
}

/* The host's /tmp is a grant like others, so the leash may not have it. */
static int share_tmp(struct prepared *p, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (!p->policy.tmp_shared)
		return 0;
	if (allow_axis_covers(&leash->fs_write, "/tmp") &&
	    allow_axis_covers(&leash->fs_read, "/tmp"))
		/* not as asked for: HOME stays private in there */
		return open_seen(p, "/tmp", GRANT_WRITE | GRANT_BY(TMP), err);
	p->policy.tmp_shared = false;
	list_add(&p->policy.capped, &p->arena,
		 "tmp \"shared\": private, the leash does not allow /tmp "
		 "(fs_read, fs_write)");
	return 0;
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
	return share_tmp(p, err);
}

/*
 * A link that an earlier child could have made, being in what this one may
 * write, must not lead to more than that.
 */
static bool is_own_link(struct prepared *p, const char *link,
			const struct stat *st, const void *target)
{
	const unsigned write = GRANT_WRITE | GRANT_WRITE_ONLY;

	(void)st;
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (g->what & write && strcmp(g->path, target) != 0 &&
		    allow_covers(g->path, link) &&
		    !allow_covers(g->path, target))
			return false;
	}
	return true;
}

static bool is_asked(const struct prepared *p, const char *path)
{
	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & GRANT_ASKED &&
		    strcmp(p->grants.grant[i].path, path) == 0)
			return true;
	return false;
}

static int check_links(struct prepared *p, struct err *err)
{
	for (size_t i = 0; i < p->grants.n_links; i++) {
		const struct grant_link *l = &p->grants.link[i];

		if (is_asked(p, l->target) &&
		    !prepared_each_link(p, l->path, is_own_link, l->target))
			return err_set(err, ERR_POLICY,
				       "%s leads to %s by a link in a folder "
				       "that the program may write; if that is "
				       "meant, name %s itself",
				       l->path, l->target, l->target);
	}
	return 0;
}

int prepare_grants(struct prepared *p, struct err *err)
{
	if (add_policy(p, err) < 0 || add_program(p, &p->program, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_execs; i++)
		if (add_program(p, &p->execs[i], err) < 0)
			return -1;
	if (add_arguments(p, err) < 0)
		return -1;
	if (check_links(p, err) < 0)
		return -1;
	return prepare_sealed(p, err);
}
