#include "core/run/step_result.h"

#include <stdarg.h>

/* `in` itself when it holds no secret, else a copy without. */
struct str step_scrubbed(struct step_run *s, struct str in,
			 size_t (*scrub)(const struct scrub *, struct str,
					 struct buf *))
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t hits;

	/* a cut text may end in half a secret, which is not found whole */
	if (!in.n || (scrub != scrub_cut && !scrub_finds(s->scrub, in)))
		return in;
	hits = scrub(s->scrub, in, &out);
	s->scrubbed += hits;
	if (!hits)
		return in;
	return arena_buf(&s->arena, &out);
}

/*
 * For scrub_set_patience(): is time left, and did no signal come? The first no
 * also sets gave_up, for good.
 */
static bool may_go_on(void *arg)
{
	struct step_run *s = arg;

	s->gave_up |=
		loop_signal_waits() ||
		/* index 0: no timer is set */
		(s->budget.index && s->budget.due_ns <= loop_now(s->ctx->loop));
	return !s->gave_up;
}

/* Show nothing of a result that could not be scrubbed in time. */
static void drop_result(struct step_run *s)
{
	const char *remark;

	if (loop_signal_waits())
		report_step_set(&s->result, REASON_CANCELLED,
				STR("cancelled: while secrets were looked for "
				    "in the result"));
	else
		report_step_set(&s->result,
				s->doer->late ? s->doer->late(s, &remark)
					      : REASON_DEADLINE_CALL,
				STR("the timeout of the step ended while "
				    "secrets were looked for in the result"));
	s->result.data = s->result.output = STR("");
	s->result.answer = (struct report_answer){0};
	buf_wipe(&s->out);
}

/*
 * Scrub the answer itself: the data around it is ours, and the output no longer
 * has every byte of it. The output is made here only where there are secrets,
 * to be scrubbed once more: blocks are cut in it.
 */
static void fill_result(struct step_run *s, const struct judgement *j)
{
	/* a program that failed may have been ended while it wrote */
	__typeof__(scrub_apply) *scrub =
		s->result.state == STATE_OK ? scrub_apply : scrub_cut;
	struct report_answer *answer = &s->result.answer;
	struct buf body = BUF_INIT(BUF_UNBOUNDED);

	s->result.data = step_scrubbed(s, j->data, scrub_json);
	s->result.output = step_scrubbed(s, j->output, scrub);
	if (!j->answer.content.n)
		return;
	*answer = (struct report_answer){
		.content = step_scrubbed(s, j->answer.content, scrub_json),
		.structured =
			step_scrubbed(s, j->answer.structured, scrub_json),
		.is_error = j->answer.is_error,
	};
	/* a secret spans all of it */
	if (answer->content.n && answer->content.p[0] != '[')
		answer->content = STR("[{\"type\":\"text\",\"text\":\"***\"}]");
	if (scrub_is_empty(s->scrub))
		return;
	report_step_output(&body, &s->result);
	s->result.output = step_scrubbed(s, arena_buf(&s->arena, &body), scrub);
}

/* Keep the result as it came, to be compared: saver_write(). */
static void keep_raw(struct step_run *s, const struct judgement *j)
{
	s->raw = ARENA_NEW(&s->arena, struct report_step);
	s->raw->data = j->data;
	s->raw->output = j->output;
	s->raw->answer = (struct report_answer){
		.content = j->answer.content,
		.structured = j->answer.structured,
		.is_error = j->answer.is_error,
	};
}

/* The first result counts; later ones are ignored. */
void step_finish(struct step_run *s, const struct judgement *j)
{
	bool is_more = j->data.n || j->answer.content.n;
	size_t before;

	/* a deadline came first: keep an answer that was whole by then */
	if (s->has_result && (report_step_has_data(&s->result) || !is_more))
		return;
	if (!s->has_result) {
		s->has_result = true;
		report_step_set(&s->result, j->reason,
				step_scrubbed(s, j->error, scrub_apply));
	}
	if (s->scrub)
		scrub_set_patience(s->scrub, may_go_on, s);
	before = s->scrubbed;
	fill_result(s, j);
	if (s->scrubbed > before && s->plan->step->save)
		keep_raw(s, j);
	if (s->scrub)
		scrub_set_patience(s->scrub, NULL, NULL);
	if (s->gave_up)
		drop_result(s);
}

PRINTF(3, 4)
void step_fail(struct step_run *s, enum step_reason reason, const char *fmt,
	       ...)
{
	struct judgement j = {.reason = reason};
	va_list ap;

	va_start(ap, fmt);
	j.error = str_of(arena_vprintf(&s->arena, fmt, ap));
	va_end(ap);
	step_finish(s, &j);
}

bool step_has_failed(const struct step_run *s)
{
	return s->result.state != STATE_OK &&
	       s->result.state != STATE_SKIPPED &&
	       s->result.reason != REASON_CANCELLED;
}
