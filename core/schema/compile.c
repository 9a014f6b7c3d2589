#include "core/base/mem.h"
#include "core/base/uri.h"
#include "core/schema/dialect.h"
#include "core/schema/node.h"
#include "core/schema/refs.h"
#include "core/schema/shapes.h"

/* Compiling is a walk over texts; a step is a name looked at. */
#define COMPILE_STEPS (10 * LIMIT_SCHEMA_STEPS)

/* ---- resources and anchors ---- */

static const struct jdoc *string_member(const struct jdoc *value,
					const char *key)
{
	const struct jdoc *m = jdoc_get(value, key);

	return m && m->type == SCAN_STRING ? m : NULL;
}

static void add_anchor(struct schema *s, struct node *node, struct str name,
		       bool is_dynamic)
{
	struct anchor *a = ARENA_NEW(&s->arena, struct anchor);

	*a = (struct anchor){
		.next = node->resource->anchors,
		.name = name,
		.node = node,
		.is_dynamic = is_dynamic,
	};
	node->resource->anchors = a;
}

/* Read $schema, which decides how the rest of a resource is read. */
static int take_dialect(struct schema *s, struct node *node)
{
	const struct jdoc *dialect = string_member(node->value, "$schema");

	if (!dialect)
		return 0;
	return schema_dialect(s, node, schema_text(s, dialect));
}

static int take_id(struct schema *s, struct node *node)
{
	const struct jdoc *id = string_member(node->value, "$id");
	bool is_7 = node->resource->draft == SCHEMA_DRAFT_7;
	struct str text, uri;

	/* in draft-07 a reference makes its neighbours mean nothing */
	if (!id || (is_7 && jdoc_get(node->value, "$ref")))
		return 0;
	text = schema_text(s, id);
	if (is_7 && text.n > 1 && text.p[0] == '#') {
		add_anchor(s, node, (struct str){text.p + 1, text.n - 1},
			   false);
		return 0;
	}
	if (!is_7 && str_find(text, '#') + 1 < text.n)
		return node_fail(s, node, "$id", ERR_SYNTAX,
				 "must not have a fragment");
	uri = uri_resolve(node->resource->uri, text, &s->arena);
	if (!node->up) { /* the resource of the document has a better name */
		node->resource->uri = uri;
		return 0;
	}
	schema_add_resource(s, node, node->resource->document, uri);
	return take_dialect(s, node);
}

static void take_anchors(struct schema *s, struct node *node)
{
	const struct jdoc *anchor = string_member(node->value, "$anchor");
	const struct jdoc *dynamic =
		string_member(node->value, "$dynamicAnchor");

	if (node->resource->draft != SCHEMA_2020_12)
		return;
	if (anchor)
		add_anchor(s, node, schema_text(s, anchor), false);
	if (dynamic)
		add_anchor(s, node, schema_text(s, dynamic), true);
}

/* ---- rules ---- */

static int keyword_of(const struct resource *r, struct str name)
{
	for (int i = 0; i < N_KEYWORDS; i++) {
		const struct keyword_row *row = &KEYWORDS[i];

		if (row->n == name.n && row->drafts & 1u << r->draft &&
		    row->vocabulary & r->vocabularies &&
		    memcmp(row->name, name.p, name.n) == 0)
			return i;
	}
	return -1;
}

/* The $ref of draft-07 is alone; what stands beside it was only walked. */
static void keep_reference_only(struct node *node)
{
	const struct rule *ref = node_rule(node, KEYWORD_ref);

	if (ref && node->resource->draft == SCHEMA_DRAFT_7) {
		node->rule = &node->rule[ref - node->rule];
		node->n_rules = 1;
	}
}

static int compile_rules(struct schema *s, struct node *node)
{
	const struct jdoc *found[N_KEYWORDS] = {NULL};
	size_t n = 0;

	if (schema_spend(s, node->value->n + 1) < 0)
		return -1;
	for (const struct jdoc *m = node->value->first; m; m = m->next) {
		int k = keyword_of(node->resource, m->key);

		if (k < 0)
			continue;
		n += !found[k];
		found[k] = m;
	}
	node->rule = ARENA_ARRAY(&s->arena, struct rule, n + 1);
	for (int k = 0; k < N_KEYWORDS; k++) {
		struct rule *rule = &node->rule[node->n_rules];

		if (!found[k])
			continue;
		*rule = (struct rule){.keyword = (enum keyword)k,
				      .value = found[k]};
		node->n_rules++;
		if (rule_compile(s, node, rule) < 0)
			return -1;
	}
	node->tracks = found[KEYWORD_unevaluated_items] ||
		       found[KEYWORD_unevaluated_properties];
	keep_reference_only(node);
	return 0;
}

/* ---- nodes ---- */

static int fill_node(struct schema *s, struct node *node)
{
	switch (node->value->type) {
	case SCAN_TRUE:
		node->kind = NODE_TRUE;
		return 0;
	case SCAN_FALSE:
		node->kind = NODE_FALSE;
		return 0;
	case SCAN_OBJECT:
		break;
	default:
		return node_fail(s, node, NULL, ERR_SYNTAX,
				 "must be a schema: an object, true or false");
	}
	if (!node->up && take_dialect(s, node) < 0)
		return -1;
	if (take_id(s, node) < 0)
		return -1;
	take_anchors(s, node);
	return compile_rules(s, node);
}

/* Both steps may queue nodes and find references. */
static int compile_all(struct schema *s)
{
	while (s->queue || s->pending) {
		struct node *node = s->queue;

		if (node) {
			s->queue = node->queued;
			s->queue_end = s->queue ? s->queue_end : NULL;
		}
		if ((node ? fill_node(s, node) : refs_resolve_one(s)) < 0)
			return -1;
	}
	return 0;
}

/* ---- from outside ---- */

int schema_compile(struct str text, const struct schema_options *options,
		   struct schema **ret, struct err *err)
{
	AUTO(schema_freep) struct schema *s = mem_zalloc(sizeof(*s));
	struct document *d;

	if (options)
		s->options = *options;
	s->steps = COMPILE_STEPS;
	s->err = err;
	d = schema_load(s, (struct str){"", 0}, text);
	if (!d || compile_all(s) < 0)
		return -1;
	s->root = d->resource->node;
	s->options.docs = NULL;
	s->err = NULL;
	*ret = s;
	s = NULL;
	return 0;
}

void schema_free(struct schema *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_regex; i++)
		regex_free(s->regex[i]);
	free(s->regex);
	free(s->map.slot);
	arena_release(&s->arena);
	free(s);
}

void schema_freep(struct schema **s)
{
	schema_free(*s);
}
