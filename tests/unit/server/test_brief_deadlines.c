#include "tests/unit/server/brief_fixture.h"

#include "core/base/limits.h"

TEST(deadlines, too_many, error_that_says_where)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < LIMIT_BRIEF_ITEMS + 5; i++)
		buf_addf(&in, "2026-02-01 number %zu\n", i);
	write_file("dates", in.p, in.n);
	call("deadlines", "{\"file\":\"~/dates\",\"today\":\"2026-01-31\"}");
	assert_true(result.is_error);
	assert_has(TEXT(), "number 999: in 1 day\n");
	assert_has(TEXT(), "line 1001: the list is full");
}

TEST(deadlines, many_bad_lines, bounded)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < 150; i++)
		buf_adds(&in, "bad\n");
	write_file("dates", in.p, in.n);
	call("deadlines", "{\"file\":\"~/dates\",\"today\":\"2026-01-31\"}");
	assert_true(result.is_error);
	assert_has(TEXT(), "\nline 100: ");
	assert_has_not(TEXT(), "\nline 101: ");
	assert_has(TEXT(), "\nand 50 more");
}

TEST_FILE(fixture_set_up, fixture_tear_down);
