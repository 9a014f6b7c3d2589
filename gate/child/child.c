/*
 * Both processes between clone and exec. See child.h for what may be called
 * here: raw system calls on prepared data, nothing else. The memory is shared
 * with the runner, so no libc, no heap, no errno. Results are those of system
 * calls: negative is an errno.
 */
#include "gate/child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gate/child/pass.h"
#include "gate/child/sys.h"

#define KERNEL_SIGNALS 64
/* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19 */
#define FLAG_WAIT_KILLABLE (1UL << 5)

/* include/linux/signal_types.h; libc's struct is another one */
struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/* End the process: the launch has failed. */
static NORETURN void child_fail(struct launch *l, enum child_stage stage,
				long r)
{
	l->stage = stage;
	l->sys = (int)-r;
	for (;;)
		sys_call(SYS_exit_group, 127);
}

static long child_default_signal(int signal)
{
	struct kernel_sigaction action = {.handler = NULL};

	return sys_call(SYS_rt_sigaction, signal, &action, NULL,
			sizeof(action.mask));
}

/* Fail the launch when the result is negative. */
static void child_must(struct launch *l, enum child_stage stage, long r)
{
	if (r < 0)
		child_fail(l, stage, r);
}

/* Write a text to a file that exists. */
static long child_write_file(const char *path, const char *text)
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

/* ---- the view ---- */

/* Make the folders above a path, and the path itself as an empty place. */
static long make_place(const char *path, bool is_dir)
{
	char at[PATH_MAX];
	long r;
	size_t n;

	for (n = 0; path[n] && n + 1 < sizeof(at); n++) {
		if (n && path[n] == '/') {
			at[n] = '\0';
			/* EEXIST, EROFS: the folder is there */
			sys_call(SYS_mkdirat, AT_FDCWD, at, 0755);
		}
		at[n] = path[n];
	}
	at[n] = '\0';
	if (is_dir)
		r = sys_call(SYS_mkdirat, AT_FDCWD, at, 0755);
	else
		r = sys_call(SYS_mknodat, AT_FDCWD, at, S_IFREG | 0444, 0);
	return r == -EEXIST ? 0 : r;
}

/* Name of a private place in mountinfo, which `matins brief` looks for. */
#define PRIVATE_SOURCE "matins-private"

/* fd  the mount copy to attach; unused for LINK and TMPFS */
static long try_put(const struct setup_op *op, long fd)
{
	if (op->kind == SETUP_LINK)
		return sys_call(SYS_symlinkat, op->data, AT_FDCWD, op->path);
	if (op->kind == SETUP_TMPFS)
		return sys_call(SYS_mount, PRIVATE_SOURCE, op->path, "tmpfs",
				MS_NOSUID | MS_NODEV | MS_NOEXEC, op->data);
	return sys_call(KERNEL_MOVE_MOUNT, fd, "", AT_FDCWD, op->path,
			KERNEL_MOVE_MOUNT_F_EMPTY_PATH);
}

/* Put something at .path, which is made where it is missing. */
static long put_there(const struct setup_op *op, long fd)
{
	long r = try_put(op, fd);

	if (r != -ENOENT)
		return r;
	r = make_place(op->path, op->is_dir);
	/* only the folders above a link are wanted */
	if (r >= 0 && op->kind == SETUP_LINK)
		r = sys_call(SYS_unlinkat, AT_FDCWD, op->path, 0);
	return r < 0 ? r : try_put(op, fd);
}

static long open_copy(const struct setup_op *op)
{
	return sys_call(KERNEL_OPEN_TREE, AT_FDCWD, op->path,
			KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC |
				KERNEL_AT_RECURSIVE |
				(op->is_link ? AT_SYMLINK_NOFOLLOW : 0));
}

static long take_copy(const struct setup_op *op, int *slot)
{
	struct stat st = {.st_ino = 0};
	long fd = open_copy(op), r = 0;

	*slot = -1;
	if (fd < 0)
		return fd;
	if (op->ino)
		r = sys_call(SYS_newfstatat, fd, "", &st, KERNEL_AT_EMPTY_PATH);
	if (r >= 0 && op->ino && (st.st_dev != op->dev || st.st_ino != op->ino))
		r = -ESTALE;
	if (r >= 0)
		*slot = (int)fd;
	else
		sys_call(SYS_close, fd);
	return r < 0 ? r : 0;
}

/* Nothing that is mounted in a copy may travel back to where it is from. */
static long set_attributes(long fd, const char *path, unsigned flags,
			   uint64_t set, uint64_t clear)
{
	struct kernel_mount_attr attr = {
		.attr_set = set, .attr_clr = clear, .propagation = MS_PRIVATE};

	return sys_call(KERNEL_MOUNT_SETATTR, fd, path, flags, &attr,
			sizeof(attr));
}

