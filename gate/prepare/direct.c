#include "gate/prepare/parts.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "core/base/text.h"
#include "gate/path/npm_prefix.h"
#include "gate/path/package_file.h"
#include "gate/policy/allow.h"
#include "gate/policy/package.h"
#include "gate/policy/recipes.h"

/* Bytes of package.json; folders of packages that npx fetched. */
#define JSON_BYTES (1024 * 1024)
#define FETCHED_MAX 256

/* One search for a program, and what is found. */
struct search {
	struct prepared *p;
	struct arena *arena; /* of .p */
	const struct package_asked *asked;
	struct err *err;
	struct strlist modules; /* folders node_modules, by their order */
	const char *project;	/* folder of the nearest node_modules */
	struct strlist argv;	/* up to the program: [node, /…/index.js] */
	const char *title;	/* "name 1.2.3" */
	const char *link;    /* node_modules with a link to the package, which
				lies elsewhere; or NULL */
	const char *instead; /* nothing was found but this, "name 1.0.0" */
};

static const char *title(struct arena *arena, const char *name,
			 const char *version)
{
	return arena_printf(arena, "%s%s%s", name, *version ? " " : "",
			    version);
}

/* ---- packages of npm ---- */

/* A package that is there. */
struct at_hand {
	const char *folder;  /* as it was found: links not followed */
	const char *modules; /* node_modules of it; NULL: the project */
	struct walk at;
	struct package package;
};

static const char *join(struct search *f, const char *folder, const char *name)
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
static int open_package(struct search *f, const char *folder,
			const char *modules, struct at_hand *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(JSON_BYTES);
	struct err why = ERR_INIT;
	int r;

	*ret = (struct at_hand){.folder = folder, .modules = modules};
	r = package_folder_open(folder, &f->p->gate->homes, f->arena, &ret->at,
				f->err);
	if (r <= 0 || !package_folder_read(&ret->at, "package.json", &text))
		return r < 0 ? -1 : 0;
	if (package_json(buf_str(&text), f->arena, &ret->package, &why) < 0)
		return err_set(f->err, ERR_POLICY, "%s/package.json: %s",
			       folder, why.msg);
	return 1;
}

