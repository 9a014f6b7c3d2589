/* Words of a peer in sentences of ours. Pure. */
#ifndef CORE_AUTH_QUOTE_H
#define CORE_AUTH_QUOTE_H

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

#endif