#define WHOLE_COPY (KERNEL_AT_EMPTY_PATH | KERNEL_AT_RECURSIVE)

/*
 * Give a copy its attributes and its id map, and attach it.
 *
 * map_fd  the first of the descriptors of id maps, which stand in a row
 */
static long put_copy(const struct setup_op *op, int fd, int map_fd)
{
	struct kernel_mount_attr map = {.attr_set = KERNEL_MOUNT_IDMAP,
					.userns_fd =
						(uint64_t)(map_fd + op->idmap)};
	unsigned flags =
		op->is_recursive ? WHOLE_COPY : (unsigned)KERNEL_AT_EMPTY_PATH;
	long r = set_attributes(fd, "", WHOLE_COPY, op->set, op->clear);

	if (r >= 0 && op->idmap >= 0)
		r = sys_call(KERNEL_MOUNT_SETATTR, fd, "", flags, &map,
			     sizeof(map));
	return r < 0 ? r : put_there(op, fd);
}

static long mount_here(const struct setup_op *op)
{
	long fd = open_copy(op), r;

	if (fd < 0)
		return fd;
	r = set_attributes(fd, "", WHOLE_COPY, op->set, op->clear);
	if (r >= 0)
		r = put_there(op, fd);
	sys_call(SYS_close, fd);
	return r;
}

static long enter_copy(int fd)
{
	long r = set_attributes(fd, "", WHOLE_COPY, 0, 0);

	if (r >= 0)
		r = sys_call(KERNEL_MOVE_MOUNT, fd, "", AT_FDCWD, "/",
			     KERNEL_MOVE_MOUNT_F_EMPTY_PATH);
	if (r >= 0)
		r = sys_call(SYS_fchdir, fd);
	return r < 0 ? r : sys_call(SYS_chroot, ".");
}

/* The time tells left_count() that no program made or listed it. */
static void put_time(const char *path)
{
	const struct timespec times[2] = {{.tv_sec = LEFT_TIME},
					  {.tv_sec = LEFT_TIME}};

	sys_call(SYS_utimensat, AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static long put_link(const struct setup_op *op)
{
	long r = put_there(op, -1);

	if (r >= 0)
		put_time(op->path);
	return r == -EEXIST ? 0 : r;
}

static long bring_up(const char *name)
{
	struct ifreq req = {.ifr_flags = IFF_UP | IFF_RUNNING};
	long fd, r;

	for (size_t i = 0; name[i] && i + 1 < sizeof(req.ifr_name); i++)
		req.ifr_name[i] = name[i];
	fd = sys_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = sys_call(SYS_ioctl, fd, SIOCSIFFLAGS, &req);
	sys_call(SYS_close, fd);
	return r;
}

/* The loopback interface of a new network is its first. */
#define INDEX_LO 1

struct route_request {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr oif_head;
	uint32_t oif;
};

/* The answer of the kernel: an errno, 0 when it is done. */
static long ask_route(long fd, const struct route_request *ask)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} answer = {.head.nlmsg_type = NLMSG_NOOP};
	long r = sys_call(SYS_sendto, fd, ask, sizeof(*ask), 0, NULL, 0);

	if (r >= 0)
		r = sys_call(SYS_recvfrom, fd, &answer, sizeof(answer),
			     MSG_TRUNC, NULL, NULL);
	if (r < 0)
		return r;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.error.error
						     : -EPROTO;
}

/* Make every address of a family one of this machine, as 127.0.0.2 is. */
static long catch_all(unsigned char family)
{
	const struct route_request ask = {
		.head = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = RTM_NEWROUTE,
			 .nlmsg_flags =
				 NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE},
		.route = {.rtm_family = family,
			  .rtm_table = RT_TABLE_LOCAL,
			  .rtm_protocol = RTPROT_BOOT,
			  .rtm_scope = family == AF_INET ? RT_SCOPE_HOST
							 : RT_SCOPE_UNIVERSE,
			  .rtm_type = RTN_LOCAL},
		.oif_head = {.rta_len = RTA_LENGTH(sizeof(uint32_t)),
			     .rta_type = RTA_OIF},
		.oif = INDEX_LO,
	};
	long r, fd = sys_call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			      NETLINK_ROUTE);

	if (fd < 0)
		return fd;
	r = ask_route(fd, &ask);
	sys_call(SYS_close, fd);
	return r;
}

