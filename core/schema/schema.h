/*
 * JSON Schema: draft 2020-12 and draft-07.
 *
 * A schema is compiled once and then judges any number of values:
 *
 *	struct schema *s;
 *	struct schema_result result;
 *	if (schema_compile(text, NULL, &s, err) < 0)
 *		return -1;		the schema cannot be used; err says why
 *	int rc = schema_validate(s, arguments, &arena, &result, err);
 *	if (rc == SCHEMA_VIOLATED)
 *		for (size_t i = 0; i < result.n; i++)
 *			schema_violation_print(&result.item[i], &out);
 *	schema_free(s);
 *
 * Numbers are compared as exact decimals. Nothing is fetched: a reference
 * leads into the schema itself, to the metaschemas, which are built in, or to
 * a document of struct schema_docs; another one is an error. Work, depth and
 * sizes are bounded by the LIMIT_SCHEMA_… below, so a hostile schema ends in
 * an error, too; an error never means "valid".
 *
 * Other facts of a schema (properties, their types, defaults) are in
 * core/schema/describe.h.
 *
 * source  JSON Schema 2020-12, Core and Validation; draft-07
 */
#ifndef CORE_SCHEMA_SCHEMA_H
#define CORE_SCHEMA_SCHEMA_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* One schema document, bytes; its tree takes up to forty times as much. */
#define LIMIT_SCHEMA_BYTES (1024 * 1024)
/* Subschemas of one schema with all documents that it refers to. */
#define LIMIT_SCHEMA_NODES 10000
/* Subschemas within subschemas. */
#define LIMIT_SCHEMA_NESTING 64
/* Subschemas that are being applied at one time: depth of the value times
   the references between. */
#define LIMIT_SCHEMA_DEPTH 1500
/* Budget of one validation, beside a step for two bytes of the value; a
   step is about a subschema applied, a few names compared or an item of a
   pattern tried. */
#define LIMIT_SCHEMA_STEPS 1000000
/* Violations that are told; more are counted. */
#define LIMIT_SCHEMA_VIOLATIONS 64

/* ---- documents that references may lead to ---- */

struct schema_doc {
	struct schema_doc *next;
	struct str uri; /* without fragment */
	struct str text;
};

struct schema_docs {
	struct arena *arena; /* borrowed; holds the list and copies */
	struct schema_doc *first;
};

/*
 * Make a document known under its URI; of equal URIs the first one counts.
 * Uri and text are copied. Whether it is a schema shows when a reference
 * leads to it. A door of the tests, whose suite has such documents: MCP sends
 * each schema whole.
 *
 * errors  ERR_SYNTAX  the URI is empty or the text is not JSON
 *         ERR_LIMIT   over LIMIT_SCHEMA_BYTES
 */
int schema_add(struct schema_docs *docs, struct str uri, struct str text,
	       struct err *err) MUST_USE;

/* ---- compiling ---- */

enum schema_draft {
	SCHEMA_2020_12,
	SCHEMA_DRAFT_7,
};

struct schema_options {
	enum schema_draft draft;	/* of documents without $schema */
	const struct schema_docs *docs; /* borrowed for the call; may be NULL */
	bool assert_formats; /* "format" can be violated; else it is a note */
};

struct schema;

/*
 * Compile one document and all that it refers to.
 *
 * text     copied; any bytes
 * options  NULL means zeroes
 * returns  0; free with schema_free()
 * errors   all begin with the JSON pointer of the place in the schema
 *          ERR_SYNTAX   not JSON, or a keyword has a value it cannot have
 *          ERR_UNKNOWN  a reference that cannot be resolved, a dialect or
 *                       required vocabulary that is not supported, or PCRE2
 *                       is needed and not installed
 *          ERR_LIMIT    one of the bounds above
 */
int schema_compile(struct str text, const struct schema_options *options,
		   struct schema **ret, struct err *err) MUST_USE;
void schema_free(struct schema *s);
/* For AUTO(). */
void schema_freep(struct schema **s);

/* ---- validating ---- */

struct schema_violation {
	struct str instance; /* JSON pointer; "" is the whole value */
	struct str schema;   /* "#/properties/a/type", or "URI#/type" */
	const char *keyword; /* static; "" for a schema that is false */
	struct str text;     /* sentence without subject, UTF-8 */
};

struct schema_result {
	struct schema_violation *item; /* in order of finding */
	size_t n;		       /* at most LIMIT_SCHEMA_VIOLATIONS */
	size_t n_more;		       /* violations that were not kept */
};

enum { SCHEMA_VALID = 0, SCHEMA_VIOLATED = 1 };

/*
 * Judge a value. The schema is not changed, but for scratch memory: it serves
 * one call at a time.
 *
 * arena    holds what is returned
 * returns  SCHEMA_VALID; SCHEMA_VIOLATED with *ret filled
 * errors   ERR_SYNTAX  the value is not JSON
 *          ERR_LIMIT   steps, depth or a bound of a pattern ran out, or the
 *                      schema refers to itself without end; the verdict is
 *                      not known
 */
int schema_validate(const struct schema *s, struct str value,
		    struct arena *arena, struct schema_result *ret,
		    struct err *err) MUST_USE;

/*
 * "/repo: is a number, must be a string", or without pointer for the whole
 * value. One line of UTF-8 without control characters and no newline.
 */
void schema_violation_print(const struct schema_violation *v, struct buf *out);

#endif
