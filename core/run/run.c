#include "core/run/run.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "core/base/arena.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/client/eras.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/config/leash.h"
#include "core/config/server_url.h"
#include "core/report/ledger.h"
#include "core/report/render.h"
#include "core/report/store.h"
#include "core/run/approve.h"
#include "core/run/attempts.h"
#include "core/run/credentials.h"
#include "core/run/events.h"
#include "core/run/foreach.h"
#include "core/run/nested.h"
#include "core/run/previous.h"
#include "core/run/remotes.h"

/* Descriptors of one child: three pipes, pidfd, listener (contract: 5). */
#define FDS_PER_CHILD 5
/* Descriptors of the runner: files that every child may read are open
 * (gate/prepare/base.def). */
#define FDS_OWN 96

/* ---- notices, said once ---- */

/*
 * Notices that a person needs once: said when something about them changed
 * since the last run of the same file, so that mail of cron is empty on a
 * quiet day. The state directory keeps sums of the sentences of each file, not
 * the sentences, in one file of at most NOTICES_MAX lines; the oldest go first.
 */
#define NOTICES_MAX 512

/* "FILE SENTENCE", halves of their sums in hexadecimal */
#define SUM_BYTES 32
#define LINE_BYTES (SUM_BYTES + 1 + SUM_BYTES)

struct notices {
	struct arena arena;
	const char *path;	  /* NULL: nothing is kept */
	char file[SUM_BYTES + 1]; /* sum of the configuration's path */
	struct strlist others;	  /* lines of other files */
	struct strlist before, now;
};

static void add_sum(const char *text, char sum[SUM_BYTES + 1])
{
	char all[SHA256_HEX_BYTES];

	sha256_hex(str_of(text), all);
	memcpy(sum, all, SUM_BYTES);
	sum[SUM_BYTES] = '\0';
}

static void read_lines(struct notices *n)
{
	AUTO(buf_release)
	struct buf text = BUF_INIT(NOTICES_MAX * (LINE_BYTES + 1));
	struct err err = ERR_INIT;
	struct str rest;

	/* without the file, or with one that is too long, all is news */
	if (fd_read_regular(n->path, &text, &err) < 0)
		return;
	rest = buf_str(&text);
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');

		if (line.n == LINE_BYTES)
			list_add(str_starts(line, n->file) ? &n->before
							   : &n->others,
				 &n->arena,
				 arena_strndup(&n->arena, line.p, line.n));
	}
}

/*
 * Read what the last run said. Without a state directory (NULL), and with -v,
 * everything is news; with -q nothing is kept.
 *
 * state_dir, file  borrowed until notices_close()
 */
static struct notices *notices_open(const char *state_dir, const char *file)
{
	struct notices *n = mem_zalloc(sizeof(*n));

	add_sum(file ? file : "", n->file);
	/* with -q nothing is said, and nothing may count as said */
	if (state_dir && log_level() >= LOG_NOTE) {
		n->path = arena_printf(&n->arena, "%s/notices", state_dir);
		read_lines(n);
	}
	return n;
}

/* Report whether the last run did not say that; it counts as said now. */
static bool notices_has_news(struct notices *n, const char *sentence)
{
	char sum[SUM_BYTES + 1];
	const char *line;

	add_sum(sentence, sum);
	line = arena_printf(&n->arena, "%s %s", n->file, sum);
	if (!list_has(&n->now, line))
		list_add(&n->now, &n->arena, line);
	return log_level() > LOG_NOTE || !list_has(&n->before, line);
}

static bool is_same(const struct strlist *a, const struct strlist *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!list_has(b, a->item[i]))
			return false;
	return a->n == b->n;
}

static void keep(const struct notices *n)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t all = n->others.n + n->now.n;
	struct err err = ERR_INIT;

	for (size_t i = all > NOTICES_MAX ? all - NOTICES_MAX : 0; i < all; i++)
		buf_addf(&text, "%s\n",
			 i < n->others.n ? n->others.item[i]
					 : n->now.item[i - n->others.n]);
	/* a notice that is said once more does no harm */
	(void)!fd_replace_file(n->path, buf_str(&text), 0600, false, &err);
}

