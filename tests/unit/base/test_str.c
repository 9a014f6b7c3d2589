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

TEST(numbers, strict_decimal, is_read)
{
	static const char *const bad[] = {"",	 "-",	"+1",  " 1",
					  "1 ",	 "1.0", "0x1", "1e3",
					  "--1", "1a",	"a"};
	uint64_t u = 7;
	int64_t i = 7;

	assert_true(str_uint64(STR("18446744073709551615"), &u));
	assert_true(u == UINT64_MAX);
	assert_true(str_uint64(STR("007"), &u));
	assert_int_equal(u, 7);
	assert_false(str_uint64(STR("18446744073709551616"), &u));
	assert_false(str_uint64(STR("99999999999999999999"), &u));
	assert_false(str_uint64(STR("-1"), &u));
	assert_false(str_uint64(STR("1\0"), &u));
	assert_true(str_int64(STR("9223372036854775807"), &i));
	assert_true(i == INT64_MAX);
	assert_true(str_int64(STR("-9223372036854775808"), &i));
	assert_true(i == INT64_MIN);
	assert_false(str_int64(STR("9223372036854775808"), &i));
	assert_false(str_int64(STR("-9223372036854775809"), &i));
	for (size_t n = 0; n < ARRAY_LEN(bad); n++) {
		assert_false(str_uint64(str_of(bad[n]), &u));
		assert_false(str_int64(str_of(bad[n]), &i));
	}
	assert_int_equal(u, 7);
}

struct unit_row {
	const char *text;
	uint64_t value;
};

TEST(durations, with_units, are_milliseconds)
{
	static const struct unit_row good[] = {
		{"500ms", 500},
		{"30s", 30000},
		{"5m", 300000},
		{"2h", 7200000},
		{"1d", 86400000},
		{"60", 60000},
		{"1.5s", 1500},
		{"0.25h", 900000},
		{"0", 0},
		{"1.5", 1500},
		{"0.001s", 1},
		{"2.5ms", 2},
		{"3652d", 3652ULL * 86400000},
	};
	static const char *const bad[] = {
		"",
		"s",
		"ms",
		"-1s",
		"1 s",
		"1S",
		"1min",
		"1.s",
		".5s",
		"1.2.3s",
		"1.2345s",
		"1e3",
		"3653d",
		"inf",
		"1s ",
		"0x1s",
		"1ss",
		"99999999999999999999s",
		"18446744073709551615s",
		/* the fraction must not carry it round to a small number */
		"18446744073709551.999",
		"18446744073709551.999s",
	};
	uint64_t ms = 7;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(str_duration_ms(str_of(good[i].text), &ms));
		assert_true(ms == good[i].value);
	}
	ms = 7;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (str_duration_ms(str_of(bad[i]), &ms))
			fail_msg("%s accepted", bad[i]);
	assert_int_equal(ms, 7);
}

TEST(sizes, with_units, are_bytes)
{
	static const struct unit_row good[] = {
		{"64KiB", 65536},
		{"512MiB", 512ULL << 20},
		{"2GiB", 2ULL << 30},
		{"1TiB", 1ULL << 40},
		{"100", 100},
		{"100B", 100},
		{"1.5KiB", 1536},
		{"0", 0},
		{"4611686018427387904", 1ULL << 62},
	};
	static const char *const bad[] = {
		"",	      "KiB",	     "64KB",
		"64kib",      "64 KiB",	     "-1",
		"1.KiB",      "64K",	     "4611686018427387905",
		"4194305TiB", "16777216TiB", "18446744073709551615KiB",
	};
	uint64_t bytes = 7;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(str_size_bytes(str_of(good[i].text), &bytes));
		assert_true(bytes == good[i].value);
	}
	bytes = 7;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (str_size_bytes(str_of(bad[i]), &bytes))
			fail_msg("%s accepted", bad[i]);
	assert_int_equal(bytes, 7);
}

TEST(sizes, as_text, have_the_largest_unit_without_rest)
{
	static const struct {
		uint64_t value;
		const char *text;
	} row[] = {
		{0, "0B"},
		{1000, "1000B"},
		{1024, "1KiB"},
		{1025, "1025B"},
		{64ULL << 20, "64MiB"},
		{1536ULL << 20, "1536MiB"},
		{1ULL << 40, "1TiB"},
		{1ULL << 62, "4194304TiB"},
		{UINT64_MAX, "18446744073709551615B"},
	};
	char text[STR_SIZE_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		assert_string_equal(str_size_text(row[i].value, text),
				    row[i].text);
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
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc2",
		"\xc2\x41",
		"\xe0\x80\x80",
		"\xe0\x9f\xbf",
		"\xe1\x80",
		"\xe1\x80\x41",
		"\xed\xa0\x80",
		"\xf0\x80\x80\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf1\x80\x80",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xff",
		"\xfe",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(str_utf8_len(str_of(bad[i])), 0);
	assert_int_equal(str_utf8_len((struct str){NULL, 0}), 0);
	assert_true(str_is_utf8(STR("a\0\xc3\xa9")));
	assert_false(str_is_utf8(STR("a\xc3")));
	assert_true(str_is_utf8(STR("")));
}

TEST(distance, rows, are_counted)
{
	static const struct {
		const char *a, *b;
		size_t d;
	} rows[] = {
		{"", "", 0},
		{"abc", "abc", 0},
		{"abc", "", 3},
		{"abc", "abd", 1},
		{"abc", "acb", 1},
		{"abc", "ab", 1},
		{"abc", "xabc", 1},
		{"kitten", "sitting", 3},
		{"timeuot", "timeout", 1},
		{"ca", "abc", 3},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str a = str_of(rows[i].a), b = str_of(rows[i].b);

		assert_int_equal(str_distance(a, b), rows[i].d);
		assert_int_equal(str_distance(b, a), rows[i].d);
	}
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
