#include "tests/unit/test.h"

#include "core/base/date.h"
#include "core/server/brief.h"

static int32_t days_of(const char *text)
{
	int32_t days = INT32_MIN;

	if (!date_parse(str_of(text), &days))
		fail_msg("%s is a date", text);
	return days;
}

TEST(date_parse, known_days, counted_from_1970)
{
	assert_int_equal(days_of("1970-01-01"), 0);
	assert_int_equal(days_of("1969-12-31"), -1);
	assert_int_equal(days_of("2000-02-29"), 11016);
	assert_int_equal(days_of("2038-01-19"), 24855);
	assert_int_equal(days_of("0001-01-01"), -719162);
	assert_int_equal(days_of("9999-12-31"), 2932896);
}

TEST(date_parse, no_such_day, refused)
{
	static const char *const bad[] = {
		"2026-02-29", "1900-02-29",  "2026-00-10", "2026-13-01",
		"2026-04-31", "2026-01-00",  "0000-01-01", "2026-1-1",
		"2026/01/01", "2026-01-01 ", "",	   "2026-01",
		"-026-01-01", "2026-01-0x"};
	int32_t days;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (date_parse(str_of(bad[i]), &days))
			fail_msg("\"%s\" is no date", bad[i]);
}

TEST(date_format, every_day_of_400_years, reads_back)
{
	char text[DATE_TEXT_BYTES], last[DATE_TEXT_BYTES] = "";

	for (int32_t d = days_of("1800-01-01"); d <= days_of("2200-01-01");
	     d++) {
		date_format(d, text);
		assert_int_equal(days_of(text), d);
		assert_true(strcmp(last, text) < 0);
		memcpy(last, text, sizeof(last));
	}
	date_format(days_of("0001-01-01"), text);
	assert_string_equal(text, "0001-01-01");
	date_format(days_of("9999-12-31"), text);
	assert_string_equal(text, "9999-12-31");
}

static int64_t fixed_wall_ns;

static int64_t fixed(UNUSED struct clock *c)
{
	return fixed_wall_ns;
}

TEST(today, either_side_of_midnight, is_the_local_day)
{
	struct clock c = {NULL, fixed};
	const struct tool_env env = {.clock = &c};

	/* 2026-01-31 23:30 UTC */
	fixed_wall_ns = (INT64_C(20484) * 86400 + 84600) * (int64_t)NS_PER_S;
	setenv("TZ", "UTC0", 1);
	tzset();
	assert_int_equal(brief_today(NULL, &env), days_of("2026-01-31"));
	setenv("TZ", "EAST-2", 1);
	tzset();
	assert_int_equal(brief_today(NULL, &env), days_of("2026-02-01"));
}
