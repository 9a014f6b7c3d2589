#include "tests/unit/test.h"

#include "core/base/text.h"
#include "core/report/shape.h"

static void check(bool is_html, const char *json, const char *wanted)
{
	struct arena arena = ARENA_INIT;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str value;

	assert_true(shape_read(str_of(json), &arena, &value));
	if (is_html)
		shape_html(value, &out);
	else
		shape_text(value, 0, &out);
	assert_string_equal(buf_cstr(&out), wanted);
	buf_release(&out);
	arena_release(&arena);
}

TEST(shape, other_texts, are_left_alone)
{
	static const char *const texts[] = {
		"",	   "42",	  "\"x\"",  "{} x",
		"{",	   "[1] [2]",	  "[1,]",   "see {\"a\":1}",
		"{}\n[1]", "{\"a\":1} 2", "[fine]", "null",
	};
	struct arena arena = ARENA_INIT;
	struct str value;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (shape_read(str_of(texts[i]), &arena, &value))
			fail_msg("taken for JSON: %s", texts[i]);
	arena_release(&arena);
}

TEST(shape, flat_objects, are_a_table)
{
	check(false,
	      "[{\"n\":12,\"title\":\"one\"},{\"n\":3,\"title\":\"寿司\","
	      "\"open\":true}]",
	      " n  title  open\n"
	      "--  -----  ----\n"
	      "12  one\n"
	      " 3  寿司   true\n");
	check(true, "[{\"n\":1,\"t\":\"<b>\"}]",
	      "<div class=\"wide\"><table>\n"
	      "<thead><tr><th scope=\"col\" class=\"n\">n</th>"
	      "<th scope=\"col\">t</th></tr></thead>\n<tbody>\n"
	      "<tr><td class=\"n\">1</td><td dir=\"auto\">&lt;b&gt;</td></tr>\n"
	      "</tbody></table></div>\n");
}

TEST(shape, sequence_of_objects, is_a_table)
{
	check(false, "{\"a\":1}\n{\"a\":2}\n", "a\n-\n1\n2\n");
}

TEST(shape, object, is_lines)
{
	check(false,
	      "{\"load\":0.50,\"on\":null,\"names\":[\"a\",\"b\"],"
	      "\"in\":{\"deep\":[{\"x\":1}]},\"text\":\"one\\n# two\\n\","
	      "\"none\":[]}",
	      "load: 0.50\n"
	      "on: null\n"
	      "names: a, b\n"
	      "in:\n"
	      "  deep:\n"
	      "    x\n"
	      "    -\n"
	      "    1\n"
	      "text:\n"
	      "  one\n"
	      "  # two\n"
	      "none: []\n");
	check(true, "{\"a&\":[1,\"<\"],\"b\":[1,[2]]}",
	      "<table class=\"kv\">\n<tr><th scope=\"row\">a&amp;</th><td "
	      "dir=\"auto\">"
	      "1, &lt;</td></tr>\n<tr><th scope=\"row\">b</th><td dir=\"auto\">"
	      "<ul>\n<li dir=\"auto\">1</li>\n<li dir=\"auto\">2</li>\n"
	      "</ul></td></tr>\n</table>\n");
}

TEST(shape, short_lists, are_cells_of_a_table)
{
	check(false,
	      "[{\"id\":7,\"labels\":[\"bug\",\"ui\"]},"
	      "{\"id\":9,\"labels\":[]}]",
	      "id  labels\n"
	      "--  -------\n"
	      " 7  bug, ui\n"
	      " 9  []\n");
	/* neither long ones nor lists of lists are */
	check(false, "[{\"a\":[[1,2],3]}]", "- a:\n    - 1, 2\n    - 3\n");
	check(true, "[1,2]",
	      "<ul>\n<li dir=\"auto\">1</li>\n<li dir=\"auto\">2</li>\n"
	      "</ul>\n");
}

TEST(shape, array_of_different_values, is_a_list)
{
	check(false, "[1,\"two\",{\"a\":1,\"b\":{\"c\":2}},[3,4],[]]",
	      "- 1\n- two\n- a: 1\n  b:\n    c: 2\n- 3, 4\n- []\n");
}

TEST(shape, empty_values, are_themselves)
{
	check(false, "{}", "{}\n");
	check(false, "[]", "[]\n");
	check(false, "[{},{}]", "- {}\n- {}\n");
}

static struct str widest_line(struct str text)
{
	struct str widest = {NULL, 0};

	while (text.p) {
		struct str line = str_cut(&text, '\n');

		if (text_columns(line) > text_columns(widest))
			widest = line;
	}
	return widest;
}

/* JSON of `rows` rows of `columns` cells with `bytes` bytes each. */
static struct str wide_rows(size_t rows, size_t columns, size_t bytes,
			    struct arena *arena, struct buf *out)
{
	struct buf json = BUF_INIT(BUF_UNBOUNDED);
	struct str value;

	for (size_t r = 0; r < rows; r++) {
		buf_adds(&json, r ? "},{" : "[{");
		for (size_t c = 0; c < columns; c++) {
			buf_addf(&json, "%s\"k%zu\":\"", c ? "," : "", c);
			for (size_t i = 0; i < bytes; i++)
				buf_addc(&json, 'x');
			buf_addc(&json, '"');
		}
	}
	buf_adds(&json, "}]");
	assert_true(
		shape_read(arena_str(arena, buf_str(&json)), arena, &value));
	shape_text(value, 0, out);
	buf_release(&json);
	return buf_str(out);
}

TEST(shape, long_cells, are_cut)
{
	struct arena arena = ARENA_INIT;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str text = wide_rows(2, 3, 200, &arena, &out);

	assert_int_equal(text_columns(widest_line(text)), SHAPE_COLUMNS);
	assert_non_null(strstr(buf_cstr(&out), "x…"));
	buf_release(&out);
	arena_release(&arena);
}

TEST(shape, too_many_columns, are_records)
{
	struct arena arena = ARENA_INIT;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)!wide_rows(2, 13, 1, &arena, &out).n;
	assert_true(str_starts(buf_str(&out), "- k0: x\n  k1: x\n"));
	buf_clear(&out);
	(void)!wide_rows(1, 9, 30, &arena, &out).n;
	assert_true(str_starts(buf_str(&out), "- k0: xxx"));
	buf_release(&out);
	arena_release(&arena);
}

/* A newline of a string in a cell or a key begins no line. */
TEST(shape, newlines, are_kept_in_their_place)
{
	check(false, "[{\"a\\nb\":\"x\\ny\"},{\"a\\nb\":\"\\u001b[1m\"}]",
	      "a b\n-------\nx y\n\\x1b[1m\n");
	check(false, "{\"a\\nb\":1}", "a b: 1\n");
}
