/*
 * The servers of one run. Steps that name the same server, with the same
 * policy, folder and environment, share one process and one session; steps
 * side by side have their calls in flight in it together.
 *
 *	pool_expect(p, &user)	for every step, before the first begins
 *	pool_enter(p, &user)	its turn: handler->opened(), now or later
 *	... client_call(user.client, …) ...
 *	pool_leave(p, &user)	once, whether it entered or not
 *	... handler->closed()
 *
 * The last that leaves ends the server. One that ended by itself, that nothing
 * could be asked of, or that answers nothing after a call was given up
 * is started again for the next step; where it failed, after a pause that
 * doubles each time (core/client/backoff.h). With reconnect = false one that
 * ended by itself is not.
 */
#ifndef CORE_RUN_POOL_H
#define CORE_RUN_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/sha256.h"
#include "core/client/client.h"
#include "core/run/plan.h"

struct credentials;
struct pool;
struct pool_server;
struct remotes;
struct scrub;
struct pool_user;

/* How the end of a server is hurried. */
enum pool_end {
	POOL_CLOSE,	/* stdin is closed, it should end */
	POOL_TERMINATE, /* SIGTERM now */
	POOL_KILL,	/* SIGKILL now, the whole tree */
};

struct pool_handler {
	/* user->client may be called; it need not be ready yet. */
	void (*opened)(struct pool_user *u);
	/* The server cannot be started. */
	void (*refused)(struct pool_user *u, const struct err *err);
	/*
	 * The process that this user started, or left as the last, has ended;
	 * client_verdict() and client_facts() say how. It is freed next.
	 */
	void (*closed)(struct pool_user *u, struct client *c);
	/*
	 * An event of the server itself; NULL: nobody is interested. Of ASKED,
	 * which the configuration does not answer, true: client_answer()
	 * follows.
	 */
	bool (*event)(struct pool_user *u, const struct client_event *e);
};

/* A step; the caller's, and must stay where it is. */
struct pool_user {
	const char *name;	      /* of the step */
	const struct plan_step *plan; /* borrowed */
	const char *const *env; /* "NAME=VALUE", ends in NULL; may be NULL;
				   borrowed until pool_enter() returned */
	const struct pool_handler *handler;
	void *arg;
	/* Stays longer, and has the server that this one calls; NULL, or with
	   none: that of the plan. */
	const struct pool_user *with;
	const void *apart; /* only users with an equal one share a server */
	struct mcp_declared can; /* questions that .event can answer */

	/* set by the pool */
	struct pool_server *server;
	struct client *client;	/* NULL before opened(), and after closed() */
	const char *session_of; /* the step that started it, when another */
	/* cause why the process before is gone, when this user started another;
	   lives as long as the pool */
	const char *afresh;
	bool is_entered;
	struct pool_user *next; /* of those that wait or work */
};

/* All of it is borrowed. */
struct pool_options {
	struct client_context client;
	/* Policy and folder of the programs that answer sampling
	   (core/client/asks.h); NULL: it is not answered. */
	const struct gate_policy *sampling_policy;
	const char *sampling_cwd;
	/* How servers with a URL are reached; NULL: no server has one. */
	struct remotes *remotes;
	struct credentials *credentials;
	struct tape *tape; /* sessions are recorded, or replayed; or NULL */
};

struct pool *pool_new(const struct pool_options *options) MUST_USE;
/* Free it; whatever runs ends at once. Takes NULL. */
void pool_free(struct pool *p);

/* user->name to .with are set, the rest is zeroed. */
void pool_expect(struct pool *p, struct pool_user *u);
/* opened() or refused() is called before this returns, or later. */
void pool_enter(struct pool *p, struct pool_user *u);
/*
 * Stand in for a user that has left and goes: what it began is told to this
 * one, which waits for the end if it is the last.
 *
 * u  NULL: it is told to whoever is the last
 */
void pool_take_over(struct pool *p, struct pool_user *u,
		    const struct pool_user *from);
/* End a server that is not ready, and that nobody waits for: the next that
 * enters starts another. u  is expected, and has not entered */
void pool_renew(struct pool_user *u);
/*
 * Leave the server. Harmless when it was not expected, or twice.
 *
 * how       but POOL_CLOSE: its call was given up
 * grace_ms  of the end, when it was the last
 * returns   true: it was, and closed() comes
 */
bool pool_leave(struct pool *p, struct pool_user *u, enum pool_end how,
		uint64_t grace_ms) MUST_USE;
/* Hurry the end that the user waits for; of every server where u is NULL. */
void pool_hurry(struct pool *p, const struct pool_user *u, enum pool_end how);
/*
 * Scrubber for texts about the user's server, where it knows more than that of
 * the run: that of struct remote_server. NULL: it does not; borrowed until
 * pool_free()
 */
struct scrub *pool_scrub(const struct pool_user *u) MUST_USE;
/* Recording of the last start of the user's server; NULL: none. Borrowed. */
struct recording *pool_taped(const struct pool_user *u) MUST_USE;
/* Does no server run? */
bool pool_is_idle(const struct pool *p) MUST_USE;

/*
 * Digest of all that two steps must have in common to share a server: program,
 * arguments, folder, policy, pinned protocol, environment. Values of the
 * environment are only in the digest, and the digest is only in memory.
 */
void pool_key(const struct plan_step *plan, const char *const *env,
	      unsigned char ret[SHA256_BYTES]);

#endif
