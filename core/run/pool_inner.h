/*
 * What the files of the pool share. Who uses one sees pool.h.
 *
 *	pool.c		users come and go; begin and end of processes
 *	pool_doubt.c	whether one is stuck
 *	pool_server.c	what a server is made of, from the plan of a step
 *	pool_key.c	which steps share one
 */
#ifndef CORE_RUN_POOL_INNER_H
#define CORE_RUN_POOL_INNER_H

#include "core/client/asks.h"
#include "core/run/env.h"
#include "core/run/pool.h"
#include "core/run/pool_doubt.h"
#include "core/run/remotes.h"

struct pool_server {
	struct pool *pool;
	unsigned char key[SHA256_BYTES];
	size_t expected;	   /* users that have not left */
	struct pool_user *users;   /* entered, and not left */
	struct pool_user *starter; /* of the process that runs */
	struct pool_user *last;	   /* it left, and waits for the end */
	struct client *client;	   /* owned; NULL: none runs */
	struct gate_request request;
	struct env env;
	struct arena arena;
	struct asks asks;	      /* what it asks of us; in the arena */
	struct sampling *sampler;     /* owned; NULL: it is not answered */
	struct remote_server *remote; /* owned; NULL: it is a program */
	bool is_wrong;		      /* it cannot be started, and why */
	struct err err;
	uint64_t message_max, stderr_max, timeout_ms; /* largest of all */
	uint64_t pause_ms, not_before_ns;	      /* of the next start */
	struct loop_timer timer; /* something is to be freed, or started */
	struct pool_doubt doubt;
	const char *afresh; /* why the next start is not the first; in the
			       arena; NULL: it is, or the last one left */
	struct pool_server *next;
};

struct pool {
	struct client_context ctx;
	const struct gate_policy *sampling_policy; /* NULL: nobody samples */
	const char *sampling_cwd;
	struct remotes *remotes; /* NULL: no server has a URL */
	struct credentials *credentials;
	struct pool_server *servers; /* owned */
};

/*
 * As the user's plan says; in no list yet, and without timer. One that can
 * never start is made as well: `is_wrong`, and `err` says why.
 *
 * key     of pool_key()
 */
struct pool_server *pool_server_new(struct pool *p, const struct pool_user *u,
				    const unsigned char key[SHA256_BYTES])
	MUST_USE;
/* With its client, which ends at once. */
void pool_server_free(struct pool_server *s);

#endif
