/*
 * No writable grant may lie above a sealed path, under whatever name: a
 * folder is known by its inode, so that another mount of it is the same.
 */
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/path/mounts.h"
#include "gate/prepare/inner.h"

/* Is it this path, or one of the folders above? */
static bool is_above(const struct stat *one, const char *path,
		     struct arena *arena)
{
	char *at = arena_strdup(arena, path);
	struct stat st;
	char *slash;

	do {
		if (stat(at, &st) == 0 && stat_is_same(&st, one))
			return true;
		slash = strrchr(at, '/');
		*slash = '\0';
	} while (slash > at);
	return stat("/", &st) == 0 && stat_is_same(&st, one);
}

/* Is a folder above the path mounted somewhere beneath the grant? Where that
   cannot be told it may be. */
static bool is_mounted_beneath(const struct grant *g, const char *path,
			       struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;
	struct str rest;
	struct mount m;
	struct stat st;

	if (fd_read_file("/proc/self/mountinfo", &text, &ignored) < 0)
		return true;
	rest = buf_str(&text);
	while (mounts_next(&rest, &m)) {
		const char *at = mounts_path(m.point, arena).p;

		if (place_covers(g->path, at) && stat(at, &st) == 0 &&
		    is_above(&st, path, arena))
			return true;
	}
	return false;
}

static bool holds(const struct grant *g, const char *path, struct arena *arena)
{
	return place_covers(g->path, path) || is_above(&g->st, path, arena) ||
	       is_mounted_beneath(g, path, arena);
}

int prepare_sealed(struct prepared *p, struct err *err)
{
	const struct strlist *sealed = &p->gate->config.sealed;

	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (!(g->what & (GRANT_WRITE | GRANT_WRITE_ONLY)))
			continue;
		for (size_t k = 0; k < sealed->n; k++)
			if (holds(g, sealed->item[k], &p->arena))
				return err_set(
					err, ERR_POLICY,
					"write: %s holds %s, which is allowed "
					"whatever is written into it; `matins "
					"allow %s` allows what it says now",
					g->path, sealed->item[k],
					sealed->item[k]);
	}
	return 0;
}
