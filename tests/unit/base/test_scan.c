#include <string.h>

#include "tests/unit/test.h"

#include "core/base/err.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"

/* Bytes that a C string cannot hold stand as STR() with their length. */
#define B(literal)                                \
	{                                         \
		("" literal), sizeof(literal) - 1 \
	}

/* RFC 8259: what every reader must accept. */
static const struct str must_accept[] = {
	/* structure and white space */
	B("[]"), B("{}"), B("[[]]"), B("[{}]"), B("{\"\":[]}"), B(" [ ] "),
	B("\t\r\n{\n}\r"), B("[ 1 , 2 ]"), B("[1,null,true,false]"),
	B("{\"a\" : 1 , \"b\":{ } }"), B("[[],[],[[]]]"), B("[\"\"]"),
	B("{\"a\":1,\"a\":1}"), B("{\"a\":1,\"a\":2}"), B("{\"\":\"\"}"),
	B("{\"a\":[],\"b\":{}}"), B("[[[[[[[[[[]]]]]]]]]]"),
	/* a scalar is a document */
	B("null"), B("true"), B("false"), B("0"), B("\"\""), B(" 42 "),
	/* numbers */
	B("-0"), B("-1"), B("123"), B("0.5"), B("-0.0"), B("1.50"), B("1e1"),
	B("1E1"), B("1e+1"), B("1e-1"), B("0e0"), B("0E+0"), B("20e1"),
	B("123.456e78"), B("123123e100000"), B("-1e-400"),
	B("18446744073709551616"), B("-9223372036854775809"),
	B("0.000000000000000000000000000000000000000000000001"),
	B("1000000000000000000000000000000000000000000000000"),
	/* strings */
	B("\"a\""), B("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), B("\"\\u0000\""),
	B("\"\\u00e9\\u00E9\""), B("\"\\uD83D\\uDE00\""), B("\"\\\\u0000\""),
	B("\"\\\\\""), B("\"\\\\\\\"\""), B("\"/*x*/\""), B("\"\x7f\""),
	B("\"\xc2\x80\""), B("\"\xdf\xbf\""), B("\"\xe0\xa0\x80\""),
	B("\"\xed\x9f\xbf\""), B("\"\xee\x80\x80\""), B("\"\xef\xbf\xbf\""),
	B("\"\xf0\x90\x80\x80\""), B("\"\xf4\x8f\xbf\xbf\""),
	B("\"\xe2\x80\xa8\xe2\x80\xa9\""), B("\"\xef\xbb\xbf\""),
	B("\"12345678\\n12345678\xc3\xa9\""),
	/* halves of pairs are well-formed JSON text */
	B("\"\\uD83D\""), B("\"\\uDE00\""), B("\"\\uD83D\\uD83D\""),
	B("\"\\uD83Dx\""), B("\"\\uDE00\\uD83D\"")};

