/*
 * The link of a client to its server: a session, the transport that carries
 * its messages, and the process behind the transport where there is one.
 *
 * Each function does one step and returns its outcome; client.c decides how to
 * go on. No function here calls back to a user of the client.
 */
#ifndef CORE_CLIENT_LINK_H
#define CORE_CLIENT_LINK_H

#include "core/client/child.h"
#include "core/client/facts.h"
#include "core/mcp/session/session.h"
#include "core/transport/transport.h"

/* A budget of link_read() for all that there is. */
#define LINK_TO_THE_END SIZE_MAX

struct link {
	struct loop *loop;	     /* borrowed, as is the next */
	const struct scrub *scrub;   /* may be NULL */
	struct child child;	     /* never started for a remote server */
	struct transport *transport; /* owned; NULL where nothing runs */
	struct session *session;     /* owned; NULL before the first start */
	struct loop_watch in, out;   /* of the transport */
	uint64_t bytes_in;
	uint32_t restarts;
	/* Facts of a remote transport, kept when it is gone: JSON; owned. */
	struct buf remote_facts;
	/* Adds to them, as client_options.open_facts; may be NULL. */
	void (*open_facts)(void *open_arg, struct jw *w);
	void *open_arg;
};

enum link_news {
	LINK_QUIET, /* nothing to read, or the budget is used up */
	LINK_NEWS,  /* the session has read something: look at its events */
	LINK_OVER,  /* a remote server has said all that it will */
};

/* Start the program and open its pipes. errors  those of gate_spawn() */
int link_spawn(struct link *l, struct gate *gate,
	       const struct gate_request *request, struct err *err) MUST_USE;
/* Start a session over the transport, in place of the session before it. */
void link_begin(struct link *l, const struct session_options *options);
/* Free the transport; session and facts stay. */
void link_drop(struct link *l);
/* End everything at once. */
void link_release(struct link *l);

/*
 * Read one portion into the session.
 * budget  bytes that may be read, counted down; or LINK_TO_THE_END
 */
enum link_news link_read(struct link *l, size_t *budget) MUST_USE;
/* Write the output of the session; wait for room where there is none. */
void link_flush(struct link *l);
/* Read no more: the session hears the end of its input. */
void link_end_input(struct link *l);
/* Write no more. */
void link_end_output(struct link *l);
/* The server reads no more; its stdout tells the rest (STD-17). */
void link_output_broke(struct link *l);

/* Is there no process of ours behind it? */
bool link_is_remote(const struct link *l) MUST_USE;
/* Does the program print a CallToolResult, instead of being a server? */
bool link_prints_result(const struct link *l) MUST_USE;
/* Empty before the first start; borrowed. */
const struct mcp_peer *link_server(const struct link *l) MUST_USE;
const struct session_stats *link_stats(const struct link *l) MUST_USE;
/* Append the members of client_facts() to an open object. */
void link_write_facts(struct link *l, struct cleaner *clean, struct jw *w);
/* Does the server speak a revision whose requests stand alone? */
bool link_is_modern(const struct link *l) MUST_USE;

#endif
