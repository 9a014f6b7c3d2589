/*
 * What describe.c and defaults.c share: the walk over all subschemas that
 * apply to one value.
 */
#ifndef CORE_SCHEMA_WALK_H
#define CORE_SCHEMA_WALK_H

#include "core/schema/describe.h"
#include "core/schema/inner.h"

/* Subschemas from the one that is described to what it says. */
#define WALK_DEPTH_MAX 16

struct walk {
	void (*visit)(struct walk *w, const struct node *node);
	void *data;
	unsigned visits;
	bool with_alternatives; /* also anyOf and oneOf */
};

void walk_applied(const struct node *node, bool with_alternatives,
		  void (*visit)(struct walk *w, const struct node *node),
		  void *data);

/* Bits of the types that a value may have; 0 when nothing is said. */
unsigned node_types(const struct node *node);

struct named {
	struct str name;
	const struct node *node;
};

/* The properties in the order of the document; in `arena`. */
size_t list_properties(const struct node *node, struct arena *arena,
		       struct named **ret);

#endif
