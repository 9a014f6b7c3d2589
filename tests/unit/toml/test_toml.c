#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/toml/toml.h"

static struct fixture {
	struct arena arena;
	struct toml_value root;
	struct err err;
	struct buf text;
} f;

static int setup(void **state)
{
	(void)state;
	f = (struct fixture){.err = ERR_INIT, .text = BUF_INIT(BUF_UNBOUNDED)};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&f.arena);
	buf_release(&f.text);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static int parse(const char *text)
{
	f.err = (struct err)ERR_INIT;
	return toml_parse(&f.arena, str_of(text), &f.root, &f.err);
}

static const char *json(void)
{
	buf_clear(&f.text);
	toml_to_json(&f.root, &f.text);
	return buf_cstr(&f.text);
}

static void assert_json(const char *text, const char *want)
{
	if (parse(text) < 0)
		fail_msg("%s: %s", text, f.err.msg);
	assert_string_equal(json(), want);
}

static void assert_error(const char *text, enum err_kind kind, uint32_t line,
			 uint32_t col)
{
	if (parse(text) == 0)
		fail_msg("accepted: %s", text);
	assert_int_equal(f.err.kind, kind);
	assert_int_equal(f.err.line, line);
	assert_int_equal(f.err.col, col);
}

TEST_IN(fixture, parse, every_type, is_read)
{
	assert_json("s = \"a\\tb\\u00e9\"\ni = -9223372036854775808\n"
		    "h = 0xff\nf = 1.5\nb = true\n"
		    "a = [1, \"x\", [2]]\nt = { k = 1 }\n",
		    "{\"s\":\"a\\tb\xc3\xa9\",\"i\":-9223372036854775808,"
		    "\"h\":255,\"f\":1.5,\"b\":true,\"a\":[1,\"x\",[2]],"
		    "\"t\":{\"k\":1}}");
	assert_json("", "{}");
	assert_int_equal(
		toml_parse(&f.arena, (struct str){NULL, 0}, &f.root, &f.err),
		0);
}

TEST_IN(fixture, parse, dates, are_rfc3339)
{
	assert_json("a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5\n"
		    "c = 1979-05-27\nd = 07:32:00\n"
		    "e = 1979-05-27T00:32:00.999999-07:00\n",
		    "{\"a\":\"1979-05-27T07:32:00Z\","
		    "\"b\":\"1979-05-27T07:32:00.5\",\"c\":\"1979-05-27\","
		    "\"d\":\"07:32:00\","
		    "\"e\":\"1979-05-27T00:32:00.999999-07:00\"}");
	assert_int_equal(f.root.table.member[0].value.type, TOML_DATETIME);
}

TEST_IN(fixture, to_json, floats, are_read_back)
{
	assert_json("a = 1.0\nb = 0.1\nc = 1e300\nd = nan\ne = -inf\n",
		    "{\"a\":1.0,\"b\":0.1,\"c\":1e+300,\"d\":null,"
		    "\"e\":null}");
}

TEST_IN(fixture, parse, members, are_in_file_order)
{
	assert_json("z = 1\na = 2\n[m]\n[b]\nx.y = 1\nx.a = 2\n[[k]]\n",
		    "{\"z\":1,\"a\":2,\"m\":{},\"b\":{\"x\":{\"y\":1,\"a\":2}},"
		    "\"k\":[{}]}");
}

TEST_IN(fixture, parse, places, have_line_and_byte)
{
	const struct toml_value *v;

	assert_int_equal(parse("# c\n \"\xc3\xa9\" = [\n  1,\n  \"\xc3\xa9"
			       "\", 2 ]\n[t]\nk = true\n"),
			 0);
	assert_int_equal(f.root.table.member[0].line, 2);
	assert_int_equal(f.root.table.member[0].col, 2);
	v = &f.root.table.member[0].value;
	assert_int_equal(v->line, 2);
	/* the key has two bytes for its one letter */
	assert_int_equal(v->col, 9);
	assert_int_equal(v->array.item[0].line, 3);
	assert_int_equal(v->array.item[0].col, 3);
	assert_int_equal(v->array.item[2].line, 4);
	assert_int_equal(v->array.item[2].col, 9);
	v = toml_get(toml_get(&f.root, "t"), "k");
	assert_int_equal(v->line, 6);
	assert_int_equal(v->col, 5);
}

