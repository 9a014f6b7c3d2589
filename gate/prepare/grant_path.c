#include "gate/prepare/grant_path.h"

#include <unistd.h>

#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/prepare/places.h"

/* Folders of programs: a file that can be read in there can be run by
   the loader. */
static const char *const program_dirs[] = {"/usr/bin", "/usr/sbin",
					   "/usr/local/bin"};

/* Links in there are the system's, made by whoever installed it. */
static const char *const system_dirs[] = {"/usr", "/etc", "/nix", "/snap"};

/* Origin of a grant, by the reason in its rights. */
static const struct origin {
	unsigned by;
	const char *name;  /* in messages */
	bool is_dropped;   /* a refusal of the leash drops the grant only */
	bool is_implied;   /* a folder led to the path; no person named it */
	bool is_unleashed; /* the leash is not asked */
} origins[] = {
	{GRANT_BY(READ), "read", false, false, false},
	{GRANT_BY(WRITE), "write", false, false, false},
	{GRANT_BY(ARGUMENT), "argument", true, false, false},
	{GRANT_BY(EXEC), "exec", true, true, false},
	{GRANT_BY(PACKAGE), "folder of the script", true, true, false},
	/* with the program, which the leash has allowed */
	{GRANT_BY(INSTALLATION), "installation", true, true, true},
	{GRANT_BY(HELPERS), "helpers of git", true, true, true},
	{GRANT_BY(TMP), "tmp", false, false, true},
	/* any other, as strictly as can be */
	{0, "grant", false, true, false},
};

static const struct origin *origin_of(unsigned what)
{
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(origins) && !(what & origins[i].by))
		i++;
	return &origins[i];
}

static bool any_covers(const char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (place_covers(list[i], path))
			return true;
	return false;
}

/* ---- links ---- */

/* A link of root's, in a folder that only root writes. */
static bool is_trusted_link(const struct walk_link *l)
{
	return l->st.st_uid == 0 &&
	       (strcmp(l->folder, "/") == 0 ||
		(geteuid() != 0 && access(l->folder, W_OK) < 0));
}

static bool is_system_link(const struct walk_link *l)
{
	return is_trusted_link(l) ||
	       (l->st.st_uid == 0 &&
		any_covers(system_dirs, ARRAY_LEN(system_dirs), l->folder));
}

static bool is_system_way(const struct walk *w)
{
	for (size_t i = 0; i < w->n_links; i++)
		if (!is_system_link(&w->link[i]))
			return false;
	return true;
}

/* HOME, folders that hold it, keys, and folders with keys in them. */
static bool is_precious(struct prepared *p, const char *path)
{
	const struct closed closed = places_closed(p->gate);
	const struct strlist *homes = &p->gate->homes;

	for (size_t i = 0; i < homes->n; i++)
		if (place_covers(path, homes->item[i]))
			return true;
	return closed_secret_row(&closed, path) ||
	       gate_secrets_in(p->gate, path, &p->arena);
}

/* A person who names HOME, or a place of keys, by its name means it. */
static bool is_meant(const struct prepared *p, const struct origin *o,
		     const char *path)
{
	const struct closed closed = places_closed(p->gate);

	return !o->is_implied &&
	       (closed_secret_row(&closed, path) ||
		(p->gate->home && place_covers(p->gate->home, path) &&
		 place_covers(path, p->gate->home)));
}

/* Every program may read the path, or a person granted it by another name. */
static bool is_granted(const struct prepared *p, const char *path)
{
	return grants_cover(&p->grants, path,
			    GRANT_BY(READ) | GRANT_BY(WRITE)) ||
	       grants_cover(&p->gate->base, path, GRANT_ACCESS | GRANT_DEVICE);
}

static int refuse_link(const char *name, const char *path, const struct walk *w,
		       const struct walk_link *l, const char *why,
		       struct err *err)
{
	bool is_itself = strcmp(path, l->at) == 0;

	return err_set(err, ERR_POLICY,
		       "%s: %s leads to %s%s%s: %s; if that is meant, name %s "
		       "itself",
		       name, path, w->path, is_itself ? "" : " by the link ",
		       is_itself ? "" : l->at, why, w->path);
}

/*
 * Links of other users lead nowhere. A link of the user's own may have been
 * left by a program in a folder that it could write: it may lead further
 * beneath its own folder, and where a person named the path, to anything but
 * HOME and keys.
 */
