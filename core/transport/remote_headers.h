/*
 * Header fields of requests to a remote server, also those that are made of
 * the arguments of a tool: for them the schemas of tools are learned from the
 * lists that pass through.
 *
 * source  MCP 2026-07-28, basic/transports/streamable-http
 */
#ifndef CORE_TRANSPORT_REMOTE_HEADERS_H
#define CORE_TRANSPORT_REMOTE_HEADERS_H

#include "core/transport/post.h"

/* Forget all tools. Also releases it. */
void tools_forget(struct tools *t);
/* result  of the tools/list that `p` asked for */
void tools_learn(struct tools *t, const struct post *p, struct str result);
/*
 * Write a tools/list with the _meta of `p`.
 *
 * result   of the tools/list that was `p`, whose next page is asked for;
 *	    {NULL, 0}: the first page
 * number   of the id
 * returns  false: there is no next page, or it is one too many
 */
bool tools_write_request(struct tools *t, const struct post *p,
			 struct str result, unsigned number, struct buf *out)
	MUST_USE;

/* The schema of the tool that is called is to be asked for first. */
#define HEADERS_NEED_TOOLS 1

/*
 * Also notes in `p` in which session it is sent.
 * returns  0 or HEADERS_NEED_TOOLS
 * errors   ERR_SYNTAX
 */
int headers_make(struct post *p, struct http_headers *h, struct err *err)
	MUST_USE;

#endif
