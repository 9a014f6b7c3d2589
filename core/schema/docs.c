#include "core/schema/inner.h"

struct metaschema {
	const char *uri;
	const char *text;
};

static const struct metaschema METASCHEMAS[] = {
#define METASCHEMA(uri, ...) {uri, #__VA_ARGS__},
#include "core/schema/metaschemas.def"
#undef METASCHEMA
};

/* Without the fragment, which is empty in the URI of a document. */
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