/*
 * Keep what was said, where that differs from the last run, and free.
 *
 * is_whole  false: a part of the routine ran, so that what was not said now
 *	     still counts
 */
static void notices_close(struct notices *n, bool is_whole)
{
	if (!n)
		return;
	for (size_t i = 0; !is_whole && i < n->before.n; i++)
		if (!list_has(&n->now, n->before.item[i]))
			list_add(&n->now, &n->arena, n->before.item[i]);
	if (n->path && !is_same(&n->now, &n->before))
		keep(n);
	arena_release(&n->arena);
	free(n);
}

/* ---- the run ---- */

/* Everything of one run that is not part of its result. */
struct run {
	const struct run_options *o;
	struct run_result *result;
	struct walk *walk; /* of the result */
	struct walk_world world;
	struct jobs_giver giver; /* the walk */
	struct gate_leash leash;
	struct gate *gate;
	struct ledger *ledger; /* NULL: dry run or not writable */
	int lock;	       /* of the routine; -1 without */
	struct loop loop;
	bool has_loop;
	struct scrub *scrub;
	struct eras *eras;
	struct pool *pool;
	struct credentials *credentials;
	struct remotes *remotes;
	struct notices *notices;
	struct approvals approvals;
	bool has_paused;  /* use_pause() */
	bool is_unsynced; /* the disk refuses, and that was said */
	int journal;	  /* of results; -1: none yet */
	bool has_no_journal;
	struct loop_timer tick;
	uint64_t begin_ns;
	int64_t begin_wall_ns;
	struct strlist warnings; /* in the arena of the result */
};

/* Warn on stderr, and in the report. */
static void warn(struct run *r, const char *sentence)
{
	log_warning("%s", sentence);
	list_add(&r->warnings, &r->result->arena,
		 arena_strdup(&r->result->arena, sentence));
}

static bool is_whole(const struct run_options *o)
{
	return !o->only_step && !o->only.n && !o->skip.n && !o->from;
}

/* Name the routine, or one step of it: in the ledger `step` must not look like
   a run of the whole routine, and a trace not like one under the policy. */
static struct ledger_routine which_of(struct run *r)
{
	const struct run_options *o = r->o;
	struct ledger_routine which = {
		.name = r->walk->plan.routine->name,
		.file = o->file->config.path,
		.whole = is_whole(o),
	};

	if (o->only_step)
		which.name =
			arena_printf(&r->result->arena, "%s/%s%s", which.name,
				     o->only_step, o->tracer ? " (trace)" : "");
	return which;
}

/* Signals that end a run. */
static const char *signal_name(int signal)
{
	return signal == SIGINT	   ? "SIGINT"
	       : signal == SIGTERM ? "SIGTERM"
				   : "SIGHUP";
}

/* ---- afterwards: the report and the end in the ledger ---- */

static void fill_facts(struct run *r)
{
	AUTO(buf_release) struct buf run = BUF_INIT(BUF_UNBOUNDED);
	uint64_t ns = loop_now(&r->loop) - r->begin_ns;
	struct utsname u;
	struct jw w;

	jw_init(&w, &run, false);
	jw_object(&w);
	jw_kv_cstr(&w, "matins", MATINS_VERSION);
	if (uname(&u) == 0)
		jw_kv_cstr(&w, "kernel", u.release);
	facts_time(&w, "started", r->begin_wall_ns);
	facts_time(&w, "finished", r->loop.clock->wall_ns(r->loop.clock));
	jw_kv_int(&w, "duration_us", (int64_t)(ns / 1000));
	if (r->o->file->config.path)
		jw_kv_cstr(&w, "config", r->o->file->config.path);
	if (r->leash.source)
		jw_kv_cstr(&w, "leash", r->leash.source);
	if (r->loop.signal)
		jw_kv_cstr(&w, "ended_by", signal_name(r->loop.signal));
	if (r->walk->earlier) {
		jw_key(&w, "taken_from");
		jw_uint(&w, r->walk->earlier->generation);
	}
	jw_kv_list(&w, "warnings", &r->warnings);
	jw_end(&w);
	r->result->report.run = arena_str(&r->result->arena, buf_str(&run));
}

