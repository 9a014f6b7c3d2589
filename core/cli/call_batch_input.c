#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/call_batch_inner.h"

/* Answers that are kept until it is their turn, beside those in flight. */
#define AHEAD 64

static bool has_room(const struct batch *b)
{
	return b->n_open < b->o->jobs && b->n_slots < b->o->jobs + AHEAD &&
	       !b->t->loop.signal;
}

/* False: there is no whole line. */
static bool next_line(struct batch *b)
{
	struct str rest = {buf_cstr(&b->text) + b->at, b->text.n - b->at};
	size_t end = str_find(rest, '\n');

	if (end == rest.n && (!b->ended || (!rest.n && !b->too_long))) {
		buf_drop(&b->text, b->at);
		b->at = 0;
		if (rest.n < LINE_BYTES)
			return false;
		b->too_long = true;
		buf_clear(&b->text);
		return false;
	}
	batch_take_line(b, (struct str){rest.p, end});
	b->too_long = false;
	b->at += end + (end < rest.n);
	return true;
}

static int read_more(struct batch *b, struct err *err)
{
	char *room = buf_room(&b->text, PORTION_BYTES);
	ssize_t r = read(b->fd, room, PORTION_BYTES);

	if (r < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (r < 0)
		return err_sys(err, errno, "--batch: read %s", b->o->path);
	b->text.n += (size_t)r;
	b->ended = r == 0;
	return 0;
}

static void on_input(void *arg, uint32_t events)
{
	struct batch *b = arg;
	struct err err = ERR_INIT;

	(void)events;
	if (read_more(b, &err) < 0) {
		log_error("%s", err.msg);
		b->counts.errors++;
		b->ended = true;
	}
}

int batch_fill(struct batch *b, struct err *err)
{
	while (has_room(b)) {
		if (batch_refresh_tools(b, err) < 0)
			return -1;
		if (next_line(b))
			continue;
		if (b->ended || !b->is_file)
			break;
		if (read_more(b, err) < 0)
			return -1;
	}
	if (!b->is_file)
		loop_rewatch(&b->t->loop, &b->in,
			     has_room(b) && !b->ended ? EPOLLIN : 0);
	return 0;
}

bool batch_is_over(const struct batch *b)
{
	if (b->n_slots)
		return false;
	return b->t->loop.signal ||
	       (b->ended && b->at == b->text.n && !b->too_long);
}

bool batch_can_go_on(const struct batch *b)
{
	if (!has_room(b))
		return false;
	if (b->is_file && !b->ended)
		return true;
	return b->at < b->text.n &&
	       (b->ended || memchr(b->text.p + b->at, '\n', b->text.n - b->at));
}

int batch_open_input(struct batch *b, struct err *err)
{
	struct stat st;

	b->fd = strcmp(b->o->path, "-")
			? fd_open(b->o->path, O_RDONLY, 0)
			: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (b->fd < 0 || fstat(b->fd, &st) < 0) {
		err_sys(err, errno, "--batch: open %s", b->o->path);
		err->kind = ERR_USAGE;
		return -1;
	}
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE, "--batch: %s is a folder",
			       b->o->path);
	/* epoll takes neither plain files nor /dev/null: they never wait */
	b->is_file = S_ISREG(st.st_mode) ||
		     loop_watch(&b->t->loop, &b->in, b->fd, EPOLLIN, on_input,
				b, err) < 0;
	return 0;
}