TEST_IN(fixture, get, absent_or_no_table, is_null)
{
	assert_int_equal(parse("a = 1\n"), 0);
	assert_null(toml_get(&f.root, "b"));
	assert_null(toml_get(toml_get(&f.root, "a"), "b"));
	assert_null(toml_get(NULL, "b"));
	assert_string_equal(toml_type_name(TOML_TABLE), "table");
}

TEST_IN(fixture, parse, no_toml, gives_the_place_of_the_error)
{
	assert_error("a = 1\nb = = 2\n", ERR_CONFIG, 2, 5);
	assert_error("a = 1\na = 2\n", ERR_CONFIG, 2, 5);
	assert_error("\"\xc3\xa9\" = 1 x\n", ERR_CONFIG, 1, 10);
	assert_error("a = [1,\n", ERR_CONFIG, 1, 9);
	/* what toml++ asserts instead of refusing */
	assert_error("a = 1\n[=b]\nc = 1\n", ERR_CONFIG, 2, 1);
	assert_error("[[=b]]", ERR_CONFIG, 1, 1);
	assert_error("a = 1\nb\xc3\xa9 = 1\n", ERR_CONFIG, 2, 2);
	assert_error("\n\xcb\x9f", ERR_CONFIG, 2, 1);
	/* only in later drafts of TOML */
	assert_error("a = { b = 1,\n c = 2 }\n", ERR_CONFIG, 1, 13);
}

TEST_IN(fixture, parse, bad_bytes, are_refused)
{
	const char nul[] = "a = \"\0\"\n";

	assert_error("a = 1\nb = \"\xff\"\n", ERR_CONFIG, 2, 6);
	assert_error("a = \"\x01\"\n", ERR_CONFIG, 1, 6);
	assert_error("# \x7f\n", ERR_CONFIG, 1, 3);
	assert_error("a = 1\rb = 2\n", ERR_CONFIG, 1, 6);
	assert_error("\xed\xa0\x80", ERR_CONFIG, 1, 1);
	assert_int_equal(toml_parse(&f.arena,
				    (struct str){nul, sizeof(nul) - 1}, &f.root,
				    &f.err),
			 -1);
	assert_int_equal(f.err.kind, ERR_CONFIG);
	assert_int_equal(f.err.col, 6);
}

/* Letters that toml++ 3.3 takes for impossible when it looks for blanks. */
TEST_IN(fixture, parse, letters_after_a_folded_line, are_kept)
{
	assert_json("a = \"\"\"\\\n  \xcb\x9f x\"\"\"\n",
		    "{\"a\":\"\xcb\x9f x\"}");
	assert_error("x = +a\"\\e\xd2\x9e\n", ERR_CONFIG, 1, 6);
}

TEST_IN(fixture, parse, nul_in_key, is_refused)
{
	assert_error("a = 1\n\"b\\u0000c\" = 2\n", ERR_CONFIG, 2, 1);
	/* a value may have it */
	assert_json("a = \"b\\u0000c\"\n", "{\"a\":\"b\\u0000c\"}");
}

TEST_IN(fixture, parse, bom_and_crlf, are_read)
{
	assert_json("\xef\xbb\xbf[t]\r\na = \"\"\"x\r\ny\"\"\"\r\n",
		    "{\"t\":{\"a\":\"x\\ny\"}}");
	assert_int_equal(f.root.table.member[0].col, 2);
}

/* n times `part`, between two other texts */
static const char *repeat(const char *before, const char *part, size_t n,
			  const char *after)
{
	buf_clear(&f.text);
	buf_adds(&f.text, before);
	for (size_t i = 0; i < n; i++)
		buf_adds(&f.text, part);
	buf_adds(&f.text, after);
	return buf_cstr(&f.text);
}

