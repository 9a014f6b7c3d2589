#include "gate/child/pass.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <time.h>

#include "gate/child/sys.h"

#define FDS_BYTES CMSG_SPACE(PASS_MAX * sizeof(int))

/*
 * Descriptors in flight are counted for all processes of a user (unix(7),
 * ETOOMANYREFS), and fewer as soon as others receive theirs.
 */
#define CROWDED_TRIES 600
#define CROWDED_WAIT_NS 5000000

/* Wait by a futex that nobody wakes: one of SECCOMP_CHILD_CALLS. */
static void wait_for_others(void)
{
	const struct timespec time = {.tv_nsec = CROWDED_WAIT_NS};
	const uint32_t word = 0;

	(void)sys_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time);
}

long pass_send(int sock, char byte, const int *fd, size_t n, unsigned flags)
{
	struct iovec data = {&byte, 1};
	union {
		struct cmsghdr head;
		char bytes[FDS_BYTES];
	} control;
	struct msghdr msg = {.msg_iov = &data, .msg_iovlen = 1};
	int *to = (int *)(void *)CMSG_DATA(&control.head);
	long r;

	if (n) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
	}
	for (size_t i = 0; i < n; i++)
		to[i] = fd[i];
	for (int tries = 1;; tries++) {
		r = sys_call(SYS_sendmsg, sock, &msg, flags);
		if (r == -ETOOMANYREFS && tries < CROWDED_TRIES)
			wait_for_others();
		else if (r != -EINTR)
			return r;
	}
}

long pass_take(int sock, int ret_fd[PASS_MAX], int flags)
{
	char byte;
	struct iovec data = {&byte, 1};
	union {
		struct cmsghdr head;
		char bytes[FDS_BYTES];
	} control = {.head = {.cmsg_type = 0}};
	struct msghdr msg = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const int *from = (int *)(void *)CMSG_DATA(&control.head);
	size_t n = 0;
	long r;

	do
		r = sys_call(SYS_recvmsg, sock, &msg, flags | MSG_CMSG_CLOEXEC);
	while (r == -EINTR);
	if (r <= 0)
		return r < 0 ? r : -EPIPE;
	if (!msg.msg_controllen)
		return 0;
	if (msg.msg_flags & MSG_CTRUNC || control.head.cmsg_type != SCM_RIGHTS)
		return -EMFILE;
	for (; CMSG_LEN((n + 1) * sizeof(int)) <= control.head.cmsg_len; n++)
		ret_fd[n] = from[n];
	return (long)n;
}

bool pass_receive(int sock, int flags, struct passed *ret)
{
	struct iovec data = {&ret->byte, 1};
	union {
		struct cmsghdr head;
		char bytes[FDS_BYTES + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct msghdr msg = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t r;

	ret->n = 0;
	ret->sender = 0;
	do
		r = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	if (r <= 0 || msg.msg_flags & MSG_CTRUNC)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c;
	     c = CMSG_NXTHDR(&msg, c)) {
		struct ucred who;

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS) {
			ret->n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(ret->fd, CMSG_DATA(c), ret->n * sizeof(int));
		} else if (c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&who, CMSG_DATA(c), sizeof(who));
			ret->sender = who.pid;
		}
	}
	return true;
}
