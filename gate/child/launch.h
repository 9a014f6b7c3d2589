/*
 * Start of a tree: an init with a finished struct launch, until the program is
 * executed or has failed.
 */
#ifndef GATE_CHILD_LAUNCH_H
#define GATE_CHILD_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/child/child.h"
#include "gate/child/pass.h"
#include "gate/child/process.h"

struct launched {
	struct process init; /* owned */
	pid_t program;	     /* the host's id of the program, 0 when unknown */
	int listener;	     /* of refused calls; owned; -1 = none */
	/* Sockets that init has opened in its network; owned. */
	int listen[PASS_MAX];
	size_t n_listen;
};

#define LAUNCHED_INIT                                 \
	{                                             \
		.init = PROCESS_NONE, .listener = -1, \
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
/* Close .listen: the proxy has its own copies, or there is none. */
void launched_close_sockets(struct launched *d);

/*
 * Try whether a child can have a listener of its own, in one that ends at
 * once. An outer sandbox may have the only one, and old kernels have none.
 */
bool launch_try_listener(void) MUST_USE;

#endif
