#include "core/base/state_dir.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/mem.h"

const char *env_text(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

const char *state_dir_find(struct arena *arena)
{
	const char *own = env_text("MATINS_STATE");
	const char *xdg = env_text("XDG_STATE_HOME");
	const char *home = env_text("HOME");

	if (own && *own == '/')
		return arena_strdup(arena, own);
	if (own) {
		AUTO(mem_freep) char *cwd = getcwd(NULL, 0);

		return arena_printf(arena, "%s/%s", cwd ? cwd : ".", own);
	}
	if (xdg && *xdg == '/')
		return arena_printf(arena, "%s/matins", xdg);
	if (home)
		return arena_printf(arena, "%s/.local/state/matins", home);
	return NULL;
}

const char *state_dir_tokens(const char *state_dir, struct arena *arena)
{
	return arena_printf(arena, "%s/tokens", state_dir);
}
