/*
 * `matins disallow`: an allowance is taken back.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/command.h"
#include "core/cli/allow_path.h"
#include "core/config/allowed.h"

const struct option options_disallow[] = {{0}};

/* The path under which it was kept; as it is written without that folder. */
static const char *real_path(const char *path, struct arena *arena)
{
	AUTO(mem_freep) char *copy = mem_strdup(path);
	AUTO(mem_freep) char *folder = realpath(dirname(copy), NULL);
	const char *slash = strrchr(path, '/');

	if (!folder)
		return path;
	return arena_printf(arena, "%s/%s", strcmp(folder, "/") ? folder : "",
			    slash ? slash + 1 : path);
}

/* 0: it is forgotten. 1: it was not allowed. */
static int forget(const char *path, struct arena *arena, struct err *err)
{
	const char *real = real_path(path, arena);
	int r = allowed_forget(NULL, real, err);

	if (r == 0)
		log_note("%s is not allowed any more", real);
	return r;
}

/* Both names, also where the files are gone. */
static int forget_both(const char *dir, struct arena *arena, struct err *err)
{
	int first =
		forget(arena_printf(arena, "%s/matins.toml", dir), arena, err);
	int second =
		first < 0 ? -1
			  : forget(arena_printf(arena, "%s/modulex.toml", dir),
				   arena, err);

	return second < 0 ? -1 : first & second;
}

static int disallow(const char *named, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	int r = allow_is_name(named) ? forget(named, &arena, err)
				     : forget_both(named, &arena, err);

	if (r <= 0)
		return r;
	return err_set(err, ERR_UNKNOWN,
		       "%s was not allowed; `matins allow --list` lists what "
		       "is",
		       named);
}

int cmd_disallow(const struct args *args, struct err *err)
{
	return disallow(args->n_positional ? args->positional[0] : ".", err);
}
