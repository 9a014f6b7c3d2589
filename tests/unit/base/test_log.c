#include <string.h>

#include "tests/unit/test.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/log.h"

TEST(visible_json, controls, are_escaped_and_mean_the_same)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

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

TEST(levels, up_to_the_threshold, are_printed)
{
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

TEST(lines, of_one_message, are_marked)
{
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

TEST(filter, when_set, sees_every_line)
{
	log_set_level(LOG_ERROR);
	log_set_filter(star, NULL);
	assert_string_equal(spoken(speak_all), "matins: * 1\n");
	log_set_filter(NULL, NULL);
	assert_string_equal(spoken(speak_all), "matins: e 1\n");
	log_set_level(LOG_NOTE);
}
