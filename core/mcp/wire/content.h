/*
 * Blocks of content in results of tools, in prompts and in resources: which
 * kind they are, and the bytes that some carry as Base64.
 *
 *	struct content_block b;
 *	content_read(json, &b);
 *	if (b.data.p && content_bytes(b.data, max, &bytes, err) == 0)
 *		content_name(buf_str(&bytes), name);
 *
 * Nothing is believed that a server says of its bytes: a file's name is made
 * from the bytes alone.
 *
 * Pure. Source: MCP 2025-11-25, server/tools, "Tool Result" (CB-1 to CB-5)
 */
#ifndef CORE_MCP_WIRE_CONTENT_H
#define CORE_MCP_WIRE_CONTENT_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum content_kind {
	CONTENT_TEXT,
	CONTENT_IMAGE,
	CONTENT_AUDIO,
	CONTENT_RESOURCE, /* embedded: .text or .data */
	CONTENT_LINK,
	CONTENT_UNKNOWN, /* of another type, or without what it needs */
};

/* Members are JSON strings as they came; {NULL, 0} when absent. */
struct content_block {
	enum content_kind kind;
	struct str text; /* of text, and of a resource */
	struct str data; /* Base64 of image, audio, and of a resource */
	struct str mime;
	struct str uri; /* of a resource and a link */
	bool is_odd; /* a resource with both text and data, or none (RES-4) */
};

/*
 * Read one block.
 * json  proved JSON of any type
 */
void content_read(struct str json, struct content_block *ret);

/*
 * Read one item of `contents` of resources/read: the same members without
 * anything around them. Its kind is CONTENT_RESOURCE or CONTENT_UNKNOWN.
 */
void content_read_item(struct str json, struct content_block *ret);

/*
 * Append the bytes behind a Base64 string. Line breaks, spaces and missing
 * padding are fine (CB-4); a data URI stands for its data (RW-77).
 *
 * string  a proved JSON string
 * max     of the decoded bytes; looked at before any memory is taken
 * errors  ERR_SYNTAX  invalid Base64, with the place
 *	   ERR_LIMIT   more than max bytes
 */
int content_bytes(struct str string, size_t max, struct buf *out,
		  struct err *err) MUST_USE;

/* "png", "txt", "bin": by what the bytes are. Static. */
const char *content_extension(struct str bytes) MUST_USE;

/* Bytes of a name with the NUL: 64 digits, a dot, an extension. */
#define CONTENT_NAME_BYTES 80
/* "<sha256>.png" */
void content_name(struct str bytes, char out[CONTENT_NAME_BYTES]);

#endif
