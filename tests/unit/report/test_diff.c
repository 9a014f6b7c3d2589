#include "tests/unit/test.h"

#include "core/base/jw.h"
#include "core/report/diff.h"

static struct arena arena;

static int release(UNUSED void **state)
{
	arena_release(&arena);
	return 0;
}

static struct jdoc *parse(const char *text)
{
	struct err err = ERR_INIT;
	struct jdoc *doc = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &arena, &doc, &err), 0);
	return doc;
}

static struct diff diff_of(const char *old, const char *new)
{
	struct diff d;

	diff_reports(parse(old), parse(new), &arena, &d);
	return d;
}

static void expect(const struct diff_entry *e, const char *path,
		   enum diff_kind kind, enum diff_class class)
{
	assert_string_equal(e->path, path);
	assert_int_equal(e->kind, kind);
	assert_int_equal(e->class, class);
}

TEST(diff, same_meaning, has_no_entries)
{
	struct diff d = diff_of("{\"a\":[1,{\"x\":\"\\u0041\",\"y\":2}]}",
				" { \"a\" : [ 1, {\"y\":2, \"x\":\"A\"} ] } ");

	assert_int_equal(d.n, 0);
}

TEST(diff, values, have_kind_and_class)
{
	static const struct {
		const char *old, *new, *path;
		enum diff_kind kind;
		enum diff_class class;
	} rows[] = {
		{"{\"a\":1}", "{\"a\":2}", "$.a", DIFF_CHANGED, DIFF_VALUE},
		{"{\"a\":1}", "{\"a\":1.0}", "$.a", DIFF_CHANGED, DIFF_VALUE},
		{"{\"a\":true}", "{\"a\":false}", "$.a", DIFF_CHANGED,
		 DIFF_VALUE},
		{"{\"a\":1}", "{\"a\":\"1\"}", "$.a", DIFF_CHANGED,
		 DIFF_SCHEMA},
		{"{\"a\":null}", "{\"a\":{}}", "$.a", DIFF_CHANGED,
		 DIFF_SCHEMA},
		{"{\"a\":[1]}", "{\"a\":{}}", "$.a", DIFF_CHANGED, DIFF_SCHEMA},
		{"{\"a\":1}", "{}", "$.a", DIFF_REMOVED, DIFF_SCHEMA},
		{"{}", "{\"a b\":1}", "$[\"a b\"]", DIFF_ADDED, DIFF_SCHEMA},
		{"{\"k\":1,\"k\":2}", "{\"k\":1}", "$.k", DIFF_REMOVED,
		 DIFF_SCHEMA},
		{"[1,2,3]", "[1,3]", "$[1]", DIFF_REMOVED, DIFF_SCHEMA},
		{"[1,3]", "[1,2,3]", "$[1]", DIFF_ADDED, DIFF_SCHEMA},
		{"[1,2]", "[1,2,3]", "$[2]", DIFF_ADDED, DIFF_SCHEMA},
		{"[[0],[1]]", "[[0],[2]]", "$[1][0]", DIFF_CHANGED, DIFF_VALUE},
		{"{\"summary\":\"a\"}", "{\"summary\":\"b\"}", "$.summary",
		 DIFF_CHANGED, DIFF_STATE},
		{"1", "2", "$", DIFF_CHANGED, DIFF_VALUE},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct diff d = diff_of(rows[i].old, rows[i].new);

		assert_int_equal(d.n, 1);
		expect(&d.entry[0], rows[i].path, rows[i].kind, rows[i].class);
		assert_null(d.entry[0].step);
	}
}

#define STEP(name, rest) "{\"step_name\":\"" name "\"" rest "}"
#define REPORT(steps) "{\"step_results\":[" steps "]}"

