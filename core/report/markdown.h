/*
 * Markdown of others as HTML that may stand inside of a page.
 *
 * An own renderer of some 500 lines instead of a library: it is compiled into
 * every report alike, has no extension to switch off, and the text of a server
 * is parsed by code that holds no pointers into it beyond slices. Every byte
 * of the text goes through escape_html(); tags and attributes are literals of
 * this file, but for links, which lead to http:, https: and mailto: only.
 * HTML in the text is text; an image of elsewhere is its name, never loaded.
 * Headings become h4 to h6: those of the report are h1 and h2.
 *
 * Understood are headings, paragraphs (with their line breaks), lists, quotes,
 * code, rules, tables, emphasis, code spans, links and backslashes, after
 * CommonMark 0.31 and the tables of GFM; neither reference definitions nor
 * headings that are underlined. Time is linear in the text, nesting is bounded.
 */
#ifndef CORE_REPORT_MARKDOWN_H
#define CORE_REPORT_MARKDOWN_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* Longer texts stay as they are. */
#define MARKDOWN_BYTES (256 * 1024)

/*
 * Guess whether a text is Markdown: a fence, a table or a link is enough, of
 * headings, lists and bold words two kinds are needed. A listing or a log
 * should stay as it is.
 */
bool markdown_is_likely(struct str text) MUST_USE;
void markdown_html(struct str text, struct buf *out);

#endif
