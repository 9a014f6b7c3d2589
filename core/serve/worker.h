/*
 * Commands of matins, each in a process of its own, as a person would type
 * them: a run that takes long, crashes or is cancelled disturbs no other.
 *
 *	struct workers *all = workers_new(&loop);
 *	job = worker_start(all, &work);	begins when it is its turn
 *	... work.event(arg, line), work.done(arg, status, said)
 *	worker_stop(job);		nobody waits for it: no callback comes
 *	workers_stop(all);		the end: SIGTERM to all
 *	... loop_turn() until workers_are_idle(all)
 *	workers_free(all);
 */
#ifndef CORE_SERVE_WORKER_H
#define CORE_SERVE_WORKER_H

#include "core/base/err.h"
#include "core/base/loop.h"
#include "core/base/str.h"

/* Commands that run at one time; others wait for their turn. The next is of the
   client with the fewest that run, then of the session, then of the name. */
#define WORKERS_MAX 40
/* Of them for one client, which is what has a token, and for one session of it,
   so that others have a turn: names are no bound, since anybody may choose one
   anew. Requests of the newer era share a session. */
#define WORKERS_CLIENT 32
#define WORKERS_SESSION 24
/* Output of one, bytes. */
#define WORKER_OUTPUT_BYTES (256 * 1024 * 1024)
/* Time for an orderly end, milliseconds, before SIGKILL. */
#define WORKER_GRACE_MS 10000

struct workers;
struct worker;

struct work {
	const struct strlist *words;  /* behind "matins"; copied */
	struct str input;	      /* standard input; copied */
	const void *client, *session; /* only compared */
	const char *name;	      /* of the client, by itself; copied */
	/* a line that was written to descriptor 3; may be NULL */
	void (*event)(void *arg, struct str line);
	/* said: standard output; a status of -1: it could not be started, and
	   this is why. The worker is freed next. */
	void (*done)(void *arg, int status, struct str said);
	void *arg;
};

struct workers *workers_new(struct loop *loop) MUST_USE;
/* Kill what is left. Takes NULL. */
void workers_free(struct workers *all);
/* Begin a command now, or when others have ended; done() is never called before
   this returns. */
struct worker *worker_start(struct workers *all, const struct work *work)
	MUST_USE;
/* End it in order; no callback comes any more. */
void worker_stop(struct worker *w);
void workers_stop(struct workers *all);
bool workers_are_idle(const struct workers *all) MUST_USE;

#endif
