#include "core/run/walk.h"

#include <stdlib.h>
#include <time.h>

#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/failure.h"
#include "core/client/tape.h"
#include "core/config/server_url.h"
#include "core/run/previous.h"
#include "core/run/step_inputs.h"

/* ---- permission and credentials ---- */

/* other  reason where no rule refuses it */
static void refuse(struct walk *w, struct plan_step *p, const struct err *err,
		   enum step_reason other)
{
	if (p->reason == REASON_DRY_RUN) {
		p->would_not_run = true;
		p->error = str_of(
			arena_printf(w->arena, "would not run: %s", err->msg));
		return;
	}
	p->error = str_of(arena_strdup(w->arena, err->msg));
	p->reason = failure_of_spawn(err);
	if (p->reason == REASON_TRANSPORT)
		p->reason = other;
}

/* Files of an earlier result are saved, too; step_use() fails by itself. */
static void judge_saves(struct walk *w, struct plan_step *p)
{
	struct err err = ERR_INIT;

	if (p->step->save && !p->is_taken && !p->would_not_run &&
	    (p->reason == REASON_NONE || p->reason == REASON_DRY_RUN) &&
	    saver_judge(&w->saver, p->step, &err) < 0)
		refuse(w, p, &err, REASON_SAVE);
}

/* "outer/inner" of a step of a routine within. */
static const char *path_of(struct walk *w, const struct plan_step *p)
{
	return arena_printf(w->arena, "%s%s", w->ctx.path, p->step->name);
}

static void judge(struct walk *w, struct plan_step *p)
{
	const struct err *was = tape_refused(w->ctx.tape, path_of(w, p));
	struct gate *gate = w->ctx.gate;
	struct err err = ERR_INIT;

	if ((p->reason != REASON_NONE && p->reason != REASON_DRY_RUN) ||
	    p->is_taken)
		return;
	/* a dry run of a step that lacks a variable, or one without program */
	if (!p->request.policy)
		return;
	if (was) {
		refuse(w, p, was, REASON_POLICY);
		return;
	}
	/* nothing of it starts */
	if (tape_has(w->ctx.tape,
		     p->step->server ? p->step->server->name : p->step->name))
		return;
	if (p->request.program
		    ? gate_check(gate, &p->request, &err) == 0
		    : server_url_judge(gate, p->step->server, &err) == 0)
		return;
	tape_refuse(w->ctx.tape, path_of(w, p), &err);
	refuse(w, p, &err, REASON_POLICY);
}

static void give_credentials(struct walk *w, struct plan_step *p,
			     struct env *env)
{
	struct credentials *c = w->world->credentials;
	struct err err = ERR_INIT;

	if (p->reason != REASON_NONE || p->is_taken || w->cancelled ||
	    w->ctx.loop->signal)
		return;
	if ((credentials_give(c, &p->server_env, &w->cancelled, env, &err) <
		     0 ||
	     credentials_give(c, &p->step->env, &w->cancelled, env, &err) <
		     0) &&
	    !w->ctx.loop->signal && !w->cancelled) {
		err.kind = ERR_CREDENTIAL;
		tape_refuse(w->ctx.tape, path_of(w, p), &err);
		refuse(w, p, &err, REASON_NO_CREDENTIAL);
	}
}

/* ---- values ---- */

static const struct report_step *result_of(void *arg, size_t step)
{
	const struct walk *w = arg;
	const struct step_run *s = &w->runs[step];

	return s->phase == STEP_ENDED ? &s->result : NULL;
}

static const struct report_step *find_previous(struct walk *w, struct str name)
{
	const struct ledger_routine which = {
		.name = w->plan.routine->name,
		.file = w->ctx.config->path,
	};

	if (!w->has_previous)
		w->previous = previous_find(w->world->ledger, &which, true,
					    UINT64_MAX, w->arena);
	w->has_previous = true;
	return previous_step(w->previous, name);
}

static const struct report_step *find_ok(const struct report *r,
					 struct str name)
{
	const struct report_step *s = previous_step(r, name);

	return s && s->state == STATE_OK ? s : NULL;
}

/* Read the last result of a step from the ledger, and say of which run. */
static const struct report_step *read_last(struct walk *w, const char *step)
{
	const struct ledger_routine which = {
		.name = w->plan.routine->name,
		.file = w->ctx.config->path,
	};
	const struct report *r = NULL;

	if (previous_with(w->world->ledger, &which, &(struct strlist){&step, 1},
			  w->arena, &r, ERR_IGNORED) < 0)
		return NULL;
	log_note("$steps.%s has its value of run %llu", step,
		 (unsigned long long)r->generation);
	return previous_step(r, str_of(step));
}

/* The result of a step that this run has not; read once. */
static const struct report_step *find_last(struct walk *w, struct str name)
{
	struct walk_last *last = w->last;

	if (!w->looks_back || !w->world->ledger)
		return NULL;
	while (last && !str_is(name, last->step))
		last = last->next;
	if (last)
		return last->result;
	last = ARENA_NEW(w->arena, struct walk_last);
	last->step = arena_strndup(w->arena, name.p, name.n);
	last->result = read_last(w, last->step);
	last->next = w->last;
	w->last = last;
	return last->result;
}

