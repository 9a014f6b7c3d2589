#include "gate/prepare/direct.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/path/npm_prefix.h"
#include "gate/policy/allow.h"
#include "gate/policy/package.h"
#include "gate/policy/recipes.h"
#include "gate/prepare/state.h"

/* Bytes of package.json, and of the start of a program. */
#define JSON_BYTES (1024 * 1024)
#define HEAD_BYTES 4096

/* One command of a launcher. */
struct launching {
	struct prepared *p;
	struct package_asked asked;
	struct strlist modules; /* folders node_modules, the nearest first */
	const char *global;	/* the last of them; NULL: not among them */
	const char *project;	/* folder that the nearest lies in, or would */
	const char *other;	/* "name 1.2.3": there, and not asked for */
	struct err *err;
};

/* A package that was found. */
struct found {
	const char *folder; /* as it was found: links not followed */
	struct walk at;
	struct package package;
};

static const char *join(struct launching *l, const char *folder,
			const char *name)
{
	return arena_printf(&l->p->arena, "%s/%s", folder, name);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- folders and files of packages ---- */

/* Whoever may change these could have another program started. */
static int judge_owners(struct launching *l, const char *path,
			const struct walk *w)
{
	bool is_trusted = resolve_is_trusted(w->st.st_uid);

	for (size_t i = 0; i < w->n_links; i++)
		is_trusted &= resolve_is_trusted(w->link[i].st.st_uid);
	if (!is_trusted)
		return err_set(l->err, ERR_POLICY,
			       "%s: %s belongs to another user, or is reached "
			       "by a link of theirs",
			       l->asked.launcher, path);
	if (w->st.st_mode & 0002)
		return err_set(l->err, ERR_POLICY,
			       "%s: %s can be changed by everybody; chmod o-w "
			       "it",
			       l->asked.launcher, path);
	return 0;
}

/* Read a file of the package; false: it has none that is a regular file. */
static bool read_in(const struct walk *at, const char *name, struct buf *out)
{
	AUTO(fd_closep)
	int fd = openat(at->fd, name,
			O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
				O_NOFOLLOW);
	struct err ignored = ERR_INIT;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       fd_read_all(fd, out, &ignored) == 0;
}

/* 1: the folder holds a package; 0: it does not. Release .at in any case. */
static int open_package(struct launching *l, const char *folder,
			struct found *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(JSON_BYTES);
	struct err why = ERR_INIT;

	*ret = (struct found){.folder = folder, .at = WALK_INIT};
	if (walk_open(folder, &l->p->arena, &ret->at) < 0 || !ret->at.path ||
	    !S_ISDIR(ret->at.st.st_mode))
		return 0;
	if (judge_owners(l, folder, &ret->at) < 0)
		return -1;
	if (ret->at.n_links && place_beneath(&l->p->gate->homes, ret->at.path))
		return err_set(l->err, ERR_POLICY,
			       "%s: %s leads to HOME, or to a folder that "
			       "holds it",
			       l->asked.launcher, folder);
	if (!read_in(&ret->at, "package.json", &text))
		return 0;
	if (package_json(buf_str(&text), &l->p->arena, &ret->package, &why) < 0)
		return err_set(l->err, ERR_POLICY, "%s/package.json: %s",
			       folder, why.msg);
	return 1;
}

/* ---- what is started ---- */

/* The name of a package and its version, for people. */
static const char *title(struct launching *l, const struct package *k)
{
	return arena_printf(&l->p->arena, "%s%s%s",
			    k->name ? k->name : l->asked.spec[0].name,
			    k->version ? " " : "",
			    k->version ? k->version : "");
}

static void start(struct launching *l, struct strlist argv, const char *what)
{
	struct prepared *p = l->p;
	const struct package_asked *a = &l->asked;
	const char *program = argv.item[0], *tag = "";
	struct gate_request *request;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < argv.n; i++)
		buf_addf(&text, " %s", argv.item[i]);
	for (size_t i = 0; i < a->n && !*tag; i++)
		if (package_is_tag(a, &a->spec[i]))
			tag = arena_printf(&p->arena,
					   "; what is installed counts as %.*s",
					   STR_ARG(a->spec[i].version));
	p->direct.says =
		arena_printf(&p->arena, "%s %s: runs%s (%s%s)", a->launcher,
			     a->program, buf_cstr(&text), what, tag);
	for (size_t i = 0; i < a->args.n; i++)
		list_add(&argv, &p->arena, a->args.item[i]);
	list_add(&argv, &p->arena, NULL);
	p->direct.written = p->request;
	request = ARENA_NEW(&p->arena, struct gate_request);
	*request = *p->request;
	request->program = program;
	request->argv = argv.item;
	p->request = request;
}

