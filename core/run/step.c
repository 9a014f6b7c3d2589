#include "core/run/step.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/audited.h"
#include "core/client/failure.h"
#include "core/client/tape.h"
#include "core/client/tool_check.h"
#include "core/run/condition.h"
#include "core/run/previous.h"
#include "core/run/save.h"
#include "core/run/step_result.h"
#include "core/run/step_words.h"

/*
 * ---- step facts ----
 *
 * Facts of a step: the object `run` of its result, in which two equal runs
 * differ.
 */

static bool sets(const struct env_refs *refs, const char *name)
{
	for (size_t i = 0; i < refs->n; i++)
		if (!strcmp(refs->item[i].name, name))
			return true;
	for (size_t i = 0; i < refs->n_plain; i++)
		if (!strcmp(refs->plain[i].name, name))
			return true;
	return false;
}

/* Plain values of the environment; `over` sets some of these otherwise. */
static void add_plain(struct cleaner *c, struct jw *w,
		      const struct env_refs *refs, const struct env_refs *over)
{
	for (size_t i = 0; i < refs->n_plain; i++) {
		const struct env_plain *p = &refs->plain[i];

		if (!p->is_secret && !(over && sets(over, p->name)))
			facts_text(c, w, p->name, str_of(p->value));
	}
}

static void add_environment(const struct step_run *s, struct cleaner *c,
			    struct jw *w)
{
	const struct env_refs *server = &s->plan->server_env;
	const struct env_refs *own = &s->plan->step->env;

	if (!server->n_plain && !own->n_plain)
		return;
	jw_kv_object(w, "env");
	add_plain(c, w, server, own);
	add_plain(c, w, own, NULL);
	jw_end(w);
}

/* Title that the server gives the tool, where a list of its tools was read. */
static void add_title(struct cleaner *c, struct jw *w, struct str tool)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	if (tool.p &&
	    scan_string_cut(tool_title(tool), LIMIT_NOISE_LINE, &title) &&
	    str_trim(buf_str(&title)).n)
		facts_text(c, w, "title", str_trim(buf_str(&title)));
}

static void add_session(const struct step_run *s, struct cleaner *c,
			struct jw *w)
{
	const struct step *step = s->plan->step;
	const struct step_session *m = s->session;

	facts_text(c, w, "server",
		   str_of(step->server ? step->server_name : step->command));
	facts_text(c, w, "tool", str_of(step->tool));
	if (!m)
		return;
	add_title(c, w, m->tool);
	jw_kv_opt(w, "session_of", m->user.session_of);
	jw_kv_opt(w, "started_afresh", m->user.afresh);
	if (m->facts.n > 1)
		jw_raw(w, str_skip(buf_str(&m->facts), 1));
	jw_kv_int(w, "result_repairs", m->repairs);
	c->hits += m->facts_scrubbed;
}

/* Write the facts, again where more is known than when the step ended. */
static void write_facts(struct step_run *s)
{
	AUTO(buf_release) struct buf run = BUF_INIT(BUF_UNBOUNDED);
	struct cleaner clean = {s->scrub, 0};
	struct jw w;

	w = jw_begin(&run);
	if (s->begin_ns) {
		facts_time(&w, "started", s->begin_wall_ns);
		jw_kv_int(&w, "duration_us",
			  (int64_t)((s->end_ns - s->begin_ns) / 1000));
	}
	if (*s->inputs)
		jw_kv_cstr(&w, "inputs", s->inputs);
	if (s->is_call)
		add_session(s, &clean, &w);
	if (s->doer->add_facts)
		s->doer->add_facts(s, &clean, &w);
	if (s->begin_ns)
		add_environment(s, &clean, &w);
	if (s->saved.n)
		jw_kv_raw(&w, "saved", s->saved);
	if (s->scrubbed + clean.hits)
		jw_kv_int(&w, "scrubbed", (int64_t)(s->scrubbed + clean.hits));
	jw_end(&w);
	s->result.run = arena_str(&s->arena, buf_str(&run));
}

static const char *const phase_names[] = {STEP_PHASES(ROW_TEXT)};

static void set_phase(struct step_run *s, enum step_phase phase)
{
	if (s->phase == phase)
		return;
	log_debug("step %s: %s -> %s", s->plan->step->name,
		  phase_names[s->phase], phase_names[phase]);
	s->phase = phase;
}

