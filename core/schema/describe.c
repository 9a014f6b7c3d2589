#include "core/schema/describe.h"

#include "core/schema/node.h"

/* Subschemas from the one that is described to what it says. */
#define WALK_DEPTH_MAX 16
/* Subschemas that one description looks at; alternatives branch. */
#define VISIT_MAX 2000
/* Properties of one object. */
#define PROPERTIES_MAX 1000
/* Choices of one property. */
#define CHOICES_MAX 1000

static const struct type_words {
	enum schema_type type;
	const char *name, *phrase;
} type_words[] = {
#define TYPE(id, name, bit, phrase) {SCHEMA_TYPE_##id, name, phrase},
#include "core/schema/types.def"
#undef TYPE
	{SCHEMA_TYPE_UNKNOWN, "any", "anything"},
};

static const struct type_words *words_of(enum schema_type type)
{
	const struct type_words *w = type_words;

	while (w->type != type && w->type != SCHEMA_TYPE_UNKNOWN)
		w++;
	return w;
}

const char *schema_type_phrase(enum schema_type type)
{
	return words_of(type)->phrase;
}

const char *schema_type_name(enum schema_type type)
{
	return words_of(type)->name;
}

/* ---- a walk over what applies to one value ---- */

struct walk {
	void (*visit)(struct walk *w, const struct node *node);
	void *data;
	unsigned visits;
	bool with_alternatives; /* also anyOf and oneOf */
};

static void walk_node(struct walk *w, const struct node *node, unsigned depth)
{
	static const enum keyword lists[] = {KEYWORD_all_of, KEYWORD_any_of,
					     KEYWORD_one_of};
	const struct rule *rule;

	if (depth > WALK_DEPTH_MAX || w->visits++ > VISIT_MAX)
		return;
	w->visit(w, node);
	rule = node_rule(node, KEYWORD_ref);
	if (rule)
		walk_node(w, rule->node, depth + 1);
	rule = node_rule(node, KEYWORD_dynamic_ref);
	if (rule)
		walk_node(w, rule->node, depth + 1);
	for (size_t k = 0; k < (w->with_alternatives ? 3 : 1); k++) {
		rule = node_rule(node, lists[k]);
		for (size_t i = 0; rule && i < rule->n_sub; i++)
			walk_node(w, rule->sub[i].node, depth + 1);
	}
}

static void walk_applied(const struct node *node, bool with_alternatives,
			 void (*visit)(struct walk *w, const struct node *node),
			 void *data)
{
	struct walk w = {.visit = visit,
			 .data = data,
			 .with_alternatives = with_alternatives};

	walk_node(&w, node, 0);
}

/* ---- one property ---- */

struct reading {
	struct arena *arena;
	struct schema_property *property;
};

static void take_text(const struct node *node, const char *key,
		      struct arena *arena, struct str *ret)
{
	const struct jdoc *text = jdoc_get(node->value, key);
	AUTO(buf_release) struct buf scratch = BUF_INIT(BUF_UNBOUNDED);

	if (!ret->n && text && text->type == SCAN_STRING)
		*ret = arena_str(arena, value_text(text, &scratch));
}

static void take_json(const struct node *node, const char *key,
		      struct arena *arena, struct str *ret)
{
	const struct jdoc *value = jdoc_get(node->value, key);

	if (value && !ret->p)
		*ret = arena_str(arena, value->raw);
}

unsigned schema_types_of(struct str value)
{
	static const unsigned types[] = {
		[SCAN_NULL] = SCHEMA_TYPE_NULL,
		[SCAN_FALSE] = SCHEMA_TYPE_BOOLEAN,
		[SCAN_TRUE] = SCHEMA_TYPE_BOOLEAN,
		[SCAN_NUMBER] = SCHEMA_TYPE_NUMBER | SCHEMA_TYPE_INTEGER,
		[SCAN_STRING] = SCHEMA_TYPE_STRING,
		[SCAN_ARRAY] = SCHEMA_TYPE_ARRAY,
		[SCAN_OBJECT] = SCHEMA_TYPE_OBJECT,
	};

	return types[scan_type(value)];
}

