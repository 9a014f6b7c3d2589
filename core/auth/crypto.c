#include "core/auth/crypto.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/auth/crypto_lib.h"
#include "core/base/mem.h"

/* ---- the library ---- */

#define LIBRARY "libcrypto.so.3"

const struct crypto_lib *crypto_lib(struct err *err)
{
	static const char *const names[] = {CRYPTO_FUNCTIONS(DL_NAME)};
	static struct crypto_lib functions;
	static struct dl dl = DL(LIBRARY, names, functions);

	if (dl_load(&dl))
		return &functions;
	err_set(err, ERR_UNKNOWN,
		"authorization needs " LIBRARY ", which is not here; install "
		"it: apt-get install libssl3");
	return NULL;
}

int crypto_load(struct err *err)
{
	return crypto_lib(err) ? 0 : -1;
}

/* ---- without it ---- */

void crypto_random(void *out, size_t n)
{
	char *p = out;

	while (n) {
		ssize_t got = getrandom(p, n, 0);

		if (got < 0 && errno != EINTR)
			abort();
		if (got < 0)
			continue;
		p += got;
		n -= (size_t)got;
	}
}

bool crypto_equal(struct str a, struct str b)
{
	volatile unsigned char differs = 0;

	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		differs |= (unsigned char)(a.p[i] ^ b.p[i]);
	return differs == 0;
}

/* ---- AES-256-GCM ---- */

struct cipher {
	const struct crypto_lib *lib;
	EVP_CIPHER_CTX *ctx;
};

static void cipher_release(struct cipher *c)
{
	if (c->ctx)
		c->lib->EVP_CIPHER_CTX_free(c->ctx);
}

static int cipher_init(struct cipher *c, struct err *err)
{
	c->lib = crypto_lib(err);
	if (!c->lib)
		return -1;
	c->ctx = c->lib->EVP_CIPHER_CTX_new();
	return c->ctx ? 0 : err_sys(err, ENOMEM, "libcrypto");
}

static int cannot(const struct crypto_lib *lib, const char *what,
		  struct err *err)
{
	lib->ERR_clear_error();
	return err_sys(err, EINVAL, "libcrypto cannot %s", what);
}

int crypto_seal(const unsigned char key[CRYPTO_KEY_BYTES],
		const unsigned char nonce[CRYPTO_NONCE_BYTES], struct str bound,
		struct str text, struct buf *out, struct err *err)
{
	AUTO(cipher_release) struct cipher c = {0};
	unsigned char *to;
	int n, end;

	assert(text.n <= INT_MAX - CRYPTO_TAG_BYTES && bound.n <= INT_MAX);
	if (cipher_init(&c, err) < 0)
		return -1;
	to = (unsigned char *)buf_room(out, text.n + CRYPTO_TAG_BYTES);
	assert(to); /* our own output is not bounded */
	if (!c.lib->EVP_EncryptInit_ex(c.ctx, c.lib->EVP_aes_256_gcm(), NULL,
				       key, nonce) ||
	    !c.lib->EVP_EncryptUpdate(c.ctx, NULL, &n,
				      (const unsigned char *)bound.p,
				      (int)bound.n) ||
	    !c.lib->EVP_EncryptUpdate(c.ctx, to, &n,
				      (const unsigned char *)text.p,
				      (int)text.n) ||
	    !c.lib->EVP_EncryptFinal_ex(c.ctx, to + n, &end) ||
	    !c.lib->EVP_CIPHER_CTX_ctrl(c.ctx, EVP_CTRL_GCM_GET_TAG,
					CRYPTO_TAG_BYTES, to + text.n))
		return cannot(c.lib, "encrypt by AES-256-GCM", err);
	out->n += text.n + CRYPTO_TAG_BYTES;
	out->p[out->n] = '\0';
	return 0;
}

int crypto_open(const unsigned char key[CRYPTO_KEY_BYTES],
		const unsigned char nonce[CRYPTO_NONCE_BYTES], struct str bound,
		struct str sealed, char *out, struct err *err)
{
	AUTO(cipher_release) struct cipher c = {0};
	unsigned char tag[CRYPTO_TAG_BYTES];
	unsigned char *to = (unsigned char *)out;
	size_t text_bytes;
	int n, end;

	assert(sealed.n <= INT_MAX && bound.n <= INT_MAX);
	if (sealed.n < CRYPTO_TAG_BYTES)
		return 1;
	text_bytes = sealed.n - CRYPTO_TAG_BYTES;
	memcpy(tag, sealed.p + text_bytes, sizeof(tag));
	if (cipher_init(&c, err) < 0)
		return -1;
	if (!c.lib->EVP_DecryptInit_ex(c.ctx, c.lib->EVP_aes_256_gcm(), NULL,
				       key, nonce) ||
	    !c.lib->EVP_DecryptUpdate(c.ctx, NULL, &n,
				      (const unsigned char *)bound.p,
				      (int)bound.n) ||
	    !c.lib->EVP_CIPHER_CTX_ctrl(c.ctx, EVP_CTRL_GCM_SET_TAG,
					sizeof(tag), tag))
		return cannot(c.lib, "decrypt by AES-256-GCM", err);
	if (c.lib->EVP_DecryptUpdate(c.ctx, to, &n,
				     (const unsigned char *)sealed.p,
				     (int)text_bytes) &&
	    c.lib->EVP_DecryptFinal_ex(c.ctx, to + n, &end) > 0)
		return 0;
	c.lib->ERR_clear_error();
	mem_wipe(out, text_bytes);
	return 1;
}
