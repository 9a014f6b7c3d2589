/*
 * An MCP server at a URL: Streamable HTTP in both of its shapes (2025-03-26 to
 * 2025-11-25 with sessions, 2026-07-28 without), and HTTP+SSE (2024-11-05).
 *
 *	transport_remote(&options, &t, err)
 *	watch transport_in_fd(t) for reading
 *	transport_send(t, bytes)	takes all, one POST a message
 *	transport_next(t, &item)	until it gives TRANSPORT_NONE
 *	transport_end_output(t);	then TRANSPORT_OVER comes, within 2 s
 *	transport_free(t);
 *
 * The transport reads messages of both sides for the needs of HTTP: the era,
 * ids, names for headers. The meaning of a session stays with
 * core/mcp/session/session.h, with these exceptions, which are HTTP's own: a
 *session that the server lost is begun again and the refused message sent once
 *more; a stream that broke is resumed where the server said how; headers that
 *are made of arguments need the schema of the tool, which is asked for; a first
 *message that was refused without an answer becomes an error of JSON-RPC, so
 *that the session tries the other era.
 *
 * A request that may have been carried out is never sent twice, but for lists
 * and reads. One that was refused for being too much (429), or with a time to
 * come again, was not carried out: it is sent once more.
 *
 * source  MCP 2026-07-28 and 2025-11-25, basic/transports; 2024-11-05
 */
#ifndef CORE_TRANSPORT_REMOTE_H
#define CORE_TRANSPORT_REMOTE_H

#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/loop.h"
#include "core/transport/authorizer.h"
#include "core/transport/http.h"
#include "core/transport/reach.h"
#include "core/transport/transport.h"

/* For the last messages and DELETE, or the close of a WebSocket. */
#define REMOTE_END_MS 2000

enum remote_kind {
	REMOTE_AUTO, /* Streamable HTTP, and HTTP+SSE when it is none */
	REMOTE_HTTP,
	REMOTE_SSE,
};

struct remote_options {
	struct http *http; /* borrowed, as loop and auth */
	struct loop *loop;
	const char *url;	 /* http or https; copied */
	struct authorizer *auth; /* NULL: no credentials */
	struct reach reach;	 /* `arg` in it is borrowed */
	enum remote_kind kind;
	/* Called with each id of a session, which is a secret; may be NULL. */
	void (*on_session)(void *arg, struct str id);
	void *arg;	      /* first argument of on_session */
	uint64_t message_max; /* bytes; 0: LIMIT_MESSAGE_BYTES */
	uint64_t connect_ms;  /* 0: 10 s */
	uint64_t request_ms;  /* a Retry-After must fit in, with a quarter
				 of it left; 0: 60 s */
	uint64_t end_ms;      /* 0: REMOTE_END_MS */
};

/*
 * Nothing is connected yet; the first message does that.
 *
 * errors  ERR_SYNTAX  url is none, or not http and https
 *	   ERR_SYS
 */
int transport_remote(const struct remote_options *options,
		     struct transport **ret, struct err *err) MUST_USE;

/*
 * ---- WebSocket ----
 *
 * An MCP server that speaks WebSocket (ws://, wss://), as some do outside of
 * the specification: one message of text each way, sub-protocol `mcp`.
 *
 * A WebSocket begins as a request of HTTP, with the headers and credentials of
 * one; then it is a plain stream of messages, and the session is that of stdio.
 * Nothing is sent again when it breaks.
 *
 * source  RFC 6455
 */

/* Does this URL ask for it, by ws or wss? */
bool transport_is_websocket(const char *url) MUST_USE;

/*
 * As transport_remote(); `kind` is not read, http and https mean ws and wss.
 */
int transport_websocket(const struct remote_options *options,
			struct transport **ret, struct err *err) MUST_USE;

#endif
