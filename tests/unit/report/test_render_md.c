#include "tests/unit/test.h"

#include "tests/unit/report/render_sample.h"

TEST(md, every_kind_of_step, has_the_same_tree)
{
	struct render_options o = {.view = VIEW_FULL};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render_find("md")->print(&sample, &o, &out);
	assert_string_equal(buf_cstr(&out),
			    "# morning — Sun 22 Nov 2026, 07:00 — 2 ok, 1 "
			    "failed, 1 skipped (6.0 s, run 7)\n\n"
			    "**ERROR:** issues: exited with status 3\n\n"
			    "## briefing\n\n  ```text\n  3 meetings\n  ```\n\n"
			    "## issues — failed\n\n  ```text\n  kept\n"
			    "  ```\n\n"
			    "## mail\n\n*(skipped: $TOKEN is not set)*\n\n"
			    "## quiet\n\n*(no output)*\n\n"
			    "---\n\nmorning: 3 ran, 1 skipped, 1 failed\n");
	buf_release(&out);
}

/* Every line of what a server said lies inside of one fence. */
TEST(md, hostile_output, cannot_leave_its_block)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;
	bool inside = false;
	int fences = 0;

	sample_says("md", HOSTILE, &out);
	rest = buf_str(&out);
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');

		/* a line in the first column is one of the report */
		assert_true(!inside || !line.n || str_starts(line, "  "));
		if (str_starts(line, "  `````")) {
			fences++;
			inside = !inside;
		} else if (!inside) {
			assert_false(str_starts(line, "# not"));
			assert_false(str_starts(line, "<"));
		}
	}
	assert_int_equal(fences, 2);
	for (size_t i = 0; i < out.n; i++)
		assert_true(out.p[i] == '\n' || (unsigned char)out.p[i] >= ' ');
	buf_release(&out);
}

static void error_of(const char *error, const char *name, struct buf *out)
{
	struct report_step step = {.name = name,
				   .type = "script",
				   .state = STATE_FAILED,
				   .reason = REASON_RPC_ERROR,
				   .error = str_of(error)};
	const struct report r = {.routine = "r", .steps = &step, .n_steps = 1};
	const struct render_options o = {.view = VIEW_FULL};

	buf_clear(out);
	render_find("md")->print(&r, &o, out);
}

TEST(md, markup_in_sentences, is_escaped)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	error_of("a\n# b <img src=x> *c* [d](e) `f` &amp; _g_ h_i", "s_t",
		 &out);
	assert_non_null(strstr(buf_cstr(&out), "## s_t — failed\n"));
	assert_non_null(strstr(
		buf_cstr(&out),
		"**ERROR:** s_t: a \\# b \\<img src=x\\> \\*c\\* \\[d\\](e) "
		"\\`f\\` \\&amp; \\_g\\_ h_i\n"));
	error_of("x", "1. list", &out);
	assert_non_null(strstr(buf_cstr(&out), "## 1\\. list — failed\n"));
	error_of("x", "- a", &out);
	assert_non_null(strstr(buf_cstr(&out), "## \\- a — failed\n"));
	buf_release(&out);
}

TEST(md, advice, is_a_list_with_fenced_lines)
{
	const struct report_advice advice = {.text = STR("a *b*"),
					     .toml = STR("x = \"```\"")};
	struct report_step step = {.name = "s",
				   .state = STATE_FAILED,
				   .error = STR("e"),
				   .advice = &advice,
				   .n_advice = 1};
	const struct report r = {.routine = "r", .steps = &step, .n_steps = 1};
	const struct render_options o = {.view = VIEW_FULL};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render_find("md")->print(&r, &o, &out);
	assert_non_null(strstr(buf_cstr(&out),
			       "**ERROR:** s: e\n\n- a \\*b\\*\n\n"
			       "  ````toml\n  x = \"```\"\n  ````\n\n## s"));
	buf_release(&out);
}
