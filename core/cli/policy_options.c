#include "core/cli/policy_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/cli/option_values.h"
#include "core/config/config.h"
#include "core/config/paths.h"
#include "core/run/plan.h"

/* ---- --preset, --policy ---- */

const struct preset presets[] = {
#define PRESET(name, markers, exec, exec_beneath, settings, help) \
	{#name, markers, exec, exec_beneath, settings, help},
#include "core/cli/presets.def"
#undef PRESET
	{0},
};

const char preset_names[] =
#define PRESET(name, markers, exec, exec_beneath, settings, help) "|" #name
#include "core/cli/presets.def"
#undef PRESET
	;

/* Folders of the system: too wide for a preset. */
static const char *const wide[] = {
	"/",	  "/bin", "/boot", "/dev",  "/etc",  "/home",	 "/lib",
	"/media", "/mnt", "/opt",  "/proc", "/root", "/run",	 "/sbin",
	"/srv",	  "/sys", "/tmp",  "/usr",  "/var",  "/var/tmp",
};

/* ---- files ---- */

static int read_file(const char *path, struct arena *arena,
		     struct gate_policy *all, struct err *err)
{
	const struct config_options options = {
		.path = path,
		.routine =
			"", /* read only [sandbox] of a whole configuration */
		.policy_only = true,
	};
	struct config_file file;
	struct gate_policy more;
	int r = config_open(&options, &file, err);

	if (r == 0) {
		/* the file is released */
		more = gate_policy_copy(&file.config.sandbox, arena);
		gate_policy_merge(all, &more, arena, all);
	}
	config_release(&file);
	return r;
}

struct strlist policy_files(const struct args *args, struct arena *arena)
{
	struct strlist files = args_all(args, "policy", arena);

	for (size_t i = 0; i < files.n; i++) {
		AUTO(mem_freep) char *real = realpath(files.item[i], NULL);

		files.item[i] = real ? arena_strdup(arena, real)
				     : path_resolve(files.item[i], NULL, arena);
	}
	return files;
}

/* ---- presets ---- */

/* The home is by where it really lies. */
static bool is_narrow_in(const char *path, const char *home)
{
	/* HOME, folders above it, ~/.ssh and the like are wide */
	return !place_covers(path, home) &&
	       !(place_covers(home, path) && path[strlen(home) + 1] == '.');
}

/* Report whether a preset may grant this folder. */
static bool is_narrow(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		if (strcmp(path, wide[i]) == 0)
			return false;
	for (unsigned i = 0; i < PATH_HOMES; i++) {
		const char *name = path_own_home(i);
		AUTO(mem_freep) char *home = name ? realpath(name, NULL) : NULL;

		if (home && home[1] && !is_narrow_in(path, home))
			return false;
	}
	return true;
}

/* Report whether only root or the user can write a path. */
static bool is_own(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       (S_ISLNK(st.st_mode) || !(st.st_mode & 0002));
}

/* The marker that is there; of a folder above, only one of our own. */
static const char *find_marker(const char *folder, const char *markers,
			       bool is_above, struct arena *arena)
{
	struct str rest = str_of(markers);

	while (rest.n) {
		struct str name = str_cut(&rest, ' ');
		const char *path =
			arena_printf(arena, "%s/%.*s", folder, STR_ARG(name));

		if (access(path, F_OK) == 0 && (!is_above || is_own(path)))
			return arena_strndup(arena, name.p, name.n);
	}
	return NULL;
}

struct project {
	const char *path;   /* NULL: there is none that a preset may grant */
	const char *marker; /* NULL: without one, the current folder */
};

/*
 * A program that may write the current folder could remove its marker, and so
 * have the search go on above.
 */
static bool may_look_above(const char *cwd, const struct strlist *write)
{
	for (size_t i = 0; i < write->n; i++) {
		AUTO(mem_freep) char *real = realpath(write->item[i], NULL);

		if (real && place_covers(real, cwd))
			return false;
	}
	return true;
}

static struct project find_project(const struct preset *preset,
				   const struct strlist *write,
				   struct arena *arena)
{
	AUTO(mem_freep) char *cwd = realpath(".", NULL);
	char *path = cwd ? arena_strdup(arena, cwd) : NULL;
	bool is_above = false;

	while (path && is_narrow(path) && (!is_above || is_own(path))) {
		const char *marker =
			find_marker(path, preset->markers, is_above, arena);

		if (marker)
			return (struct project){path, marker};
		if (!may_look_above(cwd, write))
			break;
		*strrchr(path, '/') = '\0';
		if (!*path)
			break;
		is_above = true;
	}
	if (!cwd || !is_narrow(cwd))
		return (struct project){NULL, NULL};
	return (struct project){arena_strdup(arena, cwd), NULL};
}

static void add_words(struct strlist *list, const char *words,
		      const char *beneath, struct arena *arena)
{
	struct str rest = str_of(words);

	list->item = ARENA_ARRAY(arena, const char *, rest.n + 1);
	while (rest.n) {
		struct str word = str_cut(&rest, ' ');
		const char *path;

		path = beneath ? arena_printf(arena, "%s/%.*s", beneath,
					      STR_ARG(word))
			       : arena_strndup(arena, word.p, word.n);
		if (!beneath || access(path, F_OK) == 0)
			list->item[list->n++] = path;
	}
}

/* Add the existing files of `settings`; a missing one is no error. */
static void add_settings(struct strlist *list, const char *settings,
			 struct arena *arena)
{
	size_t n = 0;

	add_words(list, settings, NULL, arena);
	for (size_t i = 0; i < list->n; i++)
		if (access(list->item[i], R_OK) == 0)
			list->item[n++] = list->item[i];
	list->n = n;
}

static void apply(const struct preset *preset, const struct strlist *write,
		  struct arena *arena, struct gate_policy *all)
{
	const char *project = find_project(preset, write, arena).path;
	struct gate_policy more = {0}, folders = {0};

	add_words(&more.exec, preset->exec, NULL, arena);
	add_settings(&more.read, preset->settings, arena);
	if (project) {
		folders.read.item = ARENA_ARRAY(arena, const char *, 1);
		folders.read.item[folders.read.n++] = project;
		add_words(&folders.exec, preset->exec_beneath, project, arena);
	} else {
		log_warning("--preset %s grants a project, and the current "
			    "folder is too wide for one; go into the project, "
			    "or name it: --read PATH",
			    preset->name);
	}
	gate_policy_merge(all, &more, arena, all);
	gate_policy_merge(all, &folders, arena, all);
}

static const struct preset *find_preset(const char *name)
{
	for (const struct preset *p = presets; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static int no_such_preset(const char *name, struct err *err)
{
	const char *names[ARRAY_LEN(presets)];
	const char *near;
	size_t n = 0;

	for (; presets[n].name; n++)
		names[n] = presets[n].name;
	near = str_nearest(str_of(name), names, n);
	return err_set(err, ERR_USAGE, "--preset %s: unknown preset; %s%s%s",
		       name, near ? "did you mean " : "the presets are ",
		       near ? near : PRESET_NAMES, near ? "?" : "");
}

struct strlist policy_projects(const struct args *args,
			       const struct strlist *write, struct arena *arena)
{
	struct strlist names = args_all(args, "preset", arena);
	struct strlist list = {ARENA_ARRAY(arena, const char *, names.n + 1),
			       0};

	for (size_t i = 0; i < names.n; i++) {
		const struct preset *preset = find_preset(names.item[i]);
		struct project p = {NULL, NULL};

		if (preset)
			p = find_project(preset, write, arena);
		if (p.path)
			list.item[list.n++] = arena_printf(
				arena, "%s, %s%s", p.path,
				p.marker ? "for its " : "the current folder",
				p.marker ? p.marker : "");
	}
	return list;
}

void policy_presets_help(void)
{
	printf("\nPresets. Each grants reading the project (the nearest folder "
	       "from here up that\nlooks like one) and:\n");
	for (const struct preset *p = presets; p->name; p++)
		printf("  %-8s %s\n", p->name, p->help);
}

/*
 * Grants of all --preset and --policy together; live in `arena`.
 *
 * write   folders that other options grant to be written: a project is not
 *	   looked for above the current folder when that is among them
 */
static int read_sources(const struct args *args, const struct strlist *write,
			struct arena *arena, struct gate_policy *ret,
			struct err *err)
{
	struct strlist names = args_all(args, "preset", arena);
	struct strlist files = args_all(args, "policy", arena);
	struct gate_policy all = {0}, both;

	for (size_t i = 0; i < files.n; i++) {
		if (!*files.item[i])
			return err_set(err, ERR_USAGE, "--policy: empty");
		if (read_file(files.item[i], arena, &all, err) < 0)
			return -1;
	}
	gate_policy_merge(&all, &(struct gate_policy){.write = *write}, arena,
			  &both);
	for (size_t i = 0; i < names.n; i++) {
		const struct preset *preset = find_preset(names.item[i]);

		if (!preset)
			return no_such_preset(names.item[i], err);
		apply(preset, &both.write, arena, &all);
	}
	*ret = all;
	return 0;
}

/* ---- the options ---- */

static int read_env(const struct args *args, struct arena *arena,
		    const char *const **ret_env, struct err *err)
{
	struct strlist given = args_all(args, "env", arena);
	const char **env = ARENA_ARRAY(arena, const char *, given.n + 1);

	for (size_t i = 0; i < given.n; i++) {
		const char *value;

		env[i] = given.item[i];
		if (strchr(env[i], '='))
			continue;
		value = getenv(env[i]);
		if (!value)
			return err_set(err, ERR_USAGE,
				       "--env %s: the variable is not set; "
				       "write %s=VALUE",
				       env[i], env[i]);
		env[i] = arena_printf(arena, "%s=%s", env[i], value);
	}
	*ret_env = env;
	return 0;
}

int policy_options_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, const char *const **ret_env,
			struct err *err)
{
	struct gate_policy p = {0}, sources;

	if (option_values_read(args, SECTION_sandbox, arena, &p, err) < 0 ||
	    read_env(args, arena, ret_env, err) < 0)
		return -1;
	/* names that do not exist are wrong usage on a command line */
	if (gate_policy_check(&p, err) < 0) {
		if (err->kind == ERR_POLICY)
			err->kind = ERR_USAGE;
		return -1;
	}
	if (p.user && geteuid() != 0)
		log_warning(
			"--user %s: only root can change users; the program "
			"runs as you",
			p.user);
	if (read_sources(args, &p.write, arena, &sources, err) < 0)
		return -1;
	gate_policy_merge(&sources, &p, arena, ret);
	return 0;
}
