/*
 * The owner of a process tree. In an own pid namespace it is pid 1, and its
 * end is the end of everything in there. Without one it is the subreaper that
 * every orphan of the tree comes to, and it ends the tree by hand.
 *
 * Raw system calls only, see child.h. It never runs as the program does: it
 * stays in the runner's memory, with all signals blocked, without descriptors.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "gate/child/init_inner.h"
#include "gate/child/sys.h"

/* ---- the life of the owner ---- */

static NORETURN void finish(struct child_state *state, bool own_pids,
			    int program)
{
	if (!own_pids)
		init_end_tree(state, program);
	for (;;)
		sys_call(SYS_exit_group, 0);
}

static uint64_t micros(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static void reap(struct child_state *state, int program)
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
			      int program)
{
	const uint64_t all = ~UINT64_C(0);

	for (;;) {
		siginfo_t info;
		long sig;

		reap(state, program);
		if (state->has_status)
			finish(state, own_pids, program);
		sig = sys_call(SYS_rt_sigtimedwait, &all, &info, NULL,
			       sizeof(all));
		if (sig <= 0 || sig == SIGCHLD)
			continue;
		if (sig == CHILD_SIGNAL_END)
			finish(state, own_pids, program);
		if (sys_call(SYS_kill, -program, sig) < 0)
			sys_call(SYS_kill, program, sig);
	}
}

/* ---- its beginning ---- */

/* What is left is to signal a program that may have become another user. */
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
 * while we wait, and leaves this frame and those above as they are. That it
 * never returns is not for the compiler to know, which could otherwise give
 * it this very frame.
 */
static __attribute__((noinline)) long clone_into_group(struct launch *l)
{
	struct kernel_clone_args args = {
		.flags = CLONE_VM | CLONE_VFORK | KERNEL_CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = CHILD_FD(FD_GROUP),
	};
	long pid;

	l->is_grouped = true;
	pid = sys_call(KERNEL_CLONE3, &args, sizeof(args));
	if (pid == 0)
		for (;;)
			sys_call(SYS_exit_group, child_main(l));
	if (pid < 0)
		l->is_grouped = false;
	return pid;
}

static long clone_program(struct launch *l)
{
	long pid = -ENOSYS;

	if (l->has_group_folder)
		pid = clone_into_group(l);
	if (pid < 0)
		pid = clone(child_main, l->program_stack,
			    CLONE_VM | CLONE_VFORK | SIGCHLD, l);
	return pid;
}

int init_main(void *arg)
{
	struct launch *l = arg;
	struct child_state *state = l->state;
	bool own_pids = l->own_pids;
	long program, mask;

	init_must(l, STAGE_CLOSE, init_leave_table(l));
	init_join_namespaces(l);
	/* folders of the view have the modes that are asked for */
	mask = sys_call(SYS_umask, 0);
	l->setup_step =
		setup_run(&l->setup, l->slots, CHILD_FD(FD_MAPS), &l->sys);
	sys_call(SYS_umask, mask);
	if (l->setup_step >= 0)
		child_fail(l, STAGE_SETUP, -l->sys);
	if (l->is_trial) {
		__atomic_store_n(&l->started, 1, __ATOMIC_RELEASE);
		child_fail(l, STAGE_NONE, 0);
	}
	if (l->n_listen)
		init_must(l, STAGE_LISTEN, init_send_listeners(l));
	if (l->fd[FD_RULESET] >= 0)
		init_must(l, STAGE_RULES, init_add_late_rules(l));
	init_must(l, STAGE_FILE, init_open_program(l));
	program = clone_program(l);
	if (program < 0)
		child_fail(l, STAGE_CLONE, -EAGAIN);
	if (l->stage != STAGE_NONE)
		child_fail(l, l->stage, -l->sys);
	__atomic_store_n(&l->started, 1, __ATOMIC_RELEASE);
	/* From here on the launch is not ours: closing the socket tells the
	   gate, which may free it. */
	drop_everything();
	own_tree(state, own_pids, (int)program);
}
