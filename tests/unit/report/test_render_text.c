#include "tests/unit/test.h"

#include "core/base/text.h"
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

#define BODY                                        \
	"ERROR: issues: exited with status 3\n\n"   \
	"## briefing\n  3 meetings\n\n"             \
	"## issues — failed\n  kept\n\n"          \
	"## mail\n(skipped: $TOKEN is not set)\n\n" \
	"## quiet\n(no output)\n\n"                 \
	"---\nmorning: 3 ran, 1 skipped, 1 failed\n"

TEST(text, every_kind_of_step, as_in_the_manual)
{
	check(&sample, VIEW_FULL,
	      "# morning — Sun 22 Nov 2026, 07:00 — 2 ok, 1 failed, 1 skipped "
	      "(6.0 s, run 7)\n\n" BODY);
}

TEST(text, golden_view, has_no_date_duration_or_run)
{
	check(&sample, VIEW_GOLDEN,
	      "# morning — 2 ok, 1 failed, 1 skipped\n\n" BODY);
}

TEST(text, duration, in_units_that_fit)
{
	static const struct {
		const char *run, *wanted;
	} rows[] = {
		{"{\"duration_us\":0}", "# r — nothing ran (0 ms)\n"},
		{"{\"duration_us\":99999}", "# r — nothing ran (99 ms)\n"},
		{"{\"duration_us\":340000}", "# r — nothing ran (0.3 s)\n"},
		{"{\"duration_us\":125000000}",
		 "# r — nothing ran (2 min 5 s)\n"},
		{"{\"duration_us\":4320000000}",
		 "# r — nothing ran (1 h 12 min)\n"},
		{"{\"duration_us\":-1}", "# r — nothing ran\n"},
		{"{\"duration_us\":\"x\",\"started\":7}",
		 "# r — nothing ran\n"},
		{"{\"started\":\"yesterday\"}", "# r — nothing ran\n"},
		{"{\"started\":\"2026-11-22T07\"}", "# r — nothing ran\n"},
	};
	const struct render_options o = {.view = VIEW_FULL};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct report r = {.routine = "r", .run = str_of(rows[i].run)};

		buf_clear(&out);
		render_find("text")->print(&r, &o, &out);
		if (!str_starts(buf_str(&out), rows[i].wanted))
			fail_msg("%s: %s", rows[i].run, buf_cstr(&out));
	}
	buf_release(&out);
}

TEST(text, steps_left_out, are_one_line)
{
	struct report_step steps[] = {{.name = "a",
				       .state = STATE_SKIPPED,
				       .reason = REASON_ONLY_FILTER},
				      {.name = "b", .output = STR("x")},
				      {.name = "c",
				       .state = STATE_SKIPPED,
				       .reason = REASON_ONLY_FILTER}};
	struct report r = {.routine = "r", .steps = steps, .n_steps = 3};

	check(&r, VIEW_FULL,
	      "# r — 1 ok, 2 left out\n\n## b\n  x\n\nleft out: a, c\n\n"
	      "---\nr: 1 ran, 2 skipped, 0 failed\n");
}

TEST(text, required_step_skipped, is_a_failure)
{
	struct report_step step = {.name = "a",
				   .state = STATE_SKIPPED,
				   .reason = REASON_NO_COMMAND,
				   .error = STR("x is not installed"),
				   .required = true};
	struct report r = {.routine = "r", .steps = &step, .n_steps = 1};

	check(&r, VIEW_FULL,
	      "# r — 1 failed, 1 skipped\n\nERROR: a: x is not installed\n\n"
	      "## a\n(skipped: x is not installed)\n\n---\n"
	      "r: 0 ran, 1 skipped, 1 failed — nothing ran\n");
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
	      "# morning — nothing ran (run 1)\n\n---\n"
	      "morning: 0 ran, 0 skipped, 0 failed — nothing ran\n");
}

TEST(text, hostile_output, has_nothing_raw)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	sample_says("text", HOSTILE, &out);
	for (size_t i = 0; i < out.n; i++)
		assert_true(out.p[i] == '\n' || (unsigned char)out.p[i] >= ' ');
	assert_non_null(strstr(buf_cstr(&out), "\\x1b[2J\\x1b]0;owned\\x07"));
	assert_non_null(strstr(buf_cstr(&out), "\\x9b1m\xef\xbf\xbd\\u{202E}"));
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

