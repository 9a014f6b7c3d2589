/*
 * From bytes of a peer to JSON objects that may be messages.
 *
 * Lines are split, parsed, repaired where their UTF-8 is broken, freed of text
 * in front of a message, and arrays are taken apart. Other lines are counted
 * and their beginning is kept for reports. A line that was meant as a message
 * and cannot be read is told, so that its request can be ended.
 *
 *	inbox_add(&in, bytes);
 *	while ((got = inbox_next(&in, &item)) != INBOX_NONE)
 *		if (got == INBOX_OBJECT)
 *			inbox_judge(&in, it_was_a_message(item.object));
 *
 * Or whole messages, which may have any lines: inbox_message() instead of
 * inbox_add(). Text around them is not looked for then.
 *
 * Whether an object is a message is the caller's to say, for that depends on
 * the requests that are open. Slices live until the next inbox_next() or
 * inbox_add(). Rows (RW-1, ...) stand for misbehaviours of real servers.
 */
#ifndef CORE_MCP_WIRE_INBOX_H
#define CORE_MCP_WIRE_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/scan.h"
#include "core/base/str.h"
#include "core/mcp/wire/frame.h"

enum inbox_result {
	INBOX_NONE,    /* all was read: add bytes */
	INBOX_OBJECT,  /* item->object; answer by inbox_judge() */
	INBOX_BROKEN,  /* a broken message: item->id, item->err (RW-15) */
	INBOX_CUT,     /* the stream ended within a message (RW-31) */
	INBOX_OVER,    /* a line over the ceiling is gone (RW-14) */
	INBOX_FRAMING, /* the peer does not write one message a line: err */
};

struct inbox_item {
	struct str object;		    /* proved JSON object */
	const struct scan_members *members; /* of it; NULL: not noted */
	struct str id;	    /* JSON text, {NULL, 0} when it cannot be read */
	bool is_unfinished; /* BROKEN: the JSON of a line ends too early */
	struct err err;
};

struct inbox {
	struct frame frame;
	bool eof;	/* no more bytes will come */
	bool rest_read; /* and the line without newline was taken */
	bool heard;	/* a message was among the objects */
	bool spread;	/* RW-11 was recognized */

	struct scan_members members; /* of the latest line */
	struct str line;	/* of the current object; {NULL, 0} in arrays */
	struct str current;	/* the current object */
	struct str again;	/* to be given once more */
	struct scan_iter batch; /* rest of an array */
	struct str batch_line;	/* {NULL, 0} outside of arrays */
	bool batch_any;		/* a message was in it */
	struct buf repaired;	/* owned: a line with its UTF-8 repaired */
	struct buf kept;  /* owned: what is unread while bytes are added */
	struct buf whole; /* owned: a message of inbox_message() */
	bool is_whole;	  /* `whole` was not read yet */
	bool is_over;	  /* `whole` exceeded the ceiling: not kept */

	struct buf noise;    /* owned: first lines that were no messages */
	struct buf block;    /* owned: skipped lines, maybe one message */
	int64_t block_depth; /* open brackets in it; 0: no block */

	/* counts */
	uint64_t skipped_lines, skipped_bytes;
	uint64_t repairs;  /* lines with repaired UTF-8 */
	uint64_t prefixed; /* messages with text before them */
};

/* line_max as for frame_init(). */
void inbox_init(struct inbox *in, size_t line_max);
void inbox_release(struct inbox *in);

/* Add bytes; all of `bytes`, borrowed for the call. */
void inbox_add(struct inbox *in, struct str bytes);
/* One message, read to its end before the next one; borrowed for the call. */
void inbox_message(struct inbox *in, struct str message);
/* No more will come: a rest without newline is a last line. */
void inbox_eof(struct inbox *in);

enum inbox_result inbox_next(struct inbox *in, struct inbox_item *ret) MUST_USE;
/* Say of the current object whether it was a message. */
void inbox_judge(struct inbox *in, bool was_message);
/* Give the current object once more; instead of inbox_judge(). */
void inbox_unread(struct inbox *in);
/*
 * Take the buffer that a slice of the current object lies in, when the slice is
 * most of it and large.
 *
 * returns  memory that the caller frees, in which the object lies where it was;
 *          NULL when a copy of the slice costs less, or it lies elsewhere
 */
char *inbox_take(struct inbox *in, struct str slice) MUST_USE;

/*
 * Append the line with U+FFFD for each byte that is not UTF-8 (RW-9).
 * False, and nothing appended: all is UTF-8, or it cannot be JSON.
 */
bool inbox_repair_utf8(struct str line, struct buf *out) MUST_USE;

#endif
