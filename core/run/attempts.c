/*
 * A step with `retry`: attempts one after the other, until one is ok or no
 * other is due. Each is an execution of the step with its own time, in the
 * session of the server that the whole step holds; the last one's result is
 * that of the step, and `attempts` of its facts tells of all.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/run/events.h"
#include "core/run/jobs.h"
#include "core/run/step.h"
#include "core/run/walk.h"

struct attempts {
	struct step_run *whole;
	struct step_context ctx; /* of an attempt */
	struct jobs_giver giver;
	struct step_run run; /* the attempt that runs, or was the last */
	bool is_used;	     /* `run` is one, and to be released */
	bool is_due;	     /* another has to begin */
	uint64_t n;	     /* attempts that have begun */
	struct loop_timer pause;
	struct buf told; /* objects of `attempts`, with commas between */
	bool is_stopped;
};

static void on_ended(void *arg, struct step_run *s)
{
	struct attempts *a = arg;

	a->ctx.jobs->running -= s->doer->is_job;
	a->ctx.jobs->has_news = true;
}

/* ---- what an attempt gave ---- */

static void tell(struct attempts *a)
{
	const struct report_step *s = &a->run.result;
	uint64_t ns = a->run.end_ns - a->run.begin_ns;
	struct jw w;

	if (a->told.n)
		buf_addc(&a->told, ',');
	w = jw_begin(&a->told);
	jw_kv_cstr(&w, "state", REPORT_STATES[s->state].word);
	if (s->reason != REASON_NONE) {
		jw_kv_cstr(&w, "reason", report_reason_name(s->reason));
		jw_kv_str(&w, "error", s->error);
	}
	jw_kv_int(&w, "duration_us", (int64_t)(ns / 1000));
	jw_end(&w);
}

/* Can the tool not have been called? */
static bool is_before(const struct step_run *s)
{
	switch (s->result.reason) {
	case REASON_DEADLINE_SPAWN:
	case REASON_DEADLINE_INITIALIZE:
	case REASON_HANDSHAKE:
		return true;
	case REASON_DEADLINE_LIST: /* tools are also listed after a call */
	case REASON_TRANSPORT:
	case REASON_SERVER_EXIT:
		return s->cause.is_before;
	default:
		return false;
	}
}

/* Milliseconds until another; -1: this was the last. */
static int64_t wait_of(const struct attempts *a)
{
	const struct report_step *s = &a->run.result;
	struct retry_case c = a->run.cause;

	if (a->is_stopped || s->state == STATE_OK)
		return -1;
	c.reason = report_reason_name(s->reason);
	c.is_before = is_before(&a->run);
	return retry_wait(&a->whole->plan->step->retry, &c, a->n);
}

/* ---- one after the other ---- */

static void begin_attempt(struct attempts *a)
{
	struct env env = {.item = NULL};

	a->is_due = false;
	a->is_used = true;
	a->n++;
	env_add_lines(&env, env_lines(&a->whole->env));
	a->run = (struct step_run){.env = env};
	step_init(&a->run, &a->ctx, a->whole->plan);
	a->ctx.jobs->running += a->run.doer->is_job;
	if (a->n > 1)
		events_tell(a->ctx.world->events,
			    &(struct event){"attempt", .path = a->ctx.path,
					    .step = a->whole->result.name,
					    .attempt = a->n});
	step_begin(&a->run);
}

static void on_pause_over(void *arg)
{
	struct attempts *a = arg;

	a->is_due = true;
	a->ctx.jobs->has_news = true;
}

static void wait_for_next(struct attempts *a, int64_t ms)
{
	const struct step_context *ctx = a->whole->ctx;
	char note[64];

	snprintf(note, sizeof(note), "attempt %" PRIu64 " of %" PRIu64,
		 a->n + 1, a->whole->plan->step->retry.max);
	if (ctx->progress)
		ctx->progress(ctx->arg, a->whole, note);
	step_take_over(a->whole, &a->run);
	step_release(&a->run);
	/* the attempt may have given up before it was ready */
	if (a->whole->session)
		pool_renew(&a->whole->session->user);
	a->is_used = false;
	loop_timer_in(ctx->loop, &a->pause, (uint64_t)ms);
}

/* Give the whole the result of an attempt, from which it borrows. */
static void become(struct step_run *s, struct step_run *part)
{
	part->result.refused |= s->result.refused;
	s->result = part->result;
	s->raw = part->raw;
	s->printed = part->printed;
	s->has_result = true;
	step_take_over(s, part);
	if (!s->session || !part->session)
		return;
	s->session->tool = part->session->tool;
	s->session->repairs = part->session->repairs;
}

static void finish(struct attempts *a)
{
	jobs_leave(a->ctx.jobs, &a->giver);
	loop_timer_clear(a->whole->ctx->loop, &a->pause);
	if (a->is_used)
		become(a->whole, &a->run);
	step_close(a->whole, NULL);
}

/* For struct jobs_giver. */
static bool go_on(void *arg)
{
	struct attempts *a = arg;
	int64_t ms;

	if (a->is_due && jobs_have_room(a->ctx.jobs))
		begin_attempt(a);
	if (!a->is_used || a->run.phase != STEP_ENDED)
		return false;
	tell(a);
	ms = wait_of(a);
	if (ms < 0)
		finish(a);
	else
		wait_for_next(a, ms);
	return false;
}

/* ---- the whole ---- */

static void begin(struct step_run *s)
{
	struct attempts *a = mem_zalloc(sizeof(*a));

	s->work = a;
	a->whole = s;
	a->ctx = *s->ctx;
	a->ctx.whole = s;
	a->ctx.step_ended = on_ended;
	a->ctx.ended_arg = a;
	a->giver = (struct jobs_giver){go_on, a};
	a->pause = (struct loop_timer){.fire = on_pause_over, .arg = a};
	a->told = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	a->is_due = true;
	jobs_join(a->ctx.jobs, &a->giver);
}

static void stop(struct step_run *s, const char *why)
{
	struct attempts *a = s->work;

	a->is_stopped = true;
	a->ctx.grace_ms = s->ctx->grace_ms;
	a->ctx.jobs->has_news = true;
	if (a->is_used)
		step_cancel(&a->run, why);
	else
		finish(a);
}

/* Facts of the last attempt, but for what the whole has of its own. */
static void add_program_facts(struct str run, struct jw *w)
{
	struct scan_iter it = scan_over(run);

	while (scan_next(&it)) {
		if (scan_is(it.key, "started") ||
		    scan_is(it.key, "duration_us") || scan_is(it.key, "env") ||
		    scan_is(it.key, "scrubbed"))
			continue;
		jw_key_raw(w, it.key);
		jw_raw(w, it.value);
	}
}

static void add_facts(const struct step_run *s, struct cleaner *c UNUSED,
		      struct jw *w)
{
	const struct attempts *a = s->work;

	if (!a || !a->told.n)
		return;
	/* a call has facts of its server in the whole */
	if (a->is_used && !s->is_call)
		add_program_facts(a->run.result.run, w);
	jw_kv_array(w, "attempts");
	jw_raw(w, buf_str(&a->told));
	jw_end(w);
}

static void release(struct step_run *s)
{
	struct attempts *a = s->work;

	if (!a)
		return;
	if (a->is_used && !s->ctx)
		a->run.ctx = NULL;
	if (a->is_used)
		step_release(&a->run);
	buf_release(&a->told);
	free(a);
}

const struct step_doer attempts_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
	.repeats = true,
	.add_facts = add_facts,
};
