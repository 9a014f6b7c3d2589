/*
 * A report as one HTML page: the verdict, what failed and what to do, what
 * changed, all steps at a glance, then each of them. The page is
 * self-contained, as core/report/page.h says.
 */
#ifndef CORE_REPORT_RENDER_PAGE_H
#define CORE_REPORT_RENDER_PAGE_H

#include "core/report/render.h"

void render_page(const struct report *r, const struct render_options *o,
		 struct buf *out);

#endif