/* ---- the end ---- */

/* Fail a step that succeeded with another result than it expects. */
static void fail_unexpected(struct step_run *s)
{
	const char *why = NULL;

	if (s->result.state == STATE_OK && !s->doer->repeats)
		why = condition_unexpected(s->plan->step, &s->result,
					   &s->arena);
	if (why)
		report_step_set(&s->result, REASON_EXPECT, str_of(why));
}

/* Save files of a step that is ok, once for all its attempts; it fails where
   that fails. */
static void save_files(struct step_run *s, bool is_kept)
{
	if (s->plan->step->save && !s->ctx->whole &&
	    s->result.state == STATE_OK) {
		struct err err = ERR_INIT;

		if (saver_write(s->ctx->saver, s->plan->step, &s->result,
				s->raw, s->printed, is_kept, &s->arena,
				&s->saved, &err) < 0)
			report_step_set(
				&s->result, REASON_SAVE,
				str_of(arena_strdup(&s->arena, err.msg)));
	}
}

/*
 * Keep the first of the output of a program that failed. The end may be
 * missing, by the ceiling of stdout or because the program was ended.
 */
static void keep_output(struct step_run *s)
{
	AUTO(buf_release) struct buf first = BUF_INIT(BUF_UNBOUNDED);
	bool is_shown =
		report_step_has_data(&s->result) && s->mode != JUDGE_script;

	if (s->result.output.n || is_shown || !s->out.n ||
	    s->result.state == STATE_OK)
		return;
	buf_add_cut(&first, buf_str(&s->out), LIMIT_KEPT_OUTPUT);
	s->result.output = str_trim(step_scrubbed(
		s, arena_str(&s->arena, buf_str(&first)), scrub_cut));
}

/* Note that a tool which succeeded gave nothing; `expect` has judged that. */
static void note_empty(struct step_run *s)
{
	const struct report_answer *a = &s->result.answer;

	if (s->result.state != STATE_OK || s->plan->step->expect)
		s->result.lacks = LACKS_NOTHING;
	else if (a->content.n &&
		 report_answer_is_empty(a->content, a->structured))
		s->result.lacks = LACKS_CONTENT;
}

static void leave_pool(struct step_run *s)
{
	if (s->session)
		(void)!pool_leave(s->ctx->pool, &s->session->user, POOL_CLOSE,
				  s->ctx->grace_ms);
}

static void set_ended(struct step_run *s)
{
	env_release(&s->env);
	set_phase(s, STEP_ENDED);
	s->ctx->step_ended(s->ctx->ended_arg, s);
}

static void step_end(struct step_run *s)
{
	if (s->phase == STEP_ENDED)
		return;
	/* if leave() did not: the step may not have begun */
	leave_pool(s);
	if (!s->has_result)
		step_fail(s, REASON_INTERNAL, "the step ended without result");
	s->end_ns = loop_now(s->ctx->loop);
	fail_unexpected(s);
	note_empty(s);
	save_files(s, false);
	keep_output(s);
	/* facts of one execution are shown nowhere, but for an attempt's */
	if (!s->ctx->whole || s->ctx->whole->doer->add_facts)
		write_facts(s);
	loop_timer_clear(s->ctx->loop, &s->budget);
	set_ended(s);
}

void step_use(struct step_run *s, const struct report_step *kept,
	      uint64_t generation, bool is_cached)
{
	const struct report_step own = s->result;

	s->result = *kept;
	s->result.name = own.name;
	s->result.type = own.type;
	s->result.required = own.required;
	s->result.run =
		previous_facts(kept->run, generation,
			       is_cached ? "cached" : "taken_from", &s->arena);
	s->has_result = true;
	save_files(s, true);
	if (s->plan->step->save)
		s->result.run = saver_facts(s->result.run, s->saved, &s->arena);
	leave_pool(s);
	set_ended(s);
}

const char *step_origin(struct step_run *s)
{
	return arena_printf(&s->arena, "routine %s/%s%s", s->ctx->routine,
			    s->ctx->path, s->plan->step->name);
}

