/*
 * Values of JSON as JSON Schema has them: numbers as exact decimals, nothing
 * here is ever a double; numbers are equal by value, strings by their
 * characters, objects without order. Of equal keys the last one counts.
 *
 * A decimal borrows the digits of the text that it was read from, so it costs
 * no memory however long the number is. Exponents are exact up to 15 digits;
 * beyond that all are one, which no number that means something reaches.
 */
#ifndef CORE_SCHEMA_VALUE_H
#define CORE_SCHEMA_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/jdoc.h"
#include "core/base/str.h"

/* Significant digits that a divisor may have: the remainder of one more digit
   still fits 64 bits. */
#define DECIMAL_DIVISOR_DIGITS 18

/* 0.DDD times ten to the power of exp */
struct decimal {
	bool is_negative;
	const char *p; /* borrowed; first significant digit */
	size_t n;      /* significant digits, 0 for zero; a '.' may lie between
			  them */
	int64_t exp;
};

/* Takes a number that core/base/scan.h has proved. */
struct decimal decimal_of(struct str number) MUST_USE;
/* Below, equal to or above 0. */
int decimal_compare(const struct decimal *a, const struct decimal *b) MUST_USE;
/* Also 1.0 and 1e3. */
bool decimal_is_integer(const struct decimal *d) MUST_USE;
/* The value of an integer of 0 or more; UINT64_MAX when it is larger. */
uint64_t decimal_count(const struct decimal *d) MUST_USE;
/*
 * a is an integer times b. b is over 0 and has at most DECIMAL_DIVISOR_DIGITS.
 */
bool decimal_is_multiple(const struct decimal *a, const struct decimal *b)
	MUST_USE;
/* Equal numbers have equal sums, however they are spelled. */
uint64_t decimal_hash(const struct decimal *d) MUST_USE;

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
