#include "tests/unit/test.h"

#include <string.h>

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

TEST(question, long_message, leaves_it_on_the_screen)
{
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 100000; i++)
		buf_adds(&lines, i < 500 ? "x" : "y\n");
	approve_ask(buf_str(&lines), "r", "go", &out);
	assert_true(out.n < 2000);
	assert_int_equal(count(buf_cstr(&out), "\n"), 41);
	assert_int_equal(count(buf_cstr(&out), " …\n"), 2);
}
