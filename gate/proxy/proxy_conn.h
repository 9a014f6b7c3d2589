/*
 * One connection of a proxy, a state machine over two sockets. It never waits;
 * the loop does:
 *
 *	conn_open(l, c, client, listener);
 *	conn_events(c, &client, &server);        what to poll for
 *	c->client_is = ..., c->server_is = ...  what was found
 *	conn_step(l, c);
 *	conn_expire(l, c);                    when .deadline_ns has passed
 *
 * Each of the last two may end it: it is CONN_FREE then, nothing of it is
 * left, and its place can be used again. The bytes are those of a hostile
 * program.
 */
#ifndef GATE_PROXY_PROXY_CONN_H
#define GATE_PROXY_PROXY_CONN_H

#include "core/base/clock.h"
#include "gate/child/pass.h"
#include "gate/proxy/proxy_lookup.h"
#include "gate/proxy/proxy_request.h"
#include "gate/proxy/proxy_share.h"

/* Served at once; what comes beyond waits in the queue of the kernel. */
#define PROXY_CONNECTIONS 256

enum conn_state {
	CONN_FREE,
	CONN_REQUEST, /* the head is being read */
	CONN_LOOKUP,
	CONN_CONNECT,
	CONN_OPEN,  /* bytes go both ways */
	CONN_ANSWER /* a refusal is being written; then the end is awaited */
};

struct conn {
	enum conn_state state;
	int client, server;
	bool is_forward;
	bool greeted;
	enum proxy_speaks speaks;
	struct endpoint_target target;
	enum endpoint_grant grant;
	struct lookup *lookup;
	struct address address[LOOKUP_ADDRESSES];
	size_t n_addresses, at;
	enum proxy_outcome outcome; /* of the last address that was tried */
	uint64_t deadline_ns;	    /* 0 = none */
	struct pipe *up, *down;	    /* to the server, to the client; owned */
	short client_is, server_is; /* events that poll() found */
};

struct proxy_loop {
	const struct passed *sockets;
	const struct endpoint *rows;
	size_t n_rows;
	const struct address *own;
	size_t n_own;
	struct proxy_share *share;
	struct clock *clock;
	uint64_t now_ns, pause_ns;
	int signals;
	size_t n_conns;
	struct conn conn[PROXY_CONNECTIONS];
};

/*
 * Begin with a client.
 *
 * c         one that is CONN_FREE
 * client    taken
 * listener  0: the proxy's own; n: that of the n-th FORWARD row
 */
void conn_open(struct proxy_loop *l, struct conn *c, int client,
	       size_t listener);
/* Events of poll() for its two sockets; 0: leave that one out. */
void conn_events(const struct conn *c, short *ret_client, short *ret_server);
/* Go on with what .client_is and .server_is say. */
void conn_step(struct proxy_loop *l, struct conn *c);
void conn_expire(struct proxy_loop *l, struct conn *c);

#endif