/*
 * Words in front of a script of node: [node], [node, --flag]. Empty: it is no
 * such script, or one whose first line only env(1) can read.
 */
static struct strlist node_words(struct launching *l, const char *path,
				 struct str head)
{
	struct arena *arena = &l->p->arena;
	struct strlist words = {NULL, 0};
	struct str interpreter, argument, target, rest;

	if (!resolve_shebang(head, &interpreter, &argument)) {
		if (!str_starts(head, "\177ELF") &&
		    (str_ends(str_of(path), ".js") ||
		     str_ends(str_of(path), ".mjs") ||
		     str_ends(str_of(path), ".cjs")))
			list_add(&words, arena, "node");
		return words;
	}
	rest = argument;
	if (!str_ends(interpreter, "/env") || str_find(rest, '=') < rest.n)
		return words;
	if (str_starts(rest, "-S"))
		rest = str_trim((struct str){rest.p + 2, rest.n - 2});
	target = str_cut(&rest, ' ');
	if (!str_is(target, "node") && !str_is(target, "nodejs"))
		return words;
	/* without -S the whole argument is the name of a program */
	if (rest.n && !str_starts(argument, "-S"))
		return words;
	for (size_t i = 0; i < argument.n; i++)
		if (strchr("\"'\\$#", argument.p[i]))
			return words;
	list_add(&words, arena, arena_strndup(arena, target.p, target.n));
	while (rest.n) {
		struct str word = str_cut(&rest, ' ');

		if (word.n)
			list_add(&words, arena,
				 arena_strndup(arena, word.p, word.n));
	}
	return words;
}

/* Start of a program, which lies in `root`, has a trusted owner, is a file. */
static int read_head(struct launching *l, const char *root, const char *path,
		     const char **ret_real, char head[HEAD_BYTES],
		     size_t *ret_n)
{
	AUTO(fd_closep) int fd = -1;
	struct walk w = WALK_INIT;
	struct stat st;
	ssize_t n = -1;
	int r = 0;

	if (walk_open(path, &l->p->arena, &w) < 0)
		return err_set(l->err, ERR_NOT_FOUND,
			       "%s: %s is missing from its package; install it "
			       "again",
			       l->asked.launcher, path);
	if (!w.path || !place_covers(root, w.path))
		r = err_set(l->err, ERR_POLICY,
			    "%s: %s leads to %s, out of its package",
			    l->asked.launcher, path, w.path ? w.path : "?");
	else if (!S_ISREG(w.st.st_mode))
		r = err_set(l->err, ERR_POLICY, "%s: %s is not a regular file",
			    l->asked.launcher, path);
	else
		r = judge_owners(l, path, &w);
	if (r == 0)
		fd = fd_open(w.path,
			     O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, 0);
	if (fd >= 0 && fstat(fd, &st) == 0 && stat_is_same(&st, &w.st))
		n = pread(fd, head, HEAD_BYTES, 0);
	if (r == 0 && n < 0)
		r = err_sys(l->err, errno, "read %s", path);
	*ret_real = w.path;
	*ret_n = n < 0 ? 0 : (size_t)n;
	walk_release(&w);
	return r;
}

/*
 * Start a file of a package of npm; 1, or -1 and an error.
 *
 * modules  the folder that it was found in; NULL: the project itself
 */
