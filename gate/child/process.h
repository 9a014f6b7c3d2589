/*
 * Start and end of processes. Every process of the program is started here,
 * but for the program of a tree, which its init clones (gate/child/child.c).
 *
 *	process_share()	   runs a C function in our memory: init, helpers
 *	process_fork()	   runs a C function in a copy of our memory
 *	process_execute()  runs a file: the proxy, the browser, crontab
 *	process_again()	   runs this program once more
 *
 *	struct process p = PROCESS_NONE;
 *	if (process_share(entry, arg, CLONE_NEWUSER, &p) < 0)
 *		return err_sys(err, errno, "...");
 *	status = process_wait(&p);	or process_end(&p), process_abandon(&p)
 */
#ifndef GATE_CHILD_PROCESS_H
#define GATE_CHILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"

struct process {
	pid_t pid;   /* 0: there is none, or it is reaped */
	int pidfd;   /* owned */
	void *stack; /* of a process that shares our memory; owned */
};

#define PROCESS_NONE        \
	{                   \
		.pidfd = -1 \
	}

/*
 * Upper end of a stack that a program has until exec, to be given back when
 * nothing runs on it any more; NULL and errno when none can be mapped.
 */
void *process_exec_stack(void) MUST_USE;
void process_give_exec_stack(void *top);

/*
 * Start a process that shares our memory, with a stack of its own and all
 * signals blocked. Its end sends no signal: a runner that was started with
 * SIGCHLD ignored would have it reaped by the kernel, and its status lost.
 *
 * flags    namespaces, CLONE_FILES, or 0
 * returns  0, or -1 and errno; nothing is left of it then
 */
int process_share(int (*entry)(void *), void *arg, uint64_t flags,
		  struct process *ret) MUST_USE;

/* The word that is 0 when this process is dead, for those that share its
   memory: the kernel clears it before it sends PR_SET_PDEATHSIG. */
const int *process_word_of_life(void);

/* Start a process like fork(2), without a signal at its end, that ends with
   ours. 0, or -1 and errno. */
int process_fork(void (*entry)(const void *), const void *arg,
		 struct process *ret) MUST_USE;

/*
 * Start a process that executes a file, unconfined, in a session of its own:
 * a signal of the terminal is the runner's to answer. Signals are as a program
 * expects them; 0 to 2 are /dev/null, `first` and up are `fd`; all others are
 * closed.
 *
 * fd       borrowed; at most PROCESS_FDS
 * first    3; 0: `fd` are three, its input, output and errors
 * returns  0, or an errno
 */
int process_execute(const char *path, const char *const argv[],
		    const char *const envp[], const int *fd, size_t n_fds,
		    int first, struct process *ret) MUST_USE;
#define PROCESS_FDS 4

/*
 * Start a process that executes this very program, unconfined, in a session of
 * its own, and gets SIGTERM when ours ends. Signals are as a program expects
 * them; 0 to 3 are `fd`, all others are closed.
 *
 * returns  0, or -1 and errno; what fails before the program begins is its
 *	    status 127
 */
int process_again(const char *const argv[], const char *const envp[],
		  const int fd[4], struct process *ret) MUST_USE;

/* Milliseconds until then, rounded up, for poll(2); 0: the time is over. */
int process_left_ms(uint64_t until_ns) MUST_USE;
/* Wait until the process has ended, or until then: false. Does not reap. */
bool process_has_ended(const struct process *p, uint64_t until_ns) MUST_USE;

/*
 * Reap a process, however long its end takes, and give everything back.
 * Harmless where there is none.
 *
 * returns  its status as of waitpid(2); -1 when there was none
 */
int process_wait(struct process *p);
/* Kill, then wait. */
void process_end(struct process *p);
/*
 * Kill a process, and wait for its end as long as that takes no time. One that
 * a file system holds ends when that answers: process_reap() gives it back.
 */
void process_abandon(struct process *p);
void process_reap(void);

#endif
