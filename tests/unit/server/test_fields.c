#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void fields_schema__all_types__is_the_schema(void **state)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	(void)state;
	jw_init(&w, &out, false);
	fields_schema(fields, &w);
	assert_string_equal(
		buf_cstr(&out),
		"{\"type\":\"object\",\"properties\":{"
		"\"name\":{\"description\":\"who\",\"type\":\"string\"},"
		"\"day\":{\"description\":\"when\",\"type\":\"string\","
		"\"pattern\":\"^[0-9]{4}-[0-9]{2}-[0-9]{2}$\"},"
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

static void fields_schema__no_fields__takes_nothing(void **state)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	(void)state;
	jw_init(&w, &out, false);
	fields_schema(none, &w);
	assert_string_equal(buf_cstr(&out),
			    "{\"type\":\"object\",\"properties\":{},"
			    "\"additionalProperties\":false}");
}

static void fields_check__right_arguments__pass(void **state)
{
	static const char *const good[] = {
		"{\"name\":\"\"}",
		"{\"name\":\"a\",\"day\":\"2026-01-31\",\"count\":-3,"
		"\"size\":1e3,\"loud\":false,\"paths\":[\"a\",\"b\"],"
		"\"items\":[{\"title\":\"x\"}],\"place\":{}}",
		"{\"n\\u0061me\":\"escaped key\"}",
	};
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (fields_check(fields, str_of(good[i]), &err) < 0)
			fail_msg("%s: %s", good[i], err.msg);
	assert_int_equal(fields_check(none, STR("{}"), &err), 0);
}

static void fields_check__wrong_arguments__say_which(void **state)
{
	static const struct {
		const char *args, *says;
	} bad[] = {
		{"[]", "the arguments must be an object, not an array"},
		{"{}", "argument name is missing: who"},
		{"{\"name\":1}",
		 "argument name must be a string, not a number"},
		{"{\"name\":null}", "argument name must be a string, not null"},
		{"{\"name\":\"a\\u0000b\"}",
		 "argument name must not contain a NUL character"},
		{"{\"name\":\"a\",\"pths\":[]}",
		 "unknown argument pths, did you mean paths?; it takes name, "
		 "day, count, size, loud, paths, items, place"},
		{"{\"name\":\"a\",\"day\":\"2026-02-30\"}",
		 "argument day must be a date that exists, written as "
		 "2026-01-31"},
		{"{\"name\":\"a\",\"count\":1.5}",
		 "argument count must be an integer, not a number"},
		{"{\"name\":\"a\",\"size\":\"1\"}",
		 "argument size must be a number, not a string"},
		{"{\"name\":\"a\",\"loud\":0}",
		 "argument loud must be true or false, not a number"},
		{"{\"name\":\"a\",\"paths\":\"x\"}",
		 "argument paths must be an array of strings, not a string"},
		{"{\"name\":\"a\",\"paths\":[\"x\",2]}",
		 "argument paths[1] must be a string, not a number"},
		{"{\"name\":\"a\",\"paths\":[\"\",\"\",\"\"]}",
		 "argument paths has 3 elements; at most 2"},
		{"{\"name\":\"a\",\"items\":[{}]}",
		 "argument items[0].title is missing: of it"},
		{"{\"name\":\"a\",\"items\":[{\"title\":\"x\",\"z\":1}]}",
		 "unknown argument items[0].z; it takes title"},
		{"{\"name\":\"a\",\"items\":[7]}",
		 "argument items[0] must be an object, not a number"},
		{"{\"name\":\"a\",\"place\":true}",
		 "argument place must be an object, not a boolean"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(
			fields_check(fields, str_of(bad[i].args), &err), -1);
		assert_string_equal(err.msg, bad[i].says);
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

static void fields_strings__given_and_absent__read(void **state)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str args = STR("{\"paths\":[\"a\\n\",\"\\u00e9\"],"
			      "\"name\":\"n\"}");
	struct strlist list = fields_strings(args, "paths", &arena);

	(void)state;
	assert_int_equal(list.n, 2);
	assert_string_equal(list.item[0], "a\n");
	assert_string_equal(list.item[1], "\xc3\xa9");
	assert_string_equal(fields_string(args, "name", &arena), "n");
	assert_null(fields_string(args, "nobody", &arena));
	assert_int_equal(fields_strings(args, "nobody", &arena).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_schema__all_types__is_the_schema),
		cmocka_unit_test(fields_schema__no_fields__takes_nothing),
		cmocka_unit_test(fields_check__right_arguments__pass),
		cmocka_unit_test(fields_check__wrong_arguments__say_which),
		cmocka_unit_test(fields_strings__given_and_absent__read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
