/*
 * Signed statements: JSON Web Tokens that authenticate this client or prove
 * that it has a key, and the two texts of PKCE.
 *
 *	jwt_alg_choose(key, options->signing_alg, &supported, &alg, err);
 *	jwt_client_assertion(key, alg, &claims, &out, err);
 *
 *	jwt_dpop_proof(key, &proof, &out, err);	    one for each request
 *
 *	jwt_pkce_verifier(&verifier);
 *	jwt_pkce_challenge(buf_str(&verifier), &challenge);
 *
 * It writes only: nothing here judges what others signed. The time comes from
 * the caller; what must be unique is random.
 */
#ifndef CORE_AUTH_JWT_H
#define CORE_AUTH_JWT_H

#include <stdint.h>

#include "core/auth/crypto.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* How long a client assertion holds, seconds; CC-2 allows five minutes. */
#define JWT_ASSERTION_S 300

/*
 * The algorithm for a key.
 *
 * wanted     that of the user; NULL: the first that fits
 * supported  what the server says that it takes; n 0: it says nothing
 * errors     ERR_CREDENTIAL  none fits; names what each side has
 */
int jwt_alg_choose(const struct crypto_key *key, const char *wanted,
		   const struct strlist *supported, enum crypto_alg *ret,
		   struct err *err) MUST_USE;

/*
 * Append a JWS in compact form.
 *
 * header, claims  JSON texts, written as they are
 * errors	   as crypto_sign()
 * source	   RFC 7515 section 7.1
 */
int jwt_sign(const struct crypto_key *key, enum crypto_alg alg,
	     struct str header, struct str claims, struct buf *out,
	     struct err *err) MUST_USE;

struct jwt_assertion {
	const char *client_id;
	const char *audience; /* issuer, or token endpoint: one string */
	int64_t now_s;	      /* since 1970 */
};

/*
 * Append what a client authenticates with by private_key_jwt: it holds from
 * now_s for JWT_ASSERTION_S.
 * errors  as crypto_sign()
 * source  RFC 7523 section 3; MCP extension OAuth client credentials
 */
int jwt_client_assertion(const struct crypto_key *key, enum crypto_alg alg,
			 const struct jwt_assertion *a, struct buf *out,
			 struct err *err) MUST_USE;

struct jwt_proof {
	const char *method; /* of the request: "POST" */
	struct str url; /* of the request; query and fragment are left out */
	const char *access_token; /* of the request; NULL: none */
	const char *nonce;	  /* the server's newest; NULL: none */
	int64_t now_s;		  /* since 1970 */
};

/*
 * Append the value of a DPoP header.
 * errors  as crypto_sign()
 * source  RFC 9449 section 4.2
 */
int jwt_dpop_proof(const struct crypto_key *key, const struct jwt_proof *p,
		   struct buf *out, struct err *err) MUST_USE;

/*
 * Append 43 unreserved characters from 32 random bytes: a PKCE verifier, and
 * as well a state or a jti. A secret: the caller wipes it.
 * source  RFC 7636 section 4.1
 */
void jwt_pkce_verifier(struct buf *out);
/* Append its S256 challenge. source  RFC 7636 section 4.2 */
void jwt_pkce_challenge(struct str verifier, struct buf *out);

#endif
