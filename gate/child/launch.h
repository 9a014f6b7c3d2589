/*
 * Starts an init with a finished struct launch and waits until the program is
 * executed or has failed. The only place that calls clone for programs.
 */
#ifndef GATE_CHILD_LAUNCH_H
#define GATE_CHILD_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/child/child.h"

/* Stack of an init; touched pages only are paid for. */
#define LAUNCH_STACK_BYTES (32 * 1024)

struct launched {
	int pidfd;     /* of the init; owned */
	pid_t init;    /* its process id */
	pid_t program; /* the host's id of the program, 0 when unknown */
	int listener;  /* of refused calls; owned; -1 = none */
	void *stack;   /* of the init; must live as long as it does */
	/* Sockets that init has opened in its network; owned. */
	int listen[CHILD_LISTEN_MAX];
	size_t n_listen;
};

#define LAUNCHED_INIT                                      \
	{                                                  \
		.pidfd = -1, .listener = -1, .stack = NULL \
	}

/*
 * clone_flags  namespaces, or 0
 * errors       what failed in the child, in words (ERR_SYS, ERR_PROTECTION);
 *		nothing of it is left then
 */
int launch_start(struct launch *l, uint64_t clone_flags, struct launched *ret,
		 struct err *err) MUST_USE;
/* Wait for the end of the init, without a limit; then give everything back. */
void launched_release(struct launched *d);
/* Close .listen; somebody else has got it, or nobody will. */
void launched_close_sockets(struct launched *d);

/*
 * Start a helper that does nothing in a new user namespace.
 * returns its process id, or -1 and errno; the caller ends it with
 *	   launch_end_helper().
 */
pid_t launch_helper(void) MUST_USE;
void launch_end_helper(pid_t pid);

/*
 * Can a child have a listener of its own? Tried in one that ends at once. An
 * outer sandbox may have the only one, and old kernels have none.
 */
bool launch_try_listener(void) MUST_USE;

#endif
