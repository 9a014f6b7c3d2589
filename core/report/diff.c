#include "core/report/diff.h"

#include <assert.h>
#include <ctype.h>

#include "core/report/align.h"
#include "core/report/canon.h"
#include "core/report/number.h"
#include "core/report/report.h"

/* Ignored elements belong together, not to others at their place. */
#define HASH_IGNORED UINT32_C(0x19a02ed5)

struct comparison {
	const struct rules *rules;
	struct arena *arena;
	struct edit *spare; /* of a pair that was the same */
};

/* ---- hashes: what is equal has the same one ---- */

static uint32_t mix(uint32_t h, uint32_t with)
{
	return (h ^ with) * 0x9e3779b1u ^ (h >> 15);
}

static uint32_t hash_string(struct str raw)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!memchr(raw.p, '\\', raw.n))
		return align_item((struct str){raw.p + 1, raw.n - 2});
	scan_string(raw, &text);
	return align_item(buf_str(&text));
}

static void hash(const struct comparison *c, struct jdoc *j);

/* The rule of that kind that a value is subject to; NULL: none. */
static const struct rule *rules_of(const struct rules *r, const struct jdoc *j,
				   enum rule_kind kind)
{
	const struct rule *rule = r && j->rule ? &r->item[j->rule - 1] : NULL;

	return rule && rule->kind == kind ? rule : NULL;
}

static void hash_members(const struct comparison *c, struct jdoc *j)
{
	const bool is_array = j->type == SCAN_ARRAY;
	const bool is_loose = is_array && rules_of(c->rules, j, RULE_ARRAYS);
	uint32_t low = UINT32_MAX, high = 0;

	for (struct jdoc *m = j->first; m; m = m->next) {
		hash(c, m);
		if (m->hash == HASH_IGNORED)
			continue;
		if (is_array && !is_loose)
			j->hash = mix(j->hash, m->hash);
		else if (!is_array)
			j->hash += mix(align_item(m->key), m->hash);
		low = m->hash < low ? m->hash : low;
		high = m->hash > high ? m->hash : high;
	}
	/* as good for sets, where elements may be there twice */
	if (is_loose)
		j->hash = mix(mix(low, high), j->type);
}

static void hash(const struct comparison *c, struct jdoc *j)
{
	/* a golden file keeps no more of what is ignored */
	if (j->ignored || str_is(j->raw, CANON_IGNORED)) {
		j->hash = HASH_IGNORED;
		return;
	}
	j->hash = j->type;
	if (rules_of(c->rules, j, RULE_TOLERANCE))
		return;
	if (j->type == SCAN_OBJECT || j->type == SCAN_ARRAY) {
		hash_members(c, j);
	} else if (j->type == SCAN_STRING && j->first) {
		hash(c, j->first);
		j->hash = j->first->hash + 1;
	} else {
		j->hash = j->type == SCAN_STRING ? hash_string(j->raw)
						 : align_item(j->raw);
	}
}

/* ---- places ---- */

static bool is_steps(const struct edit *e)
{
	return e && e->up && !e->up->up && e->old && e->new &&
	       e->old->type == SCAN_ARRAY && e->new->type == SCAN_ARRAY &&
	       e->up->old->type ==
		       SCAN_OBJECT &&str_is(e->old->key, "step_results");
}

static bool is_step(const struct edit *e)
{
	return e && is_steps(e->up);
}

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !memchr("_-", s.p[i], 2))
			return false;
	return s.n > 0;
}

/*
 * Append ".name" or ["name"] of a member.
 * filter  not NULL: of the elements whose member of that name is `name`,
 *	   [filter=name]
 */
static void path_add(struct buf *out, const char *filter, struct str name)
{
	bool plain = is_plain(name);

	if (filter)
		buf_addf(out, "[%s=", filter);
	else
		buf_addc(out, plain ? '.' : '[');
	if (plain)
		buf_add_str(out, name);
	else
		canon_quote(name, out);
	if (filter || !plain)
		buf_addc(out, ']');
}

/* of_new  places in the new document; else in the old one */
static void add_path(const struct edit *e, const struct edit *from, bool of_new,
		     struct buf *out)
{
	const struct jdoc *j = e->old ? e->old : e->new;
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	const struct jdoc *value;