static unsigned type_of_value(const struct jdoc *value)
{
	return schema_types_of(value->raw) & ~(unsigned)SCHEMA_TYPE_INTEGER;
}

static void add_choice(struct reading *r, const struct jdoc *value,
		       struct str title)
{
	struct schema_property *p = r->property;

	if (!p->choice)
		p->choice = ARENA_ARRAY(r->arena, struct schema_choice,
					CHOICES_MAX);
	if (p->n_choices == CHOICES_MAX)
		return;
	p->choice[p->n_choices++] = (struct schema_choice){
		.value = arena_str(r->arena, value->raw),
		.title = title,
	};
}

/* enum, and the names for people that the older elicitation has beside it */
static void take_enum(struct reading *r, const struct node *node)
{
	const struct rule *rule = node_rule(node, KEYWORD_enum);
	const struct jdoc *names = jdoc_get(node->value, "enumNames");
	const struct jdoc *name =
		names && names->type == SCAN_ARRAY ? names->first : NULL;
	AUTO(buf_release) struct buf scratch = BUF_INIT(BUF_UNBOUNDED);

	for (const struct jdoc *e = rule ? rule->value->first : NULL; e;
	     e = e->next) {
		struct str title = {"", 0};

		if (name && name->type == SCAN_STRING)
			title = arena_str(r->arena, value_text(name, &scratch));
		add_choice(r, e, title);
		name = name ? name->next : NULL;
	}
}

static void visit_choices(struct walk *w, const struct node *node)
{
	struct reading *r = w->data;
	const struct rule *rule = node_rule(node, KEYWORD_const);
	struct str title = {"", 0};

	take_enum(r, node);
	if (!rule)
		return;
	take_text(node, "title", r->arena, &title);
	add_choice(r, rule->value, title);
}

struct typing {
	unsigned types;
	bool is_any; /* an alternative says nothing */
};

/*
 * Types by `type`, else by the values, else by what is referred to; of
 * alternatives all that one of them has, of what applies together only what
 * all have.
 */
static struct typing types_of(const struct node *node, unsigned depth,
			      unsigned *visits);

static void both(struct typing *t, struct typing other)
{
	if (other.is_any)
		return;
	if (t->is_any)
		*t = other;
	else if (t->types & other.types)
		t->types &= other.types;
	else if (t->types & SCHEMA_TYPE_NUMBER &&
		 other.types & SCHEMA_TYPE_INTEGER)
		t->types = SCHEMA_TYPE_INTEGER;
}

static struct typing types_of_values(const struct node *node)
{
	const struct rule *list = node_rule(node, KEYWORD_enum);
	const struct rule *one = node_rule(node, KEYWORD_const);
	struct typing t = {.is_any = !list && !one};

	for (const struct jdoc *e = list ? list->value->first : NULL; e;
	     e = e->next)
		t.types |= type_of_value(e);
	if (one)
		t.types |= type_of_value(one->value);
	return t;
}

static struct typing types_of_alternatives(const struct rule *rule,
					   unsigned depth, unsigned *visits)
{
	struct typing t = {0};

	for (size_t i = 0; i < rule->n_sub; i++) {
		struct typing one =
			types_of(rule->sub[i].node, depth + 1, visits);

		t.types |= one.types;
		t.is_any |= one.is_any;
	}
	return t.is_any ? (struct typing){.is_any = true} : t;
}

static struct typing types_of(const struct node *node, unsigned depth,
			      unsigned *visits)
{
	static const enum keyword references[] = {KEYWORD_ref,
						  KEYWORD_dynamic_ref};
	static const enum keyword alternatives[] = {KEYWORD_any_of,
						    KEYWORD_one_of};
	struct typing t = {.is_any = true};
	const struct rule *rule = node_rule(node, KEYWORD_type);

	if (depth > WALK_DEPTH_MAX || (*visits)++ > VISIT_MAX)
		return t;
	if (rule)
		return (struct typing){.types = rule->types};
	both(&t, types_of_values(node));
	for (size_t i = 0; i < ARRAY_LEN(references); i++) {
		rule = node_rule(node, references[i]);
		if (rule)
			both(&t, types_of(rule->node, depth + 1, visits));
	}
	rule = node_rule(node, KEYWORD_all_of);
	for (size_t i = 0; rule && i < rule->n_sub; i++)
		both(&t, types_of(rule->sub[i].node, depth + 1, visits));
	for (size_t i = 0; i < ARRAY_LEN(alternatives); i++) {
		rule = node_rule(node, alternatives[i]);
		if (rule)
			both(&t, types_of_alternatives(rule, depth, visits));
	}
	return t;
}

