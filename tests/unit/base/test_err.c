#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>

#include "core/base/err.h"

static void set__kind_and_text__are_there(void **state)
{
	struct err err = {.line = 3, .col = 4, .sys = 5};

	(void)state;
	assert_int_equal(err_set(&err, ERR_LIMIT, "more than %d", 7), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(err.line, 0);
	assert_int_equal(err.col, 0);
	assert_int_equal(err.sys, 0);
	assert_string_equal(err.msg, "more than 7");
	assert_int_equal(err_at(&err, ERR_SYNTAX, 2, 9, "x"), -1);
	assert_int_equal(err.line, 2);
	assert_int_equal(err.col, 9);
}

static void sys__errno__is_named(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_sys(&err, ENOENT, "open %s", "f"), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_int_equal(err.sys, ENOENT);
	assert_string_equal(err.msg, "open f: No such file or directory");
}

static void wrap__context__stands_before(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	err_at(&err, ERR_PEER, 2, 9, "inner");
	assert_int_equal(err_wrap(&err, "outer %d", 1), -1);
	assert_string_equal(err.msg, "outer 1: inner");
	assert_int_equal(err.kind, ERR_PEER);
	assert_int_equal(err.line, 2);
}

static void text__too_long__is_cut_and_ends(void **state)
{
	struct err err = ERR_INIT;
	char big[3000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	err_set(&err, ERR_PEER, "%s", big);
	assert_int_equal(strlen(err.msg), LIMIT_ERR_MSG - 1);
	err_wrap(&err, "%s", big);
	assert_int_equal(strlen(err.msg), LIMIT_ERR_MSG - 1);
	err_sys(&err, ENOENT, "%s", big);
	assert_int_equal(strlen(err.msg), LIMIT_ERR_MSG - 1);
	assert_memory_equal(err.msg + LIMIT_ERR_MSG - 5, "x…", 5);
	/* whole characters, and the mark when what is added is cut */
	big[LIMIT_ERR_MSG - 4] = '\0';
	err_set(&err, ERR_PEER, "%s", big);
	assert_memory_equal(err.msg + LIMIT_ERR_MSG - 5, "x", 2);
	err_wrap(&err, "\xc3\xa9");
	assert_string_equal(err.msg + LIMIT_ERR_MSG - 4, "…");
	assert_memory_equal(err.msg, "\xc3\xa9: xx", 6);
}

static void size__fits_a_pipe_in_one_write(void **state)
{
	(void)state;
	assert_true(sizeof(struct err) <= PIPE_BUF);
}

static void kinds__word_and_status__follow_the_table(void **state)
{
	(void)state;
	assert_string_equal(err_word(ERR_INTERNAL), "internal");
	assert_int_equal(err_exit_status(ERR_USAGE), 64);
	assert_int_equal(err_exit_status(ERR_BUSY), 75);
	assert_int_equal(err_exit_status(ERR_PROTECTION), 125);
	assert_int_equal(err_exit_status(ERR_LEASH), 126);
	assert_int_equal(err_exit_status(ERR_NOT_FOUND), 127);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set__kind_and_text__are_there),
		cmocka_unit_test(sys__errno__is_named),
		cmocka_unit_test(wrap__context__stands_before),
		cmocka_unit_test(text__too_long__is_cut_and_ends),
		cmocka_unit_test(size__fits_a_pipe_in_one_write),
		cmocka_unit_test(kinds__word_and_status__follow_the_table),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