	if (e == from)
		return;
	if (!e->up) {
		buf_addc(out, '$');
		return;
	}
	add_path(e->up, from, of_new, out);
	if (e->up->old->type == SCAN_STRING)
		return;
	value = e->up->by ? jdoc_get(j, e->up->by) : NULL;
	if (e->up->old->type == SCAN_OBJECT)
		path_add(out, NULL, j->key);
	else if (value && scan_string(value->raw, &name))
		path_add(out, e->up->by, buf_str(&name));
	else if (value)
		path_add(out, e->up->by, value->raw);
	else
		buf_addf(out, "[%zu]", of_new ? e->new_index : e->old_index);
}

void diff_path(const struct edit *e, const struct edit *from, struct buf *out)
{
	add_path(e, from, e->kind == DIFF_ADDED, out);
}

const struct edit *diff_step(const struct edit *e, struct arena *arena,
			     const char **ret_name)
{
	*ret_name = NULL;
	while (e && !is_step(e))
		e = e->up;
	if (e)
		*ret_name = jdoc_text(
			jdoc_get(e->new ? e->new : e->old, "step_name"), arena);
	return e;
}

/* Members that say how a run or a step ended, not what it said. */
static const char *const state_members[] = {
	"state", "success", "skipped", "reason", "summary", "dry_run",
};

static bool is_state(const struct edit *e)
{
	struct str key = e->old ? e->old->key : e->new->key;

	if (is_step(e))
		return e->kind != DIFF_MOVED;
	if (!e->up || (e->up->up && !is_step(e->up)))
		return false;
	/* present with the state only; the wording is a value */
	if (str_is(key, "error"))
		return e->kind != DIFF_CHANGED;
	for (size_t i = 0; i < ARRAY_LEN(state_members); i++)
		if (str_is(key, state_members[i]))
			return true;
	return false;
}

static bool is_bool(const struct jdoc *j)
{
	return j->type == SCAN_TRUE || j->type == SCAN_FALSE;
}

static enum diff_class class_of(const struct edit *e)
{
	if (is_state(e))
		return DIFF_STATE;
	return e->kind == DIFF_CHANGED && (e->old->type == e->new->type ||
					   (is_bool(e->old) && is_bool(e->new)))
		       ? DIFF_VALUE
		       : DIFF_SCHEMA;
}

/* ---- edits ---- */

static struct edit *new_edit(struct comparison *c, struct edit edit)
{
	struct edit *e = c->spare ? c->spare : ARENA_NEW(c->arena, struct edit);

	c->spare = NULL;
	*e = edit;
	return e;
}

static void append(struct edit *e)
{
	struct edit *up = e->up;

	if (e->kind != DIFF_WITHIN)
		e->class = class_of(e);
	if (up->last)
		up->last->next = e;
	else
		up->first = e;
	up->last = e;
}

static void add_one_sided(struct comparison *c, struct edit *up,
			  const struct jdoc *old, const struct jdoc *new,
			  size_t old_index, size_t new_index)
{
	assert(old || new);
	if (!(old ? old : new)->ignored)
		append(new_edit(c, (struct edit){.kind = old ? DIFF_REMOVED
							     : DIFF_ADDED,
						 .old = old,
						 .new = new,
						 .old_index = old_index,
						 .new_index = new_index,
						 .up = up}));
}

static void compare(struct comparison *c, struct edit *up,
		    const struct jdoc *old, const struct jdoc *new,
		    size_t old_index, size_t new_index);

/* ---- objects ---- */

static bool has_twice(struct jdoc *const *member)
{
	for (; member[0] && member[1]; member++)
		if (str_eq(member[0]->key, member[1]->key))
			return true;
	return false;
}

static void compare_objects(struct comparison *c, struct edit *e)
{
	struct jdoc **mo = jdoc_members(e->old, true, c->arena);
	struct jdoc **mn = jdoc_members(e->new, true, c->arena);

	e->is_whole = has_twice(mo) || has_twice(mn);
	/* both lists are sorted and end in NULL */
	while (*mo || *mn) {
		int order = !*mo   ? 1
			    : !*mn ? -1
				   : jdoc_key_order((*mo)->key, (*mn)->key);

		if (order == 0)
			compare(c, e, *mo++, *mn++, 0, 0);
		else if (order < 0)
			add_one_sided(c, e, *mo++, NULL, 0, 0);
		else
			add_one_sided(c, e, NULL, *mn++, 0, 0);
	}
}

