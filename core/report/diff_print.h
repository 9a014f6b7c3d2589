/*
 * Differences in six forms.
 *
 *	text     for people: values are cut, texts of several lines compared by
 *		 line; nothing for no difference
 *	unified  whole values, each in the form of `diff -u`
 *	json {"same":…,"entries":[{path,kind,old,new,step,class}…],"dropped":…}
 *	patch    RFC 6902, a `test` before all that goes; whole, with what the
 *		 other forms leave out because it is said once
 *	md       Markdown
 *	html     one page, as core/report/page.h makes it
 */
#ifndef CORE_REPORT_DIFF_PRINT_H
#define CORE_REPORT_DIFF_PRINT_H

#include "core/report/diff.h"

/* Differences that are shown; the rest is counted. */
#define DIFF_SHOWN_MAX 1000
/* On a page more than these are folded. */
#define DIFF_OPEN_MAX 20
/* Bytes of one value in the JSON form; longer ones are cut and say so. */
#define DIFF_VALUE_BYTES 4096

struct diff_shown;

struct line_style {
	const char *indent;
	size_t context;	  /* equal lines around those that changed */
	size_t max_lines; /* shown; the rest is counted */
	size_t max_bytes; /* of a line */
	bool has_counts;  /* "@@ -2,3 +2,4 @@", as patch(1) reads it */
};

/* A form; JSON is printed at once, the others one difference after another. */
struct diff_format {
	const char *name;
	void (*json)(const struct diff *d, struct buf *out); /* NULL: none */
	struct line_style style;
	size_t max; /* differences that are shown */
	void (*one)(const struct diff_shown *s, struct buf *out);
	/* in place of differences, which are counted at the end; NULL: they
	   are not */
	const char *same;
};

/* Form of a notice, without a name: words, not paths, and one line for a step
   that ended otherwise. */
extern const struct diff_format diff_news;

/* NULL: no form of that name. */
const struct diff_format *diff_format_find(const char *name) MUST_USE;

/* Append all, as a document of its own. */
void diff_print(const struct diff *d, const struct diff_format *f,
		struct buf *out);
/* Append it for a place in another document. */
void diff_print_part(const struct diff *d, const struct diff_format *f,
		     struct buf *out);
/* Append one difference as text. */
void diff_print_edit(const struct edit *e, struct buf *out);

#endif
