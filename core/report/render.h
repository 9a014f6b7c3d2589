/*
 * Forms of a report by name: one document, several forms.
 *
 *	const struct renderer *r = render_find("md");
 *	r->print(&report, &options, &out);
 *
 * Text, Markdown and HTML show the same tree. Bytes that a terminal or a
 * browser would obey are made harmless.
 */
#ifndef CORE_REPORT_RENDER_H
#define CORE_REPORT_RENDER_H

#include "core/report/report.h"

enum report_view { VIEW_FULL, VIEW_GOLDEN };

struct render_options {
	enum report_view view; /* golden leaves out what varies: volatile.def */
	bool pretty;	       /* JSON: indented */
	bool single;	       /* --data of one step: the bare value */
	bool colour;	       /* text: for a terminal that has colours */
	size_t columns;	       /* text: of the terminal; 0: SHAPE_COLUMNS */
};

struct renderer {
	const char *name; /* "text", "json", "data", "md", "html" */
	void (*print)(const struct report *r, const struct render_options *o,
		      struct buf *out);
};

/* NULL when there is none of that name. */
const struct renderer *render_find(const char *name) MUST_USE;

#endif
