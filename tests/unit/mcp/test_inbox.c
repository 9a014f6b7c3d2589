#include <string.h>

#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/mcp/wire/inbox.h"

#define X50 "01234567890123456789012345678901234567890123456789"

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

/* Bytes of a peer, what is given of them, and the lines that were skipped. */
struct row {
	const char *bytes, *expected;
	uint64_t skipped;
	bool eof;
};

static const struct row objects[] = {
	{"{\"y\":1}\n {\"y\":2} \r\n", "{\"y\":1};{\"y\":2};", 0, false},
	{"[{\"y\":1},[{\"y\":2}],3,{}]\n", "{\"y\":1};{};", 0, false},
	{"[{},{}]\n[1]\n[]\n", "{};{};", 2, false},
	{"hello\n1\n\"y\"\nnull\n{}\n", "{};", 5, false},
	{"{\"y\":\"\xc3\xa9\"}\n", "{\"y\":\"\xc3\xa9\"};", 0, false},
	{"{\"y\":\"\xe9\xc3\"}\n", "{\"y\":\"\xef\xbf\xbd\xef\xbf\xbd\"};", 0,
	 false},
	{"no json \xff\n", "", 1, false},
};

static const struct row rests[] = {
	{"{\"y\":1}", "", 0, false},
	{"{\"y\":1}", "{\"y\":1};", 0, true},
	{"{\"jsonrpc\":", "cut;", 0, true},
	{"{\"jsonrpc\":\n", "broken  unfinished;", 0, true},
	{"bye", "", 1, true},
};

static const struct row prefixed[] = {
	{"ab{ \t\r \"jsonrpc\":\"y\"}\n", "{ \t\r \"jsonrpc\":\"y\"};", 0,
	 false},
	{"\"jsonrpc\" {\"jsonrpc\":\"y\"}\n", "{\"jsonrpc\":\"y\"};", 0, false},
	{"{\"a\":\"jsonrpc\"\n", "", 1, false},
	{"\"jsonrpc\"\n", "", 1, false},
};

static const struct row broken[] = {
	{"{\"y\":1}\n{\"jsonrpc\":\"2.0\",\"id\":7,x}\n{\"y\":2}\n",
	 "{\"y\":1};broken 7;{\"y\":2};", 0, false},
	{"{\"jsonrpc\":\"2.0\",\"id\":12,x\n", "broken 12;", 0, false},
	{"{\"jsonrpc\":\"2.0\",\"id\":12\n", "broken  unfinished;", 0, false},
	{"{\"jsonrpc\":\"2.0\",\"id\" : \"a\\\"b\"\n",
	 "broken \"a\\\"b\" unfinished;", 0, false},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"a\n", "broken  unfinished;", 0, false},
	{"{\"jsonrpc\":\"2.0\",\"x\":{\"id\":7},x\n", "broken ;", 0, false},
	{"{\"jsonrpc\":\"2.0\",\"x\":\"\\\"id\\\":7\",x\n", "broken ;", 0,
	 false},
	{"{\"jsonrpc\":\"2.0\",\"id\":null,x\n", "broken ;", 0, false},
	{"{\"id\":3,\"jsonrpc\":x}\n", "broken 3;", 0, false},
	{"  {\"id\":3,\"jsonrpc\"\n", "", 1, false},
	{"{\"x\":{\"jsonrpc\":1},x\n", "broken ;", 0, false},
	{"{\"x\":[0,\"jsonrpc\":1],\n", "", 1, false},
	{"{\"level\":30\njsonrpc\n", "", 2, false},
	{"{\"y\":1}\n" X50 X50 "x\n{\"y\":2}\n", "{\"y\":1};over;{\"y\":2};", 0,
	 false},
};

static const struct row headers[] = {
	{"Content-Length: 9\n", "framing;", 0, false},
	{"content-length:12\r\n", "framing;", 0, false},
	{"{}\nContent-Length: 9\n", "{};framing;", 1, false},
	{"{\"y\":1}\nContent-Length: 9\n", "{\"y\":1};", 1, false},
	{"Content-Length: \nContent-Length:\n", "", 2, false},
	{"Content-Length: many\nContent-Type: 12\n", "", 2, false},
};

