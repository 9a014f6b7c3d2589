#include "gate/path/project.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/user.h"

/* Folders of the system: too wide for a project. */
static const char *const wide[] = {
	"/",	  "/bin", "/boot", "/dev",  "/etc",  "/home",	 "/lib",
	"/media", "/mnt", "/opt",  "/proc", "/root", "/run",	 "/sbin",
	"/srv",	  "/sys", "/tmp",  "/usr",  "/var",  "/var/tmp",
};

static bool is_narrow(const char *path, const struct strlist *homes)
{
	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		if (strcmp(path, wide[i]) == 0)
			return false;
	/* HOME, folders above it, ~/.ssh and the like */
	for (size_t i = 0; i < homes->n; i++) {
		const char *home = homes->item[i];

		if (home[1] && (place_covers(path, home) ||
				(place_covers(home, path) &&
				 path[strlen(home) + 1] == '.')))
			return false;
	}
	return true;
}

/* Report whether only root or the user can write a path. */
static bool is_own(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 &&
	       (st.st_uid == 0 || st.st_uid == user_self()) &&
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

static bool may_look_above(const char *folder,
			   const struct strlist *const *written)
{
	for (; *written; written++)
		for (size_t i = 0; i < (*written)->n; i++) {
			AUTO(mem_freep)
			char *real = realpath((*written)->item[i], NULL);

			if (real && place_covers(real, folder))
				return false;
		}
	return true;
}

struct project project_find(const struct project_search *s, struct arena *arena)
{
	AUTO(mem_freep) char *from = s->from ? realpath(s->from, NULL) : NULL;
	char *path = from ? arena_strdup(arena, from) : NULL;
	bool is_above = false;

	while (path && is_narrow(path, s->homes) &&
	       (!is_above || is_own(path))) {
		const char *marker =
			find_marker(path, s->markers, is_above, arena);

		if (marker)
			return (struct project){path, marker};
		if (!may_look_above(path, s->written))
			break;
		*strrchr(path, '/') = '\0';
		if (!*path)
			break;
		is_above = true;
	}
	if (!from || !is_narrow(from, s->homes))
		return (struct project){NULL, NULL};
	return (struct project){arena_strdup(arena, from), NULL};
}
