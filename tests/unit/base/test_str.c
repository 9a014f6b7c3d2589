#include <string.h>

#include "tests/unit/test.h"

#include "core/base/str.h"

TEST(compare, two_texts, is_by_length_and_bytes)
{
	assert_true(str_eq(STR("a\0b"), STR("a\0b")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_false(str_eq(STR("a"), STR("a\0")));
	assert_true(str_eq((struct str){NULL, 0}, STR("")));
	assert_true(str_is(STR("abc"), "abc"));
	assert_false(str_is(STR("abc"), "abcd"));
	assert_int_equal(str_of(NULL).n, 0);
}

TEST(starts_and_ends, rows, are_told)
{
	assert_true(str_starts(STR("abc"), "ab"));
	assert_true(str_starts(STR("abc"), ""));
	assert_true(str_starts((struct str){NULL, 0}, ""));
	assert_false(str_starts(STR("a"), "ab"));
	assert_false(str_starts(STR("xab"), "ab"));
	assert_true(str_ends(STR("abc"), "bc"));
	assert_true(str_ends(STR("abc"), ""));
	assert_false(str_ends(STR("c"), "bc"));
	assert_false(str_ends(STR("abcx"), "bc"));
}

TEST(fits, star, is_any_text)
{
	static const struct {
		const char *text, *pattern;
		bool fits;
	} rows[] = {
		{"read_a", "read_*", true},
		{"read_", "read_*", true},
		{"read", "read_*", false},
		{"xread_a", "read_*", false},
		{"search", "search", true},
		{"searches", "search", false},
		{"searc", "search", false},
		{"", "*", true},
		{"", "", true},
		{"a", "", false},
		{"a_b_c", "a*c", true},
		{"a_b_c", "*b*", true},
		{"ab", "a?", true},
		{"a", "a?", false},
		{"*", "read_*", false},
		{"[a]", "[a]", true},
		{"a", "[a]", false},
		{"\\*", "\\*", true},
		{"aXbXc", "a*b*c", true},
		{"aXcXb", "a*b*c", false},
		{"Read_a", "read_*", false},
		{"aab", "*ab", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(
			str_fits(str_of(rows[i].text), rows[i].pattern),
			rows[i].fits);
	/* a NUL is a byte */
	assert_false(str_fits(STR("a\0b"), "a"));
	assert_true(str_fits(STR("a\0b"), "a*"));
	/* many stars over a long text come to an end at once */
	assert_false(
		str_fits(STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
			 "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"));
}

TEST(trim, outer_white_space, goes)
{
	assert_true(str_is(str_trim(STR(" \t\r\na b\n ")), "a b"));
	assert_true(str_is(str_trim(STR(" \n")), ""));
	assert_true(str_is(str_trim(STR("")), ""));
	assert_true(str_is(str_trim(STR("\va")), "\va"));
}

TEST(find_and_cut, separator, splits)
{
	struct str rest = STR("a,,b");

	assert_int_equal(str_find(STR("abc"), 'c'), 2);
	assert_int_equal(str_find(STR("abc"), 'x'), 3);
	assert_int_equal(str_find((struct str){NULL, 0}, 'x'), 0);
	assert_true(str_is(str_cut(&rest, ','), "a"));
	assert_true(str_is(str_cut(&rest, ','), ""));
	assert_true(str_is(str_cut(&rest, ','), "b"));
	assert_null(rest.p);
	assert_true(str_is(str_cut(&rest, ','), ""));
	rest = STR("a,");
	assert_true(str_is(str_cut(&rest, ','), "a"));
	assert_non_null(rest.p);
	assert_int_equal(rest.n, 0);
}

/* The sequence for a code point, by the definition; 0 for surrogates. */
static size_t encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return c >= 0xd800 && c < 0xe000 ? 0 : 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return c > 0x10ffff ? 0 : 4;
}

TEST(utf8, all_code_points, are_valid_but_surrogates)
{
	for (uint32_t c = 0; c < 0x120000; c++) {
		char bytes[4];
		size_t n = encode(c, bytes);
		size_t got = str_utf8_len((struct str){bytes, n ? n : 4});

		if (!n && c < 0x10000)
			got = str_utf8_len((struct str){bytes, 3});
		if (got != n)
			fail_msg("U+%04X: %zu", c, got);
		if (n > 1)
			assert_int_equal(
				str_utf8_len((struct str){bytes, n - 1}), 0);
	}
}

TEST(utf8, bad_sequences, are_invalid)
{
	assert_int_equal(str_utf8_len((struct str){NULL, 0}), 0);
	assert_true(str_is_utf8(STR("a\0\xc3\xa9")));
	assert_false(str_is_utf8(STR("a\xc3")));
	assert_true(str_is_utf8(STR("")));
}

TEST(nearest, near_enough, is_offered)
{
	static const char *const names[] = {"timeout", "command", "args",
					    "enabled"};
	char far[100];

	memset(far, 'x', sizeof(far));
	assert_string_equal(str_nearest(STR("timeuot"), names, 4), "timeout");
	assert_string_equal(str_nearest(STR("arg"), names, 4), "args");
	assert_string_equal(str_nearest(STR("comand"), names, 4), "command");
	assert_null(str_nearest(STR("zebra"), names, 4));
	assert_null(str_nearest(STR("timeout"), names, 0));
	assert_null(str_nearest((struct str){far, sizeof(far)}, names, 4));
}

/* Any byte at any place of any length: as one byte after another says. */
TEST(plain, any_byte_anywhere, ends_the_run)
{
	char text[200];

	for (size_t n = 0; n < sizeof(text); n++) {
		memset(text, 'x', sizeof(text));
		assert_int_equal(str_plain((struct str){text, n}), n);
		for (size_t at = 0; at < n; at++) {
			int c = (int)(n * 7 + at * 31) & 0xff;
			bool plain =
				c >= 0x20 && c < 0x7f && c != '"' && c != '\\';

			text[at] = (char)c;
			assert_int_equal(str_plain((struct str){text, n}),
					 plain ? n : at);
			text[at] = 'x';
		}
	}
	for (int c = 0; c < 256; c++) {
		bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';

		for (size_t at = 0; at < 150; at++) {
			memset(text, '~', sizeof(text));
			text[at] = (char)c;
			text[at + 1] = '"';
			assert_int_equal(
				str_plain((struct str){text, sizeof(text)}),
				plain ? at + 1 : at);
		}
	}
}
