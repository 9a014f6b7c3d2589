#include "tests/unit/server/brief_fixture.h"

#include "core/base/limits.h"

static void deadlines__file_and_items__nearest_first(void **state)
{
	(void)state;
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

static void deadlines__only_items__no_file_is_read(void **state)
{
	(void)state;
	WRITE("deadlines.txt", "2026-01-01 at home\n");
	call("deadlines", "{\"today\":\"2026-01-31\",\"items\":[]}");
	assert_string_equal(TEXT(), "no deadlines");
	assert_has_not(STRUCTURED(), "\"file\"");
	call("deadlines", "{\"today\":\"2026-01-31\"}");
	assert_string_equal(TEXT(), "2026-01-01 at home: 30 days ago");
}

static void deadlines__missing_file__says_how_to_begin(void **state)
{
	(void)state;
	call("deadlines", "{\"file\":\"~/none\",\"today\":\"2026-01-31\","
			  "\"items\":[{\"title\":\"t\",\"date\":"
			  "\"2026-01-31\"}]}");
	assert_false(result.is_error);
	assert_has(TEXT(), "2026-01-31 t: today\nThere is no ~/none here.");
	assert_has(STRUCTURED(), "\"exists\":false,\"coming\":1,");
}

static void deadlines__misspelt_line__error_beside_the_rest(void **state)
{
	(void)state;
	WRITE("dates", "2026-02-01 good\n2026-02-30 bad\n2026-02-03\n"
		       "2026-02-04x glued\nsoon\n");
	call("deadlines", "{\"file\":\"~/dates\",\"today\":\"2026-01-31\"}");
	assert_true(result.is_error);
	assert_has(TEXT(), "2026-02-01 good: in 1 day\n"
			   "~/dates has lines that are no deadlines:\n"
			   "line 2: it must begin with a date that exists");
	assert_has(TEXT(), "line 3: there is no title behind the date");
	assert_has(TEXT(), "line 4: it must begin with a date");
	assert_has(TEXT(), "line 5: it must begin with a date");
	assert_has(STRUCTURED(), "\"problems\":[{\"line\":2,\"message\":");
}

static void deadlines__wrong_item__tool_error(void **state)
{
	(void)state;
	call("deadlines",
	     "{\"items\":[{\"title\":\"t\",\"date\":\"31.1.2026\"}]}");
	assert_true(result.is_error);
	assert_string_equal(TEXT(),
			    "deadlines: argument items[0].date must be a date "
			    "that exists, written as 2026-01-31");
}

static void deadlines__too_many__error_that_says_where(void **state)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (size_t i = 0; i < LIMIT_BRIEF_ITEMS + 5; i++)
		buf_addf(&in, "2026-02-01 number %zu\n", i);
	write_file("dates", in.p, in.n);
	call("deadlines", "{\"file\":\"~/dates\",\"today\":\"2026-01-31\"}");
	assert_true(result.is_error);
	assert_has(TEXT(), "number 999: in 1 day\n");
	assert_has(TEXT(), "line 1001: the list is full");
}

static void deadlines__many_bad_lines__bounded(void **state)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (size_t i = 0; i < 150; i++)
		buf_adds(&in, "bad\n");
	write_file("dates", in.p, in.n);
	call("deadlines", "{\"file\":\"~/dates\",\"today\":\"2026-01-31\"}");
	assert_true(result.is_error);
	assert_has(TEXT(), "\nline 100: ");
	assert_has_not(TEXT(), "\nline 101: ");
	assert_has(TEXT(), "\nand 50 more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines__file_and_items__nearest_first),
		cmocka_unit_test(deadlines__only_items__no_file_is_read),
		cmocka_unit_test(deadlines__missing_file__says_how_to_begin),
		cmocka_unit_test(
			deadlines__misspelt_line__error_beside_the_rest),
		cmocka_unit_test(deadlines__wrong_item__tool_error),
		cmocka_unit_test(deadlines__too_many__error_that_says_where),
		cmocka_unit_test(deadlines__many_bad_lines__bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