static const char *title_of(struct search *f, const struct package *k)
{
	return title(f->arena, k->name ? k->name : f->asked->spec[0].name,
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
		argument = str_skip(argument, 2);
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
static int take_file(struct search *f, struct at_hand *k, const char *path)
{
	const char *file = join(f, k->folder, path), *real;
	struct str head;

	f->title = title_of(f, &k->package);
	if (!package_path_is_inside(path))
		return err_set(f->err, ERR_POLICY,
			       "the program of %s is %s, which leads out of "
			       "its package",
			       f->title, path);
	if (package_file_head(&k->at, file, f->arena, &real, &head, f->err) < 0)
		return -1;
	f->argv = node_words(path, head, f->arena);
	if (f->argv.n && f->asked->wants_bun)
		f->argv.item[0] = "bun";
	/* a package behind a link is granted as any path with links is, and
	   finds the others where it was found itself */
	list_add(&f->argv, f->arena, k->at.n_links ? file : real);
	if (k->at.n_links && k->modules && !place_covers(k->modules, real))
		f->link = k->modules;
	return 1;
}

/* The program of a package that was found in the version asked for. */
static int take_program(struct search *f, struct at_hand *k)
{
	const struct package_asked *a = f->asked;
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
			       title_of(f, &k->package));
	return err_set(f->err, ERR_POLICY,
		       name ? "%s has no program %s; it has %s"
			    : "%s has no program %s; choose with -p PACKAGE "
			      "PROGRAM: %s",
		       title_of(f, &k->package),
		       name ? name : "of its own name", buf_cstr(&names));
}

/* ---- folders of packages ---- */

/* Folders from the working directory up. */
static void add_local(struct search *f)
{
	const char *cwd = f->p->request->cwd;
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
static const char *add_global(struct search *f)
{
	const char *prefix =
		npm_prefix(f->p->request->env, f->p->gate->home, f->arena);
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
static void add_fetched(struct search *f)
{
	struct fetched *all =
		ARENA_ARRAY(f->arena, struct fetched, FETCHED_MAX);
	const char *cache =
		npm_cache(f->p->request->env, f->p->gate->home, f->arena);
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
static int try_project(struct search *f)
{
	const char *program = f->asked->program;
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
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text));
	struct str to = {text, n < 0 ? 0 : (size_t)n};

	if (n < 0 && fd_read_regular(path, &script, ERR_IGNORED) == 0)
		to = package_shim(buf_str(&script));
	return to.n < sizeof(text) ? arena_str(arena, to)
				   : (struct str){NULL, 0};
}

/*
 * Follow an entry among programs into the package that it is of.
 *
 * begins  packages lie behind this in its text: "../", "../lib/node_modules/"
 */
static int try_entry(struct search *f, const char *modules, const char *entry,
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

static int try_local(struct search *f)
{
	int r = try_project(f);

	for (size_t i = 0; r == 0 && i < f->modules.n; i++)
		r = try_entry(f, f->modules.item[i],
			      arena_printf(f->arena, "%s/.bin/%s",
					   f->modules.item[i],
					   f->asked->program),
			      "../");
	return r;
}

static int try_global(struct search *f, const char *modules)
{
	return modules ? try_entry(f, modules,
				   arena_printf(f->arena, "%s/../../bin/%s",
						modules, f->asked->program),
				   "../lib/node_modules/")
		       : 0;
}

/* ---- a package by its name ---- */

static int try_package(struct search *f, const char *modules,
		       const struct package_spec *spec)
{
	struct at_hand k;
	int r = open_package(f, join(f, modules, spec->name), modules, &k);

	if (r == 1 &&
	    !package_version_fits(f->asked, spec,
				  k.package.version ? k.package.version : "")) {
		if (!f->instead)
			f->instead = title_of(f, &k.package);
		r = 0;
	}
	if (r == 1)
		r = take_program(f, &k);
	walk_release(&k.at);
	return r;
}

static int try_packages(struct search *f, size_t from)
{
	const struct package_asked *a = f->asked;
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n; i++)
		for (size_t k = from; r == 0 && k < f->modules.n; k++)
			r = try_package(f, f->modules.item[k], &a->spec[i]);
	return r;
}

/* Look where npx would: 1; 0: nothing, or another version (.instead). */
static int find_node(struct search *f)
{
	bool is_bare = !f->asked->is_named && !f->asked->spec[0].version.n &&
		       !strpbrk(f->asked->program, "@/");
	const char *global;
	size_t n;
	int r;

	add_local(f);
	r = is_bare ? try_local(f) : 0;
	if (r == 0 && !is_bare)
		r = try_packages(f, 0);
	if (r != 0)
		return r;
	n = is_bare ? 0 : f->modules.n;
	global = add_global(f);
	r = is_bare ? try_global(f, global) : 0;
	if (r == 0)
		r = try_packages(f, n);
	if (r != 0)
		return r;
	n = f->modules.n;
	add_fetched(f);
	return try_packages(f, n);
}

/* ---- tools of uv and pipx ---- */

/* Name as PyPI compares it: lower case, one dash for each run of . _ - */
static const char *plain_name(struct str name, struct arena *arena)
{
	char *out = arena_strndup(arena, name.p, name.n), *to = out;

	for (const char *s = out; *s; s++) {
		bool is_dash = strchr("._-", *s);

		if (is_dash && to > out && to[-1] == '-')
			continue;
		*to++ = is_dash ? '-' : *s >= 'A' && *s <= 'Z' ? *s + 32 : *s;
	}
	*to = '\0';
	return out;
}

/* "the_name-1.2.3.dist-info" */
static bool is_info(const char *entry, const char *name, struct arena *arena)
{
	struct str rest = str_of(entry), begin = str_cut(&rest, '-');

	return str_ends(rest, ".dist-info") &&
	       strcmp(plain_name(begin, arena), name) == 0;
}

/*
 * The first entry of a folder that tells of a package; NULL: there is none.
 * name  NULL: that is called python3.12 and the like
 */
static const char *entry_of(const char *folder, const char *name,
			    struct arena *arena)
{
	const char *found = NULL;
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && !found && (e = readdir(dir)))
		if (name ? is_info(e->d_name, name, arena)
			 : str_starts(str_of(e->d_name), "python"))
			found = arena_strdup(arena, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Version of a package in an environment; "" where it says none. */
static const char *version_of(const char *venv, const char *name,
			      struct arena *arena)
{
	const char *lib = arena_printf(arena, "%s/lib", venv), *info;
	size_t begin;

	lib = arena_printf(arena, "%s/%s/site-packages", lib,
			   entry_of(lib, NULL, arena));
	info = entry_of(lib, name, arena);
	if (!info)
		return "";
	begin = strcspn(info, "-") + 1;
	return arena_strndup(arena, info + begin,
			     strlen(info) - begin - strlen(".dist-info"));
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

static int take_script(struct search *f, const char *venv,
		       const struct walk *at)
{
	const char *program = f->asked->program, *real;
	const char *file = arena_printf(f->arena, "%s/bin/%s", venv, program);
	struct str head;

	if (strchr(program, '/') || access(file, F_OK) < 0)
		return err_set(f->err, ERR_POLICY,
			       "%s has no program %s; name the package with "
			       "%s PACKAGE PROGRAM",
			       f->title, program, f->asked->tool->from);
	if (package_file_head(at, file, f->arena, &real, &head, f->err) < 0)
		return -1;
	if (is_python(head))
		list_add(&f->argv, f->arena,
			 arena_printf(f->arena, "%s/bin/python", venv));
	list_add(&f->argv, f->arena, real);
	return 1;
}

/* tools  folder of virtual environments, one a package */
static int look_in(struct search *f, const char *tools)
{
	const struct package_spec *spec = &f->asked->spec[0];
	const char *name = plain_name(str_of(spec->name), f->arena);
	const char *venv = arena_printf(f->arena, "%s/%s", tools, name);
	const char *version;
	struct walk at;
	int r = package_folder_open(venv, &f->p->gate->homes, f->arena, &at,
				    f->err);

	if (r == 1) {
		version = version_of(venv, name, f->arena);
		f->title = title(f->arena, spec->name, version);
		if (package_version_fits(f->asked, spec, version)) {
			r = take_script(f, venv, &at);
		} else {
			f->instead = f->title;
			r = 0;
		}
	}
	walk_release(&at);
	return r;
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

/* Look among the tools that uv or pipx installed; as find_node(). */
static int find_python(struct search *f)
{
	bool is_uv = f->asked->tool->place == PACKAGE_UV;
	const char *own = setting(is_uv ? "UV_TOOL_DIR" : "PIPX_HOME");
	const char *data = setting("XDG_DATA_HOME"), *home = f->p->gate->home;
	int r = 0;

	if (own)
		return look_in(f,
			       is_uv ? own
				     : arena_printf(f->arena, "%s/venvs", own));
	if (!data && home)
		data = arena_printf(f->arena, "%s/.local/share", home);
	if (data)
		r = look_in(f, arena_printf(f->arena, "%s/%s", data,
					    is_uv ? "uv/tools" : "pipx/venvs"));
	if (r == 0 && !is_uv && home)
		r = look_in(f, arena_printf(f->arena, "%s/.local/pipx/venvs",
					    home));
	return r;
}

/* ---- what is there ---- */

/* "; what is installed counts as latest" */
static const char *say_tag(struct prepared *p, const struct package_asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (package_is_tag(a, &a->spec[i]))
			return arena_printf(
				&p->arena, "; what is installed counts as %.*s",
				STR_ARG(a->spec[i].version));
	return "";
}

/* Mark those of the program's own arguments that come from data. */
static const bool *data_of(struct prepared *p, const struct package_asked *a,
			   size_t before)
{
	const struct gate_request *r = p->request;
	bool *data;

	if (!r->from_data)
		return NULL;
	data = ARENA_ARRAY(&p->arena, bool, before + a->args.n + 1);
	for (size_t i = 0; i < a->args.n; i++)
		for (size_t k = 1; r->argv[k]; k++)
			data[before + i] |= r->argv[k] == a->args.item[i] &&
					    r->from_data[k];
	return data;
}

/* Put the program into the request. */
static void start(struct search *f)
{
	struct prepared *p = f->p;
	const struct package_asked *a = f->asked;
	struct gate_request *request =
		ARENA_NEW(&p->arena, struct gate_request);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct strlist argv = {NULL, 0};

	for (size_t i = 0; i < f->argv.n; i++) {
		buf_addf(&text, " %s", f->argv.item[i]);
		list_add(&argv, &p->arena, f->argv.item[i]);
	}
	for (size_t i = 0; i < a->args.n; i++)
		list_add(&argv, &p->arena, a->args.item[i]);
	list_add(&argv, &p->arena, NULL);
	p->direct.says = arena_printf(&p->arena, "%s %s: runs%s (%s%s)",
				      a->launcher, a->program, buf_cstr(&text),
				      f->title, say_tag(p, a));
	p->direct.modules = f->link;
	p->direct.written = p->request;
	*request = *p->request;
	request->program = argv.item[0];
	request->argv = argv.item;
	request->from_data = data_of(p, a, f->argv.n);
	p->request = request;
}

/* ---- what is not there ---- */

/* A launcher can fetch and start by itself only with both of these. */
static bool may_fetch(const struct prepared *p)
{
	return p->policy.net != POLICY_NET_NONE &&
	       p->policy.net != POLICY_NET_LOOPBACK &&
	       (p->policy.exec.n || p->policy.preset.n);
}

static int not_installed(struct prepared *p, const struct package_asked *a,
			 const char *instead, struct err *err)
{
	static const char *const how[] = {
		[PACKAGE_NODE] = "npm install",
		[PACKAGE_UV] = "uv tool install",
		[PACKAGE_PIPX] = "pipx install",
	};
	const char *name = a->spec[0].written, *cwd = p->request->cwd;
	const char *no_launcher = "";
	AUTO(buf_release) struct buf word = BUF_INIT(BUF_UNBOUNDED);
	bool is_node = a->tool->place == PACKAGE_NODE;
	const char *but =
		instead ? arena_printf(&p->arena, ", but %s is", instead) : "";
	const char *in =
		is_node && cwd ? arena_printf(&p->arena, " (in %s)", cwd) : "";

	text_add_word(&word, name);
	if (!strchr(p->request->program, '/') &&
	    !resolve_in_own_path(p->request->program, &p->arena))
		no_launcher = arena_printf(&p->arena, "%s is not installed; ",
					   p->request->program);
	return err_set(err, ERR_NOT_FOUND, "%s%s is not installed%s: %s%s %s%s",
		       no_launcher, name, but, how[a->tool->place],
		       is_node && !cwd ? " -g" : "", buf_cstr(&word), in);
}

/* ---- the launcher ---- */

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

/* A row of the leash or a rule may name the launcher by its path. */
static bool needs_path(const struct prepared *p, const struct gate_request *r)
{
	const struct gate_axis *exec = &p->gate->config.leash.exec;

	return (r->policy && r->policy->programs.n) ||
	       (!exec->all && !list_has(&exec->only, r->program));
}

static int find(struct prepared *p, const struct package_asked *a,
		struct err *err)
{
	struct search f = {.p = p, .arena = &p->arena, .asked = a, .err = err};
	int r = a->tool->place == PACKAGE_NODE ? find_node(&f)
					       : find_python(&f);

	if (r < 0)
		return err_wrap(err, "%s", a->launcher);
	if (r == 0)
		return may_fetch(p) ? 0 : not_installed(p, a, f.instead, err);
	start(&f);
	return 0;
}

int prepare_direct(struct prepared *p, struct err *err)
{
	const struct gate_request *r = p->request;
	struct strlist argv = {NULL, 0};
	struct package_asked asked;

	if (!programs_tool(r->program, NULL) || !is_launcher(p, r->program) ||
	    list_has(&p->policy.preset, RECIPE_NONE))
		return 0;
	list_add(&argv, &p->arena, r->program);
	for (size_t i = 1; r->argv[0] && r->argv[i]; i++)
		list_add(&argv, &p->arena, r->argv[i]);
	if (!package_read(r->program, NULL, &argv, &p->arena, &asked))
		return 0;
	if (needs_path(p, r))
		p->direct.path = resolve_in_own_path(r->program, &p->arena);
	if (allow_exec(&p->gate->config.leash, r->program, p->direct.path,
		       err) < 0)
		return -1;
	return find(p, &asked, err);
}
