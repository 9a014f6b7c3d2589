/*
 * Pieces of advice while they are collected, and how their settings are
 * written: the refusals of one key are one piece, with one line.
 */
#ifndef CORE_RUN_ADVICE_PIECE_H
#define CORE_RUN_ADVICE_PIECE_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/run/advice.h"

/* A piece before its setting is written: values of a key, or no key. */
struct piece {
	const char *text, *key;
	struct strlist values;
};

struct pieces {
	const struct advice_known *known;
	struct arena *arena;
	struct piece *item;
	size_t n;
};

/* NULL: there is none of this key. */
struct piece *piece_find(const struct pieces *all, const char *key) MUST_USE;

/*
 * Add a piece, or join it to the one of its key: a line stands once.
 *
 * key, values  NULL: no setting allows it
 */
void piece_add(struct pieces *all, const char *text, const char *key,
	       const struct strlist *values);

/* Write the settings; none for a folder with HOME or keys in it. */
struct advice_list pieces_written(const struct pieces *all) MUST_USE;

#endif