/* What no reader may accept. */
static const struct str must_reject[] = {
	/* nothing, and more than one value */
	B(""), B(" "), B("\n"), B("1 2"), B("{}{}"), B("[] []"), B("[]x"),
	B("{}}"), B("[]]"), B("\"\"\"\""), B("null null"), B("1,"), B(","),
	B("[]\0"), B("{}\0{}"), B("\0"), B("1\0"), B("{}#"), B("{}//x"),
	/* structure */
	B("["), B("]"), B("{"), B("}"), B("[1"), B("[1,"), B("[,"), B("[,1]"),
	B("[1,]"), B("[1,,2]"), B("[1 2]"), B("[1:2]"), B("[\"a\":1]"), B("[}"),
	B("{]"), B("[1}"), B("{\"a\":1]"), B("[[1]"), B("[{]}"), B("{,}"),
	B("{\"a\"}"), B("{\"a\":}"), B("{\"a\":1,}"), B("{\"a\" 1}"),
	B("{\"a\":1 \"b\":2}"), B("{\"a\"::1}"), B("{\"a\":1,,\"b\":2}"),
	B("{:1}"), B("{1:1}"), B("{a:1}"), B("{null:1}"), B("{[]:1}"),
	B("{'a':1}"), B("{\"a\":1;}"), B("{\"a\":"), B("{\"a\""), B("{\""),
	B("<html>"), B("[<null>]"), B("*"), B("[*]"), B("(1)"),
	/* comments */
	B("/**/[]"), B("[]/**/"), B("[1//x\n]"), B("{\"a\":/**/1}"),
	/* white space that is none */
	B("\x0b[]"), B("[\x0c]"), B("\xc2\xa0[]"), B("\xef\xbb\xbf[]"),
	B("[\xe2\x81\xa0]"),
	/* literals */
	B("nul"), B("nulL"), B("NULL"), B("True"), B("tru"), B("truex"),
	B("fals"), B("falsee"), B("undefined"), B("None"), B("[nul]"), B("nan"),
	B("NaN"), B("-NaN"), B("Infinity"), B("-Infinity"), B("Inf"),
	/* numbers */
	B("+1"), B("01"), B("-01"), B("00"), B("-"), B("--1"), B("-a"), B("1."),
	B("-1."), B(".5"), B("-.5"), B("1.e1"), B("1e"), B("1e+"), B("1e-"),
	B("1ee1"), B("1e1.5"), B("0e"), B("0.e1"), B("0x1"), B("0x"),
	B("1_000"), B("1,000"), B("1 000"), B("1a"), B("[1a]"), B("[-]"),
	B("[1.]"), B("\xef\xbc\x91"), B("1\xe5"), B("2.e3"), B("0.3e"),
	B("0.3e+"),
	/* strings */
	B("\""), B("\"a"), B("'a'"), B("\"\\\""), B("\"\\x41\""), B("\"\\a\""),
	B("\"\\'\""), B("\"\\0\""), B("\"\\u\""), B("\"\\u1\""), B("\"\\u12\""),
	B("\"\\u123\""), B("\"\\u123g\""), B("\"\\U0041\""), B("\"\\"),
	B("\"\\u12"), B("\"\\ud83d\\u\""), B("\"\\\0\""), B("\"\\ \""),
	B("\"\n\""), B("\"\r\""), B("\"\t\""), B("\"\0\""), B("\"\x01\""),
	B("\"\x1f\""), B("\"12345678901234567890\x1f\""), B("a\""), B("\"a\"b"),
	/* UTF-8: Unicode 15, table 3-7 */
	B("\"\x80\""), B("\"\xbf\""), B("\"\xc3\""), B("\"\xc3(\""),
	B("\"\xc0\x80\""), B("\"\xc1\xbf\""), B("\"\xe0\x9f\xbf\""),
	B("\"\xe2\x82\""), B("\"\xe2\x28\xa1\""), B("\"\xed\xa0\x80\""),
	B("\"\xed\xbf\xbf\""), B("\"\xf0\x8f\xbf\xbf\""), B("\"\xf0\x9f\x98\""),
	B("\"\xf4\x90\x80\x80\""), B("\"\xf5\x80\x80\x80\""), B("\"\xfe\""),
	B("\"\xff\""), B("\"\xf8\x88\x80\x80\x80\""), B("\"1234567\xe9\""),
	B("{\"\xe9\":1}"), B("[\xff]"), B("\xe9"), B("\"\xc3"),
	/* UTF-16 */
	B("[\0\"\0a\0\"\0]\0"), B("\xff\xfe[\0]\0")};

static int scan(struct str text, struct str *ret, struct err *err)
{
	/* a copy of exactly this size: reading beyond it is seen */
	static char *copy;
	int got;

	free(copy);
	copy = mem_alloc(text.n);
	if (text.n)
		memcpy(copy, text.p, text.n);
	got = scan_document((struct str){copy, text.n}, NULL, ret, err);
	if (got < 0) {
		free(copy);
		copy = NULL;
	}
	return got;
}

TEST(document, must_accept, is_accepted_as_it_is)
{
	for (size_t i = 0; i < ARRAY_LEN(must_accept); i++) {
		struct err err = ERR_INIT;
		struct str v;

		if (scan(must_accept[i], &v, &err) < 0)
			fail_msg("%s: %s", must_accept[i].p, err.msg);
		assert_true(str_eq(v, str_trim(must_accept[i])));
	}
}

