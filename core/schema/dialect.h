/* Dialects by $schema, and the documents that references may lead to. */
#ifndef CORE_SCHEMA_DIALECT_H
#define CORE_SCHEMA_DIALECT_H

#include "core/schema/node.h"

/* Set draft and vocabularies of a node's resource by its $schema. */
int schema_dialect(struct schema *s, const struct node *node, struct str uri)
	MUST_USE;
/*
 * Find the text of a document by its URI without fragment: among those that
 * the caller added and the metaschemas. False: an unknown URI.
 */
bool schema_find_text(const struct schema *s, struct str uri, struct str *ret)
	MUST_USE;

#endif
