#include "gate/prepare/places.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "gate/path/resolve.h"
#include "core/base/place.h"
#include "gate/policy/allow.h"

/* Size of a private place; memory is taken only for what is written. */
#define PLACE_BYTES (UINT64_C(512) << 20)
/* Secrets that a warning names. */
#define SECRETS_SHOWN 3

bool places_has(const struct gate *g, const char *path)
{
	for (size_t i = 0; i < g->n_places; i++)
		if (strcmp(g->place[i].path, path) == 0)
			return true;
	return false;
}

/* Add a folder at its own path, not a link to another one. */
static void add_place(struct gate *g, const char *path, unsigned mode)
{
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || places_has(g, path))
		return;
	g->place[g->n_places++] = (struct setup_place){
		.path = path, .mode = mode, .bytes = PLACE_BYTES};
}

/* Neither folder is the other, or lies beneath it. */
static bool are_apart(const char *a, const char *b)
{
	return !place_covers(a, b) && !place_covers(b, a);
}

/* HOME must not be a folder that the system itself lives in. */
static bool is_private_home(const struct gate *g, const char *path)
{
	static const char *const system[] = {"/proc", "/dev", "/sys", "/usr"};

	for (size_t i = 0; i < g->base.n; i++)
		if (!are_apart(path, g->base.grant[i].path))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(system); i++)
		if (!are_apart(path, system[i]))
			return false;
	return true;
}

/* Resolve a HOME; NULL when it is not a folder that belongs to one user. */
static const char *real_home(struct gate *g, const char *home)
{
	const char *real =
		home && home[0] == '/' ? resolve_links(home, &g->arena) : NULL;
	struct stat st;

	if (!real || lstat(real, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    !is_private_home(g, real))
		return NULL;
	return real;
}

void places_find(struct gate *g)
{
	const char *home = getenv("HOME");
	const char *passwd;

	add_place(g, "/tmp", 01777);
	add_place(g, "/var/tmp", 01777);
	add_place(g, "/dev/shm", 01777);
	g->home_path = real_home(g, home);
	if (g->home_path) {
		g->home = arena_strdup(&g->arena, home);
		add_place(g, g->home_path, 0700);
		list_add(&g->homes, &g->arena, g->home_path);
	}
	/* keys lie in the home of the passwd entry, whatever $HOME says */
	passwd = real_home(g, identity_home(g));
	if (passwd && !allow_has(&g->homes, passwd))
		list_add(&g->homes, &g->arena, passwd);
}

/* ---- keys ---- */

struct closed places_closed(const struct gate *g)
{
	return (struct closed){.home = g->home_path,
			       .homes = g->homes,
			       .state = g->config.state_dir};
}

/* Look for a row of HOME ("~/.ssh") that exists beneath the folder. */
static bool holds_row(const struct gate *g, const char *row, const char *folder,
		      struct arena *arena)
{
	for (size_t i = 0; i < g->homes.n; i++) {
		const char *path =
			arena_printf(arena, "%s%s", g->homes.item[i], row + 1);

		if (place_covers(folder, path) && !place_covers(path, folder) &&
		    access(path, R_OK) == 0)
			return true;
	}
	return false;
}

const char *gate_secrets_in(const struct gate *g, const char *folder,
			    struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *real = resolve_links(folder, arena);
	const char *row;
	size_t n = 0;

	for (size_t i = 0; real && (row = closed_home_secret(i)); i++) {
		if (!holds_row(g, row, real, arena) || ++n > SECRETS_SHOWN)
			continue;
		buf_addf(&out, "%s%s", n > 1 ? ", " : "", row);
	}
	if (n > SECRETS_SHOWN)
		buf_addf(&out, " and %zu more", n - SECRETS_SHOWN);
	return n ? arena_strdup(arena, buf_cstr(&out)) : NULL;
}