static const struct report_step *find_result(void *arg, enum ref_root root,
					     struct str name)
{
	const struct report_step *earlier = NULL;
	struct walk *w = arg;

	if (root == REF_PREVIOUS)
		return find_previous(w, name);
	for (size_t i = 0; i < w->plan.n_steps; i++)
		if (str_is(name, w->plan.steps[i].step->name))
			return result_of(w, i);
	for (size_t i = 0; i < ARRAY_LEN(w->world->earlier) && !earlier; i++)
		earlier = find_ok(w->world->earlier[i], name);
	return earlier ? earlier : find_last(w, name);
}

/* The object behind $run; date and time are the person's. */
static struct str facts_of_run(void *arg)
{
	struct walk *w = arg;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	time_t now = (time_t)(w->world->begin_wall_ns / (int64_t)NS_PER_S);
	char date[16] = "", hour[16] = "";
	struct tm tm;
	struct jw j;

	if (w->facts.n)
		return w->facts;
	if (localtime_r(&now, &tm)) {
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
		strftime(hour, sizeof(hour), "%H:%M:%S", &tm);
	}
	j = jw_begin(&out);
	jw_kv_int(&j, "generation", (int64_t)w->world->generation);
	jw_kv_cstr(&j, "date", date);
	jw_kv_cstr(&j, "time", hour);
	jw_kv_cstr(&j, "routine", w->plan.routine->name);
	jw_end(&j);
	w->facts = arena_str(w->arena, buf_str(&out));
	return w->facts;
}

/* ---- the begin ---- */

static void on_step_ended(void *arg, struct step_run *s)
{
	struct walk *w = arg;
	struct jobs *jobs = &w->world->jobs;

	order_end(&w->order, (size_t)(s - w->runs));
	jobs->running -= s->doer->is_job;
	jobs->has_news = true;
	w->world->ended(w->ctx.arg, s);
}

void walk_init(struct walk *w, struct walk_world *world, struct arena *arena)
{
	struct plan *plan = &w->plan;

	w->world = world;
	w->arena = arena;
	w->ctx = world->ctx;
	w->ctx.world = world;
	w->ctx.routine = plan->routine->name;
	w->ctx.step_ended = on_step_ended;
	w->ctx.ended_arg = w;
	w->ctx.values = &w->turn.values;
	w->runs = mem_zalloc(plan->n_steps * sizeof(*w->runs));
	/* first: credentials turn the loop, which may cancel the walk */
	order_init(&w->order, plan, arena);
	saver_open(&w->saver, plan, w->ctx.gate, w->ctx.config);
	w->ctx.saver = &w->saver;
	for (size_t i = 0; i < plan->n_steps; i++) {
		judge(w, &plan->steps[i]);
		judge_saves(w, &plan->steps[i]);
	}
	for (size_t i = 0; i < plan->n_steps; i++)
		give_credentials(w, &plan->steps[i], &w->runs[i].env);
	for (size_t i = 0; i < plan->n_steps; i++)
		step_init(&w->runs[i], &w->ctx, &plan->steps[i]);
	w->turn = (struct turn){
		.plan = plan,
		.result = result_of,
		.arg = w,
		.values = plan->inputs,
	};
	w->turn.values.run = facts_of_run;
	w->turn.values.find = find_result;
	w->turn.values.has_no_record = !world->ledger;
	w->turn.values.arg = w;
}

/* ---- the way ---- */

/* Begin a step whose turn it is; it may end before it begins. */
static struct step_run *take(struct walk *w, size_t i)
{
	struct step_run *s = &w->runs[i];

	order_begin(&w->order, i);
	/* parts of a step that is made of others count themselves */
	w->world->jobs.running += s->doer->is_job;
	return s;
}

/* Was it ok, and would it do the same now? */
static bool does_the_same(struct walk *w, size_t i,
			  const struct report_step *kept)
{
	struct str run = kept->run;

	return kept->state == STATE_OK && run.n &&
	       !saver_is_other(w->plan.steps[i].step, kept, w->arena) &&
	       str_is(scan_decoded(scan_some(run, "inputs"), SIZE_MAX,
				   w->arena),
		      w->runs[i].inputs) &&
	       step_inputs_are_older(w->ctx.gate, &w->plan.steps[i], run);
}

/* Result of a step in the earlier run: of a step before --from however it went,
   else where it was ok and would do the same now. */
static const struct report_step *find_taken(struct walk *w, size_t i)
{
	const struct plan_step *p = &w->plan.steps[i];
	const struct report_step *kept =
		previous_step(w->earlier, str_of(p->step->name));

	return kept && (p->is_taken ||
			(w->is_resumed && does_the_same(w, i, kept)))
		       ? kept
		       : NULL;
}

/* ---- cached results ---- */

struct caching {
	struct walk *w;
	size_t step;
	char since[CLOCK_TEXT_BYTES]; /* time before which no result counts */
};