TEST(document, must_reject, is_an_error_with_place)
{
	for (size_t i = 0; i < ARRAY_LEN(must_reject); i++) {
		struct err err = ERR_INIT;
		struct str v;

		if (scan(must_reject[i], &v, &err) == 0)
			fail_msg("row %zu accepted: %s", i, must_reject[i].p);
		assert_int_equal(err.kind, ERR_SYNTAX);
		assert_true(err.line >= 1 && err.col >= 1);
	}
}

TEST(document, error, names_line_and_column)
{
	struct err err = ERR_INIT;
	struct str v;

	assert_int_equal(scan(STR("{\n \"a\": 1,\n \"b\": tru\n}"), &v, &err),
			 -1);
	assert_int_equal(err.line, 3);
	assert_int_equal(err.col, 10);
	assert_int_equal(scan(STR("[1,\"\xff\"]"), &v, &err), -1);
	assert_non_null(strstr(err.msg, "UTF-8"));
	assert_int_equal(err.col, 5);
}

static char *nested(size_t depth, const char *open, const char *close)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < depth; i++)
		buf_adds(&b, open);
	for (size_t i = 0; i < depth; i++)
		buf_adds(&b, close);
	return buf_steal(&b);
}

TEST(depth, at_and_over_the_bound, is_told)
{
	for (int kind = 0; kind < 2; kind++) {
		const char *open = kind ? "{\"a\":[" : "[[";
		const char *close = kind ? "]}" : "]]";
		AUTO(mem_freep)
		char *at = nested(LIMIT_JSON_DEPTH / 2, open, close);
		AUTO(mem_freep)
		char *over = nested(LIMIT_JSON_DEPTH / 2 + 1, open, close);
		AUTO(mem_freep) char *far = nested(100000, open, "");
		struct err err = ERR_INIT;
		struct str v;

		assert_int_equal(scan_document(str_of(at), NULL, &v, &err), 0);
		assert_int_equal(scan_document(str_of(over), NULL, &v, &err),
				 -1);
		assert_int_equal(err.kind, ERR_LIMIT);
		assert_int_equal(scan_document(str_of(far), NULL, &v, &err),
				 -1);
		assert_int_equal(err.kind, ERR_LIMIT);
	}
}

