#include "core/run/turn.h"

#include <string.h>

#include "core/base/scan.h"
#include "core/run/condition.h"

PRINTF(4, 5)
static void skip(struct plan_step *p, enum step_reason reason,
		 struct arena *arena, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	p->error = str_of(arena_vprintf(arena, fmt, ap));
	va_end(ap);
	p->reason = reason;
}

/* ---- needs ---- */

static void judge_needs(const struct turn *t, struct plan_step *p,
			struct arena *arena)
{
	for (size_t i = 0; i < p->flow->n_waits; i++) {
		const struct flow_wait *w = &p->flow->wait[i];
		const struct report_step *s = t->result(t->arg, w->step);

		if (!w->must_be_ok || (s && s->state == STATE_OK))
			continue;
		skip(p, REASON_NEEDS, arena, "needs %s, which %s",
		     t->plan->steps[w->step].step->name,
		     !s || s->not_begun		 ? "did not begin"
		     : s->state == STATE_SKIPPED ? "was skipped"
						 : "failed");
		return;
	}
}

/* ---- after ---- */

static bool has_failed(const struct turn *t)
{
	for (size_t i = 0; i < t->plan->n_steps; i++) {
		const struct report_step *s = t->result(t->arg, i);

		if (!t->plan->steps[i].step->after && s &&
		    !report_step_success(s))
			return true;
	}
	return false;
}

static void judge_after(const struct turn *t, struct plan_step *p,
			struct arena *arena)
{
	const char *after = p->step->after;

	if (!after || strcmp(after, "always") == 0)
		return;
	if ((strcmp(after, "failure") == 0) == has_failed(t))
		return;
	skip(p, REASON_CONDITION, arena, "after = \"%s\", and %s", after,
	     has_failed(t) ? "a step failed" : "no step failed");
}

/* ---- when ---- */

/* ret_is_open  as of condition_broken() */
static const char *judge_condition(const struct toml_member *m,
				   const struct values *v, bool *ret_is_open,
				   struct arena *arena)
{
	struct ref_string ref;
	struct str value = {NULL, 0};
	struct err err = ERR_INIT;

	if (ref_read(str_of(m->key), arena, &ref, &err) < 0 || !ref.is_whole ||
	    values_find(v, &ref.part[0].ref, arena, &value, &err) < 0)
		value.p = NULL;
	return condition_broken(&m->value, value, err.msg, false, ret_is_open,
				arena);
}

static void judge_when(struct plan_step *p, const struct values *v,
		       struct arena *arena)
{
	const struct toml_value *when = p->step->when;

	for (size_t i = 0; when && i < when->table.n; i++) {
		const struct toml_member *m = &when->table.member[i];
		bool is_open;
		const char *why = judge_condition(m, v, &is_open, arena);

		if (!why)
			continue;
		/* a server that chooses the value could undo a guard */
		skip(p, is_open ? REASON_REFERENCE : REASON_CONDITION, arena,
		     "when %s: %s", m->key, why);
		return;
	}
}

/* ---- foreach ---- */

static const char *const type_says[] = {
	[SCAN_NULL] = "null",	     [SCAN_FALSE] = "false",
	[SCAN_TRUE] = "true",	     [SCAN_NUMBER] = "a number",
	[SCAN_STRING] = "a string",  [SCAN_ARRAY] = "an array",
	[SCAN_OBJECT] = "an object",
};

static void take_items(struct plan_step *p, const struct values *v,
		       struct arena *arena)
{
	const char *written = p->step->foreach;
	struct ref_string ref;
	struct err err = ERR_INIT;
	struct str value;
	size_t n;

