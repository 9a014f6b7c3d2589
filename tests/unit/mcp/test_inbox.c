#include <string.h>

#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/mcp/wire/inbox.h"

/* Reads all; objects that contain "y" are judged to be messages. */
static char *read_all(struct inbox *in)
{
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	enum inbox_result got;
	struct inbox_item item;

	while ((got = inbox_next(in, &item)) != INBOX_NONE) {
		switch (got) {
		case INBOX_OBJECT:
			buf_addf(&log, "%.*s;", STR_ARG(item.object));
			inbox_judge(in,
				    str_find(item.object, 'y') < item.object.n);
			break;
		case INBOX_BROKEN:
			buf_addf(&log, "broken %.*s%s;", STR_ARG(item.id),
				 item.is_unfinished ? " unfinished" : "");
			break;
		case INBOX_CUT:
			buf_adds(&log, "cut;");
			break;
		case INBOX_OVER:
			buf_adds(&log, "over;");
			break;
		default:
			buf_adds(&log, "framing;");
			break;
		}
	}
	return buf_steal(&log);
}

static void check(const char *bytes, bool eof, const char *expected,
		  uint64_t skipped_lines)
{
	struct inbox in;
	char *log;

	inbox_init(&in, 100);
	inbox_add(&in, str_of(bytes));
	if (eof)
		inbox_eof(&in);
	log = read_all(&in);
	assert_string_equal(log, expected);
	assert_int_equal(in.skipped_lines, skipped_lines);
	free(log);
	inbox_release(&in);
}

TEST(objects, of_lines_and_arrays, are_given)
{
	check("{\"y\":1}\n {\"y\":2} \r\n", false, "{\"y\":1};{\"y\":2};", 0);
	check("[{\"y\":1},[{\"y\":2}],3,{}]\n", false, "{\"y\":1};{};", 0);
	check("[{},{}]\n[1]\n[]\n", false, "{};{};", 2);
}

TEST(lines, that_are_no_messages, are_counted)
{
	check("hello\n1\n\"y\"\nnull\n{}\n", false, "{};", 5);
}

TEST(rest, without_newline, is_read_at_the_end)
{
	check("{\"y\":1}", false, "", 0);
	check("{\"y\":1}", true, "{\"y\":1};", 0);
	check("{\"jsonrpc\":", true, "cut;", 0);
	check("{\"jsonrpc\":\n", true, "broken  unfinished;", 0);
	check("bye", true, "", 1);
}

TEST(broken, between_good_lines, is_told)
{
	check("{\"y\":1}\n{\"jsonrpc\":\"2.0\",\"id\":7,x}\n{\"y\":2}\n", false,
	      "{\"y\":1};broken 7;{\"y\":2};", 0);
}

TEST(over, between_good_lines, is_told)
{
	check("{\"y\":1}\n0123456789012345678901234567890123456789012345678901"
	      "23456789012345678901234567890123456789012345678901234567890\n"
	      "{\"y\":2}\n",
	      false, "{\"y\":1};over;{\"y\":2};", 0);
}

TEST(header, before_any_message, is_wrong_framing)
{
	check("Content-Length: 9\n", false, "framing;", 0);
	check("{}\nContent-Length: 9\n", false, "{};framing;", 1);
	check("{\"y\":1}\nContent-Length: 9\n", false, "{\"y\":1};", 1);
}

TEST(object, unread, is_given_again_also_after_adding)
{
	struct inbox_item item;
	struct inbox in;

	inbox_init(&in, 0);
	inbox_add(&in, STR("[{\"y\":1},{\"y\":2}]\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	inbox_unread(&in);
	for (int i = 0; i < 100; i++)
		inbox_add(&in, STR("a line that moves the buffer around\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_true(str_is(item.object, "{\"y\":1}"));
	inbox_judge(&in, true);
	inbox_add(&in, STR("more\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_true(str_is(item.object, "{\"y\":2}"));
	inbox_judge(&in, true);
	assert_int_equal(inbox_next(&in, &item), INBOX_NONE);
	assert_int_equal(in.skipped_lines, 101);
	inbox_release(&in);
}

/* They stand for the object of a line, and for nothing else. */
TEST(members, of_a_line, are_noted)
{
	struct inbox_item item;
	struct inbox in;

	inbox_init(&in, 0);
	inbox_add(&in, STR(" {\"a\":1,\"b\":{}} \n[{\"c\":2}]\n"
			   "a log: {\"jsonrpc\":\"2.0\",\"id\":1}\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_non_null(item.members);
	assert_int_equal(item.members->n, 2);
	assert_true(str_is(item.members->item[1].value, "{}"));
	inbox_unread(&in);
	inbox_add(&in, STR("\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_true(str_is(item.object, "{\"a\":1,\"b\":{}}"));
	assert_null(item.members);
	inbox_judge(&in, true);
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_true(str_is(item.object, "{\"c\":2}"));
	assert_null(item.members);
	inbox_judge(&in, true);
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_true(str_is(item.object, "{\"jsonrpc\":\"2.0\",\"id\":1}"));
	assert_null(item.members);
	inbox_release(&in);
}

TEST(noise, beginning, is_kept_to_the_byte)
{
	struct inbox in;
	char *log;

	inbox_init(&in, 0);
	for (int i = 0; i < 200; i++)
		inbox_add(&in, STR("0123456789abcdef0123456789abcdef\n"));
	log = read_all(&in);
	assert_int_equal(in.noise.n, LIMIT_NOISE_BYTES);
	/* whoever looks for secrets must see where it was cut */
	assert_memory_equal(in.noise.p + LIMIT_NOISE_BYTES - 5, "\n…\n", 5);
	assert_int_equal(in.skipped_bytes, 200 * 32);
	free(log);
	inbox_release(&in);
}
