#include <string.h>

#include "tests/unit/test.h"

#include <errno.h>
#include <limits.h>

#include "core/base/err.h"

TEST(set, kind_and_text, are_there)
{
	struct err err = {.line = 3, .col = 4, .sys = 5};

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

TEST(sys, errno, is_named)
{
	struct err err = ERR_INIT;

	assert_int_equal(err_sys(&err, ENOENT, "open %s", "f"), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_int_equal(err.sys, ENOENT);
	assert_string_equal(err.msg, "open f: No such file or directory");
}

TEST(wrap, context, stands_before)
{
	struct err err = ERR_INIT;

	err_at(&err, ERR_PEER, 2, 9, "inner");
	assert_int_equal(err_wrap(&err, "outer %d", 1), -1);
	assert_string_equal(err.msg, "outer 1: inner");
	assert_int_equal(err.kind, ERR_PEER);
	assert_int_equal(err.line, 2);
}

TEST(text, too_long, is_cut_and_ends)
{
	struct err err = ERR_INIT;
	char big[3000];

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

TEST(size, of_an_error, fits_a_pipe_in_one_write)
{
	assert_true(sizeof(struct err) <= PIPE_BUF);
}

TEST(kinds, word_and_status, follow_the_table)
{
	assert_string_equal(err_word(ERR_INTERNAL), "internal");
	assert_int_equal(err_exit_status(ERR_USAGE), 64);
	assert_int_equal(err_exit_status(ERR_BUSY), 75);
	assert_int_equal(err_exit_status(ERR_PROTECTION), 125);
	assert_int_equal(err_exit_status(ERR_LEASH), 126);
	assert_int_equal(err_exit_status(ERR_NOT_FOUND), 127);
}
