/*
 * Before anything starts: the plan, the lock, a generation, the gate and what
 * all steps share.
 */
#include <sys/resource.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/config/references.h"
#include "core/run/run_inner.h"

/* Descriptors of one child: three pipes, pidfd, listener (contract: 5). */
#define FDS_PER_CHILD 5
/* Of the runner itself: what every child may read is open
 * (gate/prepare/base.def). */
#define FDS_OWN 96

/* ---- the plan ---- */

static int no_such_step(const struct routine *routine, const char *name,
			struct arena *arena, struct err *err)
{
	const char **known =
		ARENA_ARRAY(arena, const char *, routine->n_steps + 1);
	const char *near;

	for (size_t i = 0; i < routine->n_steps; i++)
		known[i] = routine->steps[i].name;
	near = str_nearest(str_of(name), known, routine->n_steps);
	return err_set(err, ERR_UNKNOWN_STEP, "routine %s has no step %s%s%s%s",
		       routine->name, name, near ? "; did you mean " : "",
		       near ? near : "", near ? "?" : "");
}

static bool is_one_of(struct str name, const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_is(name, list->item[i]))
			return true;
	return false;
}

static void warn_unused_params(struct run *r, const struct routine *routine)
{
	struct arena *arena = &r->result->arena;
	struct strlist known = references_inputs(routine, arena);

	for (size_t i = 0; i < r->o->params.n; i++) {
		struct str rest = str_of(r->o->params.item[i]);
		struct str name = str_cut(&rest, '=');
		const char *near = str_nearest(name, known.item, known.n);

		if (!is_one_of(name, &known))
			run_warn(r, arena_printf(arena,
						 "-p %.*s: no step uses "
						 "$input.%.*s%s%s%s",
						 STR_ARG(name), STR_ARG(name),
						 near ? "; did you mean " : "",
						 near ? near : "",
						 near ? "?" : ""));
	}
}

static int make_plan(struct run *r, struct err *err)
{
	const struct run_options *o = r->o;
	struct plan_options p = {
		.config = &o->file->config,
		.routine = o->routine,
		.only = o->only,
		.skip = o->skip,
		.given = {.params = o->params},
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
	if (plan_make(&p, &r->result->arena, &r->plan, err) < 0)
		return -1;
	/* `step` takes what the whole routine takes */
	warn_unused_params(r, o->routine);
	return 0;
}

/* ---- lock and generation ---- */

static bool asks_for_lock(const struct run *r)
{
	const char *mode = r->plan.routine->on_busy;

	return mode && strcmp(mode, "run") != 0;
}

static int take_lock(struct run *r, struct err *err)
{
	const char *mode = r->plan.routine->on_busy;
	struct ledger_routine which = run_which(r);

	if (!asks_for_lock(r))
		return 0;
	which.name = r->plan.routine->name;
	if (ledger_lock_routine(r->ledger, &which, strcmp(mode, "wait") == 0,
				&r->lock, err) == 0)
		return 0;
	if (err->kind != ERR_BUSY || strcmp(mode, "skip"))
		return -1;
	r->result->busy_skipped = true;
	return 0;
}

/* A generation, or a warning that there is none. */
static int open_ledger(struct run *r, struct err *err)
{
	const struct ledger_routine which = run_which(r);
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
		if (ledger_start(r->ledger, &which, r->begin_wall_ns,
				 &r->result->report.generation, &why) == 0)
			return 0;
	}
	if (r->o->require_ledger || asks_for_lock(r)) {
		*err = why;
		return err_wrap(err, r->o->require_ledger
					     ? "the ledger is required"
					     : "on_busy needs the ledger");
	}
	run_warn(r, arena_printf(&r->result->arena,
				 "this run is not recorded: %s", why.msg));
	ledger_free(r->ledger);
	r->ledger = NULL;
	return r->loop.signals < 0 ? loop_take_signals(&r->loop, err) : 0;
}

/* ---- what the steps share ---- */

static int open_gate(struct run *r, struct err *err)
{
	const struct config *config = &r->o->file->config;
	struct arena *arena = &r->result->arena;
	const char *state = state_dir_find(arena);
	const struct strlist none = {NULL, 0};
	struct gate_config g = {.state_dir = state};

	if (leash_find(config, &none, arena, &r->leash, err) < 0)
		return -1;
	if (r->o->tracer)
		leash_open_for_trace(&r->leash);
	log_note("leash: %s", r->leash.source);
	g.leash = r->leash;
	leash_guard(config, state, NULL, arena, &g);
	g.generation = r->result->report.generation;
	return gate_new(&g, &r->gate, err);
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

	struct remotes_options remote = {
		.loop = &r->loop,
		.gate = r->gate,
		.scrub = r->scrub,
		.keeps_apart = true,
		.state_dir = state_dir_find(&r->result->arena),
		.config = &r->o->file->config,
	};

	r->eras = eras_open(remote.state_dir);
	c.eras = r->eras;
	r->pool = pool_new(&c);
	r->remotes = remotes_new(&remote);
}

int run_prepare(struct run *r, struct err *err)
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
		.grace_ms = CLIENT_GRACE_MS,
		.step_ended = run_on_step_ended,
		.verdict = run_on_verdict,
		.arg = r,
	};
	r->jobs = jobs_that_fit();
	if (r->o->jobs && r->o->jobs < r->jobs)
		r->jobs = r->o->jobs;
	return 0;
}
