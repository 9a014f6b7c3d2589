/*
 * Compiled form of a schema.
 *
 * compile.c makes it from the text, node after node; validate.c and describe.c
 * read it.
 *
 * A document is a text under a URI. It holds resources: the document itself
 * and each subschema with an $id. A node is a subschema that was found at a
 * place where schemas stand, or where a reference led to; its rules are the
 * keywords that judge values, in the order of keywords.def.
 */
#ifndef CORE_SCHEMA_NODE_H
#define CORE_SCHEMA_NODE_H

#include "core/schema/value.h"
#include "core/schema/regex.h"
#include "core/schema/schema.h"

enum keyword {
#define KEYWORD(id, name, drafts, vocabulary, shape, on, check, help) \
	KEYWORD_##id,
#include "core/schema/keywords.def"
#undef KEYWORD
	N_KEYWORDS
};

/* Values that a keyword may have, and so how it is compiled. */
enum shape {
	SHAPE_ANY,
	SHAPE_BOOL,
	SHAPE_STRING,
	SHAPE_ARRAY,
	SHAPE_TYPES,	   /* a name of type, or an array of them */
	SHAPE_NUMBER,	   /* sets number */
	SHAPE_DIVISOR,	   /* a number over 0; sets number */
	SHAPE_COUNT,	   /* an integer of 0 or more; sets count */
	SHAPE_PATTERN,	   /* sets regex */
	SHAPE_STRINGS,	   /* an array of strings */
	SHAPE_STRINGS_MAP, /* an object of these; sets sub */
	SHAPE_REFERENCE,   /* sets node once it is resolved */
	/* hold schemas */
	SHAPE_SCHEMA,	   /* sets node */
	SHAPE_SCHEMA_LIST, /* at least one; sets sub */
	SHAPE_SCHEMA_OR_LIST,
	/* hold schemas by names */
	SHAPE_SCHEMA_MAP,   /* sets sub, sorted by key */
	SHAPE_PATTERN_MAP,  /* sets sub, sorted by key, with regex */
	SHAPE_DEPENDENCIES, /* an object of schemas or arrays of strings */
};

enum vocabulary_bits {
#define VOCABULARY(id, name, bits) VOCABULARY_##id = (bits),
#include "core/schema/vocabularies.def"
#undef VOCABULARY
	/* vocabularies of a schema without metaschema of its own */
	VOCABULARY_usual = 0x7f,
};

struct keyword_row {
	char name[24];
	size_t n;	 /* bytes of the name */
	unsigned drafts; /* bits 1 << enum schema_draft */
	unsigned vocabulary;
	enum shape shape;
};

/* Rows by enum keyword. */
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
	bool tracks;	     /* has unevaluatedItems or unevaluatedProperties */
	struct node *queued; /* the next one that has no rules yet */
	/* way from the root, for pointers */
	const struct node *up; /* NULL for the root of a document */
	const char *keyword;   /* "" where a reference led to `token` */
	struct str token;      /* key or index under it; p NULL for none */
};

/* Nodes by the place in the tree. */
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
	struct node *queue, *queue_end; /* nodes that have no rules yet */
	struct regex **regex;		/* owned */
	size_t n_regex, cap_regex;
	uint64_t steps; /* left for compiling */
	struct err *err;
};

/* Find the rule of a keyword, or NULL. */
const struct rule *node_rule(const struct node *node, enum keyword keyword)
	MUST_USE;
/* Write "#/properties/a", behind the URI where it is another document. */
void node_pointer(const struct node *node, struct buf *out);
#endif
