#include "core/schema/inner.h"

#include <stdarg.h>

#include "core/base/mem.h"
#include "core/base/uri.h"

/* Compiling is a walk over texts; a step is a name looked at. */
#define COMPILE_STEPS (10 * LIMIT_SCHEMA_STEPS)

const struct keyword_row KEYWORDS[N_KEYWORDS] = {
#define KEYWORD(id, name, drafts, vocabulary, shape, check, help) \
	{name, sizeof(name) - 1, drafts, VOCABULARY_##vocabulary, \
	 SHAPE_##shape},
#include "core/schema/keywords.def"
#undef KEYWORD
};

int schema_spend(struct schema *s, uint64_t steps)
{
	if (s->steps < steps)
		return err_set(s->err, ERR_LIMIT,
			       "#: the schema is too much work to compile");
	s->steps -= steps;
	return 0;
}

struct str schema_text(struct schema *s, const struct jdoc *string)
{
	struct str raw = string->raw, copy;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!memchr(raw.p, '\\', raw.n))
		return (struct str){raw.p + 1, raw.n - 2};
	scan_string(raw, &text);
	copy = arena_str(&s->arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

int node_fail(struct schema *s, const struct node *node, const char *keyword,
	      enum err_kind kind, const char *fmt, ...)
{
	AUTO(buf_release) struct buf place = BUF_INIT(BUF_UNBOUNDED);
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	node_pointer(node, &place);
	if (keyword)
		buf_addf(&place, "/%s", keyword);
	return err_set(s->err, kind, "%.*s: %s",
		       STR_ARG(str_first(buf_str(&place), 400)), what);
}

const struct rule *node_rule(const struct node *node, enum keyword keyword)
{
	for (size_t i = 0; i < node->n_rules; i++)
		if (node->rule[i].keyword == keyword)
			return &node->rule[i];
	return NULL;
}

/* ---- resources and anchors ---- */

static const struct jdoc *string_member(const struct jdoc *value,
					const char *key)
{
	const struct jdoc *m = jdoc_get(value, key);

	return m && m->type == SCAN_STRING ? m : NULL;
}

static struct resource *add_resource(struct schema *s, struct node *node,
				     struct document *document, struct str uri)
{
	struct resource *r = ARENA_NEW(&s->arena, struct resource);
	struct resource **tail = &s->resources;

	while (*tail)
		tail = &(*tail)->next;
	*tail = r;
	*r = (struct resource){
		.document = document,
		.uri = uri,
		.node = node,
		.draft = s->options.draft,
		.vocabularies = VOCABULARY_usual,
	};
	if (node->resource) {
		r->draft = node->resource->draft;
		r->vocabularies = node->resource->vocabularies;
	}
	node->resource = r;
	return r;
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

/* The $schema of a resource decides how all else of it is read. */
static int take_dialect(struct schema *s, struct node *node)
{
	const struct jdoc *dialect = string_member(node->value, "$schema");

	if (!dialect)
		return 0;
	return schema_dialect(s, node, schema_text(s, dialect), node->resource);
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
	add_resource(s, node, node->resource->document, uri);
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

struct node *schema_node(struct schema *s, const struct jdoc *value,
			 struct node *up, const char *keyword, struct str token)
{
	struct node *node = node_map_get(&s->map, value);

	if (node)
		return node;
	node = ARENA_NEW(&s->arena, struct node);
	*node = (struct node){
		.value = value,
		.resource = up->resource,
		.up = up,
		.keyword = keyword,
		.token = token,
		.nesting = up->nesting + 1,
	};
	if (s->map.n == LIMIT_SCHEMA_NODES) {
		node_fail(s, node, NULL, ERR_LIMIT, "more than %d subschemas",
			  LIMIT_SCHEMA_NODES);
		return NULL;
	}
	if (node->nesting > LIMIT_SCHEMA_NESTING) {
		node_fail(s, node, NULL, ERR_LIMIT,
			  "more than %d subschemas within each other",
			  LIMIT_SCHEMA_NESTING);
		return NULL;
	}
	node_map_add(&s->map, node);
	return fill_node(s, node) < 0 ? NULL : node;
}

struct document *schema_load(struct schema *s, struct str uri, struct str text)
{
	struct document *d = ARENA_NEW(&s->arena, struct document);
	struct node *node = ARENA_NEW(&s->arena, struct node);

	if (text.n > LIMIT_SCHEMA_BYTES) {
		err_set(s->err, ERR_LIMIT, "%.*s#: over %d bytes",
			STR_ARG(str_first(uri, 200)), LIMIT_SCHEMA_BYTES);
		return NULL;
	}
	if (schema_spend(s, text.n / 16) < 0)
		return NULL;
	d->uri = uri;
	if (jdoc_parse(arena_str(&s->arena, text), &s->arena, &d->tree,
		       s->err) < 0) {
		err_wrap(s->err, "%.*s#", STR_ARG(str_first(uri, 200)));
		return NULL;
	}
	d->next = s->documents;
	s->documents = d;
	*node = (struct node){.value = d->tree, .keyword = ""};
	d->resource = add_resource(s, node, d, uri);
	node_map_add(&s->map, node);
	return fill_node(s, node) < 0 ? NULL : d;
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
	if (!d || schema_resolve(s) < 0)
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
