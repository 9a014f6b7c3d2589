#include "core/run/paths.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"

const char *path_absolute(const char *path, struct arena *arena)
{
	char cwd[PATH_MAX];

	if (path[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		return path;
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (strcmp(path, ".") == 0)
		return arena_strdup(arena, cwd);
	return arena_printf(arena, "%s/%s", strcmp(cwd, "/") ? cwd : "", path);
}

bool path_is_beneath(const char *path, const struct strlist *folders)
{
	for (size_t i = 0; i < folders->n; i++) {
		AUTO(mem_freep) char *real = realpath(folders->item[i], NULL);
		size_t n = real ? strlen(real) : 0;

		if (n && strncmp(path, real, n) == 0 &&
		    (n == 1 || !path[n] || path[n] == '/'))
			return true;
	}
	return false;
}