TEST(limits, of_the_caller, are_kept)
{
	struct scan_limits limits = {.depth = 2, .members = 3};
	struct err err = ERR_INIT;
	struct str v;

	assert_int_equal(scan_document(STR("[[1]]"), &limits, &v, &err), 0);
	assert_int_equal(scan_document(STR("[[[]]]"), &limits, &v, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(scan_document(STR("{\"a\":1,\"b\":2,\"c\":3}"),
				       &limits, &v, &err),
			 0);
	assert_int_equal(scan_document(STR("{\"a\":1,\"b\":2,\"c\":3,\"d\":4}"),
				       &limits, &v, &err),
			 -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	/* elements of arrays are not indexed */
	assert_int_equal(scan_document(STR("[1,2,3,4,5]"), &limits, &v, &err),
			 0);
}

TEST(value, at_the_start, leaves_the_rest)
{
	struct err err = ERR_INIT;
	struct str v;

	assert_int_equal(scan_value(STR(" {\"a\":1} tail"), NULL, &v, &err), 0);
	assert_true(str_is(v, "{\"a\":1}"));
	assert_int_equal(scan_value(STR("12]"), NULL, &v, &err), 0);
	assert_true(str_is(v, "12"));
	assert_int_equal(scan_value(STR("x"), NULL, &v, &err), -1);
}

static struct str proved(const char *text)
{
	struct err err = ERR_INIT;
	struct str v;

	if (scan_document(str_of(text), NULL, &v, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return v;
}

TEST(types, of_all_values, are_told)
{
	assert_int_equal(scan_type(proved(" null")), SCAN_NULL);
	assert_int_equal(scan_type(proved("true")), SCAN_TRUE);
	assert_int_equal(scan_type(proved("false")), SCAN_FALSE);
	assert_int_equal(scan_type(proved("-1")), SCAN_NUMBER);
	assert_int_equal(scan_type(proved("0")), SCAN_NUMBER);
	assert_int_equal(scan_type(proved("\"\"")), SCAN_STRING);
	assert_int_equal(scan_type(proved("[]")), SCAN_ARRAY);
	assert_int_equal(scan_type(proved("{}")), SCAN_OBJECT);
}

static void walk(const char *text, const char *expected)
{
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;

	scan_iter_init(&it, proved(text));
	while (scan_next(&it)) {
		if (it.is_object)
			buf_addf(&log, "%.*s=", STR_ARG(it.key));
		buf_addf(&log, "%.*s|", STR_ARG(it.value));
	}
	assert_string_equal(buf_cstr(&log), expected);
	buf_release(&log);
}

TEST(walk, members, are_the_slices)
{
	walk("[]", "");
	walk("{ }", "");
	walk("7", "");
	walk("\"ab\"", "");
	walk(" [ 1.0 , [2, 3] , \"a,]\\\"\" , {\"x\":[ ]} , null ] ",
	     "1.0|[2, 3]|\"a,]\\\"\"|{\"x\":[ ]}|null|");
	walk("{\"a\" : 1e3 ,\n\"b\\\"}\":\"\\\\\",\"c\":{\"d\":[\"]\"]}}",
	     "\"a\"=1e3|\"b\\\"}\"=\"\\\\\"|\"c\"={\"d\":[\"]\"]}|");
	walk("[true,false,null,-0]", "true|false|null|-0|");
	walk("[\"\\\\\\\\\\\"\",\"\\\\\"]", "\"\\\\\\\\\\\"\"|\"\\\\\"|");
	walk("[1\t,2\r\n]", "1|2|");
}

TEST(numbers, text, is_kept)
{
	walk("[1e3,1.0,-0.0,9223372036854775808,"
	     "123456789012345678901234567890,1E+2]",
	     "1e3|1.0|-0.0|9223372036854775808|"
	     "123456789012345678901234567890|1E+2|");
}

TEST(count, members, are_counted)
{
	assert_int_equal(scan_count(proved("[1,[2,3],\",\"]")), 3);
	assert_int_equal(scan_count(proved("{\"a\":1,\"a\":2}")), 2);
	assert_int_equal(scan_count(proved("[]")), 0);
	assert_int_equal(scan_count(proved("\"a\"")), 0);
}

TEST(get, last_duplicate, counts)
{
	struct str v;

	assert_true(scan_get(proved("{\"a\":1,\"b\":2,\"a\":3}"), "a", &v));
	assert_true(str_is(v, "3"));
	assert_true(scan_get(proved("{\"a\":1,\"\\u0061\":4}"), "a", &v));
	assert_true(str_is(v, "4"));
}

TEST(get, absent_or_no_object, leaves_the_result)
{
	struct str v = STR("kept");
	struct arena arena = ARENA_INIT;

	assert_false(scan_get(proved("{\"a\":1}"), "b", &v));
	assert_false(scan_get(proved("{\"a\":1}"), "A", &v));
	assert_false(scan_get(proved("{\"a\\u0000\":1}"), "a", &v));
	assert_false(scan_get(proved("{\"x\":{\"a\":1}}"), "a", &v));
	assert_false(scan_get(proved("[\"a\"]"), "a", &v));
	assert_false(scan_get(proved("\"a\""), "a", &v));
	assert_false(scan_get(STR(""), "a", &v));
	assert_true(str_is(v, "kept"));
	assert_true(scan_get(proved("{\"a\":null}"), "a", &v));
	v = STR("kept");
	assert_false(scan_get_some(proved("{\"a\":null}"), "a", &v));
	assert_true(str_is(v, "kept"));
	assert_true(scan_get_some(proved("{\"a\":0}"), "a", &v));
	assert_true(str_is(scan_some(proved("{\"a\":0}"), "a"), "0"));
	assert_null(scan_some(proved("{\"a\":null}"), "a").p);
	assert_true(str_is(scan_text(proved("{\"a\":\"0\"}"), "a"), "\"0\""));
	assert_null(scan_text(proved("{\"a\":0}"), "a").p);
	assert_true(str_is(scan_decoded(proved("\"\\u0061bc\""), 9, &arena),
			   "abc"));
	assert_true(str_is(scan_decoded(proved("7"), 9, &arena), ""));
	arena_release(&arena);
	v = proved("{\"a\":1,\"a\\u0000\":2,\"a\":3}");
	assert_true(str_is(scan_named(v, STR("a")), "3"));
	assert_true(str_is(scan_named(v, STR("a\0")), "2"));
	assert_null(scan_named(v, STR("")).p);
	assert_null(scan_named(STR(""), STR("a")).p);
}

TEST(is, decoded_text, is_compared)
{
	assert_true(scan_is(proved("\"abc\""), "abc"));
	assert_true(scan_is(proved("\"\\u0061b\\u0063\""), "abc"));
	assert_true(scan_is(proved("\"\""), ""));
	assert_true(scan_is(proved("\"\\/\""), "/"));
	assert_false(scan_is(proved("\"abc\""), "ab"));
	assert_false(scan_is(proved("\"ab\""), "abc"));
	assert_false(scan_is(proved("\"abc\\u0000\""), "abc"));
	assert_false(scan_is(proved("1"), "1"));
	assert_false(scan_is(proved("null"), "null"));
}

static void check_string(const char *json, struct str expected)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	assert_true(scan_string(proved(json), &out));
	if (!str_eq(buf_str(&out), expected))
		fail_msg("%s: \"%s\"", json, buf_cstr(&out));
	assert_int_equal(buf_cstr(&out)[out.n], '\0');
	buf_release(&out);
}

TEST(string, escapes, are_decoded)
{
	check_string("\"\"", STR(""));
	check_string("\"plain\"", STR("plain"));
	check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", STR("\"\\/\b\f\n\r\t"));
	check_string("\"a\\u0000b\"", STR("a\0b"));
	check_string("\"\\u0041\\u00e9\\u20AC\"", STR("A\xc3\xa9\xe2\x82\xac"));
	check_string("\"\\ud83d\\ude00!\"", STR("\xf0\x9f\x98\x80!"));
	check_string("\"\\udbff\\udfff\"", STR("\xf4\x8f\xbf\xbf"));
	check_string("\"\xc3\xa9\"", STR("\xc3\xa9"));
}

TEST(RPC_13, lone_surrogates, become_replacements)
{
#define FFFD "\xef\xbf\xbd"
	check_string("\"\\ud83d\"", STR(FFFD));
	check_string("\"\\ude00\"", STR(FFFD));
	check_string("\"\\ud83dx\"", STR(FFFD "x"));
	check_string("\"\\ud83d\\n\"", STR(FFFD "\n"));
	check_string("\"\\ud83d\\ud83d\\ude00\"", STR(FFFD "\xf0\x9f\x98\x80"));
	check_string("\"\\ude00\\ud83d\"", STR(FFFD FFFD));
	check_string("\"\\ud83d\\u0041\"", STR(FFFD "A"));
#undef FFFD
}

TEST(string, over_the_ceiling, adds_nothing)
{
	struct buf out = BUF_INIT(5);

	assert_false(scan_string(proved("\"123456\""), &out));
	assert_int_equal(out.n, 0);
	assert_true(scan_string(proved("\"12345\""), &out));
	assert_false(scan_string(proved("\"6\""), &out));
	assert_string_equal(buf_cstr(&out), "12345");
	assert_false(scan_string(proved("12"), &out));
	buf_release(&out);
}

static void check_cut(const char *json, size_t max, const char *expected)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	assert_true(scan_string_cut(proved(json), max, &out));
	assert_string_equal(buf_cstr(&out), expected);
	buf_release(&out);
}

TEST(string_cut, anywhere, never_splits_a_character)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	check_cut("\"abcdef\"", 6, "abcdef");
	check_cut("\"abcdef\"", 5, "abcde…");
	check_cut("\"abcdef\"", 0, "…");
	check_cut("\"a\\n\\n\"", 4, "a\n…");
	check_cut("\"a\xc3\xa9\"", 2, "a…");
	check_cut("\"\\u00e9\\u00e9\"", 11, "\xc3\xa9…");
	check_cut("\"\\ud83d\\ude00\\ud83d\\ude00\"", 23, "\xf0\x9f\x98\x80…");
	check_cut("\"\\ud83d\\ude00\"", 11, "…");
	check_cut("\"\\\\\\\\\"", 3, "\\…");
	assert_false(scan_string_cut(proved("[1]"), 9, &out));
}

