#include <string.h>

#include "tests/unit/test.h"

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/mcp.h"

static const struct mcp_revision *newest(void)
{
	return mcp_revision_newest();
}

/* A revision with structured content of any type, as the next era has it. */
static const struct mcp_revision any = {"2026-07-28", MCP_ERA_PER_REQUEST,
					MCP_STRUCTURED_ANY};

TEST(revisions, rows, sort_and_are_found)
{
	size_t n;
	const struct mcp_revision *r = mcp_revisions(&n);

	assert_true(n >= 4);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(mcp_revision_find(str_of(r[i].date)), &r[i]);
		if (i)
			assert_true(strcmp(r[i - 1].date, r[i].date) < 0);
	}
	assert_null(mcp_revision_find(STR("2024-10-07")));
	assert_null(mcp_revision_find(STR("2025-11-25 ")));
	assert_null(mcp_revision_find(STR("")));
	assert_string_equal(newest()->date, "2025-11-25");
}

TEST(revisions, nearest, is_not_newer)
{
	static const char *const rows[][2] = {
		{"2025-11-25", "2025-11-25"}, {"2025-11-24", "2025-06-18"},
		{"2026-07-28", "2025-11-25"}, {"2025-03-26", "2025-03-26"},
		{"2024-10-07", "2024-11-05"}, {"1.0", "2024-11-05"},
		{"", "2024-11-05"},	      {"2025-11-25x", "2024-11-05"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(
			mcp_revision_nearest(str_of(rows[i][0]))->date,
			rows[i][1]);
}

TEST(revisions, list, names_all)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	mcp_revision_list(&out);
	assert_string_equal(buf_cstr(&out), "2024-11-05, 2025-03-26, "
					    "2025-06-18, 2025-11-25, "
					    "2026-07-28");
	buf_release(&out);
}

TEST(initialize, written, is_read_again)
{
	struct mcp_peer sent = {.protocol = STR("2025-06-18"),
				.capabilities = STR("{\"roots\":{}}"),
				.name = STR("a\"b"),
				.version = STR("1\n2")};
	struct mcp_peer got;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct jw w;

	jw_init(&w, &out, false);
	mcp_write_initialize(&w, &sent);
	assert_int_equal(mcp_read_initialize(buf_str(&out), &arena, &got, &err),
			 0);
	assert_true(str_eq(got.protocol, sent.protocol));
	assert_true(str_eq(got.capabilities, sent.capabilities));
	assert_true(str_eq(got.name, sent.name));
	assert_true(str_eq(got.version, sent.version));
	arena_release(&arena);
	buf_release(&out);
}

TEST(initialize, without_version, is_an_error)
{
	static const char *const bad[] = {"{}", "[]", "\"x\"",
					  "{\"protocolVersion\":null}",
					  "{\"protocolVersion\":20250618}"};
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct mcp_peer got;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(
			mcp_read_initialize(str_of(bad[i]), &arena, &got, &err),
			-1);
		assert_int_equal(err.kind, ERR_PEER);
	}
	arena_release(&arena);
}

TEST(initialize, odd_members, are_defaults)
{
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct mcp_peer got;

	assert_int_equal(
		mcp_read_initialize(STR("{\"protocolVersion\":\"x\","
					"\"capabilities\":[],"
					"\"clientInfo\":{\"name\":7}}"),
				    &arena, &got, &err),
		0);
	assert_true(str_is(got.capabilities, "{}"));
	assert_true(str_is(got.name, ""));
	assert_true(str_is(got.version, ""));
	arena_release(&arena);
}

TEST(initialize_result, written, is_read_again)
{
	struct mcp_peer sent = {
		.protocol = STR("2025-11-25"),
		.capabilities = STR("{\"tools\":{}}"),
		.name = STR("n"),
		.version = STR("v"),
		.instructions = STR("line\nline"),
	};
	struct mcp_peer got;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct arena arena = ARENA_INIT;
	struct jw w;

	jw_init(&w, &out, false);
	mcp_write_initialize_result(&w, &sent);
	mcp_read_initialize_result(buf_str(&out), &arena, &got);
	assert_true(str_eq(got.protocol, sent.protocol));
	assert_true(str_eq(got.instructions, sent.instructions));
	assert_true(str_eq(got.capabilities, sent.capabilities));
	assert_int_equal(got.oddities, 0);
	sent.instructions = STR("");
	buf_clear(&out);
	jw_init(&w, &out, false);
	mcp_write_initialize_result(&w, &sent);
	assert_null(strstr(buf_cstr(&out), "instructions"));
	arena_release(&arena);
	buf_release(&out);
}

