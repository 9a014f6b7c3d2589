/*
 * The account of this client at one server: the client's identity at the
 * issuer, its tokens, the key that they are bound to.
 *
 *	account_load(store, &owner, NULL, &a, err);	1: nothing is known
 *	account_set(&a.scope, "mail.read");
 *	account_save(store, &owner, &a, err);
 *	account_release(&a);				wipes
 *
 * Kept for each owner (owner.h) and issuer by itself, and which of them is the
 * present one. Where there is no store (NULL) nothing is ever found and saving
 * does nothing.
 *
 * Entries of a version that knew URLs only say not whose they are. One is read
 * for the owner that may take it (`takes_old`) and has the same client, and is
 * that owner's alone from account_open() on; for any other it is not there.
 */
#ifndef CORE_AUTH_ACCOUNT_H
#define CORE_AUTH_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/base/attr.h"
#include "core/base/err.h"

/* A token this near its end is renewed, for requests take time (TO-5). */
#define ACCOUNT_AHEAD_S 60

/* Texts, owned; NULL where there is none. */
#define ACCOUNT_TEXTS(X)                                      \
	X(issuer)                                             \
	X(resource) /* as it goes into requests */            \
	X(token_endpoint)                                     \
	X(revocation_endpoint)                                \
	X(client_id)                                          \
	X(client_secret) /* of a registration only */         \
	X(method)	 /* a word of GRANT_METHODS */        \
	X(redirect_uri)	 /* of a registration */              \
	X(access_token)                                       \
	X(refresh_token)                                      \
	X(scope)    /* requested so far */                    \
	X(granted)  /* scopes that the server says it gave */ \
	X(dpop_key) /* PEM; NULL: the token is not bound */   \
	X(nonce)    /* of the token endpoint, for proofs */   \
	X(seed)	    /* digest of the configured refresh token that was used */

struct account {
#define ACCOUNT_TEXT(name) char *name;
	ACCOUNT_TEXTS(ACCOUNT_TEXT)
#undef ACCOUNT_TEXT
	int64_t expires_s;	  /* of the token, since 1970; 0: unknown */
	int64_t secret_expires_s; /* 0: never */
	bool is_registered;	  /* dynamically, by us */
	bool is_old;		  /* of an old entry, see above */
};

/* Instead of what is there, which is wiped; NULL: none. */
void account_set(char **field, const char *value);
/* Wipes; empty and usable again. */
void account_release(struct account *a);
/* Forget the tokens, keep the client. */
void account_forget_tokens(struct account *a);

/*
 * A configured refresh token, by its digest: note that it was used, or that
 * other tokens came after it. seed  NULL: none is configured
 */
void account_note_seed(struct account *a, const char *seed);
/* Is one configured that was not used yet? */
bool account_has_new_seed(const struct account *a, const char *seed) MUST_USE;

/*
 * issuer   NULL: the present one
 * returns  0; 1: nothing is known, and *ret is empty; `is_old` alone is set
 *	    where an old entry is there that is not this owner's
 * errors   of the store; ERR_SYNTAX  what it holds is none of ours
 */
int account_load(struct store *s, const struct owner *owner, const char *issuer,
		 struct account *ret, struct err *err) MUST_USE;
/*
 * Like account_load(), before the first use: an account that was read from an
 * old entry is this owner's alone from here on.
 * is_lenient  an owner that gets all of it anew: what cannot be opened any
 *	       more (damage, a key that is gone) counts as unknown, with a
 *	       warning; errors  ERR_SYS
 */
int account_open(struct store *s, const struct owner *owner, const char *issuer,
		 bool is_lenient, struct account *ret, struct err *err)
	MUST_USE;
/*
 * Before its first use: an account that was read from an old entry is this
 * owner's from here on, and the old entry is gone. Empty where another process
 * was first.
 */
int account_adopt(struct store *s, const struct owner *owner, struct account *a,
		  struct err *err) MUST_USE;
/* Also makes its issuer the present one. */
int account_save(struct store *s, const struct owner *owner,
		 const struct account *a, struct err *err) MUST_USE;
/* Everything about the present issuer. 1: there was nothing */
int account_remove(struct store *s, const struct owner *owner, struct err *err)
	MUST_USE;

#endif