void step_note_denied(struct step_run *s)
{
	AUTO(buf_release) struct buf written = BUF_INIT(BUF_UNBOUNDED);
	const struct plan_step *p = s->plan;
	const struct server *server = p->step->server;
	struct client_call call = {
		.tool = p->step->tool,
		.params = p->inputs.json,
		.origin = step_origin(s),
	};

	if (s->result.state != STATE_DENIED || !s->is_call || !server ||
	    !*p->step->tool || (s->ctx->tape && tape_is_replay(s->ctx->tape)))
		return;
	/* references of a step that was never prepared stay as they are */
	if (!call.params.n && p->step->params) {
		toml_to_json(p->step->params, &written);
		call.params = buf_str(&written);
	}
	audited_denied(server->audit, &call, server->name, s->ctx->loop->clock);
}

/* End it before its work begins. */
static void step_skip(struct step_run *s, enum step_reason reason,
		      struct str sentence)
{
	step_fail(s, reason, "%.*s", STR_ARG(sentence));
	step_note_denied(s);
	step_end(s);
}

/* ---- the server of a call ---- */

/* End the step that has its result, or wait for the server that it ends. */
static void leave(struct step_run *s)
{
	struct step_session *m = s->session;
	const struct client *c = m->user.client;

	if (s->phase != STEP_RUNNING)
		return;
	if (c)
		step_keep_said(s, client_stderr(c), client_failure_details(c));
	m->waits =
		pool_leave(s->ctx->pool, &m->user, s->hurry, s->ctx->grace_ms);
	if (m->waits) {
		set_phase(s, STEP_CLOSING);
		return;
	}
	if (c && step_has_failed(s))
		step_advise(s, client_stderr(c), NULL, NULL);
	step_end(s);
}

static void on_opened(struct pool_user *u)
{
	struct step_run *s = u->arg;

	s->doer->begin(s);
}

static void on_refused(struct pool_user *u, const struct err *err)
{
	step_skip(u->arg, failure_of_spawn(err), str_of(err->msg));
}

/* The process that this step started, or left as the last, has ended. */
static void on_closed(struct pool_user *u, struct client *c)
{
	struct step_run *s = u->arg;
	struct step_session *m = s->session;
	const struct gate_verdict *v = client_verdict(c);
	struct jw w;

	if (!u->session_of) {
		m->facts_scrubbed = 0;
		buf_clear(&m->facts);
		w = jw_begin(&m->facts);
		client_facts(c, &w, &m->facts_scrubbed);
		if (v && s->ctx->verdict)
			s->ctx->verdict(s->ctx->arg, s, v);
	}
	if (v)
		step_advise(s, client_stderr(c), v, pool_taped(u));
	if (s->phase == STEP_CLOSING && m->waits)
		step_end(s);
	else if (s->phase == STEP_ENDED)
		write_facts(s);
	if (s->phase == STEP_ENDED)
		buf_release(&m->facts);
}

static struct step_session *new_session(struct step_run *s)
{
	static const struct pool_handler handler = {
		.opened = on_opened,
		.refused = on_refused,
		.closed = on_closed,
	};
	const struct pool_user *with =
		s->ctx->whole ? &s->ctx->whole->session->user : NULL;
	struct step_session *m = mem_zalloc(sizeof(*m));

	m->facts = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	m->user = (struct pool_user){
		.name = s->plan->step->name,
		/* the result of an input is final when its steps have ended,
		   so a server whose refusals fail one is for it alone */
		.apart = step_minds_refusals(s) ? s->ctx->input : NULL,
		.plan = s->plan,
		.env = env_lines(&s->env),
		.handler = &handler,
		.arg = s,
		.with = with,
	};
	/* another step may give it the arguments that tell servers apart */
	if ((with && with->server) || !s->plan->flow->has_late_args)
		pool_expect(s->ctx->pool, &m->user);
	return m;
}

static void enter(struct step_run *s)
{
	struct pool_user *u = &s->session->user;

	if (!u->server)
		pool_expect(s->ctx->pool, u);
	if (pool_scrub(u))
		s->scrub = pool_scrub(u);
	pool_enter(s->ctx->pool, u);
}

/* ---- its end ---- */

void step_close(struct step_run *s, const struct judgement *j)
{
	if (j)
		step_finish(s, j);
	if (s->session)
		leave(s);
	else
		step_end(s);
}

