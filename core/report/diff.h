/*
 * Differences between two reports, by meaning.
 *
 * Key order, white space and escapes do not count. Steps are matched by name,
 * other arrays by position, after what is equal at both ends. Nodes whose
 * `ignored` is set in either tree are not compared. A change in a step's data
 * is one entry: not once more for its `output`, or for the text block that
 * repeats a structured content.
 *
 *	struct diff d;
 *	diff_reports(old, new, &arena, &d);
 *	diff_print(&d, DIFF_TEXT, &out);
 */
#ifndef CORE_REPORT_DIFF_H
#define CORE_REPORT_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/jdoc.h"

/* Differences that are kept; the rest is counted. */
#define DIFF_ENTRIES_MAX 1000
/* Bytes of one value in the JSON form; longer ones are cut and say so. */
#define DIFF_VALUE_BYTES 4096

enum diff_kind { DIFF_ADDED, DIFF_REMOVED, DIFF_CHANGED, DIFF_MOVED };

/*
 * STATE   how a step or the run ended
 * SCHEMA  the shape: members, types, number and order of elements
 * VALUE   all else
 */
enum diff_class { DIFF_STATE, DIFF_SCHEMA, DIFF_VALUE };

struct diff_entry {
	const char *path; /* core/report/path.h; arena */
	enum diff_kind kind;
	enum diff_class class;
	const struct jdoc *old, *new; /* NULL where it is not; borrowed */
	size_t old_index, new_index;  /* of DIFF_MOVED only */
	const char *step;	      /* NULL when it is outside of steps */
};

struct diff {
	struct diff_entry *entry; /* arena */
	size_t n;
	size_t dropped; /* beyond DIFF_ENTRIES_MAX */
};

/* Compare two trees; both live as long as the result. */
void diff_reports(const struct jdoc *old, const struct jdoc *new,
		  struct arena *arena, struct diff *ret);

enum diff_format { DIFF_TEXT, DIFF_JSON };

/*
 * Text is for people: values are cut and made visible, texts of several lines
 * compared by line, nothing is printed for no difference. JSON is
 * {"same":…,"entries":[…],"dropped":…}.
 */
void diff_print(const struct diff *d, enum diff_format format, struct buf *out);

#endif
