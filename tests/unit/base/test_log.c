#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/log.h"

static void check_visible(struct str s, bool keep_newlines,
			  const char *expected)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&out, s, keep_newlines);
	assert_string_equal(buf_cstr(&out), expected);
	buf_release(&out);
}

static void visible__controls__are_shown_not_obeyed(void **state)
{
	(void)state;
	check_visible(STR("a\tb"), false, "a\tb");
	check_visible(STR("a\nb"), true, "a\nb");
	check_visible(STR("a\nb"), false, "a\\x0ab");
	check_visible(STR("\033[2J\r\a\b\0\x7f"), true,
		      "\\x1b[2J\\x0d\\x07\\x08\\x00\\x7f");
	check_visible(STR("\xc2\x9b"
			  "31m"),
		      false, "\\x9b31m");
	check_visible(STR("\xff\xc3"), false, "\\xff\\xc3");
	check_visible(STR("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), false,
		      "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void visible__bidirectional_controls__are_named(void **state)
{
	(void)state;
	check_visible(STR("a\xe2\x80\xae"
			  "b"),
		      false, "a\\u{202E}b");
	check_visible(STR("\xe2\x81\xa6\xe2\x81\xa9"), false,
		      "\\u{2066}\\u{2069}");
	check_visible(STR("\xd8\x9c"), false, "\\u{061C}");
}

static void visible__separators_of_lines__are_named(void **state)
{
	(void)state;
	check_visible(STR("a\xe2\x80\xa8"
			  "b\xe2\x80\xa9"),
		      true, "a\\u{2028}b\\u{2029}");
}

static void visible_json__controls__are_escaped_and_mean_the_same(void **state)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	log_visible_json(&out, STR("{\n\t\"a\\n\xc2\x9b\x7f\":\r"
				   "\"\xe2\x80\xae\xc3\xa9\xd8\x9c\"}"));
	assert_string_equal(buf_cstr(&out), "{\n\t\"a\\n\\u009b\\u007f\":\r"
					    "\"\\u202e\xc3\xa9\\u061c\"}");
	buf_release(&out);
}

/* What stderr gets while `speak` runs. */
static char *spoken(void (*speak)(void))
{
	static char text[4096];
	int ends[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	dup2(ends[1], STDERR_FILENO);
	speak();
	dup2(saved, STDERR_FILENO);
	n = read(ends[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(saved);
	close(ends[0]);
	close(ends[1]);
	return text;
}

static void speak_all(void)
{
	log_error("e %d", 1);
	log_warning("w");
	log_note("n\033");
	log_debug("d");
}

static void levels__up_to_the_threshold__are_printed(void **state)
{
	(void)state;
	log_set_level(LOG_ERROR);
	assert_string_equal(spoken(speak_all), "matins: e 1\n");
	log_set_level(LOG_DEBUG);
	assert_string_equal(spoken(speak_all),
			    "matins: e 1\nmatins: warning: w\n"
			    "matins: n\\x1b\nmatins: debug: d\n");
	log_set_level(LOG_NOTE);
	assert_int_equal(log_level(), LOG_NOTE);
	assert_string_equal(spoken(speak_all),
			    "matins: e 1\nmatins: warning: w\n"
			    "matins: n\\x1b\n");
}

static void speak_lines(void)
{
	log_error("said: a\nmatins: b\n\nc");
}

static void lines__of_one_message__are_marked(void **state)
{
	(void)state;
	assert_string_equal(spoken(speak_lines),
			    "matins: said: a\nmatins: | matins: b\n"
			    "matins: | \nmatins: | c\n");
}

static void star(struct buf *line, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < line->n; i++)
		if (line->p[i] == 'e')
			line->p[i] = '*';
}

static void filter__sees_every_line(void **state)
{
	(void)state;
	log_set_level(LOG_ERROR);
	log_set_filter(star, NULL);
	assert_string_equal(spoken(speak_all), "matins: * 1\n");
	log_set_filter(NULL, NULL);
	assert_string_equal(spoken(speak_all), "matins: e 1\n");
	log_set_level(LOG_NOTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(visible__controls__are_shown_not_obeyed),
		cmocka_unit_test(visible__bidirectional_controls__are_named),
		cmocka_unit_test(visible__separators_of_lines__are_named),
		cmocka_unit_test(
			visible_json__controls__are_escaped_and_mean_the_same),
		cmocka_unit_test(lines__of_one_message__are_marked),
		cmocka_unit_test(levels__up_to_the_threshold__are_printed),
		cmocka_unit_test(filter__sees_every_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
