/* Keywords that apply other subschemas to the same value. */
#include "core/schema/run.h"

/* Entries that are kept of one alternative that does not fit. */
#define KEPT_MAX 8
/* Alternatives that are looked at to say what is wrong. */
#define TOLD_MAX 16

bool check_ref(struct run *r, struct frame *f, const struct rule *rule)
{
	return run_here(r, f, rule->node);
}

/* The outermost resource on the way that has a dynamic anchor of the name. */
static const struct node *dynamic_target(const struct frame *f,
					 const struct rule *rule)
{
	const struct node *target = rule->node;

	for (const struct scope *s = f->scope; s; s = s->up)
		for (const struct anchor *a = s->resource->anchors; a;
		     a = a->next)
			if (a->is_dynamic && str_eq(a->name, rule->dynamic))
				target = a->node;
	return target;
}

bool check_dynamic_ref(struct run *r, struct frame *f, const struct rule *rule)
{
	if (!rule->dynamic.p)
		return run_here(r, f, rule->node);
	if (!run_spend(r, f->scope->n))
		return false;
	return run_here(r, f, dynamic_target(f, rule));
}

bool check_all_of(struct run *r, struct frame *f, const struct rule *rule)
{
	bool holds = true;

	for (size_t i = 0; i < rule->n_sub; i++) {
		if (run_here(r, f, rule->sub[i].node))
			continue;
		holds = false;
		if (!r->report)
			break;
	}
	return holds;
}

/* ---- alternatives ---- */

/* How near the value came to an alternative. */
enum fit { FIT_MISFIT, FIT_OTHER_TAG, FIT_NEAR };

static enum fit fit_of(const struct report *report)
{
	if (report->is_misfit)
		return FIT_MISFIT;
	return report->is_other_tag ? FIT_OTHER_TAG : FIT_NEAR;
}

/* Collect the violations of one alternative. */
static void try_alternative(struct run *r, struct frame *f,
			    const struct node *node, struct report *report)
{
	struct report *outer = run_hush(r);

	report_init(report, KEPT_MAX, f->value);
	run_loud(r, report);
	if (run_here(r, f, node)) /* the budget decides otherwise now */
		report->is_misfit = true;
	run_loud(r, outer);
}

/* "is a number, must be a string or null", when types are all there is. */
static bool say_all_types(struct run *r, struct frame *f,
			  const struct rule *rule, const struct report *report,
			  size_t n)
{
	unsigned types = 0;
	struct buf *out;

	for (size_t i = 0; i < n; i++) {
		if (!report[i].types)
			return false;
		types |= report[i].types;
	}
	out = say_begin(r, f, rule);
	if (!out)
		return true;
	say_wrong_type(out, f->value, types);
	say_end(r, f, rule);
	return true;
}

/* "is "c", must be one of "a", "b"", when each alternative is one value. */
static bool say_all_values(struct run *r, struct frame *f,
			   const struct rule *rule)
{
	struct buf *out;

	for (size_t i = 0; i < rule->n_sub; i++)
		if (!node_rule(rule->sub[i].node, KEYWORD_const))
			return false;
	out = say_begin_is(r, f, rule);
	if (!out)
		return true;
	for (size_t i = 0; i < rule->n_sub && i < TOLD_MAX; i++) {
		buf_adds(out, i ? ", " : ", must be one of ");
		say_value(out,
			  node_rule(rule->sub[i].node, KEYWORD_const)->value);
	}
	if (rule->n_sub > TOLD_MAX)
		buf_addf(out, " and %zu more", rule->n_sub - TOLD_MAX);
	say_end(r, f, rule);
	return true;
}

static void say_each(struct run *r, struct frame *f, const struct rule *rule,
		     const struct report *report, size_t n)
{
	struct buf *out = say_begin(r, f, rule);
	const char *separator = ": ";

	if (!out)
		return;
	buf_addf(out, "fits none of %zu alternatives", rule->n_sub);
	for (size_t i = 0; i < n && i < 4; i++) {
		struct buf one = BUF_INIT(BUF_UNBOUNDED);

		if (!report[i].n)
			continue;
		schema_violation_print(&report[i].item[0], &one);
		buf_adds(out, separator);
		buf_add_cut(out, buf_str(&one), 160);
		buf_release(&one);
		separator = "; or ";
	}
	say_end(r, f, rule);
}

/*
 * Explain that no alternative fits: by the violations of the only one that
 * comes near, since that is most likely meant, or by each.
 */
static void explain(struct run *r, struct frame *f, const struct rule *rule)
{
	size_t n = rule->n_sub < TOLD_MAX ? rule->n_sub : TOLD_MAX;
	size_t count[FIT_NEAR + 1] = {0}, nearest[FIT_NEAR + 1] = {0};
	struct report report[TOLD_MAX];

	if (rule->n_sub > 1 && say_all_values(r, f, rule))
		return;
	for (size_t i = 0; i < n; i++) {
		enum fit fit;

		try_alternative(r, f, rule->sub[i].node, &report[i]);
		if (r->has_failed)
			return;
		fit = fit_of(&report[i]);
		count[fit]++;
		nearest[fit] = i;
	}
	for (int fit = FIT_NEAR; fit >= FIT_MISFIT && n == rule->n_sub; fit--) {
		if (!count[fit])
			continue;
		if (count[fit] == 1 && (fit > FIT_MISFIT || n == 1)) {
			report_add(r->report, &report[nearest[fit]], r->arena);
			r->report->is_misfit |= report[nearest[fit]].is_misfit;
			return;
		}
		break;
	}
	if (!say_all_types(r, f, rule, report, n))
		say_each(r, f, rule, report, n);
}

/* Count the alternatives that hold; all are tried when it matters. */
static size_t count_holding(struct run *r, struct frame *f,
			    const struct rule *rule, size_t enough,
			    size_t first[2])
{
	struct report *report = run_hush(r);
	size_t n = 0;

	for (size_t i = 0; i < rule->n_sub && !r->has_failed; i++) {
		if (!run_here(r, f, rule->sub[i].node))
			continue;
		if (n < 2)
			first[n] = i;
		if (++n == enough && !f->seen)
			break;
	}
	run_loud(r, report);
	return n;
}

bool check_any_of(struct run *r, struct frame *f, const struct rule *rule)
{
	size_t first[2];

	if (count_holding(r, f, rule, 1, first))
		return !r->has_failed;
	if (r->report && !r->has_failed)
		explain(r, f, rule);
	return false;
}

bool check_one_of(struct run *r, struct frame *f, const struct rule *rule)
{
	size_t first[2], n = count_holding(r, f, rule, 2, first);

	if (r->has_failed)
		return false;
	if (n == 1)
		return true;
	if (n)
		return say(r, f, rule,
			   "fits alternatives %zu and %zu, must fit exactly "
			   "one",
			   first[0] + 1, first[1] + 1);
	if (r->report)
		explain(r, f, rule);
	return false;
}

bool check_not(struct run *r, struct frame *f, const struct rule *rule)
{
	struct seen *seen = f->seen;
	bool holds;

	f->seen = NULL; /* members named under "not" stay unevaluated */
	holds = run_quietly(r, f, rule->node);
	f->seen = seen;
	if (r->has_failed)
		return false;
	return !holds || say(r, f, rule, "is what it must not be");
}

bool check_if(struct run *r, struct frame *f, const struct rule *rule)
{
	bool holds = run_quietly(r, f, rule->node);
	const struct rule *branch =
		node_rule(f->node, holds ? KEYWORD_then : KEYWORD_else);

	if (r->has_failed)
		return false;
	return !branch || run_here(r, f, branch->node);
}