TEST_IN(fixture, bounds, key_parts, are_64)
{
	assert_int_equal(parse(repeat("", "a.", 63, "b = 1\n")), 0);
	assert_int_equal(parse(repeat("", "a.", 64, "b = 1\n")), -1);
	assert_int_equal(f.err.kind, ERR_LIMIT);
	assert_int_equal(f.err.line, 1);
	assert_int_equal(parse(repeat("[", "a . ", 63, "b]\n")), 0);
	assert_int_equal(parse(repeat("[", "a . ", 64, "b]\n")), -1);
	assert_int_equal(parse(repeat("\n[[", "'a'.", 64, "b]]\n")), -1);
	assert_int_equal(f.err.line, 2);
	assert_int_equal(parse(repeat("x = {", "\"a\".", 64, "b=1}")), -1);
	/* 30 000 parts once overran the stack */
	assert_int_equal(parse(repeat("", "a.", 30000, "b = 1\n")), -1);
	/* dots that are no parts of keys */
	assert_int_equal(parse(repeat("x = [", "1.5,", 1000, "]\n")), 0);
	assert_int_equal(parse(repeat("x = \"", ".", 1000, "\"\n")), 0);
	assert_int_equal(parse(repeat("# ", ".", 1000, "\n")), 0);
	assert_int_equal(parse(repeat("x = '''", ".\n", 1000, "'''\n")), 0);
}

TEST_IN(fixture, bounds, nesting, is_64)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (int n = 64; n <= 65; n++) {
		buf_clear(&text);
		buf_adds(&text, repeat("x = ", "[", (size_t)n, ""));
		buf_adds(&text, repeat("", "]", (size_t)n, "\n"));
		assert_int_equal(parse(text.p), n == 64 ? 0 : -1);
		buf_clear(&text);
		buf_adds(&text, repeat("x = ", "{a=", (size_t)n, "1"));
		buf_adds(&text, repeat("", "}", (size_t)n, "\n"));
		assert_int_equal(parse(text.p), n == 64 ? 0 : -1);
	}
	assert_int_equal(f.err.kind, ERR_LIMIT);
	/* unclosed, and closed too often */
	assert_int_equal(parse(repeat("x = ", "[", 100000, "")), -1);
	assert_int_equal(parse(repeat("x = ", "]", 1000, "")), -1);
	buf_release(&text);
}

/* Long keys inside of nested tables: each bound alone would allow it. */
TEST_IN(fixture, bounds, whole_path, is_256)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&text, "x = ");
	for (int i = 0; i < 60; i++)
		buf_adds(&text, "{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=");
	assert_int_equal(parse(text.p), -1);
	assert_int_equal(f.err.kind, ERR_LIMIT);
	buf_release(&text);
}

TEST_IN(fixture, bounds, of_strings, end_as_in_toml)
{
	/* after each of these a bracket is a bracket again */
	assert_json("a = \"\\\\\"\nb = [1]\n", "{\"a\":\"\\\\\",\"b\":[1]}");
	assert_json("a = '\\'\nb = [1]\n", "{\"a\":\"\\\\\",\"b\":[1]}");
	assert_json("a = \"\"\nb = [1]\n", "{\"a\":\"\",\"b\":[1]}");
	assert_json("a = \"\"\"x\"\"\"\"\"\nb = [1]\n",
		    "{\"a\":\"x\\\"\\\"\",\"b\":[1]}");
	assert_json("a = '''x'''''\nb = [1]\n", "{\"a\":\"x''\",\"b\":[1]}");
	assert_json("a = \"\"\"\\\"\"\"\"\nb = [1]\n",
		    "{\"a\":\"\\\"\",\"b\":[1]}");
	assert_json("a = \"\"\"\"\"\"\nb = [1]\n", "{\"a\":\"\",\"b\":[1]}");
	assert_json("a = \"#\" # \"\nb = [1]\n", "{\"a\":\"#\",\"b\":[1]}");
}

TEST_IN(fixture, bounds, file, is_256_kib)
{
	assert_int_equal(parse(repeat("#", "x", LIMIT_CONFIG_BYTES - 1, "")),
			 0);
	assert_int_equal(parse(repeat("#", "x", LIMIT_CONFIG_BYTES, "")), -1);
	assert_int_equal(f.err.kind, ERR_LIMIT);
}
