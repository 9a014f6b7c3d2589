/*
 * What stays read-only inside of writable grants: our own files, and what
 * makes a folder run code for whoever uses it next (protected.def).
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/prepare/inner.h"

/* Paths that one row with a `*` stands for; with more, the folder does. */
#define MATCHES_MAX 256

enum kind { KIND_ANY, KIND_FILE };

static const struct row {
	const char *path;
	enum kind kind;
} ROWS[] = {
#define PROTECTED(path, kind, what) {path, KIND_##kind},
#include "gate/prepare/protected.def"
#undef PROTECTED
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

static bool push_link(struct prepared *p, const char *link,
		      const struct stat *st, const void *none)
{
	(void)none;
	push(p, link, st);
	return true;
}

static void add(struct prepared *p, const char *path)
{
	struct stat st;
	char real[PATH_MAX];

	if (!realpath(path, real) || stat(real, &st) < 0)
		return;
	push(p, real, &st);
	/* which could be led elsewhere */
	prepared_each_link(p, path, push_link, NULL);
}

/* ---- rows of the table ---- */

/* Who names the very path in `write` means it. */
static bool is_named(const struct prepared *p, const char *path)
{
	const unsigned write = GRANT_WRITE | GRANT_WRITE_ONLY;

	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & write &&
		    strcmp(p->grants.grant[i].path, path) == 0)
			return true;
	return false;
}

static void add_row(struct prepared *p, const char *path, enum kind kind)
{
	struct stat st;

	if (lstat(path, &st) < 0 || is_named(p, path) ||
	    (kind == KIND_FILE && S_ISDIR(st.st_mode)))
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

/* Neither the folder itself nor the one above, which have names with a dot. */
static bool is_match(const char *path)
{
	return !strstr(path, "/./") && !strstr(path, "/../");
}

static void add_matches(struct prepared *p, const char *dir, const char *rest,
			enum kind kind)
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
			KIND_ANY);
	for (size_t i = 0; i < found.gl_pathc && n <= MATCHES_MAX; i++)
		if (is_match(found.gl_pathv[i] + from))
			add_row(p, found.gl_pathv[i], kind);
	globfree(&found);
}

static void add_table(struct prepared *p, const char *dir)
{
	bool is_git = strcmp(resolve_basename(dir), ".git") == 0;

	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *rest = ROWS[i].path;

		if (is_git && strncmp(rest, ".git/", 5) == 0)
			rest += 5;
		if (strchr(rest, '*'))
			add_matches(p, dir, rest, ROWS[i].kind);
		else
			add_row(p, arena_printf(&p->arena, "%s/%s", dir, rest),
				ROWS[i].kind);
	}
}

static bool is_written(const struct prepared *p, const char *path)
{
	const unsigned write = GRANT_WRITE | GRANT_WRITE_ONLY;

	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & write &&
		    place_covers(p->grants.grant[i].path, path))
			return true;
	return false;
}

int prepared_make_folder(const struct prepared *p, const char *folder,
			 struct err *err)
{
	struct stat st;
	int r;

	if (!p->for_start)
		return 0;
	/* a file may be there already */
	r = fd_mkdirs(folder, 0700) < 0 ? errno : EEXIST;
	if ((stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) ||
	    !is_written(p, folder))
		return 0;
	/* nor can the program make it then */
	if (r == EACCES || r == EROFS)
		return 0;
	return err_set(err, ERR_POLICY,
		       "write: %s belongs to matins itself, must be there so "
		       "that no program makes it, and cannot be made: %s; make "
		       "it, or grant less",
		       folder, strerror(r));
}

/*
 * A file that is not there cannot be mounted read-only, so its folder is.
 * Without a view the rules give nothing in the folders above it.
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

/* A link on the way that leads nowhere; NULL: none. */
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
				       "and %s is a link to what is not there, "
				       "which a program could make; remove the "
				       "link, or grant less",
				       path, link);
	}
	return 0;
}

int prepared_check_links(struct prepared *p, struct err *err)
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

		if (!(g->what & (GRANT_WRITE | GRANT_WRITE_ONLY)))
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
