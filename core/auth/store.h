/*
 * Tokens at rest: one file for each server and issuer, encrypted, mode 0600
 * in a folder of mode 0700, replaced whole.
 *
 *	store_open(dir, &options, &s, err);
 *	store_lock(s, &key, &lock, err);	one refresher among processes
 *	store_read(s, &key, arena, &json, err);	1: nothing there
 *	store_write(s, &key, json, err);
 *	store_unlock(&lock);
 *	store_free(s);
 *
 * Sealed with AES-256-GCM by libcrypto. The key comes from the desktop's
 * secret service where one answers, else from the kernel's keyring of the
 * user, else from a file of mode 0600 beside the tokens, of which doctor
 * warns. Which of them it was is part of each file, so that a lost key is
 * told as such and not as damage.
 */
#ifndef CORE_AUTH_STORE_H
#define CORE_AUTH_STORE_H

#include <stdbool.h>

#include "core/auth/crypto.h"
#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct store;

#define STORE_KEYS(X)                          \
	X(STORE_KEY_AUTO, "auto")              \
	X(STORE_KEY_SERVICE, "secret-service") \
	X(STORE_KEY_KEYRING, "keyring")        \
	X(STORE_KEY_FILE, "file")

enum store_key { STORE_KEYS(ROW_NAME) };

#define STORE_KEY_COUNT (STORE_KEY_FILE + 1)

const char *store_key_word(enum store_key key) MUST_USE;
/* false: no such word */
bool store_key_find(const char *word, enum store_key *ret) MUST_USE;

/*
 * dir     made where it is missing; refused when it is not the user's own, or
 *	   open to others
 * errors  ERR_SYS, ERR_POLICY as above, ERR_UNKNOWN libcrypto is missing
 */
int store_open(const char *dir, enum store_key key, struct store **ret,
	       struct err *err) MUST_USE;
/* Wipes the key. Takes NULL. */
void store_free(struct store *s);
/* Where the key lies; AUTO before it was needed. A door of the tests. */
enum store_key store_key_used(const struct store *s) MUST_USE;

/* The subject of a file, whose name is a digest of the first two. */
struct store_name {
	const char *server;	   /* the owner: owner_text() */
	const char *issuer;	   /* "": the record of the present issuer */
	const struct owner *owner; /* for sentences; NULL: as `server` */
};

/*
 * One JSON document of at most 1 MiB, in the arena, which the caller wipes.
 * returns  0; 1: there is none
 * errors   ERR_CREDENTIAL  it cannot be opened: another key, damage; says what
 *			    to do
 *	    ERR_SYS
 */
int store_read(struct store *s, const struct store_name *name,
	       struct arena *arena, struct str *ret, struct err *err) MUST_USE;
int store_write(struct store *s, const struct store_name *name, struct str json,
		struct err *err) MUST_USE;
/* 1: there was none */
int store_remove(struct store *s, const struct store_name *name,
		 struct err *err) MUST_USE;
/* Owners that have a file, each once. errors as above */
int store_list(struct store *s, struct arena *arena, struct strlist *ret,
	       struct err *err) MUST_USE;

/*
 * A lock of one server among processes. Never waits: returns 1 when another
 * process has it, try again from a timer.
 */
struct store_lock {
	int fd;
};
int store_lock(struct store *s, const char *server, struct store_lock *ret,
	       struct err *err) MUST_USE;
void store_unlock(struct store_lock *lock);

/* Contents of a folder, for doctor; no key is asked for. */
struct store_facts {
	size_t files[STORE_KEY_COUNT]; /* by where their key lies */
	size_t n_broken;	       /* other files, or damaged ones */
	char broken[256];	       /* the first of them, and why */
};

/* Creates nothing. returns  0; 1: no such folder. errors  as store_open() */
int store_look(const char *dir, struct store_facts *ret, struct err *err)
	MUST_USE;

/* ---- the form of a file, which tests and fuzzers read ---- */

/* Enough to tell keys from one another; says nothing about the key. */
#define SEAL_ID_BYTES 8
/* One document; a token of each kind, and what belongs to them. */
#define SEAL_TEXT_MAX (1024 * 1024)
#define SEAL_NAME_MAX 65535
/* Of a whole file. */
#define SEAL_FILE_MAX (SEAL_TEXT_MAX + 2 * SEAL_NAME_MAX + 1024)

/* A file; all of it is borrowed from its bytes. */
struct seal {
	enum store_key place; /* where the key lies; not AUTO */
	struct str server, issuer;
	/* Of a file that was read: */
	const unsigned char *key_id, *nonce;
	struct str bound;  /* everything before the encrypted text */
	struct str sealed; /* encrypted text and tag */
	size_t text_bytes; /* of the text that is sealed */
};

/*
 * Append a file with place, server and issuer of `s` and a new nonce.
 * errors  ERR_LIMIT  text, server or issuer is too long
 *	   others of crypto_seal()
 */
int seal_write(const struct seal *s, const unsigned char key[CRYPTO_KEY_BYTES],
	       struct str text, struct buf *out, struct err *err) MUST_USE;
/* Pure. errors  ERR_SYNTAX  no such file, or of a later version */
int seal_parse(struct str file, struct seal *ret, struct err *err) MUST_USE;
/* out: text_bytes. returns and errors as crypto_open() */
int seal_open(const struct seal *s, const unsigned char key[CRYPTO_KEY_BYTES],
	      char *out, struct err *err) MUST_USE;

#endif
