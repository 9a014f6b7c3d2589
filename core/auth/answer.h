/*
 * Answers of authorization servers: tokens, registrations, and the query
 * that the browser brings back. Pure.
 *
 * Texts are in the arena, which the caller wipes. A sentence holds the
 * server's `error` and `error_description`, escaped and cut, and no secret.
 *
 * source  OAuth 2.1 sections 3.2.3, 3.2.4, 4.1.2; RFC 7591 section 3.2,
 *	   RFC 8693 section 2.2, RFC 9207
 */
#ifndef CORE_AUTH_ANSWER_H
#define CORE_AUTH_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/auth/grant.h"
#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

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
 * A registration. What the answer says of the method wins; one without it
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
