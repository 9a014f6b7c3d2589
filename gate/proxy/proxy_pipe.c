#include "gate/proxy/proxy_pipe.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

size_t pipe_room(struct pipe *p)
{
	if (p->from == p->to)
		p->from = p->to = 0;
	if (p->to == PIPE_BYTES && p->from) {
		memmove(p->bytes, p->bytes + p->from, p->to - p->from);
		p->to -= p->from;
		p->from = 0;
	}
	return PIPE_BYTES - p->to;
}

bool pipe_would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int pipe_fill(struct pipe *p, int fd, size_t max)
{
	size_t room = pipe_room(p);
	ssize_t n;

	if (p->eof || p->to >= max)
		return 0;
	n = recv(fd, p->bytes + p->to, room < max - p->to ? room : max - p->to,
		 0);
	if (n < 0)
		return pipe_would_block() ? 0 : -1;
	p->eof = n == 0;
	p->to += (size_t)n;
	return 0;
}

int pipe_flush(struct pipe *p, int fd)
{
	while (p->from < p->to) {
		ssize_t n = send(fd, p->bytes + p->from, p->to - p->from,
				 MSG_NOSIGNAL);

		if (n < 0)
			return pipe_would_block() ? 0 : -1;
		p->from += (size_t)n;
	}
	if (p->eof && !p->shut) {
		p->shut = true;
		/* ENOTCONN: the other side was quicker */
		if (shutdown(fd, SHUT_WR) < 0 && errno != ENOTCONN)
			return -1;
	}
	return 0;
}

void pipe_put(struct pipe *p, const struct buf *bytes)
{
	if (!bytes->n || bytes->n > pipe_room(p))
		return;
	memcpy(p->bytes + p->to, buf_str(bytes).p, bytes->n);
	p->to += bytes->n;
}
