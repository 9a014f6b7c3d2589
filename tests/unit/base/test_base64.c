#include "tests/unit/test.h"

#include "core/base/text.h"

TEST(vectors, of_rfc_4648, both_ways)
{
	static const struct {
		const char *bytes, *standard, *url;
	} rows[] = {
		{"", "", ""},
		{"f", "Zg==", "Zg"},
		{"fo", "Zm8=", "Zm8"},
		{"foo", "Zm9v", "Zm9v"},
		{"foob", "Zm9vYg==", "Zm9vYg"},
		{"fooba", "Zm9vYmE=", "Zm9vYmE"},
		{"foobar", "Zm9vYmFy", "Zm9vYmFy"},
		{"\xfb\xff\xbf", "+/+/", "-_-_"},
	};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int kind = BASE64_STANDARD; kind <= BASE64_URL; kind++) {
			const char *text = kind == BASE64_URL
						   ? rows[i].url
						   : rows[i].standard;
			struct buf out = BUF_INIT(BUF_UNBOUNDED);

			buf_adds(&out, "<");
			base64_encode(kind, str_of(rows[i].bytes), &out);
			assert_string_equal(buf_cstr(&out) + 1, text);
			buf_clear(&out);
			assert_int_equal(
				base64_decode(kind, str_of(text), &out, &err),
				0);
			assert_string_equal(buf_cstr(&out), rows[i].bytes);
			buf_release(&out);
		}
}

TEST(all_bytes, any_length, come_back)
{
	char bytes[256];
	struct err err = ERR_INIT;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 167);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct buf back = BUF_INIT(n); /* exactly enough */

		base64_encode(BASE64_URL, (struct str){bytes, n}, &text);
		assert_int_equal(
			base64_decode(BASE64_URL, buf_str(&text), &back, &err),
			0);
		assert_int_equal(back.n, n);
		assert_memory_equal(buf_cstr(&back), bytes, n);
		buf_release(&text);
		buf_release(&back);
	}
}

TEST(decode, another_form, is_refused)
{
	static const struct {
		enum base64 kind;
		const char *text;
	} rows[] = {
		{BASE64_STANDARD, "Zg"},   {BASE64_STANDARD, "Zg="},
		{BASE64_STANDARD, "Z==="}, {BASE64_STANDARD, "===="},
		{BASE64_STANDARD, "Zm=v"}, {BASE64_STANDARD, "Zg==Zg=="},
		{BASE64_STANDARD, "Zh=="}, /* a bit too many */
		{BASE64_STANDARD, "-_-_"}, {BASE64_STANDARD, "Zm9v\n"},
		{BASE64_STANDARD, " Zm9"}, {BASE64_URL, "Zg=="},
		{BASE64_URL, "+/+/"},	   {BASE64_URL, "Z"},
		{BASE64_URL, "Zh"},	   {BASE64_URL, "Zm9"},
		{BASE64_URL, "Zm9vZ"},	   {BASE64_URL, "Zm\xc3\xa9"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;

		buf_adds(&out, "kept");
		assert_int_equal(base64_decode(rows[i].kind,
					       str_of(rows[i].text), &out,
					       &err),
				 -1);
		assert_int_equal(err.kind, ERR_SYNTAX);
		assert_string_equal(buf_cstr(&out), "kept");
		buf_release(&out);
	}
}

TEST(decode, a_nul_inside, is_refused)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(base64_decode(BASE64_URL, STR("Zm\0v"), &out, &err),
			 -1);
	buf_release(&out);
}

TEST(decode, over_the_ceiling, is_a_limit)
{
	struct buf out = BUF_INIT(2);
	struct err err = ERR_INIT;

	assert_int_equal(base64_decode(BASE64_URL, STR("Zm9v"), &out, &err),
			 -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(out.n, 0);
	buf_release(&out);
}
