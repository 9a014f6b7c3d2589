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
	mcp_write_peer(&w, &sent, "clientInfo");
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
	mcp_write_peer(&w, &sent, "serverInfo");
	mcp_read_initialize_result(buf_str(&out), &arena, &got);
	assert_true(str_eq(got.protocol, sent.protocol));
	assert_true(str_eq(got.instructions, sent.instructions));
	assert_true(str_eq(got.capabilities, sent.capabilities));
	assert_int_equal(got.oddities, 0);
	sent.instructions = STR("");
	buf_clear(&out);
	jw_init(&w, &out, false);
	mcp_write_peer(&w, &sent, "serverInfo");
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
