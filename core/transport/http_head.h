/*
 * Headers, as libcurl hands them over line by line. Pure.
 *
 *	struct http_reader r = HTTP_READER_INIT;
 *	while (http_reader_line(&r, line) == HTTP_READ_MORE)
 *		...
 *	http_reader_head(&r, &head);	slices of r
 *	http_reader_release(&r);
 */
#ifndef CORE_TRANSPORT_HTTP_HEAD_H
#define CORE_TRANSPORT_HTTP_HEAD_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/transport/http.h"

struct http_reader {
	int status;
	bool is_begun; /* a status line came, its empty line did not */
	bool is_whole; /* the last head came: what follows are trailers */
	bool is_http2;
	size_t bytes;	       /* of all heads, and trailers */
	struct buf lines;      /* "Name: value\n"; owned */
	struct buf media_type; /* owned */
};

#define HTTP_READER_INIT                              \
	{                                             \
		.lines = BUF_INIT(BUF_UNBOUNDED),     \
		.media_type = BUF_INIT(BUF_UNBOUNDED) \
	}

enum http_read {
	HTTP_READ_MORE,	 /* go on */
	HTTP_READ_WHOLE, /* the last line of the head that counts */
	HTTP_READ_FULL,	 /* over LIMIT_HEAD_BYTES */
	HTTP_READ_BAD,	 /* no HTTP */
};

/*
 * One line with its end. Heads of status 1xx are passed over, but for 101;
 * after HTTP_READ_WHOLE lines are counted only.
 */
enum http_read http_reader_line(struct http_reader *r, struct str line)
	MUST_USE;
/* The head so far; slices live until the next line. range is not set. */
void http_reader_head(struct http_reader *r, struct http_head *ret);
void http_reader_release(struct http_reader *r);

/* Is there one of that name, in any case? h may be NULL. */
bool http_headers_has(const struct http_headers *h, const char *name) MUST_USE;
/* Append copies, each instead of the line of its name; from may be NULL. */
void http_headers_replace(struct http_headers *to,
			  const struct http_headers *from);
/* Append them as they go out, each with its CR LF. */
void http_headers_write(const struct http_headers *h, struct buf *out);

#endif
