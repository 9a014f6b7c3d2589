/*
 * From text to nodes: documents and their nodes, $schema, the values of
 * keywords, references, and the walk that joins them.
 */

#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/base/url.h"
#include "core/schema/describe.h"
#include "core/schema/node.h"

const struct keyword_row KEYWORDS[N_KEYWORDS] = {
#define KEYWORD(id, name, drafts, vocabulary, shape, on, check, help) \
	{name, sizeof(name) - 1, drafts, VOCABULARY_##vocabulary,     \
	 SHAPE_##shape},
#include "core/schema/keywords.def"
#undef KEYWORD
};

/* Take work from the budget of compiling; -1 when it has run out. */
static int schema_spend(struct schema *s, uint64_t steps)
{
	if (s->steps < steps)
		return err_set(s->err, ERR_LIMIT,
			       "#: the schema is too much work to compile");
	s->steps -= steps;
	return 0;
}

/* Characters of a string of a schema, for as long as the schema lives. */
static struct str schema_text(struct schema *s, const struct jdoc *string)
{
	struct str raw = string->raw, copy;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!memchr(raw.p, '\\', raw.n))
		return (struct str){raw.p + 1, raw.n - 2};
	scan_string(raw, &text);
	copy = arena_str(&s->arena, buf_str(&text));
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
		text_add_pointer(out, node->token);
	}
}

void node_pointer(const struct node *node, struct buf *out)
{
	buf_add_str(out, node->resource->document->uri);
	buf_addc(out, '#');
	add_steps(node, out);
}

/* Fill s->err with the place of the node's keyword (or NULL); returns -1. */
static int node_fail(struct schema *s, const struct node *node,
		     const char *keyword, enum err_kind kind, const char *fmt,
		     ...)
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

/* Find the known node at `value`, or NULL. */
static struct node *node_at(const struct schema *s, const struct jdoc *value)
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

/*
 * Find the node at `value`, or queue a new one: beneath `up` at `token`, a
 * piece of pointer. NULL and s->err on failure.
 */
static struct node *schema_node(struct schema *s, const struct jdoc *value,
				struct node *up, const char *keyword,
				struct str token)
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