/* ---- arrays: which elements belong together ---- */

struct side {
	struct jdoc **item; /* ends in NULL */
	uint32_t *id;
	uint32_t *partner; /* index in the other side, or DIFF_NONE */
	size_t n;
};

static struct side side_of(const struct comparison *c, const struct jdoc *array)
{
	struct side s = {
		.item = jdoc_members(array, false, c->arena),
		.id = ARENA_ARRAY(c->arena, uint32_t, array->n + 1),
		.partner = ARENA_ARRAY(c->arena, uint32_t, array->n + 1),
		.n = array->n,
	};

	for (size_t i = 0; i < s.n; i++) {
		s.id[i] = s.item[i]->hash;
		s.partner[i] = DIFF_NONE;
	}
	return s;
}

static void join(struct side *old, size_t i, struct side *new, size_t k)
{
	old->partner[i] = (uint32_t)k;
	new->partner[k] = (uint32_t)i;
}

/* Keys that tell an object from others of its kind. */
static const char *const identities[] = {"id", "key", "name", "uri", "type"};

static uint32_t shape(const struct jdoc *j)
{
	uint32_t h = j->hash == HASH_IGNORED ? j->hash : j->type;

	if (h != SCAN_OBJECT)
		return h;
	for (size_t i = 0; i < ARRAY_LEN(identities); i++) {
		const struct jdoc *member = jdoc_get(j, identities[i]);

		if (member)
			return mix(h + (uint32_t)i, member->hash);
	}
	for (const struct jdoc *m = j->first; m; m = m->next)
		h += align_item(m->key);
	return h;
}

/* Elements from..to of a side. */
struct range {
	struct side *side;
	size_t from, to;
};

static struct align_side ids_of(const struct comparison *c,
				const struct range *r, bool by_shape)
{
	size_t n = r->to - r->from;
	uint32_t *id = r->side->id + r->from;

	if (by_shape)
		id = ARENA_ARRAY(c->arena, uint32_t, n + 1);
	for (size_t i = 0; by_shape && i < n; i++)
		id[i] = shape(r->side->item[r->from + i]);
	return (struct align_side){id, ARENA_ARRAY(c->arena, bool, n + 1), n};
}

/*
 * Elements that are the same stay; of those between them the ones that look
 * alike belong together, and of the rest those at the same place.
 */
enum pairing { BY_VALUE, BY_SHAPE, BY_PLACE };

static void pair_ordered(const struct comparison *c, struct range old,
			 struct range new, enum pairing how)
{
	struct align_side a, b;
	size_t i = old.from, k = new.from;

	if (how == BY_PLACE || i == old.to || k == new.to) {
		for (; i < old.to && k < new.to; i++, k++)
			if ((old.side->item[i]->hash == HASH_IGNORED) ==
			    (new.side->item[k]->hash == HASH_IGNORED))
				join(old.side, i, new.side, k);
		return;
	}
	a = ids_of(c, &old, how == BY_SHAPE);
	b = ids_of(c, &new, how == BY_SHAPE);
	align(&a, &b);
	while (i < old.to || k < new.to) {
		struct range gap_old = {old.side, i, i};
		struct range gap_new = {new.side, k, k};

		for (; i < old.to && a.alone[i - old.from]; i++)
			gap_old.to++;
		for (; k < new.to &&b.alone[k - new.from]; k++)
			gap_new.to++;
		pair_ordered(c, gap_old, gap_new, how + 1);
		if (i < old.to)
			join(old.side, i++, new.side, k++);
	}
}

struct ranked {
	uint32_t id;
	size_t index;
};

