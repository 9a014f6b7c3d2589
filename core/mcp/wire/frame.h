/*
 * Newline framing: bytes in any portions in, whole lines out.
 *
 * A line is handed out where it lies in the one buffer, so a message of
 * 100 MiB costs 100 MiB, and ten thousand short ones in one portion cost one
 * pass. A line longer than `line_max` is not kept: its bytes are thrown away
 * up to the next newline, in constant memory, and reported once.
 *
 *	struct frame f;
 *	frame_init(&f, LIMIT_MESSAGE_BYTES);
 *	for each portion that was read:
 *		frame_add(&f, bytes);
 *		while ((got = frame_next(&f, &line)) != FRAME_NONE)
 *			...
 *	at the end of the stream:
 *		got = frame_rest(&f, &line);
 *	frame_release(&f);
 *
 * Framing knows nothing of JSON. Writing needs no counterpart: rpc_end() in
 * core/mcp/wire/rpc.h ends a message with its newline.
 */
#ifndef CORE_MCP_WIRE_FRAME_H
#define CORE_MCP_WIRE_FRAME_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

enum frame_result {
	FRAME_NONE, /* no whole line there: add bytes */
	FRAME_LINE, /* one line */
	FRAME_OVER, /* a line over the ceiling; its bytes are gone */
};

struct frame {
	struct buf in;	 /* owned */
	size_t from;	 /* first byte of `in` not yet handed out */
	size_t scanned;	 /* no newline in [from, scanned) */
	size_t line_max; /* bytes of one line without its newline */
	bool discarding; /* the current line passed line_max */
};

/* line_max in bytes; 0 is LIMIT_MESSAGE_BYTES. */
void frame_init(struct frame *f, size_t line_max);
void frame_release(struct frame *f);

/*
 * Add bytes that arrived. Takes all of `in`, which is borrowed for the call;
 * lines from frame_next() end their life here. Take all lines before adding
 * more, or memory grows beyond one line and one portion.
 */
void frame_add(struct frame *f, struct str in);

/*
 * The next line, without its newline, one CR before that, and a byte order
 * mark at its start. Empty lines and lines of white space are left out.
 *
 * ret_line  set for FRAME_LINE only; lives until frame_add()
 * source    MCP 2025-11-25, basic/transports, "stdio"
 */
enum frame_result frame_next(struct frame *f, struct str *ret_line) MUST_USE;

/* The stream ended: what follows the last newline, as frame_next() does. */
enum frame_result frame_rest(struct frame *f, struct str *ret_line) MUST_USE;

#endif
