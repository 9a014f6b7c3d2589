/*
 * Statistics of a routine for people and programs: lines with a chart of
 * characters, a page with one of SVG, members of a JSON object.
 *
 * A chart has a bar for each run, or for several where there is no room, as
 * high as the slowest of these took; failed, lost and running ones are marked.
 */
#ifndef CORE_REPORT_STATS_PRINT_H
#define CORE_REPORT_STATS_PRINT_H

#include "core/report/stats.h"

struct stats_view {
	const char *routine, *file; /* file: NULL when runs are of several */
	size_t columns;		    /* of the terminal; 0: 80 */
	bool has_utf8, has_colour;
};

void stats_text(const struct stats *s, const struct stats_view *v,
		struct buf *out);
void stats_html(const struct stats *s, const struct stats_view *v,
		struct buf *out);
/* w  inside of an object */
void stats_json(const struct stats *s, const struct stats_view *v,
		struct jw *w);

#endif