static int start_file(struct launching *l, const char *modules, struct found *f,
		      const char *path)
{
	struct arena *arena = &l->p->arena;
	char bytes[HEAD_BYTES];
	struct str head = {bytes, 0};
	const char *file = join(l, f->folder, path);
	struct strlist argv;
	const char *real;

	if (!package_path_is_inside(path))
		return err_set(l->err, ERR_POLICY,
			       "%s: the program of %s is %s, which leads out "
			       "of its package",
			       l->asked.launcher, title(l, &f->package), path);
	if (read_head(l, f->at.path, file, &real, bytes, &head.n) < 0)
		return -1;
	argv = node_words(l, path, head);
	if (argv.n && l->asked.wants_bun)
		argv.item[0] = "bun";
	/* a package behind a link is granted as any path with links is, and
	   finds the others where it was found itself */
	list_add(&argv, arena, f->at.n_links ? file : real);
	if (f->at.n_links && modules && !place_covers(modules, real))
		l->p->direct.modules = modules;
	start(l, argv, title(l, &f->package));
	return 1;
}

/* ---- npm ---- */

static void add_modules(struct launching *l, const char *folder)
{
	const char *modules =
		join(l, strcmp(folder, "/") ? folder : "", "node_modules");

	if (!is_folder(modules))
		return;
	list_add(&l->modules, &l->p->arena, modules);
	if (!l->project)
		l->project = folder;
}

/* Folders of packages from the working directory up. */
static void find_modules(struct launching *l)
{
	struct arena *arena = &l->p->arena;
	const char *cwd = l->p->request->cwd;
	const char *dir = cwd ? resolve_links(cwd, arena) : NULL;

	while (dir) {
		if (!l->project &&
		    access(join(l, dir, "package.json"), F_OK) == 0)
			l->project = dir;
		add_modules(l, dir);
		dir = strcmp(dir, "/") ? resolve_dirname(dir, arena) : NULL;
	}
}

static void find_global(struct launching *l)
{
	const char *prefix;

	if (l->global)
		return;
	prefix = npm_prefix(l->p->request->env, l->p->gate->home, &l->p->arena);
	l->global = prefix ? join(l, prefix, "lib/node_modules") : "";
	if (is_folder(l->global))
		list_add(&l->modules, &l->p->arena, l->global);
	else
		l->global = "";
}

/* A program of the project itself, which needs no installation. */
static int try_project(struct launching *l)
{
	const struct package_bin *bin = NULL;
	struct found f;
	int r;

	if (!l->project)
		return 0;
	r = open_package(l, l->project, &f);
	for (size_t i = 0; r == 1 && i < f.package.n_bins; i++)
		if (strcmp(f.package.bin[i].name, l->asked.program) == 0)
			bin = &f.package.bin[i];
	if (r == 1)
		r = bin ? start_file(l, NULL, &f, bin->path) : 0;
	walk_release(&f.at);
	return r;
}

/*
 * Follow an entry of a folder of programs into the package it is of.
 *
 * bin      the entry
 * link     where packages begin in its text: "../", "../lib/node_modules/"
 */
static int try_bin(struct launching *l, const char *modules, const char *bin,
		   const char *link)
{
	AUTO(buf_release) struct buf shim = BUF_INIT(HEAD_BYTES);
	struct arena *arena = &l->p->arena;
	const char *folder, *path;
	struct err ignored = ERR_INIT;
	char text[PATH_MAX];
	ssize_t n = readlink(bin, text, sizeof(text));
	struct str to = {text, n < 0 ? 0 : (size_t)n};
	struct found f;
	int r;

	if (n < 0 && fd_read_regular(bin, &shim, &ignored) == 0)
		to = package_shim(buf_str(&shim));
	if (!to.n || to.n == sizeof(text) || !str_starts(to, link))
		return 0;
	to = arena_str(arena, to);
	to.p = arena_printf(arena, "../%.*s", (int)(to.n - strlen(link)),
			    to.p + strlen(link));
	to.n = strlen(to.p);
	if (!package_split(to, arena, &folder, &path))
		return err_set(l->err, ERR_POLICY,
			       "%s: %s leads to %.*s, which is no file of a "
			       "package in %s",
			       l->asked.launcher, bin, STR_ARG(to), modules);
	r = open_package(l, join(l, modules, folder), &f);
	if (r == 1)
		r = start_file(l, modules, &f, path);
	walk_release(&f.at);
	return r;
}

