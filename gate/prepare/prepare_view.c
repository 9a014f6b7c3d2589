#include "gate/prepare/parts.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/prepare/own_paths.h"

/* ---- split grants ---- */

/*
 * Grants of single entries instead of their folder, where there is no view.
 *
 * Landlock rules only add up: no rule takes away what another gives. So a
 * folder with something in it that must stay shut is granted entry by entry;
 * new files cannot be made directly in such a folder.
 */

/* Entries of one folder that can be granted one by one. */
#define SPLIT_ENTRIES 1024

/* Files that a trace leaves shut. */
static const struct strlist *closed_of(const struct prepared *p)
{
	static const struct strlist none;

	return p->request->policy ? &p->request->policy->closed : &none;
}

static bool is_above_hidden(const struct prepared *p, const char *path)
{
	return place_beneath(&p->gate->config.hide, path) ||
	       place_beneath(closed_of(p), path);
}

static int split_folder(struct prepared *p, bool hides, const char *path,
			unsigned what, struct err *err);

static int split_entry(struct prepared *p, bool hides, const char *path,
		       unsigned what, struct err *err)
{
	const struct gate_config *c = &p->gate->config;
	bool is_above;
	struct stat st;

	if (lstat(path, &st) < 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	if (hides &&
	    (place_around(&c->hide, path) || list_has(closed_of(p), path)))
		return 0;
	is_above = hides ? is_above_hidden(p, path)
			 : place_beneath(&c->protect, path) != NULL;
	if (!hides && place_around(&c->protect, path)) {
		what = GRANT_READ;
		is_above = false;
	}
	if (is_above && S_ISDIR(st.st_mode))
		return split_folder(p, hides, path, what, err);
	/* an entry that is closed to us is closed to the child */
	return grants_open_entry(&p->grants, path, what, err) < 0 &&
			       err->sys != EACCES
		       ? -1
		       : 0;
}

/*
 * Grant the entries of a folder, and the folder for listing if it is read.
 *
 * hides  leave out what is hidden; else what is protected is only read
 */
static int split_folder(struct prepared *p, bool hides, const char *path,
			unsigned what, struct err *err)
{
	const unsigned list =
		what & (GRANT_READ | GRANT_WRITE) ? GRANT_LIST : 0;
	DIR *dir = opendir(path);
	const struct dirent *e;
	int r, n = 0;

	if (!dir)
		return err_sys(err, errno, "%s", path);
	r = grants_open_entry(&p->grants, path, list, err);
	while (r == 0 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++n > SPLIT_ENTRIES)
			r = err_set(err, ERR_LIMIT,
				    "%s: more than %d entries, granted one by "
				    "one because of what is %s in there; "
				    "namespaces (isolate) avoid that",
				    path, SPLIT_ENTRIES,
				    hides ? "hidden" : "protected");
		else
			r = split_entry(p, hides,
					arena_printf(&p->arena, "%s/%s",
						     path[1] ? path : "",
						     e->d_name),
					what, err);
	}
	closedir(dir);
	return r < 0 ? -1 : 0;
}

/* ---- hidden folders ---- */

/*
 * Folders that no child sees, whatever is granted: those of kept tokens, where
 * the key that opens them may lie, too; and files that a trace leaves shut.
 *
 * In the view an empty folder is put above each. Without a view a grant around
 * one becomes grants of its other entries.
 */

/* Add an empty folder to the view. */
static void add_place(struct prepared *p, struct setup_place place)
{
	struct setup_view *v = &p->view;
	struct setup_place *more =
		arena_grow(&p->arena, v->places, v->n_places, sizeof(*more));

	more[v->n_places++] = place;
	v->places = more;
}

/*
 * Make a folder that is to be mounted upon, so that no program can make it;
 * nothing where nothing is started.
 *
 * errors  ERR_POLICY  it is missing, and a program could make it
 */
static int make_folder(const struct prepared *p, const char *folder,
		       struct err *err)
{
	struct stat st;
	int r;

	if (!p->for_start)
		return 0;
	/* a file may be there already */
	r = fd_mkdirs(folder, 0700) < 0 ? errno : EEXIST;
	if ((stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) ||
	    !grants_cover(&p->grants, folder, GRANT_WRITES))
		return 0;
	/* a folder that we may not make cannot be made by the program */
	if (r == EACCES || r == EROFS)
		return 0;
	return err_set(err, ERR_POLICY,
		       "write: %s belongs to matins itself, must exist so that "
		       "no program makes it, and cannot be made: %s; make it, "
		       "or grant less",
		       folder, strerror(r));
}

