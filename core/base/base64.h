/*
 * Base64, written and read strictly.
 *
 * What we write has one form, and only that form is read back: no spaces, no
 * line breaks, no bits that are set behind the last byte. What servers send
 * as Base64 is read by core/mcp/wire/content.h, which is more patient. Pure.
 *
 * source  RFC 4648 sections 4 and 5
 */
#ifndef CORE_BASE_BASE64_H
#define CORE_BASE_BASE64_H

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum base64 {
	BASE64_STANDARD, /* "+" and "/", filled up with "=" */
	BASE64_URL,	 /* "-" and "_", never filled up, as in JWS */
};

/* Append; the buffer grows at most once, so that no copy stays behind. */
void base64_encode(enum base64 kind, struct str bytes, struct buf *out);
/*
 * Append the bytes; on failure nothing is. Grows as above.
 * errors  ERR_SYNTAX  not of that form, with the place
 *	   ERR_LIMIT   the ceiling of `out`
 */
int base64_decode(enum base64 kind, struct str text, struct buf *out,
		  struct err *err) MUST_USE;

#endif
