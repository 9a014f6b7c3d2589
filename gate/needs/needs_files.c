#include "gate/needs/needs_files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gate/needs/private_files.h"
#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/prepare/places.h"
#include "gate/prepare/prepare_view.h"

static const char too_wide[] = "too wide to be granted as a whole; name what "
			       "is needed of it";
static const char is_secret[] = "keys, tokens or sessions; grant it by hand if "
				"that is meant";
static const char only_yours[] = "a file that only you may read; grant it by "
				 "hand if that is meant";
/* New rows after which folders are taken for files, so that rows stay few. */
#define FOLD_EVERY 64

static const char hidden[] = "the trace hid it, and the program went on";

/* ---- grants of the plain policy ---- */

static bool holds(const struct needs_finder *f, const char *path, unsigned what)
{
	return grants_cover(&f->p->grants, path, what) ||
	       grants_cover(&f->gate->base, path, what);
}

static bool list_covers(const struct strlist *list, const char *path)
{
	char real[PATH_MAX];

	for (size_t i = 0; i < list->n; i++)
		if (place_covers(list->item[i], path) ||
		    (realpath(list->item[i], real) && place_covers(real, path)))
			return true;
	return false;
}

/*
 * In a private place the program saw its own file, not that of the machine,
 * unless the trace had put that there; and so it will be without a grant.
 */
static bool is_private(const struct needs_finder *f, const char *path)
{
	return view_replaces(f->p, path) &&
	       !list_covers(&f->traced->read, path) &&
	       !list_covers(&f->traced->write, path);
}

/* A private place itself: there the program has its own. */
static bool is_place(const struct needs_finder *f, const char *path)
{
	return f->p->own_view && places_has(f->gate, path);
}

static bool is_system(const char *path)
{
	return place_covers("/proc", path) || place_covers("/dev", path);
}

/* Reason why a trace grants no row for the path; NULL: it may. */
static const char *refusal(const struct needs_finder *f, const char *path)
{
	enum closed_kind kind = closed_kind_of(&f->closed, path);

	return kind == CLOSED_SECRET || kind == CLOSED_OTHERS ? is_secret
							      : NULL;
}

/* ---- programs ---- */

/*
 * Reason why the gate would not start the program, in the arena; NULL: it
 * would, with the interpreters of its first line.
 */
static const char *unrunnable(struct needs_finder *f, const char *row)
{
	struct resolved r = RESOLVED_INIT;
	struct err err = ERR_INIT;
	int result = resolve_program(row, NULL, f->arena, &r, &err);

	for (size_t i = 1; result == 0 && i < r.n; i++)
		if (!r.file[i].is_loader)
			list_add(&f->brought, f->arena, r.file[i].path);
	resolved_release(&r);
	return result == 0 ? NULL : arena_strdup(f->arena, err.msg);
}

static const char *beyond_leash(struct needs_finder *f, const char *row,
				const char *real)
{
	struct err err = ERR_INIT;

	if (allow_exec(&f->gate->config.leash, row, real, &err) == 0)
		return NULL;
	return arena_strdup(f->arena, err.msg);
}

/* Did the trace grant the program, by its folder or by its name? */
static bool ran_in_trace(const struct needs_finder *f, const char *row,
			 const char *real)
{
	return list_covers(&f->traced->exec, real) ||
	       allow_has(&f->traced->exec, row);
}

static void find_program(struct needs_finder *f, const struct gate_record *r)
{
	struct gate_need *need;
	char real[PATH_MAX];
	const char *row, *why_not;
	struct stat st;

	if (r->refused || !realpath(r->path, real) || stat(real, &st) < 0 ||
	    !S_ISREG(st.st_mode) || access(real, X_OK) < 0 ||
	    holds(f, real, GRANT_EXEC) || is_private(f, real) ||
	    allow_has(&f->brought, real))
		return;
	row = resolve_in_path(r->path, real, f->arena)
		      ? resolve_basename(r->path)
		      : real;
	why_not = refusal(f, real);
	if (!why_not)
		why_not = beyond_leash(f, row, real);
	if (!why_not)
		why_not = unrunnable(f, row);
	needs_add(f, "exec", row, r, why_not);
	need = needs_find(f, "exec", row);
	need->was_refused |= !ran_in_trace(f, row, real);
}

/* ---- files ---- */

/* Find a granted row of this key that covers the path; NULL: none does. */
static struct gate_need *covering(const struct needs_finder *f, const char *key,
				  const char *path)
{
	for (size_t i = 0; i < f->out->n; i++)
		if (needs_is_row(&f->out->need[i], key) &&
		    place_covers(f->out->need[i].value, path))
			return &f->out->need[i];
	return NULL;
}

