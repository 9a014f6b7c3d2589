#include "core/run/walk.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/client/failure.h"
#include "core/client/tape.h"
#include "core/config/paths.h"
#include "core/config/references.h"
#include "core/config/server_url.h"
#include "core/run/previous.h"
#include "core/run/turn.h"
#include "gate/gate.h"

/*
 * ---- step inputs ----
 *
 * Digest of all that a step is made of, to tell whether an earlier result is
 * that of the same work.
 */

static void add_str(struct sha256 *sum, struct str s)
{
	digest_number(sum, s.n);
	if (s.n)
		sha256_add(sum, s.p, s.n);
}

/* Keys that say what is done, as they are written. */
static void add_written(struct sha256 *sum, const struct toml_value *table)
{
	static const char *const keys[] = {
		"type",	      "server",		"url",	       "command",
		"tool",	      "script",		"interpreter", "routine",
		"foreach",    "with",		"message",     "expect",
		"servers",    "strict",		"sandbox",     "stdout_max",
		"on_refusal", "args_from_data",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		const struct toml_value *v = table && table->type == TOML_TABLE
						     ? toml_get(table, keys[i])
						     : NULL;

		if (v)
			toml_to_json(v, &text);
		add_str(sum, buf_str(&text));
	}
}

/* Of secrets their names only. */
static void add_env(struct sha256 *sum, const struct env_refs *env)
{
	digest_number(sum, env->n + env->n_plain);
	for (size_t i = 0; i < env->n; i++)
		digest_text(sum, env->item[i].name);
	for (size_t i = 0; i < env->n_plain; i++) {
		digest_text(sum, env->plain[i].name);
		digest_text(sum, env->plain[i].is_secret ? NULL
							 : env->plain[i].value);
	}
}

/* A server as it is written, and how its answers are judged. */
static void add_server(struct sha256 *sum, const struct server *s)
{
	digest_text(sum, s->url);
	digest_text(sum, s->command);
	digest_list(sum, &s->args);
	digest_text(sum, s->cwd);
	add_env(sum, &s->env);
	gate_policy_digest(&s->sandbox, sum);
	digest_number(sum, s->strict);
	for (size_t i = 0; i < s->headers.n; i++) {
		const struct header *h = &s->headers.item[i];

		digest_text(sum, h->name);
		digest_text(sum, h->is_reference ? NULL : h->value);
	}
}

/* Digest of values that references of a step stand for. */
struct referred {
	struct sha256 *sum;
	struct values values;
};

/* References to steps are left out: their results are added whole. */
static void add_referred(void *arg, const struct ref *ref)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct referred *r = arg;
	struct str name, value = {NULL, 0};

	if (ref->root == REF_RUN || ref->root == REF_PREVIOUS) {
		(void)!values_find(&r->values, ref, &arena, &value,
				   ERR_IGNORED);
		add_str(r->sum, value);
	}
	if (ref->root != REF_INPUT)
		return;
	name = ref_first_key(ref, &arena);
	for (size_t i = 0; i < r->values.n_inputs; i++) {
		const struct input *input = &r->values.input[i];

		if (name.p && !str_eq(input->name, name))
			continue;
		add_str(r->sum, input->name);
		add_str(r->sum, input->text);
		add_str(r->sum, input->json);
	}
}

/* Values that the step refers to; other parameters are nothing to it. */
static void add_references(struct sha256 *sum, const struct values *v,
			   const struct step *step)
{
	struct referred r = {sum, *v};

	r.values.is_lenient = true;
	references_of_step(step, add_referred, &r);
}

/* Values that are filled in later than the turn. */
static void add_sources(struct sha256 *sum, const struct turn *t,
			const struct plan_step *p)
{
	for (size_t i = 0; i < p->flow->n_waits; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		const struct report_step *s =
			t->result(t->arg, p->flow->wait[i].step);
		struct jw w;

		jw_init(&w, &text, false);
		if (s && report_step_has_data(s))
			report_step_data(&w, s);
		if (s)
			report_step_output(&text, s);
		add_str(sum, buf_str(&text));
	}
	add_references(sum, &t->values, p->step);
	if (p->step->params) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		toml_to_json(p->step->params, &text);
		add_str(sum, buf_str(&text));
	}
}

/* Steps of a routine that is a step, and of those in it. */
static void add_routine(struct sha256 *sum, const struct config *config,
			const char *name, unsigned depth)
{
	const struct routine *r = depth < LIMIT_ROUTINE_DEPTH
					  ? config_routine(config, name)
					  : NULL;

	digest_text(sum, r ? r->out : NULL);
	for (size_t i = 0; r && i < r->n_steps; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (r->steps[i].written)
			toml_to_json(r->steps[i].written, &text);
		add_str(sum, buf_str(&text));
		if (r->steps[i].server)
			add_server(sum, r->steps[i].server);
		if (r->steps[i].routine)
			add_routine(sum, config, r->steps[i].routine,
				    depth + 1);
	}
}

/*
 * Sum up the inputs of a step whose turn has come: type, program, server, tool,
 * arguments and params with their values, standard input, what it may do, plain
 * headers, and the names of its variables. Of `foreach` and a step that is a
 * routine: also the results that it waits for, and the parameters. Pure.
 *
 * ret  hexadecimal
 */
