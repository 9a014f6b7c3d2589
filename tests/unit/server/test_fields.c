#include "tests/unit/test.h"

#include "core/base/scan.h"
#include "core/server/fields.h"

static const struct field fields[] = {
	{0, FIELD_STRING, true, 0, "name", "who"},
	{0, FIELD_DATE, false, 0, "day", "when"},
	{0, FIELD_INTEGER, false, 0, "count", "how many"},
	{0, FIELD_NUMBER, false, 0, "size", "how large"},
	{0, FIELD_BOOLEAN, false, 0, "loud", "whether"},
	{0, FIELD_STRINGS, false, 2, "paths", "where"},
	{0, FIELD_OBJECTS, false, 0, "items", "what"},
	{1, FIELD_STRING, true, 0, "title", "of it"},
	{0, FIELD_OBJECT, false, 0, "place", "one"},
	{1, FIELD_STRING, false, 0, "town", "of it"},
	FIELD_END,
};

static const struct field none[] = {FIELD_END};

TEST(fields_schema, all_types, is_the_schema)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	fields_schema(fields, &w);
	assert_string_equal(
		buf_cstr(&out),
		"{\"type\":\"object\",\"properties\":{"
		"\"name\":{\"description\":\"who\",\"type\":\"string\"},"
		"\"day\":{\"description\":\"when\",\"type\":\"string\","
		"\"format\":\"date\"},"
		"\"count\":{\"description\":\"how many\","
		"\"type\":\"integer\"},"
		"\"size\":{\"description\":\"how large\",\"type\":\"number\"},"
		"\"loud\":{\"description\":\"whether\",\"type\":\"boolean\"},"
		"\"paths\":{\"description\":\"where\",\"type\":\"array\","
		"\"items\":{\"type\":\"string\"},\"maxItems\":2},"
		"\"items\":{\"description\":\"what\",\"type\":\"array\","
		"\"items\":{\"type\":\"object\",\"properties\":{\"title\":"
		"{\"description\":\"of it\",\"type\":\"string\"}},"
		"\"required\":[\"title\"],\"additionalProperties\":false}},"
		"\"place\":{\"description\":\"one\",\"type\":\"object\","
		"\"properties\":{\"town\":{\"description\":\"of it\","
		"\"type\":\"string\"}},\"additionalProperties\":false}},"
		"\"required\":[\"name\"],\"additionalProperties\":false}");
}

TEST(fields_schema, no_fields, takes_nothing)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	fields_schema(none, &w);
	assert_string_equal(buf_cstr(&out),
			    "{\"type\":\"object\",\"properties\":{},"
			    "\"additionalProperties\":false}");
}

TEST(fields_check, right_arguments, pass)
{
	static const char *const good[] = {
		"{\"name\":\"\"}",
		"{\"name\":\"a\",\"day\":\"2026-01-31\",\"count\":-3,"
		"\"size\":1e3,\"loud\":false,\"paths\":[\"a\",\"b\"],"
		"\"items\":[{\"title\":\"x\"}],\"place\":{}}",
		"{\"n\\u0061me\":\"escaped key\"}",
	};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (fields_check(fields, str_of(good[i]), &err) < 0)
			fail_msg("%s: %s", good[i], err.msg);
	assert_int_equal(fields_check(none, STR("{}"), &err), 0);
}

TEST(fields_check, wrong_arguments, say_which)
{
	static const struct {
		const char *args, *says;
	} bad[] = {
		{"[]", "arguments: is an array, must be an object"},
		{"{}", "arguments: missing required \"name\"; it takes name, "
		       "day, count, size, loud, paths, items, place"},
		{"{\"name\":1}",
		 "argument /name: is a number, must be a string"},
		{"{\"name\":null}",
		 "argument /name: is null, must be a string"},
		{"{\"name\":\"a\\u0000b\"}",
		 "an argument contains a NUL character"},
		{"{\"name\":\"a\",\"pths\":[]}",
		 "argument /pths: unknown property; did you mean \"paths\"?; "
		 "it takes name, day, count, size, loud, paths, items, place"},
		{"{\"name\":\"a\",\"day\":\"2026-02-30\"}",
		 "argument /day: is \"2026-02-30\", must be a date such as "
		 "2026-01-31"},
		{"{\"name\":\"a\",\"count\":1.5}",
		 "argument /count: is 1.5, must be an integer"},
		{"{\"name\":\"a\",\"size\":\"1\"}",
		 "argument /size: is a string, must be a number"},
		{"{\"name\":\"a\",\"loud\":0}",
		 "argument /loud: is a number, must be a boolean"},
		{"{\"name\":\"a\",\"paths\":\"x\"}",
		 "argument /paths: is a string, must be an array"},
		{"{\"name\":\"a\",\"paths\":[\"x\",2]}",
		 "argument /paths/1: is a number, must be a string"},
		{"{\"name\":\"a\",\"paths\":[\"\",\"\",\"\"]}",
		 "argument /paths: has 3 elements, must have at most 2"},
		{"{\"name\":\"a\",\"items\":[{}]}",
		 "argument /items/0: missing required \"title\"; it takes "
		 "title"},
		{"{\"name\":\"a\",\"items\":[{\"title\":\"x\",\"z\":1}]}",
		 "argument /items/0/z: unknown property; it takes title"},
		{"{\"name\":\"a\",\"items\":[7]}",
		 "argument /items/0: is a number, must be an object"},
		{"{\"name\":\"a\",\"place\":true}",
		 "argument /place: is a boolean, must be an object"},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(
			fields_check(fields, str_of(bad[i].args), &err), -1);
		assert_string_equal(err.msg, bad[i].says);
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

TEST(fields_strings, given_and_absent, read)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str args = STR("{\"paths\":[\"a\\n\",\"\\u00e9\"],"
			      "\"name\":\"n\"}");
	struct strlist list = fields_strings(args, "paths", &arena);

	assert_int_equal(list.n, 2);
	assert_string_equal(list.item[0], "a\n");
	assert_string_equal(list.item[1], "\xc3\xa9");
	assert_string_equal(fields_string(args, "name", &arena), "n");
	assert_null(fields_string(args, "nobody", &arena));
	assert_int_equal(fields_strings(args, "nobody", &arena).n, 0);
}