static bool is_fresh(void *arg, const struct report_step *s)
{
	const struct caching *c = arg;
	struct str began;

	if (!does_the_same(c->w, c->step, s))
		return false;
	began = scan_decoded(scan_some(s->run, "started"), SIZE_MAX,
			     c->w->arena);
	return began.n == strlen(c->since) &&
	       memcmp(began.p, c->since, began.n) >= 0;
}

static const struct report_step *find_cached(struct walk *w, size_t i,
					     uint64_t *ret_generation)
{
	const struct step *step = w->plan.steps[i].step;
	const struct ledger_routine which = {
		.name = w->plan.routine->name,
		.file = w->ctx.config->path,
	};
	struct caching c = {.w = w, .step = i};

	if (!step->cache_ms || w->world->no_cache || !w->world->ledger)
		return NULL;
	clock_format(w->world->begin_wall_ns -
			     (int64_t)(step->cache_ms * NS_PER_MS),
		     c.since);
	return previous_fitting(w->world->ledger, &which, str_of(step->name),
				is_fresh, &c, w->arena, ret_generation);
}

/* Sentence of a dry run about a step of which an earlier run has the result. */
static void foresee(struct walk *w, size_t i)
{
	struct plan_step *p = &w->plan.steps[i];
	const struct report_step *kept =
		previous_step(w->earlier, str_of(p->step->name));
	bool is_late = p->flow->is_late || p->flow->has_late_args;

	turn_foresee(&w->turn, i, w->arena);
	if (p->is_taken || p->would_not_run || !w->is_resumed || !kept ||
	    kept->state != STATE_OK)
		return;
	step_inputs_digest(&w->turn, i, w->runs[i].inputs);
	if (!is_late && !find_taken(w, i))
		return;
	p->error = str_of(arena_printf(
		w->arena, "would be taken from run %llu%s",
		(unsigned long long)w->earlier->generation,
		is_late ? ", if what it refers to is the same" : ""));
}

static void begin_step(struct walk *w, size_t i)
{
	struct step_run *s = take(w, i);
	const struct report_step *kept = NULL;
	uint64_t generation = 0;

	if (s->plan->reason == REASON_DRY_RUN)
		foresee(w, i);
	else if (!s->plan->is_taken)
		turn_take(&w->turn, i, &s->arena);
	if (s->plan->reason == REASON_NONE && !s->plan->is_taken)
		step_inputs_digest(&w->turn, i, s->inputs);
	if (w->earlier && s->plan->reason == REASON_NONE)
		kept = find_taken(w, i);
	if (kept) {
		step_use(s, kept, w->earlier->generation, false);
		return;
	}
	if (s->plan->reason == REASON_NONE)
		kept = find_cached(w, i, &generation);
	if (kept) {
		step_use(s, kept, generation, true);
		return;
	}
	if (s->plan->reason == REASON_NONE)
		w->world->begun(w->ctx.arg, s);
	step_begin(s);
}

/* Cancel the steps that had not begun. */
static void cancel_the_rest(struct walk *w)
{
	for (size_t i = w->order.first; i < w->plan.n_steps; i++) {
		struct step_run *s = &w->runs[i];

		if (w->order.begun[i])
			continue;
		take(w, i);
		if (s->plan->reason != REASON_NONE)
			step_begin(s);
		else
			step_cancel(s, w->cancelled);
	}
}

static bool is_due(const struct walk *w)
{
	return order_next(&w->order, jobs_have_room(&w->world->jobs)) <
	       w->plan.n_steps;
}

bool walk_go(void *arg)
{
	struct walk *w = arg;

	if (w->cancelled)
		cancel_the_rest(w);
	else if (is_due(w))
		begin_step(w, order_next(&w->order, true));
	return is_due(w);
}

void walk_cancel(struct walk *w, const char *why)
{
	w->cancelled = why;
	w->ctx.grace_ms = CLIENT_GRACE_STOPPED_MS;
	for (size_t i = 0; i < w->plan.n_steps; i++)
		if (w->order.begun[i])
			step_cancel(&w->runs[i], why);
	w->world->jobs.has_news = true;
}

/* ---- the end ---- */

bool walk_is_over(const struct walk *w)
{
	return order_is_over(&w->order);
}

void walk_report(const struct walk *w, struct arena *arena,
		 struct report *report)
{
	report->routine = w->plan.routine->name;
	report->generation = w->world->generation;
	report->n_steps = w->plan.n_steps;
	report->steps = ARENA_ARRAY(arena, struct report_step, w->plan.n_steps);
	for (size_t i = 0; i < w->plan.n_steps; i++)
		report->steps[i] = w->runs[i].result;
}

void walk_leave_loop(struct walk *w)
{
	for (size_t i = 0; w->runs && i < w->plan.n_steps; i++)
		w->runs[i].ctx = NULL;
}

void walk_clear(struct walk *w)
{
	for (size_t i = 0; w->runs && i < w->plan.n_steps; i++)
		step_release(&w->runs[i]);
	free(w->runs);
	w->runs = NULL;
	saver_release(&w->saver);
}
