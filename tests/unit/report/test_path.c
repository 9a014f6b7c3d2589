#include "tests/unit/test.h"

#include "core/report/path.h"

static struct arena arena;

static int release(UNUSED void **state)
{
	arena_release(&arena);
	return 0;
}

static const char report[] =
	"{\"schema\":\"matins-report/1\",\"routine\":\"r\","
	"\"step_results\":["
	"{\"step_name\":\"host\",\"data\":{\"content\":[{\"text\":\"1\"},"
	"{\"text\":\"2\"}],\"structuredContent\":{\"load\":[1,2],"
	"\"a b\":3,\"deep\":{\"load\":4}}}},"
	"{\"step_name\":\"my step\",\"n\":1,\"data\":{\"content\":[]}}]}";

static struct jdoc *parse(const char *text)
{
	struct err err = ERR_INIT;
	struct jdoc *doc = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &arena, &doc, &err), 0);
	return doc;
}

static size_t hits(const char *text, struct jdoc *doc)
{
	struct err err = ERR_INIT;
	struct path *path;

	if (path_parse(text, &arena, &path, &err) < 0)
		fail_msg("%s", err.msg);
	return path_mark(path, doc);
}

TEST(path, selectors, have_their_count_of_nodes)
{
	static const struct {
		const char *path;
		size_t hits;
	} rows[] = {
		{"$.routine", 1},
		{"$[\"routine\"]", 1},
		{"$['routine']", 1},
		{"$.nothing", 0},
		{"$.*", 3},
		{"$.step_results[*]", 2},
		{"$.step_results[0]", 1},
		{"$.step_results[-1]", 1},
		{"$.step_results[2]", 0},
		{"$.step_results[-3]", 0},
		{"$.step_results[step_name=host].data", 1},
		{"$.step_results[name=host].data.content[*].text", 2},
		{"$.step_results[step_name=\"my step\"].data", 1},
		{"$.step_results[n=1]", 1},
		{"$.step_results[n=2]", 0},
		{"$.step_results[step_name=other]", 0},
		{"$..text", 2},
		{"$..load", 2},
		{"$..[0]", 3},
		{"data", 2},
		{"data.content", 2},
		{"data.structuredContent.load", 1},
		{"data.structuredContent.load[1]", 1},
		{"data.structuredContent[\"a b\"]", 1},
		{"data..load", 2},
		{"[\"data\"].content", 2},
		{"step_name", 2},
		/* an index is no name, a name no index */
		{"$[0]", 0},
		{"$.step_results.host", 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (hits(rows[i].path, parse(report)) != rows[i].hits)
			fail_msg("%s: not %zu hits", rows[i].path,
				 rows[i].hits);
}

TEST(path, mark, is_on_that_node_and_no_other)
{
	struct jdoc *doc = parse(report);
	struct jdoc *steps = jdoc_get(doc, "step_results");

	hits("$.step_results[step_name=host].data.content", doc);
	assert_true(
		jdoc_get(jdoc_get(steps->first, "data"), "content")->ignored);
	assert_false(jdoc_get(steps->first, "data")->ignored);
	assert_false(jdoc_get(jdoc_get(steps->first->next, "data"), "content")
			     ->ignored);
}

TEST(path, overlapping_rules, have_hits_each)
{
	struct jdoc *doc = parse(report);

	assert_int_equal(hits("data", doc), 2);
	assert_int_equal(hits("data.structuredContent.load", doc), 1);
	assert_int_equal(hits("data", doc), 2);
}

TEST(path, broken, is_a_syntax_error_with_column)
{
	static const struct {
		const char *path, *column;
	} rows[] = {
		{"", "column 1"},	 {"$", "column 2"},
		{"$.", "column 3"},	 {"$a", "column 2"},
		{"$.a[", "column 5"},	 {"$.a[]", "column 5"},
		{"$.a[x]", "column 6"},	 {"$.a[1", "column 6"},
		{"$.a[\"b", "column 5"}, {"$.a['b", "column 5"},
		{"$.a[b=", "column 7"},	 {"$.a[b=]", "column 7"},
		{"$.a[b=c", "column 8"}, {"a..b..c..d..e", "column 12"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct path *path = NULL;

		assert_int_equal(path_parse(rows[i].path, &arena, &path, &err),
				 -1);
		assert_int_equal(err.kind, ERR_SYNTAX);
		if (!strstr(err.msg, rows[i].column))
			fail_msg("%s: %s", rows[i].path, err.msg);
	}
}

TEST(path, too_many_parts, are_an_error)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct path *path;

	buf_adds(&text, "$");
	for (int i = 0; i < PATH_PARTS_MAX; i++)
		buf_adds(&text, ".a");
	assert_int_equal(path_parse(buf_cstr(&text), &arena, &path, &err), 0);
	buf_adds(&text, ".a");
	assert_int_equal(path_parse(buf_cstr(&text), &arena, &path, &err), -1);
	buf_release(&text);
}

/* Whatever a key is called, its printed path selects it. */
TEST(path, printed_keys, are_read_back)
{
	static const char *const keys[] = {
		"a", "a b", "a.b", "a]b", "a\"b", "it's",
		"é", "1",   "*",   "",	  "a\nb",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct buf path = BUF_INIT(BUF_UNBOUNDED);
		struct jdoc *doc = parse("{\"x\":1,\"y\":2}");

		doc->first->key = str_of(keys[i]);
		buf_addc(&path, '$');
		path_add_key(&path, str_of(keys[i]));
		assert_int_equal(hits(buf_cstr(&path), doc), 1);
		assert_true(doc->first->ignored);
		buf_release(&path);
	}
}

TEST(path, printed_steps, are_read_back)
{
	static const char *const names[] = {"host", "my step", "a]b", "\"q\""};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct buf path = BUF_INIT(BUF_UNBOUNDED);
		struct buf text = BUF_INIT(BUF_UNBOUNDED);

		buf_adds(&text, "{\"step_results\":[{},{\"step_name\":\"");
		for (const char *p = names[i]; *p; p++)
			buf_addf(&text, *p == '"' ? "\\%c" : "%c", *p);
		buf_adds(&text, "\"}]}");
		buf_adds(&path, "$.step_results");
		path_add_step(&path, str_of(names[i]));
		assert_int_equal(
			hits(buf_cstr(&path),
			     parse(arena_strdup(&arena, buf_cstr(&text)))),
			1);
		buf_release(&path);
		buf_release(&text);
	}
}

TEST_FILE(NULL, release);