static int judge_link(struct prepared *p, const struct origin *o,
		      const char *path, const struct walk *w,
		      const struct walk_link *l, struct err *err)
{
	if (!resolve_is_trusted(l->st.st_uid))
		return refuse_link(o->name, path, w, l,
				   "the link belongs to another user", err);
	if (is_trusted_link(l) || is_meant(p, o, path))
		return 0;
	if (is_precious(p, w->path))
		return refuse_link(o->name, path, w, l,
				   "keys or a whole HOME lie there", err);
	if (!o->is_implied || is_system_link(l) ||
	    place_covers(l->folder, w->path) || is_granted(p, w->path))
		return 0;
	return refuse_link(o->name, path, w, l,
			   "a link that leads out of its folder and of what is "
			   "granted",
			   err);
}

static int judge_links(struct prepared *p, const struct origin *o,
		       const char *path, const struct walk *w, struct err *err)
{
	for (size_t i = 0; i < w->n_links; i++)
		if (judge_link(p, o, path, w, &w->link[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the leash ---- */

/* A row that is a link counts for where it leads, if it may lead there. */
static bool row_covers(struct prepared *p, const char *row, const char *path)
{
	static const struct origin as_named = {.name = "leash"};
	struct err ignored = ERR_INIT;
	struct walk w = WALK_INIT;
	bool covers;

	if (walk_open(row, &p->arena, &w) < 0)
		return false;
	covers = w.path && place_covers(w.path, path) &&
		 (is_system_way(&w) ||
		  judge_links(p, &as_named, row, &w, &ignored) == 0);
	walk_release(&w);
	return covers;
}

static bool axis_covers(struct prepared *p, const struct gate_axis *axis,
			const char *path)
{
	if (allow_axis_covers(axis, path))
		return true;
	for (size_t i = 0; i < axis->only.n; i++)
		if (row_covers(p, axis->only.item[i], path))
			return true;
	return false;
}

/* Name the axis of the leash that refuses the grant; NULL: none does. */
static const char *leash_refuses(struct prepared *p, const struct origin *o,
				 unsigned what, const char *path)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (o->is_unleashed)
		return NULL;
	if (what & GRANT_WRITES && !axis_covers(p, &leash->fs_write, path))
		return "fs_write";
	/* a folder of programs in `exec` includes reading its files */
	if (what & GRANT_EXEC &&
	    (allow_has(&leash->exec.only, path) ||
	     any_covers(program_dirs, ARRAY_LEN(program_dirs), path)))
		return NULL;
	if (what & (GRANT_READ | GRANT_WRITE | GRANT_EXEC) &&
	    !axis_covers(p, &leash->fs_read, path))
		return "fs_read";
	return NULL;
}

static int refuse_by_leash(struct prepared *p, const struct origin *o,
			   const char *path, const struct walk *w,
			   const char *axis, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (!o->is_dropped)
		return err_set(err, ERR_LEASH,
			       "%s: %s leads to %s, which the leash (%s) does "
			       "not allow (%s)",
			       o->name, path, w->path,
			       leash->source ? leash->source : "given", axis);
	prepared_cap(p,
		     "%s \"%s\": not readable, the leash does not allow %s "
		     "(%s)",
		     o->name, path, strcmp(path, w->path) == 0 ? "it" : w->path,
		     axis);
	return 1;
}

/* ---- the whole ---- */

static int check_protected(const struct prepared *p, const char *path,
			   struct err *err)
{
	const struct strlist *protect = &p->gate->config.protect;

	for (size_t i = 0; i < protect->n; i++)
		if (place_covers(protect->item[i], path))
			return err_set(
				err, ERR_POLICY,
				"write: %s belongs to matins itself (%s) "
				"and is never writable",
				path, protect->item[i]);
	return 0;
}

int grant_found(struct prepared *p, const char *path, struct walk *found,
		unsigned what, struct err *err)
{
	const struct origin *o = origin_of(what);
	const char *axis = leash_refuses(p, o, what, found->path);

	if (axis)
		return refuse_by_leash(p, o, path, found, axis, err);
	if (judge_links(p, o, path, found, err) < 0)
		return -1;
	if (what & GRANT_WRITES && check_protected(p, found->path, err) < 0)
		return -1;
	if (what & (GRANT_BY(READ) | GRANT_BY(WRITE)))
		for (size_t i = 0; i < ARRAY_LEN(program_dirs); i++)
			p->open_programs |=
				place_covers(found->path, program_dirs[i]);
	grants_take(&p->grants, path, found, what);
	return 0;
}

int grant_path(struct prepared *p, const char *path, unsigned what,
	       struct err *err)
{
	struct walk found = WALK_INIT;
	int r = grants_find(&p->grants, path, &found, err);

	if (r < 0)
		return err_wrap(err, "%s", origin_of(what)->name);
	if (r == 0)
		r = grant_found(p, path, &found, what, err);
	walk_release(&found);
	return r;
}
