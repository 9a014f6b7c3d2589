/*
 * The two sides of one difference as lines: "- old", "+ new", "@@ -2 +2 @@".
 */
#ifndef CORE_REPORT_DIFF_LINES_H
#define CORE_REPORT_DIFF_LINES_H

#include "core/report/diff.h"

struct line_style {
	const char *indent;
	size_t context;	  /* equal lines around those that changed */
	size_t max_lines; /* that are shown; the rest is counted */
	size_t max_bytes; /* of a line */
	bool has_counts;  /* "@@ -2,3 +2,4 @@", as patch(1) reads it */
};

/*
 * Append the lines. Texts of several lines are compared by line; other values
 * stand on one line each, and long ones begin near where they differ.
 * Characters that a terminal would obey are made visible.
 */
void diff_lines(const struct edit *e, const struct line_style *style,
		struct buf *out);

#endif
