/*
 * Differences between two reports, by meaning: the one engine of `diff`,
 * `golden` and `run --changes`.
 *
 * Key order, white space and escapes do not count; numbers are compared as
 * they are written. Steps are matched by name, other arrays by their longest
 * common subsequence; rules (core/report/rules.h) that were marked in both
 * trees say where order, distance or the spelling of JSON inside of texts does
 * not count either. Nodes whose `ignored` is set in either tree are not
 * compared.
 *
 *	struct diff d;
 *	diff_reports(old, new, &rules, &arena, &d);
 *	diff_print(&d, diff_format_find("text"), &out);
 *
 * The result is an edit script as a tree beside the documents: what leads from
 * the old one to the new one, whole. A change that is said elsewhere already
 * is hidden in it: the `output` that is made of a step's data, and a text that
 * repeats the structured content.
 */
#ifndef CORE_REPORT_DIFF_H
#define CORE_REPORT_DIFF_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/jdoc.h"
#include "core/report/rules.h"

enum diff_kind {
	DIFF_ADDED,
	DIFF_REMOVED,
	DIFF_CHANGED,
	DIFF_MOVED,  /* a step, to another place */
	DIFF_WITHIN, /* edits below lead there */
};

/*
 * STATE   how a step or the run ended
 * SCHEMA  the shape: members, types, number and order of elements
 * VALUE   all else
 */
enum diff_class { DIFF_STATE, DIFF_SCHEMA, DIFF_VALUE };

#define DIFF_NONE UINT32_MAX

struct edit {
	enum diff_kind kind;
	enum diff_class class;	      /* but of WITHIN */
	const struct jdoc *old, *new; /* NULL where it is not; borrowed */
	/* Of elements; one that was added has the number of old elements
	   before it. */
	size_t old_index, new_index;
	struct edit *up, *first, *last, *next;
	const char *by; /* member that names the elements; NULL: the index */
	/* Of an array whose elements moved: the old index of each new one,
	   DIFF_NONE for those that were added. */
	const uint32_t *order;
	bool is_loose;	/* array without an order */
	bool is_whole;	/* members of it cannot be edited one by one */
	bool is_hidden; /* said elsewhere already */
	bool is_taken;	/* for diff_merge() */
};

struct diff {
	struct jdoc *old, *new; /* borrowed */
	struct edit *root;	/* NULL: the same */
	struct edit **shown;	/* in the order of the documents, not WITHIN */
	size_t n;
};

/*
 * Compare two trees; both live as long as the result.
 * rules  those that were applied to both; NULL: none
 */
void diff_reports(struct jdoc *old, struct jdoc *new, const struct rules *rules,
		  struct arena *arena, struct diff *ret);

/*
 * Append the path of an edit, as core/report/path.h reads it: of what was added
 * in the new document, of all else in the old one.
 * from  an edit above it that the path begins behind; NULL: the document
 */
void diff_path(const struct edit *e, const struct edit *from, struct buf *out);

/* The step that an edit is in or is, and its name, in `arena`; NULL: none. */
const struct edit *diff_step(const struct edit *e, struct arena *arena,
			     const char **ret_name) MUST_USE;

/*
 * The old tree with the edits that are taken, those below a taken one and
 * those that say the same; unchanged parts are shared. In `arena`.
 */
struct jdoc *diff_merge(const struct diff *d, struct arena *arena) MUST_USE;

#endif
