#include "core/run/many.h"

#include <stdlib.h>

#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/run/approve.h"
#include "core/run/hold.h"
#include "core/toml/toml.h"
#include "core/run/walk.h"

struct many;

/* One input that runs. */
struct one {
	struct many *all;
	struct one *next;
	struct many_input input;
	struct arena arena; /* of the plan and the report */
	struct walk walk;
	struct jobs_giver giver;
	uint64_t begin_ns;
};

struct many {
	struct step_run *whole;
	const struct run_many *m;
	struct jobs_giver giver;
	struct one *first; /* running inputs; owned */
	struct hold *hold; /* of the servers, between two inputs; owned */
	size_t n_running, n_ok, n_failed;
	bool has_all; /* no input is left */
	const char *cancelled;
	struct str why; /* first failure; in the arena of the whole */
};

/* ---- one input ---- */

static void unlink_one(const struct one *o)
{
	struct one **p = &o->all->first;

	while (*p != o)
		p = &(*p)->next;
	*p = o->next;
}

static void free_one(struct one *o)
{
	walk_clear(&o->walk);
	arena_release(&o->arena);
	free(o);
}

static void finish(struct one *o, struct report *report)
{
	struct many *all = o->all;
	const struct loop *l = all->whole->ctx->loop;

	if (report_success(report))
		all->n_ok++;
	else if (!all->n_failed++)
		all->why = str_of(arena_strdup(
			&all->whole->arena, report_summary(report, &o->arena)));
	all->m->ended(all->m->arg, o->input.id, report, all->cancelled,
		      (l->clock->now_ns(l->clock) - o->begin_ns) / 1000);
	all->n_running--;
	all->whole->ctx->jobs->has_news = true;
	unlink_one(o);
	free_one(o);
}

/* For struct jobs_giver. */
static bool go_on_one(void *arg)
{
	struct one *o = arg;
	struct step_run *whole = o->all->whole;
	struct report report = {.generation = 0};
	bool more = walk_go(&o->walk);

	if (!walk_is_over(&o->walk))
		return more;
	jobs_leave(whole->ctx->jobs, &o->giver);
	walk_report(&o->walk, &o->arena, &report);
	for (size_t i = 0; i < report.n_steps; i++) {
		hold_take(o->all->hold, i, &o->walk.runs[i]);
		step_take_over(whole, &o->walk.runs[i]);
	}
	finish(o, &report);
	return false;
}

/* The report of an input that the routine does not take. */
static void refuse(struct one *o, const struct err *err)
{
	struct report_step step = {.name = "inputs", .type = "routine"};
	struct report report = {.routine = o->all->m->routine->name,
				.steps = &step,
				.n_steps = 1};

	report_step_set(&step, REASON_REFERENCE, str_of(err->msg));
	finish(o, &report);
}

static int plan_one(struct one *o, struct err *err)
{
	struct many *all = o->all;
	struct step_context *ctx = all->whole->ctx;
	const struct plan_options options = {
		.config = ctx->config,
		.routine = all->m->routine,
		.given = {.object = o->input.object},
		.confirmed = ctx->approvals->tools,
	};

	if (plan_make(&options, &o->arena, &o->walk.plan, err) < 0)
		return -1;
	o->walk.input = o->input.id;
	hold_open(all->hold, &options, o->input.id);
	walk_init(&o->walk, ctx->world, &o->arena);
	o->walk.ctx.shows_advice = true;
	o->walk.ctx.hold = all->hold;
	o->walk.ctx.path =
		arena_printf(&o->arena, "%s/", all->whole->plan->step->name);
	return 0;
}

static struct one *new_one(struct many *all, const struct many_input *input)
{
	struct one *o = mem_zalloc(sizeof(*o));

	*o = (struct one){
		.all = all,
		.input = *input,
		.giver = {go_on_one, o},
		.begin_ns = loop_now(all->whole->ctx->loop),
	};
	return o;
}

static void begin_one(struct many *all, const struct many_input *input)
{
	struct one *o = new_one(all, input);
	struct err err = ERR_INIT;

	o->next = all->first;
	all->first = o;
	all->n_running++;
	if (plan_one(o, &err) < 0)
		refuse(o, &err);
	else
		jobs_join(all->whole->ctx->jobs, &o->giver);
}

/* ---- all of them ---- */

static void close_all(struct many *all)
{
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct step_run *whole = all->whole;
	struct judgement j = {.reason = REASON_NONE};
	struct jw w = jw_begin(&data);

	jw_kv_int(&w, "ok", (int64_t)all->n_ok);
	jw_kv_int(&w, "failed", (int64_t)all->n_failed);
	jw_end(&w);
	j.data = arena_buf(&whole->arena, &data);
	j.output = str_of(arena_printf(&whole->arena, "%zu ok, %zu failed",
				       all->n_ok, all->n_failed));
	if (all->n_failed) {
		j.reason = REASON_ITEMS;
		j.error = str_of(arena_printf(
			&whole->arena, "%zu of %zu failed; first: %.*s",
			all->n_failed, all->n_failed + all->n_ok,
			STR_ARG(all->why)));
	}
	hold_judge(all->hold, &j);
	step_close(whole, &j);
}

/* For struct jobs_giver. */
static bool go_on(void *arg)
{
	struct many *all = arg;
	const struct jobs *jobs = all->whole->ctx->jobs;
	struct many_input input;

	if (!all->has_all && !all->cancelled && all->n_running < all->m->max &&
	    jobs_have_room(jobs)) {
		all->has_all = !all->m->next(all->m->arg, &input);
		if (!all->has_all)
			begin_one(all, &input);
	}
	if (all->n_running || (!all->has_all && !all->cancelled))
		return !all->has_all && !all->cancelled &&
		       all->n_running < all->m->max && jobs_have_room(jobs);
	hold_end(all->hold);
	if (!hold_is_over(all->hold))
		return false;
	jobs_leave(all->whole->ctx->jobs, &all->giver);
	close_all(all);
	return false;
}

static void begin(struct step_run *s)
{
	struct many *all = mem_zalloc(sizeof(*all));

	s->work = all;
	all->whole = s;
	all->m = s->ctx->world->many;
	all->hold = hold_new(s);
	all->giver = (struct jobs_giver){go_on, all};
	jobs_join(s->ctx->jobs, &all->giver);
}

static void stop(struct step_run *s, const char *why)
{
	struct many *all = s->work;

	all->cancelled = why;
	s->ctx->jobs->has_news = true;
	for (struct one *o = all->first; o; o = o->next)
		walk_cancel(&o->walk, why);
	hold_cancel(all->hold, why);
}

static void release(struct step_run *s)
{
	struct many *all = s->work;

	if (all)
		hold_free(all->hold);
	while (all && all->first) {
		struct one *o = all->first;

		all->first = o->next;
		if (!s->ctx)
			walk_leave_loop(&o->walk);
		free_one(o);
	}
	free(all);
}

const struct step_doer many_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
	.repeats = true,
};

struct routine many_routine(const struct run_many *m, const char *name,
			    struct step *step)
{
	static const struct toml_value nothing = {.type = TOML_TABLE};

	*step = (struct step){
		.name = name,
		.written = &nothing,
		.type = "routine",
		.routine = m->routine->name,
		.enabled = true,
		.idempotent = true,
	};
	return (struct routine){
		.name = m->routine->name,
		.order = m->routine->order,
		.steps = step,
		.n_steps = 1,
	};
}
