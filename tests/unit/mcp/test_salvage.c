#include <string.h>

#include "tests/unit/test.h"

#include "core/mcp/wire/salvage.h"

TEST(start, with_any_spacing, is_found)
{
	assert_int_equal(salvage_start(STR("{\"jsonrpc\"")), 0);
	assert_int_equal(salvage_start(STR("ab{ \t\r\n\"jsonrpc\"")), 2);
	assert_int_equal(salvage_start(STR("\"jsonrpc\" {\"jsonrpc\"")), 10);
	assert_int_equal(salvage_start(STR("{\"a\":\"jsonrpc\"")), 14);
	assert_int_equal(salvage_start(STR("\"jsonrpc\"")), 9);
	assert_int_equal(salvage_start(STR("")), 0);
}

TEST(broken, rows, are_told_with_their_id)
{
	static const struct {
		const char *line, *id;
		bool broken;
	} rows[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":12,", "12", true},
		{"{\"jsonrpc\":\"2.0\",\"id\":12", NULL, true},
		{"{\"jsonrpc\":\"2.0\",\"id\" : \"a\\\"b\"", "\"a\\\"b\"",
		 true},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"a", NULL, true},
		{"{\"jsonrpc\":\"2.0\",\"x\":{\"id\":7},", NULL, true},
		{"{\"jsonrpc\":\"2.0\",\"x\":\"\\\"id\\\":7\",", NULL, true},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,", NULL, true},
		{"{\"id\":3,\"jsonrpc\":x}", "3", true},
		{"  {\"id\":3,\"jsonrpc\"", NULL, false},
		{"{\"x\":{\"jsonrpc\":1},", "", true},
		{"{\"x\":[0,\"jsonrpc\":1],", NULL, false},
		{"{\"level\":30", NULL, false},
		{"jsonrpc", NULL, false},
		{"", NULL, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str id = {NULL, 0};

		assert_int_equal(salvage_is_broken(str_of(rows[i].line), &id),
				 rows[i].broken);
		if (rows[i].broken && rows[i].id && rows[i].id[0])
			assert_true(str_is(id, rows[i].id));
		else
			assert_null(id.p);
	}
}

TEST(header, rows, are_told)
{
	assert_true(salvage_is_header(STR("Content-Length: 12")));
	assert_true(salvage_is_header(STR("content-length:12\r")));
	assert_false(salvage_is_header(STR("Content-Length: ")));
	assert_false(salvage_is_header(STR("Content-Length: many")));
	assert_false(salvage_is_header(STR("Content-Length:")));
	assert_false(salvage_is_header(STR("Content-Type: 12")));
	assert_false(salvage_is_header(STR("")));
}

TEST(utf8, only_bad_bytes, are_replaced)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	assert_false(salvage_utf8(STR("{\"a\":\"\xc3\xa9\"}"), &out));
	assert_false(salvage_utf8(STR("no json \xff"), &out));
	assert_int_equal(out.n, 0);
	assert_true(salvage_utf8(STR("{\"\xc3\xa9\xe9\xc3\"}"), &out));
	assert_string_equal(buf_cstr(&out),
			    "{\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"}");
	buf_release(&out);
}

static bool block_ends(struct salvage_block *b, const char *line)
{
	return salvage_block_add(b, str_of(line));
}

TEST(block, lines_of_one_object, belong_together)
{
	struct salvage_block b = SALVAGE_BLOCK_INIT(1000);

	assert_false(block_ends(&b, "no block {"));
	assert_false(block_ends(&b, "{"));
	assert_false(block_ends(&b, " \"a\": [ \"}\\\"\","));
	assert_false(block_ends(&b, " 1 ]"));
	assert_true(block_ends(&b, "}"));
	assert_string_equal(buf_cstr(&b.text),
			    "{\n \"a\": [ \"}\\\"\",\n 1 ]\n}\n");
	salvage_block_clear(&b);
	assert_true(block_ends(&b, "{}"));
	salvage_block_clear(&b);
}

TEST(block, what_cannot_be_json, ends_it)
{
	struct salvage_block b = SALVAGE_BLOCK_INIT(1000);

	assert_false(block_ends(&b, "{"));
	assert_false(block_ends(&b, "\"open"));
	assert_int_equal(b.depth, 0);
	assert_null(b.text.p);
	assert_false(block_ends(&b, "{"));
	assert_false(block_ends(&b, "}}"));
	assert_int_equal(b.depth, 0);
	salvage_block_clear(&b);
}

TEST(block, over_its_ceiling, is_given_up)
{
	struct salvage_block b = SALVAGE_BLOCK_INIT(20);

	assert_false(block_ends(&b, "{"));
	assert_false(block_ends(&b, "1, 2, 3, 4, 5, 6, 7, 8"));
	assert_int_equal(b.depth, 0);
	assert_null(b.text.p);
}
