/* Keywords that look at the members of an object. */
#include "core/schema/run.h"

#include "core/base/jw.h"
#include "core/schema/describe.h"

/* Members of the value that may be compared by name for one step. */
#define NAMES_A_STEP 8

static bool is_object(const struct frame *f)
{
	return f->value->type == SCAN_OBJECT;
}

/* Find an entry of a sorted map, or NULL. */
static const struct sub *find_sub(const struct rule *rule, struct str key)
{
	size_t low = 0, high = rule ? rule->n_sub : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = jdoc_key_order(key, rule->sub[mid].key);

		if (order == 0)
			return &rule->sub[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

bool check_n_properties(struct run *r, struct frame *f, const struct rule *rule)
{
	return !is_object(f) || check_number_of(r, f, rule, f->value->n,
						"property", "properties");
}

/* ---- names that must be there ---- */

static bool missing(struct run *r, struct frame *f, const struct rule *rule,
		    struct str name, const struct str *because)
{
	struct buf *out = say_begin(r, f, rule);

	if (!out)
		return false;
	buf_adds(out, "missing required ");
	say_name(out, name);
	if (because) {
		buf_adds(out, ", which goes with ");
		say_name(out, *because);
	}
	say_end(r, f, rule);
	return false;
}

static bool all_there(struct run *r, struct frame *f, const struct rule *rule,
		      const struct jdoc *names, const struct str *because)
{
	AUTO(buf_release) struct buf scratch = BUF_INIT(BUF_UNBOUNDED);
	bool holds = true;

	for (const struct jdoc *e = names->first; e; e = e->next) {
		struct str name = value_text(e, &scratch);

		if (!run_spend(r, f->value->n / NAMES_A_STEP))
			return false;
		if (value_member(f->value, name))
			continue;
		holds = missing(r, f, rule, name, because);
		if (!r->report)
			break;
	}
	return holds;
}

bool check_required(struct run *r, struct frame *f, const struct rule *rule)
{
	return !is_object(f) || all_there(r, f, rule, rule->value, NULL);
}

/* A property that is there demands other names, or a schema. */
bool check_dependencies(struct run *r, struct frame *f, const struct rule *rule)
{
	bool holds = true;

	if (!is_object(f))
		return true;
	for (size_t i = 0; i < rule->n_sub; i++) {
		const struct sub *sub = &rule->sub[i];

		if (!run_spend(r, 1 + f->value->n / NAMES_A_STEP))
			return false;
		if (!value_member(f->value, sub->key))
			continue;
		if (!(sub->strings
			      ? all_there(r, f, rule, sub->strings, &sub->key)
			      : run_here(r, f, sub->node)))
			holds = false;
		if (!holds && !r->report)
			break;
	}
	return holds;
}

/* ---- schemas of members ---- */

static bool unknown(struct run *r, struct frame *f, const struct rule *rule,
		    const struct jdoc *m, size_t i)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct frame extra = {.up = f,
			      .node = f->node,
			      .value = m,
			      .index = i,
			      .is_child = true};
	struct buf *out = say_begin(r, &extra, rule);
	const char *const *names;
	const char *nearest;
	size_t n;

	if (!out)
		return false;
	n = node_property_names(f->node, &arena, &names);
	nearest = str_nearest(m->key, names, n);
	buf_adds(out, "unknown property");
	if (nearest && !value_member(f->value, str_of(nearest))) {
		buf_adds(out, "; did you mean ");
		say_name(out, str_of(nearest));
		buf_addc(out, '?');
	}
	say_end(r, &extra, rule);
	return false;
}

/* Apply a rule to one member. */
static bool apply(struct run *r, struct frame *f, const struct rule *rule,
		  const struct node *node, const struct jdoc *m, size_t i)
{
	seen_add(f->seen, i);
	if (node->kind == NODE_FALSE && rule->node == node)
		return unknown(r, f, rule, m, i);
	return run_child(r, f, node, m, i);
}

bool check_pattern_properties(struct run *r, struct frame *f,
			      const struct rule *rule)
{
	bool holds = true;
	size_t i = 0;

	if (!is_object(f))
		return true;
	for (const struct jdoc *m = f->value->first; m; m = m->next, i++)
		for (size_t k = 0; k < rule->n_sub; k++) {
			const struct sub *sub = &rule->sub[k];

			if (!run_spend(r, 1))
				return false;
			if (!run_search(r, sub->regex, m->key)) {
				if (r->has_failed)
					return false;
				continue;
			}
			if (apply(r, f, rule, sub->node, m, i))
				continue;
			holds = false;
			if (!r->report)
				return false;
		}
	return holds;
}

/* Schema that a rule has for a member of the value, or NULL. */
static const struct node *schema_of(struct run *r, const struct frame *f,
				    const struct rule *rule,
				    const struct jdoc *m, size_t i)
{
	const struct rule *named = node_rule(f->node, KEYWORD_properties);
	const struct rule *patterns =
		node_rule(f->node, KEYWORD_pattern_properties);
	const struct sub *sub = find_sub(named, m->key);

	if (rule->keyword == KEYWORD_properties)
		return sub ? sub->node : NULL;
	if (rule->keyword == KEYWORD_unevaluated_properties)
		return seen_has(f->seen, i) ? NULL : rule->node;
	/* additionalProperties: neither named nor matched */
	for (size_t k = 0; !sub && patterns && k < patterns->n_sub; k++)
		if (run_search(r, patterns->sub[k].regex, m->key) ||
		    r->has_failed)
			return NULL;
	return sub ? NULL : rule->node;
}

bool check_members(struct run *r, struct frame *f, const struct rule *rule)
{
	bool holds = true;
	size_t i = 0;

	if (!is_object(f) || !run_spend(r, f->value->n))
		return !r->has_failed;
	for (const struct jdoc *m = f->value->first; m; m = m->next, i++) {
		const struct node *node = schema_of(r, f, rule, m, i);

		if (!node || apply(r, f, rule, node, m, i))
			continue;
		holds = false;
		if (!r->report)
			break;
	}
	return holds && !r->has_failed;
}

bool check_property_names(struct run *r, struct frame *f,
			  const struct rule *rule)
{
	AUTO(buf_release) struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	bool holds = true;

	if (!is_object(f))
		return true;
	for (const struct jdoc *m = f->value->first; m; m = m->next) {
		struct jdoc name = {.type = SCAN_STRING};

		if (!run_spend(r, 1 + m->key.n / 256))
			return false;
		buf_clear(&quoted);
		jw_quote(&quoted, m->key);
		name.raw = buf_str(&quoted);
		if (run_name(r, f, rule->node, &name))
			continue;
		holds = false;
		if (!r->report)
			break;
	}
	return holds;
}