TEST(diff, step_fails, is_of_the_state)
{
	struct diff d = diff_of(
		REPORT(STEP("a", ",\"state\":\"ok\",\"data\":{\"error\":1}")),
		REPORT(STEP("a", ",\"state\":\"failed\",\"error\":\"x\","
				 "\"reason\":\"signal\","
				 "\"data\":{\"state\":1}")));

	assert_int_equal(d.n, 5);
	expect(&d.entry[0], "$.step_results[step_name=a].data.error",
	       DIFF_REMOVED, DIFF_SCHEMA);
	/* a server's member of that name is no state */
	expect(&d.entry[1], "$.step_results[step_name=a].data.state",
	       DIFF_ADDED, DIFF_SCHEMA);
	expect(&d.entry[2], "$.step_results[step_name=a].error", DIFF_ADDED,
	       DIFF_STATE);
	expect(&d.entry[3], "$.step_results[step_name=a].reason", DIFF_ADDED,
	       DIFF_STATE);
	expect(&d.entry[4], "$.step_results[step_name=a].state", DIFF_CHANGED,
	       DIFF_STATE);
	assert_string_equal(d.entry[4].step, "a");
}

#define MCP(output, content, structured)                           \
	REPORT(STEP("a", ",\"output\":" output                     \
			 ",\"data\":{\"schema\":\"mcp-client/1\"," \
			 "\"content\":[" content "]" structured "}"))
#define TEXT(text) "{\"type\":\"text\",\"text\":" text "}"

/* The one entry of a difference of two reports. */
static void expect_one(const char *old, const char *new, const char *path)
{
	struct diff d = diff_of(old, new);

	if (d.n != 1)
		fail_msg("%zu differences, the first %s", d.n, d.entry[0].path);
	assert_string_equal(d.entry[0].path, path);
}

TEST(diff, output_made_of_data, is_said_once)
{
	static const char data[] = "$.step_results[step_name=a].data";

	expect_one(MCP("\"x\\ny\"", TEXT("\"x\"") "," TEXT("\"y\""), ""),
		   MCP("\"x\\nz\"", TEXT("\"x\"") "," TEXT("\"z\""), ""),
		   arena_printf(&arena, "%s.content[1].text", data));
	/* the text repeats the structured content, and the output the text */
	expect_one(MCP("\"{\\\"n\\\": 1}\"", TEXT("\"{\\\"n\\\": 1}\""),
		       ",\"structuredContent\":{\"n\":1}"),
		   MCP("\"{\\\"n\\\": 2}\"", TEXT("\"{\\\"n\\\": 2}\""),
		       ",\"structuredContent\":{\"n\":2}"),
		   arena_printf(&arena, "%s.structuredContent.n", data));
	/* no text: the output is the structured content */
	expect_one(MCP("\"{\\\"n\\\":1}\"", "",
		       ",\"structuredContent\":{\"n\":1}"),
		   MCP("\"{\\\"n\\\":2}\"", "",
		       ",\"structuredContent\":{\"n\":2}"),
		   arena_printf(&arena, "%s.structuredContent.n", data));
	/* the first text of a harness */
	expect_one(REPORT(STEP("a",
			       ",\"output\":\"s\",\"data\":{\"text\":\"s\"}")),
		   REPORT(STEP("a",
			       ",\"output\":\"t\",\"data\":{\"text\":\"t\"}")),
		   arena_printf(&arena, "%s.text", data));
}

TEST(diff, output_of_ignored_data, is_not_said)
{
	struct jdoc *old = parse(MCP("\"x\"", TEXT("\"x\""), ""));
	struct jdoc *new = parse(MCP("\"y\"", TEXT("\"y\""), ""));
	struct jdoc *step = jdoc_get(new, "step_results")->first;
	struct diff d;

	jdoc_get(jdoc_get(jdoc_get(step, "data"), "content")->first, "text")
		->ignored = true;
	diff_reports(old, new, &arena, &d);
	assert_int_equal(d.n, 0);
	/* the output of a script is no part of its data */
	old = parse(REPORT(STEP("a", ",\"step_type\":\"script\","
				     "\"output\":\"s\","
				     "\"data\":{\"exit_code\":0}")));
	new = parse(REPORT(STEP("a", ",\"step_type\":\"script\","
				     "\"output\":\"t\","
				     "\"data\":{\"exit_code\":0}")));
	jdoc_get(jdoc_get(new, "step_results")->first, "data")->ignored = true;
	diff_reports(old, new, &arena, &d);
	assert_int_equal(d.n, 1);
}