/* Refuse a path of `read` or `write`; drop a grant that has other reasons. */
static int judge_hidden(struct prepared *p, struct grant *g, struct err *err)
{
	const char *around = place_around(&p->gate->config.hide, g->path);

	if (!around || !(g->what & GRANT_ACCESS))
		return 0;
	if (g->what & (GRANT_BY(READ) | GRANT_BY(WRITE)))
		return err_set(err, ERR_POLICY,
			       "%s: %s holds what matins keeps for itself "
			       "(%s), which no program may see",
			       g->what & GRANT_BY(WRITE) ? "write" : "read",
			       g->path, around);
	prepared_cap(p,
		     "\"%s\": dropped; what matins keeps for itself is not "
		     "for programs to see",
		     g->path);
	g->what = 0;
	return 0;
}

static int hide_in_view(struct prepared *p, struct err *err)
{
	for (size_t i = 0; i < p->hidden.n; i++) {
		const char *path = p->hidden.item[i];

		/* a folder that is made later would be seen */
		if (make_folder(p, path, err) < 0)
			return -1;
		if (access(path, F_OK) == 0)
			add_place(p, (struct setup_place){.path = path,
							  .mode = 0555,
							  .is_readonly = true});
	}
	return 0;
}

static int hide_from_rules(struct prepared *p, struct err *err)
{
	const unsigned access = GRANT_ACCESS;
	size_t n = p->grants.n;

	for (size_t i = 0; i < n; i++) {
		struct grant g = p->grants.grant[i];

		/* an entry of a folder that was split before */
		if (list_has(closed_of(p), g.path))
			p->grants.grant[i].what &= ~access;
		if (!(g.what & access) || !S_ISDIR(g.st.st_mode) ||
		    !is_above_hidden(p, g.path))
			continue;
		p->grants.grant[i].what &= ~access;
		if (split_folder(p, true, g.path, g.what, err) < 0)
			return err_wrap(err, "grants");
	}
	return 0;
}

static int prepare_hidden(struct prepared *p, struct err *err)
{
	const struct strlist *hide = &p->gate->config.hide;

	for (size_t i = 0; i < p->grants.n; i++)
		if (judge_hidden(p, &p->grants.grant[i], err) < 0)
			return -1;
	for (size_t i = 0; i < hide->n; i++)
		if (grants_cover(&p->grants, hide->item[i], GRANT_ACCESS))
			list_add(&p->hidden, &p->arena, hide->item[i]);
	if (!p->hidden.n && !closed_of(p)->n)
		return 0;
	if (p->own_view) {
		p->view.shut = *closed_of(p);
		return hide_in_view(p, err);
	}
	return hide_from_rules(p, err);
}

/* ---- protected paths ---- */

/*
 * Paths that stay read-only inside of writable grants: our own files, and
 * files that make a folder run code for its next user (protected.def).
 */

/* Matches of one row with a `*`; beyond that its folder is protected. */
#define MATCHES_MAX 256

/* Rows that hold for files and folders, and rows for files alone. */
static const char ROWS[][64] = {
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

static void protect_path(struct prepared *p, const char *path)
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
	protect_path(p, path);
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
	if (make_folder(p, folder, err) < 0)
		return -1;
	protect_path(p, folder);
	return 0;
}

