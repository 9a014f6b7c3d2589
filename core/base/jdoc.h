/*
 * A JSON text as a tree that loses nothing.
 *
 * Nodes keep the text they were made of: numbers their spelling, strings
 * their escapes, objects their order and duplicate keys. For comparing and
 * rewriting documents; what only looks for a member uses core/base/scan.h and
 * builds no tree.
 *
 *	struct jdoc *doc;
 *	if (jdoc_parse(text, &arena, &doc, err) < 0)
 *		return -1;
 *	const struct jdoc *steps = jdoc_get(doc, "step_results");
 *
 * The text must live as long as the tree.
 */
#ifndef CORE_BASE_JDOC_H
#define CORE_BASE_JDOC_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/scan.h"
#include "core/base/str.h"

/* Values of one document; at 64 bytes each, what comparing may cost. */
#define JDOC_NODES_MAX (4 * 1024 * 1024)

struct jdoc {
	uint8_t type; /* enum scan_type */
	/* for whoever uses the tree; 0 at first */
	bool ignored : 1, chosen : 1;
	uint16_t rule;
	uint32_t hash;
	struct str key;	    /* decoded; {NULL, 0} when no member of an object */
	struct str raw;	    /* the value as it was written */
	struct jdoc *first; /* of the members or elements, in order */
	struct jdoc *next;  /* sibling */
	uint32_t n;	    /* members or elements */
};

/* Errors as scan_document(); ERR_LIMIT for JDOC_NODES_MAX, too. */
int jdoc_parse(struct str text, struct arena *arena, struct jdoc **ret,
	       struct err *err) MUST_USE;

/*
 * The last member of that name, or NULL; takes NULL and what is no object, so
 * that it can be nested.
 */
struct jdoc *jdoc_get(const struct jdoc *object, const char *key) MUST_USE;

/* The decoded text equals `text`; false when it is no string, or NULL. */
bool jdoc_is(const struct jdoc *j, const char *text) MUST_USE;

/* The decoded string in `arena`; NULL when it is no string, or NULL. */
const char *jdoc_text(const struct jdoc *j, struct arena *arena) MUST_USE;

/* Order of two keys, bytewise: below, equal to or above 0. */
int jdoc_key_order(struct str a, struct str b) MUST_USE;

/*
 * The members sorted by key, bytewise; equal keys keep their order. For an
 * array its elements as they stand. n pointers and a NULL, in `arena`.
 */
struct jdoc **jdoc_members(const struct jdoc *j, bool sorted,
			   struct arena *arena) MUST_USE;

#endif
