/* Configuration of the credentials for one remote server. Pure. */
#ifndef CORE_AUTH_AUTH_OPTIONS_H
#define CORE_AUTH_AUTH_OPTIONS_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/transport/http.h"

#define AUTH_GRANTS(X)                                   \
	X(AUTH_CODE, "authorization_code")               \
	X(AUTH_CLIENT_CREDENTIALS, "client_credentials") \
	X(AUTH_JWT_BEARER, "jwt-bearer")                 \
	X(AUTH_ID_JAG, "id-jag")

enum auth_grant {
#define AUTH_GRANT(name, word) name,
	AUTH_GRANTS(AUTH_GRANT)
#undef AUTH_GRANT
};

/* false: no such word */
bool auth_grant_find(const char *word, enum auth_grant *ret) MUST_USE;
const char *auth_grant_word(enum auth_grant grant) MUST_USE;

/* Options of one server; texts are borrowed, NULL: not configured. */
struct auth_options {
	const char *url; /* of the MCP endpoint */
	/*
	 * Lines given by the user, each "Name: value": Authorization, an API
	 * key, anything. With an Authorization among them no flow starts.
	 */
	const struct http_headers *headers;
	bool is_off; /* plain http: send no token, never start a flow */

	enum auth_grant grant;
	const char *client_id;
	const char *client_secret; /* the value, not a file's name */
	const char *issuer; /* the only one that the client above is for */
	const char *client_metadata_url;
	const char *redirect_uri; /* a fixed one; NULL: 127.0.0.1, any port */
	const char *private_key;  /* PEM */
	const char *signing_alg;  /* "ES256", "RS256", …; NULL: by the key */
	/* aud of a client assertion: the issuer, or the token endpoint */
	bool audience_is_token_endpoint;
	const char *scope; /* instead of what the server asks for */
	/* Of jwt-bearer: read anew for each request (WI-1). */
	const char *assertion_file;
	/* Of id-jag: */
	const char *idp_token_endpoint, *idp_client_id, *idp_client_secret,
		*idp_issuer;
	const char *idp_id_token_file;
	/* An issuer may differ by one slash at the end of an empty path (AS-4)
	 */
	bool accept_issuer_slash;
	/* Discovery may lead to private addresses (SEC-2). */
	bool allow_private;
};

/* Options that contradict each other. errors  ERR_SYNTAX */
int auth_options_judge(const struct auth_options *o, struct err *err) MUST_USE;

#endif
