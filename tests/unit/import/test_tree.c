/* Settings of other programs: comments and commas go, places stay. */
#include "tests/unit/test.h"

#include <string.h>

#include "core/import/tree.h"

static const struct row {
	const char *before, *after;
} rows[] = {
	{"{} // x\n", "{}     \n"},
	{"{} // x\r\n/* y\r\xe2\x80\xa8 */", "{}     \r\n    \r      "},
	{"// [\n[1, 2,] ", "    \n[1, 2 ] "},
	{"{\"a\": 1, /* x\ny */ }", "{\"a\": 1      \n     }"},
	{"[\"// no\", \"\\\"/*\", \"x\",\t\n]",
	 "[\"// no\", \"\\\"/*\", \"x\" \t\n]"},
	{"[1,//,\n//]\n2//\n]", "[1,   \n   \n2  \n]"},
	{"/**//**/1", "        1"},
	{"/* open", "       "},
	{"\"open \\", "\"open \\"},
	{"\xef\xbb\xbf{}", "   {}"},
	{"[,]", "[ ]"},
	{"", ""},
};

TEST(comments, and_trailing_commas, become_blanks)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;

		assert_int_equal(
			tree_strip_comments(str_of(rows[i].before), &out, &err),
			0);
		assert_string_equal(buf_cstr(&out), rows[i].after);
	}
}

static const struct same {
	enum tree_format format;
	const char *text, *json; /* NULL: an error */
} trees[] = {
	{TREE_JSON, "{\"a\": [1, null, \"x\"], \"n\": null} // y",
	 "{\"a\":[1,null,\"x\"],\"n\":null}"},
	{TREE_JSON, "{\"a\": 1, \"a\": 2}", "{\"a\":1,\"a\":2}"},
	{TREE_JSON, "{\"a\": \"\\u0000\"}", NULL},
	{TREE_JSON, "{a: 1}", NULL},
	{TREE_JSON, "{} {}", NULL},
	{TREE_JSON, "{\"a\": \"// \xe2\x80\xa8\"} // x\r\n/* y\r */",
	 "{\"a\":\"// \xe2\x80\xa8\"}"},
	{TREE_JSON, "{\"a\": \"// x\r, y\"}", NULL},
	{TREE_TOML, "a = [1, 'x']", "{\"a\":[1,\"x\"]}"},
	{TREE_YAML, "a: [1, ~, \"1\", yes, true, 08, x]",
	 "{\"a\":[1,null,\"1\",\"yes\",true,\"08\",\"x\"]}"},
	{TREE_YAML, "a: &x {b: 1}\nc: *x", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}"},
	{TREE_YAML, "", "{}"},
	{TREE_YAML, "a: [", NULL},
	{TREE_YAML, "? [1]\n: 2", NULL},
	{TREE_YAML, "a: &x [*x]", NULL},
};

TEST(formats, three_of_them, are_one_tree)
{
	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		struct toml_value root;
		int r = tree_read(str_of(trees[i].text), trees[i].format,
				  &arena, &root, &err);

		if (r == 0)
			toml_to_json(&root, &out);
		else
			assert_int_not_equal(strlen(err.msg), 0);
		assert_string_equal(buf_cstr(&out),
				    trees[i].json ? trees[i].json : "");
	}
}

/* A reader that ends the comment there sees the member, another does not. */
static const struct same hidden[] = {
	{TREE_JSON, "{\"a\": 1, // x\r\"b\": 2,\n}", NULL},
	{TREE_JSON, "{\"a\": 1, // x\xe2\x80\xa8\"b\": 2,\n}", NULL},
	{TREE_JSON, "{\"a\": 1, // x\xe2\x80\xa9\"b\": 2,\n}", NULL},
	{TREE_JSON, "{\"a\": 1, // x\r/*\n\"b\": 2, // */\n}", NULL},
	{TREE_YAML, "a: 1 # x\rb: 2\n", NULL},
	{TREE_YAML,
	 "a: 1 # x\xc2\x85"
	 "b: 2\n",
	 NULL},
	{TREE_YAML,
	 "a: 1 # x\xe2\x80\xa8"
	 "b: 2\n",
	 NULL},
	{TREE_TOML, "a = 1 # x\rb = 2\n", NULL},
};

TEST(line_ends, of_some_readers_alone, are_refused_with_their_place)
{
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct toml_value root;

		if (tree_read(str_of(hidden[i].text), hidden[i].format, &arena,
			      &root, &err) == 0)
			fail_msg("row %zu was read", i);
		assert_int_equal(err.line, 1);
		assert_true(err.col > 5);
	}
}

TEST(aliases, of_aliases, have_a_bound)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct toml_value root;

	buf_adds(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (unsigned i = 1; i < 9; i++) {
		buf_addf(&text, "a%u: &a%u [", i, i);
		for (unsigned k = 0; k < 10; k++)
			buf_addf(&text, "%s*a%u", k ? "," : "", i - 1);
		buf_adds(&text, "]\n");
	}
	assert_int_equal(
		tree_read(buf_str(&text), TREE_YAML, &arena, &root, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
}