TEST(int64, integers_that_fit, are_read)
{
	static const char *const bad[] = {"1.0",
					  "1e0",
					  "\"1\"",
					  "null",
					  "9223372036854775808",
					  "-9223372036854775809",
					  "[1]",
					  "123456789012345678901"};
	int64_t v = 7;

	assert_true(scan_int64(proved("9223372036854775807"), &v));
	assert_int_equal(v, INT64_MAX);
	assert_true(scan_int64(proved("-9223372036854775808"), &v));
	assert_int_equal(v, INT64_MIN);
	assert_true(scan_int64(proved("-0"), &v));
	assert_int_equal(v, 0);
	v = 7;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(scan_int64(proved(bad[i]), &v));
	assert_int_equal(v, 7);
}

TEST(compact, white_space, goes_and_text_stays)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	scan_compact(proved("\n{ \"a b\" : [ 1.0 ,\t2e1, \"\\\" \\n\" ] ,\r\n"
			    "\"c\" : { } , \"d\":null }\n"),
		     &out);
	assert_string_equal(buf_cstr(&out), "{\"a b\":[1.0,2e1,\"\\\" \\n\"],"
					    "\"c\":{},\"d\":null}");
	buf_release(&out);
}

TEST(string, every_length_and_offset, is_walked)
{
	/* around the eight bytes that are looked at together */
	for (size_t n = 0; n < 40; n++) {
		struct buf b = BUF_INIT(BUF_UNBOUNDED);
		struct scan_iter it;
		struct str v;
		struct err err = ERR_INIT;

		buf_adds(&b, "[\"");
		for (size_t i = 0; i < n; i++)
			buf_addc(&b, 'x');
		buf_adds(&b, "\\\"\",2]");
		assert_int_equal(scan(buf_str(&b), &v, &err), 0);
		scan_iter_init(&it, v);
		assert_true(scan_next(&it));
		assert_int_equal(it.value.n, n + 4);
		assert_true(scan_next(&it));
		assert_true(str_is(it.value, "2"));
		assert_false(scan_next(&it));
		b.p[2 + n] = '\x01';
		assert_int_equal(scan(buf_str(&b), &v, &err), -1);
		buf_release(&b);
	}
}

