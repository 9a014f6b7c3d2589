#include "core/run/run.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/report/ledger.h"
#include "core/report/render.h"
#include "core/run/credentials.h"
#include "core/run/eras.h"
#include "core/run/facts.h"
#include "core/run/leash.h"

/* Descriptors of one child: three pipes, pidfd, listener (contract: 5). */
#define FDS_PER_CHILD 5
/* Of the runner itself: what every child may read is open (gate/base.def). */
#define FDS_OWN 96

/* Everything of one run that is not part of its result. */
struct run {
	const struct run_options *o;
	struct run_result *result;
	struct plan plan;
	struct gate_leash leash;
	struct gate *gate;
	struct gate_policy cmd_policy; /* of credential programs */
	struct ledger *ledger;	       /* NULL: dry run or not writable */
	int lock;		       /* of the routine; -1 without */
	struct loop loop;
	bool has_loop;
	struct scrub *scrub;
	struct eras *eras;
	struct pool *pool;
	struct step_context ctx;
	struct credentials *credentials;
	size_t next, running;
	unsigned jobs;
	struct loop_timer tick;
	uint64_t begin_ns;
	int64_t begin_wall_ns;
	const char *warnings[8];
	size_t n_warnings;
};

static void warn(struct run *r, const char *sentence)
{
	log_warning("%s", sentence);
	if (r->n_warnings < ARRAY_LEN(r->warnings))
		r->warnings[r->n_warnings++] =
			arena_strdup(&r->result->arena, sentence);
}

/* ---- before anything starts ---- */

static int no_such_step(const struct routine *routine, const char *name,
			struct arena *arena, struct err *err)
{
	const char **known =
		ARENA_ARRAY(arena, const char *, routine->n_steps + 1);
	const char *near;

	for (size_t i = 0; i < routine->n_steps; i++)
		known[i] = routine->steps[i].name;
	near = str_nearest(str_of(name), known, routine->n_steps);
	return err_set(err, ERR_UNKNOWN, "routine %s has no step %s%s%s%s",
		       routine->name, name, near ? "; did you mean " : "",
		       near ? near : "", near ? "?" : "");
}

static int make_plan(struct run *r, struct err *err)
{
	const struct run_options *o = r->o;
	struct plan_options p = {
		.config = &o->file->config,
		.routine = o->routine,
		.only = o->only,
		.skip = o->skip,
		.params = o->params,
		.dry_run = o->dry_run,
	};

	if (o->only_step) {
		struct routine *single = &r->result->single;

		*single = *o->routine;
		single->n_steps = 0;
		for (size_t i = 0; i < o->routine->n_steps; i++) {
			if (strcmp(o->routine->steps[i].name, o->only_step))
				continue;
			single->steps = &o->routine->steps[i];
			single->n_steps = 1;
		}
		if (!single->n_steps)
			return no_such_step(o->routine, o->only_step,
					    &r->result->arena, err);
		p.routine = single;
	}
	return plan_make(&p, &r->result->arena, &r->plan, err);
}

/* `step` must not look like a run of the whole routine in the ledger. */
static const char *ledger_name(struct run *r)
{
	if (!r->o->only_step)
		return r->plan.routine->name;
	return arena_printf(&r->result->arena, "%s/%s", r->plan.routine->name,
			    r->o->only_step);
}

static bool asks_for_lock(const struct run *r)
{
	const char *mode = r->plan.routine->on_busy;

	return mode && strcmp(mode, "run") != 0;
}

static int take_lock(struct run *r, struct err *err)
{
	const char *mode = r->plan.routine->on_busy;

	if (!asks_for_lock(r))
		return 0;
	if (ledger_lock_routine(r->ledger, r->plan.routine->name,
				strcmp(mode, "wait") == 0, &r->lock, err) == 0)
		return 0;
	if (err->kind != ERR_BUSY || strcmp(mode, "skip"))
		return -1;
	r->result->busy_skipped = true;
	return 0;
}

/* A generation, or a warning that there is none. */
static int open_ledger(struct run *r, struct err *err)
{
	struct err why = ERR_INIT;

	if (r->o->dry_run)
		return loop_take_signals(&r->loop, err);
	if (ledger_open(NULL, &r->ledger, &why) == 0) {
		/* waits without signals taken: Ctrl-C ends that as ever */
		if (take_lock(r, err) < 0)
			return -1;
		if (r->result->busy_skipped)
			return 0;
		if (loop_take_signals(&r->loop, err) < 0)
			return -1;
		if (ledger_start(r->ledger, ledger_name(r), r->begin_wall_ns,
				 &r->result->report.generation, &why) == 0)
			return 0;
	}
	if (r->o->require_ledger || asks_for_lock(r)) {
		*err = why;
		return err_wrap(err, r->o->require_ledger
					     ? "the ledger is required"
					     : "on_busy needs the ledger");
	}
	warn(r, arena_printf(&r->result->arena, "this run is not recorded: %s",
			     why.msg));
	ledger_free(r->ledger);
	r->ledger = NULL;
	return r->loop.signals < 0 ? loop_take_signals(&r->loop, err) : 0;
}

