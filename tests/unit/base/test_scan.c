#include <string.h>

#include "tests/unit/test.h"

#include "core/base/err.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"

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

TEST(string, over_the_ceiling, adds_nothing)
{
	struct buf out = BUF_INIT(5);

	assert_false(scan_string(proved("\"123456\""), &out));
	assert_int_equal(out.n, 0);
	assert_true(scan_string(proved("\"12345\""), &out));
	assert_false(scan_string(proved("\"6\""), &out));
	assert_string_equal(buf_cstr(&out), "12345");
	assert_false(scan_string(proved("12"), &out));
	assert_false(scan_string_cut(proved("[1]"), 9, &out));
	buf_release(&out);
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
