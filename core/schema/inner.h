/*
 * What the files of core/schema share: the compiled form of a schema.
 *
 * A document is a text under a URI. It holds resources: the document itself
 * and each subschema with an $id. A node is a subschema that was found at a
 * place where schemas stand, or where a reference led to; its rules are the
 * keywords that judge values, in the order of keywords.def.
 */
#ifndef CORE_SCHEMA_INNER_H
#define CORE_SCHEMA_INNER_H

#include "core/schema/number.h"
#include "core/schema/regex.h"
#include "core/schema/schema.h"

enum keyword {
#define KEYWORD(id, name, drafts, vocabulary, shape, check, help) KEYWORD_##id,
#include "core/schema/keywords.def"
#undef KEYWORD
	N_KEYWORDS
};

/* What the value of a keyword must be, and so how it is compiled. */
enum shape {
	SHAPE_ANY,
	SHAPE_BOOL,
	SHAPE_STRING,
	SHAPE_ARRAY,
	SHAPE_TYPES,	   /* a name of type, or an array of them */
	SHAPE_NUMBER,	   /* sets number */
	SHAPE_DIVISOR,	   /* the same, over 0 */
	SHAPE_COUNT,	   /* an integer of 0 or more; sets count */
	SHAPE_PATTERN,	   /* sets regex */
	SHAPE_STRINGS,	   /* an array of strings */
	SHAPE_STRINGS_MAP, /* an object of these; sets sub */
	SHAPE_REFERENCE,   /* sets node once it is resolved */
	SHAPE_SCHEMA,	   /* sets node */
	SHAPE_SCHEMA_LIST, /* at least one; sets sub */
	SHAPE_SCHEMA_OR_LIST,
	SHAPE_SCHEMA_MAP,   /* sets sub, sorted by key */
	SHAPE_PATTERN_MAP,  /* the same, with regex */
	SHAPE_DEPENDENCIES, /* an object of schemas or arrays of strings */
};

enum vocabulary_bits {
#define VOCABULARY(id, name, bits) VOCABULARY_##id = (bits),
#include "core/schema/vocabularies.def"
#undef VOCABULARY
	VOCABULARY_formats_assert = 1u << 6,
	/* what a schema has that names no metaschema of its own */
	VOCABULARY_usual = 0xff & ~(1u << 6),
};

struct keyword_row {
	const char *name;
	size_t n;	 /* bytes of the name */
	unsigned drafts; /* bits 1 << enum schema_draft */
	unsigned vocabulary;
	enum shape shape;
};

/* Rows by enum keyword; compile.c. */
extern const struct keyword_row KEYWORDS[N_KEYWORDS];

struct document {
	struct document *next;
	struct str uri; /* where it was found; "" for the first */
	struct jdoc *tree;
	struct resource *resource; /* of the whole document */
};

struct anchor {
	struct anchor *next;
	struct str name;
	struct node *node;
	bool is_dynamic;
};

struct resource {
	struct resource *next;
	struct document *document;
	struct str uri; /* absolute unless the document has no URI */
	struct node *node;
	enum schema_draft draft;
	unsigned vocabularies;
	struct anchor *anchors;
};

/* An entry of a keyword that holds several. */
struct sub {
	struct str key;		    /* of a map; decoded */
	struct node *node;	    /* or NULL, then strings is set */
	const struct jdoc *strings; /* or NULL */
	struct regex *regex;	    /* of patternProperties */
};

struct rule {
	enum keyword keyword;
	const struct jdoc *value;
	struct node *node;
	struct sub *sub;
	size_t n_sub;
	struct regex *regex;
	struct decimal number;
	uint64_t count;
	unsigned types;	    /* bits of schema types; describe.h */
	struct str dynamic; /* $dynamicRef: the name; p NULL for a plain one */
};

enum node_kind { NODE_RULES, NODE_TRUE, NODE_FALSE };

struct node {
	const struct jdoc *value;
	struct resource *resource;
	enum node_kind kind;
	struct rule *rule; /* in order of keywords.def */
	size_t n_rules;
	uint32_t nesting;
	bool tracks; /* has unevaluatedItems or unevaluatedProperties */
	/* how it was reached, for pointers */
	const struct node *up; /* NULL for the root of a document */
	const char *keyword;   /* "" where a reference led to `token` */
	struct str token;      /* key or index under it; p NULL for none */
};

/* Nodes by the place in the tree; refs.c. */
struct node_map {
	struct node **slot;
	size_t n, cap;
};

struct pending {
	struct pending *next;
	struct node *node;
	struct rule *rule;
};

struct schema {
	struct arena arena;
	struct schema_options options; /* docs only while it is compiled */
	struct document *documents;
	struct resource *resources;
	struct node *root;
	struct node_map map;
	struct pending *pending; /* references that are not resolved yet */
	struct regex **regex;	 /* owned */
	size_t n_regex, cap_regex;
	uint64_t steps; /* left for compiling */
	struct err *err;
};

/* ---- docs.c ---- */

/*
 * The text of a document by its URI without fragment: of those that the
 * caller added, or a metaschema. False when there is none.
 */
bool schema_find_text(const struct schema *s, struct str uri, struct str *ret);

/* ---- compile.c ---- */

/* Load the text of a document and compile it; NULL and s->err on failure. */
struct document *schema_load(struct schema *s, struct str uri, struct str text);
/*
 * The node at `value`, new or known. A new one stands beneath `up` at `token`,
 * a piece of pointer.
 */
struct node *schema_node(struct schema *s, const struct jdoc *value,
			 struct node *up, const char *keyword,
			 struct str token);
/* The characters of a string of a schema, for as long as the schema lives. */
struct str schema_text(struct schema *s, const struct jdoc *string);
/* Take work from the budget of compiling; -1 when it has run out. */
int schema_spend(struct schema *s, uint64_t steps);
/* The rule of a keyword, or NULL. */
const struct rule *node_rule(const struct node *node, enum keyword keyword);
/* Fill s->err with the place of the node's keyword (or NULL); returns -1. */
int node_fail(struct schema *s, const struct node *node, const char *keyword,
	      enum err_kind kind, const char *fmt, ...) PRINTF(5, 6);

/* ---- shapes.c ---- */

/* Make a rule of the value of its keyword, subschemas included. */
int rule_compile(struct schema *s, struct node *node, struct rule *rule);

/* ---- describe.c ---- */

/*
 * Names of properties that a node and what it refers to speak of, as C
 * strings in `arena`.
 */
size_t node_property_names(const struct node *node, struct arena *arena,
			   const char *const **ret);

/* ---- dialect.c ---- */

/* Draft and vocabularies by the $schema of a resource. */
int schema_dialect(struct schema *s, const struct node *node, struct str uri,
		   struct resource *resource);

/* ---- refs.c ---- */

struct node *node_map_get(const struct node_map *map, const struct jdoc *value);
void node_map_add(struct node_map *map, struct node *node);
/* Resolve all that is pending, which may load documents. */
int schema_resolve(struct schema *s);
/* "#/properties/a", behind the URI where it is another document. */
void node_pointer(const struct node *node, struct buf *out);
/* One part of a JSON pointer with its escapes, without the slash. */
void pointer_add(struct buf *out, struct str token);

#endif
