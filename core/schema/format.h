/*
 * Forms of strings by the names of the keyword "format" (formats.def).
 *
 * source  RFC 3339, 3986, 5321
 */
#ifndef CORE_SCHEMA_FORMAT_H
#define CORE_SCHEMA_FORMAT_H

#include "core/base/attr.h"
#include "core/base/str.h"

/*
 * Check a text against the form of this name (JSON text).
 *
 * returns  NULL: the text has the form, or the name is not known; else the
 *	    form in words, "a date such as 2026-01-31"; static
 */
const char *format_missed(struct str json_name, struct str text) MUST_USE;

#endif
