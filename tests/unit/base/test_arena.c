#include <string.h>

#include "tests/unit/test.h"

#include "core/base/arena.h"
#include "core/base/mem.h"

TEST(alloc, any_size, is_zeroed_and_aligned)
{
	struct arena a = ARENA_INIT;

	for (size_t n = 0; n < 3000; n += 7) {
		unsigned char *p = arena_alloc(&a, n);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	arena_release(&a);
	assert_null(a.head);
}

TEST(alloc, large_ones, leave_the_small_block_in_use)
{
	struct arena a = ARENA_INIT;
	char *first, *big, *second;

	first = arena_strdup(&a, "first");
	big = arena_alloc(&a, 1000000);
	second = arena_strdup(&a, "second");
	memset(big, 'x', 1000000);
	assert_string_equal(first, "first");
	assert_string_equal(second, "second");
	assert_true(second > first && second - first < 8192);
	arena_release(&a);
}

TEST(copies, of_any_text, end_in_a_nul)
{
	struct arena a = ARENA_INIT;
	struct str s;
	int *numbers;

	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&a, NULL, 0), "");
	assert_string_equal(arena_printf(&a, "%d %s", 7, "x"), "7 x");
	s = arena_str(&a, STR("a\0b"));
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.p, "a\0b", 4);
	s = arena_str(&a, (struct str){NULL, 0});
	assert_int_equal(s.n, 0);
	numbers = ARENA_ARRAY(&a, int, 3);
	assert_int_equal(numbers[2], 0);
	arena_release(&a);
}

TEST(release, twice_and_again, is_usable)
{
	struct arena a = ARENA_INIT;

	arena_release(&a);
	assert_string_equal(arena_strdup(&a, "x"), "x");
	arena_release(&a);
	assert_string_equal(arena_strdup(&a, "y"), "y");
	arena_release(&a);
}

TEST(arena_adopt, released, frees_what_it_took)
{
	struct arena a = ARENA_INIT;
	char *p = mem_strdup("moved in");

	/* a leak or a double free would be seen by the sanitizer */
	assert_ptr_equal(arena_adopt(&a, p), p);
	arena_adopt(&a, mem_strdup("another"));
	assert_string_equal(p, "moved in");
	arena_release(&a);
	assert_null(a.list);
	assert_string_equal(arena_strdup(&a, "usable again"), "usable again");
	arena_release(&a);
}

TEST(copies, of_a_list_and_of_null, are_its_own)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	char first[] = "one";
	const char *item[] = {first, "two"};
	struct strlist from = {item, 2}, none = {NULL, 0};
	struct strlist copy = arena_strlist(&a, &from);

	first[0] = 'X';
	item[1] = "other";
	assert_int_equal(copy.n, 2);
	assert_string_equal(copy.item[0], "one");
	assert_string_equal(copy.item[1], "two");
	assert_int_equal(arena_strlist(&a, &none).n, 0);
	assert_null(arena_strdup(&a, NULL));
}

TEST(list_add, many, keeps_all_in_order)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	struct strlist list = {NULL, 0};

	for (int i = 0; i < 100; i++)
		list_add(&list, &a, arena_printf(&a, "%d", i));
	assert_int_equal(list.n, 100);
	for (int i = 0; i < 100; i++)
		assert_string_equal(list.item[i], arena_printf(&a, "%d", i));
}

TEST(arena_grow, with_room, moves_nothing)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	int *first = arena_grow(&a, NULL, 0, sizeof(int));

	first[7] = 7;
	for (size_t n = 1; n < 8; n++)
		assert_ptr_equal(arena_grow(&a, first, n, sizeof(int)), first);
	assert_int_equal(((int *)arena_grow(&a, first, 8, sizeof(int)))[7], 7);
}
