#include "core/auth/seal.h"

#include <assert.h>

#include "core/base/mem.h"
#include "core/base/sha256.h"

#define MAGIC "MATINSTK"
#define VERSION 1

/* Places of the head, bytes from its beginning. */
enum {
	AT_VERSION = 8,
	AT_KEY = 9,
	AT_ZERO = 10,
	AT_KEY_ID = 12,
	AT_NONCE = 20,
	AT_SERVER_N = 32,
	AT_ISSUER_N = 34,
	AT_SEALED_N = 36,
	HEAD_BYTES = 40,
};

void seal_key_id(const unsigned char key[CRYPTO_KEY_BYTES],
		 unsigned char ret[SEAL_ID_BYTES])
{
	static const char purpose[] = "id of a key of matins";
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, purpose, sizeof(purpose));
	sha256_add(&s, key, CRYPTO_KEY_BYTES);
	sha256_end(&s, sum);
	memcpy(ret, sum, SEAL_ID_BYTES);
	mem_wipe(&s, sizeof(s));
}

int seal_key_take(const unsigned char key[CRYPTO_KEY_BYTES],
		  const unsigned char *id, unsigned char ret[CRYPTO_KEY_BYTES])
{
	unsigned char found[SEAL_ID_BYTES];

	seal_key_id(key, found);
	if (id && memcmp(id, found, sizeof(found)) != 0)
		return 1;
	memcpy(ret, key, CRYPTO_KEY_BYTES);
	return 0;
}

static void put_number(unsigned char *to, size_t bytes, uint32_t value)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get_number(const char *p, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | (unsigned char)p[i];
	return value;
}

int seal_write(const struct seal_head *head,
	       const unsigned char key[CRYPTO_KEY_BYTES], struct str text,
	       struct buf *out, struct err *err)
{
	unsigned char fixed[HEAD_BYTES] = {0};
	AUTO(buf_release) struct buf bound = BUF_INIT(BUF_UNBOUNDED);

	assert(head->key != STORE_KEY_AUTO);
	if (text.n > SEAL_TEXT_MAX || head->server.n > SEAL_NAME_MAX ||
	    head->issuer.n > SEAL_NAME_MAX)
		return err_set(err, ERR_LIMIT,
			       "more than %d bytes to be kept, or an address "
			       "of more than %d",
			       SEAL_TEXT_MAX, SEAL_NAME_MAX);
	memcpy(fixed, MAGIC, sizeof(MAGIC) - 1);
	fixed[AT_VERSION] = VERSION;
	fixed[AT_KEY] = (unsigned char)head->key;
	memcpy(fixed + AT_KEY_ID, head->key_id, SEAL_ID_BYTES);
	crypto_random(fixed + AT_NONCE, CRYPTO_NONCE_BYTES);
	put_number(fixed + AT_SERVER_N, 2, (uint32_t)head->server.n);
	put_number(fixed + AT_ISSUER_N, 2, (uint32_t)head->issuer.n);
	put_number(fixed + AT_SEALED_N, 4,
		   (uint32_t)(text.n + CRYPTO_TAG_BYTES));
	buf_add(&bound, fixed, sizeof(fixed));
	buf_add_str(&bound, head->server);
	buf_add_str(&bound, head->issuer);
	buf_add_str(out, buf_str(&bound));
	return crypto_seal(key, fixed + AT_NONCE, buf_str(&bound), text, out,
			   err);
}

static int refuse_damaged(struct err *err)
{
	return err_set(err, ERR_SYNTAX, "damaged");
}

int seal_parse(struct str file, struct seal *ret, struct err *err)
{
	size_t server_n, issuer_n, sealed_n;
	struct seal s = {0};

	if (file.n < HEAD_BYTES ||
	    memcmp(file.p, MAGIC, sizeof(MAGIC) - 1) != 0)
		return err_set(err, ERR_SYNTAX, "not a file of tokens");
	if (file.p[AT_VERSION] != VERSION)
		return err_set(err, ERR_SYNTAX,
			       "a newer matins wrote it (version %d)",
			       (unsigned char)file.p[AT_VERSION]);
	s.head.key = (enum store_key)(unsigned char)file.p[AT_KEY];
	server_n = get_number(file.p + AT_SERVER_N, 2);
	issuer_n = get_number(file.p + AT_ISSUER_N, 2);
	sealed_n = get_number(file.p + AT_SEALED_N, 4);
	if (s.head.key <= STORE_KEY_AUTO || s.head.key > STORE_KEY_FILE ||
	    get_number(file.p + AT_ZERO, 2) != 0 ||
	    sealed_n < CRYPTO_TAG_BYTES ||
	    sealed_n > SEAL_TEXT_MAX + CRYPTO_TAG_BYTES ||
	    file.n != HEAD_BYTES + server_n + issuer_n + sealed_n)
		return refuse_damaged(err);
	memcpy(s.head.key_id, file.p + AT_KEY_ID, SEAL_ID_BYTES);
	s.nonce = (const unsigned char *)file.p + AT_NONCE;
	s.head.server = (struct str){file.p + HEAD_BYTES, server_n};
	s.head.issuer = (struct str){file.p + HEAD_BYTES + server_n, issuer_n};
	s.bound = (struct str){file.p, HEAD_BYTES + server_n + issuer_n};
	s.sealed = (struct str){file.p + s.bound.n, sealed_n};
	*ret = s;
	return 0;
}

size_t seal_text_bytes(const struct seal *s)
{
	return s->sealed.n - CRYPTO_TAG_BYTES;
}

int seal_open(const struct seal *s, const unsigned char key[CRYPTO_KEY_BYTES],
	      char *out, struct err *err)
{
	return crypto_open(key, s->nonce, s->bound, s->sealed, out, err);
}
