#include "gate/prepare/python_installed.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "gate/path/package_file.h"

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

/* The first entry of a folder for which `is` holds; NULL: there is none. */
static const char *entry_of(const char *folder,
			    bool (*is)(const char *entry, const char *name,
				       struct arena *arena),
			    const char *name, struct arena *arena)
{
	const char *found = NULL;
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && !found && (e = readdir(dir)))
		if (is(e->d_name, name, arena))
			found = arena_strdup(arena, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_lib(const char *entry, UNUSED const char *name,
		   UNUSED struct arena *arena)
{
	return str_starts(str_of(entry), "python");
}

/* "the_name-1.2.3.dist-info" */
static bool is_info(const char *entry, const char *name, struct arena *arena)
{
	struct str rest = str_of(entry), begin = str_cut(&rest, '-');

	return str_ends(rest, ".dist-info") &&
	       strcmp(plain_name(begin, arena), name) == 0;
}

/* Version of a package in an environment; "" where it says none. */
static const char *version_of(const char *venv, const char *name,
			      struct arena *arena)
{
	const char *lib = arena_printf(arena, "%s/lib", venv), *info;
	size_t begin;

	lib = arena_printf(arena, "%s/%s/site-packages", lib,
			   entry_of(lib, is_lib, NULL, arena));
	info = entry_of(lib, is_info, name, arena);
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

static int find_program(const struct package_asked *a, const char *venv,
			const struct walk *at, struct arena *arena,
			struct package_found *ret, struct err *err)
{
	const char *file = arena_printf(arena, "%s/bin/%s", venv, a->program);
	const char *real;
	struct str head;

	if (strchr(a->program, '/') || access(file, F_OK) < 0)
		return err_set(err, ERR_POLICY,
			       "%s has no program %s; name the package with "
			       "%s PACKAGE PROGRAM",
			       ret->title, a->program, a->tool->from);
	if (package_file_head(at, file, arena, &real, &head, err) < 0)
		return -1;
	if (is_python(head))
		list_add(&ret->argv, arena,
			 arena_printf(arena, "%s/bin/python", venv));
	list_add(&ret->argv, arena, real);
	return 1;
}

static int look_in(const struct package_search *s, const char *tools,
		   struct arena *arena, struct package_found *ret,
		   struct err *err)
{
	const struct package_spec *spec = &s->asked->spec[0];
	const char *name = plain_name(str_of(spec->name), arena);
	const char *venv = arena_printf(arena, "%s/%s", tools, name);
	const char *version;
	struct walk at;
	int r = package_folder_open(venv, s->homes, arena, &at, err);

	if (r == 1) {
		version = version_of(venv, name, arena);
		ret->title = arena_printf(arena, "%s%s%s", spec->name,
					  *version ? " " : "", version);
		if (package_version_fits(s->asked, spec, version)) {
			r = find_program(s->asked, venv, &at, arena, ret, err);
		} else {
			ret->instead = ret->title;
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

int python_installed(const struct package_search *s, struct arena *arena,
		     struct package_found *ret, struct err *err)
{
	bool is_uv = s->asked->tool->place == PACKAGE_UV;
	const char *own = setting(is_uv ? "UV_TOOL_DIR" : "PIPX_HOME");
	const char *data = setting("XDG_DATA_HOME");
	int r = 0;

	*ret = (struct package_found){.title = NULL};
	if (own)
		return look_in(
			s, is_uv ? own : arena_printf(arena, "%s/venvs", own),
			arena, ret, err);
	if (!data && s->home)
		data = arena_printf(arena, "%s/.local/share", s->home);
	if (data)
		r = look_in(s,
			    arena_printf(arena, "%s/%s", data,
					 is_uv ? "uv/tools" : "pipx/venvs"),
			    arena, ret, err);
	if (r == 0 && !is_uv && s->home)
		r = look_in(
			s, arena_printf(arena, "%s/.local/pipx/venvs", s->home),
			arena, ret, err);
	return r;
}
