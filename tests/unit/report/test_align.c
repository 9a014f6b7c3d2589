#include "tests/unit/test.h"

#include "core/report/align.h"

#define MAX 64
#define LARGE 200000

static uint32_t seed = 1;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* Items with a partner, which must be the same on both sides. */
static size_t common(const struct align_side *a, const struct align_side *b)
{
	size_t i = 0, k = 0, n = 0;

	for (;; i++, k++, n++) {
		while (i < a->n && a->alone[i])
			i++;
		while (k < b->n && b->alone[k])
			k++;
		if (i == a->n || k == b->n)
			break;
		assert_int_equal(a->item[i], b->item[k]);
	}
	assert_true(i == a->n && k == b->n);
	return n;
}

static size_t longest(const struct align_side *a, const struct align_side *b)
{
	static size_t best[MAX + 1][MAX + 1];

	for (size_t i = 1; i <= a->n; i++)
		for (size_t k = 1; k <= b->n; k++) {
			size_t up = best[i - 1][k], left = best[i][k - 1];

			best[i][k] = a->item[i - 1] == b->item[k - 1]
					     ? best[i - 1][k - 1] + 1
				     : up > left ? up
						 : left;
		}
	return best[a->n][b->n];
}

TEST(align, random_sequences, have_their_longest_part_in_common)
{
	for (int round = 0; round < 3000; round++) {
		uint32_t x[MAX], y[MAX], letters = 1 + rnd(12);
		bool went[MAX] = {false}, came[MAX] = {false};
		struct align_side a = {x, went, rnd(MAX)};
		struct align_side b = {y, came, rnd(MAX)};

		for (size_t i = 0; i < a.n; i++)
			x[i] = rnd(letters);
		for (size_t k = 0; k < b.n; k++)
			y[k] = rnd(letters + 2);
		align(&a, &b);
		assert_int_equal(common(&a, &b), longest(&a, &b));
	}
}

static uint32_t x[LARGE], y[LARGE];
static bool went[LARGE], came[LARGE];

static size_t align_large(uint32_t letters, uint32_t changed)
{
	struct align_side a = {x, went, LARGE}, b = {y, came, LARGE};

	memset(went, 0, sizeof(went));
	memset(came, 0, sizeof(came));
	for (size_t i = 0; i < LARGE; i++) {
		x[i] = letters ? rnd(letters) : (uint32_t)i;
		y[i] = rnd(1000) < changed ? rnd(UINT32_MAX >> 9) : x[i];
	}
	align(&a, &b);
	return common(&a, &b);
}

/* Little is lost to the bound of the search, and nothing of what is right. */
TEST(align, many_changes, are_found_in_bounds)
{
	assert_true(align_large(0, 10) > LARGE * 98 / 100);
	assert_true(align_large(10, 10) > LARGE * 97 / 100);
	assert_true(align_large(2, 100) > LARGE * 85 / 100);
	assert_true(align_large(500, 1000) < LARGE / 10);
}
