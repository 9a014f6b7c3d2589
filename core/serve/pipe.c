#include "core/serve/pipe.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/limits.h"

#define PORTION_BYTES 65536
/* More is not read of a client that does not read so much. */
#define WAITING_BYTES (1024 * 1024)

static void on_readable(void *arg, uint32_t events);
static void on_writable(void *arg, uint32_t events);

/* ---- bytes for the client ---- */

static void on_broken(struct pipe_client *c)
{
	c->out_broke = true;
	loop_unwatch(c->loop, &c->out);
	buf_release(&c->waiting);
	c->written = 0;
}

/* Write what fits without waiting: PIPE_BUF is room in a pipe that has any.
   The pipe is not ours alone, so it cannot be made one that never blocks. */
static ssize_t write_some(struct pipe_client *c)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
	struct str left = str_skip(buf_str(&c->waiting), c->written);
	const struct iovec iov = {(void *)left.p, left.n};
	ssize_t n;

	if (c->is_socket)
		return send(STDOUT_FILENO, left.p, left.n,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
	/* a file would say EAGAIN for ever; old kernels know it of no pipe */
	if (c->is_pipe) {
		n = pwritev2(STDOUT_FILENO, &iov, 1, -1, RWF_NOWAIT);
		if (n >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
			return n;
		c->is_pipe = false;
	}
	if (poll(&p, 1, 0) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(STDOUT_FILENO, left.p,
		     left.n < PIPE_BUF ? left.n : PIPE_BUF);
}

static void watch_input(struct pipe_client *c)
{
	bool wants = !c->in_ended && c->waiting.n - c->written < WAITING_BYTES;

	if (!wants)
		loop_unwatch(c->loop, &c->in);
	else if (c->in.fd >= 0)
		return;
	else if (loop_watch(c->loop, &c->in, STDIN_FILENO, EPOLLIN, on_readable,
			    c, ERR_IGNORED) < 0)
		loop_timer_set(c->loop, &c->again, loop_now(c->loop));
}

static void flush(struct pipe_client *c)
{
	while (c->written < c->waiting.n) {
		ssize_t n = write_some(c);

		if (n > 0)
			c->written += (size_t)n;
		else if (n == 0 || (errno != EINTR && errno != EAGAIN))
			on_broken(c);
		else if (errno == EAGAIN)
			break;
	}
	if (c->written == c->waiting.n) {
		c->written = 0;
		buf_clear(&c->waiting);
		if (c->waiting.cap > WAITING_BYTES)
			buf_release(&c->waiting);
	}
	loop_rewatch(c->loop, &c->out, c->waiting.n ? EPOLLOUT : 0);
	watch_input(c);
}

static void on_writable(void *arg, uint32_t events)
{
	struct pipe_client *c = arg;

	if (events & (EPOLLERR | EPOLLHUP))
		on_broken(c);
	else
		flush(c);
}

static void send_message(void *arg, UNUSED const struct server_call *call,
			 struct str message, enum server_kind kind)
{
	struct pipe_client *c = arg;

	if (c->out_broke ||
	    (kind == SERVER_PROGRESS && c->waiting.n > WAITING_BYTES))
		return;
	buf_add_str(&c->waiting, message);
	if (!c->is_reading)
		flush(c);
}

/* ---- bytes of the client ---- */

static void on_readable(void *arg, UNUSED uint32_t events)
{
	struct pipe_client *c = arg;
	char in[PORTION_BYTES];
	ssize_t n = read(STDIN_FILENO, in, sizeof(in));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	c->is_reading = true;
	if (n > 0)
		server_feed(&c->session, (struct str){in, (size_t)n});
	else
		server_end(&c->session);
	c->is_reading = false;
	c->in_ended = n <= 0;
	flush(c);
}

static void on_again(void *arg)
{
	on_readable(arg, 0);
}

int pipe_client_open(struct pipe_client *c, struct loop *loop,
		     const struct server_info *info, void *arg, struct err *err)
{
	struct stat st;

	*c = (struct pipe_client){
		.loop = loop,
		.in.fd = -1,
		.again = {.fire = on_again, .arg = c},
		.waiting = BUF_INIT(BUF_UNBOUNDED),
	};
	if (fstat(STDOUT_FILENO, &st) == 0) {
		c->is_socket = S_ISSOCK(st.st_mode);
		c->is_pipe = S_ISFIFO(st.st_mode);
	}
	server_init(&c->session, info, arg, send_message, c);
	/* a file takes everything at once, and cannot be watched */
	if (loop_watch(loop, &c->out, STDOUT_FILENO, 0, on_writable, c, err) <
		    0 &&
	    err->sys != EPERM)
		return -1;
	watch_input(c);
	return 0;
}

bool pipe_client_is_over(const struct pipe_client *c)
{
	return c->out_broke ||
	       (c->in_ended && !c->session.calls && !c->waiting.n);
}

void pipe_client_release(struct pipe_client *c)
{
	if (!c->loop)
		return;
	server_release(&c->session);
	loop_unwatch(c->loop, &c->in);
	loop_unwatch(c->loop, &c->out);
	loop_timer_clear(c->loop, &c->again);
	buf_release(&c->waiting);
	c->loop = NULL;
}
