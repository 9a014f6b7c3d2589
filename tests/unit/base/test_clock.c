/* Times as text. */

#include "core/base/clock.h"
#include "tests/unit/test.h"

TEST(clock_format, known_times, utc_with_milliseconds)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{INT64_C(1767225599999999999), "2025-12-31T23:59:59.999Z"},
		{INT64_C(1709208001002000000), "2024-02-29T12:00:01.002Z"},
		{-1000000, "1969-12-31T23:59:59.999Z"},
		{INT64_MAX, "2262-04-11T23:47:16.854Z"},
	};
	char text[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		clock_format(cases[i].ns, text);
		assert_string_equal(text, cases[i].text);
	}
}