static void fill_report(struct run *r)
{
	struct report *report = &r->result->report;

	walk_report(r->walk, &r->result->arena, report);
	for (size_t i = 0; i < report->n_steps; i++)
		r->result->scrubbed += r->walk->runs[i].scrubbed;
	fill_facts(r);
	r->result->exit_status = r->loop.signal ? 128 + r->loop.signal
						: report_exit_status(report);
}

static void print_json(const void *report, struct buf *out)
{
	const struct render_options full = {.view = VIEW_FULL};

	render_find("json")->print(report, &full, out);
}

/* Let go of programs and of what they need; results no longer do. */
static void free_gate(void *arg)
{
	struct run *r = arg;

	walk_leave_loop(r->walk);
	pool_free(r->pool);
	remotes_free(r->remotes);
	credentials_free(r->credentials);
	gate_free(r->gate);
	r->pool = NULL;
	r->remotes = NULL;
	r->credentials = NULL;
	r->gate = NULL;
}

/* ---- results as they come, for a run that is lost ---- */

static int open_journal(struct run *r, struct err *err)
{
	const struct config *config = &r->o->file->config;

	r->journal = store_journal(ledger_dir(r->ledger), config->path,
				   r->result->report.generation, err);
	return r->journal < 0 ? -1 : 0;
}

/* Keep a result that `run --resume` may take. */
static void keep_result(struct run *r, const struct report_step *s)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct report_step one = *s;
	const struct report report = {
		.generation = r->result->report.generation,
		.routine = r->result->report.routine,
		.steps = &one,
		.n_steps = 1,
	};
	struct err err = ERR_INIT;

	if (!r->ledger || s->state != STATE_OK || r->has_no_journal ||
	    r->walk->plan.n_steps < 2 || !r->o->file->config.keep_runs)
		return;
	print_json(&report, &line);
	if ((r->journal >= 0 || open_journal(r, &err) == 0) &&
	    fd_write_all(r->journal, line.p, line.n) == 0)
		return;
	r->has_no_journal = true;
	warn(r, arena_printf(&r->result->arena,
			     "if this run is lost it cannot be resumed: %s",
			     err.kind ? err.msg : strerror(errno)));
}

static void end_journal(struct run *r)
{
	if (r->journal >= 0)
		store_end_journal(ledger_dir(r->ledger),
				  r->o->file->config.path,
				  r->result->report.generation);
	fd_closep(&r->journal);
}

static void finish_ledger(struct run *r)
{
	struct arena *arena = &r->result->arena;
	const struct report *report = &r->result->report;
	const struct fd_text text = {print_json, report, free_gate, r};
	struct err err = ERR_INIT;
	struct ledger_end end = {
		.which = which_of(r),
		.summary = report_summary(report, arena),
		.success = report_success(report),
		.exit_status = r->result->exit_status,
		.wall_ns = r->loop.clock->wall_ns(r->loop.clock),
	};

	if (!r->ledger)
		return;
	/* "morning/host: 1 ran, …" for one step: no run of the whole routine */
	if (r->o->only_step)
		end.summary =
			arena_printf(arena, "%s%s", end.which.name,
				     end.summary + strlen(report->routine));
	if (ledger_finish(r->ledger, report->generation, &end, &text,
			  r->o->file->config.keep_runs, &err) == 0) {
		end_journal(r);
		return;
	}
	warn(r, arena_printf(arena, "this run is not fully recorded: %s",
			     err.msg));
	fill_facts(r);
	if (r->o->require_ledger &&
	    (r->result->exit_status == 0 || r->is_unsynced))
		r->result->exit_status = err_exit_status(err.kind);
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
		.which = which_of(r),
		.summary = why->msg,
		.exit_status = err_exit_status(why->kind),
		.wall_ns = r->loop.clock->wall_ns(r->loop.clock),
	};
	end.which.whole = false;
	if (r->o->tracer)
		end.summary = arena_printf(&r->result->arena, "%s: %s",
					   end.which.name, why->msg);
	if (ledger_finish(r->ledger, r->result->report.generation, &end, NULL,
			  r->o->file->config.keep_runs, &ignored) < 0)
		log_warning("this run is not recorded: %s", ignored.msg);
}
/* ---- lock and generation ---- */