void step_take_over(struct step_run *s, const struct step_run *part)
{
	if (part->session)
		pool_take_over(s->ctx->pool,
			       s->session ? &s->session->user : NULL,
			       &part->session->user);
	s->result.refused |= part->result.refused;
	s->scrubbed += part->scrubbed;
}

/* End it, since no result is wanted any more. */
static void stop(struct step_run *s, const char *why, enum pool_end how)
{
	s->hurry = how;
	if (s->phase == STEP_RUNNING)
		s->doer->stop(s, why);
	else
		pool_hurry(s->ctx->pool, &s->session->user, how);
}

static void on_budget(void *arg)
{
	enum step_reason reason = REASON_DEADLINE_CALL;
	const char *remark = "";
	struct step_run *s = arg;

	if (!s->has_result) {
		if (s->doer->late)
			reason = s->doer->late(s, &remark);
		step_fail(s, reason,
			  "no result within %.3g s (timeout of the step)%s",
			  (double)s->plan->step->timeout_ms / 1000, remark);
	}
	stop(s, "the time of the step is over", POOL_TERMINATE);
}

void step_cancel(struct step_run *s, const char *why)
{
	enum pool_end how = s->is_cancelled ? POOL_KILL : POOL_TERMINATE;

	if (s->phase == STEP_ENDED)
		return;
	if (s->phase == STEP_WAITING) {
		step_fail(s, REASON_CANCELLED, "cancelled: %s before it began",
			  why);
		s->result.not_begun = true;
		step_end(s);
		return;
	}
	step_fail(s, REASON_CANCELLED, "cancelled: %s", why);
	s->is_cancelled = true;
	stop(s, why, how);
}

/* ---- its begin ---- */

/* A step that others do has the time that the file says, or no end of it; that
   of one with executions is for each of them. */
static bool is_bounded(const struct step_run *s)
{
	return s->doer->is_job || (!s->doer->repeats &&
				   toml_get(s->plan->step->written, "timeout"));
}

void step_begin(struct step_run *s)
{
	struct loop *l = s->ctx->loop;

	s->begin_ns = loop_now(l);
	s->begin_wall_ns = l->clock->wall_ns(l->clock);
	s->budget = (struct loop_timer){.fire = on_budget, .arg = s};
	if (s->plan->reason != REASON_NONE) {
		step_skip(s, s->plan->reason, s->plan->error);
		return;
	}
	set_phase(s, STEP_RUNNING);
	if (is_bounded(s))
		loop_timer_set(l, &s->budget,
			       s->begin_ns +
				       s->plan->step->timeout_ms * NS_PER_MS);
	if (s->is_call && s->doer->is_job)
		enter(s);
	else
		s->doer->begin(s);
}

/* Mode of the judgement of a type; the loader has resolved aliases. */
static enum judge_mode mode_of(const struct step *step)
{
	static const struct {
		const char *name;
		enum judge_mode mode;
	} modes[] = {
#define STEP_TYPE(ident, name, section, help) {name, JUDGE_##ident},
#include "core/config/step_types.def"
	};
	size_t i = 0;

	/* a step of a type that is not supported never begins */
	if (step->instead)
		return JUDGE_script;
	while (i + 1 < ARRAY_LEN(modes) && strcmp(step->type, modes[i].name))
		i++;
	assert(strcmp(step->type, modes[i].name) == 0);
	return modes[i].mode;
}

void step_init(struct step_run *s, struct step_context *ctx,
	       const struct plan_step *plan)
{
	const struct step *step = plan->step;

	*s = (struct step_run){
		.plan = plan,
		.ctx = ctx,
		.scrub = ctx->scrub,
		.mode = mode_of(step),
		.phase = STEP_WAITING,
		.out = BUF_INIT(BUF_UNBOUNDED),
		.env = s->env,
		.result = {.name = step->name,
			   .type = step->type,
			   .required = step->required},
		.cause = {.is_before = true, .after_s = -1},
	};
	s->is_call = s->mode == JUDGE_mcp_client && step->tool;
	s->doer = ctx->doer(s);
	if (s->is_call && plan->reason == REASON_NONE && !plan->is_taken)
		s->session = new_session(s);
}

void step_release(struct step_run *s)
{
	if (s->doer)
		s->doer->release(s);
	if (s->session)
		buf_release(&s->session->facts);
	free(s->session);
	env_release(&s->env);
	buf_release(&s->out);
	arena_release(&s->arena);
}
