/* Values of keywords, and the rules that they become. */
#ifndef CORE_SCHEMA_SHAPES_H
#define CORE_SCHEMA_SHAPES_H

#include "core/schema/node.h"

/* Make a rule of the value of its keyword; subschemas are queued. */
int rule_compile(struct schema *s, struct node *node, struct rule *rule)
	MUST_USE;

#endif
