/*
 * A transport over two descriptors that somebody else opened: pipes.
 */
#include <errno.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/transport/transport.h"

struct stdio {
	struct transport base; /* first */
	struct transport_stdio_options o;
	int in, out; /* -1 after their end */
};

static int stdio_in_fd(const struct transport *t)
{
	return ((const struct stdio *)t)->in;
}

static int stdio_out_fd(const struct transport *t)
{
	return ((const struct stdio *)t)->out;
}

static ssize_t stdio_receive(struct transport *t, char *into, size_t room)
{
	struct stdio *s = (struct stdio *)t;
	ssize_t r;

	if (s->in < 0)
		return 0;
	do
		r = read(s->in, into, room);
	while (r < 0 && errno == EINTR);
	return r;
}

static ssize_t stdio_send(struct transport *t, struct str bytes)
{
	struct stdio *s = (struct stdio *)t;
	ssize_t w;

	if (s->out < 0) {
		errno = EPIPE;
		return -1;
	}
	do
		w = write(s->out, bytes.p, bytes.n);
	while (w < 0 && errno == EINTR);
	return w;
}

static void end_one(struct stdio *s, int *fd, int which)
{
	if (*fd < 0)
		return;
	*fd = -1;
	s->o.close(s->o.arg, which);
}

static void stdio_end_output(struct transport *t)
{
	struct stdio *s = (struct stdio *)t;

	end_one(s, &s->out, 0);
}

static void stdio_end_input(struct transport *t)
{
	struct stdio *s = (struct stdio *)t;

	end_one(s, &s->in, 1);
}

static void stdio_free(struct transport *t)
{
	free(t);
}

static const struct transport_type stdio_type = {
	.name = "stdio",
	.in_fd = stdio_in_fd,
	.out_fd = stdio_out_fd,
	.receive = stdio_receive,
	.send = stdio_send,
	.end_output = stdio_end_output,
	.end_input = stdio_end_input,
	.free = stdio_free,
};

struct transport *transport_stdio(const struct transport_stdio_options *options)
{
	struct stdio *s = mem_zalloc(sizeof(*s));

	s->base.type = &stdio_type;
	s->o = *options;
	s->in = options->in;
	s->out = options->out;
	return &s->base;
}