static long run_op(const struct setup_op *op, int *slots, int map_fd)
{
	switch (op->kind) {
	case SETUP_WRITE:
		return child_write_file(op->path, op->data);
	case SETUP_TAKE:
		return take_copy(op, &slots[op->slot]);
	case SETUP_HERE:
		return mount_here(op);
	case SETUP_ENTER:
		return enter_copy(slots[op->slot]);
	case SETUP_ATTR:
		return set_attributes(AT_FDCWD, op->path,
				      op->is_recursive ? KERNEL_AT_RECURSIVE
						       : 0,
				      op->set, op->clear);
	case SETUP_TMPFS:
		return put_there(op, -1);
	case SETUP_PROC:
		/* only what could be traced: with 2 group 0 sees everything */
		return sys_call(SYS_mount, "proc", op->path, "proc",
				MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
				"hidepid=4");
	case SETUP_PUT:
		return put_copy(op, slots[op->slot], map_fd);
	case SETUP_LINK:
		return put_link(op);
	case SETUP_LOOPBACK:
		return bring_up(op->path);
	case SETUP_CATCH:
		return catch_all(op->is_v6 ? AF_INET6 : AF_INET);
	}
	return -ENOSYS;
}

long setup_run(const struct setup_list *list, int *slots, int map_fd,
	       int *ret_sys)
{
	for (size_t i = 0; i < list->n; i++) {
		long r = run_op(&list->op[i], slots, map_fd);

		if (r < 0 && !list->op[i].is_optional) {
			*ret_sys = (int)-r;
			return (long)i;
		}
	}
	return -1;
}

/* ---- the program until exec ---- */

/*
 * "0" stands for the process that writes it. A folder is behind the first door
 * where init could not clone into it; the second one then is the long way. From
 * inside of the group its namespace shows nothing above it.
 */
static void enter_group(struct launch *l)
{
	for (int i = FD_GROUP; i <= FD_GROUP_LAST; i++) {
		long fd = CHILD_FD(i);

		if (l->fd[i] < 0 || l->is_grouped ||
		    (l->has_group_folder && i == FD_GROUP))
			continue;
		/* exec closes it */
		if (l->group_door)
			fd = sys_call(SYS_openat, fd, l->group_door,
				      O_WRONLY | O_CLOEXEC);
		child_must(l, STAGE_GROUP, fd);
		child_must(l, STAGE_GROUP, sys_call(SYS_write, fd, "0", 1));
	}
	/* extra; needs a privilege that no group does */
	if (l->fd[FD_GROUP] >= 0)
		sys_call(SYS_unshare, CLONE_NEWCGROUP);
}

/* uid 0 means nothing any more, and no exec gives a capability. */
#define SECUREBITS                                                       \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |       \
	 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* Add the rules of the base while the runner is at something else. A limit of
   descriptors comes later; exec closes these. */
static void add_base_rules(struct launch *l)
{
	struct landlock_path_attr rule;
	int fd[PASS_MAX];
	long n;

	if (l->fd[FD_RULESET] < 0)
		return;
	n = l->base_stays ? pass_take(CHILD_FD(FD_BASE), fd, MSG_PEEK)
			  : pass_take(CHILD_FD(FD_SOCK), fd, 0);
	/* .n_base is complete by now */
	if (n >= 0 && (size_t)n != l->n_base)
		n = -EMFILE;
	child_must(l, STAGE_RULES, n);
	for (long i = 0; i < n; i++) {
		rule = (struct landlock_path_attr){l->base[i], fd[i]};
		child_must(l, STAGE_RULES,
			   sys_call(KERNEL_LANDLOCK_ADD_RULE,
				    CHILD_FD(FD_RULESET),
				    LANDLOCK_RULE_TYPE_PATH, &rule, 0));
	}
}

static void drop_privileges(struct launch *l)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{.effective = 0}};
	const enum child_stage at = STAGE_IDENTITY;

	child_must(l, at, sys_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	/* refused where there are no capabilities that could be regained */
	sys_call(SYS_prctl, PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0);
	if (l->change_id) {
		child_must(l, at, sys_call(SYS_setgroups, 0, NULL));
		child_must(l, at,
			   sys_call(SYS_setresgid, l->gid, l->gid, l->gid));
		child_must(l, at,
			   sys_call(SYS_setresuid, l->uid, l->uid, l->uid));
	}
	/* takes the ambient set with it */
	child_must(l, at, sys_call(SYS_capset, &header, none));
	/* a change of identity has cleared it */
	child_must(l, at,
		   sys_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
}

/* Tell the gate that the program is about to be executed; the kernel adds our
   process id. */
static void report_exec(struct launch *l, int listener)
{
	child_must(l, STAGE_REPORT,
		   pass_send(CHILD_FD(FD_SOCK), CHILD_REPORT, &listener,
			     listener >= 0, 0));
}

static long install(const struct sock_fprog *filter, unsigned long flags)
{
	return sys_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter);
}

