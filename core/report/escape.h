/*
 * Texts of others inside of a report: nothing in them is obeyed by a terminal,
 * Markdown or a browser, and no line of them looks like one of the report.
 *
 * Control characters and those that turn the direction of text become visible
 * (log_visible()), CR LF counts as a newline, and a byte that is not UTF-8 is
 * U+FFFD, as in the JSON of a report. Each function appends `before` as it is,
 * and then the text.
 */
#ifndef CORE_REPORT_ESCAPE_H
#define CORE_REPORT_ESCAPE_H

#include "core/base/buf.h"
#include "core/base/str.h"

/* One line: a newline becomes visible, too. */
void escape_line(struct buf *out, const char *before, struct str s);
/*
 * Lines, the second and later ones set in by two spaces, so that none can be
 * taken for a heading or the summary; ends in a newline.
 */
void escape_lines(struct buf *out, const char *before, struct str s);
/* Inline text of Markdown, on one line: nothing in it is markup. */
void escape_markdown(struct buf *out, const char *before, struct str s);
/*
 * A block of Markdown that the text cannot end, since its fence is longer than
 * any inside; its lines are set in by two spaces, which Markdown drops.
 * before  the language, behind the fence
 */
void escape_fenced(struct buf *out, const char *before, struct str s);
/* Text of HTML, for elements and attributes. */
void escape_html(struct buf *out, const char *before, struct str s);

#endif
