#include "gate/policy/closed.h"

#include <limits.h>

#include "core/base/place.h"

/* Texts and no pointers to texts, which every start would have to relocate. */
typedef char row_path[64];

static const struct row {
	enum closed_kind kind;
	const row_path *path; /* ends in "" */
} rows[] = {
#define CLOSED(kind, ...) {CLOSED_##kind, (const row_path[]){__VA_ARGS__, ""}},
#include "gate/policy/closed.def"
#undef CLOSED
};

/* Files that can be read there can be run. */
static const struct strlist programs =
	STRLIST("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin",
		"/bin", "/sbin");

/* A child has its own. */
static const struct strlist places = STRLIST("/tmp", "/var/tmp", "/dev/shm");

/* "/root" and "/home" are others' but for HOME, and what it lies in. */
static bool is_own(const struct closed *c, const char *row, const char *path)
{
	return c->home && place_covers(row, c->home) &&
	       (place_covers(c->home, path) || place_covers(path, c->home));
}

/* Does a path of the table, in one of the homes, lie around `path`; or beneath
   it? */
static bool is_met(const struct closed *c, const char *named, const char *path,
		   bool beneath)
{
	bool in_home = named[0] == '~';
	char text[PATH_MAX];

	for (size_t i = 0; i < (in_home ? c->homes.n : 1); i++) {
		const char *row = named, *home;

		if (in_home) {
			home = c->homes.item[i];
			/* most paths have to do with no home */
			if (!place_covers(home, path) &&
			    !(beneath && place_covers(path, home)))
				continue;
			snprintf(text, sizeof(text), "%s%s", home, named + 1);
			row = text;
		}
		if (beneath ? place_covers(path, row)
			    : place_covers(row, path) && !is_own(c, row, path))
			return true;
	}
	return false;
}

/* The first path of the table that is met; NULL: none is. */
static const char *find(const struct closed *c, const char *path, bool beneath,
			enum closed_kind *ret_kind)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (const row_path *p = rows[i].path; **p; p++)
			if (is_met(c, *p, path, beneath)) {
				*ret_kind = rows[i].kind;
				return *p;
			}
	return NULL;
}

enum closed_kind closed_kind_of(const struct closed *c, const char *path)
{
	enum closed_kind kind = CLOSED_NOT;

	if (!find(c, path, false, &kind) && c->state &&
	    place_covers(c->state, path))
		return CLOSED_SECRET;
	return kind;
}

const char *closed_secret_row(const struct closed *c, const char *path)
{
	enum closed_kind kind = CLOSED_NOT;
	const char *row = find(c, path, false, &kind);

	return kind == CLOSED_SECRET ? row : NULL;
}

bool closed_is_beneath(const struct closed *c, const char *path)
{
	enum closed_kind ignored;

	return find(c, path, true, &ignored) || place_beneath(&places, path) ||
	       (c->state && place_covers(path, c->state)) ||
	       place_beneath(&c->homes, path);
}

bool closed_may_widen(const struct closed *c, const char *dir)
{
	/* two folders deep at least */
	return dir[0] == '/' && dir[1] && strchr(dir + 1, '/') &&
	       closed_kind_of(c, dir) == CLOSED_NOT &&
	       !closed_is_beneath(c, dir) && !place_beneath(&programs, dir);
}

const char *closed_home_secret(size_t turn)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (const row_path *p = rows[i].path; **p; p++)
			if (**p == '~' && rows[i].kind == CLOSED_SECRET &&
			    turn-- == 0)
				return *p;
	return NULL;
}
