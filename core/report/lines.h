/*
 * Texts compared line by line, for people: what went, what came, and a few
 * lines around it.
 *
 *	@@ -3 +3 @@
 *	  the line before
 *	- as it was
 *	+ as it is
 *
 * Pure. Long lines and long differences are cut, and say so.
 */
#ifndef CORE_REPORT_LINES_H
#define CORE_REPORT_LINES_H

#include "core/base/buf.h"
#include "core/base/str.h"

/*
 * Append one line of text, made visible and cut where it is long.
 *
 * sign  '-', '+' or ' '
 * from  byte where it begins to be shown
 */
void lines_add(struct buf *out, char sign, struct str text, size_t from);
/* Append all lines of a text that came or went. */
void lines_add_all(struct buf *out, char sign, struct str text);
/* Append the difference; nothing for equal texts. */
void lines_diff(struct buf *out, struct str old, struct str new);

#endif
