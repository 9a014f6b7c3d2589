/*
 * JSON bodies for people: an array of flat objects as a table, an object as
 * lines "key: value", set in where they nest. A short list of scalars, "a, b",
 * counts as one value.
 *
 *	if (shape_read(output, &arena, &value))
 *		shape_text(value, &text);
 *
 * Strings stand without quotes, numbers as they came. A table of text has
 * a width that it keeps to: long cells are cut and end in "…", and what does
 * not fit at all is a list of records. HTML has every cell whole.
 */
#ifndef CORE_REPORT_SHAPE_H
#define CORE_REPORT_SHAPE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* Columns of a table that is printed for no terminal. */
#define SHAPE_COLUMNS 100
/* Longer bodies stay as they are: nobody reads a table of that length. */
#define SHAPE_BYTES (1024 * 1024)

/*
 * Read a text that is one JSON object or array, or a sequence of objects, as
 * several blocks of one result are; these become one array.
 *
 * returns  false: another text
 */
bool shape_read(struct str text, struct arena *arena, struct str *ret) MUST_USE;

/*
 * Append lines; tables have at most `columns`, 0: SHAPE_COLUMNS. They may hold
 * control characters, but a newline of a string begins no line in the first
 * column of a nested value.
 */
void shape_text(struct str value, size_t columns, struct buf *out);
/* Append elements that may stand in a body; all text in them is escaped. */
void shape_html(struct str value, struct buf *out);

#endif
