/*
 * URI templates, all four levels: what resources/templates/list gives.
 *
 *	uri_template_expand(STR("file:///{dir}{?q*}"),
 *			    STR("{\"dir\":\"a b\"}"), &out, err);
 *
 * Pure. Source: RFC 6570
 */
#ifndef CORE_MCP_WIRE_URI_TEMPLATE_H
#define CORE_MCP_WIRE_URI_TEMPLATE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* A text with at least one expression, in braces. */
bool uri_template_is(struct str text) MUST_USE;

/*
 * Append the URI.
 *
 * values  a JSON object that was checked: strings, numbers, true and false
 *	   stand for themselves, arrays are lists, objects give a name and its
 *	   value in turn; null and variables without a value are left out
 * errors  ERR_SYNTAX  the template is wrong, with the place, or a value does
 *		       not fit it; nothing is appended then
 */
int uri_template_expand(struct str text, struct str values, struct buf *out,
			struct err *err) MUST_USE;

/* The names of its variables, each once, in order; items in `arena`. */
struct strlist uri_template_names(struct str text, struct arena *arena)
	MUST_USE;

#endif
