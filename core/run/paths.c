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

int path_check_links(const char *named, const struct outfolder *d,
		     const struct strlist *writes, struct err *err)
{
	for (size_t i = 0; i < d->links.n * writes->n; i++) {
		const char *link = d->links.item[i / writes->n];
		const struct strlist one = {&writes->item[i % writes->n], 1};

		if (path_is_beneath(link, &one) &&
		    !path_is_beneath(d->path, &one))
			return err_set(err, ERR_POLICY,
				       "%s leads to %s by a link in a folder "
				       "that the program may write; if that is "
				       "meant, name the file there",
				       named, d->path);
	}
	return 0;
}

int path_check_links_of(const char *named, const struct outfolder *d,
			const struct config *config, struct err *err)
{
	if (path_check_links(named, d, &config->sandbox.write, err) < 0)
		return -1;
	for (size_t i = 0; i < config->n_servers; i++)
		if (path_check_links(named, d,
				     &config->servers[i].sandbox.write,
				     err) < 0)
			return -1;
	for (size_t i = 0; i < config->n_routines; i++) {
		const struct routine *r = &config->routines[i];

		for (size_t k = 0; k < r->n_steps; k++)
			if (path_check_links(named, d,
					     &r->steps[k].sandbox.write,
					     err) < 0)
				return -1;
	}
	return 0;
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
