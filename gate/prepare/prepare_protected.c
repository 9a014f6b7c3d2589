#include "gate/prepare/prepare_protected.h"

#include <glob.h>
#include <unistd.h>

#include "core/base/place.h"
#include "gate/prepare/split.h"

/* Matches of one row with a `*`; beyond that its folder is protected. */
#define MATCHES_MAX 256

/* Rows that hold for files and folders, and rows for files alone. */
static const char *const ROWS[] = {
#define PROTECTED(reader, ...) __VA_ARGS__,
#define PROTECTED_FILE(reader, path)
#include "gate/prepare/protected.def"
#undef PROTECTED
#undef PROTECTED_FILE
};
static const char *const FILE_ROWS[] = {
#define PROTECTED(reader, ...)
#define PROTECTED_FILE(reader, path) path,
#include "gate/prepare/protected.def"
#undef PROTECTED
#undef PROTECTED_FILE
};

static void push(struct prepared *p, const char *path, const struct stat *st)
{
	struct setup_view *v = &p->view;
	struct setup_grant *more =
		arena_grow(&p->arena, v->protect, v->n_protect, sizeof(*more));

	more[v->n_protect++] =
		(struct setup_grant){.path = arena_strdup(&p->arena, path),
				     .is_dir = S_ISDIR(st->st_mode),
				     .is_link = S_ISLNK(st->st_mode),
				     .idmap = -1};
	v->protect = more;
}

static void add(struct prepared *p, const char *path)
{
	struct walk w = WALK_INIT;

	if (walk_open(path, &p->arena, &w) < 0)
		return;
	if (w.path) {
		push(p, w.path, &w.st);
		/* links on the way could be led elsewhere */
		for (size_t i = 0; i < w.n_links; i++)
			push(p, w.link[i].at, &w.link[i].st);
	}
	walk_release(&w);
}

/* ---- rows of the table ---- */

/* Does `write` name this very path? Then it is meant. */
static bool is_named(const struct prepared *p, const char *path)
{
	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & GRANT_WRITES &&
		    strcmp(p->grants.grant[i].path, path) == 0)
			return true;
	return false;
}

static void add_row(struct prepared *p, const char *path, bool only_file)
{
	struct stat st;

	if (lstat(path, &st) < 0 || is_named(p, path) ||
	    (only_file && S_ISDIR(st.st_mode)))
		return;
	p->git_unprotected |= !p->own_view;
	add(p, path);
}

/* The folder may have a name with characters that glob() knows. */
static const char *quote(struct prepared *p, const char *path)
{
	char *out = arena_alloc(&p->arena, 2 * strlen(path) + 1);
	size_t n = 0;

	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			out[n++] = '\\';
		out[n++] = *path;
	}
	out[n] = '\0';
	return out;
}

/* Leave out "." and "..", which `*` matches with GLOB_PERIOD. */
static bool is_match(const char *path)
{
	return !strstr(path, "/./") && !strstr(path, "/../");
}

