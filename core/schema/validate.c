#include "core/schema/run.h"

#include "core/base/mem.h"

static check_fn *const CHECKS[N_KEYWORDS] = {
#define KEYWORD(id, name, drafts, vocabulary, shape, check, help) check_##check,
#include "core/schema/keywords.def"
#undef KEYWORD
};

bool check_none(UNUSED struct run *r, UNUSED struct frame *f,
		UNUSED const struct rule *rule)
{
	return true;
}

bool run_search(struct run *r, struct regex *regex, struct str text)
{
	int found = regex_search(regex, text, &r->steps);

	if (found < 0)
		return run_fail(r, ERR_LIMIT,
				"a pattern is too much work; no verdict");
	return found;
}

struct report *run_hush(struct run *r)
{
	struct report *report = r->report;

	r->report = NULL;
	return report;
}

void run_loud(struct run *r, struct report *report)
{
	r->report = report;
}

/* ---- members that were evaluated ---- */

static void seen_init(struct seen *s, const struct jdoc *value)
{
	*s = (struct seen){.n = value->n};
	s->bits = s->few;
	if (s->n > 64 * ARRAY_LEN(s->few))
		s->bits = mem_zalloc((s->n + 63) / 64 * sizeof(*s->bits));
}

static void seen_release(struct seen *s)
{
	if (s->bits != s->few)
		free(s->bits);
}

static void seen_merge(struct seen *to, const struct seen *from)
{
	for (size_t i = 0; i < (to->n + 63) / 64; i++)
		to->bits[i] |= from->bits[i];
}

/* ---- frames ---- */

static bool knows(const struct scope *scope, const struct resource *resource)
{
	for (; scope; scope = scope->up)
		if (scope->resource == resource)
			return true;
	return false;
}

/*
 * A subschema that is applied to one value within itself, without a new
 * resource in between, would go on like this for ever.
 */
static bool is_loop(const struct frame *f)
{
	for (const struct frame *u = f; u->up && !u->is_child && !u->is_name;) {
		u = u->up;
		if (u->node == f->node && u->scope == f->scope)
			return true;
	}
	return false;
}

static bool apply_rules(struct run *r, struct frame *f)
{
	bool holds = true;

	for (size_t i = 0; i < f->node->n_rules; i++) {
		const struct rule *rule = &f->node->rule[i];

		if (CHECKS[rule->keyword](r, f, rule))
			continue;
		holds = false;
		if (!r->report || r->has_failed)
			break;
	}
	return holds && !r->has_failed;
}

static bool apply_scoped(struct run *r, struct frame *f)
{
	struct seen own;
	bool holds;

	if (is_loop(f))
		return run_fail(r, ERR_LIMIT,
				"the schema refers to itself without end");
	if (r->depth == LIMIT_SCHEMA_DEPTH)
		return run_fail(r, ERR_LIMIT,
				"subschemas are nested too deeply");
	r->depth++;
	if (f->node->tracks && !f->seen) {
		seen_init(&own, f->value);
		f->seen = &own;
		holds = apply_rules(r, f);
		seen_release(&own);
		f->seen = NULL;
	} else {
		holds = apply_rules(r, f);
	}
	r->depth--;
	return holds;
}

static bool apply(struct run *r, struct frame *f)
{
	if (r->has_failed || !run_spend(r, 1 + f->node->n_rules))
		return false;
	if (f->node->kind == NODE_TRUE)
		return true;
	if (f->node->kind == NODE_FALSE)
		return say(r, f, NULL, "is not allowed");
	if (!knows(f->scope, f->node->resource)) {
		f->entered = (struct scope){f->scope, f->node->resource,
					    f->scope ? f->scope->n + 1 : 1};
		f->scope = &f->entered;
	}
	return apply_scoped(r, f);
}

bool run_here(struct run *r, struct frame *f, const struct node *node)
{
	struct frame here = {
		.up = f, .node = node, .value = f->value, .scope = f->scope};
	struct seen seen;
	bool holds;

	if (!f->seen)
		return apply(r, &here);
	seen_init(&seen, f->value);
	here.seen = &seen;
	holds = apply(r, &here);
	/* a report needs no violations that follow from the first one */
	if (holds || r->report)
		seen_merge(f->seen, &seen);
	seen_release(&seen);
	return holds;
}

bool run_quietly(struct run *r, struct frame *f, const struct node *node)
{
	struct report *report = run_hush(r);
	bool holds = run_here(r, f, node);

	run_loud(r, report);
	return holds;
}

bool run_child(struct run *r, struct frame *f, const struct node *node,
	       const struct jdoc *child, size_t index)
{
	struct frame inner = {.up = f,
			      .node = node,
			      .value = child,
			      .scope = f->scope,
			      .index = index,
			      .is_child = true};

	return apply(r, &inner);
}

bool run_name(struct run *r, struct frame *f, const struct node *node,
	      const struct jdoc *name)
{
	struct frame inner = {.up = f,
			      .node = node,
			      .value = name,
			      .scope = f->scope,
			      .is_name = true};

	return apply(r, &inner);
}

/* ---- from outside ---- */

static int validate_tree(const struct schema *s, const struct jdoc *value,
			 struct arena *arena, struct schema_result *ret,
			 struct err *err)
{
	struct report report;
	struct run r = {
		.schema = s,
		.arena = arena,
		.err = err,
		.steps = LIMIT_SCHEMA_STEPS + value->raw.n / 2,
		.report = &report,
		.scratch = BUF_INIT(BUF_UNBOUNDED),
		.sentence = BUF_INIT(BUF_UNBOUNDED),
	};
	struct frame root = {.node = s->root, .value = value};
	bool holds;

	report_init(&report, LIMIT_SCHEMA_VIOLATIONS, NULL);
	holds = apply(&r, &root);
	buf_release(&r.scratch);
	buf_release(&r.sentence);
	if (r.has_failed)
		return -1;
	if (holds)
		return SCHEMA_VALID;
	*ret = (struct schema_result){report.item, report.n, report.n_more};
	return SCHEMA_VIOLATED;
}

int schema_validate(const struct schema *s, struct str text,
		    struct arena *arena, struct schema_result *ret,
		    struct err *err)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	struct jdoc *value;

	if (jdoc_parse(text, &own, &value, err) < 0)
		return -1;
	return validate_tree(s, value, arena, ret, err);
}