static void step_inputs_digest(const struct turn *t, size_t step,
			       char ret[SHA256_HEX_BYTES])
{
	const struct plan_step *p = &t->plan->steps[step];
	struct sha256 sum;

	sha256_init(&sum);
	add_written(&sum, p->step->written);
	digest_text(&sum, p->request.program);
	digest_vector(&sum, p->request.argv);
	digest_text(&sum, p->request.cwd);
	digest_text(&sum, p->step->server_name);
	if (p->step->server)
		add_server(&sum, p->step->server);
	/* all that it may do, with that of the file and of the server */
	if (p->request.policy)
		gate_policy_digest(p->request.policy, &sum);
	digest_text(&sum, p->step->tool);
	add_str(&sum, p->inputs.json);
	add_str(&sum, p->input);
	add_str(&sum, p->items);
	add_env(&sum, &p->server_env);
	add_env(&sum, &p->step->env);
	if (p->step->routine)
		add_routine(&sum, p->config, p->step->routine, 0);
	if (p->step->foreach || !p->request.program)
		add_sources(&sum, t, p);
	sha256_end_text(&sum, ret);
}

/* ---- files ---- */

static bool is_before(const struct stat *st, struct str then)
{
	char text[CLOCK_TEXT_BYTES];

	clock_format((int64_t)st->st_ctim.tv_sec * (int64_t)NS_PER_S +
			     st->st_ctim.tv_nsec,
		     text);
	return then.n == strlen(text) && memcmp(text, then.p, then.n) < 0;
}

static bool is_older(const char *path, struct str then)
{
	struct stat st;

	return !path || (stat(path, &st) == 0 && is_before(&st, then));
}

/* The path without its first link, which must be older; NULL: it has none. */
static const char *follow_one(const char *path, struct str then,
			      bool *ret_is_older, struct arena *arena)
{
	const char *end = path;
	char target[PATH_MAX];
	struct stat st;

	while (*end) {
		size_t folder = (size_t)(end - path);
		const char *at;
		ssize_t n;

		end += 1 + strcspn(end + 1, "/");
		at = arena_strndup(arena, path, (size_t)(end - path));
		n = readlink(at, target, sizeof(target));
		if (n < 0)
			continue;
		*ret_is_older = lstat(at, &st) == 0 && is_before(&st, then);
		return arena_printf(
			arena, "%.*s%s%.*s%s", *target == '/' ? 0 : (int)folder,
			path, *target == '/' ? "" : "/", (int)n, target, end);
	}
	return NULL;
}

/* A link that was turned since leads to another file, however old. */
static bool way_is_older(const char *path, struct str then, struct arena *arena)
{
	bool older = true;

	for (unsigned n = 0; path && older && *path == '/'; n++) {
		if (n > 40)
			return false;
		path = follow_one(path, then, &older, arena);
	}
	return older;
}

/* Are files that are arguments by themselves older? What the program may write
   says nothing: it may be what the program made. */
static bool arguments_are_older(const struct gate_request *request,
				struct str then, struct arena *arena)
{
	for (const char *const *a = request->argv; a && *a && a[1]; a++) {
		const char *path = path_resolve(a[1], request->cwd, arena);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    !path_is_beneath(path, &request->policy->write) &&
		    (!is_older(path, then) || !way_is_older(path, then, arena)))
			return false;
	}
	return true;
}

/* program  that ran; n = 0: not known */
static bool request_is_older(struct gate *gate,
			     const struct gate_request *request,
			     struct str then, struct str program,
			     struct arena *arena)
{
	struct gate_explained e;

	if (!request->program)
		return true;
	return gate_explain(gate, request, arena, &e, ERR_IGNORED) == 0 &&
	       !e.missing_script && is_older(e.program, then) &&
	       (!program.n || str_is(program, e.program)) &&
	       (!strchr(request->program, '/') ||
		way_is_older(request->program, then, arena)) &&
	       is_older(e.interpreter, then) && is_older(e.script, then) &&
	       arguments_are_older(request, then, arena);
}

static bool step_is_older(struct gate *gate, const struct plan_step *p,
			  struct str then, struct str program, unsigned depth,
			  struct arena *arena)
{
	const struct plan_options o = {
		.config = p->config,
		.routine = p->step->routine
				   ? config_routine(p->config, p->step->routine)
				   : NULL,
		.given.is_optional = true,
		.dry_run = true,
	};
	struct plan plan;

	if (!o.routine)
		return request_is_older(gate, &p->request, then, program,
					arena);
	if (depth == LIMIT_ROUTINE_DEPTH ||
	    plan_make(&o, arena, &plan, ERR_IGNORED) < 0)
		return false;
	for (size_t i = 0; i < plan.n_steps; i++)
		if (!step_is_older(gate, &plan.steps[i], then, STR(""),
				   depth + 1, arena))
			return false;
	return true;
}

/*
 * Are the files that the step runs, its program and script, the same as then,
 * and those that are arguments by themselves and not writable to it? A file
 * that is not found, or was written, moved or led to by a new link since, is
 * not. Of a routine: those of its steps.
 *
 * run  facts of the step then: `started`, `program`
 */
static bool step_inputs_are_older(struct gate *gate, const struct plan_step *p,
				  struct str run)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	return step_is_older(
		gate, p,
		scan_decoded(scan_some(run, "started"), SIZE_MAX, &arena),
		scan_decoded(scan_some(run, "program"), SIZE_MAX, &arena), 0,
		&arena);
}

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
	w->ctx.input = w->input;
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
