#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/client/tail.h"

static void tail__more_than_it_keeps__holds_the_end_and_counts(void **state)
{
	struct tail t;

	(void)state;
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

static void tail__less_than_it_keeps__holds_all(void **state)
{
	struct tail t;

	(void)state;
	tail_init(&t, 8);
	assert_true(str_is(tail_str(&t), ""));
	tail_add(&t, STR("abc"));
	assert_true(str_is(tail_str(&t), "abc"));
	tail_release(&t);
}

static void tail__that_keeps_nothing__counts(void **state)
{
	struct tail t;

	(void)state;
	tail_init(&t, 0);
	tail_add(&t, STR("abc"));
	assert_int_equal(tail_str(&t).n, 0);
	assert_int_equal(t.total, 3);
	tail_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			tail__more_than_it_keeps__holds_the_end_and_counts),
		cmocka_unit_test(tail__less_than_it_keeps__holds_all),
		cmocka_unit_test(tail__that_keeps_nothing__counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
