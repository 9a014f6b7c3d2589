/*
 * Where the browser comes back to: a listener on loopback for one answer.
 *
 *	redirect_open(loop, uri, &handler, &r, err);
 *	... redirect_uri(r) goes into the authorization request ...
 *	handler.judge(arg, query)	the answer is there
 *	handler.closed(arg)		the browser was told; free it
 *	redirect_free(r);
 *
 * GET of its path only, by a browser that was led here (Host, Sec-Fetch-Mode
 * and -Dest, where they are said); whatever else comes is answered with 404 or
 * 405 and does not end the waiting, which is the caller's to end. Any process
 * of this machine can connect: an answer that the caller takes for another's is
 * answered with 400, and the waiting goes on. The first answer of the caller's
 * own closes the port.
 *
 * source  RFC 8252 sections 7.3 and 8.3; W3C Fetch Metadata Request Headers
 */
#ifndef CORE_AUTH_REDIRECT_H
#define CORE_AUTH_REDIRECT_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/loop.h"
#include "core/base/str.h"

struct redirect;

enum redirect_verdict {
	REDIRECT_GOOD,
	REDIRECT_BAD,	 /* ours, and it says no */
	REDIRECT_OTHERS, /* not an answer to our request: wait on */
};

struct redirect_handler {
	/*
	 * query    without "?", borrowed; a secret (it holds the code)
	 * returns  what the page says, and whether this was the answer
	 */
	enum redirect_verdict (*judge)(void *arg, struct str query);
	/* Last of all; `r` may be freed here. */
	void (*closed)(void *arg);
	void *arg;
};

/*
 * uri      "http://127.0.0.1:8123/callback", or of localhost, or of [::1];
 *	    port 0 or none is a free one. NULL: a free port of 127.0.0.1 and
 *	    the path /callback
 * returns  0; 1: `uri` is no address of this machine, so nothing was opened
 * errors   ERR_SYNTAX  no URL, or it has a query or fragment
 *	    ERR_SYS	the port is taken
 */
int redirect_open(struct loop *loop, const char *uri,
		  const struct redirect_handler *handler, struct redirect **ret,
		  struct err *err) MUST_USE;
/* With the port that it has; lives as long as `r`. */
const char *redirect_uri(const struct redirect *r) MUST_USE;
/* Takes NULL. */
void redirect_free(struct redirect *r);

#endif
