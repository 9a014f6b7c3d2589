#include "core/run/step.h"

#include <stdarg.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/advice.h"
#include "core/client/facts.h"
#include "core/run/judge.h"

static const char *const phase_names[] = {
#define X(name) #name,
	STEP_PHASES(X)
#undef X
};

static void set_phase(struct step_run *s, enum step_phase phase)
{
	if (s->phase == phase)
		return;
	log_debug("step %s: %s -> %s", s->plan->step->name,
		  phase_names[s->phase], phase_names[phase]);
	s->phase = phase;
}

void step_init(struct step_run *s, struct step_context *ctx,
	       const struct plan_step *plan, const struct step_type *type)
{
	const struct step *step = plan->step;

	*s = (struct step_run){
		.plan = plan,
		.ctx = ctx,
		.scrub = ctx->scrub,
		.type = type,
		.phase = STEP_WAITING,
		.out = BUF_INIT(BUF_UNBOUNDED),
		.result = {.name = step->name,
			   .type = step->type,
			   .required = step->required},
	};
}

/* ---- the result ---- */

/* `in` itself when it holds no secret, else a copy without. */
static struct str scrubbed(struct step_run *s, struct str in,
			   size_t (*scrub)(const struct scrub *, struct str,
					   struct buf *))
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t n, hits;

	/* a cut text may end in half a secret, which is not found whole */
	if (!in.n || (scrub != scrub_cut && !scrub_finds(s->scrub, in)))
		return in;
	hits = scrub(s->scrub, in, &out);
	s->scrubbed += hits;
	if (!hits) {
		buf_release(&out);
		return in;
	}
	n = out.n;
	return (struct str){arena_adopt(&s->arena, buf_steal(&out)), n};
}

/* Replace content that is no array any more, since a secret spans all of it. */
static struct str scrubbed_content(struct step_run *s, struct str content)
{
	struct str clean = scrubbed(s, content, scrub_json);

	if (!clean.n || clean.p[0] == '[')
		return clean;
	return STR("[{\"type\":\"text\",\"text\":\"***\"}]");
}

/*
 * Scrub the answer itself: the data around it is ours, and the output no longer
 * has every byte of it. The output is made here only where there are secrets,
 * to be scrubbed once more: blocks are cut in it.
 */
static void set_answer(struct step_run *s, const struct report_answer *given)
{
	struct buf body = BUF_INIT(BUF_UNBOUNDED);
	size_t n;

	s->result.answer = (struct report_answer){
		.content = scrubbed_content(s, given->content),
		.structured = scrubbed(s, given->structured, scrub_json),
		.is_error = given->is_error,
	};
	if (scrub_is_empty(s->scrub))
		return;
	report_step_output(&body, &s->result);
	n = body.n;
	s->result.output = scrubbed(
		s, (struct str){arena_adopt(&s->arena, buf_steal(&body)), n},
		s->result.state == STATE_OK ? scrub_apply : scrub_cut);
}

/* For scrub_set_patience(): is time left, and did no signal come? */
static bool may_go_on(void *arg)
{
	struct step_run *s = arg;

	s->gave_up |=
		loop_signal_waits() ||
		(s->budget.index && s->budget.due_ns <= loop_now(s->ctx->loop));
	return !s->gave_up;
}

/* Show nothing of a result that could not be scrubbed in time. */
static void drop_result(struct step_run *s)
{
	bool is_cancelled = loop_signal_waits();

	s->result.reason =
		is_cancelled ? REASON_CANCELLED : s->type->timeout_reason(s);
	s->result.state = report_reason_state(s->result.reason);
	s->result.error =
		is_cancelled
			? STR("cancelled: while secrets were looked for in "
			      "the result")
			: STR("the timeout of the step ended while secrets "
			      "were looked for in the result");
	s->result.data = s->result.output = STR("");
	s->result.answer = (struct report_answer){0};
	buf_wipe(&s->out);
}

static void fill_result(struct step_run *s, const struct judgement *j)
{
	s->result.data = scrubbed(s, j->data, scrub_json);
	/* a program that failed may have been ended while it wrote */
	s->result.output =
		scrubbed(s, j->output,
			 s->result.state == STATE_OK ? scrub_apply : scrub_cut);
	if (j->answer.content.n)
		set_answer(s, &j->answer);
}

static void set_result(struct step_run *s, const struct judgement *j)
{
	bool is_more = j->data.n || j->answer.content.n;

	/* a deadline came first: keep an answer that was whole by then */
	if (s->has_result && (report_step_has_data(&s->result) || !is_more))
		return;
	if (!s->has_result) {
		s->has_result = true;
		s->result.reason = j->reason;
		s->result.state = report_reason_state(j->reason);
		s->result.error = scrubbed(s, j->error, scrub_apply);
	}
	if (s->scrub)
		scrub_set_patience(s->scrub, may_go_on, s);
	fill_result(s, j);
	if (s->scrub)
		scrub_set_patience(s->scrub, NULL, NULL);
	if (s->gave_up)
		drop_result(s);
}

void step_finish(struct step_run *s, const struct judgement *j)
{
	set_result(s, j);
}

void step_fail(struct step_run *s, enum step_reason reason, const char *fmt,
	       ...)
{
	struct judgement j = {.reason = reason};
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		j.error = str_of(arena_strdup(&s->arena, text));
	va_end(ap);
	free(text);
	set_result(s, &j);
}

/* ---- words of its program ---- */

bool step_has_failed(const struct step_run *s)
{
	return s->result.state != STATE_OK &&
	       s->result.state != STATE_SKIPPED &&
	       s->result.reason != REASON_CANCELLED;
}

