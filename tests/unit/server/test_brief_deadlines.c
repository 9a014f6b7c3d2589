#include "tests/unit/server/brief_fixture.h"

#include "core/base/limits.h"

TEST(deadlines, file_and_items, nearest_first)
{
	WRITE("dates", "# what is due\n"
		       "\n"
		       "2026-02-01 tomorrow\r\n"
		       "2025-12-31\tlong ago\n"
		       "  2026-01-30   yesterday  \n"
		       "2026-01-31 today, in the file\n");
	call("deadlines",
	     "{\"file\":\"~/dates\",\"today\":\"2026-01-31\",\"items\":["
	     "{\"title\":\"leap day\",\"date\":\"2028-02-29\"},"
	     "{\"title\":\"today, given\",\"date\":\"2026-01-31\"}]}");
	assert_false(result.is_error);
	assert_string_equal(TEXT(), "2026-01-31 today, given: today\n"
				    "2026-01-31 today, in the file: today\n"
				    "2026-02-01 tomorrow: in 1 day\n"
				    "2028-02-29 leap day: in 759 days\n"
				    "2026-01-30 yesterday: 1 day ago\n"
				    "2025-12-31 long ago: 31 days ago");
	assert_has(STRUCTURED(),
		   "{\"today\":\"2026-01-31\",\"file\":\"~/dates\","
		   "\"exists\":true,\"coming\":4,\"past\":2,\"items\":["
		   "{\"title\":\"today, given\",\"date\":\"2026-01-31\","
		   "\"days_left\":0},");
	assert_has(STRUCTURED(), "\"days_left\":-31}],\"problems\":[]}");
}

TEST(deadlines, only_items, no_file_is_read)
{
	WRITE("deadlines.txt", "2026-01-01 at home\n");
	call("deadlines", "{\"today\":\"2026-01-31\",\"items\":[]}");
	assert_string_equal(TEXT(), "no deadlines");
	assert_has_not(STRUCTURED(), "\"file\"");
	call("deadlines", "{\"today\":\"2026-01-31\"}");
	assert_string_equal(TEXT(), "2026-01-01 at home: 30 days ago");
}

TEST(deadlines, missing_file, says_how_to_begin)
{
	call("deadlines", "{\"file\":\"~/none\",\"today\":\"2026-01-31\","
			  "\"items\":[{\"title\":\"t\",\"date\":"
			  "\"2026-01-31\"}]}");
	assert_false(result.is_error);
	assert_has(TEXT(), "2026-01-31 t: today\nThere is no ~/none here.");
	assert_has(STRUCTURED(), "\"exists\":false,\"coming\":1,");
}

TEST(deadlines, misspelt_line, error_beside_the_rest)
{
	WRITE("dates", "2026-02-01 good\n2026-02-30 bad\n2026-02-03\n"
		       "2026-02-04x glued\nsoon\n");
	call("deadlines", "{\"file\":\"~/dates\",\"today\":\"2026-01-31\"}");
	assert_true(result.is_error);
	assert_has(TEXT(), "2026-02-01 good: in 1 day\n"
			   "~/dates has lines that are not deadlines:\n"
			   "line 2: it must begin with a date that exists");
	assert_has(TEXT(), "line 3: title missing behind the date");
	assert_has(TEXT(), "line 4: it must begin with a date");
	assert_has(TEXT(), "line 5: it must begin with a date");
	assert_has(STRUCTURED(), "\"problems\":[{\"line\":2,\"message\":");
}

TEST(deadlines, wrong_item, tool_error)
{
	call("deadlines",
	     "{\"items\":[{\"title\":\"t\",\"date\":\"31.1.2026\"}]}");
	assert_true(result.is_error);
	assert_string_equal(TEXT(),
			    "deadlines: argument /items/0/date: is "
			    "\"31.1.2026\", must be a date such as 2026-01-31");
}

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
