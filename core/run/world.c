#include "core/run/world.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/client/eras.h"
#include "core/config/leash.h"
#include "core/report/notices.h"
#include "core/run/credentials.h"
#include "core/run/events.h"
#include "core/run/many.h"
#include "core/run/previous.h"
#include "core/run/remotes.h"
#include "core/run/step_sync.h"

/* Descriptors of one child: three pipes, pidfd, listener (contract: 5). */
#define FDS_PER_CHILD 5
/* Descriptors of the runner: files that every child may read are open
 * (gate/prepare/base.def). */
#define FDS_OWN 96

/* "outer/inner" of a step of a routine within. */
static const char *path_of(const struct step_run *s, struct buf *out)
{
	buf_addf(out, "%s%s", s->ctx->path, s->plan->step->name);
	return buf_cstr(out);
}

static void on_step_begun(void *arg, const struct step_run *s)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	const struct world *w = arg;
	const struct run_options *o = w->record->o;

	events_tell(o->events,
		    &(struct event){"step_begun", .path = s->ctx->path,
				    .step = s->plan->step->name});
	if (o->observer.begun)
		o->observer.begun(o->observer.arg, path_of(s, &path));
}

static void on_step_ended(void *arg, const struct step_run *s)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	const struct world *w = arg;
	const struct run_options *o = w->record->o;

	events_tell(o->events,
		    &(struct event){"step_ended", .path = s->ctx->path,
				    .step = s->result.name,
				    .result = &s->result});
	if (!*s->ctx->path)
		record_keep(w->record, &s->result);
	if (o->observer.ended)
		o->observer.ended(o->observer.arg, path_of(s, &path),
				  &s->result);
}

static void on_progress(void *arg, const struct step_run *s, const char *note)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	const struct world *w = arg;
	const struct run_options *o = w->record->o;

	events_tell(o->events,
		    &(struct event){"progress", .path = s->ctx->path,
				    .step = s->plan->step->name, .note = note});
	if (o->observer.progress)
		o->observer.progress(o->observer.arg, path_of(s, &path), note);
}

static void on_verdict(void *arg, const struct step_run *s,
		       const struct gate_verdict *v)
{
	struct world *w = arg;
	const struct run_tracer *t = w->record->o->tracer;

	if (t)
		t->ended(t->arg, w->gate, s->plan, v,
			 s->result.state == STATE_OK, w->scrub);
}

static bool has_news(void *arg, const char *sentence)
{
	struct world *w = arg;

	return notices_has_news(w->notices, sentence);
}