/* The last line of stderr is where programs say why. */
void step_log_words(struct step_run *s, struct str err_tail)
{
	struct str tail = str_trim(err_tail);
	size_t from = tail.n;

	if (!step_has_failed(s))
		return;
	while (from && tail.p[from - 1] != '\n')
		from--;
	tail = (struct str){tail.p + from, tail.n - from};
	if (tail.n > LIMIT_NOISE_LINE)
		tail.n = LIMIT_NOISE_LINE;
	if (tail.n)
		log_note("%s: its stderr ends with: %.*s", s->result.name,
			 STR_ARG(tail));
}

void step_log_denials(const struct step_run *s, const struct gate_verdict *v)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct advice_how how = {
		.failed = step_has_failed(s),
		.form = ADVICE_TOML,
		.scrub = s->scrub,
	};
	struct strlist lines = advice_denials(v, &how, &arena);

	if (s->result.reason == REASON_CANCELLED)
		return;
	for (size_t i = 0; i < lines.n; i++)
		log_note("%s: %s", s->result.name, lines.item[i]);
}

/*
 * Keep the first of the output of a program that failed. The end may be
 * missing, by the ceiling of stdout or because the program was ended.
 */
static void keep_output(struct step_run *s)
{
	struct buf first = BUF_INIT(BUF_UNBOUNDED);
	bool is_shown =
		report_step_has_data(&s->result) && !s->type->data_is_status;

	if (s->result.output.n || is_shown || !s->out.n ||
	    s->result.state == STATE_OK)
		return;
	buf_add_cut(&first, buf_str(&s->out), LIMIT_KEPT_OUTPUT);
	s->result.output = str_trim(
		scrubbed(s, arena_str(&s->arena, buf_str(&first)), scrub_cut));
	buf_release(&first);
}

/* ---- the end ---- */

static void write_facts(struct step_run *s, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	if (s->begin_ns) {
		facts_time(&w, "started", s->begin_wall_ns);
		jw_kv_int(&w, "duration_us",
			  (int64_t)((s->end_ns - s->begin_ns) / 1000));
	}
	s->facts_scrubbed = 0;
	if (s->type->facts)
		s->type->facts(s, &w);
	if (s->scrubbed + s->facts_scrubbed)
		jw_kv_int(&w, "scrubbed",
			  (int64_t)(s->scrubbed + s->facts_scrubbed));
	jw_end(&w);
}

void step_refresh_facts(struct step_run *s)
{
	struct buf run = BUF_INIT(BUF_UNBOUNDED);

	write_facts(s, &run);
	s->result.run = arena_str(&s->arena, buf_str(&run));
	buf_release(&run);
}

void step_end(struct step_run *s)
{
	if (s->phase == STEP_ENDED)
		return;
	if (s->type->leave)
		s->type->leave(s);
	if (!s->has_result)
		step_fail(s, REASON_INTERNAL, "the step ended without result");
	s->end_ns = loop_now(s->ctx->loop);
	keep_output(s);
	step_refresh_facts(s);
	loop_timer_clear(s->ctx->loop, &s->budget);
	env_release(&s->env);
	set_phase(s, STEP_ENDED);
	s->ctx->step_ended(s->ctx->arg, s);
}

void step_close(struct step_run *s)
{
	if (s->phase == STEP_RUNNING)
		set_phase(s, STEP_CLOSING);
}

static void on_budget(void *arg)
{
	struct step_run *s = arg;

	if (!s->has_result)
		step_fail(s, s->type->timeout_reason(s),
			  "no result within %.3g s (timeout of the step)%s",
			  (double)s->plan->step->timeout_ms / 1000,
			  s->type->remark(s));
	s->type->stop(s, HASTE_TIMEOUT);
}

void step_cancel(struct step_run *s, const char *why)
{
	enum step_haste haste;

	switch (s->phase) {
	case STEP_WAITING:
		if (s->plan->reason != REASON_NONE) {
			step_skip(s, s->plan->reason, NULL);
			return;
		}
		step_fail(s, REASON_CANCELLED, "cancelled: %s before it began",
			  why);
		s->result.not_begun = true;
		step_end(s);
		return;
	case STEP_RUNNING:
	case STEP_CLOSING:
		step_fail(s, REASON_CANCELLED, "cancelled: %s", why);
		haste = s->is_cancelled ? HASTE_KILL : HASTE_TIMEOUT;
		s->is_cancelled = true;
		s->type->stop(s, haste);
		return;
	case STEP_ENDED:
		return;
	}
}

/* ---- the begin ---- */

void step_expect(struct step_run *s)
{
	if (s->plan->reason == REASON_NONE && s->type->expect)
		s->type->expect(s);
}

void step_begin(struct step_run *s)
{
	struct loop *l = s->ctx->loop;

	s->begin_ns = loop_now(l);
	s->begin_wall_ns = l->clock->wall_ns(l->clock);
	s->budget = (struct loop_timer){.fire = on_budget, .arg = s};
	if (s->plan->reason != REASON_NONE) {
		step_skip(s, s->plan->reason, NULL);
		return;
	}
	set_phase(s, STEP_RUNNING);
	loop_timer_set(l, &s->budget,
		       s->begin_ns + s->plan->step->timeout_ms * NS_PER_MS);
	s->type->begin(s);
}

void step_skip(struct step_run *s, enum step_reason reason,
	       const char *sentence)
{
	if (sentence)
		step_fail(s, reason, "%s", sentence);
	else
		step_fail(s, reason, "%.*s", STR_ARG(s->plan->error));
	step_end(s);
}

void step_release(struct step_run *s)
{
	if (s->type)
		s->type->release(s);
	env_release(&s->env);
	buf_release(&s->out);
	arena_release(&s->arena);
}
