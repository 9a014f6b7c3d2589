/*
 * Paths into a report: how differences are named, and what rules and `--path`
 * accept. A path that `diff` prints can be used as a rule as it is.
 *
 *	$.summary			from the top of the report
 *	data.structuredContent.load	without "$": in every step
 *	.name   ["any name"]		a member
 *	[3]   [-1]			an element, from the front or the end
 *	.*   [*]			every member or element
 *	..name				at any depth
 *	[key=value]			the elements whose member `key` is that
 *					string, number or word; ["a b"="c d"]
 *					quotes either as JSON strings. `name`
 *					may be written for `step_name`
 *
 * The language is a small part of JSONPath (RFC 9535) with a shorter filter.
 */
#ifndef CORE_REPORT_PATH_H
#define CORE_REPORT_PATH_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/jdoc.h"

/* Parts of one path; more than a hand would write. */
#define PATH_PARTS_MAX 64

struct path;

/*
 * Read a path; lives in `arena`.
 * errors  ERR_SYNTAX with the column
 */
int path_parse(const char *text, struct arena *arena, struct path **ret,
	       struct err *err) MUST_USE;

/*
 * Tell of every value that the path selects; returns their number. A text that
 * has a child (core/report/rules.h) is walked into as the value inside of it.
 */
size_t path_select(const struct path *p, struct jdoc *report,
		   void (*found)(void *arg, struct jdoc *j), void *arg)
	MUST_USE;

#endif