static bool asks_for_lock(const struct run *r)
{
	const char *mode = r->walk->plan.routine->on_busy;

	return mode && strcmp(mode, "run") != 0;
}

static int take_lock(struct run *r, struct err *err)
{
	const char *mode = r->walk->plan.routine->on_busy;
	struct ledger_routine which = which_of(r);

	if (!asks_for_lock(r))
		return 0;
	which.name = r->walk->plan.routine->name;
	if (ledger_lock_routine(r->ledger, &which, strcmp(mode, "wait") == 0,
				&r->lock, err) == 0)
		return 0;
	r->result->busy_skipped =
		err->kind == ERR_BUSY && strcmp(mode, "skip") == 0;
	return r->result->busy_skipped ? 0 : -1;
}

/* Steps that start programs wait for the disk while these get ready. */
static bool has_programs_only(const struct run *r)
{
	for (size_t i = 0; i < r->walk->plan.n_steps; i++) {
		const struct step *step = r->walk->plan.steps[i].step;
		const struct server *server = step->server;

		if ((server && server->url) || step->routine)
			return false;
	}
	return true;
}

/* Flush; the time of a slow disk is not that of the steps. */
static int flush_ledger(struct run *r, struct err *err)
{
	struct loop *l = &r->loop;
	uint64_t begin = l->clock->now_ns(l->clock);
	int rc = ledger_sync(r->ledger, err);
	uint64_t spent = l->clock->now_ns(l->clock) - begin;

	/* as a rule nothing was left to flush */
	for (size_t i = 0; spent >= NS_PER_MS && i < r->walk->plan.n_steps;
	     i++) {
		struct loop_timer *t = &r->walk->runs[i].budget;

		if (t->index)
			loop_timer_set(l, t, t->due_ns + spent);
	}
	return rc;
}

/* For gate_config.before_exec: nothing runs that is not recorded for good. */
static int record_start(void *arg, struct err *err)
{
	struct run *r = arg;
	bool is_required = r->o->require_ledger || asks_for_lock(r);

	if (!r->ledger || (r->is_unsynced && !is_required) ||
	    flush_ledger(r, err) == 0)
		return 0;
	r->is_unsynced = true;
	if (is_required)
		return err_wrap(err, "the ledger is required");
	warn(r, arena_printf(&r->result->arena, "this run is not recorded: %s",
			     err->msg));
	*err = (struct err)ERR_INIT;
	return 0;
}

/* Take a generation, or warn that there is none. */
static int open_ledger(struct run *r, struct err *err)
{
	const struct ledger_routine which = which_of(r);
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
				 &r->result->report.generation, &why) == 0 &&
		    (has_programs_only(r) || ledger_sync(r->ledger, &why) == 0))
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

/* ---- gate, pool and callbacks that the steps share ---- */

static void on_step_begun(void *arg, const struct step_run *s)
{
	struct run *r = arg;

	if (r->o->observer.begun)
		r->o->observer.begun(r->o->observer.arg, s->plan->step->name);
}

static void on_step_ended(void *arg, const struct step_run *s)
{
	struct run *r = arg;

	keep_result(r, &s->result);
	if (r->o->observer.ended)
		r->o->observer.ended(r->o->observer.arg, &s->result);
}

static void on_progress(void *arg, const struct step_run *s, const char *note)
{
	struct run *r = arg;

	events_progress(r->o->events, s->ctx->path, s->plan->step->name, note);
	if (r->o->observer.progress)
		r->o->observer.progress(r->o->observer.arg, s->plan->step->name,
					note);
}

static void on_verdict(void *arg, const struct step_run *s,
		       const struct gate_verdict *v)
{
	struct run *r = arg;
	const struct run_tracer *t = r->o->tracer;

	if (t)
		t->ended(t->arg, r->gate, s->plan, v,
			 s->result.state == STATE_OK, r->scrub);
}

static bool has_news(void *arg, const char *sentence)
{
	struct run *r = arg;

	return notices_has_news(r->notices, sentence);
}

