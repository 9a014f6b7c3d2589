#include "gate/needs/needs_rows.h"

#include <string.h>
#include <sys/stat.h>

#include "gate/needs/private_files.h"
#include "core/base/place.h"
#include "gate/policy/allow.h"

/* Rows of files, or of folders, in one folder that become that folder. */
#define COLLAPSE_FILES 2
#define COLLAPSE_FOLDERS 8
/* Entries of a folder that are looked at for private files. */
#define WIDEN_LOOKED_AT 20000

const char needs_went_on[] = "the trace refused it, and the program went on";

struct gate_need *needs_find(struct needs_finder *f, const char *key,
			     const char *value)
{
	for (size_t i = 0; i < f->out->n; i++) {
		struct gate_need *n = &f->out->need[i];

		if (strcmp(n->key, key) == 0 && strcmp(n->value, value) == 0)
			return n;
	}
	return NULL;
}

void needs_add(struct needs_finder *f, const char *key, const char *value,
	       const struct gate_record *r, const char *why_not)
{
	struct gate_need *same = needs_find(f, key, value);

	if (same) {
		same->count += r->count;
		/* needed in two ways, of which one can be granted */
		if (!why_not)
			same->why_not = NULL;
		return;
	}
	f->out->need = arena_grow(f->arena, f->out->need, f->out->n,
				  sizeof(*f->out->need));
	f->out->need[f->out->n++] = (struct gate_need){
		.key = key,
		.value = arena_strdup(f->arena, value),
		.program = arena_strdup(f->arena, r->program),
		.count = r->count,
		.why_not = why_not,
	};
}

bool needs_is_row(const struct gate_need *n, const char *key)
{
	return !n->why_not && strcmp(n->key, key) == 0;
}

/* ---- fewer rows ---- */

/* Count the rows directly in `dir`: folders, or files. */
static size_t count_in(struct needs_finder *f, const char *dir, bool folders)
{
	size_t n = 0;

	for (size_t i = 0; i < f->out->n; i++) {
		const struct gate_need *row = &f->out->need[i];
		struct stat st;

		if (needs_is_row(row, "read") &&
		    strcmp(resolve_dirname(row->value, f->arena), dir) == 0 &&
		    stat(row->value, &st) == 0 &&
		    S_ISDIR(st.st_mode) == folders)
			n++;
	}
	return n;
}

static void remove_row(struct needs_finder *f, size_t i)
{
	f->out->n--;
	memmove(&f->out->need[i], &f->out->need[i + 1],
		(f->out->n - i) * sizeof(f->out->need[i]));
}

/* Replace the rows beneath `dir` by one. */
static void widen(struct needs_finder *f, const char *dir)
{
	struct gate_record sum = {.program = NULL};

	for (size_t i = 0; i < f->out->n;) {
		struct gate_need *row = &f->out->need[i];

		if (!needs_is_row(row, "read") ||
		    !place_covers(dir, row->value)) {
			i++;
			continue;
		}
		if (!sum.program)
			sum.program = row->program;
		sum.count += row->count;
		remove_row(f, i);
	}
	needs_add(f, "read", dir, &sum, NULL);
}

/* Would the folder grant files that only the user may read? */
static bool holds_private(struct needs_finder *f, const char *dir)
{
	const char *cwd = f->plain->cwd;
	size_t budget = WIDEN_LOOKED_AT;
	bool is_private;

	if (place_covers("/usr", dir) || (cwd && place_covers(cwd, dir)) ||
	    allow_has(&f->no_private, dir))
		return false;
	if (allow_has(&f->with_private, dir))
		return true;
	is_private = folder_holds_private(dir, cwd, &budget);
	list_add(is_private ? &f->with_private : &f->no_private, f->arena, dir);
	return is_private;
}

/* Widen to one folder; false: there is none left. */
static bool widen_one(struct needs_finder *f)
{
	for (size_t i = 0; i < f->out->n; i++) {
		const struct gate_need *row = &f->out->need[i];
		const char *dir;

		if (!needs_is_row(row, "read"))
			continue;
		dir = resolve_dirname(row->value, f->arena);
		if (!closed_may_widen(&f->closed, dir) ||
		    (count_in(f, dir, false) < COLLAPSE_FILES &&
		     count_in(f, dir, true) < COLLAPSE_FOLDERS) ||
		    holds_private(f, dir))
			continue;
		widen(f, dir);
		return true;
	}
	return false;
}

void needs_widen(struct needs_finder *f)
{
	while (widen_one(f))
		;
}

void needs_drop_covered(struct needs_finder *f)
{
	for (size_t i = 0; i < f->out->n;) {
		const struct gate_need *a = &f->out->need[i];
		bool is_covered = false, is_file = a->value[0] == '/';

		for (size_t k = 0; is_file && k < f->out->n; k++) {
			const struct gate_need *b = &f->out->need[k];

			if (k == i || b->why_not || b->value[0] != '/' ||
			    strcmp(b->key, "exec") == 0 ||
			    strcmp(a->key, "exec") == 0)
				continue;
			is_covered |= (strcmp(a->key, b->key) == 0 ||
				       strcmp(b->key, "write") == 0) &&
				      place_covers(b->value, a->value);
		}
		if (is_covered)
			remove_row(f, i);
		else
			i++;
	}
}
