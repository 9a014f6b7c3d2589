/*
 * Cryptography, all of it by libcrypto, which is loaded on first use: a run
 * that signs and seals nothing maps none of it. On it stand the statements
 * that this client signs (JSON Web Tokens) and the two texts of PKCE.
 *
 *	crypto_seal(key, nonce, head, text, &out, err);
 *
 *	AUTO(crypto_key_freep) struct crypto_key *k = NULL;
 *	crypto_key_read(pem, &k, err);
 *	jwt_client_assertion(k, &assertion, &out, err);
 *	jwt_dpop_proof(k, &proof, &out, err);	    one for each request
 *
 *	jwt_pkce_verifier(&verifier);
 *	jwt_pkce_challenge(buf_str(&verifier), &challenge);
 *
 * Statements are written only: nothing here judges those of others. The time
 * comes from the caller. Nothing is kept that is not wiped; buffers that are
 * given in are wiped by their owner.
 */
#ifndef CORE_AUTH_CRYPTO_H
#define CORE_AUTH_CRYPTO_H

#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Sizes of AES-256-GCM. */
#define CRYPTO_KEY_BYTES 32
#define CRYPTO_NONCE_BYTES 12
#define CRYPTO_TAG_BYTES 16

/* errors  ERR_UNKNOWN  there is no libcrypto of OpenSSL 3 */
int crypto_load(struct err *err) MUST_USE;

/* Random bytes of the kernel, without the library; ends the process where
   there are none (never on Linux). */
void crypto_random(void *out, size_t n);

/*
 * AES-256-GCM. Appends the encrypted text and its tag: text.n +
 * CRYPTO_TAG_BYTES bytes. A nonce must never serve a key twice.
 *
 * bound   not encrypted; it must be the same when it is opened
 * errors  ERR_UNKNOWN  as crypto_load(); ERR_SYS the library refuses
 * source  NIST SP 800-38D
 */
int crypto_seal(const unsigned char key[CRYPTO_KEY_BYTES],
		const unsigned char nonce[CRYPTO_NONCE_BYTES], struct str bound,
		struct str text, struct buf *out, struct err *err) MUST_USE;
/*
 * out      sealed.n - CRYPTO_TAG_BYTES bytes; wiped when it fails
 * returns  0; 1: not sealed with this key, nonce and bound, or changed since
 * errors   as above
 */
int crypto_open(const unsigned char key[CRYPTO_KEY_BYTES],
		const unsigned char nonce[CRYPTO_NONCE_BYTES], struct str bound,
		struct str sealed, char *out, struct err *err) MUST_USE;

/* ---- key pairs ---- */

/*
 * Algorithms of JWS and the keys that they are for, the preferred one first.
 * source  RFC 7518 section 3.1, RFC 8037, RFC 9864 (another name for EdDSA)
 */
#define CRYPTO_ALGS(X)                         \
	X(ALG_ES256, "ES256", KEY_P256)        \
	X(ALG_ES384, "ES384", KEY_P384)        \
	X(ALG_EDDSA, "EdDSA", KEY_ED25519)     \
	X(ALG_ED25519, "Ed25519", KEY_ED25519) \
	X(ALG_RS256, "RS256", KEY_RSA)         \
	X(ALG_PS256, "PS256", KEY_RSA)

enum crypto_alg { CRYPTO_ALGS(ROW_NAME) };

#define CRYPTO_ALG_COUNT (ALG_PS256 + 1)

struct crypto_key;

/*
 * A private key in PEM: RSA of 2048 to 16384 bits, EC on P-256 or P-384,
 * Ed25519; PKCS #8 or the older forms.
 *
 * errors  ERR_CREDENTIAL  none of these, or under a passphrase; says what to
 *			   do and shows nothing of it
 *	   ERR_UNKNOWN	   as crypto_load()
 */
int crypto_key_read(struct str pem, struct crypto_key **ret, struct err *err)
	MUST_USE;
/* A new one on P-256. errors  ERR_UNKNOWN, ERR_SYS */
int crypto_key_make(struct crypto_key **ret, struct err *err) MUST_USE;
/* Wipes it. Takes NULL. */
void crypto_key_free(struct crypto_key *k);
/* For AUTO(). */
void crypto_key_freep(struct crypto_key **k);

/*
 * Append it as PEM (PKCS #8, no passphrase) for crypto_key_read(); the caller
 * keeps it secret and wipes it. errors  ERR_SYS
 */
int crypto_key_write(const struct crypto_key *k, struct buf *out,
		     struct err *err) MUST_USE;

/*
 * Append a signature as JWS has it: of ECDSA both numbers at full length, 64
 * or 96 bytes, not DER.
 *
 * alg     one for this type of key, else ERR_CREDENTIAL
 * errors  ERR_SYS  the library refuses
 */
int crypto_sign(const struct crypto_key *k, enum crypto_alg alg,
		struct str text, struct buf *out, struct err *err) MUST_USE;

/* ---- signed statements ---- */

/* How long a client assertion holds, seconds; CC-2 allows five minutes. */
#define JWT_ASSERTION_S 300

struct jwt_assertion {
	const char *client_id;
	const char *audience; /* issuer, or token endpoint: one string */
	int64_t now_s;	      /* since 1970 */
	const char *alg;     /* wanted by the user; NULL: the first that fits */
	struct strlist algs; /* taken by the server; empty: not said */
};

/*
 * Append the JWS by which a client authenticates with private_key_jwt: it
 * holds from now_s for JWT_ASSERTION_S.
 * errors  ERR_CREDENTIAL  no algorithm fits; names what each side has
 *	   others of crypto_sign()
 * source  RFC 7523 section 3; MCP extension OAuth client credentials
 */
int jwt_client_assertion(const struct crypto_key *k,
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
 * Append the value of a DPoP header, which holds the public half of the key.
 * errors  as crypto_sign()
 * source  RFC 9449 section 4.2; RFC 7517, RFC 7518 section 6, RFC 8037
 */
int jwt_dpop_proof(const struct crypto_key *k, const struct jwt_proof *p,
		   struct buf *out, struct err *err) MUST_USE;

/*
 * Append 43 unreserved characters from 32 random bytes: a PKCE verifier, and
 * as well a state. A secret: the caller wipes it.
 * source  RFC 7636 section 4.1
 */
void jwt_pkce_verifier(struct buf *out);
/* Append its S256 challenge. source  RFC 7636 section 4.2 */
void jwt_pkce_challenge(struct str verifier, struct buf *out);

#endif