static void add_matches(struct prepared *p, const char *dir, const char *rest)
{
	const char *star = strchr(rest, '*');
	/* with more than one, "." and ".." would lead to the others again */
	int flags = strchr(star + 1, '*') ? 0 : GLOB_PERIOD;
	size_t n = 0, from = strlen(dir);
	glob_t found;

	if (glob(arena_printf(&p->arena, "%s/%s", quote(p, dir), rest), flags,
		 NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		n += is_match(found.gl_pathv[i] + from);
	/* a program could make so many that others would be left out */
	if (n > MATCHES_MAX)
		add_row(p,
			arena_printf(&p->arena, "%s/%.*s", dir,
				     (int)(star - rest) - 1, rest),
			false);
	for (size_t i = 0; i < found.gl_pathc && n <= MATCHES_MAX; i++)
		if (is_match(found.gl_pathv[i] + from))
			add_row(p, found.gl_pathv[i], false);
	globfree(&found);
}

static void add_table(struct prepared *p, const char *dir)
{
	bool is_git = strcmp(resolve_basename(dir), ".git") == 0;

	for (size_t i = 0; i < ARRAY_LEN(FILE_ROWS); i++)
		add_row(p, arena_printf(&p->arena, "%s/%s", dir, FILE_ROWS[i]),
			true);
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *rest = ROWS[i];

		if (is_git && strncmp(rest, ".git/", 5) == 0)
			rest += 5;
		if (strchr(rest, '*'))
			add_matches(p, dir, rest);
		else
			add_row(p, arena_printf(&p->arena, "%s/%s", dir, rest),
				false);
	}
}

static bool is_written(const struct prepared *p, const char *path)
{
	return grants_cover(&p->grants, path, GRANT_WRITES);
}

/* ---- our own files ---- */

/*
 * Protect the folder of a file that does not exist: the file itself cannot be
 * mounted. Without a view the rules give nothing in the folders above it.
 */
static int add_absent(struct prepared *p, const char *path, struct err *err)
{
	const char *folder = resolve_dirname(path, &p->arena);

	if (!p->own_view || access(path, F_OK) == 0 || !is_written(p, path))
		return 0;
	if (prepared_make_folder(p, folder, err) < 0)
		return -1;
	add(p, folder);
	return 0;
}

/* Could a program remove the link, or make what it leads to? */
static bool is_filled(struct prepared *p, const char *link)
{
	struct err ignored = ERR_INIT;
	struct place place;

	return is_written(p, link) ||
	       (place_find(link, &p->arena, &place, &ignored) == 0 &&
		is_written(p, arena_printf(&p->arena, "%s/%s", place.folder,
					   place.name)));
}

/* Find a link on the way that leads nowhere; NULL: there is none. */
static const char *find_loose_link(const char *path, struct arena *arena)
{
	char *at = arena_strdup(arena, path);
	struct stat st;

	for (char *s = at + 1; s[-1]; s++) {
		char end = *s;

		if (end && end != '/')
			continue;
		*s = '\0';
		if (lstat(at, &st) == 0 && S_ISLNK(st.st_mode) &&
		    stat(at, &st) < 0)
			return at;
		*s = end;
	}
	return NULL;
}

static int check_loose(struct prepared *p, const struct strlist *list,
		       struct err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *path = list->item[i];
		const char *link = find_loose_link(path, &p->arena);

		if (link && is_filled(p, link))
			return err_set(err, ERR_POLICY,
				       "write: %s belongs to matins itself, "
				       "and %s is a link that leads nowhere, "
				       "where a program could make a file; "
				       "remove the link, or grant less",
				       path, link);
	}
	return 0;
}

int protected_check_links(struct prepared *p, struct err *err)
{
	return check_loose(p, &p->gate->config.absent, err) < 0
		       ? -1
		       : check_loose(p, &p->gate->config.hide, err);
}

int prepare_protected(struct prepared *p, struct err *err)
{
	const struct strlist *protect = &p->gate->config.protect;
	const struct strlist *absent = &p->gate->config.absent;
	bool any = false;

	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (!(g->what & GRANT_WRITES))
			continue;
		any = true;
		if (S_ISDIR(g->st.st_mode))
			add_table(p, g->path);
	}
	for (size_t i = 0; any && i < protect->n; i++)
		add(p, protect->item[i]);
	for (size_t i = 0; any && i < absent->n; i++)
		if (add_absent(p, absent->item[i], err) < 0)
			return -1;
	return 0;
}

/* ---- without a view ---- */

static enum split_entry judge_entry(const struct prepared *p, const char *path,
				    unsigned *what)
{
	const struct strlist *protect = &p->gate->config.protect;

	for (size_t i = 0; i < protect->n; i++) {
		if (place_covers(protect->item[i], path)) {
			*what = GRANT_READ;
			return SPLIT_GRANT;
		}
		if (place_covers(path, protect->item[i]))
			return SPLIT_OPEN;
	}
	return SPLIT_GRANT;
}

static bool holds_protected(const struct prepared *p, const char *folder)
{
	const struct strlist *protect = &p->gate->config.protect;

	for (size_t i = 0; i < protect->n; i++)
		if (place_covers(folder, protect->item[i]))
			return true;
	return false;
}

int protected_split(struct prepared *p, struct err *err)
{
	static const struct split split = {"protected", judge_entry};
	size_t n = p->grants.n;

	for (size_t i = 0; i < n; i++) {
		struct grant g = p->grants.grant[i];

		if (!(g.what & GRANT_WRITES) || !holds_protected(p, g.path))
			continue;
		p->write_holes = true;
		p->grants.grant[i].what =
			(g.what & ~(unsigned)GRANT_WRITES) |
			(g.what & GRANT_WRITE ? GRANT_READ : 0);
		if (split_folder(p, &split, g.path, g.what, err) < 0)
			return err_wrap(err, "write");
	}
	return 0;
}
