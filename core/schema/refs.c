#include "core/schema/refs.h"

#include "core/base/uri.h"
#include "core/schema/dialect.h"
#include "core/schema/equal.h"

static struct str unescape(struct str token, struct arena *arena)
{
	char *out = arena_alloc(arena, token.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < token.n; i++) {
		char c = token.p[i];

		if (c == '~' && i + 1 < token.n &&
		    (token.p[i + 1] == '0' || token.p[i + 1] == '1'))
			c = token.p[++i] == '0' ? '~' : '/';
		out[n++] = c;
	}
	return (struct str){out, n};
}

static const struct jdoc *element(const struct jdoc *array, struct str token)
{
	const struct jdoc *e = array->first;
	uint64_t index;

	if (!str_uint64(token, &index) || (token.n > 1 && token.p[0] == '0'))
		return NULL;
	while (e && index--)
		e = e->next;
	return e;
}

static int unresolved(struct schema *s, const struct pending *p,
		      struct str reference, const char *why)
{
	return node_fail(s, p->node,
			 p->rule->keyword == KEYWORD_ref ? "$ref"
							 : "$dynamicRef",
			 ERR_UNKNOWN, "cannot resolve \"%.*s\": %s",
			 STR_ARG(str_first(reference, 200)), why);
}

/* Follow a pointer from the resource to a node. */
static int follow_pointer(struct schema *s, const struct pending *p,
			  struct str reference, struct resource *from,
			  struct str pointer)
{
	struct str rest = {pointer.p + 1, pointer.n - 1}, unseen = pointer;
	const struct jdoc *value = from->node->value;
	struct node *node = from->node, *known;

	while (rest.p) {
		struct str token = unescape(str_cut(&rest, '/'), &s->arena);

		if (schema_spend(s, value->n + 1) < 0)
			return -1;
		value = value->type == SCAN_OBJECT  ? value_member(value, token)
			: value->type == SCAN_ARRAY ? element(value, token)
						    : NULL;
		if (!value)
			return unresolved(s, p, reference,
					  "no value is at that place");
		known = node_at(s, value);
		if (known) {
			node = known;
			unseen = (struct str){rest.p ? rest.p - 1 : NULL,
					      rest.p ? rest.n + 1 : 0};
		}
	}
	p->rule->node =
		unseen.n ? schema_node(s, value, node, "", unseen) : node;
	return p->rule->node ? 0 : -1;
}

static int follow_anchor(struct schema *s, const struct pending *p,
			 struct str reference, struct resource *from,
			 struct str name)
{
	const struct anchor *found = NULL;

	for (const struct anchor *a = from->anchors; a; a = a->next) {
		if (!str_eq(a->name, name))
			continue;
		if (!found || a->is_dynamic)
			found = a;
	}
	if (!found)
		return unresolved(s, p, reference, "no anchor has that name");
	p->rule->node = found->node;
	if (p->rule->keyword == KEYWORD_dynamic_ref && found->is_dynamic)
		p->rule->dynamic = found->name;
	return 0;
}

/* Find or load a resource; NULL and s->err when there is none. */
static struct resource *find_resource(struct schema *s, const struct pending *p,
				      struct str reference)
{
	struct str uri, text;
	struct document *loaded;

	if (!reference.n || reference.p[0] == '#')
		return p->node->resource;
	uri = uri_resolve(p->node->resource->uri, reference, &s->arena);
	for (struct resource *r = s->resources; r; r = r->next)
		if (str_eq(r->uri, uri))
			return r;
	for (struct document *d = s->documents; d; d = d->next)
		if (str_eq(d->uri, uri))
			return d->resource;
	if (!schema_find_text(s, uri, &text)) {
		unresolved(s, p, reference,
			   "not in the schema, and nothing is fetched");
		return NULL;
	}
	loaded = schema_load(s, uri, text);
	return loaded ? loaded->resource : NULL;
}

int refs_resolve_one(struct schema *s)
{
	struct pending *p = s->pending;
	struct str reference = schema_text(s, p->rule->value);
	struct str fragment = uri_fragment(reference, &s->arena);
	struct resource *resource = find_resource(s, p, reference);

	if (!resource || schema_spend(s, 1) < 0)
		return -1;
	/* anchors and places of a document that was just loaded come first */
	if (s->queue)
		return 0;
	s->pending = p->next;
	if (!fragment.n) {
		p->rule->node = resource->node;
		return 0;
	}
	if (fragment.p[0] == '/')
		return follow_pointer(s, p, reference, resource, fragment);
	return follow_anchor(s, p, reference, resource, fragment);
}
