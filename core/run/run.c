#include "core/run/run.h"

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/server_url.h"
#include "core/run/run_inner.h"

void run_warn(struct run *r, const char *sentence)
{
	log_warning("%s", sentence);
	if (r->n_warnings < ARRAY_LEN(r->warnings))
		r->warnings[r->n_warnings++] =
			arena_strdup(&r->result->arena, sentence);
}

/* ---- what may run ---- */

static enum step_reason refusal(const struct err *err)
{
	switch (err->kind) {
	case ERR_NOT_FOUND:
		return REASON_NO_COMMAND;
	case ERR_LEASH:
		return REASON_LEASH;
	case ERR_PROTECTION:
		return REASON_PROTECTION;
	case ERR_PIN:
		return REASON_PIN;
	case ERR_DEADLINE:
		return REASON_DEADLINE_SPAWN;
	default:
		return REASON_POLICY;
	}
}

static void judge_one(struct run *r, struct plan_step *p)
{
	struct arena *arena = &r->result->arena;
	struct err err = ERR_INIT;

	if (p->reason != REASON_NONE && p->reason != REASON_DRY_RUN)
		return;
	/* a dry run of a step that lacks a variable */
	if (!p->request.policy)
		return;
	if (p->request.program
		    ? gate_check(r->gate, &p->request, &err) == 0
		    : server_url_judge(r->gate, p->step->server, &err) == 0)
		return;
	if (p->reason == REASON_NONE)
		p->reason = refusal(&err);
	p->error = str_of(
		p->reason == REASON_DRY_RUN
			? arena_printf(arena, "would not run: %s", err.msg)
			: arena_strdup(arena, err.msg));
}

static void give_credentials(struct run *r, struct step_run *s)
{
	struct plan_step *p = &r->plan.steps[s - r->result->runs];
	struct err err = ERR_INIT;

	if (p->reason != REASON_NONE || r->loop.signal)
		return;
	if ((credentials_give(r->credentials, &p->server_env, &s->env, &err) <
		     0 ||
	     credentials_give(r->credentials, &p->step->env, &s->env, &err) <
		     0) &&
	    !r->loop.signal) {
		p->reason = REASON_NO_CREDENTIAL;
		p->error = str_of(arena_strdup(&r->result->arena, err.msg));
	}
}

/* ---- from first to last ---- */

static int begin_trace(struct run *r, struct plan_step *step, struct err *err)
{
	const struct run_tracer *t = r->o->tracer;

	return t ? t->begin(t->arg, r->gate, step, err) : 0;
}

static int execute(struct run *r, struct err *err)
{
	struct run_result *result = r->result;

	for (size_t i = 0; i < r->plan.n_steps; i++)
		if (begin_trace(r, &r->plan.steps[i], err) < 0)
			return -1;
	result->runs = mem_zalloc(r->plan.n_steps * sizeof(*result->runs));
	result->n_runs = r->plan.n_steps;
	for (size_t i = 0; i < r->plan.n_steps; i++) {
		judge_one(r, &r->plan.steps[i]);
		step_init(&result->runs[i], &r->ctx, &r->plan.steps[i]);
	}
	r->cmd_policy = r->o->file->config.sandbox;
	r->credentials = credentials_new(&(struct credentials_context){
		.loop = &r->loop,
		.gate = r->gate,
		.scrub = r->scrub,
		.policy = &r->cmd_policy,
		.config = &r->o->file->config,
	});
	pool_let_reach(r->pool, r->remotes, r->credentials);
	pool_let_sample(r->pool, &r->cmd_policy, r->o->file->config.dir);
	for (size_t i = 0; i < r->plan.n_steps; i++)
		give_credentials(r, &result->runs[i]);
	for (size_t i = 0; i < r->plan.n_steps; i++)
		step_expect(&result->runs[i]);
	if (run_walk(r, err) < 0)
		return -1;
	run_fill_report(r);
	run_finish_ledger(r);
	return 0;
}

static void run_release(struct run *r)
{
	log_set_filter(NULL, NULL);
	pool_free(r->pool);
	remotes_free(r->remotes);
	credentials_free(r->credentials);
	eras_free(r->eras);
	scrub_free(r->scrub);
	gate_free(r->gate);
	ledger_free(r->ledger);
	if (r->has_loop)
		loop_release(&r->loop);
}

int run_routine(const struct run_options *o, struct run_result *ret,
		struct err *err)
{
	struct run r = {.o = o, .result = ret, .lock = -1};
	int status;

	*ret = (struct run_result){.arena = ARENA_INIT};
	ret->report.routine = o->routine->name;
	ret->report.dry_run = o->dry_run;
	ret->report.allow_empty = o->allow_empty;
	status = run_prepare(&r, err);
	if (status == 0 && !ret->busy_skipped)
		status = execute(&r, err);
	if (status < 0) {
		run_record_failure(&r, err);
		/* what still runs needs the loop and the gate to end */
		run_result_release(ret);
	}
	for (size_t i = 0; i < ret->n_runs; i++) {
		/* both end here, and the results no longer need them */
		ret->runs[i].ctx = NULL;
	}
	fd_closep(&r.lock);
	run_release(&r);
	if (status < 0)
		loop_give_signals_back();
	return status;
}

void run_result_release(struct run_result *r)
{
	for (size_t i = 0; i < r->n_runs; i++)
		step_release(&r->runs[i]);
	free(r->runs);
	r->runs = NULL;
	r->n_runs = 0;
	arena_release(&r->arena);
	loop_give_signals_back();
}
