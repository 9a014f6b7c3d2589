/*
 * Steps whose program is run to its end and whose whole stdout is judged:
 * `script`, `harness`, and `mcp-client` without a tool (subprocess-JSON).
 */
#include "core/base/mem.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/client/program.h"
#include "core/run/judge.h"
#include "core/run/step_types.h"

static struct program *state_of(const struct step_run *s)
{
	return s->state;
}

/* ---- the end ---- */

static void on_over(void *arg)
{
	struct step_run *s = arg;

	step_fail(s, REASON_OUTPUT_LIMIT,
		  "stdout is over its ceiling of %llu bytes; raise stdout_max "
		  "of the step when that much is expected",
		  (unsigned long long)s->plan->step->stdout_max);
}

static void judge(struct step_run *s)
{
	const struct gate_verdict *v = &state_of(s)->child.verdict;
	struct str out = buf_str(&s->out);
	struct judgement j;

	if (s->type == &step_type_script)
		j = judge_script(out, v, &s->arena);
	else if (s->type == &step_type_harness)
		j = judge_harness(out, v, &s->arena);
	else
		j = judge_subprocess(out, v, &s->arena);
	/* step_end() keeps a part of an output that was cut off */
	if (s->has_result && s->type == &step_type_script)
		j.output = (struct str){NULL, 0};
	step_finish(s, &j);
}

static void on_ended(void *arg)
{
	struct step_run *s = arg;
	struct program *p = state_of(s);

	/* the result points into it */
	s->out = p->out;
	p->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	judge(s);
	s->scrubbed += p->child.scrubbed;
	step_log_words(s, child_stderr(&p->child));
	step_log_denials(s, &p->child.verdict);
	if (s->ctx->verdict)
		s->ctx->verdict(s->ctx->arg, s, &p->child.verdict);
	step_end(s);
	/* other steps need its descriptors */
	child_release(&p->child);
}

static void stop(struct step_run *s, enum step_haste haste)
{
	struct program *p = state_of(s);

	p->child.o.grace_ms = s->ctx->grace_ms;
	if (haste == HASTE_KILL)
		child_kill(&p->child);
	else
		child_terminate(&p->child);
}

/* ---- the begin ---- */

static void begin(struct step_run *s)
{
	struct gate_request request = s->plan->request;
	const struct program_options options = {
		.loop = s->ctx->loop,
		.scrub = s->scrub,
		.name = s->plan->step->name,
		.grace_ms = s->ctx->grace_ms,
		.stderr_max = s->plan->step->stderr_max,
		.stdout_max = s->plan->step->stdout_max,
		.over = on_over,
		.ended = on_ended,
		.arg = s,
	};
	struct err err = ERR_INIT;

	s->state = mem_zalloc(sizeof(struct program));
	program_init(state_of(s), &options);
	request.env = env_lines(&s->env);
	if (program_start(state_of(s), s->ctx->gate, &request, &err) < 0)
		step_skip(s, failure_of_spawn(&err), err.msg);
}

/* A program that ended its output and lives on is not silent. */
static enum step_reason timeout_reason(struct step_run *s)
{
	return state_of(s)->out_ended ? REASON_DEADLINE_CLOSE
				      : REASON_DEADLINE_CALL;
}

static const char *remark(const struct step_run *s)
{
	return state_of(s)->out_bytes ? "" : "; no output yet";
}

static void facts(struct step_run *s, struct jw *w)
{
	struct cleaner clean = {s->scrub, 0};
	struct program *p = state_of(s);

	if (!p || p->child.phase != CHILD_ENDED)
		return;
	facts_child(&clean, w, &p->child, p->out_bytes);
	s->facts_scrubbed = clean.hits;
}

static void release(struct step_run *s)
{
	if (!s->state)
		return;
	/* the loop may have ended before its steps are freed */
	if (!s->ctx)
		state_of(s)->o.loop = NULL;
	program_release(state_of(s));
	free(s->state);
	s->state = NULL;
}

#define EXEC_TYPE(ident, type_name, is_status)       \
	const struct step_type step_type_##ident = { \
		.name = (type_name),                 \
		.data_is_status = (is_status),       \
		.begin = begin,                      \
		.stop = stop,                        \
		.remark = remark,                    \
		.timeout_reason = timeout_reason,    \
		.facts = facts,                      \
		.release = release,                  \
	}

EXEC_TYPE(script, "script", true);
EXEC_TYPE(harness, "harness", false);
EXEC_TYPE(subprocess, "mcp-client", false);