/* Could a program remove the link, or make what it leads to? */
static bool is_filled(struct prepared *p, const char *link)
{
	struct place place;

	return is_written(p, link) ||
	       (place_find(link, &p->arena, &place, ERR_IGNORED) == 0 &&
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

static bool writes_something(const struct prepared *p)
{
	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & GRANT_WRITES)
			return true;
	return false;
}

/* Refuse links that lead nowhere on the way to our own files. */
static int check_loose_links(struct prepared *p, struct err *err)
{
	const struct strlist *hide = &p->gate->config.hide, *absent;
	size_t n;

	if (!writes_something(p))
		return 0;
	absent = own_paths_absent(p->gate);
	n = absent->n + hide->n;
	for (size_t i = 0; i < n; i++) {
		const char *path = i < absent->n ? absent->item[i]
						 : hide->item[i - absent->n];
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

static int prepare_protected(struct prepared *p, struct err *err)
{
	const struct strlist *protect, *absent;

	if (!writes_something(p))
		return 0;
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (g->what & GRANT_WRITES && S_ISDIR(g->st.st_mode))
			add_table(p, g->path);
	}
	protect = own_paths_protect(p->gate);
	absent = own_paths_absent(p->gate);
	for (size_t i = 0; i < protect->n; i++)
		protect_path(p, protect->item[i]);
	for (size_t i = 0; i < absent->n; i++)
		if (add_absent(p, absent->item[i], err) < 0)
			return -1;
	return 0;
}

static int split_protected(struct prepared *p, struct err *err)
{
	size_t n = p->grants.n;

	for (size_t i = 0; i < n; i++) {
		struct grant g = p->grants.grant[i];

		if (!(g.what & GRANT_WRITES) ||
		    !place_beneath(own_paths_protect(p->gate), g.path))
			continue;
		p->write_holes = true;
		p->grants.grant[i].what =
			(g.what & ~(unsigned)GRANT_WRITES) |
			(g.what & GRANT_WRITE ? GRANT_READ : 0);
		if (split_folder(p, false, g.path, g.what, err) < 0)
			return err_wrap(err, "write");
	}
	return 0;
}

/* ---- the view ---- */

bool view_replaces(const struct prepared *p, const char *path)
{
	for (size_t i = 0; p->own_view && i < p->gate->n_places; i++)
		if (place_covers(p->gate->place[i].path, path))
			return true;
	return false;
}

bool view_hides(const struct prepared *p, const char *path)
{
	size_t place = 0, grant = 0, n;

	if (!p->own_view)
		return p->private_dir && place_covers(p->private_dir, path);
	for (size_t i = 0; i < p->view.n_places; i++) {
		n = strlen(p->view.places[i].path);
		if (n > place && place_covers(p->view.places[i].path, path))
			place = n;
	}
	for (size_t i = 0; i < p->grants.n; i++) {
		n = strlen(p->grants.grant[i].path);
		if (n > grant && p->grants.grant[i].what &&
		    place_covers(p->grants.grant[i].path, path))
			grant = n;
	}
	return place > grant;
}

/* ---- the user, and id maps ---- */

/* want: 4 read, 2 write, 1 execute, as in one digit of a mode */
static bool may(const struct identity *id, const struct stat *st, unsigned want)
{
	unsigned shift = st->st_uid == id->uid	 ? 6
			 : st->st_gid == id->gid ? 3
						 : 0;

	return (st->st_mode >> shift & want) == want;
}

/* May the user do with the file what the grant says, by its mode? */
static bool may_use(const struct identity *id, const struct grant *g)
{
	bool is_dir = S_ISDIR(g->st.st_mode);
	unsigned want = 0;

	if (g->what & (GRANT_READ | GRANT_WRITE))
		want |= is_dir ? 5 : 4;
	if (g->what & GRANT_WRITES)
		want |= is_dir ? 3 : 2;
	if (g->what & GRANT_SOCKET)
		want |= 2;
	if (g->what & GRANT_EXEC)
		want |= 1;
	return may(id, &g->st, want);
}

/* May the user pass the folder? One that is missing is nobody's wall. */
static bool may_pass(struct gate *g, const struct identity *id, const char *dir)
{
	struct gate_seen *seen = &g->seen;
	struct stat st;

	if (seen->uid != id->uid || seen->gid != id->gid) {
		seen->uid = id->uid;
		seen->gid = id->gid;
		seen->n_passed = 0;
	}
	if (str_index(str_of(dir), seen->passed, seen->n_passed) <
		    seen->n_passed ||
	    stat(dir, &st) < 0)
		return true;
	if (!may(id, &st, 1))
		return false;
	if (seen->n_passed < SEEN_PASSED)
		seen->passed[seen->n_passed++] = gate_keep_text(g, dir);
	return true;
}

/* The topmost folder above a path that the user may not pass; NULL: none. In
   the arena. */
static const char *find_wall(struct gate *g, const struct identity *id,
			     const char *path, struct arena *arena)
{
	for (size_t i = 1; path[0] && path[i]; i++) {
		const char *dir;

		if (path[i] != '/')
			continue;
		dir = arena_strndup(arena, path, i);
		if (!may_pass(g, id, dir))
			return dir;
	}
	return NULL;
}

/* Index of the id map that gives the owner's files to the child; -1 = none. */
static int find_idmap(struct gate *g, const struct stat *owner,
		      const struct identity *id)
{
	struct gate_idmap new = {.uid = owner->st_uid,
				 .to_uid = id->uid,
				 .gid = owner->st_gid,
				 .to_gid = id->gid,
				 .fd = -1};

	for (size_t i = 0; i < g->n_idmaps; i++)
		if (g->idmap[i].uid == new.uid && g->idmap[i].gid == new.gid &&
		    g->idmap[i].to_uid == new.to_uid &&
		    g->idmap[i].to_gid == new.to_gid)
			return g->idmap[i].fd < 0 ? -1 : (int)i;
	if (g->n_idmaps == SETUP_IDMAPS)
		return -1;
	if (ns_swap_ids(new.uid, new.to_uid, new.gid, new.to_gid, &new.fd,
			ERR_IGNORED) < 0)
		new.fd = -1;
	g->idmap[g->n_idmaps++] = new;
	return new.fd < 0 ? -1 : (int)g->n_idmaps - 1;
}

static bool is_sticky_dir(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX;
}

/*
 * As root: what was asked for must work for the user that the child becomes,
 * also deep inside. Others, and single files that are only read, need the map
 * only where the modes shut them out; it costs a process.
 */
static bool wants_idmap(const struct prepared *p, const struct grant *g)
{
	bool is_deep = S_ISDIR(g->st.st_mode) || g->what & GRANT_WRITES;

	if (!p->id.change || g->st.st_uid == p->id.uid || is_sticky_dir(&g->st))
		return false;
	return (g->what & GRANT_ASKED && is_deep) || !may_use(&p->id, g);
}

/* False: the grant will not work for this identity. */
static bool map_grant(struct prepared *p, const struct grant *g,
		      struct setup_grant *s)
{
	if (!wants_idmap(p, g))
		return true;
	s->idmap = find_idmap(p->gate, &g->st, &p->id);
	if (s->idmap >= 0) {
		int fd = p->gate->idmap[s->idmap].fd;

		s->is_idmap_deep = ns_try_idmap(g->path, fd, true) == 0;
		if (!s->is_idmap_deep && ns_try_idmap(g->path, fd, false) < 0)
			s->idmap = -1;
	}
	if (s->idmap >= 0) {
		p->launch.fd[FD_MAPS + s->idmap] = p->gate->idmap[s->idmap].fd;
		s->is_hidden = true;
		p->id.is_mapped = true;
		return true;
	}
	return !(g->what & GRANT_WRITES) && may_use(&p->id, g);
}

/* ---- the parts of a view ---- */

/* HOME gives way to a grant that covers it; the others to one of just them. */
static bool gives_way(const struct prepared *p, const struct setup_place *place)
{
	bool is_home = p->gate->home_path &&
		       strcmp(place->path, p->gate->home_path) == 0;

	if (p->policy.tmp_shared && strcmp(place->path, "/tmp") == 0)
		return true;
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (!(g->what & GRANT_ASKED))
			continue;
		if (strcmp(g->path, place->path) == 0 ||
		    (is_home && place_covers(g->path, place->path)))
			return true;
	}
	return false;
}

/* Bound a private place by `memory`, since its files are memory. */
static void add_private(struct prepared *p, struct setup_place place)
{
	if (place.bytes > p->policy.memory_bytes)
		place.bytes = p->policy.memory_bytes;
	add_place(p, place);
}

static void choose_places(struct prepared *p)
{
	struct gate *g = p->gate;

	for (size_t i = 0; i < g->n_places; i++)
		if (!gives_way(p, &g->place[i]))
			add_private(p, g->place[i]);
	p->tmp = "/tmp";
	p->home = g->home;
	if (p->home)
		return;
	p->home = p->policy.tmp_shared ? "/tmp" : "/tmp/home";
	if (!p->policy.tmp_shared)
		add_private(p, (struct setup_place){.path = p->home,
						    .mode = 0700,
						    .bytes = 64 << 20});
}

/* An empty folder where the child starts, from which an argument such as
   ../file leads on. */
static void show_left_folder(struct prepared *p)
{
	const char *dir = p->left_cwd;

	if (!dir)
		return;
	for (size_t i = 0; i < p->view.n_places; i++)
		if (strcmp(p->view.places[i].path, dir) == 0)
			return;
	if (view_hides(p, dir))
		add_place(p, (struct setup_place){.path = dir,
						  .mode = 0755,
						  .is_readonly = true});
	p->cwd_shown = true;
}

/* A folder above that the child may not pass is replaced by one that it may. */
static void open_wall(struct prepared *p, const char *path)
{
	const char *wall =
		place_covers("/usr", path)
			? NULL
			: find_wall(p->gate, &p->id, path, &p->arena);

	for (size_t i = 0; wall && i < p->view.n_places; i++)
		if (place_covers(p->view.places[i].path, wall))
			return;
	if (wall)
		add_place(p, (struct setup_place){.path = wall,
						  .mode = 0755,
						  .is_readonly = true});
}

/* HOME is a private place, and may lie beneath one. */
static void open_walls(struct prepared *p)
{
	size_t n = p->id.change ? p->view.n_places : 0;

	for (size_t i = 0; i < n; i++)
		open_wall(p, p->view.places[i].path);
	for (size_t i = 0; p->id.change && i < p->grants.n; i++)
		open_wall(p, p->grants.grant[i].path);
}

/*
 * Beneath a private place everything can be read, for no Landlock rule takes
 * away what that of the place gives.
 */
static void drop_write_only(struct prepared *p)
{
	for (size_t i = 0; i < p->grants.n; i++) {
		struct grant *g = &p->grants.grant[i];
		bool is_private = false;

		for (size_t k = 0; k < p->view.n_places; k++)
			is_private |=
				place_covers(p->view.places[k].path, g->path);
		if (!is_private || g->what & (GRANT_READ | GRANT_WRITE) ||
		    !(g->what & GRANT_WRITE_ONLY))
			continue;
		prepared_cap(p,
			     "write \"%s\": dropped; the leash does not allow "
			     "it to be read (fs_read), and in a private place "
			     "what is written can be read",
			     g->path);
		g->what &= GRANT_EXEC;
	}
}

/* Returns false when the child must stay root for all of them to work. */
static bool place_grants(struct prepared *p)
{
	struct setup_grant *s =
		ARENA_ARRAY(&p->arena, struct setup_grant, p->grants.n + 1);
	bool works = true;
	size_t n = 0;

	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (!g->what)
			continue;
		s[n] = (struct setup_grant){
			.path = g->path,
			.is_dir = S_ISDIR(g->st.st_mode),
			.is_write = g->what & GRANT_WRITES,
			/* a trace grants hundreds that nobody asked for */
			.is_optional = p->request->record & GATE_RECORD_FILES &&
				       !(g->what & GRANT_WRITES),
			.idmap = -1,
			.dev = g->st.st_dev,
			.ino = g->st.st_ino,
		};
		s[n].is_noexec =
			s[n].is_write && p->policy.profile == PROFILE_STRICT;
		works &= map_grant(p, g, &s[n++]);
	}
	p->view.grants = s;
	p->view.n_grants = n;
	return works;
}

