/*
 * A client on standard input and output.
 *
 *	pipe_client_open(&c, &loop, &info, arg, err);
 *	... loop_turn() until pipe_client_is_over(&c)
 *	pipe_client_release(&c);
 *
 * Nothing that the client does holds the loop up: what it does not read waits,
 * and nothing more is read of it meanwhile. Progress that it does not read is
 * left out.
 */
#ifndef CORE_SERVE_PIPE_H
#define CORE_SERVE_PIPE_H

#include "core/base/loop.h"
#include "core/server/server.h"

struct pipe_client {
	struct loop *loop;
	struct server_session session;
	struct loop_watch in, out;
	struct loop_timer again; /* for a file, which no loop can watch */
	struct buf waiting;	 /* bytes that the client has not read */
	size_t written;		 /* of them */
	bool is_socket;		 /* standard output */
	bool is_pipe;		 /* standard output, with RWF_NOWAIT */
	bool in_ended, out_broke;
	bool is_reading; /* answers go out when all of a portion is read */
};

/* Standard input and output belong to it; arg  of the methods; errors  ERR_SYS
 */
int pipe_client_open(struct pipe_client *c, struct loop *loop,
		     const struct server_info *info, void *arg, struct err *err)
	MUST_USE;
/* Has the client gone, or is everything that it asked for answered and read?
 */
bool pipe_client_is_over(const struct pipe_client *c) MUST_USE;
/* Open calls are gone. Harmless twice, and where it was never opened. */
void pipe_client_release(struct pipe_client *c);

#endif