/* Bits of the types that a value may have; 0 when nothing is said. */
static unsigned node_types(const struct node *node)
{
	unsigned visits = 0;

	return types_of(node, 0, &visits).types;
}

static void visit_texts(struct walk *w, const struct node *node)
{
	struct reading *r = w->data;

	take_text(node, "title", r->arena, &r->property->title);
	take_text(node, "description", r->arena, &r->property->description);
	take_text(node, "format", r->arena, &r->property->format);
	take_json(node, "default", r->arena, &r->property->fallback);
	take_json(node, "minimum", r->arena, &r->property->minimum);
	take_json(node, "maximum", r->arena, &r->property->maximum);
	take_json(node, "minItems", r->arena, &r->property->min_items);
}

static void visit_items(struct walk *w, const struct node *node)
{
	const struct rule *rule = node_rule(node, KEYWORD_items);
	const struct node **ret = w->data;

	if (!rule)
		rule = node_rule(node, KEYWORD_items_7);
	if (rule && rule->node && !*ret)
		*ret = rule->node;
}

/* Schema of all elements; NULL: there is none. */
static const struct node *items_of(const struct node *node)
{
	const struct node *items = NULL;

	walk_applied(node, false, visit_items, &items);
	return items;
}

static void read_property(const struct node *node, struct arena *arena,
			  struct schema_property *p)
{
	struct reading r = {arena, p};
	const struct node *items = items_of(node);

	p->node = node;
	p->title = p->description = p->format = (struct str){"", 0};
	p->types = node_types(node);
	walk_applied(node, false, visit_texts, &r);
	walk_applied(node, true, visit_choices, &r);
	if (p->n_choices || !items || !(p->types & SCHEMA_TYPE_ARRAY))
		return;
	walk_applied(items, true, visit_choices, &r);
	p->is_list = p->n_choices > 0;
}

/* ---- all properties ---- */

struct named {
	struct str name;
	const struct node *node;
};

struct listing {
	struct arena *arena;
	struct named *list;
	size_t n;
};

static void visit_properties(struct walk *w, const struct node *node)
{
	const struct rule *rule = node_rule(node, KEYWORD_properties);
	struct listing *l = w->data;

	/* in the order of the document, not of the sorted rule */
	for (const struct jdoc *m = rule ? rule->value->first : NULL;
	     m && l->n < PROPERTIES_MAX; m = m->next) {
		bool is_known = false;

		for (size_t i = 0; i < l->n && !is_known; i++)
			is_known = str_eq(l->list[i].name, m->key);
		for (size_t i = 0; i < rule->n_sub && !is_known; i++)
			if (str_eq(rule->sub[i].key, m->key))
				l->list[l->n++] = (struct named){
					m->key, rule->sub[i].node};
	}
}

/* List properties in the order of the document; in `arena`. */
static size_t list_properties(const struct node *node, struct arena *arena,
			      struct named **ret)
{
	struct listing l = {.arena = arena};

	l.list = ARENA_ARRAY(arena, struct named, PROPERTIES_MAX);
	walk_applied(node, true, visit_properties, &l);
	*ret = l.list;
	return l.n;
}

size_t node_property_names(const struct node *node, struct arena *arena,
			   const char *const **ret)
{
	struct named *list;
	size_t n = list_properties(node, arena, &list);
	const char **names = ARENA_ARRAY(arena, const char *, n + 1);

	for (size_t i = 0; i < n; i++)
		names[i] = arena_strndup(arena, list[i].name.p, list[i].name.n);
	*ret = names;
	return n;
}

