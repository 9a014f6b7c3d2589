/* Id maps: which lines swap two ids. */
#include <errno.h>
#include <string.h>

#include "tests/unit/test.h"

#include "core/base/str.h"
#include "gate/child/ns.h"

/* Where the map sends an id; each id must be in one line only. */
static uint64_t apply(const char *map, uint64_t id)
{
	struct str rest = str_of(map);
	uint64_t found = UINT64_MAX;

	while (rest.n) {
		struct str line = str_cut(&rest, '\n');
		uint64_t in, out, n;

		if (!line.n)
			continue;
		assert_true(str_uint64(str_cut(&line, ' '), &in));
		assert_true(str_uint64(str_cut(&line, ' '), &out));
		assert_true(str_uint64(line, &n));
		if (id < in || id >= in + n)
			continue;
		assert_true(found == UINT64_MAX);
		found = out + id - in;
	}
	return found;
}

TEST(swap_map, any_two_ids, swaps_them_and_keeps_the_rest)
{
	static const uint32_t pairs[][2] = {
		{0, 65534}, {65534, 0},	 {0, 1},	 {1000, 65534},
		{1, 2},	    {1000, 999}, {0, 4294967294}};
	static const uint32_t others[] = {3,	500,   998,   1001,
					  2000, 65533, 65535, 4294967293};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct arena arena = ARENA_INIT;
		const char *map = ns_swap_map(pairs[i][0], pairs[i][1], &arena);

		assert_int_equal(apply(map, pairs[i][0]), pairs[i][1]);
		assert_int_equal(apply(map, pairs[i][1]), pairs[i][0]);
		for (size_t k = 0; k < ARRAY_LEN(others); k++)
			assert_int_equal(apply(map, others[k]), others[k]);
		/* (uid_t)-1 is nobody's */
		assert_true(apply(map, 4294967295) == UINT64_MAX);
		arena_release(&arena);
	}
}

TEST(swap_map, the_same_id, keeps_all)
{
	struct arena arena = ARENA_INIT;

	assert_string_equal(ns_swap_map(7, 7, &arena), "0 0 4294967294\n");
	arena_release(&arena);
}

TEST(remedy, by_what_was_refused, names_what_to_do)
{
	const struct ns_caps fine = {.available = true, .sys = ENOSPC};
	const struct ns_caps old = {.sys = ENOSYS};
	const struct ns_caps none_left = {.sys = ENOSPC, .at_clone = true};
	const struct ns_caps masked = {.sys = EPERM, .at_proc = true};
	const struct ns_caps unknown = {.sys = EPERM, .at_clone = true};

	assert_string_equal(ns_remedy(&fine), "");
	assert_non_null(strstr(ns_remedy(&old), "5.12"));
	assert_non_null(strstr(ns_remedy(&none_left), "max_user_namespaces"));
	/* settings of this machine may be the better answer */
	assert_true(*ns_remedy(&masked));
	assert_true(*ns_remedy(&unknown));
}
