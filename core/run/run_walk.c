/* The walk over the plan: which step begins when, signals, the end. */
#include <signal.h>

#include "core/run/run_inner.h"

static void begin_due_steps(struct run *r)
{
	while (r->next < r->plan.n_steps) {
		struct step_run *s = &r->result->runs[r->next];

		if (r->running &&
		    (!s->plan->with_previous || r->running >= r->jobs))
			return;
		r->next++;
		r->running++;
		if (r->o->observer.begun && s->plan->reason == REASON_NONE)
			r->o->observer.begun(r->o->observer.arg,
					     s->plan->step->name);
		step_begin(s);
	}
}

void run_on_step_ended(void *arg, struct step_run *s)
{
	struct run *r = arg;

	r->running--;
	if (r->o->observer.ended)
		r->o->observer.ended(r->o->observer.arg, &s->result);
}

void run_on_verdict(void *arg, const struct step_run *s,
		    const struct gate_verdict *v)
{
	struct run *r = arg;
	const struct run_tracer *t = r->o->tracer;

	if (t)
		t->ended(t->arg, r->gate, s->plan, v, r->scrub);
}

const char *run_signal_name(int signal)
{
	return signal == SIGINT	   ? "SIGINT"
	       : signal == SIGTERM ? "SIGTERM"
				   : "SIGHUP";
}

/* Ctrl-C: end what runs, in order; once more: at once. */
static void on_signal(void *arg, int signal)
{
	struct run *r = arg;

	r->ctx.grace_ms = CLIENT_GRACE_STOPPED_MS;
	if (r->loop.signal_count > 1)
		pool_kill(r->pool);
	for (size_t i = 0; i < r->next; i++)
		if (r->result->runs[i].phase != STEP_ENDED)
			step_cancel(&r->result->runs[i],
				    run_signal_name(signal));
}

/* What had not begun when the signal came. */
static void cancel_the_rest(struct run *r)
{
	while (r->next < r->plan.n_steps) {
		struct step_run *s = &r->result->runs[r->next++];

		r->running++;
		if (s->plan->reason != REASON_NONE)
			step_begin(s);
		else
			step_cancel(s, run_signal_name(r->loop.signal));
	}
}

static void on_tick(void *arg)
{
	struct run *r = arg;

	r->o->observer.tick(r->o->observer.arg);
	loop_timer_set(&r->loop, &r->tick,
		       loop_now(&r->loop) + r->o->observer.tick_ms * NS_PER_MS);
}

int run_walk(struct run *r, struct err *err)
{
	r->loop.on_signal = on_signal;
	r->loop.on_signal_arg = r;
	if (r->o->observer.tick) {
		r->tick = (struct loop_timer){.fire = on_tick, .arg = r};
		on_tick(r);
	}
	for (;;) {
		if (r->loop.signal)
			cancel_the_rest(r);
		else
			begin_due_steps(r);
		/* the last of a server may have been skipped or cancelled */
		if (!r->running && r->next == r->plan.n_steps &&
		    pool_is_idle(r->pool))
			return 0;
		if ((r->running || r->next == r->plan.n_steps) &&
		    loop_turn(&r->loop, err) < 0)
			return -1;
	}
}
