#include "core/cli/allow_path.h"

#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {"matins.toml", "modulex.toml"};

bool allow_is_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0;
}

const char *allow_path(const struct args *args, struct arena *arena,
		       struct err *err)
{
	const char *dir = args->n_positional ? args->positional[0] : ".";
	struct stat st;

	if (allow_is_name(dir) && stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return dir;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = arena_printf(arena, "%s/%s", dir, names[i]);

		if (lstat(path, &st) == 0)
			return path;
	}
	err_set(err, ERR_UNKNOWN,
		"there is no matins.toml and no modulex.toml in %s; a file of "
		"another name is used with -c FILE, which needs no allowance",
		dir);
	return NULL;
}
