/*
 * Servers of a configuration, offered on: their tools and prompts as
 * mcp__SERVER__NAME, their resources by their URIs.
 *
 *	g = gateway_new(&options, arena);
 *	gateway_list(g, call, LISTING_TOOLS, begun, arg)   tools/list …
 *	gateway_forward(g, call, LISTING_TOOLS, name, args)
 *	gateway_stop(g); ... loop_turn() until gateway_is_idle(g)
 *	gateway_free(g);
 *
 * A server is started when it is needed first, by the pool of core/run, with
 * the policy, bounds, pins and audit of its table; all clients share it. One
 * that ends is started again for the next call. Its questions go to the client
 * whose call they belong to; a server of the older era that does not say which
 * that is, as over pipes, must have one call at most of those that do not wait
 * for answers. Whatever it sends is passed on byte for byte, but
 * for values of credentials.
 */
#ifndef CORE_SERVE_GATEWAY_H
#define CORE_SERVE_GATEWAY_H

#include "core/client/eras.h"
#include "core/config/config.h"
#include "core/mcp/wire/listing.h"
#include "core/run/credentials.h"
#include "core/run/pool.h"
#include "core/run/remotes.h"
#include "core/server/server.h"

/* A list waits so long for servers that are slow to start, milliseconds; their
   entries come with a notice of change. */
#define GATEWAY_LIST_MS 25000
/* Questions that a server asks within that time of the first are put together,
   milliseconds; calls of other clients wait for it. */
#define GATEWAY_ASK_MS 50
/* Time of one call in all, milliseconds. */
#define GATEWAY_TOTAL_MS 900000

struct gateway;

/* All of it is borrowed. */
struct gateway_options {
	struct loop *loop;
	struct gate *gate;
	const struct config_file *file;
	struct strlist servers; /* names; they exist */
	bool confirmed;		/* a person agrees to tools of `confirm` */
	/* Abilities to declare to servers: any client may come. Else what the
	   client can whose call starts the server. */
	bool any_client;
	/* A list of a server has changed. */
	void (*changed)(void *arg, const char *notice);
	/* server_updated() of all clients. */
	bool (*updated)(void *arg, struct str watched, struct str uri);
	void *arg;
};

/*
 * No server starts; programs that print credentials may.
 *
 * arena   holds plans; must live as long
 * errors  of plan_make()
 */
int gateway_new(const struct gateway_options *o, struct arena *arena,
		struct gateway **ret, struct err *err) MUST_USE;
/* End the servers in order; no call may be open. */
void gateway_stop(struct gateway *g);
bool gateway_is_idle(const struct gateway *g) MUST_USE;
/* Takes NULL. */
void gateway_free(struct gateway *g);

/*
 * Answer a list request when all servers have told theirs, or
 * GATEWAY_LIST_MS later.
 *
 * more  writes further entries into the array first; or NULL
 */
void gateway_list(struct gateway *g, struct server_call *c,
		  enum listing_kind kind,
		  void (*more)(void *arg, struct server_call *c, struct jw *w),
		  void *arg);
/*
 * Hand a request on to the server that has what it names.
 *
 * method  static: tools/call, prompts/get, resources/read and the two of
 *	   subscriptions, completion/complete
 * kind    LISTING_TOOLS, LISTING_PROMPTS, LISTING_RESOURCES
 * name    decoded: of a tool or prompt, or a URI
 * args    JSON object: arguments, of completion/complete all params;
 *	   {NULL, 0}: none. Of a resource: the URI
 */
void gateway_forward(struct gateway *g, struct server_call *c,
		     const char *method, enum listing_kind kind,
		     struct str name, struct str args);
/* subscriptions/listen: watch those of its resources whose server tells of
   changes. */
void gateway_listen(struct gateway *g, struct server_call *c);

#endif
