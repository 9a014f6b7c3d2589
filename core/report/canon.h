/*
 * The canonical form of a JSON document: one text for all that mean the same.
 *
 * Keys are sorted, indentation is two spaces, every member and element stands
 * on its own line, strings are escaped in one way, numbers stay as they were
 * written. Equal documents give equal bytes, and a small change of a document
 * is a small change of its lines.
 */
#ifndef CORE_REPORT_CANON_H
#define CORE_REPORT_CANON_H

#include "core/base/buf.h"
#include "core/base/jdoc.h"

/* JSON string in place of a value that was ignored. */
#define CANON_IGNORED "\"(ignored)\""

/*
 * Append the canonical form, without a newline at its end.
 *
 * Nodes with `ignored` set are written as CANON_IGNORED; a text with a child
 * in which there are some is written anew.
 *
 * depth   levels that the text is indented already
 */
void canon_print(const struct jdoc *j, unsigned int depth, struct buf *out);
/* Canonical text on one line, without spaces. */
void canon_compact(const struct jdoc *j, struct buf *out);

/* Append a decoded text as a string with its quotes, as canon.c has them. */
void canon_quote(struct str text, struct buf *out);

/*
 * Compare two values: numbers by spelling, strings by meaning, objects in any
 * order. An ignored node equals any other; texts that have children
 * (core/report/rules.h) are equal when these are.
 */
bool canon_equal(const struct jdoc *a, const struct jdoc *b) MUST_USE;

#endif
