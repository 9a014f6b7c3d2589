/*
 * Equality of JSON values as JSON Schema has it: numbers by value, strings by
 * their characters, objects without order. Of equal keys the last one counts.
 */
#ifndef CORE_SCHEMA_EQUAL_H
#define CORE_SCHEMA_EQUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/jdoc.h"

bool value_equal(const struct jdoc *a, const struct jdoc *b) MUST_USE;
/* Equal values have equal sums. */
uint64_t value_hash(const struct jdoc *value) MUST_USE;

/* The last member of that name, which may contain NUL, or NULL. */
const struct jdoc *value_member(const struct jdoc *object, struct str key)
	MUST_USE;

/*
 * The characters of a string value. Borrowed from the value when it has no
 * escapes, else from `scratch`, which is overwritten.
 */
struct str value_text(const struct jdoc *string, struct buf *scratch) MUST_USE;

#endif
