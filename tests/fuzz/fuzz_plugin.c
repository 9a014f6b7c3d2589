/*
 * Answers of plugins (modulex-plugin/1), whose bytes are anything: what is
 * taken of one is JSON that a report prints and reads back.
 */
#include <stdlib.h>

#include "core/base/scan.h"
#include "core/report/render.h"
#include "core/run/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

/* A report of a step with that result. */
static void print(const struct judgement *j, struct buf *out)
{
	const struct render_options o = {.view = VIEW_FULL};
	struct report_step step = {
		.name = "s",
		.type = "python",
		.state = report_reason_state(j->reason),
		.reason = j->reason,
		.error = j->error,
		.output = j->output,
		.data = j->data,
	};
	const struct report report = {
		.routine = "r", .steps = &step, .n_steps = 1};

	render_find("json")->print(&report, &o, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct gate_verdict ends[] = {
		{.exited = true}, {.exited = true, .exit_status = 3}, {0}};
	struct str bytes = {(const char *)data, size}, value;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct judgement j =
			judge_program(JUDGE_python, bytes, &ends[i], &arena);
		struct report again;

		expect(!j.answer.content.n);
		expect((j.reason == REASON_NONE) == !j.error.n);
		expect(j.reason != REASON_NONE || ends[i].exited);
		expect(!j.data.n ||
		       scan_document(j.data, NULL, &value, ERR_IGNORED) == 0);
		print(&j, &text);
		expect(report_load(buf_str(&text), &arena, &again,
				   ERR_IGNORED) == 0);
		expect(again.n_steps == 1 && again.steps[0].reason == j.reason);
	}
	return 0;
}
