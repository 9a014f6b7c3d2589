/*
 * Bytes in one direction, between two sockets that never wait: pipe_fill()
 * reads from the one, pipe_flush() writes to the other, and shuts it down when
 * the one has ended and everything is written. A connection has two.
 */
#ifndef GATE_PROXY_PROXY_PIPE_H
#define GATE_PROXY_PROXY_PIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "gate/proxy/proxy_request.h"

/* A head and what it grows by. */
#define PIPE_BYTES (PROXY_HEAD_BYTES + PROXY_HEAD_MORE)

struct pipe {
	char bytes[PIPE_BYTES];
	size_t from, to;
	bool eof;  /* nothing more comes in */
	bool shut; /* and the other end was told */
};

/* Bytes that can still be added; makes room. */
size_t pipe_room(struct pipe *p) MUST_USE;
/*
 * Both return 0, also when nothing can be done now, and -1 when the
 * connection is broken.
 *
 * max  no more bytes than these are kept
 */
int pipe_fill(struct pipe *p, int fd, size_t max) MUST_USE;
int pipe_flush(struct pipe *p, int fd) MUST_USE;
/* Add bytes of our own; none when there is no room for all of them. */
void pipe_put(struct pipe *p, const struct buf *bytes);
/* Was the last errno that of a socket which has nothing for us yet? */
bool pipe_would_block(void) MUST_USE;

#endif
