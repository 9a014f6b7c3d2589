/*
 * Markdown of others as HTML that may stand inside of a page: CommonMark and
 * the tables of GFM, parsed by cmark-gfm, which is loaded on first use.
 *
 * The tree is written out here and not by the library, which leaves pictures
 * in: tags are literals of this code, every byte of the text goes through
 * escape_html(), and links lead to http:, https: and mailto: only. HTML in the
 * text is text; an image of elsewhere is its name, never loaded. Headings
 * become h4 to h6: those of the report are h1 to h3.
 *
 * Where the packaged library takes time that is quadratic, in wide tables, many
 * brackets and deep nesting, the text counts as no Markdown.
 */
#ifndef CORE_REPORT_MARKDOWN_H
#define CORE_REPORT_MARKDOWN_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Longer texts stay as they are. */
#define MARKDOWN_BYTES (128 * 1024)

/*
 * Append the HTML of a text that is likely Markdown: a fence, a table or a link
 * of the web is enough, of headings, lists and bold words two kinds are needed.
 * A listing or a log should stay as it is.
 *
 * returns  false: no Markdown, too much of it, or no library; nothing is
 *	    appended
 */
bool markdown_html(struct str text, struct buf *out) MUST_USE;

/*
 * Load the library, the first time that it is called.
 *
 * errors  ERR_UNKNOWN  it is not here; the sentence says what that does and
 *			what to install
 */
int markdown_load(struct err *err) MUST_USE;

#endif
