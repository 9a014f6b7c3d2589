/*
 * Options of a command for a remote server: headers, and how it authorizes.
 * Each has a key in [servers.NAME] or [servers.NAME.auth].
 */
#ifndef CORE_CLI_REMOTE_OPTIONS_H
#define CORE_CLI_REMOTE_OPTIONS_H

#include "core/cli/args.h"
#include "core/run/remotes.h"

/* Rows for a command's table of options. */
#define REMOTE_OPTIONS                                                        \
	{"header", 'H', "NAME: VALUE|@FILE",                                  \
	 "a header for the url; of a file, each line is one"},                \
		{"transport", 0, "auto|http|sse|websocket",                   \
		 "how the url is spoken to"},                                 \
		{"insecure-http", 0, NULL,                                    \
		 "plain http beyond loopback, without credentials"},          \
		{"insecure-credentials", 0, NULL, "and with credentials"},    \
		{"ca-file", 0, "FILE",                                        \
		 "PEM of authorities beside those of the system"},            \
		{"browser", 0, "PROGRAM",                                     \
		 "opens the page of a login: your own, not confined"},        \
		{"token-store", 0, "DIR", "the folder of tokens"},            \
		{"store-key", 0, "auto|secret-service|keyring|file",          \
		 "where the key lies that encrypts them"},                    \
		{"oauth-client-id", 0, "ID", "a client that is registered"},  \
		{"oauth-client-secret-file", 0, "FILE", "its secret"},        \
		{"oauth-issuer", 0, "URL", "the issuer that it is for"},      \
		{"oauth-client-metadata-url", 0, "URL",                       \
		 "of a client id metadata document"},                         \
		{"oauth-redirect-uri", 0, "URI", "a fixed one"},              \
		{"oauth-grant", 0,                                            \
		 "authorization_code|client_credentials|jwt-bearer|id-jag",   \
		 "how a token is got"},                                       \
		{"oauth-private-key-file", 0, "FILE",                         \
		 "PEM of the key for client assertions"},                     \
		{"oauth-signing-alg", 0, "ALG", "its algorithm: ES256, …"},   \
		{"oauth-audience", 0, "issuer|token_endpoint",                \
		 "who a client assertion is for"},                            \
		{"oauth-scope", 0, "SCOPES", "scopes to ask for"},            \
		{"oauth-assertion-file", 0, "FILE", "the workload's JWT"},    \
		{"oauth-accept-issuer-slash", 0, NULL,                        \
		 "an issuer may differ by a slash at its end"},               \
		{"oauth-allow-private", 0, NULL,                              \
		 "discovery may lead to private addresses"},                  \
		{"idp-token-endpoint", 0, "URL", "of the identity provider"}, \
		{"idp-client-id", 0, "ID", "the client there"},               \
		{"idp-client-secret-file", 0, "FILE", "its secret there"},    \
		{"idp-issuer", 0, "URL", "the identity provider"},            \
	{                                                                     \
		"idp-id-token-file", 0, "FILE", "the user's ID token"         \
	}

/*
 * What is given goes over what the spec has. Files are read here, their
 * secrets are added to `scrub`.
 *
 * arena   for absolute paths
 * errors  ERR_USAGE, ERR_CREDENTIAL a file that cannot be read
 */
int remote_options_read(const struct args *args, struct scrub *scrub,
			struct arena *arena, struct remote_spec *spec,
			struct err *err) MUST_USE;
/* The first of them that was given, or NULL: they need a remote server. */
const char *remote_options_any(const struct args *args) MUST_USE;

#endif