static int open_gate(struct world *w, struct err *err)
{
	const struct config *config = &w->record->o->file->config;
	struct arena *arena = &w->record->result->arena;
	const char *state = state_dir_find(arena);
	const struct strlist none = {NULL, 0};
	struct gate_config g = {
		.state_dir = state,
		.has_news = has_news,
		.has_news_arg = w,
		.before_exec = record_start,
		.before_exec_arg = w->record,
	};
	const char *says;

	if (leash_find(config, &none, arena, &w->leash, err) < 0)
		return -1;
	if (w->record->o->tracer)
		leash_open_for_trace(&w->leash);
	w->notices = notices_open(
		w->record->ledger ? ledger_dir(w->record->ledger) : NULL,
		config->path);
	says = arena_printf(arena, "leash: %s", w->leash.source);
	if (notices_has_news(w->notices, says))
		log_note("%s", says);
	g.leash = w->leash;
	if (w->record->o->many)
		list_add(&g.protect, arena, w->record->o->many->folder);
	leash_guard(config, state, NULL, arena, &g);
	g.generation = w->record->result->report.generation;
	return gate_new(&g, &w->gate, err);
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

static void open_pool(struct world *w)
{
	const struct config *config = &w->record->o->file->config;
	const struct remotes_options remote = {
		.loop = w->record->loop,
		.gate = w->gate,
		.scrub = w->scrub,
		.keeps_apart = true,
		.state_dir = state_dir_find(&w->record->result->arena),
		.config = config,
	};

	/* each session of a tape begins as if nothing was known */
	w->eras = w->tape ? NULL : eras_open(remote.state_dir);
	w->credentials = credentials_new(&(struct credentials_context){
		.loop = w->record->loop,
		.gate = w->gate,
		.scrub = w->scrub,
		.policy = &config->sandbox,
		.config = config,
		.is_replay = tape_is_replay(w->tape),
	});
	w->remotes = remotes_new(&remote);
	w->pool = pool_new(&(struct pool_options){
		.client = {.loop = w->record->loop,
			   .gate = w->gate,
			   .scrub = w->scrub,
			   .eras = w->eras},
		.sampling_policy = &config->sandbox,
		.sampling_cwd = config->dir,
		.remotes = w->remotes,
		.credentials = w->credentials,
		.tape = w->tape,
	});
}

/* Choose who does a step, or a part of one. */
static const struct step_doer *doer_of(const struct step_run *s)
{
	const struct step *step = s->plan->step;
	const struct step_run *whole = s->ctx->whole;

	if (s->ctx->world->many && !s->ctx->input)
		return &many_doer;
	if (step->foreach && !whole)
		return &foreach_doer;
	if (step->retry.max && (!whole || whole->doer != &attempts_doer))
		return &attempts_doer;
	return step->routine   ? &nested_doer
	       : step->message ? &approve_doer
	       : step->is_sync ? &sync_doer
	       : s->is_call    ? &call_doer
			       : &program_doer;
}

static void set_walks(struct world *w)
{
	const struct record *rec = w->record;
	const struct run_options *o = rec->o;
	struct walk_world *walks = &w->walks;
	const struct ledger_routine which = {
		.name = rec->result->walk.plan.routine->name,
		.file = o->file->config.path,
	};

	walks->ctx = (struct step_context){
		.config = &o->file->config,
		.shows_advice = o->shows_advice,
		.loop = rec->loop,
		.gate = w->gate,
		.scrub = w->scrub,
		.pool = w->pool,
		.tape = w->tape,
		.jobs = &walks->jobs,
		.doer = doer_of,
		.approvals = &w->approvals,
		.path = "",
		.grace_ms = CLIENT_GRACE_MS,
		.verdict = on_verdict,
		.progress =
			o->observer.progress || o->events ? on_progress : NULL,
		.arg = w,
	};
	w->approvals = (struct approvals){
		.given = o->approved,
		.tools = o->confirmed,
		.hold = o->observer.hold,
		.arg = o->observer.arg,
	};
	walks->jobs.max = jobs_that_fit();
	if (o->jobs && o->jobs < walks->jobs.max)
		walks->jobs.max = o->jobs;
	walks->credentials = w->credentials;
	walks->ledger = rec->ledger;
	walks->many = o->many;
	walks->events = o->events;
	walks->begun = on_step_begun;
	walks->ended = on_step_ended;
	walks->generation = w->run.generation;
	walks->begin_wall_ns = w->run.begin_wall_ns;
	walks->no_cache = o->no_cache || o->tracer || w->tape;
	if (!o->tracer)
		return;
	walks->earlier[0] = o->earlier;
	walks->earlier[1] = previous_find(rec->ledger, &which, false,
					  UINT64_MAX, &rec->result->arena);
}

static int open_tape(struct world *w, struct err *err)
{
	const struct run_options *o = w->record->o;
	const struct tape_options options = {
		.dir = o->record ? o->record : o->replay,
		.config = &o->file->config,
		.scrub = w->scrub,
	};

	w->run.generation = w->record->result->report.generation;
	w->run.begin_wall_ns = w->record->begin_wall_ns;
	if (o->record)
		return tape_record(&options, &w->run, &w->tape, err);
	return o->replay ? tape_replay(&options, &w->run, &w->tape, err) : 0;
}

int world_open(struct world *w, struct record *rec, struct err *err)
{
	const struct strlist *values = &rec->o->file->header_values;

	w->record = rec;
	w->scrub = scrub_new();
	for (size_t i = 0; i < values->n; i++)
		scrub_add(w->scrub, str_of(values->item[i]));
	log_set_filter(scrub_log_filter, w->scrub);
	if (open_tape(w, err) < 0 || open_gate(w, err) < 0)
		return -1;
	open_pool(w);
	set_walks(w);
	return 0;
}

void world_let_go(void *arg)
{
	struct world *w = arg;

	if (w->record)
		walk_leave_loop(&w->record->result->walk);
	pool_free(w->pool);
	remotes_free(w->remotes);
	credentials_free(w->credentials);
	gate_free(w->gate);
	w->pool = NULL;
	w->remotes = NULL;
	w->credentials = NULL;
	w->gate = NULL;
}

void world_close(struct world *w)
{
	world_let_go(w);
	free(w->walks.jobs.giver);
	log_set_filter(NULL, NULL);
	eras_free(w->eras);
	tape_free(w->tape);
	scrub_free(w->scrub);
	notices_close(w->notices, w->record && w->record->which.whole);
}
