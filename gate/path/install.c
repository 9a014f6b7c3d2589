#include "gate/path/install.h"

#include <limits.h>
#include <unistd.h>

#include "core/base/place.h"
#include "gate/path/resolve.h"

/* Files and folders that mark the folder of a package. */
static const char *const marks[] = {"package.json", "pyproject.toml",
				    "node_modules", "pyvenv.cfg"};

/* Where programs lie within a prefix, and what belongs to them there. */
static const char *const bins[] = {"bin", "sbin", "libexec", "games"};
static const char *const parts[] = {"lib", "lib64", "libexec", "share"};

/* Where neither $HOME nor a passwd entry names one. */
static bool looks_like_home(const char *dir)
{
	static const char *const names[] = {".ssh",	".gnupg", ".bashrc",
					    ".profile", ".local", ".config"};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* True for folders that are too wide to be an installation. */
static bool is_too_wide(const char *dir, const struct strlist *homes)
{
	struct stat st;
	size_t n = strlen(dir);

	if (n < 2 || !strchr(dir + 1, '/'))
		return true;
	/* HOME and what HOME lies in */
	if (place_beneath(homes, dir))
		return true;
	if (!homes->n && looks_like_home(dir))
		return true;
	return stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) ||
	       (st.st_mode & 0002);
}

static bool has_entry(const char *dir, const char *name, struct arena *arena)
{
	return access(arena_printf(arena, "%s/%s", dir, name), F_OK) == 0;
}

/* PREFIX of PREFIX/bin/x, or NULL. */
static const char *prefix_of(const char *path, struct arena *arena)
{
	const char *dir = resolve_dirname(path, arena);

	for (size_t i = 0; i < ARRAY_LEN(bins); i++)
		if (strcmp(resolve_basename(dir), bins[i]) == 0)
			return resolve_dirname(dir, arena);
	return NULL;
}

/* Is the file in a folder of programs of the system? What can be read there
   can be run by the loader. */
static bool is_of_system(const char *path, struct arena *arena)
{
	const char *prefix = prefix_of(path, arena);

	return prefix &&
	       (strcmp(prefix, "/") == 0 || strcmp(prefix, "/usr") == 0 ||
		strcmp(prefix, "/usr/local") == 0);
}

static void add_prefix(const char *prefix, const struct strlist *homes,
		       struct arena *arena, struct install *ret)
{
	/* ~/.local/share also holds keyrings and mail */
	bool is_local = strcmp(resolve_basename(prefix), ".local") == 0;

	if (has_entry(prefix, "pyvenv.cfg", arena) &&
	    !is_too_wide(prefix, homes)) {
		list_add_new(&ret->read, arena, prefix);
		return;
	}
	if (is_too_wide(prefix, homes) && strcmp(prefix, "/usr") != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (has_entry(prefix, parts[i], arena) &&
		    !(is_local && strcmp(parts[i], "share") == 0))
			list_add_new(
				&ret->read, arena,
				arena_printf(arena, "%s/%s", prefix, parts[i]));
}

void install_of_program(const char *asked, const char *path,
			const struct strlist *homes, struct arena *arena,
			struct install *ret)
{
	const char *prefix = prefix_of(path, arena);

	*ret = (struct install){.read = {NULL, 0}};
	if (prefix)
		add_prefix(prefix, homes, arena, ret);
	prefix = prefix_of(asked, arena);
	if (prefix && has_entry(prefix, "pyvenv.cfg", arena))
		add_prefix(prefix, homes, arena, ret);
}

const char *install_of_script(const char *path, const struct strlist *homes,
			      struct arena *arena)
{
	const char *own = resolve_dirname(path, arena);
	const char *modules = NULL;

	if (is_of_system(path, arena))
		return NULL;
	/* the outermost node_modules above: packages there need each other */
	for (const char *dir = own; !is_too_wide(dir, homes);
	     dir = resolve_dirname(dir, arena))
		if (strcmp(resolve_basename(dir), "node_modules") == 0)
			modules = dir;
	if (modules)
		return modules;
	for (const char *dir = own; !is_too_wide(dir, homes);
	     dir = resolve_dirname(dir, arena))
		for (size_t i = 0; i < ARRAY_LEN(marks); i++)
			if (has_entry(dir, marks[i], arena))
				return dir;
	return is_too_wide(own, homes) ? NULL : own;
}
