/*
 * Rows of a policy that a tree needs: the list, and fewer rows that grant the
 * same.
 */
#ifndef GATE_NEEDS_NEEDS_ROWS_H
#define GATE_NEEDS_NEEDS_ROWS_H

#include "gate/policy/closed.h"
#include "gate/prepare/prepared.h"

struct needs_finder {
	struct gate *gate;
	struct arena *arena;
	const struct gate_request *plain;
	const struct gate_policy *traced;
	const struct gate_verdict *v;
	const struct prepared *p; /* the policy that holds anyway */
	struct closed closed;
	bool ended_well;
	struct strlist brought; /* interpreters that come with scripts */
	struct strlist with_private, no_private; /* folders looked through */
	struct gate_needs *out;
	size_t fold_at; /* rows at which folders are taken for files next */
};

/* Reason against a row: the program ended well without what it grants. */
extern const char needs_went_on[];

/* Find the row of this key and value; NULL: there is none. */
struct gate_need *needs_find(struct needs_finder *f, const char *key,
			     const char *value) MUST_USE;
/*
 * Add a row, or count one that is there; value and program are copied.
 *
 * key      static
 * r        .program and .count are used
 * why_not  static or in the arena; NULL: the row is granted
 */
void needs_add(struct needs_finder *f, const char *key, const char *value,
	       const struct gate_record *r, const char *why_not);
/* Has the row this key, and is it granted? */
bool needs_is_row(const struct gate_need *n, const char *key) MUST_USE;

/* Take folders instead of files that are granted in them. */
void needs_widen(struct needs_finder *f);
/* Drop rows beneath another row of their key, and reads beneath a write. */
void needs_drop_covered(struct needs_finder *f);

#endif
