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
	int diag; /* asked for by launch.asks_sockets; owned; -1 = none */
};

#define LAUNCHED_INIT                                             \
	{                                                         \
		.init = PROCESS_NONE, .listener = -1, .diag = -1, \
	}

/* Whether a child shares our table of descriptors for a moment; see below. */
struct table {
	bool is_shared;
};

/* A start that has begun: the launch is the child's until launch_wait(). */
struct launching {
	struct launch *l; /* borrowed */
	struct launched run;
	int sock; /* hung up when the start is over; owned */
	struct table table;
	bool is_late; /* the end cannot be waited for */
};

/*
 * Begin a start. Another one may be under way, unless either has .uid_map: our
 * memory is dumpable until such a start is over.
 *
 * errors  as launch_start(); nothing of it is left then
 */
int launch_begin(struct launch *l, uint64_t clone_flags, struct launching *ret,
		 struct err *err) MUST_USE;
/*
 * Wait for the end of the start. After it .run may be moved out, and .sock be
 * closed.
 *
 * errors  as launch_start(); launching_release() it then
 */
int launch_wait(struct launching *g, struct err *err) MUST_USE;
void launching_release(struct launching *g);

/*
 * Begin, and wait.
 *
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

/* ---- for tests ---- */

/*
 * A table of descriptors for the child of a runner that has many.
 *
 * clone() copies the whole table, and what a child does not need is closed one
 * by one there: with thousands of descriptors that is a tenth of a start. In
 * such a runner a child shares the table (CLONE_FILES) until it takes one of
 * its own, with what lies below .table_end only, by close_range() with
 * CLOSE_RANGE_UNSHARE: first of all, before it changes any descriptor. What it
 * needs comes in a message on FD_SOCK, which has a number that stays ours.
 *
 *	if (table_share(l, sock, &t))		FD_SOCK is such a number now
 *		flags |= CLONE_FILES;
 *	process_share(init_main, ...);		leaves it first of all
 *	table_wait(l, &t, &init);		the table is ours alone again
 *	...
 *	table_end(l, &t);			FD_SOCK is no number any more
 *
 * The child changes nothing in the table while it is shared, so another thread
 * may; what it copies by chance is closed as everything else is.
 */

/*
 * Descriptors from which a table is shared: twice as many as a runner with one
 * child has. Sharing costs two wake-ups, a copied descriptor about 0.1 µs.
 */
#define TABLE_MANY 128

/*
 * Nothing is done, and false returned, for a runner with few descriptors and
 * for one that can have no more. The child's end of the socket pair
 * (FD_SOCK) is closed in its old place: the kernel tells of its end when the
 * last one is.
 */
bool table_share(struct launch *l, int sock, struct table *ret) MUST_USE;

/*
 * Wait until the child has left the table, or has ended, and take away what
 * was put there for it.
 *
 * returns  0, or -1: it did neither in time, and was killed
 */
int table_wait(const struct launch *l, const struct table *t,
	       const struct process *init) MUST_USE;
/* Also where there was no child in the end. */
void table_end(struct launch *l, const struct table *t);

#endif
