#include "core/schema/node.h"

#include <stdarg.h>

#include "core/base/mem.h"

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

const struct rule *node_rule(const struct node *node, enum keyword keyword)
{
	for (size_t i = 0; i < node->n_rules; i++)
		if (node->rule[i].keyword == keyword)
			return &node->rule[i];
	return NULL;
}

/* ---- pointers ---- */

void pointer_add(struct buf *out, struct str token)
{
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] == '~')
			buf_adds(out, "~0");
		else if (token.p[i] == '/')
			buf_adds(out, "~1");
		else
			buf_addc(out, token.p[i]);
	}
}

/* Recursion is bounded, as nesting is. */
static void add_steps(const struct node *node, struct buf *out)
{
	if (!node->up)
		return;
	add_steps(node->up, out);
	if (!node->keyword[0]) { /* of a reference, escaped already */
		buf_add_str(out, node->token);
		return;
	}
	buf_addf(out, "/%s", node->keyword);
	if (node->token.p) {
		buf_addc(out, '/');
		pointer_add(out, node->token);
	}
}

void node_pointer(const struct node *node, struct buf *out)
{
	buf_add_str(out, node->resource->document->uri);
	buf_addc(out, '#');
	add_steps(node, out);
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

/* ---- nodes and documents ---- */

static size_t first_slot(const struct node_map *map, const struct jdoc *value)
{
	return ((uintptr_t)value >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
	       (map->cap - 1);
}

struct node *node_at(const struct schema *s, const struct jdoc *value)
{
	const struct node_map *map = &s->map;

	if (!map->cap)
		return NULL;
	for (size_t i = first_slot(map, value); map->slot[i];
	     i = (i + 1) & (map->cap - 1))
		if (map->slot[i]->value == value)
			return map->slot[i];
	return NULL;
}

static void put(struct node_map *map, struct node *node)
{
	size_t i = first_slot(map, node->value);

	while (map->slot[i])
		i = (i + 1) & (map->cap - 1);
	map->slot[i] = node;
	map->n++;
}

static void node_map_add(struct node_map *map, struct node *node)
{
	if ((map->n + 1) * 2 > map->cap) {
		struct node_map old = *map;

		map->cap = old.cap ? old.cap * 2 : 64;
		map->n = 0;
		map->slot = mem_zalloc(map->cap * sizeof(struct node *));
		for (size_t i = 0; i < old.cap; i++)
			if (old.slot[i])
				put(map, old.slot[i]);
		free(old.slot);
	}
	put(map, node);
}

/* Make a node known, and queue it. */
static void add_node(struct schema *s, struct node *node)
{
	node_map_add(&s->map, node);
	*(s->queue_end ? &s->queue_end->queued : &s->queue) = node;
	s->queue_end = node;
}

struct node *schema_node(struct schema *s, const struct jdoc *value,
			 struct node *up, const char *keyword, struct str token)
{
	struct node *node = node_at(s, value);

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
			  "subschemas are nested more than %d deep",
			  LIMIT_SCHEMA_NESTING);
		return NULL;
	}
	add_node(s, node);
	return node;
}

void schema_add_resource(struct schema *s, struct node *node,
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
	schema_add_resource(s, node, d, uri);
	d->resource = node->resource;
	add_node(s, node);
	return d;
}
