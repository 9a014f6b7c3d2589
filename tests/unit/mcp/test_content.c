#include <string.h>

#include "tests/unit/test.h"

#include "core/mcp/wire/content.h"

static void decodes(const char *json, const char *expected, size_t n)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(content_bytes(str_of(json), 1000, &out, &err), 0);
	assert_int_equal(out.n, n);
	assert_memory_equal(buf_cstr(&out), expected, n);
	buf_release(&out);
}

static void refuses(const char *json, size_t max, enum err_kind kind)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	buf_adds(&out, "before");
	assert_int_equal(content_bytes(str_of(json), max, &out, &err), -1);
	assert_int_equal(err.kind, kind);
	assert_string_equal(buf_cstr(&out), "before");
	buf_release(&out);
}

TEST(base64, vectors_of_rfc_4648, are_decoded)
{
	decodes("\"\"", "", 0);
	decodes("\"Zg==\"", "f", 1);
	decodes("\"Zm8=\"", "fo", 2);
	decodes("\"Zm9v\"", "foo", 3);
	decodes("\"Zm9vYg==\"", "foob", 4);
	decodes("\"Zm9vYmE=\"", "fooba", 5);
	decodes("\"Zm9vYmFy\"", "foobar", 6);
	decodes("\"//79+w==\"", "\xff\xfe\xfd\xfb", 4);
	decodes("\"\\/\\/79+w==\"", "\xff\xfe\xfd\xfb", 4);
}

TEST(CB_4, line_breaks_and_missing_padding, are_fine)
{
	decodes("\"Zm9v\\nYmFy\\r\\n\"", "foobar", 6);
	decodes("\"Zm9v YmFy\"", "foobar", 6);
	decodes("\"Zg\"", "f", 1);
	decodes("\"Zm8\"", "fo", 2);
	decodes("\"Zg=\\n=\"", "f", 1);
}

TEST(CB_4, other_garbage, is_refused)
{
	refuses("\"Zm9v!\"", 1000, ERR_SYNTAX);
	refuses("\"Zm9-\"", 1000, ERR_SYNTAX);
	refuses("\"Zg==Zg==\"", 1000, ERR_SYNTAX);
	refuses("\"Z\"", 1000, ERR_SYNTAX);
	refuses("\"Z===\"", 1000, ERR_SYNTAX);
	refuses("\"Zg===\"", 1000, ERR_SYNTAX);
	refuses("\"Zm9v=\"", 1000, ERR_SYNTAX);
	refuses("\"Zm\\u00009v\"", 1000, ERR_SYNTAX);
}

TEST(CB_4, bound, is_of_decoded_bytes)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	refuses("\"Zm9vYmFy\"", 5, ERR_LIMIT);
	assert_int_equal(content_bytes(STR("\"Zm9v\\n\\n\\n\\n\\nYmFy\""), 6,
				       &out, &err),
			 0);
	assert_string_equal(buf_cstr(&out), "foobar");
	buf_release(&out);
}

TEST(CB_1, kinds, are_told_apart)
{
	static const struct {
		const char *json;
		enum content_kind kind;
		bool has_text, has_data;
	} cases[] = {
		{"{\"type\":\"text\",\"text\":\"x\"}", CONTENT_TEXT, true,
		 false},
		{"{\"type\":\"text\"}", CONTENT_UNKNOWN, false, false},
		{"{\"type\":\"text\",\"text\":1}", CONTENT_UNKNOWN, false,
		 false},
		{"{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"image/"
		 "png\"}",
		 CONTENT_IMAGE, false, true},
		{"{\"type\":\"audio\",\"data\":\"\"}", CONTENT_AUDIO, false,
		 true},
		{"{\"type\":\"audio\"}", CONTENT_UNKNOWN, false, false},
		{"{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
		 "\"text\":\"x\"}}",
		 CONTENT_RESOURCE, true, false},
		{"{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
		 "\"blob\":\"\"}}",
		 CONTENT_RESOURCE, false, true},
		{"{\"type\":\"resource\",\"resource\":{}}", CONTENT_UNKNOWN,
		 false, false},
		{"{\"type\":\"resource\"}", CONTENT_UNKNOWN, false, false},
		{"{\"type\":\"resource_link\",\"uri\":\"a:b\"}", CONTENT_LINK,
		 false, false},
		{"{\"type\":\"resource_link\"}", CONTENT_UNKNOWN, false, false},
		{"{\"type\":\"hologram\",\"data\":\"x\"}", CONTENT_UNKNOWN,
		 false, false},
		{"{}", CONTENT_UNKNOWN, false, false},
		{"7", CONTENT_UNKNOWN, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct content_block b;

		content_read(str_of(cases[i].json), &b);
		assert_int_equal(b.kind, cases[i].kind);
		assert_int_equal(b.text.p != NULL, cases[i].has_text);
		assert_int_equal(b.data.p != NULL, cases[i].has_data);
	}
}

TEST(RES_4, text_and_blob_or_neither, is_odd)
{
	struct content_block b;

	content_read_item(STR("{\"text\":\"a\",\"blob\":\"b\"}"), &b);
	assert_true(b.is_odd);
	content_read_item(STR("{\"uri\":\"a:b\"}"), &b);
	assert_true(b.is_odd);
	content_read_item(STR("{\"text\":\"\",\"blob\":null}"), &b);
	assert_false(b.is_odd);
}

TEST(name, any_bytes, is_hash_and_what_they_are)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *extension;
	} cases[] = {
		{"\x89PNG\r\n\x1a\n....", 12, "png"},
		{"\xff\xd8\xff\xe0", 4, "jpg"},
		{"GIF89a", 6, "gif"},
		{"RIFF\1\0\0\0WEBP", 12, "webp"},
		{"RIFF\1\0\0\0WAVE", 12, "wav"},
		{"RIFF\1\0\0\0????", 12, "bin"},
		{"%PDF-1.7", 8, "pdf"},
		{"OggS", 4, "ogg"},
		{"\x1f\x8b\x08", 3, "gz"},
		{"h\xc3\xa9llo\n", 7, "txt"},
		{"", 0, "txt"},
		{"a\0b", 3, "bin"},
		{"\xc3\x28", 2, "bin"},
		{"\x1b[31m", 5, "bin"},
	};
	char name[CONTENT_NAME_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(content_extension((struct str){
					    cases[i].bytes, cases[i].n}),
				    cases[i].extension);
	content_name(STR("abc"), name);
	assert_string_equal(name, "ba7816bf8f01cfea414140de5dae2223b00361a39617"
				  "7a9cb410ff61f20015ad.txt");
}