/*
 * From the first filter on, a refused call would wait for the gate, which
 * waits for our exec: only SECCOMP_CHILD_CALLS from here.
 */
static void install_filter(struct launch *l)
{
	const unsigned long listen = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long r = -EBUSY;

	/* a watched call waits so often that signals must not interrupt it */
	if (l->filter.len && l->serve)
		r = install(&l->filter, listen | FLAG_WAIT_KILLABLE);
	if (l->filter.len && r < 0)
		r = install(&l->filter, listen);
	if (r < 0) {
		/* a task can have one listener, and that of an outer sandbox is
		   there, or it does not let us: refused calls stay unnamed */
		if (!l->filter_errno.len)
			child_fail(l, STAGE_FILTER, r);
		child_must(l, STAGE_FILTER, install(&l->filter_errno, 0));
		r = -1;
	}
	report_exec(l, (int)r);
	/* a watched exec waits for the gate; the gate's copy alone must keep
	   the listener, which ends with the runner then */
	if (r >= 0 && !l->exec_cookie)
		sys_call(SYS_close, r);
}

/*
 * As a rule the gate was faster, and nothing is asked. Else it sends a byte;
 * the socket ends with the runner, so a killed one is not waited for.
 */
static void wait_for_leave(struct launch *l)
{
	uint32_t leave = LEAVE_WAIT;
	char byte;

	if (__atomic_compare_exchange_n(&l->leave, &leave, LEAVE_ASLEEP, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		long r = sys_call(SYS_read, CHILD_FD(FD_SOCK), &byte, 1);

		child_must(l, STAGE_PARENT, r ? r : -ESRCH);
		leave = __atomic_load_n(&l->leave, __ATOMIC_ACQUIRE);
	}
	if (leave == LEAVE_END)
		child_fail(l, STAGE_REPORT, -ECANCELED);
}

/*
 * Ignored signals and masks survive exec; handlers do not. The runner ignores
 * what it was started with and SIGPIPE, all before the first child, which
 * finds out for the others.
 */
static void reset_signals(struct launch *l)
{
	const struct kernel_sigaction by_default = {.handler = SIG_DFL};
	struct child_signals *known = l->signals;
	struct kernel_sigaction old = {.handler = SIG_DFL};

	for (int i = 1; i <= KERNEL_SIGNALS; i++) {
		uint64_t bit = UINT64_C(1) << (i - 1);

		if (i == SIGKILL || i == SIGSTOP ||
		    (known->are_known && !(known->ignored & bit)))
			continue;
		child_must(l, STAGE_SIGNALS,
			   sys_call(SYS_rt_sigaction, i, &by_default, &old,
				    sizeof(old.mask)));
		if (old.handler == SIG_IGN)
			known->ignored |= bit;
	}
	known->are_known = true;
}

/* A limit that is lower stays: root could raise it, others must not try. */
static void set_limits(struct launch *l)
{
	for (int i = 0; i < N_LIMITS; i++) {
		const struct limit *want = &l->limits[i];
		struct rlimit own = want->both;
		long r = sys_call(SYS_prlimit64, 0, want->resource, &want->both,
				  &own);

		if (r == -EPERM)
			r = sys_call(SYS_prlimit64, 0, want->resource, NULL,
				     &own);
		child_must(l, STAGE_LIMITS, r);
		if (own.rlim_max >= want->both.rlim_max)
			continue;
		own.rlim_cur = own.rlim_max;
		child_must(
			l, STAGE_LIMITS,
			sys_call(SYS_prlimit64, 0, want->resource, &own, NULL));
	}
}

int child_main(void *arg)
{
	struct launch *l = arg;
	uint64_t no_signals = 0;

	enter_group(l);
	for (int i = 0; i < 3; i++)
		child_must(l, STAGE_STDIO,
			   sys_call(SYS_dup3, CHILD_FD(FD_IN + i), i, 0));
	child_must(l, STAGE_SESSION, sys_call(SYS_setsid, 0));
	reset_signals(l);
	add_base_rules(l);
	set_limits(l);
	drop_privileges(l);
	child_must(l, STAGE_CWD, sys_call(SYS_chdir, l->cwd));
	if (l->fd[FD_RULESET] >= 0)
		child_must(l, STAGE_LANDLOCK,
			   sys_call(KERNEL_LANDLOCK_RESTRICT_SELF,
				    CHILD_FD(FD_RULESET), 0));
	install_filter(l);
	wait_for_leave(l);
	child_must(l, STAGE_SIGNALS,
		   sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, NULL,
			    sizeof(no_signals)));
	child_fail(l, STAGE_EXEC,
		   sys_call(SYS_execveat, l->exec_fd, "", l->argv, l->envp,
			    KERNEL_AT_EMPTY_PATH, l->exec_cookie));
}