static const struct report_advice advice[] = {
	{.text = STR("the host api.example.com was refused"),
	 .toml = STR("sandbox.net = [\"api.example.com\"]")},
	{.text = STR("find more: matins trace r a")},
};

TEST(text, advice, follows_the_error)
{
	struct report_step steps[] = {
		{.name = "fine",
		 .advice = advice,
		 .n_advice = 1,
		 .refused = true},
		{.name = "noted", .advice = advice + 1, .n_advice = 1},
		{.name = "a",
		 .state = STATE_FAILED,
		 .reason = REASON_EXIT_STATUS,
		 .said = STR("one\n# two"),
		 .advice = advice,
		 .n_advice = 2}};
	struct report r = {.routine = "r", .steps = steps, .n_steps = 3};

	check(&r, VIEW_FULL,
	      "# r — 2 ok, 1 failed\n\n"
	      "ERROR: a: exit_status\n"
	      "  stderr: one\n  # two\n"
	      "  the host api.example.com was refused\n"
	      "      sandbox.net = [\"api.example.com\"]\n"
	      "  find more: matins trace r a\n"
	      "refused: fine\n"
	      "  the host api.example.com was refused\n"
	      "      sandbox.net = [\"api.example.com\"]\n"
	      "note: noted\n  find more: matins trace r a\n\n"
	      "## fine\n(no output)\n\n## noted\n(no output)\n\n"
	      "## a — failed\n\n"
	      "---\nr: 3 ran, 0 skipped, 1 failed, 1 with refusals\n");
	check(&r, VIEW_GOLDEN,
	      "# r — 2 ok, 1 failed\n\n"
	      "ERROR: a: exit_status\n\n"
	      "## fine\n(no output)\n\n## noted\n(no output)\n\n"
	      "## a — failed\n\n"
	      "---\nr: 3 ran, 0 skipped, 1 failed, 1 with refusals\n");
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
	      "# r — 1 failed\n\n"
	      "ERROR: a: all well\n\n  ---\n"
	      "  r: 9 ran, 0 skipped, 0 failed\n"
	      "  # r\\x0d## x\n\n"
	      "## a — failed\n"
	      "  all well\n\n  ---\n  r: 9 ran, 0 skipped, 0 failed\n"
	      "  # r\\x0d## x\n\n"
	      "---\nr: 1 ran, 0 skipped, 1 failed\n");
}

/* Colours stand around parts of the report, never around those of others. */
TEST(text, colour, changes_nothing_else)
{
	const struct render_options o = {.view = VIEW_FULL, .colour = true};
	struct buf out = BUF_INIT(BUF_UNBOUNDED), plain = BUF_INIT(SIZE_MAX);
	struct str rest;

	render_find("text")->print(&sample, &o, &out);
	assert_non_null(strstr(buf_cstr(&out),
			       "\033[1;31mERROR:\033[0m issues: exited"));
	assert_non_null(strstr(buf_cstr(&out), "\033[1m## briefing\033[0m\n"));
	rest = buf_str(&out);
	while (rest.p) {
		buf_add_str(&plain, str_cut(&rest, '\033'));
		if (rest.p)
			(void)!str_cut(&rest, 'm').n;
	}
	check(&sample, VIEW_FULL, buf_cstr(&plain));
	buf_release(&out);
	buf_release(&plain);
}

TEST(text, narrow_terminal, has_narrow_tables)
{
	struct report_step step = {
		.name = "s",
		.output =
			STR("[{\"a\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			    "xxxx\",\"b\":1}]")};
	const struct report r = {.routine = "r", .steps = &step, .n_steps = 1};
	const struct render_options o = {.view = VIEW_FULL, .columns = 40};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;

	render_find("text")->print(&r, &o, &out);
	assert_non_null(strstr(buf_cstr(&out), "x…  1\n"));
	rest = buf_str(&out);
	while (rest.p)
		assert_true(text_columns(str_cut(&rest, '\n')) <= 40);
	buf_release(&out);
}

TEST(renderer, unknown_name, is_null)
{
	assert_null(render_find("yaml"));
	assert_non_null(render_find("text"));
}
