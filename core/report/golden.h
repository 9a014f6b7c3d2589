/*
 * Golden files: an accepted report, and the rules by which it is compared.
 *
 *	{"schema": "matins-golden/1", "routine": "morning", "file": "a.toml",
 *	 "rules": {"ignore": ["data.structuredContent.load"]},
 *	 "report": { what `--view golden` shows }}
 *
 * in canonical form (core/report/canon.h), so that git shows what changed. A
 * value that a rule ignores is stored as "(ignored)": it is neither compared
 * nor kept. Rules that stand in the file and rules of the configuration are
 * joined.
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

struct path;

#define GOLDEN_SCHEMA "matins-golden/1"
/* Ignore rules of one golden file. */
#define GOLDEN_RULES_MAX 1000

struct golden_rule {
	const char *text;
	struct path *path;
	size_t hits; /* nodes that it selected, in both documents */
};

struct golden {
	const char *routine;
	const char *file; /* name of the configuration; NULL: not known */
	struct golden_rule *rule; /* arena */
	size_t n_rules;
	struct jdoc *report; /* golden view */
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
 * ignore       rules; items borrowed
 * has_secrets  secrets were scrubbed from what the report holds, also when it
 *		does not say so itself; a `***` that no rule ignores is then
 *		refused
 * errors       ERR_SYNTAX (report or rule), ERR_COMPARE (not a report),
 *		ERR_CREDENTIAL (a secret), ERR_LIMIT for too many rules
 */
int golden_make(struct str report_json, struct strlist ignore, bool has_secrets,
		struct arena *arena, struct golden *ret, struct err *err)
	MUST_USE;

/* More rules; they count from golden_compare() on. Errors as above. */
int golden_add_rules(struct golden *g, struct strlist ignore,
		     struct arena *arena, struct err *err) MUST_USE;

/* Is there a rule of this text? */
bool golden_has_rule(const struct golden *g, const char *text) MUST_USE;

/* Append the text of the file, with a newline at its end. */
void golden_print(const struct golden *g, struct buf *out);

/*
 * Compare what was accepted with what is new. The rules of both count for
 * both; afterwards `candidate` has all of them, and their `hits` are set.
 * errors  ERR_COMPARE  they are of different routines
 */
int golden_compare(struct golden *accepted, struct golden *candidate,
		   struct arena *arena, struct diff *ret, struct err *err)
	MUST_USE;

/* "ROUTINE.json", with bytes that no file name should have as %XX. */
const char *golden_file_name(const char *routine, struct arena *arena) MUST_USE;

#endif