static int open_gate(struct run *r, struct err *err)
{
	const struct config *config = &r->o->file->config;
	struct arena *arena = &r->result->arena;
	const char *state = state_dir_find(arena);
	const struct strlist none = {NULL, 0};
	struct gate_config g = {
		.state_dir = state,
		.has_news = has_news,
		.has_news_arg = r,
		.before_exec = record_start,
		.before_exec_arg = r,
	};
	const char *says;

	if (leash_find(config, &none, arena, &r->leash, err) < 0)
		return -1;
	if (r->o->tracer)
		leash_open_for_trace(&r->leash);
	r->notices = notices_open(r->ledger ? ledger_dir(r->ledger) : NULL,
				  config->path);
	says = arena_printf(arena, "leash: %s", r->leash.source);
	if (notices_has_news(r->notices, says))
		log_note("%s", says);
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
	if (limit.rlim_cur != limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0 &&
		    getrlimit(RLIMIT_NOFILE, &limit) < 0)
			return 1;
	}
	n = limit.rlim_cur > FDS_OWN ? limit.rlim_cur - FDS_OWN : 0;
	n /= FDS_PER_CHILD;
	if (n < 1)
		return 1;
	return n > LIMIT_STEPS ? LIMIT_STEPS : (unsigned)n;
}

static void open_pool(struct run *r)
{
	const struct config *config = &r->o->file->config;
	const struct remotes_options remote = {
		.loop = &r->loop,
		.gate = r->gate,
		.scrub = r->scrub,
		.keeps_apart = true,
		.state_dir = state_dir_find(&r->result->arena),
		.config = config,
	};

	r->eras = eras_open(remote.state_dir);
	r->credentials = credentials_new(&(struct credentials_context){
		.loop = &r->loop,
		.gate = r->gate,
		.scrub = r->scrub,
		.policy = &config->sandbox,
		.config = config,
	});
	r->remotes = remotes_new(&remote);
	r->pool = pool_new(&(struct pool_options){
		.client = {.loop = &r->loop,
			   .gate = r->gate,
			   .scrub = r->scrub,
			   .eras = r->eras},
		.sampling_policy = &config->sandbox,
		.sampling_cwd = config->dir,
		.remotes = r->remotes,
		.credentials = r->credentials,
	});
}

/* Who does a step, or a part of one, that is neither program nor call. */
static const struct step_doer *doer_of(const struct step *step,
				       const struct step_run *whole)
{
	if (step->foreach && !whole)
		return &foreach_doer;
	if (step->retry.max && (!whole || whole->doer != &attempts_doer))
		return &attempts_doer;
	return step->routine   ? &nested_doer
	       : step->message ? &approve_doer
			       : NULL;
}

static void open_world(struct run *r)
{
	const struct run_options *o = r->o;
	struct walk_world *w = &r->world;
	struct ledger_routine which;

	w->ctx = (struct step_context){
		.config = &o->file->config,
		.shows_advice = o->shows_advice,
		.loop = &r->loop,
		.gate = r->gate,
		.scrub = r->scrub,
		.pool = r->pool,
		.jobs = &w->jobs,
		.doer = doer_of,
		.approvals = &r->approvals,
		.path = "",
		.grace_ms = CLIENT_GRACE_MS,
		.verdict = on_verdict,
		.progress = on_progress,
		.arg = r,
	};
	r->approvals = (struct approvals){
		.given = o->approved,
		.hold = o->observer.hold,
		.arg = o->observer.arg,
	};
	w->jobs.max = jobs_that_fit();
	if (o->jobs && o->jobs < w->jobs.max)
		w->jobs.max = o->jobs;
	w->credentials = r->credentials;
	w->ledger = r->ledger;
	w->events = o->events;
	w->generation = r->result->report.generation;
	w->begin_wall_ns = r->begin_wall_ns;
	w->no_cache = o->no_cache || o->tracer;
	if (!o->tracer)
		return;
	which = which_of(r);
	which.name = r->walk->plan.routine->name;
	w->earlier[0] = o->earlier;
	w->earlier[1] =
		previous_find(r->ledger, &which, false, UINT64_MAX,
			      &r->result->arena);
}

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
	struct ledger *l = r->ledger;
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
	};

	if (loop_init(&r->loop, clock_system(), err) < 0)
		return -1;
	r->has_loop = true;
	r->begin_ns = loop_now(&r->loop);
	r->begin_wall_ns = r->loop.clock->wall_ns(r->loop.clock);
	if (plan_make(&p, &result->arena, &r->walk->plan, err) < 0)
		return -1;
	for (size_t i = 0; i < r->walk->plan.warnings.n; i++)
		warn(r, r->walk->plan.warnings.item[i]);
	if (open_ledger(r, err) < 0)
		return -1;
	if (result->busy_skipped)
		return 0;
	if (find_earlier(r, err) < 0)
		return -1;
	r->scrub = scrub_new();
	for (size_t i = 0; i < o->file->header_values.n; i++)
		scrub_add(r->scrub, str_of(o->file->header_values.item[i]));
	log_set_filter(scrub_log_filter, r->scrub);
	if (open_gate(r, err) < 0)
		return -1;
	open_pool(r);
	open_world(r);
	return 0;
}

