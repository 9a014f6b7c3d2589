/*
 * The form of a file of tokens.
 *
 *	seal_write(&head, key, text, &file, err);
 *
 *	if (seal_parse(file, &s, err) < 0) ...	not such a file
 *	key = ... the one that s.head.key and s.head.key_id name ...
 *	seal_open(&s, key, text, err);
 *
 * Head (not secret, and bound to the text, so that no file can stand in for
 * another's): magic "MATINSTK", version 1, where the key lies, two zeros, id
 * of the key, nonce, lengths of server, issuer and encrypted text; then these
 * three. Numbers are little-endian. The encrypted text ends in its tag.
 */
#ifndef CORE_AUTH_SEAL_H
#define CORE_AUTH_SEAL_H

#include "core/auth/crypto.h"
#include "core/auth/store.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Enough to tell keys from one another; says nothing about the key. */
#define SEAL_ID_BYTES 8
/* One document; a token of each kind, and what belongs to them. */
#define SEAL_TEXT_MAX (1024 * 1024)
#define SEAL_NAME_MAX 65535
/* Of a whole file. */
#define SEAL_FILE_MAX (SEAL_TEXT_MAX + 2 * SEAL_NAME_MAX + 1024)

struct seal_head {
	enum store_key key; /* where the key lies; not AUTO */
	unsigned char key_id[SEAL_ID_BYTES];
	struct str server, issuer; /* borrowed */
};

/* A file that was read; all of it is borrowed from the bytes. */
struct seal {
	struct seal_head head;
	const unsigned char *nonce;
	struct str bound;  /* everything before the encrypted text */
	struct str sealed; /* encrypted text and tag */
};

void seal_key_id(const unsigned char key[CRYPTO_KEY_BYTES],
		 unsigned char ret[SEAL_ID_BYTES]);
/*
 * Copy a key that has this id; any key where `id` is NULL.
 * returns 0; 1: it is another key
 */
int seal_key_take(const unsigned char key[CRYPTO_KEY_BYTES],
		  const unsigned char *id, unsigned char ret[CRYPTO_KEY_BYTES])
	MUST_USE;

/*
 * Append a file, with a new nonce.
 * errors  ERR_LIMIT  text, server or issuer is too long
 *	   others of crypto_seal()
 */
int seal_write(const struct seal_head *head,
	       const unsigned char key[CRYPTO_KEY_BYTES], struct str text,
	       struct buf *out, struct err *err) MUST_USE;
/* Pure. errors  ERR_SYNTAX  no such file, or of a later version */
int seal_parse(struct str file, struct seal *ret, struct err *err) MUST_USE;
/* Bytes of the text that is sealed. */
size_t seal_text_bytes(const struct seal *s) MUST_USE;
/* out: so many bytes. returns and errors as crypto_open() */
int seal_open(const struct seal *s, const unsigned char key[CRYPTO_KEY_BYTES],
	      char *out, struct err *err) MUST_USE;

#endif
