#include "tests/unit/test.h"

#include "tests/unit/schema/schema_fixture.h"
#include "core/schema/format.h"

static bool holds(const char *name, const char *text)
{
	char *quoted = arena_printf(&fixture_arena, "\"%s\"", name);
	const struct format *format = format_find(str_of(quoted));

	assert_non_null(format);
	return format_holds(format, str_of(text));
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
		 {"2026-13-01", "2026-1-31", "2026-00-10"}},
		{"time",
		 {"08:30:00Z", "08:30:00.5+02:00"},
		 {"08:30:00", "08:30Z", "08:30:00.Z", "08:30:00+24:00"}},
		{"duration",
		 {"P1DT12H", "P4W", "PT36H", "P1Y2M3DT4H5M6S"},
		 {"P", "PT", "P1", "4W", "P1D2H", "P1YT"}},
		{"email",
		 {"a@b.example", "\"a b\"@c", "x.y+z@[127.0.0.1]"},
		 {"a", "@b", "a@", ".a@b", "a..b@c", "a@b_c"}},
		{"hostname",
		 {"a", "a.b-c.example", "1.x"},
		 {"", "-a", "a-", "a..b", "a_b", "a."}},
		{"ipv4",
		 {"192.0.2.1", "0.0.0.0"},
		 {"1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.-4"}},
		{"ipv6",
		 {"::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8",
		  "::ffff:192.0.2.1"},
		 {"", ":", "1::2::3", "1:2:3:4:5:6:7", "12345::", "::1%eth0"}},
		{"uri",
		 {"http://a/b?c#d", "urn:x:y", "http://[::1]:80/", "mailto:a@b",
		  "a:"},
		 {"/a", "a b:c", "http://a b", "http://[::g]/", "http://a/%zz",
		  "http://a:b/"}},
		{"uri-reference",
		 {"", "/a", "../b?c", "#d"},
		 {"a b", "1:b", "\\"}},
		{"iri", {"http://\u00e9/\u00fc"}, {"/\u00e9"}},
		{"uri-template",
		 {"/a/{id}", "{?x,y*}{+z:3}", ""},
		 {"/a/{id", "/a/}", "{}", "{a b}"}},
		{"uuid",
		 {"2eb8aa08-aa98-11ea-b4aa-73b441d16380"},
		 {"2eb8aa08aa9811eab4aa73b441d16380",
		  "2eb8aa08-aa98-11ea-b4aa-73b441d1638", ""}},
		{"json-pointer", {"", "/a~0b/0", "/"}, {"a", "/~2", "/~"}},
		{"relative-json-pointer",
		 {"0", "1/a", "2#"},
		 {"", "01", "/a", "-1", "1#a"}},
		{"regex", {"^a$"}, {"(", "\\a"}},
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

TEST(format, unknown_name, is_none)
{
	assert_null(format_find(STR("\"color\"")));
	assert_null(format_find(STR("1")));
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
