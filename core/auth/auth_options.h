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
	/* aud of a client assertion: the issuer, or the token endpoint */
	bool audience_is_token_endpoint;
	/* Members by auth.def; of a secret the value, not a file's name. */
#define AUTH_TEXT(key, ...) const char *key;
#define AUTH_SECRET(key, ...) const char *key;
#define AUTH_FLAG(key, ...) bool key;
#include "core/auth/auth.def"
};

/* Options that contradict each other. errors  ERR_SYNTAX */
int auth_options_judge(const struct auth_options *o, struct err *err) MUST_USE;

#endif