	if (ref_read(str_of(written), arena, &ref, &err) < 0 ||
	    values_find(v, &ref.part[0].ref, arena, &value, &err) < 0) {
		skip(p, REASON_REFERENCE, arena, "%s", err.msg);
		return;
	}
	n = scan_count(value);
	if (scan_type(value) != SCAN_ARRAY)
		skip(p, REASON_REFERENCE, arena,
		     "foreach %s: the value is %s, and an array is needed",
		     written, type_says[scan_type(value)]);
	else if (n > LIMIT_ITEMS)
		skip(p, REASON_REFERENCE, arena,
		     "foreach %s: %zu elements, and at most %d are possible",
		     written, n, LIMIT_ITEMS);
	p->items = value;
}

/* ---- the turn ---- */

void turn_take(const struct turn *t, size_t step, struct arena *arena)
{
	struct plan_step *p = &t->plan->steps[step];
	struct values v = t->values;
	struct err err = ERR_INIT;

	if (p->reason == REASON_NONE)
		judge_needs(t, p, arena);
	if (p->reason == REASON_NONE)
		judge_after(t, p, arena);
	v.step = p->step->name;
	v.is_judged = true;
	if (p->reason == REASON_NONE)
		judge_when(p, &v, arena);
	v.is_judged = false;
	v.is_lenient = p->step->after;
	if (p->reason != REASON_NONE)
		return;
	if (p->step->foreach)
		take_items(p, &v, arena);
	else if (plan_fill(p, &v, arena, &err) < 0)
		skip(p, REASON_REFERENCE, arena, "%s", err.msg);
}

/* ---- a dry run ---- */

/* Would the step run, as far as is known now? */
static bool would_run(const struct plan_step *p)
{
	return p->is_taken ||
	       (p->reason == REASON_DRY_RUN && !p->would_not_run);
}

PRINTF(3, 4)
static void would_not(struct plan_step *p, struct arena *arena, const char *fmt,
		      ...)
{
	va_list ap;

	va_start(ap, fmt);
	p->error = str_of(
		arena_printf(arena, "would %s", arena_vprintf(arena, fmt, ap)));
	va_end(ap);
	p->would_not_run = true;
}

/* Judge the conditions that only inputs decide; list the others. */
static void foresee_when(struct plan_step *p, const struct values *v,
			 struct arena *arena, struct buf *open)
{
	const struct toml_value *when = p->step->when;

	for (size_t i = 0; when && i < when->table.n; i++) {
		const struct toml_member *m = &when->table.member[i];
		struct ref_string ref;
		const char *why;
		bool is_open;

		if (ref_read(str_of(m->key), arena, &ref, ERR_IGNORED) < 0 ||
		    !ref.is_whole || ref.part[0].ref.root != REF_INPUT) {
			buf_addf(open, "%swhen %s", open->n ? ", " : "",
				 m->key);
			continue;
		}
		why = judge_condition(m, v, &is_open, arena);
		if (why) {
			would_not(p, arena, "%s: when %s: %s",
				  is_open ? "fail" : "be skipped", m->key, why);
			return;
		}
	}
}

void turn_foresee(const struct turn *t, size_t step, struct arena *arena)
{
	AUTO(buf_release) struct buf open = BUF_INIT(BUF_UNBOUNDED);
	struct plan_step *p = &t->plan->steps[step];
	struct values v = t->values;

	v.step = p->step->name;
	for (size_t i = 0; i < p->flow->n_waits && !p->would_not_run; i++) {
		const struct flow_wait *w = &p->flow->wait[i];
		const struct plan_step *of = &t->plan->steps[w->step];

		if (w->must_be_ok && !would_run(of))
			would_not(p, arena,
				  "be skipped: needs %s, which would not run",
				  of->step->name);
	}
	if (p->would_not_run)
		return;
	if (p->step->after && strcmp(p->step->after, "always") != 0)
		buf_addf(&open, "after = \"%s\"", p->step->after);
	foresee_when(p, &v, arena, &open);
	if (open.n && !p->would_not_run)
		p->error = str_of(
			arena_printf(arena, "%.*s (decided in the run: %s)",
				     STR_ARG(p->error), buf_cstr(&open)));
}
