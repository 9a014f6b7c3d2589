/* Documents of others as trees: bounds, getters, and what is written. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "core/base/json.h"

static struct json *read_ok(const char *text)
{
	struct json *doc = NULL;
	struct err err = ERR_INIT;

	if (json_read(str_of(text), &doc, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return doc;
}

static void read_fails(struct str text, enum err_kind kind, const char *part)
{
	struct json *doc = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(json_read(text, &doc, &err), -1);
	assert_null(doc);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.msg, part))
		fail_msg("\"%s\" is not in: %s", part, err.msg);
}

TEST(text, of_each_kind, is_a_string_or_nothing)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(json_freep)
	struct json *doc =
		read_ok("{\"a\":\"x\\u00e9\\n\",\"b\":\"\",\"c\":1,\"d\":null,"
			"\"e\":[\"x\"],\"A\":\"other\"}");

	assert_string_equal(json_text(doc, "a", &arena), "x\xc3\xa9\n");
	assert_string_equal(json_text(doc, "A", &arena), "other");
	assert_null(json_text(doc, "b", &arena));
	assert_null(json_text(doc, "c", &arena));
	assert_null(json_text(doc, "d", &arena));
	assert_null(json_text(doc, "e", &arena));
	assert_null(json_text(doc, "f", &arena));
}

TEST(member, there_twice, the_last_counts)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(json_freep)
	struct json *doc =
		read_ok("{\"issuer\":\"a\",\"issuer\":\"b\",\"issu\\u0065r\":"
			"\"c\"}");

	assert_string_equal(json_text(doc, "issuer", &arena), "c");
}

TEST(truth, of_each_kind, is_true_alone)
{
	AUTO(json_freep)
	struct json *doc =
		read_ok("{\"a\":true,\"b\":false,\"c\":\"true\",\"d\":1}");

	assert_true(json_is_true(doc, "a"));
	assert_false(json_is_true(doc, "b"));
	assert_false(json_is_true(doc, "c"));
	assert_false(json_is_true(doc, "d"));
	assert_false(json_is_true(doc, "e"));
}

TEST(list, of_mixed_values, has_its_strings)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(json_freep)
	struct json *doc = read_ok(
		"{\"a\":[\"x\",1,\"\",null,\"y\"],\"b\":[],\"c\":\"x\"}");
	struct strlist list;

	assert_true(json_texts(doc, "a", &arena, &list));
	assert_int_equal(list.n, 2);
	assert_string_equal(list.item[0], "x");
	assert_string_equal(list.item[1], "y");
	assert_true(json_texts(doc, "b", &arena, &list));
	assert_int_equal(list.n, 0);
	assert_false(json_texts(doc, "c", &arena, &list));
	assert_false(json_texts(doc, "d", &arena, &list));
}

TEST(string, with_a_backslash_before_u0000, has_no_nul)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(json_freep) struct json *doc = read_ok("{\"a\":\"\\\\u0000\"}");

	assert_string_equal(json_text(doc, "a", &arena), "\\u0000");
}

TEST(document, over_a_bound, is_refused)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		buf_adds(&b, "{\"a\":");
	buf_adds(&b, "1");
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		buf_adds(&b, "}");
	AUTO(json_freep) struct json *doc = read_ok(buf_cstr(&b));

	buf_clear(&b);
	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		buf_adds(&b, "{\"a\":");
	buf_adds(&b, "1");
	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		buf_adds(&b, "}");
	read_fails(buf_str(&b), ERR_LIMIT, "");

	buf_clear(&b);
	buf_adds(&b, "{\"a\":0");
	for (int i = 0; i < JSON_MEMBERS_MAX; i++)
		buf_adds(&b, ",\"a\":0");
	buf_adds(&b, "}");
	read_fails(buf_str(&b), ERR_LIMIT, "");

	buf_clear(&b);
	buf_adds(&b, "{}");
	while (b.n <= JSON_BYTES_MAX)
		buf_adds(&b, "                                ");
	read_fails(buf_str(&b), ERR_LIMIT, "bytes");
}

TEST(document, that_is_made, reads_back)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	AUTO(json_freep) struct json *doc = NULL;
	AUTO(json_freep) struct json *again = NULL;
	struct err err = ERR_INIT;
	int64_t n = 0;

	assert_int_equal(json_make(&doc, &err), 0);
	json_add_text(doc, "text", "a\"\\\n\xc3\xa9");
	json_add_text(doc, "none", NULL);
	json_add_int64(doc, "number", INT64_C(9007199254740991));
	json_add_int64(doc, "time", 1790000000);
	json_add_bool(doc, "yes", true);
	json_print(doc, &b);
	assert_string_equal(buf_cstr(&b),
			    "{\"text\":\"a\\\"\\\\\\n\xc3\xa9\","
			    "\"number\":9007199254740991,\"time\":1790000000,"
			    "\"yes\":true}");
	again = read_ok(buf_cstr(&b));
	assert_string_equal(json_text(again, "text", &arena),
			    "a\"\\\n\xc3\xa9");
	assert_null(json_text(again, "none", &arena));
	assert_true(json_int64(again, "number", &n));
	assert_int_equal(n, INT64_C(9007199254740991));
	assert_true(json_is_true(again, "yes"));
}