/* Names that led to a grant through a link are there again. */
static void choose_links(struct prepared *p)
{
	struct setup_link *link = ARENA_ARRAY(&p->arena, struct setup_link,
					      p->grants.n_links + 1);
	size_t n = 0;

	for (size_t i = 0; i < p->grants.n_links; i++) {
		const struct grant_link *l = &p->grants.link[i];
		const char *slash = strrchr(l->path, '/');
		/* one with ".." depends on links: nothing can be put there */
		bool is_dotted = strstr(l->path, "/../") ||
				 (slash && strcmp(slash, "/..") == 0);

		if (!is_dotted && view_hides(p, l->path))
			link[n++] = (struct setup_link){l->path, l->target};
	}
	p->view.links = link;
	p->view.n_links = n;
}

/* ---- without namespaces ---- */

static bool works_for(const struct prepared *p, const struct identity *id)
{
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];
		AUTO(arena_release) struct arena scratch = ARENA_INIT;

		/* to the loader of the system everybody comes */
		if (g->what & GRANT_BY(LOADER) &&
		    place_covers("/usr/lib", g->path))
			continue;
		if (find_wall(p->gate, id, g->path, &scratch) ||
		    !may_use(id, g))
			return false;
	}
	return true;
}

static int use_folders(struct prepared *p, struct err *err)
{
	struct gate *g = p->gate;

	if (prepare_protected(p, err) < 0)
		return -1;
	if (p->id.change && !works_for(p, &p->id))
		identity_stay_root(p, "without id-mapped mounts another user "
				      "could not use what is granted");
	if (split_protected(p, err) < 0 || prepare_hidden(p, err) < 0)
		return -1;
	if (!p->for_start)
		return 0;
	if (private_open(&g->private_dirs, err) < 0 ||
	    private_make(&g->private_dirs, p->id.uid, p->id.gid,
			 &p->private_dir, err) < 0)
		return -1;
	p->home = arena_printf(&p->arena, "%s/home", p->private_dir);
	p->tmp = p->policy.tmp_shared
			 ? "/tmp"
			 : arena_printf(&p->arena, "%s/tmp", p->private_dir);
	return 0;
}

