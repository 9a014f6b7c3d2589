/*
 * Regular expressions of schemas: the dialect of ECMA-262 with its `u` flag,
 * carried out by PCRE2 under bounds.
 *
 * The text is translated first, so that an expression
 * means what it means in JavaScript, and what JavaScript does not have is
 * refused. PCRE2 is loaded with the first expression; a run without
 * expressions maps none of it.
 */
#ifndef CORE_SCHEMA_REGEX_H
#define CORE_SCHEMA_REGEX_H

#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct regex;

/* Bytes of one expression. */
#define LIMIT_REGEX_BYTES 4096

/*
 * Errors  ERR_SYNTAX   not an expression of ECMA-262; the text says where
 *         ERR_LIMIT    longer than LIMIT_REGEX_BYTES, or over PCRE2's bounds
 *         ERR_UNKNOWN  PCRE2 is not installed
 */
int regex_new(struct str pattern, struct regex **ret, struct err *err) MUST_USE;
void regex_free(struct regex *r);

/*
 * Search the expression in `text`, which is UTF-8. Work is taken from *steps.
 *
 * returns  1 found, 0 not found, -1 when the steps or another bound ran out
 */
int regex_search(struct regex *r, struct str text, uint64_t *steps) MUST_USE;

#endif