TEST(diff, output_of_its_own, is_said)
{
	struct diff d;

	/* of a script it is all there is */
	expect_one(REPORT(STEP("a", ",\"output\":\"s\","
				    "\"data\":{\"exit_code\":0}")),
		   REPORT(STEP("a", ",\"output\":\"t\","
				    "\"data\":{\"exit_code\":0}")),
		   "$.step_results[step_name=a].output");
	/* not what the data would make: somebody edited it */
	d = diff_of(MCP("\"x\"", TEXT("\"x\""), ""),
		    MCP("\"other\"", TEXT("\"y\""), ""));
	assert_int_equal(d.n, 2);
	d = diff_of(MCP("\"x\"", TEXT("\"x\""), ""),
		    MCP("\"other\"", TEXT("\"x\""), ""));
	assert_int_equal(d.n, 1);
	/* the text says something else than the structured content */
	d = diff_of(
		MCP("\"x\"", TEXT("\"x\""), ",\"structuredContent\":{\"n\":1}"),
		MCP("\"y\"", TEXT("\"y\""),
		    ",\"structuredContent\":{\"n\":2}"));
	assert_int_equal(d.n, 2);
}

TEST(diff, other_wording_of_error, is_of_the_value)
{
	struct diff d = diff_of(REPORT(STEP("a", ",\"error\":\"x\"")),
				REPORT(STEP("a", ",\"error\":\"y\"")));

	assert_int_equal(d.n, 1);
	assert_int_equal(d.entry[0].class, DIFF_VALUE);
}

TEST(diff, steps, are_matched_by_name)
{
	struct diff d =
		diff_of(REPORT(STEP("a", "") "," STEP("b", ",\"n\":1")),
			REPORT(STEP("b", ",\"n\":2") "," STEP("c", "")));

	assert_int_equal(d.n, 3);
	expect(&d.entry[0], "$.step_results[step_name=a]", DIFF_REMOVED,
	       DIFF_STATE);
	expect(&d.entry[1], "$.step_results[step_name=b].n", DIFF_CHANGED,
	       DIFF_VALUE);
	expect(&d.entry[2], "$.step_results[step_name=c]", DIFF_ADDED,
	       DIFF_STATE);
	assert_string_equal(d.entry[2].step, "c");
}

TEST(diff, steps_in_other_order, are_moved)
{
	struct diff d = diff_of(REPORT(STEP("a", "") "," STEP("b", "")),
				REPORT(STEP("b", "") "," STEP("a", "")));

	assert_int_equal(d.n, 1);
	expect(&d.entry[0], "$.step_results[step_name=b]", DIFF_MOVED,
	       DIFF_SCHEMA);
	assert_int_equal(d.entry[0].old_index, 1);
	assert_int_equal(d.entry[0].new_index, 0);
}

TEST(diff, steps_without_names, are_matched_by_position)
{
	struct diff d = diff_of(REPORT("{\"n\":1},{}"), REPORT("{\"n\":2},{}"));

	assert_int_equal(d.n, 1);
	assert_string_equal(d.entry[0].path, "$.step_results[0].n");
	d = diff_of(REPORT(STEP("a", "") "," STEP("a", ",\"n\":1")),
		    REPORT(STEP("a", "") "," STEP("a", "")));
	assert_int_equal(d.n, 1);
	assert_string_equal(d.entry[0].path, "$.step_results[1].n");
}

TEST(diff, ignored, is_left_out_of_either_tree)
{
	for (int side = 0; side < 2; side++) {
		struct jdoc *old = parse("{\"t\":1,\"u\":[1]}");
		struct jdoc *new = parse("{\"t\":2,\"u\":[1,2]}");
		struct diff d;

		jdoc_get(side ? new : old, "t")->ignored = true;
		jdoc_get(new, "u")->first->next->ignored = true;
		diff_reports(old, new, &arena, &d);
		assert_int_equal(d.n, 0);
	}
}