/* ---- all together ---- */

static int use_view(struct prepared *p, struct err *err)
{
	const struct ns_caps *ns = &p->gate->ns;
	struct setup_view *v = &p->view;

	choose_places(p);
	show_left_folder(p);
	drop_write_only(p);
	if (prepare_hidden(p, err) < 0)
		return -1;
	if (!place_grants(p)) {
		identity_stay_root(p, "a grant lies on a file system without "
				      "id-mapped mounts");
		(void)place_grants(p);
	}
	open_walls(p);
	if (prepare_protected(p, err) < 0)
		return -1;
	choose_links(p);
	v->root_is_mount = ns->root_is_mount;
	v->dev_is_mount = ns->dev_is_mount;
	v->memfd_noexec = ns->memfd_noexec;
	/* ids below 300 are used once only; the others are left */
	v->pid_max = ns->pid_max && !p->group_has[CGROUP_PIDS]
			     ? 300 + p->policy.processes
			     : 0;
	v->loopback = policy_has_own_net(&p->policy);
	v->catches = p->policy.net == POLICY_NET_PROXY;
	v->uid = p->id.uid;
	v->gid = p->id.gid;
	setup_build(v, &p->arena, &p->launch.setup);
	p->launch.slots =
		ARENA_ARRAY(&p->arena, int, p->launch.setup.slots + 1);
	return 0;
}

