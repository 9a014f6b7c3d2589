#include "tests/unit/test.h"

#include "core/report/canon.h"

static struct arena arena;

static struct jdoc *parse(const char *text)
{
	struct err err = ERR_INIT;
	struct jdoc *doc = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &arena, &doc, &err), 0);
	return doc;
}

static int release(UNUSED void **state)
{
	arena_release(&arena);
	return 0;
}

static void check(const char *text, const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	canon_print(parse(text), 0, &out);
	assert_string_equal(buf_cstr(&out), wanted);
	/* the canonical form of the canonical form is itself */
	wanted = arena_strdup(&arena, buf_cstr(&out));
	buf_clear(&out);
	canon_print(parse(wanted), 0, &out);
	assert_string_equal(buf_cstr(&out), wanted);
	buf_release(&out);
}

TEST(canon, object, has_sorted_keys_and_two_spaces)
{
	check("{\"b\":[1,{\"d\":2,\"c\":[]}],\"a\":{}}", "{\n"
							 "  \"a\": {},\n"
							 "  \"b\": [\n"
							 "    1,\n"
							 "    {\n"
							 "      \"c\": [],\n"
							 "      \"d\": 2\n"
							 "    }\n"
							 "  ]\n"
							 "}");
}

TEST(canon, numbers, are_as_written)
{
	check("[1.0,1,1e0,-0,18446744073709551617,0.10]",
	      "[\n  1.0,\n  1,\n  1e0,\n  -0,\n  18446744073709551617,\n"
	      "  0.10\n]");
}

TEST(canon, strings, have_one_spelling)
{
	check("\"\\u0041\\/\\u00e9\\ud83d\\ude00\"", "\"A/é😀\"");
	check("\"\\u000a\\u0000\\u001b\\\"\\\\\"",
	      "\"\\n\\u0000\\u001b\\\"\\\\\"");
	check("{\"\\u0062\":1,\"a\":2}", "{\n  \"a\": 2,\n  \"b\": 1\n}");
}

TEST(canon, lone_surrogate, is_kept_as_escape)
{
	check("\"\\uD800x\\udc00\\ud800\"", "\"\\ud800x\\udc00\\ud800\"");
	check("\"\\ud800\\u0041\"", "\"\\ud800A\"");
}

/* What a terminal or an editor would obey does not lie raw in a file. */
TEST(canon, deceptive_characters, are_escaped)
{
	check("\"\xc2\x9b\xe2\x80\xae\x7f\xef\xbb\xbf\"",
	      "\"\\u009b\\u202e\\u007f\\ufeff\"");
}

TEST(canon, ignored_node, is_a_placeholder)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jdoc *doc = parse("{\"a\":[1],\"b\":2}");

	jdoc_get(doc, "a")->ignored = true;
	canon_print(doc, 0, &out);
	assert_string_equal(buf_cstr(&out),
			    "{\n  \"a\": \"(ignored)\",\n  \"b\": 2\n}");
	buf_release(&out);
}

TEST(equal, same_meaning, is_true_for_one_meaning)
{
	static const char *const pairs[][2] = {
		{"{\"a\":1,\"b\":[2]}", "{ \"b\" : [ 2 ], \"a\" : 1 }"},
		{"\"\\u0041\"", "\"A\""},
		{"\"\\/\"", "\"/\""},
		{"null", "null"},
		{"{\"k\":1,\"k\":2}", "{\"k\":1, \"k\":2}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		assert_true(
			canon_equal(parse(pairs[i][0]), parse(pairs[i][1])));
}

TEST(equal, other_meaning, is_false_for_two_meanings)
{
	static const char *const pairs[][2] = {
		{"1", "1.0"},
		{"1", "\"1\""},
		{"true", "false"},
		{"[1,2]", "[2,1]"},
		{"[1]", "[1,1]"},
		{"{\"a\":1}", "{\"a\":1,\"b\":1}"},
		{"{\"a\":1}", "{\"b\":1}"},
		{"{\"k\":1,\"k\":2}", "{\"k\":2,\"k\":1}"},
		{"\"\\ud800\"", "\"\\ud801\""},
		{"\"\\u0000\"", "\"\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		assert_false(
			canon_equal(parse(pairs[i][0]), parse(pairs[i][1])));
		assert_false(
			canon_equal(parse(pairs[i][1]), parse(pairs[i][0])));
	}
}

TEST(equal, ignored_members, need_not_be_there)
{
	struct jdoc *a = parse("{\"a\":1,\"t\":5,\"z\":[1,2]}");
	struct jdoc *b = parse("{\"a\":1,\"z\":[1]}");

	assert_false(canon_equal(a, b));
	jdoc_get(a, "t")->ignored = true;
	assert_false(canon_equal(a, b));
	jdoc_get(a, "z")->first->next->ignored = true;
	assert_true(canon_equal(a, b));
	assert_true(canon_equal(b, a));
}

TEST_FILE(NULL, release);