/* Equal only when decoded: by length alone nothing is decided wrongly. */
TEST(is, escapes_and_lengths, decodes_escapes_of_every_length)
{
	static const struct {
		const char *json, *text;
		bool same;
	} rows[] = {{"\"type\"", "type", true},
		    {"\"typ\"", "type", false},
		    {"\"types\"", "type", false},
		    {"\"\"", "", true},
		    {"\"t\\u0079pe\"", "type", true},
		    {"\"t\\u0079pes\"", "type", false},
		    {"\"\\n\"", "\n", true},
		    {"\"\\n\"", "\\n", false},
		    {"\"\\\\\"", "\\", true},
		    {"\"\\\\\"", "\\\\", false},
		    {"\"\\\\n\"", "\\n", true},
		    {"type", "ty", false},
		    {"1", "", false},
		    {"[\"\"]", "[\"", false}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(scan_is(str_of(rows[i].json), rows[i].text),
				 rows[i].same);
}

struct pieces {
	struct buf whole;
	size_t n;
	bool all_whole; /* no piece begins or ends in a character */
};

static void take_piece(void *arg, struct str piece)
{
	struct pieces *p = arg;

	p->n++;
	p->all_whole &= str_is_utf8(piece);
	buf_add_str(&p->whole, piece);
}

/* A long text goes on in pieces, wherever its characters lie. */
TEST(string, long_to_a_sink, comes_in_whole_characters)
{
	static const char *const units[] = {"x", "\u00e9", "\u20ac",
					    "\U0001f600", "\\n\u20ac"};

	for (size_t u = 0; u < ARRAY_LEN(units); u++) {
		for (size_t shift = 0; shift < 4; shift++) {
			struct pieces p = {.whole = BUF_INIT(BUF_UNBOUNDED),
					   .all_whole = true};
			const struct buf_sink sink = {take_piece, &p};
			struct buf out = BUF_INIT(BUF_UNBOUNDED);
			struct buf json = BUF_INIT(BUF_UNBOUNDED);
			struct buf plain = BUF_INIT(BUF_UNBOUNDED);

			buf_addc(&json, '"');
			for (size_t i = 0; i < shift; i++)
				buf_addc(&json, 'x');
			while (json.n < 1000000)
				buf_adds(&json, units[u]);
			buf_addc(&json, '"');
			assert_true(scan_string(buf_str(&json), &plain));
			out.sink = &sink;
			assert_true(scan_string(buf_str(&json), &out));
			buf_drain(&out);
			assert_true(p.all_whole);
			assert_true(p.n > 1);
			assert_true(str_eq(buf_str(&p.whole), buf_str(&plain)));
			buf_release(&p.whole);
			buf_release(&out);
			buf_release(&json);
			buf_release(&plain);
		}
	}
}

static void assert_same_walk(struct str value,
			     const struct scan_members *members)
{
	struct scan_iter walked, noted;

	scan_iter_init(&walked, value);
	scan_iter_noted(&noted, value, members);
	assert_int_equal(noted.is_object, walked.is_object);
	while (scan_next(&walked)) {
		assert_true(scan_next(&noted));
		assert_true(noted.value.p == walked.value.p);
		assert_int_equal(noted.value.n, walked.value.n);
		if (!walked.is_object)
			continue;
		assert_true(noted.key.p == walked.key.p);
		assert_int_equal(noted.key.n, walked.key.n);
	}
	assert_false(scan_next(&noted));
}

TEST(members, noted, are_those_of_a_walk)
{
	static const struct {
		const char *text;
		size_t n;
	} cases[] = {
		{"{}", 0},
		{" { } ", 0},
		{"[1,{\"a\":2}]", 0},
		{"\"{\"", 0},
		{"17", 0},
		{"{\"a\":1}", 1},
		{" {\t\"a\" :\n1 , \"b\":[ 2 ] } ", 2},
		{"{\"a\":{\"x\":{},\"y\":[{\"z\":0}]},\"b\":\"}\"}", 2},
		{"{\"a\":1,\"a\":2,\"\\u0061\":3}", 3},
		{"{\"1\":1,\"2\":2,\"3\":3,\"4\":4,\"5\":5,\"6\":6,"
		 "\"7\":7,\"8\":[8]}",
		 8},
		/* one more than are kept: they are walked */
		{"{\"1\":1,\"2\":2,\"3\":3,\"4\":4,\"5\":5,\"6\":6,"
		 "\"7\":7,\"8\":8,\"9\":{}}",
		 9},
	};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scan_members members;
		struct str v;

		assert_int_equal(
			scan_members(str_of(cases[i].text), &v, &members, &err),
			0);
		assert_int_equal(members.n, cases[i].n);
		assert_same_walk(v, &members);
		assert_same_walk(v, NULL);
	}
	for (size_t i = 0; i < ARRAY_LEN(must_accept); i++) {
		struct scan_members members;
		struct str v;

		assert_int_equal(
			scan_members(must_accept[i], &v, &members, &err), 0);
		assert_same_walk(v, &members);
	}
}

TEST(members, of_a_bad_text, are_an_error)
{
	static const char *const bad[] = {"", "{\"a\":1", "{\"a\":1}x",
					  "{\"a\":1,}", "{\"a\" 1}"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct scan_members members;
		struct err err = ERR_INIT;
		struct str v = STR("unchanged");

		assert_int_equal(
			scan_members(str_of(bad[i]), &v, &members, &err), -1);
		assert_int_equal(err.kind, ERR_SYNTAX);
		assert_true(str_is(v, "unchanged"));
	}
}
