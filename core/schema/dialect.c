#include "core/schema/dialect.h"

/* ---- documents ---- */

struct metaschema {
	const char *uri;
	const char *text;
};

static const struct metaschema METASCHEMAS[] = {
#define METASCHEMA(uri, ...) {uri, #__VA_ARGS__},
#include "core/schema/metaschemas.def"
#undef METASCHEMA
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

bool schema_find_text(const struct schema *s, struct str uri, struct str *ret)
{
	const struct schema_docs *docs = s->options.docs;

	for (struct schema_doc *d = docs ? docs->first : NULL; d; d = d->next) {
		if (!str_eq(d->uri, uri))
			continue;
		*ret = d->text;
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(METASCHEMAS); i++) {
		if (!str_is(uri, METASCHEMAS[i].uri))
			continue;
		*ret = str_of(METASCHEMAS[i].text);
		return true;
	}
	return false;
}

/* ---- dialects ---- */

/* Metaschemas that name metaschemas; each names one more. */
#define CHAIN_MAX 8

struct dialect {
	const char *uri; /* without the fragment */
	enum schema_draft draft;
};

static const struct dialect DIALECTS[] = {
	{"https://json-schema.org/draft/2020-12/schema", SCHEMA_2020_12},
	{"http://json-schema.org/draft/2020-12/schema", SCHEMA_2020_12},
	{"http://json-schema.org/draft-07/schema", SCHEMA_DRAFT_7},
	{"https://json-schema.org/draft-07/schema", SCHEMA_DRAFT_7},
};

#define VOCABULARY_PREFIX "https://json-schema.org/draft/2020-12/vocab/"

static bool known_dialect(struct str uri, enum schema_draft *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(DIALECTS); i++) {
		if (!str_is(uri, DIALECTS[i].uri))
			continue;
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

static int unknown(struct schema *s, const struct node *node, struct str uri)
{
	return node_fail(s, node, "$schema", ERR_UNKNOWN,
			 "the dialect \"%.*s\" is not supported; draft 2020-12 "
			 "and draft-07 are",
			 STR_ARG(str_first(uri, 200)));
}

int schema_dialect(struct schema *s, const struct node *node, struct str uri)
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
	return unknown(s, node, uri);
}
