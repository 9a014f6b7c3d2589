/*
 * Forms of strings by the names of the keyword "format".
 *
 * source  RFC 3339, 3986, 3987, 4122, 5321, 5890, 6570, 6901; ISO 8601 as of
 *         RFC 3339, appendix A
 */
#ifndef CORE_SCHEMA_FORMAT_H
#define CORE_SCHEMA_FORMAT_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/str.h"

struct format;

/* By its name as JSON text; NULL for a form that is not known. */
const struct format *format_find(struct str json_name) MUST_USE;
bool format_holds(const struct format *format, struct str text) MUST_USE;
/* "a date such as 2026-01-31"; static. */
const char *format_phrase(const struct format *format) MUST_USE;

#endif
