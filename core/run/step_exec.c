/*
 * Steps whose program is run to its end and whose whole stdout is judged:
 * `script`, `harness`, and `mcp-client` without a tool (subprocess-JSON).
 */
#include "core/run/judge.h"
#include "core/run/step.h"

static void start(UNUSED struct step_run *s)
{
}

/* Its output is over but it lives on: that is another thing than silence. */
static enum step_reason timeout_reason(struct step_run *s)
{
	return s->out_ended ? REASON_DEADLINE_CLOSE : REASON_DEADLINE_CALL;
}

static void finish_script(struct step_run *s, const struct gate_verdict *v)
{
	struct judgement j = judge_script(buf_str(&s->out), v, &s->arena);

	step_finish(s, &j);
}

static void finish_harness(struct step_run *s, const struct gate_verdict *v)
{
	struct judgement j = judge_harness(buf_str(&s->out), v, &s->arena);

	step_finish(s, &j);
}

static void finish_subprocess(struct step_run *s, const struct gate_verdict *v)
{
	struct judgement j = judge_subprocess(buf_str(&s->out), v, &s->arena);

	step_finish(s, &j);
	/* the data has its own copy */
	if (s->result.data.n)
		buf_release(&s->out);
}

const struct step_type step_type_script = {
	.name = "script",
	.start = start,
	.timeout_reason = timeout_reason,
	.finish = finish_script,
};

const struct step_type step_type_harness = {
	.name = "harness",
	.start = start,
	.timeout_reason = timeout_reason,
	.finish = finish_harness,
};

const struct step_type step_type_subprocess = {
	.name = "mcp-client",
	.start = start,
	.timeout_reason = timeout_reason,
	.finish = finish_subprocess,
};
