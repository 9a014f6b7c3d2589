/*
 * Frames of WebSocket: bytes to messages and back, for a client. Pure.
 *
 *	struct ws_reader r;
 *	ws_reader_init(&r, LIMIT_MESSAGE_BYTES);
 *	ws_add(&r, bytes);
 *	while (ws_next(&r, &item) != WS_NONE)
 *		...
 *	ws_reader_release(&r);
 *
 * Text and binary messages are given alike, put together from their parts.
 * A breach of the protocol is told once, and nothing is read after it.
 *
 * source  RFC 6455
 */
#ifndef CORE_MCP_WIRE_WEBSOCKET_H
#define CORE_MCP_WIRE_WEBSOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum ws_item_type {
	WS_NONE,    /* add bytes */
	WS_MESSAGE, /* payload: all of it */
	WS_PING,    /* answer by a pong of payload */
	WS_PONG,
	WS_CLOSE,  /* code, payload: the reason */
	WS_OVER,   /* a message over the ceiling */
	WS_BROKEN, /* err; the connection is lost */
};

/* Payload lives until the next ws_next() or ws_add(). */
struct ws_item {
	struct str payload;
	uint16_t code; /* of CLOSE; 1005 when none was given */
	struct err err;
};

struct ws_reader {
	struct buf in; /* owned: bytes that are not read yet */
	size_t from;
	struct buf message; /* owned: parts of a message that came so far */
	uint64_t message_max;
	bool is_open;	/* a message has begun and not ended */
	bool is_told;	/* `message` was given, and is to be cleared */
	bool is_over;	/* of the open message the rest is thrown away */
	bool is_broken; /* or closed: nothing more is read */
};

/* message_max in bytes; 0 is LIMIT_MESSAGE_BYTES. */
void ws_reader_init(struct ws_reader *r, uint64_t message_max);
void ws_reader_release(struct ws_reader *r);
/* Add bytes, borrowed for the call. */
void ws_add(struct ws_reader *r, struct str bytes);
enum ws_item_type ws_next(struct ws_reader *r, struct ws_item *ret) MUST_USE;

enum ws_opcode {
	WS_OP_CONTINUATION = 0,
	WS_OP_TEXT = 1,
	WS_OP_BINARY = 2,
	WS_OP_CLOSE = 8,
	WS_OP_PING = 9,
	WS_OP_PONG = 10,
};

/* One whole frame of a client. mask  four bytes from a random source */
void ws_write(struct buf *out, enum ws_opcode opcode, struct str payload,
	      const unsigned char mask[4]);
/* A close with a code and no reason. */
void ws_write_close(struct buf *out, uint16_t code,
		    const unsigned char mask[4]);

/* ---- the handshake ---- */

/* Base64 of 16 bytes, with the NUL. */
#define WS_KEY_BYTES 25
/* Base64 of a SHA-1, with the NUL. */
#define WS_ACCEPT_BYTES 29

/* Write a value for Sec-WebSocket-Key. random  16 bytes */
void ws_key(const unsigned char random[16], char ret[WS_KEY_BYTES]);
/* Write the Sec-WebSocket-Accept that the server must answer (4.2.2). */
void ws_accept(const char *key, char ret[WS_ACCEPT_BYTES]);

#endif
