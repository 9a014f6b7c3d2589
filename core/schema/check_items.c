/* Keywords that look at the elements of an array. */
#include "core/schema/run.h"

#include <inttypes.h>

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

bool check_n_items(struct run *r, struct frame *f, const struct rule *rule)
{
	return f->value->type != SCAN_ARRAY ||
	       check_number_of(r, f, rule, f->value->n, "element", "elements");
}

/* ---- uniqueItems ---- */

struct hashed {
	uint64_t hash;
	size_t index;
	const struct jdoc *value;
};

static int by_hash(const void *va, const void *vb)
{
	const struct hashed *a = va, *b = vb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The first two that are equal; false when there are none. */
static bool find_equal(struct run *r, const struct hashed *list, size_t n,
		       size_t pair[2])
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && list[k].hash == list[i].hash;
		     k++) {
			if (!run_spend(r, 1 + list[i].value->raw.n / 64))
				return false;
			if (!value_equal(list[i].value, list[k].value))
				continue;
			pair[0] = list[i].index;
			pair[1] = list[k].index;
			return true;
		}
	return false;
}

bool check_unique_items(struct run *r, struct frame *f, const struct rule *rule)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct jdoc *array = f->value;
	struct hashed *list;
	size_t pair[2], n = 0;

	if (rule->value->type == SCAN_FALSE || array->type != SCAN_ARRAY ||
	    array->n < 2)
		return true;
	if (!run_spend(r, array->n + array->raw.n / 64))
		return false;
	list = ARENA_ARRAY(&arena, struct hashed, array->n);
	for (const struct jdoc *e = array->first; e; e = e->next, n++)
		list[n] = (struct hashed){value_hash(e), n, e};
	qsort(list, n, sizeof(*list), by_hash);
	if (!find_equal(r, list, n, pair))
		return !r->has_failed;
	return say(r, f, rule, "elements %zu and %zu are equal", pair[0],
		   pair[1]);
}

/* ---- schemas of elements ---- */

/* The first elements, each by its own schema. */
static bool each_by_its_own(struct run *r, struct frame *f,
			    const struct rule *rule)
{
	bool holds = true;
	size_t i = 0;

	for (const struct jdoc *e = f->value->first; e && i < rule->n_sub;
	     e = e->next, i++) {
		seen_add(f->seen, i);
		if (run_child(r, f, rule->sub[i].node, e, i))
			continue;
		holds = false;
		if (!r->report)
			break;
	}
	return holds;
}

static bool too_many(struct run *r, struct frame *f, const struct rule *rule,
		     const struct jdoc *e, size_t i)
{
	struct frame extra = {.up = f,
			      .node = f->node,
			      .value = e,
			      .index = i,
			      .is_child = true};

	return say(r, &extra, rule, "is one element too many; %zu %s allowed",
		   i, i == 1 ? "is" : "are");
}

/* All elements from `first` on that nothing spoke of, if that matters. */
static bool rest_by_one(struct run *r, struct frame *f, const struct rule *rule,
			size_t first, bool only_unseen)
{
	bool holds = true;
	size_t i = 0;

	for (const struct jdoc *e = f->value->first; e; e = e->next, i++) {
		if (i < first || (only_unseen && seen_has(f->seen, i)))
			continue;
		seen_add(f->seen, i);
		if (rule->node->kind == NODE_FALSE && first)
			return too_many(r, f, rule, e, i);
		if (run_child(r, f, rule->node, e, i))
			continue;
		holds = false;
		if (!r->report)
			break;
	}
	return holds && !r->has_failed;
}

bool check_prefix_items(struct run *r, struct frame *f, const struct rule *rule)
{
	return f->value->type != SCAN_ARRAY || each_by_its_own(r, f, rule);
}

bool check_items(struct run *r, struct frame *f, const struct rule *rule)
{
	const struct rule *prefix = node_rule(f->node, KEYWORD_prefix_items);

	return f->value->type != SCAN_ARRAY ||
	       rest_by_one(r, f, rule, prefix ? prefix->n_sub : 0, false);
}

bool check_items_7(struct run *r, struct frame *f, const struct rule *rule)
{
	if (f->value->type != SCAN_ARRAY)
		return true;
	return rule->node ? rest_by_one(r, f, rule, 0, false)
			  : each_by_its_own(r, f, rule);
}

/* Means something beside an `items` that is an array only. */
bool check_additional_items(struct run *r, struct frame *f,
			    const struct rule *rule)
{
	const struct rule *items = node_rule(f->node, KEYWORD_items_7);

	if (!items || items->node || f->value->type != SCAN_ARRAY)
		return true;
	return rest_by_one(r, f, rule, items->n_sub, false);
}

bool check_unevaluated_items(struct run *r, struct frame *f,
			     const struct rule *rule)
{
	return f->value->type != SCAN_ARRAY || rest_by_one(r, f, rule, 0, true);
}

/* ---- contains ---- */

static size_t count_contained(struct run *r, struct frame *f,
			      const struct rule *rule)
{
	struct report *report = run_hush(r);
	size_t n = 0, i = 0;

	for (const struct jdoc *e = f->value->first; e; e = e->next, i++) {
		if (!run_child(r, f, rule->node, e, i)) {
			if (r->has_failed)
				break;
			continue;
		}
		seen_add(f->seen, i);
		n++;
	}
	run_loud(r, report);
	return n;
}

bool check_contains(struct run *r, struct frame *f, const struct rule *rule)
{
	const struct rule *low = node_rule(f->node, KEYWORD_min_contains);
	const struct rule *high = node_rule(f->node, KEYWORD_max_contains);
	uint64_t least = low ? low->count : 1;
	uint64_t most = high ? high->count : UINT64_MAX;
	size_t n;

	if (f->value->type != SCAN_ARRAY)
		return true;
	n = count_contained(r, f, rule);
	if (r->has_failed)
		return false;
	if (n < least)
		return say(r, f, low ? low : rule,
			   "has %zu element%s of the kind that it must "
			   "contain at least %" PRIu64 " of",
			   n, plural(n), least);
	return n <= most ||
	       say(r, f, high,
		   "has %zu element%s of the kind that it may contain at "
		   "most %" PRIu64 " of",
		   n, plural(n), most);
}