static const struct row spread[] = {
	{"no block {\n{\n\"jsonrpc\": \"2.0\",\n\"id\": [ \"}\\\"\",\n 1 "
	 "]\n}\n",
	 "", 6, false},
	{"{\n\"jsonrpc\": \"2.0\",\n\"method\": \"}\\\"\"\n}\n", "framing;", 4,
	 false},
	{"[{\n\"jsonrpc\": \"2.0\",\n\"method\": \"\"\n}]\n", "framing;", 4,
	 false},
	{"{\n\"jsonrpc\": \"2.0\",\n\"open\n\"method\": \"\"\n}\n", "", 5,
	 false},
	{"{\n}}\n\"jsonrpc\": \"2.0\",\n\"method\": \"\"\n}\n", "", 5, false},
	{"{\n\"method\": \"\"\n}\n", "", 3, false},
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		AUTO(mem_freep) char *log = NULL;
		struct inbox in;

		inbox_init(&in, 100);
		inbox_add(&in, str_of(rows[i].bytes));
		if (rows[i].eof)
			inbox_eof(&in);
		log = read_all(&in);
		if (strcmp(log, rows[i].expected) != 0 ||
		    in.skipped_lines != rows[i].skipped)
			fail_msg("%s: %s, %d lines skipped", rows[i].bytes, log,
				 (int)in.skipped_lines);
		inbox_release(&in);
	}
}

TEST(objects, of_lines_and_arrays, are_given)
{
	check(objects, ARRAY_LEN(objects));
}

TEST(rest, without_newline, is_read_at_the_end)
{
	check(rests, ARRAY_LEN(rests));
}

TEST(message, behind_other_text, is_found)
{
	check(prefixed, ARRAY_LEN(prefixed));
}

TEST(broken, between_good_lines, is_told_with_its_id)
{
	check(broken, ARRAY_LEN(broken));
}

TEST(header, before_any_message, is_wrong_framing)
{
	check(headers, ARRAY_LEN(headers));
}

TEST(message, over_several_lines, is_wrong_framing)
{
	check(spread, ARRAY_LEN(spread));
}

TEST(message, over_too_many_lines, is_not_recognized)
{
	struct inbox_item item;
	struct inbox in;

	inbox_init(&in, 0);
	inbox_add(&in, STR("{\n\"jsonrpc\": \"2.0\",\n\"method\": \"\"\n"));
	for (int i = 0; i < 100 * 1024; i++)
		inbox_add(&in, STR(",\"a\":\"b\"\n"));
	inbox_add(&in, STR("}\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_NONE);
	assert_int_equal(in.block.n, 0);
	inbox_release(&in);
}

TEST(utf8, only_bad_bytes, are_replaced)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	assert_false(inbox_repair_utf8(STR("{\"a\":\"\xc3\xa9\"}"), &out));
	assert_false(inbox_repair_utf8(STR("no json \xff"), &out));
	assert_int_equal(out.n, 0);
	assert_true(inbox_repair_utf8(STR("{\"\xc3\xa9\xe9\xc3\"}"), &out));
	assert_string_equal(buf_cstr(&out),
			    "{\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"}");
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

TEST(object, repaired_and_unread, is_given_again_also_after_adding)
{
	struct inbox_item item;
	struct inbox in;

	inbox_init(&in, 0);
	inbox_add(&in,
		  STR("{\"text\":\"bad \xff, and longer than a word\"}\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	inbox_unread(&in);
	inbox_add(&in, STR("{\"y\":1}\n"));
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_true(str_is(item.object, "{\"text\":\"bad \xef\xbf\xbd, and "
					"longer than a word\"}"));
	inbox_judge(&in, true);
	assert_int_equal(inbox_next(&in, &item), INBOX_OBJECT);
	assert_true(str_is(item.object, "{\"y\":1}"));
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
