/* Records: each thing that was done is one row, found by hash, and counted. */
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "gate/watch/watch.h"

/* Rows of the first allocation; each further one doubles them. */
#define RECORDS_FIRST 512

static uint32_t hash_text(uint32_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT32_C(16777619);
	return h * UINT32_C(16777619);
}

static uint32_t hash_record(const struct gate_record *a)
{
	uint32_t h = UINT32_C(2166136261);

	h = hash_text(h, a->path);
	h = hash_text(h, a->program);
	return h ^ (a->what << 8) ^ (a->access << 4) ^ a->refused ^
	       ((uint32_t)a->unlisted << 1);
}

static bool is_same(const struct gate_record *a, const struct gate_record *b)
{
	return a->what == b->what && a->access == b->access &&
	       a->refused == b->refused && a->unlisted == b->unlisted &&
	       strcmp(a->path, b->path) == 0 &&
	       strcmp(a->program, b->program) == 0;
}

static struct strlist copy_args(struct arena *arena, const struct strlist *args)
{
	size_t n = args->n < WATCH_ARGS ? args->n : WATCH_ARGS;
	struct strlist list = {ARENA_ARRAY(arena, const char *, n + 1), 0};

	for (; list.n < n; list.n++) {
		const char *arg = args->item[list.n];

		list.item[list.n] = arena_strndup(
			arena, arg, strnlen(arg, WATCH_ARG_BYTES - 1));
	}
	return list;
}

/* The slot of the row that equals `what`, or the empty one where it belongs. */
static uint32_t *slot_of(const struct records *r,
			 const struct gate_record *what)
{
	size_t slots = 2 * r->cap, at = hash_record(what) % slots;

	while (r->slot[at] && !is_same(&r->row[r->slot[at] - 1], what))
		at = (at + 1) % slots;
	return &r->slot[at];
}

static void grow_rows(struct records *r)
{
	r->cap = r->cap ? 2 * r->cap : RECORDS_FIRST;
	r->row = mem_realloc(r->row, r->cap * sizeof(*r->row));
	free(r->slot);
	r->slot = mem_zalloc(2 * r->cap * sizeof(*r->slot));
	for (size_t i = 0; i < r->n; i++)
		*slot_of(r, &r->row[i]) = (uint32_t)i + 1;
}

void records_add(struct records *r, const struct gate_record *what)
{
	struct gate_record *row;
	uint32_t *slot;

	if (!r->cap)
		grow_rows(r);
	slot = slot_of(r, what);
	if (*slot) {
		r->row[*slot - 1].count++;
		return;
	}
	if (r->n == (r->max ? r->max : WATCH_RECORDS)) {
		r->dropped++;
		return;
	}
	if (r->n == r->cap) {
		grow_rows(r);
		slot = slot_of(r, what);
	}
	row = &r->row[r->n++];
	*slot = (uint32_t)r->n;
	*row = *what;
	row->path = arena_strdup(&r->arena, what->path);
	row->program = arena_strdup(&r->arena, what->program);
	row->why = what->why ? arena_strdup(&r->arena, what->why) : NULL;
	row->args = copy_args(&r->arena, &what->args);
	row->count = 1;
}

struct strlist records_list_execs(struct records *r)
{
	struct strlist list = {NULL, 0};

	list.item = ARENA_ARRAY(&r->arena, const char *, r->n + 1);
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].what == GATE_RECORD_EXEC && !r->row[i].refused &&
		    !r->row[i].unlisted)
			list.item[list.n++] = r->row[i].path;
	return list;
}
