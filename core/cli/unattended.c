#include "core/cli/unattended.h"

#include <stdlib.h>

extern char **environ;

/* Variables that are kept; is_set: timers and cron set them, too, or the file
   that they led to is named. */
static const struct {
	const char *name;
	bool is_set;
} rows[] = {
	{"HOME", true},
	{"USER", true},
	{"LOGNAME", true},
	{"SHELL", true},
	{"MATINS_CONFIG", true},
	{"MODULEX_CONFIG", true},
	{"PATH", false},
	{"LANG", false},
	{"LC_ALL", false},
	{"MATINS_STATE", false},
	{"MATINS_CAVEATS", false},
	{"MATINS_ALLOW", false},
	{"XDG_CONFIG_HOME", false},
	{"XDG_STATE_HOME", false},
	{"XDG_DATA_HOME", false},
	{"XDG_CACHE_HOME", false},
};

void unattended_begin(struct unattended *u, struct arena *arena)
{
	char **env = ARENA_ARRAY(arena, char *, ARRAY_LEN(rows) + 1);
	size_t n = 0;

	*u = (struct unattended){.saved = environ};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *value = getenv(rows[i].name);

		if (!value || !*value)
			continue;
		env[n] = arena_printf(arena, "%s=%s", rows[i].name, value);
		if (!rows[i].is_set)
			list_add(&u->kept, arena, env[n]);
		n++;
	}
	environ = env;
}

void unattended_end(struct unattended *u)
{
	environ = u->saved;
}