/*
 * ---- the owner of the tree ----
 *
 * In an own pid namespace it is pid 1, and its end is the end of everything in
 * there. Without one it is the subreaper that every orphan of the tree comes
 * to, and it ends the tree by hand. It never runs as the program does: it
 * stays in the runner's memory, with all signals blocked, without descriptors.
 */

/* ---- into the namespaces ---- */

/*
 * Ask for a signal at the death of the runner, which may be dead by now. The
 * kernel clears the word first and sends the signals later, so one of both is
 * seen. Nothing else would tell: siblings hold copies of the runner's
 * descriptors for a moment, and in a pid namespace every parent is 0.
 */
static long end_with_runner(const struct launch *l)
{
	long r = sys_call(SYS_prctl, PR_SET_PDEATHSIG,
			  l->own_pids ? SIGKILL : CHILD_SIGNAL_END, 0, 0, 0);

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (r >= 0 && !__atomic_load_n(l->runner, __ATOMIC_ACQUIRE))
		return -ESRCH;
	return r;
}

/* Descriptors at our numbers move out of the way first, then all into place. */
static void move_descriptors(struct launch *l, int fd[N_FDS])
{
	int n = 0; /* up to the last one that is needed */

	for (int i = 0; i < N_FDS; i++) {
		if (fd[i] < 0)
			continue;
		n = i + 1;
		if (fd[i] >= CHILD_FD(N_FDS))
			continue;
		fd[i] = (int)sys_call(SYS_fcntl, fd[i], F_DUPFD_CLOEXEC,
				      CHILD_FD(N_FDS));
		child_must(l, STAGE_CLOSE, fd[i]);
	}
	for (int i = 0; i < n; i++)
		if (fd[i] < 0)
			sys_call(SYS_close, CHILD_FD(i));
		else
			child_must(l, STAGE_CLOSE,
				   sys_call(SYS_dup3, fd[i], CHILD_FD(i),
					    O_CLOEXEC));
	child_must(l, STAGE_CLOSE,
		   sys_call(KERNEL_CLOSE_RANGE, CHILD_FD(n), ~0U, 0));
}

/* First of all, before anything else changes a descriptor: it would be the
   runner's. What is not in the new table comes in a message.
   ret_fd  launch.fd as numbers of this table */
static void leave_table(struct launch *l, int ret_fd[N_FDS])
{
	const uint64_t one = 1;
	int fd[PASS_MAX];
	long n;

	for (int i = 0; i < N_FDS; i++)
		ret_fd[i] = l->fd[i];
	if (!l->table_end)
		return;
	child_must(l, STAGE_CLOSE,
		   sys_call(KERNEL_CLOSE_RANGE, l->table_end, ~0U,
			    CLOSE_RANGE_UNSHARE));
	child_must(l, STAGE_CLOSE,
		   sys_call(SYS_write, l->table_left, &one, sizeof(one)));
	n = pass_take(ret_fd[FD_SOCK], fd, 0);
	child_must(l, STAGE_CLOSE, n);
	for (int i = N_FDS - 1; i >= 0; i--)
		if (i != FD_SOCK && ret_fd[i] >= 0)
			ret_fd[i] = --n < 0 ? -1 : fd[n];
}

static void join_namespaces(struct launch *l, int fd[N_FDS])
{
	child_must(l, STAGE_PARENT, end_with_runner(l));
	if (!l->own_pids)
		child_must(l, STAGE_SESSION,
			   sys_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0,
				    0));
	/* signals of the terminal are for the runner */
	child_must(l, STAGE_SESSION, sys_call(SYS_setpgid, 0, 0));
	/* ignored, it would have the kernel reap our children */
	child_must(l, STAGE_SESSION, child_default_signal(SIGCHLD));
	move_descriptors(l, fd);
	if (!l->uid_map)
		return;
	child_must(l, STAGE_IDMAP,
		   child_write_file("/proc/self/setgroups", "deny"));
	child_must(l, STAGE_IDMAP,
		   child_write_file("/proc/self/uid_map", l->uid_map));
	child_must(l, STAGE_IDMAP,
		   child_write_file("/proc/self/gid_map", l->gid_map));
	if (!l->keep_dumpable)
		sys_call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* ---- what is opened in there ---- */

/* As many as connections that the proxy serves at once. */
#define LISTEN_BACKLOG 1024

