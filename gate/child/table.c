#include "gate/child/table.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/kernel.h"

/* Time to leave the table; a child that does nothing else needs none. */
#define LEAVE_MS 20000

/*
 * Numbers that stay ours from the first time on. Unused they are copies of
 * the first one, which a child that has left the table writes to.
 */
static int place[N_FDS + 1];
static size_t n_places;

static bool reserve_places(size_t n)
{
	while (n_places < n) {
		int fd = n_places ? fcntl(place[0], F_DUPFD_CLOEXEC, 0)
				  : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

		if (fd < 0)
			return false;
		place[n_places++] = fd;
	}
	return true;
}

static size_t count_descriptors(const int fd[N_FDS])
{
	size_t n = 0;

	for (size_t i = 0; i < N_FDS; i++)
		n += fd[i] >= 0;
	return n;
}

/* Take away the descriptors that were put there. */
static void clear_places(void)
{
	for (size_t i = 1; i < n_places; i++)
		(void)!dup3(place[0], place[i], O_CLOEXEC);
}

static bool put_descriptors(struct launch *l)
{
	size_t at = 1;

	for (size_t i = 0; i < N_FDS; i++) {
		if (l->fd[i] < 0)
			continue;
		if (dup3(l->fd[i], place[at], O_CLOEXEC) < 0)
			return false;
		l->fd[i] = place[at++];
	}
	return true;
}

bool table_share(struct launch *l, struct table *ret)
{
	struct table t = {.is_shared = false};

	*ret = t;
	l->table_end = 0;
	/* the last one that was opened; the kernel gives the lowest */
	if (l->fd[FD_SOCK] < TABLE_MANY ||
	    !reserve_places(count_descriptors(l->fd) + 1))
		return false;
	memcpy(t.before, l->fd, sizeof(t.before));
	if (!put_descriptors(l)) {
		memcpy(l->fd, t.before, sizeof(t.before));
		clear_places();
		return false;
	}
	close(t.before[FD_SOCK]);
	t.before[FD_SOCK] = -1;
	for (size_t i = 0; i < n_places; i++)
		if (place[i] >= l->table_end)
			l->table_end = place[i] + 1;
	l->table_left = place[0];
	t.is_shared = true;
	*ret = t;
	return true;
}

static int wait_to_leave(const struct process *init)
{
	struct pollfd p[2] = {{.fd = place[0], .events = POLLIN},
			      {.fd = init->pidfd, .events = POLLIN}};
	int r;

	do
		r = poll(p, 2, LEAVE_MS);
	while (r < 0 && errno == EINTR);
	if (r > 0)
		return 0;
	/* the child must not change the table any more when we do */
	kernel_pidfd_signal(init->pidfd, SIGKILL);
	while (poll(&p[1], 1, -1) < 0 && errno == EINTR)
		;
	return -1;
}

int table_wait(const struct launch *l, const struct table *t,
	       const struct process *init)
{
	uint64_t left;
	int r;

	if (!t->is_shared)
		return 0;
	r = wait_to_leave(init);
	(void)!read(l->table_left, &left, sizeof(left));
	clear_places();
	return r;
}

void table_end(struct launch *l, const struct table *t)
{
	if (!t->is_shared)
		return;
	clear_places();
	memcpy(l->fd, t->before, sizeof(t->before));
}