static int by_id(const void *va, const void *vb)
{
	const struct ranked *a = va, *b = vb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static struct ranked *rank(const struct comparison *c, const struct side *s)
{
	struct ranked *r = ARENA_ARRAY(c->arena, struct ranked, s->n + 1);

	for (size_t i = 0; i < s->n; i++)
		r[i] = (struct ranked){s->id[i], i};
	qsort(r, s->n, sizeof(*r), by_id);
	return r;
}

static bool is_same(struct comparison *c, const struct jdoc *old,
		    const struct jdoc *new)
{
	struct edit none = {.old = old, .new = new};

	compare(c, &none, old, new, 0, 0);
	return !none.first;
}

/*
 * By id, in any order; elements of one id in theirs.
 * is_set  an element that is there once more is none
 */
static void pair_loose(struct comparison *c, struct side *old, struct side *new,
		       bool is_set)
{
	struct ranked *a = rank(c, old), *b = rank(c, new);
	size_t i = 0, k = 0;

	while (i < old->n && k < new->n) {
		const uint32_t id = a[i].id;
		const size_t first_old = a[i].index, first_new = b[k].index;

		if (id != b[k].id) {
			if (id < b[k].id)
				i++;
			else
				k++;
			continue;
		}
		while (i < old->n && k < new->n &&a[i].id == id &&b[k].id == id)
			join(old, a[i++].index, new, b[k++].index);
		for (; is_set && i < old->n && a[i].id == id; i++)
			old->partner[a[i].index] = (uint32_t)first_new;
		for (; is_set && k < new->n &&b[k].id == id; k++)
			if (is_same(c, old->item[first_old],
				    new->item[b[k].index]))
				new->partner[b[k].index] = (uint32_t)first_old;
	}
}

/* Ids from a member; false: it does not tell all elements apart. */
static bool id_by_member(const struct comparison *c, struct side *s,
			 const char *name)
{
	const struct ranked *r;

	for (size_t i = 0; i < s->n; i++) {
		const struct jdoc *member = jdoc_get(s->item[i], name);

		if (!member || member->ignored || member->type == SCAN_OBJECT ||
		    member->type == SCAN_ARRAY)
			return false;
		s->id[i] = member->hash;
	}
	r = rank(c, s);
	for (size_t i = 1; i < s->n; i++)
		if (r[i].id == r[i - 1].id)
			return false;
	return true;
}

/* ---- arrays: edits ---- */

/* Do the pairs stand in the same order on both sides? */
static bool is_in_order(const struct side *old)
{
	size_t furthest = 0;

	for (size_t i = 0; i < old->n; i++) {
		if (old->partner[i] == DIFF_NONE)
			continue;
		if (old->partner[i] < furthest)
			return false;
		furthest = old->partner[i];
	}
	return true;
}

static size_t add_new(struct comparison *c, struct edit *e,
		      const struct side *new, size_t from, size_t to,
		      size_t before)
{
	for (; from < to; from++)
		if (new->partner[from] == DIFF_NONE)
			add_one_sided(c, e, NULL, new->item[from], before,
				      from);
	return from;
}

/* Where there is a shortest way to the new order, these are the ones to move.
 */
static const bool *find_moved(const struct comparison *c, struct side *old,
			      struct side *new)
{
	const struct range all_old = {old, 0, old->n};
	const struct range all_new = {new, 0, new->n};
	struct align_side a = ids_of(c, &all_old, false);
	struct align_side b = ids_of(c, &all_new, false);

	align(&a, &b);
	return a.alone;
}

/* Only of elements with names it is told that they moved. */
static void add_edits(struct comparison *c, struct edit *e, struct side *old,
		      struct side *new, bool tells_moves)
{
	const bool is_ordered = is_in_order(old) && !e->is_loose;
	const bool *moved =
		tells_moves && !is_ordered ? find_moved(c, old, new) : NULL;
	size_t next = 0;

	for (size_t i = 0; i < old->n; i++) {
		const size_t k = old->partner[i];

		if (k == DIFF_NONE) {
			add_one_sided(c, e, old->item[i], NULL, i, 0);
			continue;
		}
		if (is_ordered)
			next = add_new(c, e, new, next, k, i);
		compare(c, e, old->item[i], new->item[k], i, k);
		if (moved && moved[i])
			append(new_edit(c, (struct edit){.kind = DIFF_MOVED,
							 .old = old->item[i],
							 .new = new->item[k],
							 .old_index = i,
							 .new_index = k,
							 .up = e}));
	}
	add_new(c, e, new, next, new->n, old->n);
	if (moved)
		e->order = new->partner;
}

static void compare_arrays(struct comparison *c, struct edit *e)
{
	const struct rule *rule = rules_of(c->rules, e->old, RULE_ARRAYS);
	struct side old = side_of(c, e->old), new = side_of(c, e->new);
	const char *name;

	if (!rule)
		rule = rules_of(c->rules, e->new, RULE_ARRAYS);
	name = rule ? strchr(rule->value, ':') : NULL;
	name = name ? name + 1 : is_steps(e) ? "step_name" : NULL;
	if (name && id_by_member(c, &old, name) && id_by_member(c, &new, name))
		e->by = name;
	else if (name) {
		old = side_of(c, e->old);
		new = side_of(c, e->new);
	}
	e->is_loose = rule;
	if (rule || e->by)
		pair_loose(c, &old, &new, rule && !strcmp(rule->value, "set"));
	else
		pair_ordered(c, (struct range){&old, 0, old.n},
			     (struct range){&new, 0, new.n}, BY_VALUE);
	add_edits(c, e, &old, &new, e->by && !rule);
}

/* ---- each change of a step is said once ---- */

static struct edit *edit_of(const struct edit *e, const char *key)
{
	struct edit *below = e ? e->first : NULL;

	while (below &&
	       !str_is((below->old ? below->old : below->new)->key, key))
		below = below->next;
	return below;
}

/* A value that changed, or a text in which one did. */
static bool is_value(const struct edit *e)
{
	return !e->old || !e->new || e->old->ignored || e->new->ignored
		       ? false
		       : e->kind == DIFF_CHANGED ||
				 (e->kind == DIFF_WITHIN &&
				  e->old->type == SCAN_STRING);
}

/* A text is JSON that is equal to the value. */
static bool holds(const struct jdoc *text, const struct jdoc *value,
		  struct arena *arena)
{
	AUTO(buf_release) struct buf decoded = BUF_INIT(BUF_UNBOUNDED);
	struct jdoc *inside = text ? text->first : NULL;

	if (!value || !text || text->type != SCAN_STRING)
		return false;
	if (!inside && (!scan_string(text->raw, &decoded) ||
			jdoc_parse(arena_str(arena, buf_str(&decoded)), arena,
				   &inside, ERR_IGNORED) < 0))
		return false;
	return canon_equal(inside, value);
}

/* The output of a step is what is made of its data for people. */
static bool is_made_of_data(const struct jdoc *step, struct arena *arena)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf output = BUF_INIT(BUF_UNBOUNDED);
	const struct jdoc *data = jdoc_get(step, "data");
	const struct jdoc *content = jdoc_get(data, "content");
	const struct jdoc *shown = jdoc_get(step, "output");

	if (holds(shown, data, arena) ||
	    holds(shown, jdoc_get(data, "structuredContent"), arena))
		return true;
	if (!content || content->type != SCAN_ARRAY || !shown ||
	    !scan_string(shown->raw, &output))
		return false;
	report_mcp_output(&body, content->raw);
	return str_eq(buf_str(&body), buf_str(&output));
}