static void visit_required(struct walk *w, const struct node *node)
{
	AUTO(buf_release) struct buf scratch = BUF_INIT(BUF_UNBOUNDED);
	const struct rule *rule = node_rule(node, KEYWORD_required);
	struct schema_property *q = w->data;

	for (const struct jdoc *e = rule ? rule->value->first : NULL;
	     e && !q->is_required; e = e->next)
		q->is_required = str_eq(value_text(e, &scratch), q->name);
}

static void fill(const struct node *of, const struct named *from,
		 struct arena *arena, struct schema_property *ret)
{
	*ret = (struct schema_property){.name = arena_str(arena, from->name)};
	walk_applied(of, false, visit_required, ret);
	read_property(from->node, arena, ret);
}

static size_t read_members(const struct node *of, struct arena *arena,
			   struct schema_property **ret)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	struct named *list;
	size_t n = list_properties(of, &own, &list);

	*ret = ARENA_ARRAY(arena, struct schema_property, n + 1);
	for (size_t i = 0; i < n; i++)
		fill(of, &list[i], arena, &(*ret)[i]);
	return n;
}

size_t schema_properties(const struct schema *s, struct arena *arena,
			 struct schema_property **ret)
{
	return read_members(s->root, arena, ret);
}

size_t schema_members(const struct schema_property *p, struct arena *arena,
		      struct schema_property **ret)
{
	return read_members(p->node, arena, ret);
}

bool schema_elements(const struct schema_property *p, struct arena *arena,
		     struct schema_property *ret)
{
	const struct node *items = items_of(p->node);

	*ret = (struct schema_property){.name = {"", 0}};
	if (items)
		read_property(items, arena, ret);
	return items;
}

static const struct node *property_node(const struct node *node,
					struct str name)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	struct named *list;
	size_t n = list_properties(node, &own, &list), i = 0;

	while (i < n && !str_eq(list[i].name, name))
		i++;
	return i < n ? list[i].node : NULL;
}

bool schema_property(const struct schema *s, struct str name,
		     struct arena *arena, struct schema_property *ret)
{
	const struct named found = {name, property_node(s->root, name)};

	if (!found.node)
		return false;
	fill(s->root, &found, arena, ret);
	return true;
}

enum schema_type schema_property_type(const struct schema *s, struct str name)
{
	const struct node *node = property_node(s->root, name);
	unsigned types = node ? node_types(node) : 0;

	types &= ~(unsigned)SCHEMA_TYPE_NULL;
	if (types & SCHEMA_TYPE_STRING)
		return SCHEMA_TYPE_STRING;
	if (types & SCHEMA_TYPE_NUMBER)
		types &= ~(unsigned)SCHEMA_TYPE_INTEGER;
	return __builtin_popcount(types) == 1 ? (enum schema_type)types
					      : SCHEMA_TYPE_UNKNOWN;
}

bool schema_keyword(struct str name, enum schema_below *ret,
		    const char **ret_near)
{
	const char *names[N_KEYWORDS];

	for (size_t i = 0; i < N_KEYWORDS; i++) {
		names[i] = KEYWORDS[i].name;
		if (!str_is(name, names[i]))
			continue;
		*ret = KEYWORDS[i].shape >= SHAPE_SCHEMA_MAP ? SCHEMA_BELOW_EACH
		       : KEYWORDS[i].shape >= SHAPE_SCHEMA   ? SCHEMA_BELOW_ONE
							   : SCHEMA_BELOW_NONE;
		return true;
	}
	*ret_near = str_nearest(name, names, N_KEYWORDS);
	return false;
}

struct str schema_deref(struct str root, struct str schema, struct arena *arena)
{
	/* a circle ends somewhere */
	for (int i = 0; i < 8; i++) {
		struct str ref = scan_decoded(scan_text(schema, "$ref"),
					      SIZE_MAX, arena);
		struct str at = root, rest;

		if (!str_starts(ref, "#/"))
			break;
		rest = str_skip(ref, 2);
		while (rest.p && at.p)
			at = scan_named(at, str_cut(&rest, '/'));
		if (!at.p)
			break;
		schema = at;
	}
	return schema;
}
