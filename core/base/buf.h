/*
 * A growing byte buffer with a ceiling.
 *
 * The ceiling is given when the buffer is made (as in curl's dynbuf); bytes
 * that would pass it are refused whole with BUF_FULL, and what was there
 * stays. Buffers of our own output use BUF_UNBOUNDED. The content always ends
 * in a NUL that is not counted.
 *
 *	struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
 *	if (buf_add(&out, bytes, n) == BUF_FULL)
 *		return err_set(err, ERR_LIMIT, "...");
 *	buf_release(&out);
 */
#ifndef CORE_BASE_BUF_H
#define CORE_BASE_BUF_H

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "core/base/attr.h"
#include "core/base/str.h"

/* Where bytes go instead of staying in a buffer. */
struct buf_sink {
	void (*write)(void *arg, struct str bytes);
	void *arg;
};

struct buf {
	char *p;    /* owned; NULL while nothing was added */
	size_t n;   /* bytes in use */
	size_t cap; /* bytes allocated */
	size_t max; /* ceiling of n */
	/*
	 * Borrowed; NULL: bytes stay. Else they are passed on in portions, and
	 * large ones without a copy, so that a long text can be written that
	 * never lies in memory. What was added may be gone: do not look back.
	 */
	const struct buf_sink *sink;
};

#define BUF_UNBOUNDED SIZE_MAX
#define BUF_INIT(max_bytes)                   \
	{                                     \
		.p = NULL, .max = (max_bytes) \
	}

enum { BUF_OK = 0, BUF_FULL = 1 };

/* Add bytes; BUF_FULL (nothing added) when the ceiling would be passed. */
int buf_add(struct buf *b, const void *bytes, size_t n);
static inline int buf_add_str(struct buf *b, struct str s)
{
	return buf_add(b, s.p, s.n);
}

/* Where there is room, as nearly always, a byte costs no call. */
static inline int buf_addc(struct buf *b, char c)
{
	if (b->n + 1 >= b->cap || b->n >= b->max)
		return buf_add(b, &c, 1);
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
	return BUF_OK;
}

static inline int buf_adds(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

/* Add a number in decimal. */
int buf_addu(struct buf *b, uint64_t v);
/*
 * Add at most max bytes. A text that is cut ends in whole UTF-8 and "…",
 * which is in max and which the scrubber relies on.
 */
int buf_add_cut(struct buf *b, struct str s, size_t max);
int buf_addf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/*
 * Room for n more bytes and a NUL behind the content, for read(2) to fill; the
 * caller then adds the count to b->n and writes the NUL. NULL when the ceiling
 * would be passed.
 */
char *buf_room(struct buf *b, size_t n) MUST_USE;
/* Pass on to the sink what is held; the end of a text that goes to one. */
void buf_drain(struct buf *b);
/* Drop n bytes at the front. */
void buf_drop(struct buf *b, size_t n);
/* Forget the content, keep the memory. */
void buf_clear(struct buf *b);
/* Overwrite and free; for secrets. */
void buf_wipe(struct buf *b);
/* Free; the buffer is empty and usable again. */
void buf_release(struct buf *b);
/* The content as a borrowed str; "" when empty. */
MUST_USE static inline struct str buf_str(const struct buf *b)
{
	return (struct str){b->p ? b->p : "", b->n};
}

/* The content as a C string, borrowed; "" when empty. */
MUST_USE static inline const char *buf_cstr(const struct buf *b)
{
	return b->p ? b->p : "";
}

/* Hand the memory to the caller, who frees it; never NULL. */
char *buf_steal(struct buf *b) MUST_USE;

#endif
