/*
 * Messages of a remote server: which request each one answers.
 *
 *	if (!taker_open(&t, via, text))		no JSON
 *		...
 *	while (taker_next(&t, &found))
 *		act on found
 *	taker_release(&t);
 */
#ifndef CORE_TRANSPORT_REMOTE_TAKE_H
#define CORE_TRANSPORT_REMOTE_TAKE_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/scan.h"
#include "core/mcp/wire/rpc.h"
#include "core/transport/post.h"

enum taken_what {
	TAKEN_ANSWER,  /* to `post` */
	TAKEN_MESSAGE, /* for the session */
	TAKEN_CHANGED, /* for the session; the list of tools has changed */
	TAKEN_NOTHING, /* neither: counted as odd */
};

struct taken {
	enum taken_what what;
	struct post *post;    /* of TAKEN_ANSWER */
	bool is_renamed;      /* the answer names another id than `post` */
	struct rpc_message m; /* slices of the text */
};

struct taker {
	struct post *via; /* in whose reply the text came */
	struct buf repaired;
	struct str one; /* {NULL, 0}: given, or none */
	struct scan_iter more;
	bool is_array;
};

/* false: not JSON, even with invalid UTF-8 replaced. */
bool taker_open(struct taker *t, struct post *via, struct str text) MUST_USE;
/* A single message is one, an array as many; false: no more. */
bool taker_next(struct taker *t, struct taken *ret) MUST_USE;
void taker_release(struct taker *t);

/* An answer with the id of the request it belongs to. */
void taken_write_renamed(const struct taken *t, struct buf *out);
/* An error in place of an answer. */
void taken_write_error(const struct post *p, int64_t code, struct str message,
		       struct buf *out);

#endif