TEST(initialize_result, long_texts, are_cut)
{
	struct mcp_peer got;
	struct buf in = BUF_INIT(BUF_UNBOUNDED);
	struct arena arena = ARENA_INIT;

	buf_adds(&in, "{\"serverInfo\":{\"name\":\"");
	for (int i = 0; i < 5000; i++)
		buf_adds(&in, "\xc3\xa9");
	buf_adds(&in, "\"},\"instructions\":\"");
	for (int i = 0; i < 100000; i++)
		buf_addc(&in, 'x');
	buf_adds(&in, "\"}");
	mcp_read_initialize_result(buf_str(&in), &arena, &got);
	assert_int_equal(got.name.n, 1024 + strlen("…"));
	assert_memory_equal(got.name.p + 1022, "\xc3\xa9…", 5);
	assert_true(str_is_utf8(got.name));
	assert_int_equal(got.instructions.n, 64 * 1024 + strlen("…"));
	arena_release(&arena);
	buf_release(&in);
}

struct tool_row {
	const char *value;
	const char *content;	/* NULL: no CallToolResult */
	const char *structured; /* NULL: none */
	bool is_error;
	uint32_t repairs;
};

static void check_rows(const struct tool_row *rows, size_t n,
		       const struct mcp_revision *revision)
{
	for (size_t i = 0; i < n; i++) {
		const struct tool_row *row = &rows[i];
		struct err err = ERR_INIT;
		struct mcp_tool_result r;
		int got = mcp_read_tool_result(str_of(row->value), revision, &r,
					       &err);

		if (!row->content) {
			assert_int_equal(got, -1);
			assert_int_equal(err.kind, ERR_RESULT);
			mcp_tool_result_release(&r);
			continue;
		}
		assert_int_equal(got, 0);
		if (!str_is(r.content, row->content))
			fail_msg("%s: content %.*s", row->value,
				 STR_ARG(r.content));
		if (row->structured)
			assert_true(str_is(r.structured, row->structured));
		else
			assert_null(r.structured.p);
		assert_int_equal(r.is_error, row->is_error);
		assert_int_equal(r.repairs, row->repairs);
		mcp_tool_result_release(&r);
	}
}

TEST(tool_result, right, stays_as_it_came)
{
	static const struct tool_row rows[] = {
		{"{\"content\":[]}", "[]", NULL, false, 0},
		{"{\"content\":[ {\"type\":\"x\" } ], \"isError\":true}",
		 "[ {\"type\":\"x\" } ]", NULL, true, 0},
		{"{\"content\":[{\"type\":\"x\",\"n\":1.0}],\"isError\":false,"
		 "\"structuredContent\":{ \"n\":1e400,\"u\":\"\\u0000\" }}",
		 "[{\"type\":\"x\",\"n\":1.0}]",
		 "{ \"n\":1e400,\"u\":\"\\u0000\" }", false, 0},
		{"{\"content\":[],\"structuredContent\":[1]}", "[]", "[1]",
		 false, 0},
		{"{\"content\":[],\"structuredContent\":null}", "[]", NULL,
		 false, 0},
		{"{\"content\":[1],\"content\":[{\"type\":\"x\"}],\"isError\":"
		 "true,"
		 "\"isError\":false}",
		 "[{\"type\":\"x\"}]", NULL, false, 0},
		{"{\"content\":[],\"isError\":null}", "[]", NULL, false, 0},
		{"{\"c\\u006fntent\":[{\"type\":\"x\"}]}", "[{\"type\":\"x\"}]",
		 NULL, false, 0},
	};

	check_rows(rows, ARRAY_LEN(rows), newest());
}

TEST(TC_5, content_absent_or_an_object, is_repaired)
{
	static const struct tool_row rows[] = {
		{"{\"structuredContent\":{}}", "[]", "{}", false, 1},
		{"{\"content\":null,\"structuredContent\":[]}", "[]", "[]",
		 false, 1},
		{"{\"content\":{\"type\":\"text\", \"text\":\"a\"}}",
		 "[{\"type\":\"text\", \"text\":\"a\"}]", NULL, false, 1},
		{"{\"content\":7}", NULL, NULL, false, 0},
		{"{\"content\":true}", NULL, NULL, false, 0},
	};

	check_rows(rows, ARRAY_LEN(rows), newest());
}

TEST(tool_result, neither_content_nor_structured, is_none)
{
	static const struct tool_row rows[] = {
		{"{}", NULL, NULL, false, 0},
		{"{\"content\":null}", NULL, NULL, false, 0},
		{"{\"structuredContent\":null}", NULL, NULL, false, 0},
		{"{\"isError\":true}", NULL, NULL, false, 0},
		{"{\"_meta\":{},\"Content\":[]}", NULL, NULL, false, 0},
	};

	check_rows(rows, ARRAY_LEN(rows), newest());
}

