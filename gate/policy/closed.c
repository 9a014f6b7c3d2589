#include "gate/policy/closed.h"

#include <limits.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/place.h"

static const struct row {
	const char *path;
	enum closed_kind kind;
} rows[] = {
#define CLOSED(path, kind) {path, CLOSED_##kind},
#include "gate/policy/closed.def"
#undef CLOSED
};

/* Files that can be read there can be run. */
static const char *const programs[] = {
	"/usr/bin",	   "/usr/sbin", "/usr/local/bin",
	"/usr/local/sbin", "/bin",	"/sbin",
};

/* A child has its own. */
static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};

static bool any_beneath(const char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (place_covers(path, list[i]))
			return true;
	return false;
}

/* The i-th path of a row: one, or one of each HOME; NULL at the end. */
static const char *row_path(const struct closed *c, const struct row *r,
			    size_t i, char text[PATH_MAX])
{
	if (r->path[0] != '~')
		return i ? NULL : r->path;
	if (i >= c->homes.n)
		return NULL;
	snprintf(text, PATH_MAX, "%s%s", c->homes.item[i], r->path + 1);
	return text;
}

/* "/root" and "/home" are others' but for HOME, and what it lies in. */
static bool is_own(const struct closed *c, const char *row, const char *path)
{
	return c->home && place_covers(row, c->home) &&
	       (place_covers(c->home, path) || place_covers(path, c->home));
}

static const struct row *row_of(const struct closed *c, const char *path)
{
	char text[PATH_MAX];
	const char *row;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; (row = row_path(c, &rows[i], k, text)); k++)
			if (place_covers(row, path) && !is_own(c, row, path))
				return &rows[i];
	return NULL;
}

enum closed_kind closed_kind_of(const struct closed *c, const char *path)
{
	const struct row *row = row_of(c, path);

	if (row)
		return row->kind;
	if (c->state && place_covers(c->state, path))
		return CLOSED_SECRET;
	return CLOSED_NOT;
}

const char *closed_secret_row(const struct closed *c, const char *path)
{
	const struct row *row = row_of(c, path);

	return row && row->kind == CLOSED_SECRET ? row->path : NULL;
}

bool closed_is_beneath(const struct closed *c, const char *path)
{
	char text[PATH_MAX];
	const char *row;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; (row = row_path(c, &rows[i], k, text)); k++)
			if (place_covers(path, row))
				return true;
	return any_beneath(places, ARRAY_LEN(places), path) ||
	       (c->state && place_covers(path, c->state)) ||
	       any_beneath(c->homes.item, c->homes.n, path);
}

bool closed_may_widen(const struct closed *c, const char *dir)
{
	/* two folders deep at least */
	if (dir[0] != '/' || !dir[1] || !strchr(dir + 1, '/'))
		return false;
	return closed_kind_of(c, dir) == CLOSED_NOT &&
	       !closed_is_beneath(c, dir) &&
	       !any_beneath(programs, ARRAY_LEN(programs), dir);
}

const char *closed_home_secret(size_t turn)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].path[0] == '~' && rows[i].kind == CLOSED_SECRET &&
		    turn-- == 0)
			return rows[i].path;
	return NULL;
}
