/*
 * What the owner does before there is a program: its own descriptors, session
 * and namespaces, and what has to be opened from in there.
 *
 * Raw system calls only, see child.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "gate/child/init_inner.h"
#include "gate/child/sys.h"

void init_must(struct launch *l, enum child_stage stage, long r)
{
	if (r < 0)
		child_fail(l, stage, r);
}

/* ---- into the namespaces ---- */

static long write_text(const char *path, const char *text)
{
	long fd = sys_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	long r, n = 0;

	if (fd < 0)
		return fd;
	while (text[n])
		n++;
	r = sys_call(SYS_write, fd, text, n);
	sys_call(SYS_close, fd);
	return r;
}

/* The runner may have ended before the signal of its death was asked for. */
static long check_runner(int sock)
{
	struct pollfd p = {.fd = sock};
	struct timespec now = {0};
	long r = sys_call(SYS_ppoll, &p, 1, &now, NULL, 0);

	if (r > 0 && p.revents & (POLLHUP | POLLERR))
		return -ESRCH;
	return r < 0 ? r : 0;
}

/* What is above moves out of the way first; then all of it into place. */
static long move_descriptors(const int from[N_FDS])
{
	int fd[N_FDS];

	for (int i = 0; i < N_FDS; i++) {
		fd[i] = from[i];
		if (fd[i] < 0 || fd[i] >= CHILD_FD(N_FDS))
			continue;
		fd[i] = (int)sys_call(SYS_fcntl, fd[i], F_DUPFD_CLOEXEC,
				      CHILD_FD(N_FDS));
		if (fd[i] < 0)
			return fd[i];
	}
	for (int i = 0; i < N_FDS; i++) {
		long r = fd[i] < 0 ? sys_call(SYS_close, CHILD_FD(i))
				   : sys_call(SYS_dup3, fd[i], CHILD_FD(i),
					      O_CLOEXEC);

		if (fd[i] >= 0 && r < 0)
			return r;
	}
	return sys_call(KERNEL_CLOSE_RANGE, CHILD_FD(N_FDS), ~0U, 0);
}

long init_leave_table(const struct launch *l)
{
	const uint64_t one = 1;
	long r;

	if (!l->table_end)
		return 0;
	r = sys_call(KERNEL_CLOSE_RANGE, l->table_end, ~0U,
		     CLOSE_RANGE_UNSHARE);
	if (r < 0)
		return r;
	return sys_call(SYS_write, l->table_left, &one, sizeof(one));
}

void init_join_namespaces(struct launch *l)
{
	int death = l->own_pids ? SIGKILL : CHILD_SIGNAL_END;

	init_must(l, STAGE_SESSION,
		  sys_call(SYS_prctl, PR_SET_PDEATHSIG, death, 0, 0, 0));
	if (!l->own_pids)
		init_must(l, STAGE_SESSION,
			  sys_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0,
				   0));
	init_must(l, STAGE_SESSION, sys_call(SYS_setsid, 0));
	/* ignored, it would have the kernel reap our children */
	init_must(l, STAGE_SESSION, child_default_signal(SIGCHLD));
	init_must(l, STAGE_CLOSE, move_descriptors(l->fd));
	init_must(l, STAGE_PARENT, check_runner(CHILD_FD(FD_SOCK)));
	if (!l->uid_map)
		return;
	init_must(l, STAGE_IDMAP, write_text("/proc/self/setgroups", "deny"));
	init_must(l, STAGE_IDMAP, write_text("/proc/self/uid_map", l->uid_map));
	init_must(l, STAGE_IDMAP, write_text("/proc/self/gid_map", l->gid_map));
	if (!l->keep_dumpable)
		sys_call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* ---- what is opened in there ---- */

/* As many as connections that the proxy serves at once. */
#define LISTEN_BACKLOG 256

static long listen_at(const struct child_listen *on)
{
	const int one = 1;
	long fd = sys_call(SYS_socket, on->v4.sin_family,
			   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	long r = 0;

	if (fd < 0)
		return fd;
	if (on->v4.sin_family == AF_INET6)
		r = sys_call(SYS_setsockopt, fd, IPPROTO_IPV6, IPV6_V6ONLY,
			     &one, sizeof(one));
	if (r >= 0)
		r = sys_call(SYS_bind, fd, &on->v4, on->bytes);
	if (r >= 0)
		r = sys_call(SYS_listen, fd, LISTEN_BACKLOG);
	return r < 0 ? r : fd;
}

long init_send_listeners(const struct launch *l)
{
	char byte = CHILD_SOCKETS;
	struct iovec data = {&byte, 1};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(CHILD_LISTEN_MAX * sizeof(int))];
	} control;
	struct msghdr msg = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(l->n_listen * sizeof(int)),
	};
	int *fd = (int *)(void *)CMSG_DATA(&control.head);
	long r;

	for (size_t i = 0; i < l->n_listen; i++) {
		r = listen_at(&l->listen[i]);
		if (r < 0)
			return r;
		fd[i] = (int)r;
	}
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(l->n_listen * sizeof(int));
	r = sys_call(SYS_sendmsg, CHILD_FD(FD_SOCK), &msg, 0);
	for (size_t i = 0; i < l->n_listen; i++)
		sys_call(SYS_close, fd[i]);
	return r;
}

long init_add_late_rules(const struct launch *l)
{
	for (size_t i = 0; i < l->n_late; i++) {
		struct landlock_path_attr rule = {.access = l->late[i].access};
		long r, fd;

		fd = sys_call(SYS_openat, AT_FDCWD, l->late[i].path,
			      O_PATH | O_CLOEXEC, 0);
		if (fd < 0)
			return fd;
		rule.fd = (int)fd;
		r = sys_call(KERNEL_LANDLOCK_ADD_RULE, CHILD_FD(FD_RULESET),
			     LANDLOCK_RULE_TYPE_PATH, &rule, 0);
		sys_call(SYS_close, fd);
		if (r < 0)
			return r;
	}
	return 0;
}

long init_open_program(struct launch *l)
{
	struct stat st = {.st_ino = 0};
	long fd, r;

	l->exec_fd = CHILD_FD(FD_EXEC);
	if (!l->exec_path)
		return 0;
	fd = sys_call(SYS_openat, AT_FDCWD, l->exec_path, O_PATH | O_CLOEXEC,
		      0);
	if (fd < 0)
		return fd;
	r = sys_call(SYS_newfstatat, fd, "", &st, KERNEL_AT_EMPTY_PATH);
	if (r < 0)
		return r;
	if (st.st_dev != l->exec_dev || st.st_ino != l->exec_ino)
		return -ESTALE;
	l->exec_fd = (int)fd;
	return 0;
}