/* An empty object, and so no CallToolResult. */
TEST(RW_57, empty_array_as_result, is_an_object)
{
	static const char neither[] = "not a CallToolResult: it has neither "
				      "content nor structuredContent";
	static const char *const empty[] = {"[]", "[ ]", "{}"};

	for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
		struct mcp_tool_result r;
		struct err err = ERR_INIT;

		assert_int_equal(mcp_read_tool_result(str_of(empty[i]),
						      newest(), &r, &err),
				 -1);
		assert_string_equal(err.msg, neither);
		mcp_tool_result_release(&r);
	}
}

TEST(tool_result, array_or_number, is_none)
{
	static const struct tool_row rows[] = {
		{"[1]", NULL, NULL, false, 0},
		{"7", NULL, NULL, false, 0},
	};

	check_rows(rows, ARRAY_LEN(rows), newest());
}

TEST(RW_75, bare_strings, are_wrapped)
{
	static const struct tool_row rows[] = {
		{"\"a\\u0000\\n\"",
		 "[{\"type\":\"text\",\"text\":\"a\\u0000\\n\"}]", NULL, false,
		 1},
		{"{\"content\":\"x\",\"isError\":true}",
		 "[{\"type\":\"text\",\"text\":\"x\"}]", NULL, true, 1},
		{"7", NULL, NULL, false, 0},
		{"null", NULL, NULL, false, 0},
		{"true", NULL, NULL, false, 0},
	};

	check_rows(rows, ARRAY_LEN(rows), newest());
}

TEST(RW_76, is_error_that_is_no_boolean, is_read)
{
	static const struct tool_row rows[] = {
		{"{\"content\":[],\"isError\":\"true\"}", "[]", NULL, true, 1},
		{"{\"content\":[],\"isError\":\"false\"}", "[]", NULL, false,
		 1},
		{"{\"content\":[],\"isError\":\"False\"}", "[]", NULL, false,
		 1},
		{"{\"content\":[],\"isError\":\"TRUE\"}", "[]", NULL, true, 1},
		{"{\"content\":[],\"isError\":\"yes\"}", "[]", NULL, true, 1},
		{"{\"content\":[],\"isError\":1}", "[]", NULL, true, 1},
		{"{\"content\":[],\"isError\":0.10}", "[]", NULL, true, 1},
		{"{\"content\":[],\"isError\":-0.0e7}", "[]", NULL, false, 1},
		{"{\"content\":[],\"isError\":{}}", "[]", NULL, true, 1},
		{"{\"content\":[],\"isError\":[]}", "[]", NULL, false, 1},
		{"{\"content\":[],\"isError\":[0]}", "[]", NULL, true, 1},
	};

	check_rows(rows, ARRAY_LEN(rows), newest());
}

TEST(tool_result, content_that_is_no_block, is_none)
{
	static const struct tool_row rows[] = {
		{"{\"content\":[1,2]}", NULL, NULL, false, 0},
		{"{\"content\":[{},null]}", NULL, NULL, false, 0},
		{"{\"content\":[\"a\"]}", NULL, NULL, false, 0},
		{"{\"content\":[{\"text\":\"a\"}]}", NULL, NULL, false, 0},
		{"{\"content\":[{\"type\":7}]}", NULL, NULL, false, 0},
		{"{\"content\":[{\"type\":\"text\"}]}", NULL, NULL, false, 0},
		{"{\"content\":[{\"type\":\"text\",\"text\":5}]}", NULL, NULL,
		 false, 0},
		{"{\"content\":{\"type\":\"text\",\"text\":null}}", NULL, NULL,
		 false, 0},
		{"{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}",
		 "[{\"type\":\"text\",\"text\":\"\"}]", NULL, false, 0},
		{"{\"content\":[{\"type\":\"later\",\"text\":5}]}",
		 "[{\"type\":\"later\",\"text\":5}]", NULL, false, 0},
	};

	check_rows(rows, ARRAY_LEN(rows), newest());
}

TEST(SC_2, null_in_the_next_era, is_a_value)
{
	static const struct tool_row rows[] = {
		{"{\"content\":[],\"structuredContent\":null}", "[]", "null",
		 false, 0},
		{"{\"content\":[]}", "[]", NULL, false, 0},
	};

	check_rows(rows, ARRAY_LEN(rows), &any);
}

TEST(looks_like_result, beginning_or_whole, is_told)
{
	static const struct {
		const char *text;
		bool looks;
	} rows[] = {
		{" {\"structuredContent\":1}\n", true},
		{"{\n \"content\": [\n", true},
		{"{\"a\":{\"content\":[]}}", false},
		{"{\"content\":null}", false},
		{"{\"text\":\"content", false},
		{"[\"content\"", false},
		{"content", false},
		{"", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (mcp_looks_like_result(str_of(rows[i].text)) !=
		    rows[i].looks)
			fail_msg("%s", rows[i].text);
}
