/*
 * One report with every kind of step, for the tests of the renderers.
 */
#ifndef TESTS_UNIT_RENDER_SAMPLE_H
#define TESTS_UNIT_RENDER_SAMPLE_H

#include "core/report/render.h"

static struct report_step sample_steps[] = {
	{.name = "briefing",
	 .type = "mcp-client",
	 .output = STR("3 meetings\n"),
	 .data = STR("{\"schema\":\"mcp-client/1\",\"content\":[ 1.0 ],"
		     "\"isError\":false}"),
	 .run = STR("{\"pid\":1}")},
	{.name = "issues",
	 .type = "mcp-client",
	 .state = STATE_FAILED,
	 .reason = REASON_EXIT_STATUS,
	 .error = STR("exited with status 3"),
	 .output = STR("kept")},
	{.name = "mail",
	 .type = "script",
	 .state = STATE_SKIPPED,
	 .reason = REASON_NO_CREDENTIAL,
	 .error = STR("$TOKEN is not set")},
	{.name = "quiet", .type = "script"},
};

static const struct report sample = {
	.generation = 7,
	.routine = "morning",
	.steps = sample_steps,
	.n_steps = ARRAY_LEN(sample_steps),
	.run = STR("{\"matins\":\"0\",\"started\":\"2026-11-22T07:00:00Z\","
		   "\"duration_us\":6012345}"),
};

/* One step that said `output`. */
static inline void sample_says(const char *form, struct str output,
			       struct buf *out)
{
	struct report_step step = {
		.name = "s", .type = "script", .output = output};
	const struct report r = {.routine = "r", .steps = &step, .n_steps = 1};
	const struct render_options o = {.view = VIEW_FULL};

	buf_clear(out);
	render_find(form)->print(&r, &o, out);
}

/* What a server might say to take over a terminal or a page. */
#define HOSTILE                                          \
	STR("\x1b[2J\x1b]0;owned\x07\r\xc2\x9b"          \
	    "1m\xff\xe2\x80\xae\n# not a heading\n```\n" \
	    "<script>alert(1)</script>\n---\n````\n")

#endif
