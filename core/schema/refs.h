/* References of a schema: $ref and $dynamicRef. */
#ifndef CORE_SCHEMA_REFS_H
#define CORE_SCHEMA_REFS_H

#include "core/schema/node.h"

/*
 * Resolve the first pending reference. May queue nodes: with a document that
 * it had to load, the reference stays pending until those are compiled.
 */
int refs_resolve_one(struct schema *s) MUST_USE;

#endif
