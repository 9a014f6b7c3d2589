/* Records: each thing that was done is one row, found by hash, and counted. */
#include <string.h>

#include "core/base/mem.h"
#include "gate/watch.h"

#define SLOTS (2 * WATCH_RECORDS)
static uint32_t hash_text(uint32_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT32_C(16777619);
	return h * UINT32_C(16777619);
}

static uint32_t hash(const struct gate_record *a)
{
	uint32_t h = UINT32_C(2166136261);

	h = hash_text(h, a->path);
	h = hash_text(h, a->program);
	return h ^ (a->what << 8) ^ (a->access << 4) ^ a->refused;
}

static bool is_same(const struct gate_record *a, const struct gate_record *b)
{
	return a->what == b->what && a->access == b->access &&
	       a->refused == b->refused && strcmp(a->path, b->path) == 0 &&
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

void records_add(struct records *r, const struct gate_record *what)
{
	struct gate_record *row;
	size_t at;

	if (!r->row) {
		r->row = mem_zalloc(WATCH_RECORDS * sizeof(*r->row));
		r->slot = mem_zalloc(SLOTS * sizeof(*r->slot));
	}
	for (at = hash(what) % SLOTS; r->slot[at]; at = (at + 1) % SLOTS) {
		row = &r->row[r->slot[at] - 1];
		if (is_same(row, what)) {
			row->count++;
			return;
		}
	}
	if (r->n == WATCH_RECORDS) {
		r->dropped++;
		return;
	}
	row = &r->row[r->n++];
	r->slot[at] = (uint16_t)r->n;
	*row = *what;
	row->path = arena_strdup(&r->arena, what->path);
	row->program = arena_strdup(&r->arena, what->program);
	row->args = copy_args(&r->arena, &what->args);
	row->count = 1;
}

struct strlist records_execs(struct records *r)
{
	struct strlist list = {NULL, 0};

	list.item = ARENA_ARRAY(&r->arena, const char *, r->n + 1);
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].what == GATE_RECORD_EXEC && !r->row[i].refused)
			list.item[list.n++] = r->row[i].path;
	return list;
}
