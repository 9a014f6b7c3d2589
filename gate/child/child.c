/*
 * The program's process until exec. See child.h for what may be called here:
 * raw system calls on prepared data, nothing else.
 */
#include "gate/child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>

#include "gate/child/pass.h"
#include "gate/child/sys.h"

#define KERNEL_SIGNALS 64
/* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19 */
#define FLAG_WAIT_KILLABLE (1UL << 5)

/* include/linux/signal_types.h; libc's struct is another one */
struct kernel_sigaction {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

void child_fail(struct launch *l, enum child_stage stage, long r)
{
	l->stage = stage;
	l->sys = (int)-r;
	for (;;)
		sys_call(SYS_exit_group, 127);
}

long child_default_signal(int signal)
{
	struct kernel_sigaction action = {.handler = NULL};

	return sys_call(SYS_rt_sigaction, signal, &action, NULL,
			sizeof(action.mask));
}

void child_must(struct launch *l, enum child_stage stage, long r)
{
	if (r < 0)
		child_fail(l, stage, r);
}

long child_write_file(const char *path, const char *text)
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

static long connect_stdio(void)
{
	for (int i = 0; i < 3; i++) {
		long r = sys_call(SYS_dup3, CHILD_FD(FD_IN + i), i, 0);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * "0" stands for the process that writes it. A folder is behind the first door
 * where init could not clone into it; the second one then is the long way. From
 * inside of the group its namespace shows nothing above it.
 */
static long enter_group(const struct launch *l)
{
	for (int i = FD_GROUP; i <= FD_GROUP_LAST; i++) {
		long r;

		if (l->fd[i] < 0 || l->is_grouped ||
		    (l->has_group_folder && i == FD_GROUP))
			continue;
		r = sys_call(SYS_write, CHILD_FD(i), "0", 1);
		if (r < 0)
			return r;
	}
	/* extra; needs a privilege that no group does */
	if (l->fd[FD_GROUP] >= 0)
		sys_call(SYS_unshare, CLONE_NEWCGROUP);
	return 0;
}

/* Ignored signals and masks survive exec; handlers do not. */
static long default_signals(void)
{
	for (int i = 1; i <= KERNEL_SIGNALS; i++) {
		long r;

		if (i == SIGKILL || i == SIGSTOP)
			continue;
		r = child_default_signal(i);
		if (r < 0)
			return r;
	}
	return 0;
}

static long set_limits(const struct limit *limit)
{
	for (int i = 0; i < N_LIMITS; i++) {
		long r = sys_call(SYS_prlimit64, 0, limit[i].resource,
				  &limit[i].both, NULL);

		if (r < 0)
			return r;
	}
	return 0;
}

/* uid 0 means nothing any more, and no exec gives a capability. */
#define SECUREBITS                                                       \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |       \
	 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static long drop_privileges(const struct launch *l)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{.effective = 0}};
	long r;

	r = sys_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (r < 0)
		return r;
	/* refused where there are no capabilities that could be regained */
	sys_call(SYS_prctl, PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0);
	if (l->change_id) {
		r = sys_call(SYS_setgroups, 0, NULL);
		if (r >= 0)
			r = sys_call(SYS_setresgid, l->gid, l->gid, l->gid);
		if (r >= 0)
			r = sys_call(SYS_setresuid, l->uid, l->uid, l->uid);
		if (r < 0)
			return r;
	}
	/* takes the ambient set with it */
	r = sys_call(SYS_capset, &header, none);
	/* a change of identity has cleared it */
	if (r >= 0)
		r = sys_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return r;
}

/* Tell the gate that the program is about to be executed; the kernel adds our
   process id. */
static long report_exec(int listener)
{
	return pass_send(CHILD_FD(FD_SOCK), CHILD_REPORT, &listener,
			 listener >= 0, 0);
}

/*
 * From the first filter on, a refused call would wait for the gate, which
 * waits for our exec: only SECCOMP_CHILD_CALLS from here.
 */
static void install_filter(struct launch *l)
{
	long r = -EBUSY;

	/* a watched call waits so often that signals must not interrupt it */
	if (l->filter.len && l->serve)
		r = sys_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER |
				     FLAG_WAIT_KILLABLE,
			     &l->filter);
	if (l->filter.len && r < 0)
		r = sys_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER, &l->filter);
	if (r >= 0) {
		child_must(l, STAGE_REPORT, report_exec((int)r));
		return;
	}
	/* a task can have one listener, and that of an outer sandbox is
	   there, or it does not let us: refused calls stay unnamed */
	if (!l->filter_errno.len)
		child_must(l, STAGE_FILTER, r);
	child_must(l, STAGE_FILTER,
		   sys_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
			    &l->filter_errno));
	child_must(l, STAGE_REPORT, report_exec(-1));
}

int child_main(void *arg)
{
	struct launch *l = arg;
	uint64_t no_signals = 0;

	child_must(l, STAGE_GROUP, enter_group(l));
	child_must(l, STAGE_STDIO, connect_stdio());
	child_must(l, STAGE_SESSION, sys_call(SYS_setsid, 0));
	child_must(l, STAGE_SIGNALS, default_signals());
	child_must(l, STAGE_LIMITS, set_limits(l->limits));
	child_must(l, STAGE_IDENTITY, drop_privileges(l));
	child_must(l, STAGE_CWD, sys_call(SYS_chdir, l->cwd));
	if (l->fd[FD_RULESET] >= 0)
		child_must(l, STAGE_LANDLOCK,
			   sys_call(KERNEL_LANDLOCK_RESTRICT_SELF,
				    CHILD_FD(FD_RULESET), 0));
	install_filter(l);
	child_must(l, STAGE_SIGNALS,
		   sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, NULL,
			    sizeof(no_signals)));
	child_fail(l, STAGE_EXEC,
		   sys_call(SYS_execveat, l->exec_fd, "", l->argv, l->envp,
			    KERNEL_AT_EMPTY_PATH, l->exec_cookie));
}
