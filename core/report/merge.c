#include "core/report/diff.h"

static struct jdoc *merge(const struct edit *e, struct arena *arena);

static bool is_any_taken(const struct edit *e)
{
	bool is = e->is_taken;

	for (const struct edit *b = e->first; b && !is; b = b->next)
		is = is_any_taken(b);
	return is;
}

/* Remains of a value; NULL: nothing. */
static struct jdoc *apply(const struct edit *e, struct arena *arena)
{
	const struct jdoc *left = e->is_taken ? e->new : e->old;
	struct jdoc *copy;

	if (e->kind == DIFF_WITHIN && !e->is_whole)
		return merge(e, arena);
	if (e->kind == DIFF_WITHIN && is_any_taken(e))
		left = e->new;
	if (!left)
		return NULL;
	copy = ARENA_NEW(arena, struct jdoc);
	*copy = *left;
	copy->next = NULL;
	return copy;
}

/* Elements and members that are left; in the order of the new ones when a
   move of one of them is taken. */
struct building {
	struct jdoc **old, **added; /* by index of the old, of the new one */
	struct jdoc **item;	    /* in the order of the old ones */
	size_t n;
};

static void put(struct building *b, struct jdoc *j)
{
	if (j)
		b->item[b->n++] = j;
}

static void reorder(const struct edit *e, struct building *b)
{
	bool is_moved = false;

	for (const struct edit *m = e->first; m; m = m->next)
		is_moved |= m->kind == DIFF_MOVED && m->is_taken;
	if (!is_moved || !e->order)
		return;
	b->n = 0;
	for (size_t k = 0; k < e->new->n; k++) {
		size_t from = e->order[k];

		put(b, from == DIFF_NONE ? b->added[k] : b->old[from]);
		if (from != DIFF_NONE)
			b->old[from] = NULL;
	}
	for (size_t i = 0; i < e->old->n; i++)
		put(b, b->old[i]);
}

/* Edits and old values come in the same order. */
static void build(const struct edit *e, struct building *b, struct arena *arena)
{
	struct jdoc **member = jdoc_members(e->old, true, arena);
	const bool is_array = e->old->type == SCAN_ARRAY;
	const struct edit *next = e->first;

	for (size_t i = 0; i <= e->old->n; i++) {
		for (; next && (next->kind == DIFF_MOVED ||
				(next->kind == DIFF_ADDED &&
				 (!is_array || next->old_index <= i)));
		     next = next->next) {
			if (next->kind == DIFF_MOVED || !next->is_taken)
				continue;
			put(b, apply(next, arena));
			b->added[next->new_index] = b->item[b->n - 1];
		}
		if (i == e->old->n)
			break;
		if (next && next->old == member[i]) {
			b->old[i] = apply(next, arena);
			next = next->next;
		} else {
			b->old[i] = ARENA_NEW(arena, struct jdoc);
			*b->old[i] = *member[i];
			b->old[i]->next = NULL;
		}
		put(b, b->old[i]);
	}
	reorder(e, b);
}

static struct jdoc *merge(const struct edit *e, struct arena *arena)
{
	size_t room = e->old->n + e->new->n + 1;
	struct building b = {
		ARENA_ARRAY(arena, struct jdoc *, room),
		ARENA_ARRAY(arena, struct jdoc *, room),
		ARENA_ARRAY(arena, struct jdoc *, room),
		0,
	};
	struct jdoc *j = ARENA_NEW(arena, struct jdoc);

	build(e, &b, arena);
	*j = *e->old;
	j->n = (uint32_t)b.n;
	j->first = b.n ? b.item[0] : NULL;
	j->next = NULL;
	for (size_t i = 1; i < b.n; i++)
		b.item[i - 1]->next = b.item[i];
	return j;
}

/* Hidden edits of a step go with those that are shown. */
static void take_hidden(struct edit *e, const struct edit *step,
			unsigned int depth)
{
	if (depth == 2)
		step = e;
	if (e->is_hidden)
		e->is_taken = is_any_taken(step);
	for (struct edit *b = e->first; b; b = b->next)
		take_hidden(b, step, depth + 1);
}

struct jdoc *diff_merge(const struct diff *d, struct arena *arena)
{
	if (!d->root)
		return d->old;
	/* the report, its steps, a step */
	take_hidden(d->root, d->root, 0);
	return apply(d->root, arena);
}
