#include "tests/unit/test.h"

#include "tests/unit/schema/schema_fixture.h"
#include "core/schema/format.h"

static bool holds(const char *name, const char *text)
{
	char *quoted = arena_printf(&fixture_arena, "\"%s\"", name);

	return !format_missed(str_of(quoted), str_of(text));
}

TEST(format, right_and_wrong_texts, told_apart)
{
	static const struct {
		const char *name;
		const char *right[5], *wrong[6];
	} rows[] = {
		{"date-time",
		 {"2026-01-31T08:30:00Z", "1998-12-31T23:59:60Z",
		  "1998-12-31T15:59:60.123-08:00", "2024-02-29t00:00:00z"},
		 {"2026-02-29T00:00:00Z", "2026-01-31 08:30:00Z",
		  "2026-01-31T08:30:00", "1998-12-31T22:59:60Z",
		  "2026-01-31T24:00:00Z", ""}},
		{"date",
		 {"2026-01-31"},
		 {"2026-13-01", "2026-1-31", "2026-00-10", "2026-99-99"}},
		{"email",
		 {"a@b.example", "\"a b\"@c", "x.y+z@[127.0.0.1]"},
		 {"a", "@b", "a@", ".a@b", "a..b@c", "a@b_c"}},
		{"uri",
		 {"http://a/b?c#d", "urn:x:y", "http://[::1]:80/", "mailto:a@b",
		  "a:"},
		 {"/a", "a b:c", "http://a b", "http://[::g]/", "http://a/%zz",
		  "http://a:b/"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (size_t k = 0; k < 5 && rows[i].right[k]; k++)
			if (!holds(rows[i].name, rows[i].right[k]))
				fail_msg("%s: %s", rows[i].name,
					 rows[i].right[k]);
		for (size_t k = 0; k < 6 && rows[i].wrong[k]; k++)
			if (holds(rows[i].name, rows[i].wrong[k]))
				fail_msg("%s: not %s", rows[i].name,
					 rows[i].wrong[k]);
	}
}

TEST(format, other_names, are_annotations)
{
	assert_true(holds("color", "?"));
	assert_true(holds("ipv4", "?"));
	assert_null(format_missed(STR("1"), STR("?")));
}

TEST(format, asserted, sentence)
{
	const struct schema_options options = {.assert_formats = true};
	struct schema_result result;
	struct err err = ERR_INIT;
	struct schema *s;

	assert_int_equal(schema_compile(STR("{\"format\":\"date\"}"), &options,
					&s, &err),
			 0);
	assert_int_equal(schema_validate(s, STR("\"31.1.\""), &fixture_arena,
					 &result, &err),
			 SCHEMA_VIOLATED);
	assert_string_equal(result.item[0].text.p,
			    "is \"31.1.\", must be a date such as 2026-01-31");
	assert_int_equal(
		schema_validate(s, STR("1"), &fixture_arena, &result, &err),
		SCHEMA_VALID);
	schema_free(s);
}

TEST_FILE(NULL, release_fixture);
