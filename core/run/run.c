#include "core/run/run.h"

#include <assert.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/run/events.h"
#include "core/run/notify.h"
#include "core/run/previous.h"
#include "core/run/world.h"

/* Everything of one run that is not part of its result. */
struct run {
	const struct run_options *o;
	struct run_result *result;
	struct walk *walk; /* of the result */
	struct loop loop;
	bool has_loop;
	struct record record;
	struct world world;
	struct jobs_giver giver; /* the walk */
	struct loop_timer tick;
	bool has_paused;       /* use_pause() */
	struct notify *notify; /* NULL: nobody is told */
};

/* ---- before the first step ---- */

/* Steps whose results are taken, however they went. */
static struct strlist taken_steps(struct run *r)
{
	struct strlist names = {NULL, 0};

	for (size_t i = 0; i < r->walk->plan.n_steps; i++)
		if (r->walk->plan.steps[i].is_taken)
			list_add(&names, &r->result->arena,
				 r->walk->plan.steps[i].step->name);
	return names;
}

/* A dry run says of each step what would be taken, and from where. */
static void say_taken(struct run *r)
{
	struct arena *arena = &r->result->arena;

	for (size_t i = 0; i < r->walk->plan.n_steps; i++) {
		struct plan_step *p = &r->walk->plan.steps[i];

		if (!p->is_taken)
			continue;
		p->reason = REASON_DRY_RUN;
		p->error = str_of(arena_printf(
			arena, "would be taken from run %llu",
			(unsigned long long)r->walk->earlier->generation));
	}
}

/* Find the run whose results are taken. */
static int find_earlier(struct run *r, struct err *err)
{
	AUTO(ledger_freep) struct ledger *own = NULL;
	const struct ledger_routine which = {
		.name = r->walk->plan.routine->name,
		.file = r->o->file->config.path,
	};
	const struct strlist steps = taken_steps(r);
	struct arena *arena = &r->result->arena;
	struct ledger *l = r->record.ledger;
	int rc;

	r->walk->looks_back = r->o->only_step && !r->o->tracer;
	if (!steps.n && !r->o->resume)
		return 0;
	if (!l && ledger_open_read(NULL, &own, err) < 0)
		return -1;
	l = l ? l : own;
	rc = r->o->resume ? previous_get(l, &which, r->o->resume, arena,
					 &r->walk->earlier, err)
			  : previous_with(l, &which, &steps, arena,
					  &r->walk->earlier, err);
	r->walk->is_resumed = r->o->resume;
	if (rc == 0 && r->o->dry_run)
		say_taken(r);
	return rc;
}

static int prepare(struct run *r, struct err *err)
{
	const struct run_options *o = r->o;
	struct run_result *result = r->result;
	const struct plan_options p = {
		.config = &o->file->config,
		.routine = o->routine,
		.only_step = o->only_step,
		.only = o->only,
		.skip = o->skip,
		.from = o->from,
		.given = o->given,
		.dry_run = o->dry_run,
		.confirmed = o->confirmed,
	};

	if (loop_init(&r->loop, clock_system(), err) < 0)
		return -1;
	r->has_loop = true;
	r->record.begin_ns = loop_now(&r->loop);
	r->record.begin_wall_ns = r->loop.clock->wall_ns(r->loop.clock);
	if (plan_make(&p, &result->arena, &r->walk->plan, err) < 0)
		return -1;
	if (record_open(&r->record, err) < 0)
		return -1;
	if (result->busy_skipped)
		return 0;
	if (find_earlier(r, err) < 0 ||
	    world_open(&r->world, &r->record, err) < 0)
		return -1;
	r->record.leash = r->world.leash.source;
	return 0;
}

/* ---- from the first step to the last ---- */

/* Ctrl-C ends all steps in order; a second one at once. */
static void on_signal(void *arg, int signal)
{
	struct run *r = arg;

	if (r->loop.signal_count > 1)
		pool_hurry(r->world.pool, NULL, POOL_KILL);
	r->record.ended_by =
		arena_printf(&r->result->arena, "SIG%s", sigabbrev_np(signal));
	walk_cancel(r->walk, r->record.ended_by);
}

static void on_tick(void *arg)
{
	struct run *r = arg;

	r->o->observer.tick(r->o->observer.arg);
	loop_timer_in(&r->loop, &r->tick, r->o->observer.tick_ms);
}

/* While programs start there is time for what else would come at the end. */
static void use_pause(struct run *r)
{
	const struct config *config = &r->o->file->config;

	if (r->record.ledger && !r->has_paused)
		ledger_make_room(r->record.ledger, config->path,
				 config->keep_runs);
	r->has_paused = true;
}

