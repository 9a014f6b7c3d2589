/*
 * Places where the runner itself may put a file, which no sandbox bounds: no
 * more than a child could be granted, and nothing that is protected in a
 * writable grant.
 */
#include <fnmatch.h>

#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/prepare/own_paths.h"

static const char CODE[][64] = {
#define PROTECTED(reader, ...) __VA_ARGS__,
#define PROTECTED_FILE(reader, path)
#include "gate/prepare/protected.def"
#undef PROTECTED
#undef PROTECTED_FILE
	".git",
	/* a run in that folder finds it unasked */
	"matins.toml",
};

static bool is_leashed(struct gate *g, const char *path)
{
	const struct gate_axis *axis = &g->config.leash.fs_write;
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	if (allow_axis_covers(axis, path))
		return true;
	for (size_t i = 0; i < axis->only.n; i++) {
		const char *real = resolve_links(axis->only.item[i], &arena);

		if (real && place_covers(real, path))
			return true;
	}
	return false;
}

/* The place of our own that it is, or lies in; NULL: none. */
static const char *find_own(struct gate *g, const char *path)
{
	const struct strlist *const lists[] = {
		own_paths_protect(g), own_paths_absent(g), &g->config.hide};
	const char *own = NULL;

	for (size_t i = 0; i < ARRAY_LEN(lists) && !own; i++)
		own = place_around(lists[i], path);
	return own;
}

/* Does a text begin with a row, by whole parts? */
static bool begins_with(const char *text, const char *row)
{
	size_t n = 0, slashes = 0;
	char head[512];

	for (const char *p = row; *p; p++)
		slashes += *p == '/';
	for (; text[n] && (text[n] != '/' || slashes--); n++)
		continue;
	if (n >= sizeof(head))
		return false;
	memcpy(head, text, n);
	head[n] = '\0';
	/* a file system may tell no ".GIT" from ".git" */
	return fnmatch(row, head, FNM_PATHNAME | FNM_CASEFOLD) == 0;
}

/* The row of protected.def that it is, or lies in, in any folder. */
static const char *find_code(const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		for (size_t i = 0; i < ARRAY_LEN(CODE); i++)
			if (begins_with(at, CODE[i]))
				return CODE[i];
	}
	return NULL;
}

int gate_may_write(struct gate *g, const char *path, struct err *err)
{
	const struct gate_leash *leash = &g->config.leash;
	const struct closed closed = places_closed(g);
	enum closed_kind kind = closed_kind_of(&closed, path);
	const char *own, *code;

	if (!is_leashed(g, path))
		return err_set(
			err, ERR_LEASH,
			"the leash (%s) does not allow %s to be written; "
			"add its folder to \"fs_write\"",
			leash->source ? leash->source : "of this run", path);
	own = find_own(g, path);
	if (own)
		return err_set(err, ERR_POLICY,
			       "%s: %s belongs to matins itself or to its "
			       "configuration; choose another place",
			       path, own);
	if (kind == CLOSED_SECRET || kind == CLOSED_SYSTEM)
		return err_set(err, ERR_POLICY,
			       "%s lies among keys, or files of the system; "
			       "choose another place",
			       path);
	code = find_code(path);
	if (code)
		return err_set(err, ERR_POLICY,
			       "%s: what lies in %s can run programs when the "
			       "folder is used; choose another place",
			       path, code);
	return 0;
}
