/* What a child that shares the table is sent, and that all of it is taken away
   again. */

#include "tests/unit/test.h"
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/attr.h"
#include "core/base/kernel.h"
#include "gate/child/launch.h"
#include "gate/child/pass.h"

static int many[TABLE_MANY];

static int open_many(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		many[i] = eventfd(0, EFD_CLOEXEC);
		if (many[i] < 0)
			return -1;
	}
	return 0;
}

static int close_many(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		close(many[i]);
	return 0;
}

FIXTURE(full_table, open_many, close_many);

struct start {
	struct launch l;
	int ours, in[2];
};

static void begin(struct start *s)
{
	int pair[2];

	*s = (struct start){.l = {.fd = LAUNCH_NO_FDS}};
	assert_int_equal(pipe(s->in), 0);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	s->ours = pair[0];
	s->l.fd[FD_SOCK] = pair[1];
	s->l.fd[FD_IN] = s->in[0];
}

static ino_t inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* The other end of the socket is closed everywhere. */
static bool is_hung_up(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 1 && p.revents & POLLHUP;
}

TEST(rows, few, are_copied)
{
	const struct process none = PROCESS_NONE;
	struct start s;
	struct table t;
	int sock;

	begin(&s);
	sock = s.l.fd[FD_SOCK];
	assert_false(table_share(&s.l, s.ours, &t));
	assert_int_equal(s.l.table_end, 0);
	assert_int_equal(s.l.fd[FD_SOCK], sock);
	assert_int_equal(s.l.fd[FD_IN], s.in[0]);
	assert_int_equal(table_wait(&s.l, &t, &none), 0);
	table_end(&s.l, &t);
	assert_int_equal(s.l.fd[FD_IN], s.in[0]);
	assert_false(is_hung_up(s.ours));
	close(sock);
	assert_true(is_hung_up(s.ours));
	close(s.ours);
	close(s.in[0]);
	close(s.in[1]);
}

/* Take what was sent, as the child does; one descriptor. */
static int take_one(const struct start *s)
{
	int fd[PASS_MAX];

	assert_int_equal(pass_take(s->l.fd[FD_SOCK], fd, 0), 1);
	return fd[0];
}

/* Twice: the number is kept, what was there the first time is not. */
TEST_IN(full_table, rows, many, are_sent)
{
	struct process us = {.pidfd = kernel_pidfd_open(getpid())};
	const uint64_t one = 1;
	int end = 0;

	assert_true(us.pidfd >= 0);
	for (int i = 0; i < 2; i++) {
		struct start s;
		struct table t;
		int sent;

		begin(&s);
		assert_true(table_share(&s.l, s.ours, &t));
		assert_true(s.l.fd[FD_SOCK] < s.l.table_end);
		assert_true(s.l.table_left < s.l.table_end);
		assert_true(i == 0 || s.l.table_end == end);
		end = s.l.table_end;
		/* the child reads its numbers until it is executed */
		assert_int_equal(s.l.fd[FD_IN], s.in[0]);
		assert_int_equal(s.l.fd[FD_OUT], -1);
		sent = take_one(&s);
		assert_int_not_equal(sent, s.in[0]);
		assert_int_equal(inode(sent), inode(s.in[0]));
		assert_false(is_hung_up(s.ours));

		/* as the child does */
		assert_int_equal(write(s.l.table_left, &one, sizeof(one)),
				 sizeof(one));
		assert_int_equal(table_wait(&s.l, &t, &us), 0);
		assert_true(is_hung_up(s.ours));
		table_end(&s.l, &t);
		assert_int_equal(s.l.fd[FD_IN], s.in[0]);
		assert_int_equal(s.l.fd[FD_SOCK], -1);
		close(sent);
		close(s.ours);
		close(s.in[0]);
		close(s.in[1]);
	}
	close(us.pidfd);
}

/* No clone: nothing stays where it was put. */
/* As of a start that only tries what the kernel lets it. */
TEST(message, without_descriptors, has_none)
{
	int pair[2], fd[PASS_MAX];

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(pass_send(pair[0], 0, NULL, 0, MSG_DONTWAIT), 1);
	assert_int_equal(pass_take(pair[1], fd, 0), 0);
	close(pair[0]);
	assert_int_equal(pass_take(pair[1], fd, 0), -EPIPE);
	close(pair[1]);
}

TEST_IN(full_table, many_rows, without_a_child, are_taken_away)
{
	struct start s;
	struct table t;

	begin(&s);
	assert_true(table_share(&s.l, s.ours, &t));
	table_end(&s.l, &t);
	assert_true(is_hung_up(s.ours));
	assert_int_equal(s.l.fd[FD_IN], s.in[0]);
	close(s.in[0]);
	/* nobody reads any more */
	{
		struct pollfd p = {.fd = s.in[1]};

		assert_int_equal(poll(&p, 1, 0), 1);
		assert_true(p.revents & POLLERR);
	}
	close(s.in[1]);
	close(s.ours);
}
