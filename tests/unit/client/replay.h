/*
 * A transport over a recorded transcript: the server of a test that is only
 * text, one message a line. "> " begins a line that the client sends, "< " one
 * of the server; other lines are comments. A line of the server comes when as
 * many messages were sent as stand before it. After the last line the server's
 * output ends.
 */
#ifndef MATINS_TESTS_UNIT_CLIENT_REPLAY_H
#define MATINS_TESTS_UNIT_CLIENT_REPLAY_H

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/transport/transport.h"

struct replay {
	struct transport base; /* first */
	struct buf text;       /* owned */
	size_t at;	       /* of the next line */
	size_t given;	       /* of that line */
	struct buf sent;       /* a message that is not whole yet */
	struct buf difference;
	int readable; /* eventfd; owned */
	bool deaf, ended;
};

/* The line at *at, which moves behind it; n = 0 and p = NULL: none. */
static struct str next_line(const struct replay *r, size_t *at)
{
	struct str rest = {buf_cstr(&r->text) + *at, r->text.n - *at};
	size_t n = str_find(rest, '\n');

	if (!rest.n)
		return (struct str){NULL, 0};
	*at += n + (n < rest.n);
	return (struct str){rest.p, n};
}

static bool is_said_by(struct str line, char who)
{
	return line.n >= 2 && line.p[0] == who && line.p[1] == ' ';
}

/* The next line that counts; comments are passed over. */
static struct str peek(struct replay *r)
{
	for (;;) {
		size_t at = r->at;
		struct str line = next_line(r, &at);

		if (!line.p || is_said_by(line, '<') || is_said_by(line, '>'))
			return line;
		r->at = at;
	}
}

static void set_readable(struct replay *r)
{
	struct str line = peek(r);
	bool is = !line.p || is_said_by(line, '<');
	eventfd_t n;

	if (is)
		(void)eventfd_write(r->readable, 1);
	else
		(void)eventfd_read(r->readable, &n);
}

static int replay_in_fd(const struct transport *t)
{
	const struct replay *r = (const struct replay *)t;

	return r->ended ? -1 : r->readable;
}

static int replay_out_fd(UNUSED const struct transport *t)
{
	return -1;
}

static ssize_t replay_receive(struct transport *t, char *into, size_t room)
{
	struct replay *r = (struct replay *)t;
	struct str line = peek(r);
	struct str rest;
	size_t n;

	if (!line.p)
		return 0;
	if (is_said_by(line, '>') || !room) {
		errno = EAGAIN;
		return -1;
	}
	rest = (struct str){line.p + 2 + r->given, line.n - 2 - r->given};
	n = rest.n < room ? rest.n : room;
	memcpy(into, rest.p, n);
	r->given += n;
	if (n == rest.n && n < room) {
		into[n++] = '\n';
		(void)next_line(r, &r->at);
		r->given = 0;
	}
	set_readable(r);
	return (ssize_t)n;
}

static struct str method_of(struct str line)
{
	struct err ignored = ERR_INIT;
	struct str v, method;

	if (scan_document(line, NULL, &v, &ignored) < 0 ||
	    !scan_get_some(v, "method", &method))
		return STR("an answer");
	return method;
}

static void compare(struct replay *r, struct str sent)
{
	struct str line = peek(r);
	struct str due = STR("nothing"), is = method_of(sent);

	if (is_said_by(line, '>')) {
		due = method_of((struct str){line.p + 2, line.n - 2});
		(void)next_line(r, &r->at);
	}
	if (!r->difference.n && !str_eq(due, is))
		buf_addf(&r->difference, "%.*s was sent, %.*s was due",
			 STR_ARG(is), STR_ARG(due));
}

static ssize_t replay_send(struct transport *t, struct str bytes)
{
	struct replay *r = (struct replay *)t;
	size_t n = bytes.n;

	if (r->deaf) {
		errno = EPIPE;
		return -1;
	}
	while (bytes.n) {
		size_t end = str_find(bytes, '\n');
		bool whole = end < bytes.n;

		buf_add(&r->sent, bytes.p, end);
		if (whole) {
			compare(r, buf_str(&r->sent));
			buf_clear(&r->sent);
		}
		bytes.p += end + whole;
		bytes.n -= end + whole;
	}
	set_readable(r);
	return (ssize_t)n;
}

static void replay_end_output(struct transport *t)
{
	((struct replay *)t)->deaf = true;
}

static void replay_end_input(struct transport *t)
{
	((struct replay *)t)->ended = true;
}

static void replay_free(struct transport *t)
{
	struct replay *r = (struct replay *)t;

	fd_closep(&r->readable);
	buf_release(&r->text);
	buf_release(&r->sent);
	buf_release(&r->difference);
	free(r);
}

static const struct transport_type replay_type = {
	.name = "replay",
	.in_fd = replay_in_fd,
	.out_fd = replay_out_fd,
	.receive = replay_receive,
	.send = replay_send,
	.end_output = replay_end_output,
	.end_input = replay_end_input,
	.free = replay_free,
};

/* transcript  copied; errors  ERR_SYS */
static inline int transport_replay(struct str transcript,
				   struct transport **ret, struct err *err)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct replay *r;

	if (fd < 0)
		return err_sys(err, errno, "a descriptor for the transcript");
	r = mem_zalloc(sizeof(*r));
	r->base.type = &replay_type;
	r->text = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->sent = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	r->difference = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	buf_add_str(&r->text, transcript);
	r->readable = fd;
	set_readable(r);
	*ret = &r->base;
	return 0;
}

/* The first message that the transcript does not have; "" when it has all.
   Only the methods are compared. */
static inline const char *transport_replay_difference(const struct transport *t)
{
	return buf_cstr(&((const struct replay *)t)->difference);
}

#endif