/* Make a node the root of a resource under this URI. */
static void schema_add_resource(struct schema *s, struct node *node,
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

/*
 * Load the text of a document; its root is queued. NULL and s->err on failure.
 */
static struct document *schema_load(struct schema *s, struct str uri,
				    struct str text)
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

/* ---- documents ---- */

#define DRAFT_2020_12 "https://json-schema.org/draft/2020-12/"

static const struct metaschema {
	const char *uri;
	const char *text;
} METASCHEMAS[] = {
#define METASCHEMA(uri, ...) {uri, #__VA_ARGS__},
#define METASCHEMA_PART(name, ...)                              \
	{DRAFT_2020_12 "meta/" name,                            \
	 "{\"$schema\": \"" DRAFT_2020_12                       \
	 "schema\", \"$id\": \"" DRAFT_2020_12 "meta/" name     \
	 "\", \"$vocabulary\": {\"" DRAFT_2020_12 "vocab/" name \
	 "\": true}, \"$dynamicAnchor\": \"meta\", "            \
	 "\"type\": [\"object\", \"boolean\"], " #__VA_ARGS__ "}"},
#include "core/schema/metaschemas.def"
#undef METASCHEMA
#undef METASCHEMA_PART
};

/* Cut the fragment off, which is empty in the URI of a document. */
static struct str bare(struct str uri)
{
	return (struct str){uri.p, str_find(uri, '#')};
}

int schema_add(struct schema_docs *docs, struct str uri, struct str text,
	       struct err *err)
{
	struct schema_doc **tail = &docs->first, *doc;
	struct str value;

	if (!bare(uri).n)
		return err_set(err, ERR_SYNTAX,
			       "a schema document needs a URI");
	if (text.n > LIMIT_SCHEMA_BYTES)
		return err_set(err, ERR_LIMIT, "schema document over %d bytes",
			       LIMIT_SCHEMA_BYTES);
	if (scan_document(text, NULL, &value, err) < 0)
		return err_wrap(err, "schema document");
	doc = ARENA_NEW(docs->arena, struct schema_doc);
	doc->uri = arena_str(docs->arena, bare(uri));
	doc->text = arena_str(docs->arena, value);
	while (*tail)
		tail = &(*tail)->next;
	*tail = doc;
	return 0;
}

/*
 * Find the text of a document by its URI without fragment: among those that
 * the caller added and the metaschemas. False: an unknown URI.
 */
static bool schema_find_text(const struct schema *s, struct str uri,
			     struct str *ret)
{
	const struct schema_docs *docs = s->options.docs;

	for (struct schema_doc *d = docs ? docs->first : NULL; d; d = d->next)
		if (str_eq(d->uri, uri)) {
			*ret = d->text;
			return true;
		}
	for (size_t i = 0; i < ARRAY_LEN(METASCHEMAS); i++)
		if (str_is(uri, METASCHEMAS[i].uri)) {
			*ret = str_of(METASCHEMAS[i].text);
			return true;
		}
	return false;
}

/* ---- dialects ---- */

/* Metaschemas that name metaschemas; each names one more. */
#define CHAIN_MAX 8

static const struct dialect {
	const char *uri; /* without the fragment */
	enum schema_draft draft;
} DIALECTS[] = {
	{"https://json-schema.org/draft/2020-12/schema", SCHEMA_2020_12},
	{"http://json-schema.org/draft/2020-12/schema", SCHEMA_2020_12},
	{"http://json-schema.org/draft-07/schema", SCHEMA_DRAFT_7},
	{"https://json-schema.org/draft-07/schema", SCHEMA_DRAFT_7},
};

#define VOCABULARY_PREFIX DRAFT_2020_12 "vocab/"

static bool known_dialect(struct str uri, enum schema_draft *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(DIALECTS); i++)
		if (str_is(uri, DIALECTS[i].uri)) {
			*ret = DIALECTS[i].draft;
			return true;
		}
	return false;
}

static unsigned vocabulary_bits(struct str uri)
{
	struct str name = uri;

	if (!str_starts(uri, VOCABULARY_PREFIX))
		return 0;
	name.p += strlen(VOCABULARY_PREFIX);
	name.n -= strlen(VOCABULARY_PREFIX);
#define VOCABULARY(id, text, bits) \
	if (str_is(name, text))    \
		return bits;
#include "core/schema/vocabularies.def"
#undef VOCABULARY
	return 0;
}

/* Read the vocabularies that a metaschema switches on. */
static int vocabularies(struct schema *s, const struct node *node,
			const struct jdoc *listed, unsigned *ret)
{
	unsigned all = VOCABULARY_core;

	for (const struct jdoc *v = listed->first; v; v = v->next) {
		unsigned bits = vocabulary_bits(v->key);

		if (!bits && v->type == SCAN_TRUE)
			return node_fail(s, node, "$schema", ERR_UNKNOWN,
					 "its metaschema requires the "
					 "vocabulary \"%.*s\", which is not "
					 "supported",
					 STR_ARG(str_first(v->key, 200)));
		all |= bits;
	}
	*ret = all;
	return 0;
}

/* Set draft and vocabularies of a node's resource by its $schema. */
static int schema_dialect(struct schema *s, const struct node *node,
			  struct str uri)
{
	struct resource *resource = node->resource;
	bool is_first = true;

	resource->vocabularies = VOCABULARY_usual;
	for (int i = 0; i < CHAIN_MAX; i++) {
		struct jdoc *tree, *listed, *next;
		struct str text;

		uri.n = str_find(uri, '#');
		if (known_dialect(uri, &resource->draft))
			return 0;
		if (!schema_find_text(s, uri, &text))
			break;
		if (jdoc_parse(text, &s->arena, &tree, s->err) < 0)
			return err_wrap(s->err, "metaschema");
		listed = jdoc_get(tree, "$vocabulary");
		if (listed && is_first &&
		    vocabularies(s, node, listed, &resource->vocabularies) < 0)
			return -1;
		is_first = false;
		next = jdoc_get(tree, "$schema");
		if (!next || next->type != SCAN_STRING)
			break;
		uri = schema_text(s, next);
	}
	return node_fail(s, node, "$schema", ERR_UNKNOWN,
			 "the dialect \"%.*s\" is not supported; draft 2020-12 "
			 "and draft-07 are",
			 STR_ARG(str_first(uri, 200)));
}

static int refuse(struct schema *s, const struct node *node,
		  const struct rule *rule, const char *what)
{
	return node_fail(s, node, KEYWORDS[rule->keyword].name, ERR_SYNTAX,
			 "must be %s", what);
}

/* Cost of a pattern in the budget of compiling: PCRE2 makes up to 64 KiB of
   program of it, so there are at most a thousand. */
#define REGEX_STEPS 10000

/* ---- scalars ---- */

static unsigned type_bit(const struct jdoc *name)
{
#define TYPE(id, word, bit, phrase) \
	if (jdoc_is(name, word))    \
		return bit;
#include "core/schema/types.def"
#undef TYPE
	return 0;
}

static int compile_types(struct schema *s, const struct node *node,
			 struct rule *rule)
{
	const struct jdoc *name = rule->value;

	if (name->type == SCAN_ARRAY)
		name = name->first;
	for (; name;
	     name = rule->value->type == SCAN_ARRAY ? name->next : NULL) {
		unsigned bit = type_bit(name);

		if (!bit)
			return refuse(s, node, rule,
				      "a type (string, number, integer, "
				      "boolean, array, object, null) or an "
				      "array of types");
		rule->types |= bit;
	}
	return 0;
}

static int compile_number(struct schema *s, const struct node *node,
			  struct rule *rule)
{
	if (rule->value->type != SCAN_NUMBER)
		return refuse(s, node, rule, "a number");
	rule->number = decimal_of(rule->value->raw);
	return 0;
}

static int compile_divisor(struct schema *s, const struct node *node,
			   struct rule *rule)
{
	if (compile_number(s, node, rule) < 0)
		return -1;
	if (!rule->number.n || rule->number.is_negative)
		return refuse(s, node, rule, "a number over 0");
	if (rule->number.n > DECIMAL_DIVISOR_DIGITS)
		return node_fail(s, node, "multipleOf", ERR_LIMIT,
				 "has more than %d significant digits",
				 DECIMAL_DIVISOR_DIGITS);
	return 0;
}

static int compile_count(struct schema *s, const struct node *node,
			 struct rule *rule)
{
	struct decimal d = {.p = ""};
	bool is_number = rule->value->type == SCAN_NUMBER;

	if (is_number)
		d = decimal_of(rule->value->raw);
	if (!is_number || !decimal_is_integer(&d) || (d.n && d.is_negative))
		return refuse(s, node, rule, "an integer of 0 or more");
	rule->count = decimal_count(&d);
	return 0;
}

static int compile_regex(struct schema *s, const struct node *node,
			 const struct rule *rule, struct str pattern,
			 struct regex **ret)
{
	struct err err = ERR_INIT;

	if (schema_spend(s, REGEX_STEPS) < 0)
		return -1;
	if (regex_new(pattern, ret, &err) < 0)
		return node_fail(
			s, node, KEYWORDS[rule->keyword].name, err.kind,
			"\"%.*s\" is not a usable regular expression: %s",
			STR_ARG(str_first(pattern, 100)), err.msg);
	s->regex = mem_grow(s->regex, s->n_regex + 1, &s->cap_regex,
			    sizeof(struct regex *));
	s->regex[s->n_regex++] = *ret;
	return 0;
}

static bool is_strings(const struct jdoc *array)
{
	if (array->type != SCAN_ARRAY)
		return false;
	for (const struct jdoc *e = array->first; e; e = e->next)
		if (e->type != SCAN_STRING)
			return false;
	return true;
}

/* ---- several ---- */

static int compile_list(struct schema *s, struct node *node, struct rule *rule)
{
	size_t i = 0;

	if (rule->value->type != SCAN_ARRAY)
		return refuse(s, node, rule, "an array of schemas");
	rule->sub = ARENA_ARRAY(&s->arena, struct sub, rule->value->n + 1);
	for (const struct jdoc *e = rule->value->first; e; e = e->next, i++) {
		char *index = arena_printf(&s->arena, "%zu", i);

		rule->sub[i].node =
			schema_node(s, e, node, KEYWORDS[rule->keyword].name,
				    str_of(index));
		if (!rule->sub[i].node)
			return -1;
	}
	rule->n_sub = i;
	return 0;
}

/* One member of an object that is the value of the keyword. */
static int compile_entry(struct schema *s, struct node *node,
			 const struct rule *rule, const struct jdoc *m,
			 struct sub *sub)
{
	enum shape shape = KEYWORDS[rule->keyword].shape;

	sub->key = m->key;
	if (shape == SHAPE_STRINGS_MAP ||
	    (shape == SHAPE_DEPENDENCIES && m->type == SCAN_ARRAY)) {
		if (!is_strings(m))
			return refuse(s, node, rule,
				      "an object of arrays of strings");
		sub->strings = m;
		return 0;
	}
	sub->node =
		schema_node(s, m, node, KEYWORDS[rule->keyword].name, m->key);
	if (!sub->node)
		return -1;
	return shape == SHAPE_PATTERN_MAP
		       ? compile_regex(s, node, rule, m->key, &sub->regex)
		       : 0;
}

/* Sorted, so that names are found quickly; of equal names the last one. */
static int compile_map(struct schema *s, struct node *node, struct rule *rule)
{
	struct jdoc **member;

	/* an object without members is [] for servers in PHP */
	if (rule->value->type == SCAN_ARRAY && !rule->value->n)
		return 0;
	if (rule->value->type != SCAN_OBJECT)
		return refuse(s, node, rule, "an object");
	member = jdoc_members(rule->value, true, &s->arena);
	rule->sub = ARENA_ARRAY(&s->arena, struct sub, rule->value->n + 1);
	for (; *member; member++) {
		if (member[1] && str_eq(member[0]->key, member[1]->key))
			continue;
		if (compile_entry(s, node, rule, *member,
				  &rule->sub[rule->n_sub]) < 0)
			return -1;
		rule->n_sub++;
	}
	return 0;
}

static int compile_schema(struct schema *s, struct node *node,
			  struct rule *rule)
{
	if (rule->keyword == KEYWORD_items && rule->value->type == SCAN_ARRAY)
		return refuse(s, node, rule,
			      "a schema; an array of schemas is "
			      "\"prefixItems\" since 2020-12");
	rule->node =
		schema_node(s, rule->value, node, KEYWORDS[rule->keyword].name,
			    (struct str){NULL, 0});
	return rule->node ? 0 : -1;
}

static int compile_reference(struct schema *s, struct node *node,
			     struct rule *rule)
{
	struct pending *p;

	if (rule->value->type != SCAN_STRING)
		return refuse(s, node, rule, "a string");
	p = ARENA_NEW(&s->arena, struct pending);
	*p = (struct pending){s->pending, node, rule};
	s->pending = p;
	return 0;
}

static int compile_pattern(struct schema *s, const struct node *node,
			   struct rule *rule)
{
	if (rule->value->type != SCAN_STRING)
		return refuse(s, node, rule, "a string");
	return compile_regex(s, node, rule, schema_text(s, rule->value),
			     &rule->regex);
}

static int check_scalar(struct schema *s, const struct node *node,
			const struct rule *rule, enum shape shape)
{
	enum scan_type type = rule->value->type;

	if (shape == SHAPE_BOOL && type != SCAN_TRUE && type != SCAN_FALSE)
		return refuse(s, node, rule, "true or false");
	if (shape == SHAPE_STRING && type != SCAN_STRING)
		return refuse(s, node, rule, "a string");
	if (shape == SHAPE_ARRAY && type != SCAN_ARRAY)
		return refuse(s, node, rule, "an array");
	if (shape == SHAPE_STRINGS && !is_strings(rule->value))
		return refuse(s, node, rule, "an array of strings");
	return 0;
}

/* Make a rule of the value of its keyword; subschemas are queued. */
static int rule_compile(struct schema *s, struct node *node, struct rule *rule)
{
	enum shape shape = KEYWORDS[rule->keyword].shape;

	switch (shape) {
	case SHAPE_TYPES:
		return compile_types(s, node, rule);
	case SHAPE_NUMBER:
		return compile_number(s, node, rule);
	case SHAPE_DIVISOR:
		return compile_divisor(s, node, rule);
	case SHAPE_COUNT:
		return compile_count(s, node, rule);
	case SHAPE_PATTERN:
		return compile_pattern(s, node, rule);
	case SHAPE_REFERENCE:
		return compile_reference(s, node, rule);
	case SHAPE_SCHEMA:
		return compile_schema(s, node, rule);
	case SHAPE_SCHEMA_LIST:
		return compile_list(s, node, rule);
	case SHAPE_SCHEMA_OR_LIST:
		return rule->value->type == SCAN_ARRAY
			       ? compile_list(s, node, rule)
			       : compile_schema(s, node, rule);
	case SHAPE_SCHEMA_MAP:
	case SHAPE_PATTERN_MAP:
	case SHAPE_STRINGS_MAP:
	case SHAPE_DEPENDENCIES:
		return compile_map(s, node, rule);
	default:
		return check_scalar(s, node, rule, shape);
	}
}

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

	for (const struct anchor *a = from->anchors; a; a = a->next)
		if (str_eq(a->name, name) && (!found || a->is_dynamic))
			found = a;
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

/*
 * Resolve the first pending reference. May queue nodes: with a document that
 * it had to load, the reference stays pending until those are compiled.
 */
static int refs_resolve_one(struct schema *s)
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

	*a = (struct anchor){node->resource->anchors, name, node, is_dynamic};
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
		add_anchor(s, node, str_skip(text, 1), false);
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
	/* the $ref of draft-07 is alone; its neighbours were only walked */
	if (found[KEYWORD_ref] && node->resource->draft == SCHEMA_DRAFT_7) {
		while (node->rule->keyword != KEYWORD_ref)
			node->rule++;
		node->n_rules = 1;
	}
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