static long set_option(long fd, int level, int name)
{
	const int one = 1;

	return sys_call(SYS_setsockopt, fd, level, name, &one, sizeof(one));
}

/* Addresses that no interface has are local here: SETUP_CATCH. */
static long prepare_socket(long fd, const struct child_socket *s)
{
	long r = 0;

	if (s->type == SOCK_RAW)
		return 0;
	if (s->at.any.sa_family == AF_INET6) {
		r = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY);
		if (r >= 0)
			r = set_option(fd, IPPROTO_IPV6, IPV6_FREEBIND);
	}
	if (r >= 0)
		r = sys_call(SYS_bind, fd, &s->at.v4, s->at.bytes);
	if (r >= 0 && s->type == SOCK_STREAM)
		r = sys_call(SYS_listen, fd, LISTEN_BACKLOG);
	return r;
}

static long open_socket(const struct child_socket *s)
{
	long fd = sys_call(SYS_socket, s->at.any.sa_family,
			   s->type | SOCK_CLOEXEC | SOCK_NONBLOCK,
			   s->type == SOCK_RAW ? IPPROTO_TCP : 0);
	long r;

	if (fd < 0)
		return fd;
	r = prepare_socket(fd, s);
	if (r >= 0)
		return fd;
	sys_call(SYS_close, fd);
	return r;
}

