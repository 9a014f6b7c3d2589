/*
 * Rules of comparison: which values of a report may differ, and how.
 *
 *	ignore         the value is neither compared nor kept
 *	match          any value of that type is as good as another
 *	arrays         elements in any order, by their values or by a member
 *	tolerance      numbers that are near enough are equal
 *	embedded_json  JSON inside of texts is compared as JSON
 *
 * Paths are those of core/report/path.h. Rules are read as JSON, which is how
 * golden files hold them, and marked in a tree:
 *
 *	rules_load(&rules, object, &arena, err);
 *	rules_apply(&rules, report, &arena);
 *
 * A value that has its type by `match` is replaced by the name of the type,
 * "(uuid)"; that is what a golden file keeps of it.
 */
#ifndef CORE_REPORT_RULES_H
#define CORE_REPORT_RULES_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/jdoc.h"

/* Rules of one comparison. */
#define RULES_MAX 1000

enum rule_kind {
#define RULE(kind, name, values) RULE_##kind,
#include "core/report/rules.def"
#undef RULE
	N_RULE_KINDS,
};

struct rule {
	enum rule_kind kind;
	const char *path;  /* NULL: embedded_json as a whole */
	const char *value; /* as written, without quotes; NULL without */
	struct path *at;
	size_t hits; /* values that it selected */
};

struct rules {
	struct rule *item; /* arena */
	size_t n;
};

/*
 * Read an object {"ignore": [PATH…], "match": {PATH: TYPE…}, …}; NULL has no
 * rules. A rule of the same kind and path that is there already stays, as does
 * what embedded_json was said to be.
 *
 * errors  ERR_SYNTAX for a path, type or number; ERR_COMPARE for the wrong type
 *	   of value; ERR_LIMIT; ERR_UNKNOWN for /regex/ without PCRE2
 */
int rules_load(struct rules *r, const struct jdoc *object, struct arena *arena,
	       struct err *err) MUST_USE;

/* Add what another has, in the same way. */
int rules_join(struct rules *r, const struct rules *more, struct arena *arena,
	       struct err *err) MUST_USE;

/* Paths to ignore. Errors as above. */
int rules_ignore(struct rules *r, const struct strlist *paths,
		 struct arena *arena, struct err *err) MUST_USE;

/* The rule of this kind and path; NULL: there is none. */
const struct rule *rules_find(const struct rules *r, const struct rule *wanted)
	MUST_USE;

const char *rule_name(enum rule_kind kind) MUST_USE;

/*
 * Parse the texts that hold JSON, mark what is ignored, replace what matches,
 * and count hits. Texts of the tree get a child: the value inside of them.
 */
void rules_apply(struct rules *r, struct jdoc *report, struct arena *arena);

/* Append the object that rules_load() reads, indented as in a golden file. */
void rules_print(const struct rules *r, struct buf *out);

#endif