/* ---- from the first step to the last ---- */

/* Ctrl-C ends all steps in order; a second one at once. */
static void on_signal(void *arg, int signal)
{
	struct run *r = arg;

	if (r->loop.signal_count > 1)
		pool_hurry(r->pool, NULL, POOL_KILL);
	walk_cancel(r->walk, signal_name(signal));
}

static void on_tick(void *arg)
{
	struct run *r = arg;

	r->o->observer.tick(r->o->observer.arg);
	loop_timer_set(&r->loop, &r->tick,
		       loop_now(&r->loop) + r->o->observer.tick_ms * NS_PER_MS);
}

/* While programs start there is time for what else would come at the end. */
static void use_pause(struct run *r)
{
	const struct config *config = &r->o->file->config;

	if (r->ledger && !r->has_paused)
		ledger_make_room(r->ledger, config->path, config->keep_runs);
	r->has_paused = true;
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
		bool more = jobs_begin(&r->world.jobs);

		/* the last of a server may have been skipped or cancelled */
		if (walk_is_over(r->walk) && pool_is_idle(r->pool))
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

/* ---- from first to last ---- */

static int execute(struct run *r, struct err *err)
{
	const struct run_tracer *t = r->o->tracer;
	struct run_result *result = r->result;

	for (size_t i = 0; t && i < r->walk->plan.n_steps; i++)
		if (t->begin(t->arg, r->gate, &r->walk->plan.steps[i], err) < 0)
			return -1;
	events_run_begun(r->o->events, result->report.generation,
			 r->walk->plan.routine->name);
	r->walk->begun = on_step_begun;
	r->walk->ended = on_step_ended;
	r->walk->arg = r;
	walk_init(r->walk, &r->world, &result->arena);
	r->giver = (struct jobs_giver){walk_go, r->walk};
	jobs_join(&r->world.jobs, &r->giver);
	if (walk_plan(r, err) < 0)
		return -1;
	fill_report(r);
	finish_ledger(r);
	events_run_ended(r->o->events, result->exit_status,
			 report_summary(&result->report, &result->arena));
	return 0;
}

int run_routine(const struct run_options *o, struct run_result *ret,
		struct err *err)
{
	struct run r = {.o = o,
			.result = ret,
			.walk = &ret->walk,
			.lock = -1,
			.journal = -1};
	int status;

	*ret = (struct run_result){.arena = ARENA_INIT};
	ret->report.routine = o->routine->name;
	ret->report.dry_run = o->dry_run;
	ret->report.allow_empty = o->allow_empty;
	status = prepare(&r, err);
	if (status == 0 && !ret->busy_skipped)
		status = execute(&r, err);
	if (status < 0) {
		events_run_ended(o->events, err_exit_status(err->kind),
				 err->msg);
		record_failure(&r, err);
		/* programs that run need the loop and the gate to end */
		run_result_release(ret);
	}
	free_gate(&r);
	jobs_release(&r.world.jobs);
	fd_closep(&r.lock);
	fd_closep(&r.journal);
	log_set_filter(NULL, NULL);
	eras_free(r.eras);
	scrub_free(r.scrub);
	notices_close(r.notices, is_whole(o));
	ledger_free(r.ledger);
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
