#include "gate/prepare/own_paths.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"

/* Path without links, as far as it exists; many lie in one folder. */
struct real_path {
	const struct real_path *next;
	const char *path, *real; /* "" is "/" */
	bool is_missing;	 /* leads nowhere */
};

/* Ask for the whole way at once; false: there is a link, or the kernel cannot
   tell. */
static bool has_no_link(struct real_path *r)
{
	AUTO(fd_closep) int fd = fd_open_plain(r->path, 0);

	r->is_missing = fd < 0;
	return fd >= 0 || errno == ENOENT || errno == ENOTDIR;
}

/* Find or look up the first `n` bytes of an absolute path. */
static const struct real_path *real_of(struct gate *g, const char *path,
				       size_t n)
{
	const struct real_path *k;
	struct real_path *r;
	const char *slash, *real;
	bool is_plain;
	char byte;

	for (k = g->real_paths; k; k = k->next)
		if (strncmp(k->path, path, n) == 0 && !k->path[n])
			return k;
	r = ARENA_NEW(&g->arena, struct real_path);
	r->path = r->real = arena_strndup(&g->arena, path, n);
	slash = has_no_link(r) ? NULL : strrchr(r->path, '/');
	if (slash) {
		k = real_of(g, path, (size_t)(slash - r->path));
		r->real = arena_printf(&g->arena, "%s%s", k->real, slash);
		r->is_missing = k->is_missing;
		is_plain = strcmp(slash, "/") != 0 &&
			   strcmp(slash, "/.") != 0 &&
			   strcmp(slash, "/..") != 0;
		if (!r->is_missing && is_plain &&
		    readlink(r->real, &byte, 1) < 0) {
			r->is_missing = errno != EINVAL;
		} else if (!r->is_missing) {
			real = resolve_links(r->path, &g->arena);
			r->is_missing = !real;
			r->real = real ? real : r->real;
		}
	}
	r->next = g->real_paths;
	g->real_paths = r;
	return r;
}

/*
 * Grants have no links in them, so the paths that they are compared with must
 * have none.
 *
 * keep  keep the paths as they are named, too
 */
static void resolve_list(struct gate *g, struct strlist *list, bool keep)
{
	struct strlist all = {NULL, 0};

	for (size_t i = 0; i < list->n; i++) {
		const char *path = list->item[i];
		const char *real = real_of(g, path, strlen(path))->real;

		if (keep)
			list_add(&all, &g->arena, path);
		if (!keep || strcmp(real, path) != 0)
			list_add(&all, &g->arena, real);
	}
	*list = all;
}

const char *own_paths_real(struct gate *g, const char *path)
{
	const struct real_path *r = real_of(g, path, strlen(path));

	return r->is_missing ? NULL : r->real;
}

void own_paths_resolve(struct gate *g)
{
	resolve_list(g, &g->config.hide, false);
	resolve_list(g, &g->config.written, false);
	g->real_paths = NULL;
}

static void resolve_unwritable(struct gate *g)
{
	if (g->own_is_resolved)
		return;
	g->own_is_resolved = true;
	if (g->config.find_protected)
		g->config.find_protected(g->config.find_protected_arg,
					 &g->config);
	resolve_list(g, &g->config.protect, true);
	resolve_list(g, &g->config.absent, true);
	g->real_paths = NULL;
}

const struct strlist *own_paths_protect(struct gate *g)
{
	resolve_unwritable(g);
	return &g->config.protect;
}

const struct strlist *own_paths_absent(struct gate *g)
{
	resolve_unwritable(g);
	return &g->config.absent;
}

const struct strlist *own_paths_sealed(struct gate *g)
{
	resolve_unwritable(g);
	return &g->config.sealed;
}
