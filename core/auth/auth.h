/*
 * Credentials for one remote server: the header of this room for the rest of
 * the program.
 *
 *	auth_new(&context, &options, &a, err);
 *	transport gets auth_authorizer(a)	during calls
 *	auth_login(a, done, arg)		`matins auth login`
 *	auth_free(a);
 *
 * With `headers` alone there is no flow: a 401 is surfaced (AU-5). Otherwise
 * a 401 starts OAuth 2.1 as MCP wants it: discovery, identity of the client,
 * the grant, the token, kept encrypted by core/auth/store.h.
 *
 * Files of the room, each with a header:
 *	auth.c		the authorizer: which token, and when; logins
 *	flow.c		one authorization: the walk through its steps
 *	flow_find.c	discovery, with the documents that it reads (pure)
 *	flow_grant.c	client, person, tokens, with their texts (pure)
 *	flow_ask.c	requests of the steps (flow_steps.h, as all flow*.c)
 *	account.c	the account of this client at one server
 *	owner.c		the owner of an account			(pure)
 *	guard.c		which URLs of a server may be asked	(pure)
 *	challenge.c	WWW-Authenticate			(pure)
 *	words.c		words of a peer				(pure)
 *	redirect.c	the loopback listener
 *	crypto.c	keys, signatures; the one door to libcrypto
 *	store.c		tokens at rest, their folder and files
 *	key_*.c		places of the key that encrypts them
 */
#ifndef CORE_AUTH_AUTH_H
#define CORE_AUTH_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/loop.h"
#include "core/base/url.h"
#include "core/transport/authorizer.h"
#include "core/transport/http.h"

#define AUTH_GRANTS(X)                                   \
	X(AUTH_CODE, "authorization_code")               \
	X(AUTH_CLIENT_CREDENTIALS, "client_credentials") \
	X(AUTH_JWT_BEARER, "jwt-bearer")                 \
	X(AUTH_ID_JAG, "id-jag")

enum auth_grant { AUTH_GRANTS(ROW_NAME) };

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

struct auth;
struct owner;
struct store;

/* How a person is reached. */
struct auth_person {
	/*
	 * Open a page in the user's browser. -1 with err: it cannot be.
	 * NULL: there is nobody; what needs a person fails at once.
	 */
	int (*open)(void *arg, const char *url, struct err *err);
	/* Say a line on the way ("waiting for the browser"). May be NULL. */
	void (*say)(void *arg, const char *line);
	void *arg;
	uint64_t timeout_ms; /* for the person; 0: 5 min */
};

struct auth_context {
	struct loop *loop;
	struct http *http;
	struct store *store; /* NULL: tokens live as long as the process */
	struct auth_person person;
	/* Every token, code and secret that is met: for the scrubber. */
	void (*on_secret)(void *arg, struct str value);
	/* Instead, for what a file of the user's holds; NULL: as the others. */
	void (*on_file)(void *arg, struct str value);
	/* May this host and port be used? the leash's `net`; NULL: all. */
	bool (*may_use)(void *arg, struct str host, uint16_t port,
			struct err *err);
	/* The range that the MCP server's own address is of; read when it is
	   needed, for it is known from the first connection on. */
	const enum address_class *server_range;
	void *arg;		 /* of the two */
	const char *server_name; /* of "matins auth login NAME"; NULL: by url */
	const char *config;	 /* " -c FILE" of it; NULL: "" */
	/* No other server in use has its URL, so tokens of a version that knew
	   URLs only are its. */
	bool is_only_one;
};

/*
 * Both are read here; texts and pointers in them must outlive it.
 * errors  ERR_SYNTAX  options that contradict each other, a bad URL
 */
int auth_new(const struct auth_context *context,
	     const struct auth_options *options, struct auth **ret,
	     struct err *err) MUST_USE;
void auth_free(struct auth *a);
/* For a transport; it lives as long as `a`. */
struct authorizer *auth_authorizer(struct auth *a) MUST_USE;

/*
 * Authorize now, whatever is stored. The server is asked for its challenge
 * by one request without credentials.
 * done  once, from the loop; err NULL: it worked
 */
void auth_login(struct auth *a, void (*done)(void *arg, const struct err *err),
		void *arg);

/* A login needs a person, and there is none (auth_person.open is NULL). */
bool auth_lacks_person(const struct auth *a) MUST_USE;
/* Are tokens kept beyond this process? */
bool auth_keeps(const struct auth *a) MUST_USE;

/*
 * The address that the browser was sent to, pasted by the person: where the
 * browser runs elsewhere, or the redirect address is not of this machine.
 * false: nobody waits for one
 */
bool auth_redirected(struct auth *a, struct str url) MUST_USE;

/* The stored account of this server, without secrets, for `auth status`. */
struct auth_status {
	bool has_token, has_refresh_token, has_client, is_expired, is_bound;
	char issuer[512], client_id[512], scope[512];
	int64_t expires_s; /* since 1970; 0: unknown */
};
/* errors of the store */
int auth_status(struct auth *a, struct auth_status *ret, struct err *err)
	MUST_USE;
/* Like auth_status(), of an owner (store_list(), owner_read()). */
int auth_status_stored(struct store *store, const struct owner *owner,
		       int64_t now_s, struct auth_status *ret, struct err *err)
	MUST_USE;
/* Forget its tokens and registrations, after revoking where the issuer says
   how (RFC 7009). done as above. */
void auth_logout(struct auth *a, void (*done)(void *arg, const struct err *err),
		 void *arg);

#endif
