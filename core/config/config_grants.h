/*
 * A configuration in rows: what it may start, write, read and connect to,
 * which credentials it reads, where it weakens the sandbox. As it is written,
 * before anything is expanded, so that rows of two texts can be compared.
 *
 * A row is a word and what it is about: "starts git", "writes .",
 * "credential $TOKEN". Rows are sorted: by kind, then the shorter, which of
 * paths is the wider, first.
 */
#ifndef CORE_CONFIG_CONFIG_GRANTS_H
#define CORE_CONFIG_CONFIG_GRANTS_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/config/routine.h"

/* In `arena`, each row once. Before config_expand(). */
struct strlist config_grants(const struct config *c, struct arena *arena)
	MUST_USE;

/*
 * Append them for a person: a line each, the word once per kind, control
 * characters made visible.
 *
 * most     rows shown of one kind, each cut to one line; the others are
 *	    counted. 0: all, whole
 * returns  false: some were left out
 */
bool config_grants_show(const struct strlist *grants, size_t most,
			struct buf *out);
/*
 * Append what is new and what is gone, a line each behind "+ " or "- ";
 * nothing where the rows are the same. Both are sorted.
 *
 * most     rows shown, each cut to one line; SIZE_MAX: all, whole
 */
void config_grants_diff(const struct strlist *before, const struct strlist *now,
			size_t most, struct buf *out);
/* Is each of the rows that begin with this word among the others, too? */
bool config_grants_has(const struct strlist *grants, const char *word,
		       const struct strlist *others) MUST_USE;

#endif
