#include "tests/unit/test.h"

#include "core/base/text.h"

TEST(columns, of_a_character, as_terminals_count)
{
	static const struct {
		const char *text;
		size_t columns;
	} rows[] = {
		{"", 0},	  {"abc", 3},  {"Grüße", 5}, {"你好", 4},
		{"e\xcc\x81", 1}, {"🎉", 2},    {"שלום", 4},  {"ｗ", 2},
		{"\xff\xfe", 2},  {"한글", 4}, {"​", 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_columns(str_of(rows[i].text)) != rows[i].columns)
			fail_msg("%s: not %zu columns", rows[i].text,
				 rows[i].columns);
	assert_true(str_is(text_first_columns(STR("a你好"), 4), "a你"));
	assert_true(
		str_is(text_first_columns(STR("e\xcc\x81x"), 1), "e\xcc\x81"));
}

TEST(words, of_a_shell, stand_alone_or_quoted)
{
	static const struct {
		const char *text, *word;
	} rows[] = {
		{"/srv/a-b_1.md", "/srv/a-b_1.md"},
		{"x=1:2,@%+", "x=1:2,@%+"},
		{"a@^1", "'a@^1'"},
		{"Grüße", "Grüße"},
		{"", "''"},
		{"a b", "'a b'"},
		{"~/x", "'~/x'"},
		{"a\tb", "'a\tb'"},
		{"it's", "'it'\\''s'"},
		{"$(x)", "'$(x)'"},
		{"a;b", "'a;b'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		text_add_word(&out, rows[i].text);
		assert_string_equal(buf_cstr(&out), rows[i].word);
		assert_int_equal(text_is_word(rows[i].text),
				 strcmp(rows[i].text, rows[i].word) == 0);
	}
}

TEST(controls, of_ascii, are_found_anywhere)
{
	assert_false(text_has_control(STR("")));
	assert_false(text_has_control(STR("a b\xc2\x85~")));
	assert_true(text_has_control(STR("a\nb")));
	assert_true(text_has_control(STR("a\x7f")));
	assert_true(text_has_control((struct str){"a\0", 2}));
}
