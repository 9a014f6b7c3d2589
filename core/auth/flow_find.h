/*
 * Documents in which a server names its authorization servers, and the places
 * of these documents.
 *
 *	metadata_resource_urls(endpoint, named, arena, &urls);	where to ask
 *	metadata_resource(body, arena, &r, err);	what it says
 *	metadata_is_for(endpoint, &r, err);		is it of this server
 *	metadata_server_urls(issuer, arena, &urls, err);
 *	metadata_server(body, issuer, &rules, arena, &s, err);
 *
 * Texts are in the arena. Endpoints are only read here; whether they may be
 * connected to is the caller's to judge. Pure.
 *
 * source  RFC 9728, RFC 8414, OpenID Connect Discovery 1.0; MCP 2026-07-28,
 *	   basic/authorization/authorization-server-discovery
 */
#ifndef CORE_AUTH_FLOW_FIND_H
#define CORE_AUTH_FLOW_FIND_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/base/url.h"

/* Metadata of a protected resource. */
struct metadata_resource {
	const char *resource;	/* exactly as published */
	struct strlist servers; /* issuers, one or more */
	const char *scopes;	/* joined by spaces; NULL: not said */
	bool needs_dpop;
};

/* Metadata of an authorization server; NULL and empty: not said. */
struct metadata_server {
	const char *issuer;
	const char *authorization, *token, *registration, *revocation;
	struct strlist scopes, auth_methods, signing_algs, dpop_algs;
	bool has_auth_methods;	/* said at all, also as an empty list */
	bool takes_metadata_id; /* client_id_metadata_document_supported */
	bool sends_iss;		/* with the answer to the redirect */
	bool is_default;	/* no document: MCP 2025-03-26 */
};

/*
 * Where the resource's document may lie: below the endpoint's path, then at
 * the root (one, when the path is empty). A query of the endpoint is kept.
 * named  the first place, borrowed; NULL: none was named
 */
void metadata_resource_urls(const struct url *endpoint, const char *named,
			    struct arena *arena, struct strlist *ret);
/* Where the issuer's may, in the order in which they are asked.
   errors  ERR_SYNTAX  no URL, or one with a query or fragment */
int metadata_server_urls(const char *issuer, struct arena *arena,
			 struct strlist *ret, struct err *err) MUST_USE;

/*
 * returns  0; 1: this is no JSON object, so nothing was found there
 * errors   ERR_PEER  no `resource`, no authorization server
 */
int metadata_resource(struct str body, struct arena *arena,
		      struct metadata_resource *ret, struct err *err) MUST_USE;
/*
 * Same origin, and its path is the endpoint's or a prefix of it that ends at
 * a segment.
 * errors  ERR_PEER  both are in the sentence
 */
int metadata_is_for(const struct url *endpoint, const char *resource,
		    struct err *err) MUST_USE;

/*
 * The issuer must be the one that was asked for, as a string; S256 must be
 * among the PKCE methods where a code is asked for.
 *
 * accept_slash  one slash at the end of an empty path may differ
 * needs_code    S256 and the authorization endpoint must be there
 * returns  0; 1: this is no JSON object
 * errors   ERR_PEER
 */
struct metadata_rules {
	bool accept_slash, needs_code;
};
int metadata_server(struct str body, const char *issuer,
		    const struct metadata_rules *rules, struct arena *arena,
		    struct metadata_server *ret, struct err *err) MUST_USE;
/* Defaults of MCP 2025-03-26 for a server without any document. */
void metadata_server_default(const struct url *endpoint, struct arena *arena,
			     struct metadata_server *ret);

#endif
