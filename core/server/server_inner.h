/*
 * What the files of a server's session share. Who runs one sees server.h.
 *
 *	server.c	  bytes, messages, which era a request is of
 *	server_methods.c  what each method answers
 */
#ifndef CORE_SERVER_SERVER_INNER_H
#define CORE_SERVER_SERVER_INNER_H

#include "core/mcp/wire/rpc.h"
#include "core/server/server.h"

/* A member of `_meta` that the protocol has a name for. */
#define META(name) "io.modelcontextprotocol/" name

/* One message as it is answered. */
struct server_exchange {
	struct server_session *s;
	const struct rpc_message *m;
	struct buf *out;
	bool in_batch;
	const struct mcp_revision *revision; /* NULL before initialize */
};

/* When a method is served. */
enum server_when {
	METHOD_ALWAYS, /* in the older era */
	METHOD_ALONE,  /* in the newer era */
	METHOD_BOTH,   /* behind initialize, or alone */
};

struct server_method {
	const char *name;
	enum server_when when;
	void (*run)(const struct server_exchange *x);
};

/* server.c */
void server_become(struct server_session *s, enum server_state state);
/* Does the request stand alone? */
bool server_is_alone(const struct server_exchange *x) MUST_USE;
void server_refuse(const struct server_exchange *x, int64_t code,
		   const char *why);

/* server_methods.c */
/* The method of this request in its era, or NULL. */
const struct server_method *server_find_method(const struct server_exchange *x)
	MUST_USE;
/* An array: the revisions in which a request stands alone. */
void server_write_dates(struct jw *w);

#endif
