/* Words of a peer: in sentences of ours, in lists, as scopes. Pure. */
#ifndef CORE_AUTH_WORDS_H
#define CORE_AUTH_WORDS_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* Bytes of a peer's words in a sentence. */
#define QUOTE_BYTES 300

/*
 * Escape controls, keep at most `max` bytes.
 * returns  the text of `out`, which is cleared first
 */
const char *quote_peer(struct buf *out, struct str said, size_t max) MUST_USE;
/* Words of both, parted by spaces, each once, in their order; NULL: none. */
const char *words_union(const char *a, const char *b, struct arena *arena)
	MUST_USE;

#endif