/* Resolve the folder of a name; false: there is none. */
static bool real_folder(const struct needs_finder *f, const char *path,
			char real[PATH_MAX])
{
	return realpath(resolve_dirname(path, f->arena), real) != NULL;
}

static void find_written(struct needs_finder *f, const struct gate_record *r)
{
	bool is_entry = r->access & GATE_ACCESS_ENTRY;
	const char *why_not;
	char real[PATH_MAX];
	struct stat st;

	if (is_entry ? !real_folder(f, r->path, real)
		     : !realpath(r->path, real))
		return;
	if (is_system(real) || holds(f, real, GRANT_WRITE | GRANT_DEVICE) ||
	    is_place(f, real) || stat(real, &st) < 0 ||
	    closed_kind_of(&f->closed, real) == CLOSED_CACHE ||
	    access(real, W_OK) < 0)
		return;
	why_not = refusal(f, real);
	if (!why_not && is_private(f, real) && f->ended_well)
		why_not = hidden;
	if (!why_not && S_ISDIR(st.st_mode) &&
	    !closed_may_widen(&f->closed, real))
		why_not = too_wide;
	if (!why_not && f->ended_well && !list_covers(&f->traced->write, real))
		why_not = needs_went_on;
	needs_add(f, "write", real, r, why_not);
}

/*
 * A name in a private place is there again only when it is asked for itself,
 * so a link in one is asked for by its name.
 */
static const char *read_row(const struct needs_finder *f, const char *path,
			    const char *real)
{
	return view_replaces(f->p, path) && !strstr(path, "/..") ? path : real;
}

/*
 * git looks at whose the folder around its `.git` is, which no record shows;
 * with the folder granted it is its own.
 */
static const char *working_tree(const struct needs_finder *f, const char *path)
{
	const char *at = strstr(path, "/.git");
	const char *tree;

	if (!at || at == path || (at[5] && at[5] != '/'))
		return path;
	tree = arena_strndup(f->arena, path, (size_t)(at - path));
	return closed_may_widen(&f->closed, tree) ? tree : path;
}

/* Files that the trace left shut for what they are. */
static const char *refusal_of_file(const struct needs_finder *f,
				   const char *path, const struct stat *st)
{
	const char *cwd = f->plain->cwd;
	char real[PATH_MAX];

	if (list_covers(&f->traced->closed, path))
		return is_secret;
	if (!file_is_private(st) || list_covers(&f->traced->read, path) ||
	    list_covers(&f->traced->write, path) ||
	    (cwd && realpath(cwd, real) && place_covers(real, path)))
		return NULL;
	return only_yours;
}

static void find_read(struct needs_finder *f, const struct gate_record *r)
{
	struct gate_need *need;
	char real[PATH_MAX];
	const char *why_not;
	struct stat st;

	if (!realpath(r->path, real) || is_system(real) ||
	    stat(real, &st) < 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) ||
	    access(real, R_OK) < 0)
		return;
	if (holds(f, real,
		  GRANT_READ | GRANT_WRITE | GRANT_EXEC | GRANT_DEVICE) ||
	    covering(f, "write", real))
		return;
	need = covering(f, "read", real);
	if (need) {
		need->count += r->count;
		return;
	}
	why_not = refusal(f, real);
	if (closed_kind_of(&f->closed, real) == CLOSED_CACHE)
		return;
	if (!why_not)
		why_not = refusal_of_file(f, real, &st);
	/* the program may have looked for its own file of that name */
	if (!why_not && is_private(f, real) && f->ended_well)
		why_not = hidden;
	if (!why_not && S_ISDIR(st.st_mode) &&
	    !closed_may_widen(&f->closed, real))
		why_not = too_wide;
	needs_add(f, "read", working_tree(f, read_row(f, r->path, real)), r,
		  why_not);
	if (f->out->n < f->fold_at)
		return;
	needs_widen(f);
	f->fold_at = f->out->n + FOLD_EVERY;
}

/* ---- records ---- */

static void each(struct needs_finder *f, unsigned what, unsigned access,
		 void (*fn)(struct needs_finder *f,
			    const struct gate_record *r))
{
	for (size_t i = 0; i < f->v->n_records; i++) {
		const struct gate_record *r = &f->v->records[i];

		if (r->what == what && r->access & access && r->path[0] == '/')
			fn(f, r);
	}
}

void needs_find_programs(struct needs_finder *f)
{
	each(f, GATE_RECORD_EXEC, GATE_ACCESS_RUN, find_program);
}

void needs_find_files(struct needs_finder *f)
{
	each(f, GATE_RECORD_FILES, GATE_ACCESS_WRITE, find_written);
	needs_drop_covered(f);
	each(f, GATE_RECORD_FILES, GATE_ACCESS_READ, find_read);
	needs_widen(f);
	needs_drop_covered(f);
}
