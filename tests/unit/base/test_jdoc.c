#include "tests/unit/test.h"

#include "core/base/jdoc.h"

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

TEST(jdoc, nested_with_space, is_a_tree_with_slices)
{
	struct jdoc *doc = parse(
		" { \"a\" : [ 1 , { \"b\":true } ,\"x\\\"]\"] , \"c\\n\":2 } ");
	struct jdoc *a = jdoc_get(doc, "a");

	assert_int_equal(doc->n, 2);
	assert_int_equal(a->n, 3);
	assert_true(str_is(a->raw, "[ 1 , { \"b\":true } ,\"x\\\"]\"]"));
	assert_true(str_is(a->first->raw, "1"));
	assert_true(str_is(jdoc_get(a->first->next, "b")->raw, "true"));
	assert_true(jdoc_is(a->first->next->next, "x\"]"));
	assert_true(str_is(jdoc_get(doc, "c\n")->raw, "2"));
	assert_null(a->first->next->next->next);
}

TEST(jdoc, duplicate_key, is_kept_and_the_last_counts)
{
	struct jdoc *doc = parse("{\"k\":1,\"k\":2}");

	assert_int_equal(doc->n, 2);
	assert_true(str_is(jdoc_get(doc, "k")->raw, "2"));
}

TEST(jdoc, getters, take_what_is_not_there)
{
	struct jdoc *doc = parse("[1]");

	assert_null(jdoc_get(doc, "a"));
	assert_null(jdoc_get(jdoc_get(doc, "a"), "b"));
	assert_false(jdoc_is(NULL, ""));
	assert_false(jdoc_is(doc, "[1]"));
	assert_null(jdoc_text(doc->first, &arena));
	assert_null(jdoc_text(NULL, &arena));
}

TEST(jdoc, sorted_members, are_bytewise_and_stable)
{
	struct jdoc *doc = parse("{\"b\":1,\"\\u00e9\":2,\"a\":3,\"ab\":4,"
				 "\"b\":5,\"\":6,\"B\":7}");
	static const char *const wanted[] = {"6", "7", "3", "4", "1", "5", "2"};
	struct jdoc **list = jdoc_members(doc, true, &arena);

	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		assert_true(str_is(list[i]->raw, wanted[i]));
	assert_null(list[ARRAY_LEN(wanted)]);
	list = jdoc_members(doc, false, &arena);
	assert_true(str_is(list[0]->raw, "1"));
}

TEST(jdoc, too_deep, ends_at_a_limit)
{
	char text[2 * 257 + 1];
	struct err err = ERR_INIT;
	struct jdoc *doc;

	memset(text, '[', 257);
	memset(text + 257, ']', 257);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(jdoc_parse(str_of(text), &arena, &doc, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	text[sizeof(text) - 2] = '\0';
	assert_int_equal(jdoc_parse(str_of(text + 1), &arena, &doc, &err), 0);
}

TEST(jdoc, too_many_values, end_at_a_limit)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct arena own = ARENA_INIT;
	struct err err = ERR_INIT;
	struct jdoc *doc = NULL;

	/* the array is one of them */
	buf_addc(&text, '[');
	for (int i = 1; i < JDOC_NODES_MAX; i++)
		buf_add(&text, "0,", 2);
	buf_adds(&text, "[]]");
	assert_int_equal(jdoc_parse(buf_str(&text), &own, &doc, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_null(doc);
	arena_release(&own);
	text.p[1] = ' ';
	text.p[2] = ' ';
	assert_int_equal(jdoc_parse(buf_str(&text), &own, &doc, &err), 0);
	assert_int_equal(doc->n, JDOC_NODES_MAX - 1);
	arena_release(&own);
	buf_release(&text);
}

TEST_FILE(NULL, release);
