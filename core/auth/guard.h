/*
 * Which URLs that a server names may be asked: the guard against a server
 * that sends us where only we can reach. Names and schemes are judged here,
 * addresses by core/transport/reach.h when they are connected to.
 *
 * source  MCP 2026-07-28, security best practices, "SSRF"
 */
#ifndef CORE_AUTH_GUARD_H
#define CORE_AUTH_GUARD_H

#include <stdbool.h>

#include "core/auth/auth.h"
#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/url.h"
#include "core/transport/reach.h"

/* The source of a URL. */
enum guard_origin {
	GUARD_SERVER,
	GUARD_USER, /* may lie anywhere */
	GUARD_PAGE, /* of a server; a browser opens it, we do not connect */
};

struct guard {
	const struct auth_context *context; /* borrowed, as all here */
	const struct auth_options *options;
	const struct url *endpoint;
	/* Of the endpoint's address, where it was asked before the transport
	   did; else what the context says counts. */
	bool is_probed;
	enum address_class probed;
};

/*
 * https; http on loopback only, and of a server's only where its own endpoint
 * is there, too. Without user information and fragment.
 *
 * what    what the URL is for, for the sentence
 * errors  ERR_PEER, or what context.may_use() says
 */
int guard_url(const struct guard *g, const char *what, const char *text,
	      enum guard_origin origin, struct arena *arena, struct url *ret,
	      struct err *err) MUST_USE;
/*
 * Is it the issuer that was wanted?
 * accept_slash  one slash at the end of an empty path may differ
 */
bool guard_is_issuer(const char *found, const char *wanted, bool accept_slash)
	MUST_USE;
/*
 * May the client's secret, key or statement be used at this authorization
 * server? Where one is configured: at the issuer that is configured, else at
 * the origin of the endpoint only, for the MCP server could name any.
 *
 * errors  ERR_ISSUER  the line to add, with the issuer that the server named
 */
int guard_credential(const struct guard *g, const char *issuer, struct err *err)
	MUST_USE;
/* errors  ERR_CREDENTIAL  a person is needed and there is none; what to do */
int guard_person(const struct auth_context *c, const struct auth_options *o,
		 const struct owner *owner, struct err *err) MUST_USE;

#endif