static void close_gaps(struct jobs *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		if (j->giver[i])
			j->giver[n++] = j->giver[i];
	j->n = n;
}

/*
 * Ask every giver once, in the order in which they joined.
 * returns  true: ask again before the loop waits
 */
static bool jobs_begin(struct jobs *j)
{
	bool more = false;

	close_gaps(j);
	j->has_news = false;
	for (size_t i = 0; i < j->n; i++)
		if (j->giver[i] && j->giver[i]->begin(j->giver[i]->arg))
			more = true;
	return more || j->has_news;
}

static int walk_plan(struct run *r, struct err *err)
{
	r->loop.on_signal = on_signal;
	r->loop.on_signal_arg = r;
	if (r->o->observer.tick) {
		r->tick = (struct loop_timer){.fire = on_tick, .arg = r};
		on_tick(r);
	}
	if (r->loop.signal)
		on_signal(r, r->loop.signal);
	for (;;) {
		bool more = jobs_begin(&r->world.walks.jobs);

		/* the last of a server may have been skipped or cancelled */
		if (walk_is_over(r->walk) && pool_is_idle(r->world.pool))
			return 0;
		if (!more)
			use_pause(r);
		/* flow_make() leaves no circle */
		assert(more || r->walk->order.n_begun > 0);
		/* between two starts the others go on: what has ended gives
		   its memory, descriptors and control group to the next */
		if ((more ? loop_look : loop_turn)(&r->loop, err) < 0)
			return -1;
	}
}

static int execute(struct run *r, struct err *err)
{
	const struct run_tracer *t = r->o->tracer;
	struct run_result *result = r->result;

	for (size_t i = 0; t && i < r->walk->plan.n_steps; i++)
		if (t->begin(t->arg, r->world.gate, &r->walk->plan.steps[i],
			     err) < 0)
			return -1;
	events_use_loop(r->o->events, &r->loop);
	events_tell(r->o->events,
		    &(struct event){
			    "run_begun",
			    .generation = result->report.generation,
			    .routine = r->walk->plan.routine->name,
		    });
	r->notify = notify_begin(&r->world);
	walk_init(r->walk, &r->world.walks, &result->arena);
	r->giver = (struct jobs_giver){walk_go, r->walk};
	jobs_join(&r->world.walks.jobs, &r->giver);
	if (walk_plan(r, err) < 0 ||
	    (r->o->record && tape_end(r->world.tape, err) < 0))
		return -1;
	/* notices need the gate, and have time once the end is kept */
	if (r->notify)
		r->record.let_go = NULL;
	record_fill(&r->record);
	record_end(&r->record, NULL);
	notify_end(r->notify);
	record_amend(&r->record);
	events_tell(r->o->events,
		    &(struct event){
			    "run_ended",
			    .exit_status = result->exit_status,
			    .summary = report_summary(&result->report,
						      &result->arena),
		    });
	return 0;
}

int run_routine(const struct run_options *o, struct run_result *ret,
		struct err *err)
{
	struct run r = {
		.o = o,
		.result = ret,
		.walk = &ret->walk,
		.record = {.o = o,
			   .result = ret,
			   .loop = &r.loop,
			   .let_go = world_let_go,
			   .let_go_arg = &r.world,
			   .lock = -1,
			   .journal = -1},
	};
	int status;

	*ret = (struct run_result){.arena = ARENA_INIT};
	ret->report.routine = o->routine->name;
	ret->report.dry_run = o->dry_run;
	ret->report.allow_empty = o->allow_empty;
	status = prepare(&r, err);
	if (status == 0 && !ret->busy_skipped)
		status = execute(&r, err);
	if (status < 0) {
		events_tell(o->events,
			    &(struct event){
				    "run_ended",
				    .exit_status = err_exit_status(err->kind),
				    .summary = err->msg,
			    });
		record_end(&r.record, err);
		/* programs that run need the loop and the gate to end */
		run_result_release(ret);
	}
	notify_free(r.notify);
	world_close(&r.world);
	fd_closep(&r.record.lock);
	fd_closep(&r.record.journal);
	ledger_free(r.record.ledger);
	events_use_loop(o->events, NULL);
	if (r.has_loop)
		loop_release(&r.loop);
	if (status < 0)
		loop_give_signals_back();
	return status;
}

void run_result_release(struct run_result *r)
{
	walk_clear(&r->walk);
	arena_release(&r->arena);
	loop_give_signals_back();
}