/* Another value below has the same two sides. */
static bool is_said_below(const struct edit *e, const struct edit *value)
{
	bool is = e != value && is_value(e) &&
		  canon_equal(e->old, value->old) &&
		  canon_equal(e->new, value->new);

	for (const struct edit *b = e->first; b && !is; b = b->next)
		is = is_said_below(b, value);
	return is;
}

static void hide_texts(struct edit *e, const struct edit *structured,
		       struct arena *arena)
{
	if (e == structured)
		return;
	if (is_value(e))
		e->is_hidden = holds(e->old, structured->old, arena) &&
			       holds(e->new, structured->new, arena);
	for (struct edit *b = e->first; b && !e->is_hidden; b = b->next)
		hide_texts(b, structured, arena);
}

static void drop(struct edit *up, const struct edit *e)
{
	struct edit *before = NULL;

	for (struct edit *b = up->first; b != e; b = b->next)
		before = b;
	if (before)
		before->next = e->next;
	else
		up->first = e->next;
	if (up->last == e)
		up->last = before;
}

/*
 * Hide edits of a step that repeat others: of its output, when it is made of
 * the data, and of a text that holds what the structured content says. An
 * output that data without a difference make is no difference: its edit goes.
 */
static void once(struct edit *step, struct arena *arena)
{
	struct edit *output = edit_of(step, "output");
	struct edit *data = edit_of(step, "data");
	struct edit *structured = edit_of(data, "structuredContent");
	bool is_made;

	if (structured && structured->old && structured->new)
		hide_texts(data, structured, arena);
	if (!output || !is_value(output))
		return;
	is_made = is_made_of_data(step->new, arena);
	if (!data && is_made)
		drop(step, output);
	else
		output->is_hidden =
			is_said_below(step, output) ||
			(data && is_made && is_made_of_data(step->old, arena));
}