/* The program of a package that was found in the version asked for. */
static int try_program(struct launching *l, const char *modules,
		       struct found *f)
{
	const char *name = l->asked.is_named ? l->asked.program : NULL;
	const struct package_bin *bin = package_bin(&f->package, name);
	AUTO(buf_release) struct buf names = BUF_INIT(BUF_UNBOUNDED);

	if (bin)
		return start_file(l, modules, f, bin->path);
	if (name && l->asked.n > 1)
		return 0;
	for (size_t i = 0; i < f->package.n_bins; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", f->package.bin[i].name);
	if (!f->package.n_bins)
		return err_set(l->err, ERR_POLICY, "%s: %s has no program",
			       l->asked.launcher, title(l, &f->package));
	return err_set(l->err, ERR_POLICY,
		       name ? "%s: %s has no program %s; it has %s"
			    : "%s: %s has no program %s; choose with -p "
			      "PACKAGE PROGRAM: %s",
		       l->asked.launcher, title(l, &f->package),
		       name ? name : "of its own name", buf_cstr(&names));
}

static int try_package(struct launching *l, const char *modules,
		       const struct package_spec *spec)
{
	struct found f;
	int r = open_package(l, join(l, modules, spec->name), &f);

	if (r == 1 &&
	    !package_version_fits(&l->asked, spec,
				  f.package.version ? f.package.version : "")) {
		if (!l->other)
			l->other = title(l, &f.package);
		r = 0;
	}
	if (r == 1)
		r = try_program(l, modules, &f);
	walk_release(&f.at);
	return r;
}

static int try_bins(struct launching *l)
{
	const char *program = l->asked.program;
	int r = try_project(l);

	for (size_t i = 0; r == 0 && i < l->modules.n; i++) {
		const char *modules = l->modules.item[i];

		r = try_bin(l, modules,
			    arena_printf(&l->p->arena, "%s/.bin/%s", modules,
					 program),
			    "../");
	}
	if (r != 0)
		return r;
	find_global(l);
	if (!*l->global)
		return 0;
	return try_bin(l, l->global,
		       arena_printf(&l->p->arena, "%s/../../bin/%s", l->global,
				    program),
		       "../lib/node_modules/");
}

/* 1: found; 0: not installed. */
static int find_npm(struct launching *l)
{
	const struct package_asked *a = &l->asked;
	int r = 0;

	find_modules(l);
	if (!a->is_named && !strchr(a->program + 1, '@') &&
	    !strchr(a->program, '/'))
		r = try_bins(l);
	if (r == 0)
		find_global(l);
	for (size_t i = 0; r == 0 && i < a->n; i++)
		for (size_t k = 0; r == 0 && k < l->modules.n; k++)
			r = try_package(l, l->modules.item[k], &a->spec[i]);
	return r;
}

/* ---- python ---- */

/* As names are compared: lower case, one dash for each run of . _ - */
static const char *pypi_name(const char *name, char dash, struct arena *arena)
{
	char *out = arena_strdup(arena, name), *to = out;

	for (const char *s = name; *s; s++) {
		bool is_dash = strchr("._-", *s);

		if (is_dash && to > out && to[-1] == dash)
			continue;
		*to++ = is_dash ? dash : *s >= 'A' && *s <= 'Z' ? *s + 32 : *s;
	}
	*to = '\0';
	return out;
}

/* Take the version from the name of a folder, "the_name-1.2.3.dist-info". */
static const char *version_in(struct launching *l, const char *site,
			      const char *name)
{
	const char *begin = pypi_name(name, '_', &l->p->arena);
	const char *version = NULL;
	DIR *dir = opendir(site);
	struct dirent *e;

	while (dir && !version && (e = readdir(dir))) {
		struct str rest = str_of(e->d_name), is = str_cut(&rest, '-');

		if (str_ends(rest, ".dist-info") &&
		    strcmp(pypi_name(arena_strndup(&l->p->arena, is.p, is.n),
				     '_', &l->p->arena),
			   begin) == 0)
			version = arena_strndup(&l->p->arena, rest.p,
						rest.n - strlen(".dist-info"));
	}
	if (dir)
		closedir(dir);
	return version;
}

static const char *python_version(struct launching *l, const char *venv,
				  const char *name)
{
	const char *lib = join(l, venv, "lib"), *version = NULL;
	DIR *dir = opendir(lib);
	struct dirent *e;

	while (dir && !version && (e = readdir(dir)))
		if (str_starts(str_of(e->d_name), "python"))
			version = version_in(l,
					     arena_printf(&l->p->arena,
							  "%s/%s/site-packages",
							  lib, e->d_name),
					     name);
	if (dir)
		closedir(dir);
	return version;
}

/* Scripts of pip name the python of their environment, long paths by sh. */
static bool is_python(struct str head)
{
	struct str first = str_cut(&head, '\n');
	struct str second = str_cut(&head, '\n');

	return str_starts(first, "#!") &&
	       (memmem(first.p, first.n, "python", 6) ||
		str_starts(second, "'''exec'"));
}

static int start_python(struct launching *l, const struct found *f)
{
	struct arena *arena = &l->p->arena;
	char bytes[HEAD_BYTES];
	struct str head = {bytes, 0};
	struct strlist argv = {NULL, 0};
	const char *file =
		arena_printf(arena, "%s/bin/%s", f->folder, l->asked.program);
	const char *real;

	if (access(file, F_OK) < 0)
		return err_set(l->err, ERR_POLICY,
			       "%s: %s has no program %s; choose with %s",
			       l->asked.launcher, title(l, &f->package),
			       l->asked.program, l->asked.tool->from);
	if (read_head(l, f->at.path, file, &real, bytes, &head.n) < 0)
		return -1;
	if (is_python(head))
		list_add(&argv, arena, join(l, f->folder, "bin/python"));
	list_add(&argv, arena, real);
	start(l, argv, title(l, &f->package));
	return 1;
}

/* A tool of uv or pipx is a virtual environment of the name of its package. */
static int try_environment(struct launching *l, const char *tools)
{
	const struct package_spec *spec = &l->asked.spec[0];
	struct found f = {.at = WALK_INIT};
	int r = 0;

	f.folder = join(l, tools, pypi_name(spec->name, '-', &l->p->arena));
	f.package.name = spec->name;
	if (walk_open(f.folder, &l->p->arena, &f.at) < 0 ||
	    !S_ISDIR(f.at.st.st_mode))
		r = 0;
	else if (judge_owners(l, f.folder, &f.at) < 0)
		r = -1;
	else {
		f.package.version = python_version(l, f.folder, spec->name);
		r = package_version_fits(&l->asked, spec,
					 f.package.version ? f.package.version
							   : "");
		if (!r)
			l->other = title(l, &f.package);
	}
	if (r == 1)
		r = start_python(l, &f);
	walk_release(&f.at);
	return r;
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

static int find_python(struct launching *l)
{
	bool is_uv = l->asked.tool->place == PACKAGE_UV;
	const char *home = l->p->gate->home;
	const char *own = setting(is_uv ? "UV_TOOL_DIR" : "PIPX_HOME");
	const char *data = setting("XDG_DATA_HOME");
	int r;

	if (own)
		return try_environment(l, is_uv ? own : join(l, own, "venvs"));
	if (!data && home)
		data = join(l, home, ".local/share");
	r = data ? try_environment(
			   l, join(l, data, is_uv ? "uv/tools" : "pipx/venvs"))
		 : 0;
	if (r == 0 && home && !is_uv)
		r = try_environment(l, join(l, home, ".local/pipx/venvs"));
	return r;
}

/* ---- what is not there ---- */

/* A launcher can fetch and start by itself only with both of these. */
static bool may_fetch(const struct prepared *p)
{
	return p->policy.net != POLICY_NET_NONE &&
	       p->policy.net != POLICY_NET_LOOPBACK &&
	       (p->policy.exec.n || p->policy.preset.n);
}

/* A word as a shell takes it; names of packages need no quotes. */
static const char *quoted(struct launching *l, const char *word)
{
	return strpbrk(word, " <>|*~^!'()=&;$") && !strchr(word, '\'')
		       ? arena_printf(&l->p->arena, "'%s'", word)
		       : word;
}

static int not_installed(struct launching *l)
{
	static const char *const how[] = {
		[PACKAGE_NODE] = "npm install",
		[PACKAGE_UV] = "uv tool install",
		[PACKAGE_PIPX] = "pipx install",
	};
	const struct package_asked *a = &l->asked;
	bool is_node = a->tool->place == PACKAGE_NODE;
	const struct package_spec *spec = &a->spec[0];
	const char *cwd = l->p->request->cwd;

	if (may_fetch(l->p))
		return 0;
	return err_set(
		l->err, ERR_NOT_FOUND, "%s is not installed%s%s%s: %s%s %s%s%s",
		spec->written, l->other ? ", but " : "",
		l->other ? l->other : "", l->other ? " is" : "",
		how[a->tool->place], is_node && !cwd ? " -g" : "",
		quoted(l, spec->written), is_node && cwd ? " (in " : "",
		is_node && cwd ? arena_printf(&l->p->arena, "%s)", cwd) : "");
}

/* ---- the whole ---- */

/*
 * A path is taken for the launcher that its name says where it leads to one;
 * programs of the same name are somebody's own.
 */
static bool is_launcher(struct prepared *p, const char *program)
{
	const char *real = program;

	if (!strchr(program, '/'))
		return true;
	real = program[0] == '/' ? resolve_links(program, &p->arena) : NULL;
	return real && str_has_word("npx-cli.js npm-cli.js bun uvx uv pipx",
				    str_of(resolve_basename(real)));
}

static const char *path_of(struct prepared *p, const char *program)
{
	struct resolved r = RESOLVED_INIT;
	struct err ignored = ERR_INIT;
	const char *path = NULL;

	if (resolve_program(program, NULL, &p->arena, &r, &ignored) == 0)
		path = r.file[0].path;
	resolved_release(&r);
	return path;
}

/* A row of the leash or a rule may name the launcher by its path. */
static bool needs_path(const struct prepared *p, const struct gate_request *r)
{
	const struct gate_axis *exec = &p->gate->config.leash.exec;

	return (r->policy && r->policy->programs.n) ||
	       (!exec->all && !allow_has(&exec->only, r->program));
}

int prepare_direct(struct prepared *p, struct err *err)
{
	const struct gate_request *r = p->request;
	struct launching l = {.p = p, .err = err};
	struct strlist argv = {NULL, 0};
	int found;

	if (!programs_tool(r->program, NULL) || !is_launcher(p, r->program) ||
	    allow_has(&p->policy.preset, RECIPE_NONE))
		return 0;
	list_add(&argv, &p->arena, r->program);
	for (size_t i = 1; r->argv[0] && r->argv[i]; i++)
		list_add(&argv, &p->arena, r->argv[i]);
	if (!package_read(r->program, NULL, &argv, &p->arena, &l.asked))
		return 0;
	if (needs_path(p, r))
		p->direct.path = path_of(p, r->program);
	if (allow_exec(&p->gate->config.leash, r->program, p->direct.path,
		       err) < 0)
		return -1;
	found = l.asked.tool->place == PACKAGE_NODE ? find_npm(&l)
						    : find_python(&l);
	if (found == 0)
		found = not_installed(&l);
	return found < 0 ? -1 : 0;
}
