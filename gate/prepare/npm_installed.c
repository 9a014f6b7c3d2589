#include "gate/prepare/npm_installed.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/path/npm_prefix.h"
#include "gate/path/package_file.h"

/* Bytes of package.json; folders of packages that npx fetched. */
#define JSON_BYTES (1024 * 1024)
#define FETCHED_MAX 256

/* One search. */
struct finding {
	const struct package_search *s;
	struct arena *arena;
	struct package_found *ret;
	struct err *err;
	struct strlist modules; /* folders node_modules, by their order */
	const char *project;	/* that the nearest lies in, or would */
};

/* A package that is there. */
struct at_hand {
	const char *folder;  /* as it was found: links not followed */
	const char *modules; /* that it was found in; NULL: the project */
	struct walk at;
	struct package package;
};

static const char *join(struct finding *f, const char *folder, const char *name)
{
	return arena_printf(f->arena, "%s/%s",
			    strcmp(folder, "/") ? folder : "", name);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Open a package: 1, or 0 where the folder holds none. Release .at anyway. */
static int open_package(struct finding *f, const char *folder,
			const char *modules, struct at_hand *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(JSON_BYTES);
	struct err why = ERR_INIT;
	int r;

	*ret = (struct at_hand){.folder = folder, .modules = modules};
	r = package_folder_open(folder, f->s->homes, f->arena, &ret->at,
				f->err);
	if (r <= 0 || !package_folder_read(&ret->at, "package.json", &text))
		return r < 0 ? -1 : 0;
	if (package_json(buf_str(&text), f->arena, &ret->package, &why) < 0)
		return err_set(f->err, ERR_POLICY, "%s/package.json: %s",
			       folder, why.msg);
	return 1;
}

/* The name of a package and its version, for people. */
static const char *title(struct finding *f, const struct package *k)
{
	return arena_printf(f->arena, "%s%s%s",
			    k->name ? k->name : f->s->asked->spec[0].name,
			    k->version ? " " : "",
			    k->version ? k->version : "");
}

/* ---- the program ---- */

/* Split the argument of env(1) into words; false: only env can read it. */
static bool split_env(struct str argument, struct arena *arena,
		      struct strlist *ret)
{
	bool is_split = str_starts(argument, "-S");

	for (size_t i = 0; i < argument.n; i++)
		if (strchr("\"'\\$#=", argument.p[i]))
			return false;
	if (is_split)
		argument = (struct str){argument.p + 2, argument.n - 2};
	while (argument.n) {
		struct str word = str_cut(&argument, ' ');

		if (word.n)
			list_add(ret, arena,
				 arena_strndup(arena, word.p, word.n));
	}
	/* without -S the whole argument is the name of a program */
	return ret->n && (is_split || ret->n == 1);
}

/*
 * Words in front of a script of node: [node], [node, --flag]. Empty: another
 * program, which is started by what its first line names.
 */
static struct strlist node_words(const char *path, struct str head,
				 struct arena *arena)
{
	static const struct strlist none;
	struct strlist words = {NULL, 0};
	struct str interpreter, argument, name = str_of(path);

	if (!resolve_shebang(head, &interpreter, &argument)) {
		if (!str_starts(head, "\177ELF") &&
		    (str_ends(name, ".js") || str_ends(name, ".mjs") ||
		     str_ends(name, ".cjs")))
			list_add(&words, arena, "node");
		return words;
	}
	if (str_is(interpreter, "/usr/bin/node") ||
	    str_is(interpreter, "/usr/local/bin/node")) {
		list_add(&words, arena,
			 arena_strndup(arena, interpreter.p, interpreter.n));
		if (argument.n)
			list_add(&words, arena,
				 arena_strndup(arena, argument.p, argument.n));
		return words;
	}
	if (!str_ends(interpreter, "/env") ||
	    !split_env(argument, arena, &words) ||
	    (strcmp(words.item[0], "node") != 0 &&
	     strcmp(words.item[0], "nodejs") != 0))
		return none;
	return words;
}

/* Take a file of a package; 1, or -1 and an error. */
static int take_file(struct finding *f, struct at_hand *k, const char *path)
{
	const char *file = join(f, k->folder, path), *real;
	struct package_found *ret = f->ret;
	struct str head;

	ret->title = title(f, &k->package);
	if (!package_path_is_inside(path))
		return err_set(f->err, ERR_POLICY,
			       "the program of %s is %s, which leads out of "
			       "its package",
			       ret->title, path);
	if (package_file_head(&k->at, file, f->arena, &real, &head, f->err) < 0)
		return -1;
	ret->argv = node_words(path, head, f->arena);
	if (ret->argv.n && f->s->asked->wants_bun)
		ret->argv.item[0] = "bun";
	/* a package behind a link is granted as any path with links is, and
	   finds the others where it was found itself */
	list_add(&ret->argv, f->arena, k->at.n_links ? file : real);
	if (k->at.n_links && k->modules && !place_covers(k->modules, real))
		ret->modules = k->modules;
	return 1;
}

/* The program of a package that was found in the version asked for. */
static int take_program(struct finding *f, struct at_hand *k)
{
	const struct package_asked *a = f->s->asked;
	const char *name = a->is_named ? a->program : NULL;
	const struct package_bin *bin = package_bin(&k->package, name);
	AUTO(buf_release) struct buf names = BUF_INIT(BUF_UNBOUNDED);

	if (bin)
		return take_file(f, k, bin->path);
	if (name && a->n > 1)
		return 0;
	for (size_t i = 0; i < k->package.n_bins; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", k->package.bin[i].name);
	if (!k->package.n_bins)
		return err_set(f->err, ERR_POLICY, "%s has no program",
			       title(f, &k->package));
	return err_set(f->err, ERR_POLICY,
		       name ? "%s has no program %s; it has %s"
			    : "%s has no program %s; choose with -p PACKAGE "
			      "PROGRAM: %s",
		       title(f, &k->package), name ? name : "of its own name",
		       buf_cstr(&names));
}

/* ---- folders of packages ---- */

/* Folders from the working directory up. */
static void add_local(struct finding *f)
{
	const char *cwd = f->s->cwd;
	const char *dir = cwd ? resolve_links(cwd, f->arena) : NULL;

	while (dir) {
		const char *modules = join(f, dir, "node_modules");
		bool has_modules = is_folder(modules);

		if (has_modules)
			list_add(&f->modules, f->arena, modules);
		if (!f->project &&
		    (has_modules ||
		     access(join(f, dir, "package.json"), F_OK) == 0))
			f->project = dir;
		dir = strcmp(dir, "/") ? resolve_dirname(dir, f->arena) : NULL;
	}
}

/* Folder of npm's prefix; NULL: there is none. */
static const char *add_global(struct finding *f)
{
	const char *prefix = npm_prefix(f->s->env, f->s->home, f->arena);
	const char *modules =
		prefix ? join(f, prefix, "lib/node_modules") : NULL;

	if (!modules || !is_folder(modules))
		return NULL;
	list_add(&f->modules, f->arena, modules);
	return modules;
}

struct fetched {
	const char *modules;
	struct timespec at;
};

static int newest_first(const void *one, const void *other)
{
	const struct fetched *a = one, *b = other;

	if (a->at.tv_sec != b->at.tv_sec)
		return a->at.tv_sec < b->at.tv_sec ? 1 : -1;
	if (a->at.tv_nsec != b->at.tv_nsec)
		return a->at.tv_nsec < b->at.tv_nsec ? 1 : -1;
	return strcmp(a->modules, b->modules);
}

/* Folders that npx fetched packages into, the newest first. */
static void add_fetched(struct finding *f)
{
	struct fetched *all =
		ARENA_ARRAY(f->arena, struct fetched, FETCHED_MAX);
	const char *cache = npm_cache(f->s->env, f->s->home, f->arena);
	DIR *dir = cache ? opendir(join(f, cache, "_npx")) : NULL;
	struct dirent *e;
	struct stat st;
	size_t n = 0;

	while (dir && n < FETCHED_MAX && (e = readdir(dir))) {
		const char *modules = arena_printf(
			f->arena, "%s/_npx/%s/node_modules", cache, e->d_name);

		if (e->d_name[0] != '.' && stat(modules, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			all[n++] = (struct fetched){modules, st.st_mtim};
	}
	if (dir)
		closedir(dir);
	qsort(all, n, sizeof(*all), newest_first);
	for (size_t i = 0; i < n; i++)
		list_add(&f->modules, f->arena, all[i].modules);
}

/* ---- a program by its own name ---- */

/* A program of the project itself, which needs no installation. */
static int try_project(struct finding *f)
{
	const char *program = f->s->asked->program;
	const struct package_bin *bin = NULL;
	struct at_hand k;
	int r;

	if (!f->project)
		return 0;
	r = open_package(f, f->project, NULL, &k);
	for (size_t i = 0; r == 1 && i < k.package.n_bins; i++)
		if (strcmp(k.package.bin[i].name, program) == 0)
			bin = &k.package.bin[i];
	if (r == 1)
		r = bin ? take_file(f, &k, bin->path) : 0;
	walk_release(&k.at);
	return r;
}

/* Text of an entry among programs: of a link, or of what pnpm puts there. */
static struct str entry_text(const char *path, struct arena *arena)
{
	AUTO(buf_release) struct buf script = BUF_INIT(PACKAGE_HEAD_BYTES);
	struct err ignored = ERR_INIT;
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text));
	struct str to = {text, n < 0 ? 0 : (size_t)n};

	if (n < 0 && fd_read_regular(path, &script, &ignored) == 0)
		to = package_shim(buf_str(&script));
	return to.n < sizeof(text) ? arena_str(arena, to)
				   : (struct str){NULL, 0};
}

/*
 * Follow an entry among programs into the package that it is of.
 *
 * begins  packages lie behind this in its text: "../", "../lib/node_modules/"
 */
static int try_entry(struct finding *f, const char *modules, const char *entry,
		     const char *begins)
{
	struct str to = entry_text(entry, f->arena);
	const char *folder, *path, *link;
	struct at_hand k;
	int r;

	if (!str_starts(to, begins))
		return 0;
	link = arena_printf(f->arena, "../%s", to.p + strlen(begins));
	if (!package_split(str_of(link), f->arena, &folder, &path))
		return err_set(f->err, ERR_POLICY,
			       "%s leads to %s, which is no file of a package "
			       "in %s",
			       entry, to.p, modules);
	r = open_package(f, join(f, modules, folder), modules, &k);
	if (r == 1)
		r = take_file(f, &k, path);
	walk_release(&k.at);
	return r;
}

static int try_local(struct finding *f)
{
	int r = try_project(f);

	for (size_t i = 0; r == 0 && i < f->modules.n; i++)
		r = try_entry(f, f->modules.item[i],
			      arena_printf(f->arena, "%s/.bin/%s",
					   f->modules.item[i],
					   f->s->asked->program),
			      "../");
	return r;
}

static int try_global(struct finding *f, const char *modules)
{
	return modules ? try_entry(f, modules,
				   arena_printf(f->arena, "%s/../../bin/%s",
						modules, f->s->asked->program),
				   "../lib/node_modules/")
		       : 0;
}

/* ---- a package by its name ---- */

static int try_package(struct finding *f, const char *modules,
		       const struct package_spec *spec)
{
	struct at_hand k;
	int r = open_package(f, join(f, modules, spec->name), modules, &k);

	if (r == 1 &&
	    !package_version_fits(f->s->asked, spec,
				  k.package.version ? k.package.version : "")) {
		if (!f->ret->instead)
			f->ret->instead = title(f, &k.package);
		r = 0;
	}
	if (r == 1)
		r = take_program(f, &k);
	walk_release(&k.at);
	return r;
}

static int try_packages(struct finding *f, size_t from)
{
	const struct package_asked *a = f->s->asked;
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n; i++)
		for (size_t k = from; r == 0 && k < f->modules.n; k++)
			r = try_package(f, f->modules.item[k], &a->spec[i]);
	return r;
}

int npm_installed(const struct package_search *s, struct arena *arena,
		  struct package_found *ret, struct err *err)
{
	struct finding f = {.s = s, .arena = arena, .ret = ret, .err = err};
	bool is_bare = !s->asked->is_named && !s->asked->spec[0].version.n &&
		       !strpbrk(s->asked->program, "@/");
	const char *global;
	size_t n;
	int r;

	*ret = (struct package_found){.title = NULL};
	add_local(&f);
	r = is_bare ? try_local(&f) : 0;
	if (r == 0 && !is_bare)
		r = try_packages(&f, 0);
	if (r != 0)
		return r;
	n = is_bare ? 0 : f.modules.n;
	global = add_global(&f);
	r = is_bare ? try_global(&f, global) : 0;
	if (r == 0)
		r = try_packages(&f, n);
	if (r != 0)
		return r;
	n = f.modules.n;
	add_fetched(&f);
	return try_packages(&f, n);
}
