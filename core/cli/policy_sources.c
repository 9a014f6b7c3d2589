#include "core/cli/policy_sources.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/policy_options.h"
#include "core/run/config.h"
#include "core/run/plan.h"

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
		.routine = "", /* of a whole configuration, [sandbox] only */
		.policy_only = true,
	};
	struct config_file file;
	struct gate_policy more;
	int r = config_open(&options, &file, err);

	if (r == 0) {
		more = plan_policy(&file.config.sandbox, &file.arena);
		/* the file is released */
		more = gate_policy_copy(&more, arena);
		gate_policy_merge(all, &more, arena, all);
	}
	config_release(&file);
	return r;
}

struct strlist policy_sources_files(const struct args *args,
				    struct arena *arena)
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

static bool is_beneath(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/');
}

/* May a preset grant this folder? HOME is by where it really lies. */
static bool is_narrow(const char *path, const char *home)
{
	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		if (strcmp(path, wide[i]) == 0)
			return false;
	if (!home)
		return true;
	/* HOME itself, what is above it, ~/.ssh and the like */
	return !is_beneath(path, home) &&
	       !(is_beneath(home, path) && path[strlen(home) + 1] == '.');
}

static bool has_marker(const char *folder, const char *markers,
		       struct arena *arena)
{
	struct str rest = str_of(markers);

	while (rest.n) {
		struct str name = str_cut(&rest, ' ');

		if (access(arena_printf(arena, "%s/%.*s", folder,
					STR_ARG(name)),
			   F_OK) == 0)
			return true;
	}
	return false;
}

/* NULL when there is none that a preset may grant. */
static const char *find_project(const struct preset *preset,
				struct arena *arena)
{
	const char *name = getenv("HOME");
	AUTO(mem_freep) char *home = name ? realpath(name, NULL) : NULL;
	AUTO(mem_freep) char *cwd = realpath(".", NULL);
	char *path = cwd ? arena_strdup(arena, cwd) : NULL;

	while (path && is_narrow(path, home)) {
		if (has_marker(path, preset->markers, arena))
			return path;
		*strrchr(path, '/') = '\0';
		if (!*path)
			break;
	}
	return cwd && is_narrow(cwd, home) ? arena_strdup(arena, cwd) : NULL;
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

/* Of `settings` those that are there: they may be granted, not missed. */
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

static void apply(const struct preset *preset, struct arena *arena,
		  struct gate_policy *all)
{
	const char *project = find_project(preset, arena);
	struct gate_policy more = {0}, folders = {0};

	add_words(&more.exec, preset->exec, NULL, arena);
	add_settings(&more.read, preset->settings, arena);
	if (project) {
		folders.read.item = ARENA_ARRAY(arena, const char *, 1);
		folders.read.item[folders.read.n++] = project;
		add_words(&folders.exec, preset->exec_beneath, project, arena);
	} else {
		log_warning("--preset %s: it grants a project, and the current "
			    "folder is too wide for one; go into the project, "
			    "or name it: --read PATH",
			    preset->name);
	}
	gate_policy_merge(all, &more, arena, all);
	gate_policy_merge(all, &folders, arena, all);
}

static int read_preset(const char *name, struct arena *arena,
		       struct gate_policy *all, struct err *err)
{
	const char *names[ARRAY_LEN(presets)];
	const char *near;
	size_t n = 0;

	for (; presets[n].name; n++) {
		if (strcmp(presets[n].name, name) == 0) {
			apply(&presets[n], arena, all);
			return 0;
		}
		names[n] = presets[n].name;
	}
	near = str_nearest(str_of(name), names, n);
	return err_set(err, ERR_USAGE,
		       "--preset %s: there is none of that name; %s%s%s", name,
		       near ? "did you mean " : "it is one of ",
		       near ? near : PRESET_NAMES, near ? "?" : "");
}

void policy_sources_help(void)
{
	printf("\nPresets, which grant reading the project (the nearest folder "
	       "from here up that\nlooks like one) and what is named here:\n");
	for (const struct preset *p = presets; p->name; p++)
		printf("  %-8s %s\n", p->name, p->help);
}

int policy_sources_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, struct err *err)
{
	struct strlist names = args_all(args, "preset", arena);
	struct strlist files = args_all(args, "policy", arena);
	struct gate_policy all = {0};

	for (size_t i = 0; i < names.n; i++)
		if (read_preset(names.item[i], arena, &all, err) < 0)
			return -1;
	for (size_t i = 0; i < files.n; i++) {
		if (!*files.item[i])
			return err_set(err, ERR_USAGE, "--policy: empty");
		if (read_file(files.item[i], arena, &all, err) < 0)
			return -1;
	}
	*ret = all;
	return 0;
}