TEST(diff, more_than_is_kept, is_counted)
{
	struct buf old = BUF_INIT(BUF_UNBOUNDED), new = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct diff d;

	for (int i = 0; i < DIFF_ENTRIES_MAX + 7; i++) {
		buf_adds(&old, i ? ",1" : "[1");
		buf_adds(&new, i ? ",2" : "[2");
	}
	buf_addc(&old, ']');
	buf_addc(&new, ']');
	d = diff_of(buf_cstr(&old), buf_cstr(&new));
	assert_int_equal(d.n, DIFF_ENTRIES_MAX);
	assert_int_equal(d.dropped, 7);
	diff_print(&d, DIFF_TEXT, &out);
	assert_non_null(strstr(buf_cstr(&out),
			       "\n1007 differences: 1000 value; 7 more not "
			       "shown\n"));
	buf_release(&old);
	buf_release(&new);
	buf_release(&out);
}

static void check_print(const struct diff *d, enum diff_format format,
			const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	diff_print(d, format, &out);
	assert_string_equal(buf_cstr(&out), wanted);
	buf_release(&out);
}

TEST(print, text, has_paths_and_values)
{
	struct diff d = diff_of("{\"success\":true,\"x\":[ 1, 2 ]}",
				"{\"success\":false,\"y\":\"\\u001b[2J\"}");

	check_print(&d, DIFF_TEXT,
		    "$.success  (state changed)\n"
		    "  - true\n"
		    "  + false\n"
		    "$.x  (schema removed)\n"
		    "  - [1,2]\n"
		    "$.y  (schema added)\n"
		    "  + \"\\u001b[2J\"\n"
		    "3 differences: 1 state, 2 schema\n");
}

TEST(print, same, is_empty_without_a_difference)
{
	struct diff d = diff_of("{}", "{}");

	check_print(&d, DIFF_TEXT, "");
	check_print(&d, DIFF_JSON,
		    "{\"same\":true,\"entries\":[],\"dropped\":0}\n");
}

TEST(print, json, has_fields_in_order)
{
	struct diff d =
		diff_of(REPORT(STEP("a", ",\"n\":1.0") "," STEP("b", "")),
			REPORT(STEP("b", "") "," STEP("a", ",\"n\":[ 2 ]")));

	check_print(&d, DIFF_JSON,
		    "{\"same\":false,\"entries\":["
		    "{\"path\":\"$.step_results[step_name=a].n\","
		    "\"kind\":\"changed\",\"old\":1.0,\"new\":[2],"
		    "\"step\":\"a\",\"class\":\"schema\"},"
		    "{\"path\":\"$.step_results[step_name=b]\","
		    "\"kind\":\"moved\",\"old\":1,\"new\":0,\"step\":\"b\","
		    "\"class\":\"schema\"}],\"dropped\":0}\n");
}

/* A long text that changed at its end shows its end. */
TEST(print, long_values, are_cut_around_the_difference)
{
	struct buf old = BUF_INIT(BUF_UNBOUNDED), new = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct diff d;

	buf_addc(&old, '"');
	for (int i = 0; i < 5000; i++)
		buf_adds(&old, "é");
	buf_add_str(&new, buf_str(&old));
	buf_adds(&old, "old\"");
	buf_adds(&new, "new\"");
	d = diff_of(buf_cstr(&old), buf_cstr(&new));
	diff_print(&d, DIFF_TEXT, &out);
	assert_true(out.n < 300);
	assert_true(str_is(str_trim(buf_str(&out)), buf_cstr(&out)) == false);
	assert_non_null(strstr(buf_cstr(&out), "éold\"\n"));
	assert_non_null(strstr(buf_cstr(&out), "  + …é"));
	assert_true(str_is_utf8(buf_str(&out)));
	buf_clear(&out);
	diff_print(&d, DIFF_JSON, &out);
	assert_true(out.n < 3 * DIFF_VALUE_BYTES);
	assert_non_null(strstr(buf_cstr(&out), "\"old_bytes\":10005,"));
	assert_true(str_is_utf8(buf_str(&out)));
	buf_release(&old);
	buf_release(&new);
	buf_release(&out);
}

