/*
 * What the files of gate_needs() share.
 *
 *	needs.c	       the list of rows, system calls, the whole
 *	needs_files.c  programs and files
 *	needs_net.c    the network
 *	needs_fewer.c  fewer rows for the same
 */
#ifndef GATE_NEEDS_NEEDS_INNER_H
#define GATE_NEEDS_NEEDS_INNER_H

#include "gate/policy/closed.h"
#include "gate/prepare/inner.h"

struct needs_finder {
	struct gate *gate;
	struct arena *arena;
	const struct gate_request *plain;
	const struct gate_policy *traced;
	const struct gate_verdict *v;
	const struct prepared *p; /* what holds anyway */
	struct closed closed;
	bool ended_well;
	struct strlist brought; /* interpreters that come with scripts */
	struct strlist with_private, no_private; /* folders looked through */
	struct gate_needs *out;
	size_t fold_at; /* rows at which folders are taken for files next */
};

/* needs.c */
/* Why a row is none: without what it grants all went well. */
extern const char needs_went_on[];
/* The row of this key and value, or NULL. */
struct gate_need *needs_find(struct needs_finder *f, const char *key,
			     const char *value) MUST_USE;
/*
 * One row more, or its count; value and program are copied.
 *
 * key      static
 * r        .program and .count are used
 * why_not  static or in the arena; NULL: it is granted
 */
void needs_add(struct needs_finder *f, const char *key, const char *value,
	       const struct gate_record *r, const char *why_not);
/* Is it of this key, and granted? */
bool needs_is_row(const struct gate_need *n, const char *key) MUST_USE;

/* needs_files.c; what one record needs */
void needs_find_program(struct needs_finder *f, const struct gate_record *r);
void needs_find_written(struct needs_finder *f, const struct gate_record *r);
void needs_find_read(struct needs_finder *f, const struct gate_record *r);

/* needs_net.c */
void needs_find_net(struct needs_finder *f);

/* needs_fewer.c */
/* Take folders instead of what is granted in them. */
void needs_widen(struct needs_finder *f);
/* Rows beneath another row of the same key, or reads beneath a write. */
void needs_drop_covered(struct needs_finder *f);

#endif
