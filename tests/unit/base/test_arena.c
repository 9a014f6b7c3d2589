#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arena.h"
#include "core/base/mem.h"

static void alloc__any_size__is_zeroed_and_aligned(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
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

static void alloc__large_ones__leave_the_small_block_in_use(void **state)
{
	struct arena a = ARENA_INIT;
	char *first, *big, *second;

	(void)state;
	first = arena_strdup(&a, "first");
	big = arena_alloc(&a, 1000000);
	second = arena_strdup(&a, "second");
	memset(big, 'x', 1000000);
	assert_string_equal(first, "first");
	assert_string_equal(second, "second");
	assert_true(second > first && second - first < 8192);
	arena_release(&a);
}

static void copies__end_in_a_nul(void **state)
{
	struct arena a = ARENA_INIT;
	struct str s;
	int *numbers;

	(void)state;
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

static void release__twice_and_again__is_usable(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	arena_release(&a);
	assert_string_equal(arena_strdup(&a, "x"), "x");
	arena_release(&a);
	assert_string_equal(arena_strdup(&a, "y"), "y");
	arena_release(&a);
}

static void arena_adopt__released__frees_what_it_took(void **state)
{
	struct arena a = ARENA_INIT;
	char *p = mem_strdup("moved in");

	(void)state;
	/* a leak or a double free would be seen by the sanitizer */
	assert_ptr_equal(arena_adopt(&a, p), p);
	arena_adopt(&a, mem_strdup("another"));
	assert_string_equal(p, "moved in");
	arena_release(&a);
	assert_null(a.list);
	assert_string_equal(arena_strdup(&a, "usable again"), "usable again");
	arena_release(&a);
}

static void copies__of_a_list_and_of_null__are_its_own(void **state)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	char first[] = "one";
	const char *item[] = {first, "two"};
	struct strlist from = {item, 2}, none = {NULL, 0};
	struct strlist copy = arena_strlist(&a, &from);

	(void)state;
	first[0] = 'X';
	item[1] = "other";
	assert_int_equal(copy.n, 2);
	assert_string_equal(copy.item[0], "one");
	assert_string_equal(copy.item[1], "two");
	assert_int_equal(arena_strlist(&a, &none).n, 0);
	assert_null(arena_strdup(&a, NULL));
}

static void list_add__many__keeps_all_in_order(void **state)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	struct strlist list = {NULL, 0};

	(void)state;
	for (int i = 0; i < 100; i++)
		list_add(&list, &a, arena_printf(&a, "%d", i));
	assert_int_equal(list.n, 100);
	for (int i = 0; i < 100; i++)
		assert_string_equal(list.item[i], arena_printf(&a, "%d", i));
}

static void arena_grow__with_room__moves_nothing(void **state)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	int *first = arena_grow(&a, NULL, 0, sizeof(int));

	(void)state;
	first[7] = 7;
	for (size_t n = 1; n < 8; n++)
		assert_ptr_equal(arena_grow(&a, first, n, sizeof(int)), first);
	assert_int_equal(((int *)arena_grow(&a, first, 8, sizeof(int)))[7], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_adopt__released__frees_what_it_took),
		cmocka_unit_test(arena_grow__with_room__moves_nothing),
		cmocka_unit_test(alloc__any_size__is_zeroed_and_aligned),
		cmocka_unit_test(
			alloc__large_ones__leave_the_small_block_in_use),
		cmocka_unit_test(copies__end_in_a_nul),
		cmocka_unit_test(copies__of_a_list_and_of_null__are_its_own),
		cmocka_unit_test(list_add__many__keeps_all_in_order),
		cmocka_unit_test(release__twice_and_again__is_usable),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