/* Open them in here, where the program is, and send them to the gate. */
static void send_sockets(struct launch *l)
{
	int fd[PASS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < l->n_listen; i++) {
		long r = open_socket(&l->listen[i]);

		if (!l->listen[i].is_optional)
			child_must(l, STAGE_LISTEN, r);
		if (r >= 0)
			fd[n++] = (int)r;
	}
	if (l->asks_sockets) {
		long r = sys_call(SYS_socket, AF_NETLINK,
				  SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

		child_must(l, STAGE_LISTEN, r);
		fd[n++] = (int)r;
	}
	if (!n)
		return;
	child_must(l, STAGE_LISTEN,
		   pass_send(CHILD_FD(FD_SOCK), CHILD_SOCKETS, fd, n, 0));
	while (n)
		sys_call(SYS_close, fd[--n]);
}

/* Add rules for paths that are only there in the view. */
static void add_late_rules(struct launch *l)
{
	for (size_t i = 0; l->fd[FD_RULESET] >= 0 && i < l->n_late; i++) {
		struct landlock_path_attr rule = {.access = l->late[i].access};
		long fd = sys_call(SYS_openat, AT_FDCWD, l->late[i].path,
				   O_PATH | O_CLOEXEC, 0);

		child_must(l, STAGE_RULES, fd);
		rule.fd = (int)fd;
		child_must(l, STAGE_RULES,
			   sys_call(KERNEL_LANDLOCK_ADD_RULE,
				    CHILD_FD(FD_RULESET),
				    LANDLOCK_RULE_TYPE_PATH, &rule, 0));
		sys_call(SYS_close, fd);
	}
}

/* The file as it stands in the view must be the one that was judged. */
static void open_program(struct launch *l)
{
	struct stat st = {.st_ino = 0};
	long fd;

	l->exec_fd = CHILD_FD(FD_EXEC);
	if (!l->exec_path)
		return;
	fd = sys_call(SYS_openat, AT_FDCWD, l->exec_path, O_PATH | O_CLOEXEC,
		      0);
	child_must(l, STAGE_FILE, fd);
	child_must(l, STAGE_FILE,
		   sys_call(SYS_newfstatat, fd, "", &st, KERNEL_AT_EMPTY_PATH));
	if (st.st_dev != l->exec_dev || st.st_ino != l->exec_ino)
		child_fail(l, STAGE_FILE, -ESTALE);
	l->exec_fd = (int)fd;
}

/* ---- the end of a tree without a pid namespace, process by process ---- */

/* Processes of the host that a sweep looks at in one round. */
#define SWEEP_ROWS 16384
#define SWEEP_BYTES 32768
/* Time from one round to the next at most. */
#define ROUND_NS 50000000

struct sweep_row {
	int pid, parent;
	bool is_ours;
};

struct sweep {
	struct sweep_row row[SWEEP_ROWS];
	int ours[SWEEP_ROWS + 1]; /* the owner, and who descends from it */
	size_t n;
	char dirents[SWEEP_BYTES];
};

static int read_number(const char *s, const char **ret_end)
{
	int n = 0;

	while (*s >= '0' && *s <= '9' && n < 100000000)
		n = n * 10 + (*s++ - '0');
	if (ret_end)
		*ret_end = s;
	return n;
}

/* The parent of a process: the second field behind the last ')' of stat. */
static int parent_of(int proc, const char *name)
{
	char path[32], text[512];
	const char *end = NULL;
	size_t n = 0;
	long fd, got;

	while (name[n] && n < 16) {
		path[n] = name[n];
		n++;
	}
	for (const char *s = "/stat"; *s; s++)
		path[n++] = *s;
	path[n] = '\0';
	fd = sys_call(SYS_openat, proc, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	got = sys_call(SYS_read, fd, text, sizeof(text) - 1);
	sys_call(SYS_close, fd);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	for (long i = 0; i < got; i++)
		if (text[i] == ')')
			end = &text[i];
	if (!end || end + 4 >= text + got)
		return 0;
	return read_number(end + 4, NULL);
}

static void list_processes(struct sweep *s)
{
	long proc = sys_call(SYS_openat, AT_FDCWD, "/proc",
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long got;

	s->n = 0;
	if (proc < 0)
		return;
	while ((got = sys_call(SYS_getdents64, proc, s->dirents,
			       sizeof(s->dirents))) > 0) {
		for (long at = 0; at < got && s->n < SWEEP_ROWS;) {
			struct linux_dirent64 *d = (void *)&s->dirents[at];
			const char *end;
			int pid = read_number(d->name, &end);

			if (pid && !*end)
				s->row[s->n++] = (struct sweep_row){
					pid, parent_of((int)proc, d->name),
					false};
			at += d->reclen;
		}
	}
	sys_call(SYS_close, proc);
}

/* Signal all processes that descend from us; returns how many there are. */
static size_t signal_tree(struct sweep *s, int self, int sig)
{
	size_t n = 1;

	list_processes(s);
	s->ours[0] = self;
	for (size_t at = 0; at < n; at++)
		for (size_t i = 0; i < s->n; i++)
			if (!s->row[i].is_ours &&
			    s->row[i].parent == s->ours[at]) {
				s->row[i].is_ours = true;
				s->ours[n++] = s->row[i].pid;
			}
	for (size_t i = 1; i < n; i++)
		sys_call(SYS_kill, s->ours[i], sig);
	return n - 1;
}

/* Reap the children that have ended; true when none is left. */
static bool reap_all(void)
{
	long r;

	do
		r = sys_call(SYS_wait4, -1, NULL, WNOHANG, NULL);
	while (r > 0);
	return r == -ECHILD;
}

/*
 * Stop first, so that nothing can fork away while it is being ended; then
 * kill. A missed process becomes our child once its parent has ended, so the
 * rounds go on until wait says that there is none; the next one does not wait
 * for the end of what was missed.
 */
static void sweep_tree(struct sweep *s)
{
	const struct timespec most = {.tv_nsec = ROUND_NS};
	const uint64_t child = UINT64_C(1) << (SIGCHLD - 1);
	int self = (int)sys_call(SYS_getpid, 0);

	while (!reap_all()) {
		size_t before = 0, found;

		while ((found = signal_tree(s, self, SIGSTOP)) > before)
			before = found;
		signal_tree(s, self, SIGKILL);
		sys_call(SYS_rt_sigtimedwait, &child, NULL, &most,
			 sizeof(child));
	}
}

/* program  leader of the process group that most of the tree is in
   returns  false: some of it may be left */
static bool end_tree(struct child_state *state, int program)
{
	long map;

	/* the usual tree is one process group, or nothing any more */
	sys_call(SYS_kill, -program, SIGKILL);
	if (!state->has_status)
		sys_call(SYS_wait4, program, NULL, 0, NULL);
	if (reap_all())
		return true;
	map = sys_call(SYS_mmap, NULL, sizeof(struct sweep),
		       PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map < 0 && map > -4096)
		return false;
	sweep_tree((struct sweep *)map);
	sys_call(SYS_munmap, map, sizeof(struct sweep));
	return true;
}

/* ---- the life of the owner ---- */

static NORETURN void end_owner(struct child_state *state, bool own_pids,
			       int program)
{
	bool is_over = own_pids || end_tree(state, program);

	for (;;)
		sys_call(SYS_exit_group, is_over ? 0 : 1);
}

static uint64_t micros(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static void reap_children(struct child_state *state, int program)
{
	for (;;) {
		struct rusage usage = {.ru_maxrss = 0};
		int status = 0;
		long pid = sys_call(SYS_wait4, -1, &status, WNOHANG, &usage);

		if (pid <= 0)
			return;
		if ((uint64_t)usage.ru_maxrss > state->max_rss_kib)
			state->max_rss_kib = (uint64_t)usage.ru_maxrss;
		if (pid != program)
			continue;
		state->wait_status = status;
		state->cpu_us =
			micros(&usage.ru_utime) + micros(&usage.ru_stime);
		__atomic_store_n(&state->has_status, 1, __ATOMIC_RELEASE);
	}
}

static NORETURN void own_tree(struct child_state *state, bool own_pids,
			      enum launch_left counts, int program)
{
	const uint64_t all = ~UINT64_C(0);

	for (;;) {
		siginfo_t info;
		long sig;

		reap_children(state, program);
		if (state->has_status) {
			left_count(&state->left, counts ? "." : NULL,
				   counts == LEFT_IN_HOME);
			end_owner(state, own_pids, program);
		}
		sig = sys_call(SYS_rt_sigtimedwait, &all, &info, NULL,
			       sizeof(all));
		if (sig <= 0 || sig == SIGCHLD)
			continue;
		if (sig == CHILD_SIGNAL_END)
			end_owner(state, own_pids, program);
		if (sys_call(SYS_kill, -program, sig) < 0)
			sys_call(SYS_kill, program, sig);
	}
}

/* ---- its beginning ---- */

/*
 * Stay in the folder whose files are counted at the end, and see files as the
 * program does: without capabilities root may not look into its folders.
 */
static void enter_counted(struct launch *l, int program)
{
	if (l->left)
		sys_call(SYS_chdir, l->counted);
	if (!l->change_id)
		return;
	sys_call(SYS_setfsgid, l->gid);
	sys_call(SYS_setfsuid, l->uid);
	/* both are lost with a change of identity */
	if (l->keep_dumpable)
		sys_call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (end_with_runner(l) == -ESRCH)
		end_owner(l->state, l->own_pids, program);
}

/* Keep one capability: to signal a program that may be another user. */
static void drop_everything(void)
{
	const uint32_t kill = 1U << CAP_KILL;
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct rest[2] = {
		{.effective = kill, .permitted = kill}};

	sys_call(KERNEL_CLOSE_RANGE, 0, ~0U, 0);
	/* EPERM where there never was any */
	sys_call(SYS_capset, &header, rest);
}

/*
 * As vfork() does: the program's process runs further down on this stack
 * while we wait, and leaves this frame and those above as they are. The call
 * goes through a volatile pointer: neither that it never returns nor its body
 * is for the compiler to know, which could otherwise give it this very frame.
 */
static __attribute__((noinline)) long clone_into_group(struct launch *l)
{
	struct kernel_clone_args args = {
		.flags = CLONE_VM | CLONE_VFORK | KERNEL_CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = CHILD_FD(FD_GROUP),
	};
	int (*volatile enter)(void *) = child_main;
	long pid;

	l->is_grouped = true;
	pid = sys_call(KERNEL_CLONE3, &args, sizeof(args));
	if (pid == 0)
		for (;;)
			sys_call(SYS_exit_group, enter(l));
	if (pid < 0)
		l->is_grouped = false;
	return pid;
}

int init_main(void *arg)
{
	struct launch *l = arg;
	struct child_state *state = l->state;
	enum launch_left counts = l->left;
	bool own_pids = l->own_pids;
	long program, mask;
	int fd[N_FDS];

	leave_table(l, fd);
	join_namespaces(l, fd);
	/* folders of the view have the modes that are asked for */
	mask = sys_call(SYS_umask, 0);
	l->setup_step =
		setup_run(&l->setup, l->slots, CHILD_FD(FD_MAPS), &l->sys);
	sys_call(SYS_umask, mask);
	if (l->setup_step >= 0)
		child_fail(l, STAGE_SETUP, -l->sys);
	if (l->marks_counted)
		put_time(l->counted);
	if (l->is_trial) {
		__atomic_store_n(&l->started, 1, __ATOMIC_RELEASE);
		child_fail(l, STAGE_NONE, 0);
	}
	send_sockets(l);
	add_late_rules(l);
	open_program(l);
	program = l->has_group_folder ? clone_into_group(l) : -ENOSYS;
	if (program < 0)
		program = clone(child_main, l->program_stack,
				CLONE_VM | CLONE_VFORK | SIGCHLD, l);
	if (program < 0)
		child_fail(l, STAGE_CLONE, -EAGAIN);
	if (l->stage != STAGE_NONE)
		child_fail(l, l->stage, -l->sys);
	__atomic_store_n(&l->started, 1, __ATOMIC_RELEASE);
	if (counts || state->left.n_named)
		enter_counted(l, (int)program);
	/* From here on the launch is not ours: closing the socket tells the
	   gate, which may free it. */
	drop_everything();
	own_tree(state, own_pids, counts, (int)program);
}
