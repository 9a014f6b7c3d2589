/* Texts rewritten piece by piece, for scrub.c and scrub_json.c. Pure. */
#ifndef CORE_SECRET_SCRUB_REWRITE_H
#define CORE_SECRET_SCRUB_REWRITE_H

#include "core/secret/scrub_scan.h"

/* Text put in place of a value. */
#define SCRUB_STARS "***"

/* Text that is read before what was found is replaced, bytes. */
#define SCRUB_PIECE_BYTES ((size_t)1024 * 1024)

static inline size_t scrub_next_piece(size_t at, size_t n)
{
	return n - at > SCRUB_PIECE_BYTES ? at + SCRUB_PIECE_BYTES : n;
}

/* Progress in a text; offsets. */
struct scrub_given {
	size_t at; /* given, or replaced */
	size_t decided;
	size_t hits;
};

/*
 * Rewrite a whole text.
 * returns  false when it was given up, see scrub_set_patience()
 */
bool scrub_rewrite(struct scrub_scan *scan, struct str text, enum scrub_end end,
		   struct buf *out, size_t *hits) MUST_USE;
/* Ask the owner whether another piece may be read. */
MUST_USE static inline bool scrub_goes_on(const struct scrub *s)
{
	return !s->go_on || s->go_on(s->go_on_arg);
}

#endif