static int open_gate(struct run *r, struct err *err)
{
	const struct config *config = &r->o->file->config;
	struct arena *arena = &r->result->arena;
	const char *state = ledger_default_dir(arena);
	const struct strlist none = {NULL, 0};
	const struct strlist *named =
		r->o->tracer ? &r->o->tracer->programs : &none;
	struct gate_config g = {.state_dir = state};

	if (leash_find(config, named, arena, &r->leash, err) < 0)
		return -1;
	log_note("leash: %s", r->leash.source);
	g.leash = r->leash;
	g.protect = leash_protected(config, state, arena);
	g.generation = r->result->report.generation;
	return gate_new(&g, &r->gate, err);
}

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
	if (!p->request.program) {
		err_set(&err, ERR_SYS,
			"%s is a remote server, and this version has no HTTP "
			"transport",
			p->step->server_name);
		if (p->reason == REASON_NONE)
			p->reason = REASON_TRANSPORT;
	} else if (gate_check(r->gate, &p->request, &err) == 0) {
		return;
	} else if (p->reason == REASON_NONE) {
		p->reason = refusal(&err);
	}
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
	if ((credentials_give(r->credentials, &p->server_env, s, &err) < 0 ||
	     credentials_give(r->credentials, &p->step->env, s, &err) < 0) &&
	    !r->loop.signal) {
		p->reason = REASON_NO_CREDENTIAL;
		p->error = str_of(arena_strdup(&r->result->arena, err.msg));
	}
}

static unsigned jobs_that_fit(void)
{
	struct rlimit limit;
	rlim_t n;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 &&
	    getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	n = limit.rlim_cur > FDS_OWN ? limit.rlim_cur - FDS_OWN : 0;
	n /= FDS_PER_CHILD;
	if (n < 1)
		return 1;
	return n > LIMIT_STEPS ? LIMIT_STEPS : (unsigned)n;
}

/* ---- the walk ---- */

static void on_step_ended(void *arg, struct step_run *s);

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

static void on_step_ended(void *arg, struct step_run *s)
{
	struct run *r = arg;

	r->running--;
	if (r->o->observer.ended)
		r->o->observer.ended(r->o->observer.arg, &s->result);
}

static void on_verdict(void *arg, const struct step_run *s,
		       const struct gate_verdict *v)
{
	struct run *r = arg;
	const struct run_tracer *t = r->o->tracer;

	if (t)
		t->ended(t->arg, r->gate, s->plan, v, r->scrub);
}

static const char *signal_name(int signal)
{
	return signal == SIGINT	   ? "SIGINT"
	       : signal == SIGTERM ? "SIGTERM"
				   : "SIGHUP";
}

/* Ctrl-C: end what runs, in order; once more: at once. */
static void on_signal(void *arg, int signal)
{
	struct run *r = arg;

	r->ctx.grace_ms = STEP_GRACE_CANCELLED_MS;
	if (r->loop.signal_count > 1)
		pool_kill(r->pool);
	for (size_t i = 0; i < r->next; i++)
		if (r->result->runs[i].phase != STEP_ENDED)
			step_cancel(&r->result->runs[i], signal_name(signal));
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
			step_cancel(s, signal_name(r->loop.signal));
	}
}

static void on_tick(void *arg)
{
	struct run *r = arg;

	r->o->observer.tick(r->o->observer.arg);
	loop_timer_set(&r->loop, &r->tick,
		       loop_now(&r->loop) + r->o->observer.tick_ms * NS_PER_MS);
}

