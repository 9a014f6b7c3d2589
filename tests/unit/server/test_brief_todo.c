#include "tests/unit/server/brief_fixture.h"

#include "core/base/limits.h"

#define ARGS(file) "{\"file\":\"" file "\",\"today\":\"2026-01-31\"}"

TEST(todo, todotxt, sorted_and_counted)
{
	WRITE("todo.txt", "plain one\n"
			  "x 2026-01-02 done one due:2026-01-01\n"
			  "(B) 2026-01-05 later  +home @phone due:2026-02-02\n"
			  "(C) prio only +a+b @\n"
			  "(A) prio only\r\n"
			  "\n"
			  "now due:2026-01-31\n"
			  "late due:2026-01-30 and more\n"
			  "xylophone (A) no priority\n");
	call("todo", ARGS("~/todo.txt"));
	assert_false(result.is_error);
	assert_string_equal(TEXT(), "7 open, 1 overdue, 1 due today, 1 done\n"
				    "late and more (overdue, due 1 day ago)\n"
				    "now (due today)\n"
				    "(B) later +home @phone (due in 2 days)\n"
				    "(A) prio only\n"
				    "(C) prio only +a+b @\n"
				    "plain one\n"
				    "xylophone (A) no priority");
	assert_has(STRUCTURED(),
		   "{\"today\":\"2026-01-31\",\"file\":\"~/todo.txt\","
		   "\"exists\":true,\"format\":\"todo.txt\",\"open\":7,"
		   "\"done\":1,\"overdue\":1,\"due_today\":1,"
		   "\"truncated\":false,\"items\":[{\"text\":\"late and "
		   "more\",\"line\":8,\"due\":\"2026-01-30\",\"days_left\":-1,"
		   "\"projects\":[],\"contexts\":[]},");
	assert_has(STRUCTURED(), "{\"text\":\"later +home @phone\",\"line\":3,"
				 "\"priority\":\"B\",\"due\":\"2026-02-02\","
				 "\"days_left\":2,\"projects\":[\"home\"],"
				 "\"contexts\":[\"phone\"]}");
	assert_has(STRUCTURED(), "\"projects\":[\"a+b\"],\"contexts\":[]}");
}

TEST(todo, markdown, boxes_with_their_parents)
{
	WRITE("list", "# Plan\n"
		      "- [ ] house\n"
		      "  - [x] roof\n"
		      "  * [ ] walls due:2026-02-01\n"
		      "\t1. [ ] paint\n"
		      "- [X] car\n"
		      "  - [ ] wheels\n"
		      "2) [ ] boat\n"
		      "- no box\n"
		      "- [y] no box\n"
		      "- [ ]no box\n"
		      "12 [ ] no box\n"
		      "```\n- [ ] code\n```\n"
		      "+ [ ]\n");
	call("todo", ARGS("~/list"));
	assert_false(result.is_error);
	assert_string_equal(TEXT(), "6 open, 2 done\n"
				    "house: walls (due in 1 day)\n"
				    "house\n"
				    "walls: paint\n"
				    "car: wheels\n"
				    "boat\n");
	assert_has(STRUCTURED(), "\"format\":\"markdown\"");
	assert_has(STRUCTURED(), "{\"text\":\"wheels\",\"line\":7,"
				 "\"projects\":[],\"contexts\":[],"
				 "\"parent\":\"car\"}");
	assert_has_not(STRUCTURED(), "code");
	assert_has_not(STRUCTURED(), "no box");
}

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

TEST(todo, missing_file, says_how_to_begin)
{
	call("todo", ARGS("~/none.txt"));
	assert_false(result.is_error);
	assert_has(TEXT(), "There is no ~/none.txt here. To begin, ");
	assert_has(TEXT(), "sandbox = { read = [\"~/none.txt\"] }");
	assert_has(STRUCTURED(), "\"exists\":false,\"open\":0,\"done\":0,");
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

TEST(todo, no_file_named, is_the_one_at_home)
{
	WRITE("todo.txt", "at home\n");
	call("todo", "{}");
	assert_string_equal(TEXT(), "1 open, 0 done\nat home");
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
