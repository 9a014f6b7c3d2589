/*
 * Places of the key that encrypts tokens: one row for each.
 *
 * All of them are asked without waiting for a person, and answer within
 * KEY_PLACE_MS. For core/auth/store.c.
 */
#ifndef CORE_AUTH_KEY_PLACE_H
#define CORE_AUTH_KEY_PLACE_H

#include "core/auth/crypto.h"
#include "core/auth/store.h"
#include "core/base/err.h"

/* In all, for the desktop's secret service; the others are at hand. */
#define KEY_PLACE_MS 3000

struct key_place {
	/*
	 * The key that is kept there; where keys are found by their id, the
	 * one of `id` (NULL: any).
	 *
	 * dir	    folder of the tokens
	 * ret	    the caller wipes it
	 * returns  0; 1: there is none
	 * errors   the place cannot be asked: ERR_CREDENTIAL with the cause,
	 *	    ERR_POLICY, ERR_SYS
	 */
	int (*find)(int dir, const unsigned char *id,
		    unsigned char ret[CRYPTO_KEY_BYTES], struct err *err);
	/*
	 * Keep `key` for new files, when there is none yet; of two at the same
	 * time the first wins, and both find that one. errors as above
	 */
	int (*keep)(int dir, const unsigned char id[SEAL_ID_BYTES],
		    const unsigned char key[CRYPTO_KEY_BYTES], struct err *err);
};

extern const struct key_place key_place_service, key_place_keyring;

#endif