/* ---- pairs ---- */

static bool is_near(const struct comparison *c, const struct jdoc *old,
		    const struct jdoc *new)
{
	const struct rule *rule = rules_of(c->rules, old, RULE_TOLERANCE);

	if (!rule)
		rule = rules_of(c->rules, new, RULE_TOLERANCE);
	return rule && old->type == SCAN_NUMBER &&
	       new->type == SCAN_NUMBER &&number_is_near(old->raw, new->raw,
							 str_of(rule->value));
}

/* True: they differ. */
static bool compare_pair(struct comparison *c, struct edit *e)
{
	const struct jdoc *old = e->old, *new = e->new;

	if (old->type == SCAN_OBJECT && new->type == SCAN_OBJECT) {
		compare_objects(c, e);
	} else if (old->type == SCAN_ARRAY && new->type == SCAN_ARRAY) {
		compare_arrays(c, e);
	} else if (old->type == SCAN_STRING && new->type == SCAN_STRING &&
		   old->first &&new->first) {
		e->is_whole = true;
		compare(c, e, old->first, new->first, 0, 0);
	} else if (!canon_equal(old, new) && !is_near(c, old, new)) {
		e->kind = DIFF_CHANGED;
	}
	if (is_step(e))
		once(e, c->arena);
	return e->first || e->kind == DIFF_CHANGED;
}

static void compare(struct comparison *c, struct edit *up,
		    const struct jdoc *old, const struct jdoc *new,
		    size_t old_index, size_t new_index)
{
	/* equal, as far as is compared; but only one of them is kept */
	const bool is_hidden = old->ignored != new->ignored;
	struct edit *e;

	if (!is_hidden && (old->ignored || str_eq(old->raw, new->raw)))
		return;
	e = new_edit(
		c, (struct edit){.kind = is_hidden ? DIFF_CHANGED : DIFF_WITHIN,
				 .is_hidden = is_hidden,
				 .old = old,
				 .new = new,
				 .old_index = old_index,
				 .new_index = new_index,
				 .up = up});
	if (is_hidden || compare_pair(c, e))
		append(e);
	else
		c->spare = e;
}

/* ---- the result ---- */

static void show(struct diff *d, struct edit *e, struct arena *arena)
{
	if (e->is_hidden)
		return;
	for (struct edit *below = e->first; below; below = below->next)
		show(d, below, arena);
	if (e->kind == DIFF_WITHIN)
		return;
	d->shown = arena_grow(arena, d->shown, d->n, sizeof(struct edit *));
	d->shown[d->n++] = e;
}

void diff_reports(struct jdoc *old, struct jdoc *new, const struct rules *rules,
		  struct arena *arena, struct diff *ret)
{
	struct comparison c = {.rules = rules, .arena = arena};
	struct edit *root = ARENA_NEW(arena, struct edit);

	*ret = (struct diff){.old = old, .new = new};
	*root = (struct edit){.kind = DIFF_WITHIN, .old = old, .new = new};
	if (old->ignored || new->ignored)
		return;
	hash(&c, old);
	hash(&c, new);
	if (!compare_pair(&c, root))
		return;
	root->class = class_of(root);
	show(ret, root, arena);
	ret->root = ret->n ? root : NULL;
}
