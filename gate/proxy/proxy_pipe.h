/*
 * Bytes on their way in one direction of a connection, between two sockets
 * that never wait: pipe_fill() from the one, pipe_flush() to the other. The
 * end of the one is told to the other when everything before it is written.
 */
#ifndef GATE_PROXY_PROXY_PIPE_H
#define GATE_PROXY_PROXY_PIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/attr.h"
#include "core/base/str.h"
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
/* What is on its way; borrowed until the pipe changes. */
struct str pipe_str(const struct pipe *p) MUST_USE;

/*
 * Both return 0, also when nothing can be done now, and -1 when the
 * connection is broken.
 *
 * max  no more bytes than these are kept
 */
int pipe_fill(struct pipe *p, int fd, size_t max) MUST_USE;
int pipe_flush(struct pipe *p, int fd) MUST_USE;

/* Bytes of our own; nothing is added when there is no room for all of them. */
void pipe_put(struct pipe *p, struct str bytes);

/* Was the last errno that of a socket which has nothing for us yet? */
bool pipe_would_block(void) MUST_USE;

#endif
