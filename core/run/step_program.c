/*
 * A step whose program is run to its end, and whose whole stdout is judged:
 * `script`, `harness`, and `mcp-client` without a tool (subprocess-JSON).
 */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/client/failure.h"
#include "core/client/program.h"
#include "core/run/step.h"
#include "core/run/step_result.h"
#include "core/run/step_words.h"

static void on_over(void *arg)
{
	struct step_run *s = arg;

	step_fail(s, REASON_OUTPUT_LIMIT,
		  "stdout is over its ceiling of %llu bytes; raise stdout_max "
		  "of the step when that much is expected",
		  (unsigned long long)s->plan->step->stdout_max);
}

static void on_ended(void *arg)
{
	struct step_run *s = arg;
	struct program *p = s->work;
	const struct gate_verdict *v = &p->child.verdict;
	struct judgement j;

	/* the result points into it */
	s->out = p->out;
	p->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	if (s->mode == JUDGE_script)
		s->printed = buf_str(&s->out);
	j = judge_program(s->mode, buf_str(&s->out), v, &s->arena);
	s->cause.has_exit = v->exited;
	s->cause.exit_status = v->exit_status;
	/* the end keeps a part of an output that was cut off */
	if (s->has_result && s->mode == JUDGE_script)
		j.output = (struct str){NULL, 0};
	step_finish(s, &j);
	s->scrubbed += p->child.scrubbed;
	step_keep_said(s, child_stderr(&p->child), "");
	step_advise(s, child_stderr(&p->child), v, p->taped);
	if (s->ctx->verdict)
		s->ctx->verdict(s->ctx->arg, s, v);
	step_close(s, NULL);
	/* other steps need its descriptors */
	child_release(&p->child);
}

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
		.input = s->plan->input,
		.tape = s->ctx->tape,
		.over = on_over,
		.ended = on_ended,
		.arg = s,
	};
	struct program *p = mem_zalloc(sizeof(*p));
	struct err err = ERR_INIT;

	s->work = p;
	program_init(p, &options);
	request.env = env_lines(&s->env);
	if (program_start(p, s->ctx->gate, &request, &err) == 0)
		return;
	step_fail(s, failure_of_spawn(&err), "%s", err.msg);
	step_close(s, NULL);
}

static void stop(struct step_run *s, const char *why UNUSED)
{
	struct program *p = s->work;

	p->child.o.grace_ms = s->ctx->grace_ms;
	program_end(p,
		    s->hurry == POOL_KILL ? CHILD_KILLING : CHILD_TERMINATING);
}

static void release(struct step_run *s)
{
	struct program *p = s->work;

	if (!p)
		return;
	/* the loop may have ended before its steps are freed */
	if (!s->ctx)
		p->o.loop = NULL;
	program_release(p);
	free(p);
}

static void add_facts(const struct step_run *s, struct cleaner *c, struct jw *w)
{
	const struct program *p = s->work;

	if (p && p->child.phase == CHILD_ENDED)
		facts_child(c, w, &p->child, p->out_bytes);
}

static enum step_reason late(struct step_run *s, const char **remark)
{
	const struct program *p = s->work;

	if (!p->out_bytes)
		*remark = "; no output yet";
	/* a program that ended its output and lives on is not silent */
	return p->out_ended ? REASON_DEADLINE_CLOSE : REASON_DEADLINE_CALL;
}

const struct step_doer program_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
	.is_job = true,
	.add_facts = add_facts,
	.late = late,
};
