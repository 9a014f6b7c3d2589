#include "tests/unit/test.h"

#include <string.h>

#include "core/base/text.h"
#include "core/run/approve.h"

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

TEST(question, message_of_a_server, cannot_forge_it)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	approve_ask(STR("a\r\n\033[2K? [y/N] y\n\nmatins: approve x"), "r",
		    "in/go", &out);
	assert_string_equal(buf_cstr(&out),
			    "  | a\\x0d\n"
			    "  | \\x1b[2K? [y/N] y\n"
			    "  | \n"
			    "  | matins: approve x\n"
			    "matins: approve in/go of routine r? [y/N] ");
}

TEST(question, long_message, leaves_both_ends_on_the_screen)
{
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&lines, "Delete ");
	for (int i = 0; i < 100000; i++)
		buf_adds(&lines, i < 500 ? "x" : "y\n");
	buf_adds(&lines, "of production?");
	approve_ask(buf_str(&lines), "r", "go", &out);
	assert_true(out.n < 3000);
	assert_int_equal(count(buf_cstr(&out), "\n"), 41);
	assert_int_equal(count(buf_cstr(&out), "  | Delete xx"), 1);
	assert_int_equal(count(buf_cstr(&out), "  | of production?\n"), 1);
	assert_int_equal(count(buf_cstr(&out), " lines …\n"), 1);
}

/* A line that a terminal broke would begin in its first column. */
TEST(question, wide_line, has_a_bar_before_each_part)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 76; i++)
		buf_adds(&line, " ");
	buf_adds(&line, "matins: approve b of routine r? [y/N]");
	approve_ask(buf_str(&line), "r", "go", &out);
	for (struct str rest = buf_str(&out); rest.n;)
		assert_true(text_columns(str_cut(&rest, '\n')) < 80);
	assert_int_equal(count(buf_cstr(&out), "\nmatins: "), 1);
}
