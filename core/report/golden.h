/*
 * Golden files: an accepted report, and the rules by which it is compared.
 *
 *	{"schema": "matins-golden/1", "routine": "morning", "file": "a.toml",
 *	 "rules": {"ignore": ["data.structuredContent.load"]},
 *	 "report": { what `--view golden` shows }}
 *
 * in canonical form (core/report/canon.h), so that git shows what changed. A
 * value that a rule ignores is stored as "(ignored)": it is neither compared
 * nor kept; nor is the output that is made of it. Rules that stand in the file
 * and rules of the configuration (core/report/rules.h) are joined; where both
 * speak of one path, the configuration counts.
 *
 * Texts and trees only; who reads and writes the files is core/cli.
 */
#ifndef CORE_REPORT_GOLDEN_H
#define CORE_REPORT_GOLDEN_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/jdoc.h"
#include "core/report/diff.h"
#include "core/report/rules.h"

#define GOLDEN_SCHEMA "matins-golden/1"

struct golden {
	const char *routine;
	const char *file; /* name of the configuration; NULL: not known */
	struct rules rules;
	struct jdoc *report; /* golden view */
	bool is_scrubbed;    /* the report says that secrets were */
};

/*
 * Read a golden file. The result lives in `arena` and borrows `text`.
 * errors  ERR_SYNTAX, ERR_COMPARE (not a matins-golden/1)
 */
int golden_load(struct str text, struct arena *arena, struct golden *ret,
		struct err *err) MUST_USE;

/*
 * Make a golden of a report: volatile members are taken out, ignored values
 * marked.
 *
 * report_json  a matins-report/1; borrowed for as long as the result lives
 * rules        that are copied into it; NULL: none, and what JSON is in texts
 *		is left to golden_compare()
 * errors       ERR_SYNTAX, ERR_COMPARE (not a report), ERR_LIMIT for too many
 *		rules
 */
int golden_make(struct str report_json, const struct rules *rules,
		struct arena *arena, struct golden *ret, struct err *err)
	MUST_USE;
/*
 * Refuse to keep a report with a `***` that no rule ignores, where secrets were
 * scrubbed: the report says so itself, or `is_scrubbed`.
 * errors  ERR_CREDENTIAL
 */
int golden_check_secrets(const struct golden *g, bool is_scrubbed,
			 struct arena *arena, struct err *err) MUST_USE;

/* Append the text of the file, with a newline at its end. */
void golden_print(const struct golden *g, struct buf *out);

/*
 * Compare what was accepted with what is new. The rules of both count for
 * both; afterwards `candidate` has all of them, and their hits are set.
 * errors  ERR_COMPARE  they are of different routines
 */
int golden_compare(struct golden *accepted, struct golden *candidate,
		   struct arena *arena, struct diff *ret, struct err *err)
	MUST_USE;

/*
 * Take of the differences that are shown those at or below what the path
 * selects in either tree, or (takes = false) all others.
 * errors  ERR_SYNTAX, ERR_UNKNOWN (it selects none of them)
 */
int golden_choose(const struct diff *d, const char *path, bool takes,
		  struct arena *arena, struct err *err) MUST_USE;

/* The accepted report with the differences that are taken, and all rules of the
   candidate; to be printed. */
struct golden golden_merge(const struct golden *candidate, const struct diff *d,
			   struct arena *arena) MUST_USE;

/* "ROUTINE.json", with bytes that no file name should have as %XX. */
const char *golden_file_name(const char *routine, struct arena *arena) MUST_USE;

#endif
