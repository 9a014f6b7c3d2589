#include "gate/child/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"

/* Stack of a process that shares our memory; touched pages only are paid for.
 */
#define STACK_BYTES (32 * 1024)
/* Stacks that are kept for the next process, their pages among them. */
#define STACKS_KEPT 8
/* Time that a killed process gets; one that nothing holds needs none. */
#define KILLED_MS 200

/* ---- C functions ---- */

static void *kept_stack[STACKS_KEPT];
static size_t n_kept_stacks;

static void *take_stack(void)
{
	void *p;

	if (n_kept_stacks)
		return kept_stack[--n_kept_stacks];
	p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1,
		 0);
	return p == MAP_FAILED ? NULL : p;
}

/* Of a process that nothing runs on any more. */
static void give_stack(void *stack)
{
	if (stack && n_kept_stacks < STACKS_KEPT)
		kept_stack[n_kept_stacks++] = stack;
	else if (stack)
		munmap(stack, STACK_BYTES);
}

static void *stack_top(void *stack)
{
	return stack ? (char *)stack + STACK_BYTES : NULL;
}

void *process_exec_stack(void)
{
	return stack_top(take_stack());
}

void process_give_exec_stack(void *top)
{
	give_stack((char *)top - STACK_BYTES);
}

const int *process_word_of_life(void)
{
	static int word;

	if (!word) {
		word = 1;
		kernel_clear_at_death(&word);
	}
	return &word;
}

/* Close and give back what belongs to a process that is reaped, or never was.
 */
static void release_process(struct process *p)
{
	int sys = errno;

	fd_closep(&p->pidfd);
	give_stack(p->stack);
	*p = (struct process)PROCESS_NONE;
	errno = sys;
}

int process_share(int (*entry)(void *), void *arg, uint64_t flags,
		  struct process *ret)
{
	struct process p = {.pidfd = -1, .stack = take_stack()};
	sigset_t all, before;
	int sys;

	if (!p.stack)
		return -1;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	p.pid = clone(entry, stack_top(p.stack),
		      (int)(CLONE_VM | CLONE_PIDFD | flags), arg, &p.pidfd);
	sys = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = sys;
	if (p.pid < 0) {
		release_process(&p);
		return -1;
	}
	*ret = p;
	return 0;
}

int process_fork(void (*entry)(const void *), const void *arg,
		 struct process *ret)
{
	struct process p = PROCESS_NONE;
	pid_t parent = getpid();

	p.pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD, NULL, &p.pidfd, NULL,
			       NULL);
	if (p.pid < 0)
		return -1;
	if (p.pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
		    getppid() == parent)
			entry(arg);
		_exit(0);
	}
	*ret = p;
	return 0;
}

/* ---- files ---- */

/* Descriptors of files begin here: those of the process have room below. */
#define ASIDE (3 + PROCESS_FDS)

/*
 * The process gets /dev/null thrice and the files, which are moved out of each
 * other's places first; default signals, and a session of its own.
 */
static int describe(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr,
		    const int *fd, int aside[PROCESS_FDS], size_t n_fds,
		    int first)
{
	sigset_t none, all;
	int r = 0;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
	r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID |
						   POSIX_SPAWN_SETSIGMASK |
						   POSIX_SPAWN_SETSIGDEF);
	for (int i = 0; i < 3 && r == 0; i++)
		r = posix_spawn_file_actions_addopen(files, i, "/dev/null",
						     O_RDWR, 0);
	for (size_t i = 0; i < n_fds && r == 0; i++) {
		aside[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, ASIDE);
		r = aside[i] < 0 ? errno
				 : posix_spawn_file_actions_adddup2(
					   files, aside[i], first + (int)i);
	}
	return r ? r
		 : posix_spawn_file_actions_addclosefrom_np(files,
							    first + (int)n_fds);
}

