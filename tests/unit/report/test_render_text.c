#include "tests/unit/test.h"

#include "tests/unit/report/render_sample.h"

static void check(const struct report *r, enum report_view view,
		  const char *wanted)
{
	struct render_options o = {.view = view};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render_find("text")->print(r, &o, &out);
	assert_string_equal(buf_cstr(&out), wanted);
	buf_release(&out);
}

#define BODY                                                 \
	"## briefing\n  3 meetings\n\n"                      \
	"## issues\nERROR: exited with status 3\n  kept\n\n" \
	"## mail\n(skipped: $TOKEN is not set)\n\n"          \
	"## quiet\n(no output)\n\n"                          \
	"---\nmorning: 3 ran, 1 skipped, 1 failed\n"

TEST(text, every_kind_of_step, as_in_the_manual)
{
	check(&sample, VIEW_FULL, "# morning — gen 7\n\n" BODY);
}

TEST(text, golden_view, has_no_generation)
{
	check(&sample, VIEW_GOLDEN, "# morning\n\n" BODY);
}

TEST(text, dry_run, says_so)
{
	struct report_step step = {.name = "a",
				   .type = "script",
				   .state = STATE_SKIPPED,
				   .reason = REASON_DRY_RUN};
	struct report r = {.routine = "morning",
			   .dry_run = true,
			   .steps = &step,
			   .n_steps = 1};

	check(&r, VIEW_FULL,
	      "# morning — dry run\n\n## a\n(skipped: dry run)\n\n---\n"
	      "morning: 0 ran, 1 skipped, 0 failed\n");
}

TEST(text, nothing_in_it, has_a_summary_that_says_it)
{
	struct report r = {.routine = "morning", .generation = 1};

	check(&r, VIEW_FULL,
	      "# morning — gen 1\n\n---\n"
	      "morning: 0 ran, 0 skipped, 0 failed — nothing ran\n");
}

TEST(text, hostile_output, has_nothing_raw)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	sample_says("text", HOSTILE, &out);
	for (size_t i = 0; i < out.n; i++)
		assert_true(out.p[i] == '\n' || (unsigned char)out.p[i] >= ' ');
	assert_non_null(strstr(buf_cstr(&out), "\\x1b[2J\\x1b]0;owned\\x07"));
	assert_non_null(strstr(buf_cstr(&out), "\\x9b1m\\xff\\u{202E}"));
	buf_release(&out);
}

TEST(text, crlf, lines)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	sample_says("text", STR("a\r\nb\rc\r\n"), &out);
	assert_non_null(
		strstr(buf_cstr(&out), "## s\n  a\n  b\\x0dc\n\n---\n"));
	buf_release(&out);
}

#define FORGED "all well\n\n---\nr: 9 ran, 0 skipped, 0 failed\n# r\r## x"

/* Lines of the report itself begin in the first column, no others do. */
TEST(text, forged_lines, are_set_in)
{
	struct report_step step = {.name = "a",
				   .type = "script",
				   .state = STATE_FAILED,
				   .reason = REASON_EXIT_STATUS,
				   .error = STR(FORGED),
				   .output = STR(FORGED)};
	struct report r = {.routine = "r", .steps = &step, .n_steps = 1};

	check(&r, VIEW_FULL,
	      "# r\n\n## a\n"
	      "ERROR: all well\n\n  ---\n  r: 9 ran, 0 skipped, 0 failed\n"
	      "  # r\\x0d## x\n"
	      "  all well\n\n  ---\n  r: 9 ran, 0 skipped, 0 failed\n"
	      "  # r\\x0d## x\n\n"
	      "---\nr: 1 ran, 0 skipped, 1 failed\n");
}

TEST(renderer, unknown_name, is_null)
{
	assert_null(render_find("yaml"));
	assert_non_null(render_find("text"));
}