static int walk(struct run *r, struct err *err)
{
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

/* ---- afterwards ---- */

static void fill_facts(struct run *r)
{
	struct buf run = BUF_INIT(BUF_UNBOUNDED);
	struct facts_run f = {
		.begin_wall_ns = r->begin_wall_ns,
		.end_wall_ns = r->loop.clock->wall_ns(r->loop.clock),
		.duration_ns = loop_now(&r->loop) - r->begin_ns,
		.config = r->o->file->config.path,
		.leash_source = r->leash.source,
		.warnings = {r->warnings, r->n_warnings},
		.ended_by = r->loop.signal ? signal_name(r->loop.signal) : NULL,
	};

	facts_run(&f, &run);
	r->result->report.run = arena_str(&r->result->arena, buf_str(&run));
	buf_release(&run);
}

static void fill_report(struct run *r)
{
	struct report *report = &r->result->report;

	report->steps = ARENA_ARRAY(&r->result->arena, struct report_step,
				    r->plan.n_steps);
	report->n_steps = r->plan.n_steps;
	for (size_t i = 0; i < r->plan.n_steps; i++) {
		report->steps[i] = r->result->runs[i].result;
		r->result->scrubbed += r->result->runs[i].scrubbed;
	}
	fill_facts(r);
	r->result->exit_status = r->loop.signal ? 128 + r->loop.signal
						: report_exit_status(report);
}

/* "morning/host: 1 ran, …" for one step: no run of the whole routine. */
static const char *ledger_summary(struct run *r)
{
	struct arena *arena = &r->result->arena;
	const char *summary = report_summary(&r->result->report, arena);

	if (!r->o->only_step)
		return summary;
	return arena_printf(arena, "%s%s", ledger_name(r),
			    summary + strlen(r->result->report.routine));
}

static void print_json(const void *report, struct buf *out)
{
	const struct render_options full = {.view = VIEW_FULL};

	render_find("json")->print(report, &full, out);
}

static void finish_ledger(struct run *r)
{
	const struct fd_text report = {print_json, &r->result->report};
	struct err err = ERR_INIT;
	struct ledger_end end = {
		.routine = ledger_name(r),
		.summary = ledger_summary(r),
		.success = report_success(&r->result->report),
		.exit_status = r->result->exit_status,
		.wall_ns = r->loop.clock->wall_ns(r->loop.clock),
	};

	if (!r->ledger)
		return;
	if (ledger_finish(r->ledger, r->result->report.generation, &end,
			  &report, r->o->file->config.keep_runs, &err) < 0) {
		warn(r, arena_printf(&r->result->arena,
				     "this run is not fully recorded: %s",
				     err.msg));
		fill_facts(r);
		if (r->o->require_ledger && r->result->exit_status == 0)
			r->result->exit_status = err_exit_status(err.kind);
	}
}

/* A generation was taken, and then nothing could be run. */
static void record_failure(struct run *r, const struct err *why)
{
	struct err ignored = ERR_INIT;
	struct ledger_end end;

	/* without a ledger there is perhaps no loop and so no clock */
	if (!r->ledger || !r->result->report.generation)
		return;
	end = (struct ledger_end){
		.routine = ledger_name(r),
		.summary = why->msg,
		.exit_status = err_exit_status(why->kind),
		.wall_ns = r->loop.clock->wall_ns(r->loop.clock),
	};
	if (ledger_finish(r->ledger, r->result->report.generation, &end, NULL,
			  r->o->file->config.keep_runs, &ignored) < 0)
		log_warning("this run is not recorded: %s", ignored.msg);
}

static void scrub_filter(struct buf *line, void *arg)
{
	scrub_log_filter(line, arg);
}

static void open_pool(struct run *r)
{
	struct client_context c = {
		.loop = &r->loop,
		.gate = r->gate,
		.scrub = r->scrub,
	};

	r->eras = eras_open(ledger_default_dir(&r->result->arena));
	c.eras = r->eras;
	r->pool = pool_new(&c);
}

static int prepare(struct run *r, struct err *err)
{
	const struct config_file *file = r->o->file;
	struct run_result *result = r->result;

	if (loop_init(&r->loop, clock_system(), err) < 0)
		return -1;
	r->has_loop = true;
	r->begin_ns = loop_now(&r->loop);
	r->begin_wall_ns = r->loop.clock->wall_ns(r->loop.clock);
	if (make_plan(r, err) < 0 || open_ledger(r, err) < 0)
		return -1;
	if (result->busy_skipped)
		return 0;
	r->scrub = scrub_new();
	for (size_t i = 0; i < file->header_values.n; i++)
		scrub_add(r->scrub, str_of(file->header_values.item[i]));
	log_set_filter(scrub_filter, r->scrub);
	if (open_gate(r, err) < 0)
		return -1;
	open_pool(r);
	r->ctx = (struct step_context){
		.loop = &r->loop,
		.gate = r->gate,
		.scrub = r->scrub,
		.pool = r->pool,
		.grace_ms = STEP_GRACE_MS,
		.step_ended = on_step_ended,
		.verdict = on_verdict,
		.arg = r,
	};
	r->jobs = jobs_that_fit();
	if (r->o->jobs && r->o->jobs < r->jobs)
		r->jobs = r->o->jobs;
	return 0;
}

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
	r->cmd_policy =
		plan_policy(&r->o->file->config.sandbox, &r->result->arena);
	r->credentials = credentials_new(&r->ctx, &r->cmd_policy);
	pool_let_sample(r->pool, &r->cmd_policy, r->o->file->config.dir);
	for (size_t i = 0; i < r->plan.n_steps; i++)
		give_credentials(r, &result->runs[i]);
	for (size_t i = 0; i < r->plan.n_steps; i++)
		step_expect(&result->runs[i]);
	r->loop.on_signal = on_signal;
	r->loop.on_signal_arg = r;
	if (walk(r, err) < 0)
		return -1;
	fill_report(r);
	finish_ledger(r);
	return 0;
}

static void run_release(struct run *r)
{
	log_set_filter(NULL, NULL);
	credentials_free(r->credentials);
	pool_free(r->pool);
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
	status = prepare(&r, err);
	if (status == 0 && !ret->busy_skipped)
		status = execute(&r, err);
	if (status < 0) {
		record_failure(&r, err);
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
