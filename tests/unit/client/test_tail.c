#include "tests/unit/test.h"

#include "core/client/tail.h"

TEST(tail, more_than_it_keeps, holds_the_end_and_counts)
{
	struct tail t;

	tail_init(&t, 4);
	for (const char *p = "abcdefghij"; *p; p++)
		tail_add(&t, (struct str){p, 1});
	assert_true(str_is(tail_str(&t), "ghij"));
	assert_int_equal(t.total, 10);
	tail_add(&t, STR("0123456789"));
	assert_true(str_is(tail_str(&t), "6789"));
	assert_int_equal(t.total, 20);
	assert_true(t.kept.n <= 8);
	tail_release(&t);
}

TEST(tail, less_than_it_keeps, holds_all)
{
	struct tail t;

	tail_init(&t, 8);
	assert_true(str_is(tail_str(&t), ""));
	tail_add(&t, STR("abc"));
	assert_true(str_is(tail_str(&t), "abc"));
	tail_release(&t);
}

TEST(tail, that_keeps_nothing, counts)
{
	struct tail t;

	tail_init(&t, 0);
	tail_add(&t, STR("abc"));
	assert_int_equal(tail_str(&t).n, 0);
	assert_int_equal(t.total, 3);
	tail_release(&t);
}