/* ---- texts of several lines ---- */

/* The printed difference of {"a": old} and {"a": new}; NULL: no member. */
static const char *lines_of(struct str old, struct str new)
{
	const struct str text[] = {old, new};
	struct buf json[] = {BUF_INIT(BUF_UNBOUNDED), BUF_INIT(BUF_UNBOUNDED)};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *copy;
	struct diff d;

	for (int i = 0; i < 2; i++) {
		buf_adds(&json[i], text[i].p ? "{\"a\":" : "{");
		if (text[i].p)
			jw_quote(&json[i], text[i]);
		buf_addc(&json[i], '}');
	}
	d = diff_of(buf_cstr(&json[0]), buf_cstr(&json[1]));
	diff_print(&d, DIFF_TEXT, &out);
	copy = arena_strdup(&arena, buf_cstr(&out));
	buf_release(&out);
	buf_release(&json[0]);
	buf_release(&json[1]);
	return copy;
}

TEST(lines, changes, are_shown_with_their_place)
{
	static const struct {
		const char *old, *new, *want;
	} rows[] = {
		{"a\nb\nc\nd\ne\nf", "a\nb\nc\nX\ne\nf",
		 "@@ -2 +2 @@\n    b\n    c\n  - d\n  + X\n    e\n    f\n"},
		{"a\nb", "a\nx\nb", "@@ -1 +1 @@\n    a\n  + x\n    b\n"},
		{"a\nx\nb", "a\nb", "@@ -1 +1 @@\n    a\n  - x\n    b\n"},
		{"one", "one\ntwo", "@@ -1 +1 @@\n    one\n  + two\n"},
		{"", "x\n", "@@ -1 +1 @@\n  + x\n\n"},
		/* changes far apart are two places */
		{"a\n1\n2\n3\n4\n5\n6\nb", "A\n1\n2\n3\n4\n5\n6\nB",
		 "@@ -1 +1 @@\n  - a\n  + A\n    1\n    2\n"
		 "  @@ -6 +6 @@\n    5\n    6\n  - b\n  + B\n"},
		/* control characters are visible */
		{"a\nb", "a\n\x1b[2J",
		 "@@ -1 +1 @@\n    a\n  - b\n  + \\x1b[2J\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(
			lines_of(str_of(rows[i].old), str_of(rows[i].new)),
			arena_printf(&arena,
				     "$.a  (value changed)\n  %s"
				     "1 difference: 1 value\n",
				     rows[i].want));
	assert_string_equal(lines_of(STR("a\nb\n"), STR("a\nb\n")), "");
}

TEST(lines, nothing_in_common, is_bounded)
{
	struct buf old = BUF_INIT(BUF_UNBOUNDED), new = BUF_INIT(BUF_UNBOUNDED);
	const char *out;
	size_t n = 0;

	for (int i = 0; i < 5000; i++) {
		buf_addf(&old, "old %d\n", i);
		buf_addf(&new, "new %d\n", i);
	}
	out = lines_of(buf_str(&old), buf_str(&new));
	assert_non_null(strstr(out, "… 9900 more lines\n"));
	while ((out = strstr(out, "\n  - ")) && n++ < 5000)
		out++;
	assert_int_equal(n, 100);
	assert_non_null(strstr(lines_of(str_of(NULL), buf_str(&new)),
			       "  + new 99\n  … 4901 more lines\n"));
	buf_release(&old);
	buf_release(&new);
}

TEST(lines, a_long_one, is_cut_between_characters)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_addc(&text, 'x');
	for (int i = 0; i < 200; i++)
		buf_adds(&text, "é");
	buf_addc(&text, '\n');
	assert_non_null(strstr(lines_of(buf_str(&text), str_of(NULL)),
			       "é… (401 bytes)\n"));
	buf_release(&text);
}

TEST_FILE(NULL, release);