static void add_late(struct prepared *p, const char *path, uint64_t rights)
{
	struct launch *l = &p->launch;
	struct late_rule *more =
		arena_grow(&p->arena, l->late, l->n_late, sizeof(*more));

	more[l->n_late++] = (struct late_rule){
		path, landlock_access(&p->rules, rights, true)};
	l->late = more;
}

static int make_rules(struct prepared *p, struct err *err)
{
	if (p->gate->landlock_abi < 1 || !p->for_start)
		return 0;
	landlock_rules_init(&p->rules, p->gate->landlock_abi);
	if (p->policy.net == POLICY_NET_ALL || policy_has_own_net(&p->policy))
		landlock_rules_net_open(&p->rules);
	for (size_t i = 0; i < p->policy.n_ports; i++)
		landlock_add_port(&p->rules, p->policy.ports[i], LL_CONNECT);
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		landlock_add_known(&p->rules, g->fd, S_ISDIR(g->st.st_mode),
				   grant_rights(g->what));
	}
	add_late(p, "/proc", LL_READ);
	for (size_t i = 0; i < p->view.n_places; i++)
		if (!p->view.places[i].is_readonly)
			add_late(p, p->view.places[i].path, LL_WRITE);
	if (p->private_dir)
		add_late(p, p->home, LL_WRITE);
	if (p->private_dir && !p->policy.tmp_shared)
		add_late(p, p->tmp, LL_WRITE);
	if (prepare_base(p, err) < 0)
		return -1;
	return landlock_create(&p->rules, &p->launch.fd[FD_RULESET], err);
}

int prepare_view(struct prepared *p, struct err *err)
{
	if (check_loose_links(p, err) < 0 ||
	    (p->own_view ? use_view(p, err) : use_folders(p, err)) < 0)
		return -1;
	return make_rules(p, err);
}
