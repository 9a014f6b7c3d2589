/*
 * One program that runs under the gate: started, its stderr read, ended in
 * order with its whole tree. Its stdin and stdout belong to its
 * owner.
 *
 *	child_init(&c, &options);
 *	child_start(&c, gate, &request, err);
 *	... watch child_fds(&c).in and .out ...
 *	child_end(&c, CHILD_CLOSING);	it should end by itself, else it is made
 *to
 *	... handler->ended()
 *	child_release(&c);
 *
 * The orderly end: the owner closes stdin when all was written; grace_ms
 * later SIGTERM, as long again SIGKILL to the whole tree (STD-40, STD-41).
 */
#ifndef CORE_CLIENT_CHILD_H
#define CORE_CLIENT_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/loop.h"
#include "core/client/tail.h"
#include "core/secret/scrub.h"
#include "core/transport/transport.h"
#include "gate/gate.h"

#define CHILD_PHASES(X)                                   \
	X(NONE)	       /* not started */                  \
	X(RUNNING)     /* at work */                      \
	X(CLOSING)     /* should end by itself */         \
	X(TERMINATING) /* SIGTERM was sent */             \
	X(KILLING)     /* SIGKILL was sent to the tree */ \
	X(ENDED)       /* nothing of it runs any more */

enum child_phase {
#define X(name) CHILD_##name,
	CHILD_PHASES(X)
#undef X
};

/* Called from the loop. */
struct child_handler {
	/* The program was executed; or it was not, and why: then nothing else
	   comes. Only where child_start() did not wait: child_is_starting().
	   May be NULL where gate_request.may_follow is not set. */
	void (*started)(void *arg, const struct err *why_not);
	/* SIGTERM is next: write while there is room. May be NULL. */
	void (*last_words)(void *arg);
	/* No process writes any more: read stdout to its end. */
	void (*drain)(void *arg);
	/* The whole tree has ended; the verdict lives until child_release(). */
	void (*ended)(void *arg);
};

struct child_options {
	struct loop *loop;	   /* borrowed, as are the next two */
	const struct scrub *scrub; /* may be NULL */
	const char *name;	   /* for lines about it */
	uint64_t grace_ms;
	size_t stderr_max; /* bytes kept of its end */
	bool show_stderr;  /* copy its lines to our stderr */
	const struct child_handler *handler;
	void *arg;
};

struct child {
	struct child_options o;
	enum child_phase phase;
	struct gate_child *gate; /* owned; NULL before and after */
	struct loop_watch err_watch, pid_watch, notify_watch;
	struct loop_watch start_watch; /* until it is known how it started */
	struct loop_timer due;	       /* the start is, or calls that wait for
					  somebody else */
	struct loop_timer grace;
	struct tail err_tail; /* already scrubbed */
	struct scrub_stream err_scrub;
	struct buf err_line; /* not yet whole; with show_stderr */
	size_t scrubbed;     /* in stderr */
	bool is_starting;    /* child_is_starting() */
	bool killed;	     /* by SIGKILL, for it did not end in time */
	bool is_told_to;     /* to end, by a signal */
	bool is_cut;	     /* the end of stderr may be missing */
	char *program;	     /* path that ran; owned */
	pid_t pid;
	uint64_t begin_ns, end_ns;
	int64_t begin_wall_ns;
	struct gate_verdict verdict; /* when ENDED */
};

void child_init(struct child *c, const struct child_options *options);
/* errors  those of gate_spawn(); the phase is then still NONE */
int child_start(struct child *c, struct gate *gate,
		const struct gate_request *request, struct err *err) MUST_USE;
/* End at once whatever runs; the child may be initialized again. */
void child_release(struct child *c);

/* Ends of its pipes; -1 where closed. */
struct gate_child_fds child_fds(const struct child *c) MUST_USE;
/* Close our end of stdin or stdout (0, 1); the owner has unwatched it. */
void child_close_fd(struct child *c, int which);

/* The end of one that has ended, for a recording; borrowed from it. */
struct transport_exit child_exit(const struct child *c) MUST_USE;
/* Take the end of one that ran elsewhere; the child was never started. */
void child_end_as(struct child *c, const struct transport_exit *exit);

/*
 * End a child that runs, unless it is ended harder already.
 *
 * how  CHILD_CLOSING      it should end by itself, else SIGTERM after the grace
 *	CHILD_TERMINATING  SIGTERM now, SIGKILL after the grace
 *	CHILD_KILLING      SIGKILL now, to the whole tree
 */
void child_end(struct child *c, enum child_phase how);

/* Was the child started, and has it not ended? */
MUST_USE static inline bool child_is_live(const struct child *c)
{
	return c->phase != CHILD_NONE && c->phase != CHILD_ENDED;
}
/* Is it not known yet whether the program was executed? */
MUST_USE static inline bool child_is_starting(const struct child *c)
{
	return c->is_starting;
}
/* The end of its stderr; borrowed. */
struct str child_stderr(const struct child *c) MUST_USE;

#endif
