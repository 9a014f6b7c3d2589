/*
 * Header fields of requests to a remote server, also those that are made of
 * the arguments of a tool: for them the schemas of tools are learned from the
 * lists that pass through.
 *
 *	if (!tools_know(&tools, call))	ask: tools_write_request()
 *	headers_make(call, &era, &tools, &headers, err)
 *
 * source  MCP 2026-07-28, basic/transports/streamable-http
 */
#ifndef CORE_TRANSPORT_REMOTE_HEADERS_H
#define CORE_TRANSPORT_REMOTE_HEADERS_H

#include "core/base/arena.h"
#include "core/transport/post.h"
#include "core/transport/remote_reply.h"

struct tool_schema;

struct tools {
	struct arena arena;	  /* owns all below */
	struct tool_schema *tool; /* by name; array owned */
	size_t n, cap;
	bool is_complete; /* all pages were seen */
	bool is_followed; /* from the first page on */
	bool is_asked;	  /* by the transport, under way */
	unsigned pages;	  /* of what it asks */
};

/* Also the end of it. */
void tools_forget(struct tools *t);
/* result  of the tools/list that `p` asked for */
void tools_learn(struct tools *t, const struct post *p, struct str result);
/* Is the schema of the tool that `p` calls known, or known not to exist? */
bool tools_know(const struct tools *t, const struct post *p) MUST_USE;
/* A tools/list with the _meta of `like`. cursor  {NULL, 0}: the first page */
void tools_write_request(const struct post *like, const char *id,
			 struct str cursor, struct buf *out);
/* The cursor of the page after the one that answered `p`; false: no more. */
bool tools_next_page(struct tools *t, const struct post *p, struct str result,
		     struct str *cursor) MUST_USE;

/* Also notes in `p` in which session it is sent. errors  ERR_SYNTAX */
int headers_make(struct post *p, const struct era *e, const struct tools *t,
		 struct http_headers *h, struct err *err) MUST_USE;

#endif
