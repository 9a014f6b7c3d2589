/*
 * What the files of the WebSocket transport share.
 *
 *	websocket.c	  its life, frames in and out, the end
 *	websocket_open.c  credentials, the connection, the handshake
 */
#ifndef CORE_TRANSPORT_WEBSOCKET_INNER_H
#define CORE_TRANSPORT_WEBSOCKET_INNER_H

#include "core/base/arena.h"
#include "core/base/url.h"
#include "core/mcp/wire/websocket.h"
#include "core/transport/http_head.h"
#include "core/transport/websocket.h"

enum websocket_phase {
	PHASE_IDLE,    /* nothing was sent */
	PHASE_WAITING, /* for credentials */
	PHASE_OPENING, /* the connection, and the handshake on it */
	PHASE_OPEN,
	PHASE_CLOSING, /* we said so */
	PHASE_OVER,
};

struct websocket {
	struct transport base;
	struct remote_options o;
	struct arena arena;
	struct url url;
	enum websocket_phase phase;
	int event; /* readable while items wait */
	struct loop_timer timer;
	struct http_tunnel *tunnel;
	struct http_reader head;
	struct buf line; /* of the head, half read */
	bool has_head;
	char accept[WS_ACCEPT_BYTES];
	struct authorizer_try tries;
	struct ws_reader in;
	struct ws_item item; /* of the message that was given last */
	struct buf messages; /* of ours, not yet whole or not yet sent */
	struct buf out;	     /* frames */
	size_t sent;	     /* of them */
	bool is_held, is_held_told;
	bool is_failed; /* err and loss say how; to be told once */
	bool is_end_told;
	enum transport_loss loss;
	struct err err;
};

/* ---- websocket.c ---- */

/* There is something for websocket_next(). */
void websocket_wake(struct websocket *w);
/* Nothing is connected any more, and why; the first reason counts. */
void websocket_fail(struct websocket *w, enum transport_loss loss,
		    const struct err *err);
/* The same with the host before it. */
void websocket_fail_text(struct websocket *w, const char *why);
/* The same without a reason: it ended as it should. */
void websocket_end(struct websocket *w);
void websocket_close_tunnel(struct websocket *w);
/* Write what is in `out`. */
void websocket_flush(struct websocket *w);
/* The lines that are whole become frames, once it is open. */
void websocket_send_messages(struct websocket *w);

/* ---- websocket_open.c ---- */

/* Connect, or wait for credentials first. */
void websocket_begin(struct websocket *w);
/* For its timer: the handshake, or the close, took too long. */
void websocket_on_timer(void *arg);
/* Credentials are there, or will never be; for the authorizer. */
void websocket_on_changed(void *arg);

#endif
