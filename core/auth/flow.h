/*
 * One authorization, from what a server refused to a token in the store.
 *
 *	f = flow_new(&setting, &start, &account, done, arg);
 *	...				one call of done, from the loop
 *	flow_free(f);
 *
 * In order, each step only where it is needed: the lock among processes (and
 * what another process has done meanwhile), the server's challenge, metadata
 * of the resource, metadata of the authorization server, an identity of this
 * client, the person in the browser, the token. A failure ends it; nothing is
 * tried that was not asked for.
 *
 * source  MCP 2026-07-28, basic/authorization; OAuth 2.1; ext-auth
 */
#ifndef CORE_AUTH_FLOW_H
#define CORE_AUTH_FLOW_H

#include <stdbool.h>

#include "core/auth/account.h"
#include "core/auth/auth.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/url.h"

struct flow;

enum flow_kind {
	FLOW_KIND_REFRESH, /* by the stored refresh token and nothing else */
	FLOW_KIND_RENEW,   /* refresh where the issuer has not changed, else all
			    */
	/* no refresh: other scopes, or a refused fresh token */
	FLOW_KIND_AUTHORIZE,
	FLOW_KIND_LOGIN, /* authorize, and the server is asked first */
	/* no authorization: the issuer is asked to revoke. RFC 7009 */
	FLOW_KIND_REVOKE,
};

/* Borrowed; all must outlive the flow. */
struct flow_setting {
	const struct auth_context *context;
	const struct auth_options *options;
	const struct url *endpoint;
	const struct owner *owner; /* of the account */
};

/* The beginning of a flow; texts are copied. */
struct flow_start {
	enum flow_kind kind;
	/* The challenge; NULL: not said. */
	const char *resource_metadata;
	const char *scope; /* of a step-up: all that are wanted */
	/* The token that does not do; NULL: there was none. */
	const char *refused;
	const char *protocol; /* revision that is spoken; NULL: not known */
};

/* Callbacks from the loop. */
struct flow_handler {
	/* Once; err NULL: account->access_token may be used, is_granted: it
	   came from a grant, not from a refresh or another process. The flow
	   may be freed there. */
	void (*done)(void *arg, const struct err *err, bool is_granted);
	/* A person begins to be waited for. */
	void (*waits)(void *arg);
	void *arg;
};

/*
 * account  changed as it goes on; with tokens when it succeeded, without them
 *	    when the authorization server does not know them any more
 */
struct flow *flow_new(const struct flow_setting *setting,
		      const struct flow_start *start, struct account *account,
		      const struct flow_handler *handler) MUST_USE;
/* Ends it, too; takes NULL. */
void flow_free(struct flow *f);
/* A person is waited for. */
bool flow_is_person(const struct flow *f) MUST_USE;
/* The address that the browser was sent to. false: none is waited for */
bool flow_redirected(struct flow *f, struct str url) MUST_USE;

#endif
