#include <string.h>

#include "tests/unit/test.h"

#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/base/scan.h"

TEST(quote, any_bytes, are_read_back)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct buf back = BUF_INIT(BUF_UNBOUNDED);
	char ascii[128];

	for (int i = 0; i < 128; i++)
		ascii[i] = (char)i;
	jw_quote(&out, (struct str){NULL, 0});
	assert_string_equal(buf_cstr(&out), "\"\"");
	buf_clear(&out);
	jw_quote(&out, (struct str){ascii, 128});
	assert_true(scan_string(buf_str(&out), &back));
	assert_int_equal(back.n, 128);
	assert_memory_equal(back.p, ascii, 128);
	buf_release(&out);
	buf_release(&back);
}

TEST(members, one_name, is_left_out)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&out);

	jw_members(&w, STR("{ \"a\":1.0,\"n\\u0061me\":2,\"b\": [3]}"), "name");
	jw_members(&w, STR("{\"name\":{}}"), NULL);
	jw_members(&w, (struct str){NULL, 0}, NULL);
	jw_members(&w, STR("[4]"), NULL);
	jw_end(&w);
	assert_string_equal(buf_cstr(&out),
			    "{\"a\":1.0,\"b\":[3],\"name\":{}}");
	buf_release(&out);
}

static void write_sample(struct jw *w)
{
	jw_object(w);
	jw_kv_cstr(w, "s", "a");
	jw_kv_int(w, "i", INT64_MIN);
	jw_key(w, "u");
	jw_uint(w, UINT64_MAX);
	jw_kv_bool(w, "t", true);
	jw_key(w, "f");
	jw_bool(w, false);
	jw_key_str(w, STR("n\0"));
	jw_null(w);
	jw_kv_raw(w, "r", STR("{ \"x\":1.0 }"));
	jw_kv_str(w, "k", STR("v"));
	jw_key(w, "a");
	jw_array(w);
	jw_int(w, 1);
	jw_array(w);
	jw_end(w);
	jw_object(w);
	jw_end(w);
	jw_str(w, STR("x"));
	jw_raw(w, STR("2.0"));
	jw_end(w);
	jw_end(w);
}

TEST(compact, all_kinds, are_written)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	write_sample(&w);
	assert_string_equal(buf_cstr(&out),
			    "{\"s\":\"a\",\"i\":-9223372036854775808,"
			    "\"u\":18446744073709551615,\"t\":true,\"f\":false,"
			    "\"n\\u0000\":null,\"r\":{ \"x\":1.0 },\"k\":\"v\","
			    "\"a\":[1,[],{},\"x\",2.0]}");
	buf_release(&out);
}

TEST(pretty, two_spaces_a_level, is_the_same_json)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str v;
	struct jw w;

	jw_init(&w, &out, true);
	jw_object(&w);
	jw_kv_int(&w, "a", 1);
	jw_key(&w, "b");
	jw_array(&w);
	jw_int(&w, 2);
	jw_array(&w);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	assert_string_equal(buf_cstr(&out), "{\n  \"a\": 1,\n  \"b\": [\n"
					    "    2,\n    []\n  ]\n}");
	buf_clear(&out);
	jw_init(&w, &out, true);
	write_sample(&w);
	assert_int_equal(scan_document(buf_str(&out), NULL, &v, &err), 0);
	buf_release(&out);
}

TEST(top_level, scalar, has_no_comma)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_cstr(&w, "x");
	assert_string_equal(buf_cstr(&out), "\"x\"");
	buf_release(&out);
}

TEST(depth, of_the_writer, is_enough_for_its_bound)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	for (int i = 0; i < JW_DEPTH; i++)
		jw_array(&w);
	for (int i = 0; i < JW_DEPTH; i++)
		jw_end(&w);
	assert_int_equal(out.n, 2 * JW_DEPTH);
	buf_release(&out);
}

/* Long and short ones take different ways; both escape in the same places. */
TEST(quote, one_special_byte_anywhere, is_escaped)
{
	char text[300], expected[310];

	for (size_t n = 1; n < sizeof(text); n += 13) {
		for (size_t at = 0; at < n; at++) {
			struct buf out = BUF_INIT(BUF_UNBOUNDED);

			memset(text, 'x', n);
			text[at] = '"';
			expected[0] = '"';
			memset(expected + 1, 'x', n + 1);
			memcpy(expected + 1 + at, "\\\"", 2);
			expected[n + 2] = '"';
			jw_quote(&out, (struct str){text, n});
			assert_int_equal(out.n, n + 3);
			assert_memory_equal(out.p, expected, n + 3);
			buf_release(&out);
		}
	}
}

TEST(numbers, largest_and_smallest, are_whole)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_array(&w);
	jw_int(&w, INT64_MIN);
	jw_int(&w, INT64_MAX);
	jw_int(&w, -1);
	jw_uint(&w, UINT64_MAX);
	jw_end(&w);
	assert_string_equal(buf_cstr(&out),
			    "[-9223372036854775808,9223372036854775807,-1,"
			    "18446744073709551615]");
	buf_release(&out);
}

TEST(key_raw, escapes, stay_as_they_are)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_object(&w);
	jw_key_raw(&w, STR("\"\\u0061\""));
	jw_int(&w, 1);
	jw_key_raw(&w, STR("\"b\""));
	jw_int(&w, 2);
	jw_end(&w);
	assert_string_equal(buf_cstr(&out), "{\"\\u0061\":1,\"b\":2}");
	buf_release(&out);
}
