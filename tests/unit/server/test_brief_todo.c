#include "tests/unit/server/brief_fixture.h"

#include "core/base/limits.h"

#define ARGS(file) "{\"file\":\"" file "\",\"today\":\"2026-01-31\"}"

TEST(todo, deep_nesting, bounded)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < 100; i++) {
		for (size_t k = 0; k < i; k++)
			buf_addc(&in, ' ');
		buf_addf(&in, "- [ ] d%zu\n", i);
	}
	write_file("deep.md", in.p, in.n);
	call("todo", ARGS("~/deep.md"));
	assert_has(TEXT(), "100 open");
	assert_has(STRUCTURED(), "{\"text\":\"d99\",\"line\":100,");
}

/* As if the scratch folder were a private place of the sandbox. */
static void make_private(void)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	char self[sizeof(scratch) + 8];
	struct statx st;

	snprintf(self, sizeof(self), "%s/self", scratch);
	assert_int_equal(mkdir(self, 0700), 0);
	assert_int_equal(statx(AT_FDCWD, scratch, 0, STATX_MNT_ID, &st), 0);
	buf_addf(&line,
		 "1 0 0:1 / / ro - ext4 /dev/a rw\n"
		 "%llu 1 0:2 / %s rw,nosuid - tmpfs matins-private rw\n",
		 (unsigned long long)st.stx_mnt_id, scratch);
	write_file("self/mountinfo", line.p, line.n);
}

TEST(todo, hidden_file, is_an_error_when_it_was_named)
{
	char mountinfo[sizeof(scratch) + 32];

	snprintf(mountinfo, sizeof(mountinfo), "%s/self/mountinfo", scratch);
	make_private();
	call("todo", ARGS("~/none/none.txt"));
	assert_true(result.is_error);
	assert_has(TEXT(),
		   "none.txt': No such file or directory here: it is not ");
	assert_has(TEXT(), "sandbox = { read = [\"~/none/none.txt\"] }");
	call("deadlines", ARGS("~/none.txt"));
	assert_true(result.is_error);
	assert_has(TEXT(),
		   "none.txt': No such file or directory here: it is not ");
	call("deadlines", "{}");
	assert_false(result.is_error);
	assert_has(TEXT(), "~/deadlines.txt is not granted, or not there. To");
	call("todo", ARGS("/proc/none.txt"));
	assert_false(result.is_error);
	assert_has(TEXT(), "There is no /proc/none.txt here.");
	unlink(mountinfo);
}

TEST(todo, folder_instead_of_file, error)
{
	call("todo", ARGS("/"));
	assert_true(result.is_error);
	assert_has(TEXT(), "/ is not a regular file");
	assert_string_equal(STRUCTURED(), "");
}

TEST(todo, bytes_that_are_no_text, replaced)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	WRITE("todo.txt", "a\xff\0b\x1b[31m\n");
	call("todo", ARGS("~/todo.txt"));
	assert_has(STRUCTURED(),
		   "\"text\":\"a\xef\xbf\xbd\\u0000b\\u001b[31m\"");
	jw_init(&w, &out, false);
	jw_object(&w);
	tool_result_write(&result, true, &w);
	jw_end(&w);
	assert_true(str_is_utf8(buf_str(&out)));
}

TEST(todo, more_than_are_shown, counted_and_said)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < LIMIT_BRIEF_ITEMS + 5; i++)
		buf_addf(&in, "item %zu\n", i);
	write_file("many.txt", in.p, in.n);
	call("todo", ARGS("~/many.txt"));
	assert_false(result.is_error);
	assert_has(STRUCTURED(), "\"open\":1005,");
	assert_has(STRUCTURED(), "\"truncated\":true,");
	assert_has(STRUCTURED(), "\"item 999\"");
	assert_has_not(STRUCTURED(), "\"item 1000\"");
	assert_has(TEXT(), "\nitem 29\nand 975 more");
}

TEST_FILE(fixture_set_up, fixture_tear_down);
