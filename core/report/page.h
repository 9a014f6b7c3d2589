/*
 * The page around a report or around differences: self-contained, in the
 * colours of the reader, and its policy lets nothing be loaded or run.
 */
#ifndef CORE_REPORT_PAGE_H
#define CORE_REPORT_PAGE_H

#include "core/base/buf.h"
#include "core/base/str.h"

/* Up to the begin of the body. */
void page_begin(struct str title, struct buf *out);
void page_end(struct buf *out);

#endif
