#include "core/report/align.h"

#include "core/base/arena.h"

/* Edits that one search may need before it is cut. */
#define COST_MAX 400

uint32_t align_item(struct str text)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < text.n; i++)
		h = (h ^ (unsigned char)text.p[i]) * 16777619u;
	return h;
}

/* ---- items that can have a partner ---- */

struct kept {
	uint32_t *item;
	uint32_t *from; /* index in the side */
	int32_t n;
};

static size_t bit_of(uint32_t item, unsigned int bits)
{
	return (size_t)(item * 0x9e3779b97f4a7c15u >> (64 - bits));
}

/* Nearly all items that the other side lacks go; the search need not look at
   them. */
static struct kept keep(const struct align_side *side,
			const struct align_side *other, struct arena *arena)
{
	struct kept k = {
		ARENA_ARRAY(arena, uint32_t, side->n + 1),
		ARENA_ARRAY(arena, uint32_t, side->n + 1),
		0,
	};
	unsigned int bits = 6;
	unsigned char *is_there;

	while ((size_t)1 << bits < 16 * other->n)
		bits++;
	is_there = arena_alloc(arena, (size_t)1 << (bits - 3));
	for (size_t i = 0; i < other->n; i++) {
		size_t bit = bit_of(other->item[i], bits);

		is_there[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
	for (size_t i = 0; i < side->n; i++) {
		size_t bit = bit_of(side->item[i], bits);

		side->alone[i] = !(is_there[bit / 8] & 1 << bit % 8);
		if (side->alone[i])
			continue;
		k.item[k.n] = side->item[i];
		k.from[k.n++] = (uint32_t)i;
	}
	return k;
}

/* ---- the search ---- */

/*
 * Greedy search onwards from items a, b of both sides. Diagonal k has the
 * points i old, i - k new items from there; a row says for each diagonal how
 * far, in i, the ways with so many edits have come.
 */
struct search {
	const struct kept *old, *new;
	const struct align_side *went, *came;
	int32_t a, b, cost_max;
	int32_t *rows; /* each wider than the one before it */
};

/* The row of a number of edits, by diagonals -cost - 2 … cost + 2. */
static int32_t *row_of(const struct search *s, int32_t cost)
{
	return s->rows + (size_t)cost * ((size_t)cost + 5) + 2;
}

/* Does a way go on by leaving out an old item, or else by adding a new one? */
static bool is_removal(const int32_t *before, int32_t k)
{
	return before[k - 1] >= before[k + 1];
}

static int32_t step(const int32_t *before, int32_t k)
{
	return is_removal(before, k) ? before[k - 1] + 1 : before[k + 1];
}

/* Make the row of one edit more. Returns the diagonal that has come furthest
   within both sides. */
static int32_t advance(const struct search *s, int32_t cost)
{
	const int32_t n = s->old->n - s->a, m = s->new->n - s->b;
	const uint32_t *x = s->old->item + s->a, *y = s->new->item + s->b;
	int32_t *row = row_of(s, cost), best = 0, gain = -1;

	row[-cost - 2] = row[cost + 2] = -1;
	for (int32_t k = -cost; k <= cost; k += 2) {
		int32_t i = cost ? step(row_of(s, cost - 1), k) : 0;

		while (i < n && i - k < m && x[i] == y[i - k])
			i++;
		row[k] = i;
		if (i <= n && i - k <= m && i + i - k > gain) {
			gain = i + i - k;
			best = k;
		}
	}
	return best;
}

/* Mark what goes and comes on the way to a point. */
static void mark(const struct search *s, int32_t cost, int32_t k)
{
	for (; cost > 0; cost--) {
		const int32_t *before = row_of(s, cost - 1);
		const int32_t i = s->a + step(before, k);

		if (is_removal(before, k)) {
			s->went->alone[s->old->from[i - 1]] = true;
			k--;
		} else {
			s->came->alone[s->new->from[s->b + i - s->a - k - 1]] =
				true;
			k++;
		}
	}
}

/* Go to the end, or as far as a search goes. */
static void go_on(struct search *s)
{
	int32_t cost = 0, k = advance(s, 0), i = row_of(s, 0)[0];

	while (cost < s->cost_max &&
	       (s->a + i < s->old->n || s->b + i - k < s->new->n)) {
		k = advance(s, ++cost);
		i = row_of(s, cost)[k];
	}
	mark(s, cost, k);
	s->a += i;
	s->b += i - k;
}

void align(const struct align_side *old, const struct align_side *new)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct kept a = keep(old, new, &arena), b = keep(new, old, &arena);
	struct search s = {&a, &b, old, new, 0, 0, a.n + b.n, NULL};

	if (s.cost_max > COST_MAX)
		s.cost_max = COST_MAX;
	s.rows = ARENA_ARRAY(&arena, int32_t,
			     (size_t)(s.cost_max + 1) * (s.cost_max + 6));
	while (s.a < a.n && s.b < b.n)
		go_on(&s);
	while (s.a < a.n)
		old->alone[a.from[s.a++]] = true;
	while (s.b < b.n)
		new->alone[b.from[s.b++]] = true;
}