int process_execute(const char *path, const char *const argv[],
		    const char *const envp[], const int *fd, size_t n_fds,
		    int first, struct process *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	struct process p = PROCESS_NONE;
	int aside[PROCESS_FDS] = {-1, -1, -1, -1};
	int r = posix_spawnattr_init(&attr);

	if (r)
		return r;
	r = posix_spawn_file_actions_init(&files);
	if (r == 0) {
		r = describe(&files, &attr, fd, aside, n_fds, first);
		if (r == 0)
			r = posix_spawn(&p.pid, path, &files, &attr,
					(char *const *)argv,
					(char *const *)envp);
		posix_spawn_file_actions_destroy(&files);
	}
	posix_spawnattr_destroy(&attr);
	for (size_t i = 0; i < n_fds; i++)
		fd_closep(&aside[i]);
	if (r)
		return r;
	/* the process is not reaped, so the id is still its own */
	p.pidfd = kernel_pidfd_open(p.pid);
	if (p.pidfd < 0) {
		r = errno;
		process_end(&p);
		return r;
	}
	*ret = p;
	return 0;
}

struct again {
	const char *const *argv, *const *envp;
	const int *fd;
	pid_t parent;
};

static int take_places(const int fd[PROCESS_FDS])
{
	int aside[PROCESS_FDS];

	for (int i = 0; i < PROCESS_FDS; i++) {
		aside[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, ASIDE);
		if (aside[i] < 0)
			return -1;
	}
	for (int i = 0; i < PROCESS_FDS; i++)
		if (dup2(aside[i], i) < 0)
			return -1;
	return close_range(PROCESS_FDS, ~0U, 0);
}

/* A set-up that fails ends in 127, as a program that cannot start does. */
static void execute_again(const void *arg)
{
	const struct again *a = arg;
	sigset_t none;

	sigemptyset(&none);
	if (take_places(a->fd) == 0 && setsid() >= 0 &&
	    prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 &&
	    getppid() == a->parent && /* the parent may have ended before */
	    sigprocmask(SIG_SETMASK, &none, NULL) == 0)
		execve("/proc/self/exe", (char *const *)a->argv,
		       (char *const *)a->envp);
	_exit(127);
}

int process_again(const char *const argv[], const char *const envp[],
		  const int fd[4], struct process *ret)
{
	const struct again a = {argv, envp, fd, getpid()};

	return process_fork(execute_again, &a, ret);
}

/* ---- the end ---- */

int process_left_ms(uint64_t until_ns)
{
	uint64_t now = clock_system()->now_ns(clock_system());

	if (now >= until_ns)
		return 0;
	return (int)((until_ns - now + NS_PER_MS - 1) / NS_PER_MS);
}

bool process_has_ended(const struct process *process, uint64_t until_ns)
{
	struct pollfd p = {.fd = process->pidfd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, process_left_ms(until_ns));
	while (r < 0 && errno == EINTR);
	return r > 0;
}

int process_wait(struct process *p)
{
	int status = -1;

	while (p->pid > 0 && waitpid(p->pid, &status, __WALL) < 0 &&
	       errno == EINTR)
		;
	release_process(p);
	return status;
}

void process_end(struct process *p)
{
	if (p->pid > 0)
		kill(p->pid, SIGKILL);
	process_wait(p);
}

struct abandoned {
	struct process process;
	struct abandoned *next;
};

static struct abandoned *abandoned;

void process_reap(void)
{
	struct abandoned **at = &abandoned;

	while (*at) {
		struct abandoned *a = *at;

		if (waitpid(a->process.pid, NULL, __WALL | WNOHANG) == 0) {
			at = &a->next;
			continue;
		}
		release_process(&a->process);
		*at = a->next;
		free(a);
	}
}

void process_abandon(struct process *p)
{
	uint64_t now = clock_system()->now_ns(clock_system());
	struct abandoned *a = mem_alloc(sizeof(*a));

	*a = (struct abandoned){*p, abandoned};
	abandoned = a;
	*p = (struct process)PROCESS_NONE;
	kill(a->process.pid, SIGKILL);
	(void)!process_has_ended(&a->process, now + KILLED_MS * NS_PER_MS);
	process_reap();
}
