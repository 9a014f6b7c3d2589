/*
 * Lines that are not JSON: the message inside, whether one was meant, and the
 * request that it belonged to.
 *
 * All functions are linear in the line and keep nothing. struct salvage_block
 * recognizes a message that a server spread over several lines.
 */
#ifndef CORE_MCP_WIRE_SALVAGE_H
#define CORE_MCP_WIRE_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/*
 * Where {"jsonrpc" (with any white space between the two) begins in `line`;
 * line.n when nowhere. For text in front of a message (RW-5, RW-6).
 */
size_t salvage_start(struct str line) MUST_USE;

/*
 * True when a line that does not parse was meant to be a message: it shows
 * {"jsonrpc" somewhere, or is an object with such a member (RW-15).
 *
 * ret_id  the JSON text of its id, {NULL, 0} when that cannot be read
 */
bool salvage_is_broken(struct str line, struct str *ret_id) MUST_USE;

/* "Content-Length: 123": framing of another protocol (RW-12). */
bool salvage_is_header(struct str line) MUST_USE;

/*
 * Append the line with U+FFFD for each byte that is not UTF-8 (RW-9).
 * False, and nothing appended: all is UTF-8, or it cannot be JSON.
 */
bool salvage_utf8(struct str line, struct buf *out) MUST_USE;

/* Skipped lines that may together be one pretty-printed message (RW-11). */
struct salvage_block {
	struct buf text; /* owned; its ceiling is the caller's */
	uint32_t depth;	 /* open brackets; 0: no block */
};

#define SALVAGE_BLOCK_INIT(max_bytes)         \
	{                                     \
		.text = BUF_INIT((max_bytes)) \
	}

/*
 * Add a skipped line. True: the lines of block->text together have as many
 * closing as opening brackets; look at them, then clear.
 */
bool salvage_block_add(struct salvage_block *block, struct str line) MUST_USE;
void salvage_block_clear(struct salvage_block *block);

#endif
