/*
 * A step that runs another routine of the file, in a walk of its own. Its data
 * is the report of that routine (matins-report/1), as the view golden shows it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/report/render.h"
#include "core/run/approve.h"
#include "core/run/hold.h"
#include "core/run/step.h"
#include "core/run/step_words.h"
#include "core/run/walk.h"

struct nested {
	struct step_run *whole;
	struct arena arena; /* of the plan and the report */
	struct walk walk;
	struct jobs_giver giver;
	struct hold *hold; /* of its servers, in another step; NULL: none */
};

/* ---- what it came to ---- */

static void add_body(struct buf *out, const struct report_step *s)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);

	if (s->state == STATE_SKIPPED)
		return;
	report_step_output(&body, s);
	if (!body.n || out->n >= LIMIT_KEPT_OUTPUT)
		return;
	buf_addf(out, "%s%s:%s", out->n ? "\n" : "", s->name,
		 memchr(body.p, '\n', body.n) ? "\n" : " ");
	buf_add_cut(out, buf_str(&body), LIMIT_KEPT_OUTPUT);
}

static struct str data_of(const struct report *report, struct arena *arena)
{
	const struct render_options golden = {.view = VIEW_GOLDEN};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render_find("json")->print(report, &golden, &out);
	return str_trim(arena_buf(arena, &out));
}

/* "x: 2 ran, 0 skipped, 1 failed; first: STEP: its error" */
static struct str sentence(const struct report *report, struct arena *arena)
{
	const char *summary = report_summary(report, arena);

	for (size_t i = 0; i < report->n_steps; i++) {
		const struct report_step *s = &report->steps[i];

		if (!report_step_success(s))
			return str_of(arena_printf(arena, "%s; first: %s: %.*s",
						   summary, s->name,
						   STR_ARG(s->error)));
	}
	return str_of(summary);
}

static void finish(struct nested *n)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct step_run *whole = n->whole;
	struct report report = {.generation = 0};
	struct judgement j = {.reason = REASON_NONE};

	walk_report(&n->walk, &n->arena, &report);
	for (size_t i = 0; i < report.n_steps; i++) {
		step_keep_words(whole, &report.steps[i]);
		add_body(&body, &report.steps[i]);
		hold_take(n->hold, i, &n->walk.runs[i]);
		step_take_over(whole, &n->walk.runs[i]);
	}
	j.data = data_of(&report, &whole->arena);
	j.output = arena_str(&whole->arena, buf_str(&body));
	if (!report_success(&report)) {
		j.reason = REASON_ROUTINE;
		j.error = sentence(&report, &whole->arena);
	}
	step_close(whole, &j);
}

static void free_nested(struct nested *n)
{
	walk_clear(&n->walk);
	arena_release(&n->arena);
	free(n);
}

/* For struct jobs_giver. */
static bool go_on(void *arg)
{
	struct nested *n = arg;
	bool more = walk_go(&n->walk);

	if (!walk_is_over(&n->walk))
		return more;
	jobs_leave(n->whole->ctx->jobs, &n->giver);
	n->whole->work = NULL;
	finish(n);
	free_nested(n);
	return false;
}

/* ---- the step ---- */

static void begin(struct step_run *s)
{
	const struct config *config = s->ctx->config;
	const struct plan_options o = {
		.config = config,
		.routine = config_routine(config, s->plan->step->routine),
		.given = {.object = s->plan->inputs.json,
			  .is_data = s->plan->inputs.has_data},
		.confirmed = s->ctx->approvals->tools,
	};
	struct nested *n = mem_zalloc(sizeof(*n));
	struct err err = ERR_INIT;
	struct judgement j;

	s->work = n;
	n->whole = s;
	n->giver = (struct jobs_giver){go_on, n};
	if (plan_make(&o, &n->arena, &n->walk.plan, &err) < 0) {
		j = (struct judgement){
			.reason = REASON_REFERENCE,
			.error = str_of(
				arena_printf(&s->arena, "routine %s: %s",
					     s->plan->step->routine, err.msg)),
		};
		step_close(s, &j);
		return;
	}
	n->hold = hold_of(s->ctx->hold, s);
	hold_open(n->hold, &o, s->ctx->input);
	n->walk.input = s->ctx->input;
	walk_init(&n->walk, s->ctx->world, &n->arena);
	/* the whole shows it, once */
	n->walk.ctx.shows_advice = true;
	n->walk.ctx.hold = n->hold;
	n->walk.ctx.path = arena_printf(&n->arena, "%s%s/", s->ctx->path,
					s->plan->step->name);
	jobs_join(s->ctx->jobs, &n->giver);
}

static void stop(struct step_run *s, const char *why)
{
	struct nested *n = s->work;

	walk_cancel(&n->walk, why);
}

static void release(struct step_run *s)
{
	struct nested *n = s->work;

	if (!n)
		return;
	if (!s->ctx)
		walk_leave_loop(&n->walk);
	free_nested(n);
}

const struct step_doer nested_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
};
