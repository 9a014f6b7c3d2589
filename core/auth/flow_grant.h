/*
 * Requests to an authorization server: for tokens, for registration, and the
 * address that a browser is sent to; and what its answers mean.
 *
 *	grant_form(&request, &client, &body, &authorization);
 *
 * Buffers that get secrets are wiped by the caller. Pure.
 *
 * source  OAuth 2.1 sections 2.4, 4.1, 4.2, 4.3; RFC 7591, RFC 7523,
 *	   RFC 8693, RFC 8707; MCP 2026-07-28, basic/authorization
 */
#ifndef CORE_AUTH_FLOW_GRANT_H
#define CORE_AUTH_FLOW_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/auth/flow_find.h"
#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Methods of authentication of a client, in the words of the metadata. */
#define GRANT_METHODS(X)                      \
	X(GRANT_NONE, "none")                 \
	X(GRANT_BASIC, "client_secret_basic") \
	X(GRANT_POST, "client_secret_post")   \
	X(GRANT_KEY, "private_key_jwt")

enum grant_method { GRANT_METHODS(ROW_NAME) };

/* The method to register with: none first, then basic, then post. */
enum grant_method grant_method_to_register(const struct metadata_server *s)
	MUST_USE;

struct grant_client {
	enum grant_method method;
	const char *id;
	const char *secret;    /* of basic and post */
	const char *assertion; /* of a key: the signed statement */
};

#define GRANT_TYPES(X)                                                       \
	X(GRANT_CODE, "authorization_code")                                  \
	X(GRANT_REFRESH, "refresh_token")                                    \
	X(GRANT_CLIENT, "client_credentials")                                \
	X(GRANT_ASSERTION, "urn:ietf:params:oauth:grant-type:jwt-bearer")    \
	X(GRANT_EXCHANGE, "urn:ietf:params:oauth:grant-type:token-exchange") \
	X(GRANT_REVOKE, NULL) /* at another endpoint. RFC 7009 section 2.1 */

enum grant_type { GRANT_TYPES(ROW_NAME) };

/* A request at the token endpoint; NULL where a grant does not have it. */
struct grant_request {
	enum grant_type type;
	const char *code, *redirect_uri, *verifier; /* of a code */
	const char *refresh_token;
	const char *assertion; /* or the subject token of an exchange */
	const char *audience;  /* of an exchange: the issuer it is for */
	const char *resource, *scope;
	const char *token, *token_hint; /* of a revocation */
};

/*
 * The form, and the value of the Authorization header, which stays empty
 * where the method has none.
 */
void grant_form(const struct grant_request *r, const struct grant_client *c,
		struct buf *body, struct buf *authorization);
/* JSON of a dynamic registration; scope may be NULL. */
void grant_registration(const char *redirect_uri, enum grant_method method,
			const char *scope, struct buf *body);

struct grant_ask {
	const char *endpoint; /* may have a query of its own */
	const char *client_id, *redirect_uri, *challenge, *state, *resource;
	const char *scope; /* NULL: none is named */
};

void grant_authorization_url(const struct grant_ask *a, struct buf *out);

/* ---- answers ---- */

struct answer_token {
	const char *access_token;
	const char *refresh_token; /* NULL: none */
	const char *scope;	   /* NULL: as requested */
	bool is_dpop;		   /* bound to a key */
	int64_t expires_in_s;	   /* -1: not said */
	/* Of a refusal: the code, "" when there was none. */
	char error[64];
};

/*
 * JSON, or a form, as some servers send. A refusal within a 200 is one.
 *
 * is_exchange  an ID-JAG is expected, not an access token
 * errors  ERR_PEER, with ret->error; nothing else of *ret is set then
 */
int answer_token(int status, struct str body, bool is_exchange,
		 struct arena *arena, struct answer_token *ret, struct err *err)
	MUST_USE;

struct answer_client {
	const char *id, *secret; /* secret: NULL none */
	enum grant_method method;
	int64_t secret_expires_s; /* since 1970; 0: never */
};

/*
 * A registration. A method that the answer names wins; one without it
 * and with a secret means basic, without a secret none.
 * errors  ERR_PEER with the status and what the server said
 */
int answer_client(int status, struct str body, struct arena *arena,
		  struct answer_client *ret, struct err *err) MUST_USE;

struct answer_expect {
	const char *state, *issuer;
	bool sends_iss; /* announced by the metadata */
};

/*
 * The query of the redirect; the code is appended to `code`. The state is
 * looked at first, then the issuer, and nothing of a query is shown for which
 * one of them is wrong.
 * returns  0; 1: the state is another's, so is the query, and `err` is not set
 * errors   ERR_PEER
 */
int answer_redirect(struct str query, const struct answer_expect *e,
		    struct buf *code, struct err *err) MUST_USE;

#endif
