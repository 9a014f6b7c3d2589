#include "tests/unit/test.h"

#include <string.h>

#include "core/mcp/wire/merged_name.h"

static const char *merge(const char *server, const char *tool)
{
	static char name[MERGED_NAME_BYTES + 1];

	merged_name(str_of(server), str_of(tool), name);
	return name;
}

TEST(merged_name, plain_parts, stand_as_they_are_and_can_be_read)
{
	struct str tool;

	assert_string_equal(merge("git-hub", "list_issues"),
			    "mcp__git-hub__list_issues");
	assert_true(merged_name_tool(STR("mcp__git-hub__list_issues"),
				     STR("git-hub"), &tool));
	assert_true(str_is(tool, "list_issues"));
	assert_string_equal(merge("a", "_b__c"), "mcp__a___b__c");
	assert_true(merged_name_tool(STR("mcp__a___b__c"), STR("a"), &tool));
	assert_true(str_is(tool, "_b__c"));
}

TEST(headed_name, other_characters_or_too_long, ends_in_a_hash)
{
	char name[MERGED_NAME_BYTES + 1], other[MERGED_NAME_BYTES + 1];
	char text[200];

	headed_name("routine__", STR("night_ly-2"), name);
	assert_string_equal(name, "routine__night_ly-2");
	headed_name("routine__", STR("a b"), name);
	headed_name("routine__", STR("a.b"), other);
	assert_memory_equal(name, "routine__a_b_", 13);
	assert_memory_equal(other, "routine__a_b_", 13);
	assert_string_not_equal(name, other);
	memset(text, 'x', sizeof(text));
	headed_name("routine__", (struct str){text, sizeof(text)}, name);
	assert_int_equal(strlen(name), MERGED_NAME_BYTES);
}

TEST(merged_name, another_server_or_no_such_name, is_not_read)
{
	static const char *const bad[] = {"mcp__a__",	"mcp__a",
					  "mcp__ab__c", "a__b",
					  "mcp__a_b",	"mcp__a__b c"};
	struct str tool;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(merged_name_tool(str_of(bad[i]), STR("a"), &tool));
	assert_false(merged_name_tool(STR("mcp__a__b__c"), STR("a__b"), &tool));
}

/* Models take 64 of a few characters, and two tools never have one name. */
TEST(merged_name, parts_that_break_the_rules, are_told_apart_by_a_hash)
{
	static const char *const parts[][2] = {
		{"a b.c", "x"},
		{"a.b c", "x"},
		{"a", "b__c"},
		{"a__b", "c"},
		{"a_", "x"},
		{"a", "_x"},
		{"a", "b/c"},
		{"a", "b:c"},
		{"caf\xc3\xa9", "x"},
		{"", "x"},
		{"a",
		 "0123456789012345678901234567890123456789012345678901234567"
		 "89"},
		{"a",
		 "0123456789012345678901234567890123456789012345678901234567"
		 "8x"},
	};
	char names[ARRAY_LEN(parts)][MERGED_NAME_BYTES + 1];

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		merged_name(str_of(parts[i][0]), str_of(parts[i][1]), names[i]);
		assert_true(strlen(names[i]) <= 64);
		assert_int_equal(
			strspn(names[i],
			       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
			       "UVWXYZ0123456789_-"),
			strlen(names[i]));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(names[i], names[k]);
	}
}

/* The name of one server's tool is no plain name of another server's. */
TEST(merged_name, a_tool_that_looks_hashed, has_a_hash_of_its_own)
{
	static const char *const plain[] = {
		"send_78dbc0dc",	 "send_78dbc0dc855c337",
		"send78dbc0dc855c3377",	 "send_78dbc0dc855c33777",
		"send_78dbc0dc855c337g", "a78dbc0dc855c3377"};
	static const char hashed[] = "mcp__notes__work___send_78dbc0dc855c3377";
	const char *tool = "work___send_78dbc0dc855c3377";
	struct str ret;

	assert_string_equal(merge("notes (work)", "send"), hashed);
	assert_false(merged_name_tool(str_of(hashed), STR("notes"), &ret));
	assert_string_not_equal(merge("notes", tool), hashed);
	assert_false(merged_name_tool(STR("mcp__a__78dbc0dc855c3377"), STR("a"),
				      &ret));
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		assert_true(merged_name_tool(str_of(merge("a", plain[i])),
					     STR("a"), &ret));
}

TEST(tool_name, more_than_a_word, is_told)
{
	assert_true(tool_name_is_word(STR("a/b.c-d_E:1")));
	assert_false(tool_name_is_word(STR("a\nb")));
	assert_false(tool_name_is_word(STR("$(x)")));
	assert_false(tool_name_is_word(STR("-rf")));
	assert_false(tool_name_is_word(STR("a b")));
	assert_false(tool_name_is_word(STR("")));
}
