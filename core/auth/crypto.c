#include "core/auth/crypto.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/base/dl.h"
#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

/* ---- the library ---- */

#define LIBRARY "libcrypto.so.3"

#define CRYPTO_FUNCTIONS(X)                 \
	X(EVP_CIPHER_CTX_new)               \
	X(EVP_CIPHER_CTX_free)              \
	X(EVP_CIPHER_CTX_ctrl)              \
	X(EVP_aes_256_gcm)                  \
	X(EVP_EncryptInit_ex)               \
	X(EVP_EncryptUpdate)                \
	X(EVP_EncryptFinal_ex)              \
	X(EVP_DecryptInit_ex)               \
	X(EVP_DecryptUpdate)                \
	X(EVP_DecryptFinal_ex)              \
	X(EVP_MD_CTX_new)                   \
	X(EVP_MD_CTX_free)                  \
	X(EVP_sha256)                       \
	X(EVP_sha384)                       \
	X(EVP_DigestSignInit)               \
	X(EVP_DigestSign)                   \
	X(EVP_PKEY_free)                    \
	X(EVP_PKEY_get_base_id)             \
	X(EVP_PKEY_get_bits)                \
	X(EVP_PKEY_get_group_name)          \
	X(EVP_PKEY_get_bn_param)            \
	X(EVP_PKEY_get_raw_public_key)      \
	X(EVP_PKEY_Q_keygen)                \
	X(EVP_PKEY_CTX_set_rsa_padding)     \
	X(EVP_PKEY_CTX_set_rsa_pss_saltlen) \
	X(PEM_read_bio_PrivateKey)          \
	X(PEM_write_bio_PKCS8PrivateKey)    \
	X(BIO_new_mem_buf)                  \
	X(BIO_new)                          \
	X(BIO_s_secmem)                     \
	X(BIO_ctrl)                         \
	X(BIO_free)                         \
	X(BN_num_bits)                      \
	X(BN_bn2binpad)                     \
	X(BN_free)                          \
	X(d2i_ECDSA_SIG)                    \
	X(ECDSA_SIG_get0)                   \
	X(ECDSA_SIG_free)                   \
	X(ERR_clear_error)

struct crypto_lib {
	CRYPTO_FUNCTIONS(DL_MEMBER)
};

/* NULL with ERR_UNKNOWN when it is not installed; static. */
static const struct crypto_lib *load_library(struct err *err)
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
	return load_library(err) ? 0 : -1;
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
	c->lib = load_library(err);
	if (!c->lib)
		return -1;
	c->ctx = c->lib->EVP_CIPHER_CTX_new();
	return c->ctx ? 0 : err_sys(err, ENOMEM, "libcrypto");
}

static int fail_cipher(const struct crypto_lib *lib, const char *what,
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
		return fail_cipher(c.lib, "encrypt by AES-256-GCM", err);
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
		return fail_cipher(c.lib, "decrypt by AES-256-GCM", err);
	if (c.lib->EVP_DecryptUpdate(c.ctx, to, &n,
				     (const unsigned char *)sealed.p,
				     (int)text_bytes) &&
	    c.lib->EVP_DecryptFinal_ex(c.ctx, to + n, &end) > 0)
		return 0;
	c.lib->ERR_clear_error();
	mem_wipe(out, text_bytes);
	return 1;
}

/* ---- key pairs ---- */

/* Bits of RSA: less is not safe, more libcrypto does not sign with. */
#define RSA_BITS_MIN 2048
#define RSA_BITS_MAX 16384
#define SIGNATURE_BYTES_MAX (RSA_BITS_MAX / 8)

struct crypto_key {
	const struct crypto_lib *lib;
	EVP_PKEY *pkey; /* owned */
	enum crypto_key_type type;
	struct buf jwk; /* of the public half */
};

/* ---- words ---- */

static const struct {
	const char *word;
	enum crypto_key_type key;
} algs[] = {
#define ALG_ROW(name, word, key) {word, key},
	CRYPTO_ALGS(ALG_ROW)
#undef ALG_ROW
};

/* Both static. */
static const char *crypto_key_word(enum crypto_key_type type)
{
	static const char *const words[] = {
#define KEY_ROW(name, word) word,
		CRYPTO_KEYS(KEY_ROW)
#undef KEY_ROW
	};

	return words[type];
}

static const char *crypto_alg_word(enum crypto_alg alg)
{
	return algs[alg].word;
}

/* The keys that it is for. */
static enum crypto_key_type crypto_alg_key(enum crypto_alg alg)
{
	return algs[alg].key;
}

bool crypto_alg_find(struct str word, enum crypto_alg *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(algs); i++)
		if (str_is(word, algs[i].word)) {
			*ret = (enum crypto_alg)i;
			return true;
		}
	return false;
}

/* ---- the public half ---- */

/* Length of one coordinate, bytes. */
static int coordinate_bytes(enum crypto_key_type type)
{
	return type == KEY_P384 ? 48 : 32;
}

static void put_member(struct buf *out, const char *name, const void *bytes,
		       size_t n)
{
	buf_addf(out, "\"%s\":\"", name);
	base64_encode(BASE64_URL, (struct str){bytes, n}, out);
	buf_addc(out, '"');
}

/* n: bytes of the number, 0: as many as it has */
static int put_number(struct crypto_key *k, const char *parameter,
		      const char *name, int n, struct err *err)
{
	unsigned char bytes[RSA_BITS_MAX / 8];
	BIGNUM *number = NULL;
	bool done;

	if (!k->lib->EVP_PKEY_get_bn_param(k->pkey, parameter, &number))
		return err_set(err, ERR_CREDENTIAL,
			       "the public half of the key cannot be read");
	if (!n)
		n = (k->lib->BN_num_bits(number) + 7) / 8;
	done = n <= (int)sizeof(bytes) &&
	       k->lib->BN_bn2binpad(number, bytes, n) == n;
	k->lib->BN_free(number);
	if (!done)
		return err_set(err, ERR_CREDENTIAL,
			       "a number in the key is too large");
	put_member(&k->jwk, name, bytes, (size_t)n);
	return 0;
}

static int put_rsa(struct crypto_key *k, struct err *err)
{
	buf_addc(&k->jwk, '{');
	if (put_number(k, OSSL_PKEY_PARAM_RSA_E, "e", 0, err) < 0)
		return -1;
	buf_adds(&k->jwk, ",\"kty\":\"RSA\",");
	return put_number(k, OSSL_PKEY_PARAM_RSA_N, "n", 0, err);
}

static int put_ec(struct crypto_key *k, struct err *err)
{
	const int n = coordinate_bytes(k->type);

	buf_addf(&k->jwk, "{\"crv\":\"%s\",\"kty\":\"EC\",",
		 k->type == KEY_P384 ? "P-384" : "P-256");
	if (put_number(k, OSSL_PKEY_PARAM_EC_PUB_X, "x", n, err) < 0)
		return -1;
	buf_addc(&k->jwk, ',');
	return put_number(k, OSSL_PKEY_PARAM_EC_PUB_Y, "y", n, err);
}

static int put_ed25519(struct crypto_key *k, struct err *err)
{
	unsigned char point[32];
	size_t n = sizeof(point);

	if (!k->lib->EVP_PKEY_get_raw_public_key(k->pkey, point, &n))
		return err_set(err, ERR_CREDENTIAL,
			       "the public half of the key cannot be read");
	buf_adds(&k->jwk, "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",");
	put_member(&k->jwk, "x", point, n);
	return 0;
}

static int make_jwk(struct crypto_key *k, struct err *err)
{
	int r = k->type == KEY_RSA	 ? put_rsa(k, err)
		: k->type == KEY_ED25519 ? put_ed25519(k, err)
					 : put_ec(k, err);

	buf_addc(&k->jwk, '}');
	return r;
}

struct str crypto_key_jwk(const struct crypto_key *k)
{
	return buf_str(&k->jwk);
}

/* ---- to have one ---- */

void crypto_key_free(struct crypto_key *k)
{
	if (!k)
		return;
	if (k->pkey)
		k->lib->EVP_PKEY_free(k->pkey);
	buf_release(&k->jwk);
	free(k);
}

void crypto_key_freep(struct crypto_key **k)
{
	crypto_key_free(*k);
	*k = NULL;
}

enum crypto_key_type crypto_key_type(const struct crypto_key *k)
{
	return k->type;
}

static int ec_type(struct crypto_key *k, struct err *err)
{
	char name[64] = "";
	size_t n;

	if (!k->lib->EVP_PKEY_get_group_name(k->pkey, name, sizeof(name), &n))
		name[0] = '\0';
	if (!strcmp(name, "prime256v1") || !strcmp(name, "P-256"))
		k->type = KEY_P256;
	else if (!strcmp(name, "secp384r1") || !strcmp(name, "P-384"))
		k->type = KEY_P384;
	else
		return err_set(err, ERR_CREDENTIAL,
			       "an EC key on %s, not on P-256 or P-384",
			       *name ? name : "a curve without a name");
	return 0;
}

static int rsa_type(struct crypto_key *k, struct err *err)
{
	int bits = k->lib->EVP_PKEY_get_bits(k->pkey);

	if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX)
		return err_set(err, ERR_CREDENTIAL,
			       "an RSA key of %d bits, not of %d to %d", bits,
			       RSA_BITS_MIN, RSA_BITS_MAX);
	k->type = KEY_RSA;
	return 0;
}

static int find_type(struct crypto_key *k, struct err *err)
{
	switch (k->lib->EVP_PKEY_get_base_id(k->pkey)) {
	case EVP_PKEY_RSA:
		return rsa_type(k, err);
	case EVP_PKEY_EC:
		return ec_type(k, err);
	case EVP_PKEY_ED25519:
		k->type = KEY_ED25519;
		return 0;
	default:
		return err_set(err, ERR_CREDENTIAL,
			       "a private key of a kind that is not used "
			       "here: RSA, EC P-256 or P-384, or Ed25519 is "
			       "due");
	}
}

/* Takes pkey. */
static int adopt_key(const struct crypto_lib *lib, EVP_PKEY *pkey,
		     struct crypto_key **ret, struct err *err)
{
	AUTO(crypto_key_freep) struct crypto_key *k = mem_zalloc(sizeof(*k));

	k->lib = lib;
	k->pkey = pkey;
	k->jwk = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	if (find_type(k, err) < 0 || make_jwk(k, err) < 0) {
		lib->ERR_clear_error();
		return -1;
	}
	*ret = k;
	k = NULL;
	return 0;
}

/* Refuse to ask for a passphrase, and remember that one was wanted. */
static int no_passphrase(char *to, int size, int writing, void *arg)
{
	bool *was_asked = arg;

	(void)to;
	(void)size;
	(void)writing;
	*was_asked = true;
	return -1;
}

int crypto_key_read(struct str pem, struct crypto_key **ret, struct err *err)
{
	const struct crypto_lib *lib = load_library(err);
	bool was_asked = false;
	EVP_PKEY *pkey;
	BIO *bio;

	if (!lib)
		return -1;
	if (pem.n > LIMIT_SECRET_BYTES)
		return err_set(err, ERR_CREDENTIAL,
			       "more than %d bytes are no private key",
			       LIMIT_SECRET_BYTES);
	bio = lib->BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
	if (!bio)
		return err_sys(err, ENOMEM, "libcrypto");
	pkey = lib->PEM_read_bio_PrivateKey(bio, NULL, no_passphrase,
					    &was_asked);
	lib->BIO_free(bio);
	if (pkey)
		return adopt_key(lib, pkey, ret, err);
	lib->ERR_clear_error();
	if (was_asked)
		return err_set(err, ERR_CREDENTIAL,
			       "the private key is under a passphrase, which "
			       "nobody can be asked for; write one without: "
			       "openssl pkey -in OLD -out NEW");
	return err_set(
		err, ERR_CREDENTIAL,
		"not a private key in PEM (-----BEGIN PRIVATE KEY-----)");
}

int crypto_key_make(struct crypto_key **ret, struct err *err)
{
	const struct crypto_lib *lib = load_library(err);
	EVP_PKEY *pkey;

	if (!lib)
		return -1;
	pkey = lib->EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	if (pkey)
		return adopt_key(lib, pkey, ret, err);
	lib->ERR_clear_error();
	return err_sys(err, EINVAL, "libcrypto cannot make an EC key");
}

int crypto_key_write(const struct crypto_key *k, struct buf *out,
		     struct err *err)
{
	BIO *bio = k->lib->BIO_new(k->lib->BIO_s_secmem());
	char *pem = NULL;
	long n;
	int r = 0;

	if (!bio)
		return err_sys(err, ENOMEM, "libcrypto");
	if (k->lib->PEM_write_bio_PKCS8PrivateKey(bio, k->pkey, NULL, NULL, 0,
						  NULL, NULL) &&
	    (n = k->lib->BIO_ctrl(bio, BIO_CTRL_INFO, 0, &pem)) > 0)
		buf_add(out, pem, (size_t)n);
	else
		r = err_sys(err, EINVAL, "libcrypto cannot write the key");
	k->lib->BIO_free(bio); /* wipes it */
	k->lib->ERR_clear_error();
	return r;
}

/* ---- signatures ---- */

/* The two numbers of an ECDSA signature, each at full length. */
static bool add_raw(const struct crypto_key *k, const unsigned char *der,
		    size_t n, struct buf *out)
{
	const int size = coordinate_bytes(k->type);
	ECDSA_SIG *sig = k->lib->d2i_ECDSA_SIG(NULL, &der, (long)n);
	unsigned char raw[2 * 48];
	const BIGNUM *r, *s;
	bool done;

	if (!sig)
		return false;
	k->lib->ECDSA_SIG_get0(sig, &r, &s);
	done = k->lib->BN_bn2binpad(r, raw, size) == size &&
	       k->lib->BN_bn2binpad(s, raw + size, size) == size;
	k->lib->ECDSA_SIG_free(sig);
	if (done)
		buf_add(out, raw, 2 * (size_t)size);
	return done;
}

static bool sign_text(const struct crypto_key *k, enum crypto_alg alg,
		      struct str text, EVP_MD_CTX *ctx, struct buf *out)
{
	const struct crypto_lib *lib = k->lib;
	unsigned char signature[SIGNATURE_BYTES_MAX];
	size_t n = sizeof(signature);
	EVP_PKEY_CTX *options = NULL; /* of ctx */
	const EVP_MD *md = k->type == KEY_ED25519 ? NULL
			   : alg == ALG_ES384	  ? lib->EVP_sha384()
						  : lib->EVP_sha256();

	if (!lib->EVP_DigestSignInit(ctx, &options, md, NULL, k->pkey))
		return false;
	if (alg == ALG_PS256 && (lib->EVP_PKEY_CTX_set_rsa_padding(
					 options, RSA_PKCS1_PSS_PADDING) <= 0 ||
				 lib->EVP_PKEY_CTX_set_rsa_pss_saltlen(
					 options, RSA_PSS_SALTLEN_DIGEST) <= 0))
		return false;
	if (!lib->EVP_DigestSign(ctx, signature, &n,
				 (const unsigned char *)text.p, text.n))
		return false;
	if (k->type == KEY_P256 || k->type == KEY_P384)
		return add_raw(k, signature, n, out);
	buf_add(out, signature, n);
	return true;
}

int crypto_sign(const struct crypto_key *k, enum crypto_alg alg,
		struct str text, struct buf *out, struct err *err)
{
	EVP_MD_CTX *ctx;
	bool done;

	if (crypto_alg_key(alg) != k->type)
		return err_set(err, ERR_CREDENTIAL,
			       "%s needs an %s key, and this is an %s key",
			       crypto_alg_word(alg),
			       crypto_key_word(crypto_alg_key(alg)),
			       crypto_key_word(k->type));
	ctx = k->lib->EVP_MD_CTX_new();
	if (!ctx)
		return err_sys(err, ENOMEM, "libcrypto");
	done = sign_text(k, alg, text, ctx, out);
	k->lib->EVP_MD_CTX_free(ctx);
	if (done)
		return 0;
	k->lib->ERR_clear_error();
	return err_sys(err, EINVAL, "libcrypto cannot sign by %s",
		       crypto_alg_word(alg));
}

/* ---- signed statements ---- */

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

/* ---- the algorithm ---- */

static bool is_listed(const struct strlist *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->item[i], word))
			return true;
	return list->n == 0;
}

static void add_list(const struct strlist *list, struct buf *out)
{
	for (size_t i = 0; i < list->n; i++)
		buf_addf(out, "%s%s", i ? ", " : "", list->item[i]);
}

static int no_alg(const struct crypto_key *key, const struct strlist *supported,
		  struct err *err)
{
	AUTO(buf_release) struct buf theirs = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);

	add_list(supported, &theirs);
	for (size_t i = 0; i < CRYPTO_ALG_COUNT; i++)
		if (crypto_alg_key((enum crypto_alg)i) == crypto_key_type(key))
			buf_addf(&ours, "%s%s", ours.n ? ", " : "",
				 crypto_alg_word((enum crypto_alg)i));
	return err_set(err, ERR_CREDENTIAL,
		       "an %s key signs by %s, and the server takes %s",
		       crypto_key_word(crypto_key_type(key)), buf_cstr(&ours),
		       buf_cstr(&theirs));
}

static int alg_wanted(const struct crypto_key *key, const char *wanted,
		      const struct strlist *supported, enum crypto_alg *ret,
		      struct err *err)
{
	AUTO(buf_release) struct buf theirs = BUF_INIT(BUF_UNBOUNDED);
	enum crypto_alg alg;

	if (!crypto_alg_find(str_of(wanted), &alg))
		return err_set(err, ERR_CREDENTIAL,
			       "unknown signing_alg \"%s\"", wanted);
	if (crypto_alg_key(alg) != crypto_key_type(key))
		return err_set(err, ERR_CREDENTIAL,
			       "signing_alg \"%s\" needs an %s key, and this "
			       "is an %s key",
			       wanted, crypto_key_word(crypto_alg_key(alg)),
			       crypto_key_word(crypto_key_type(key)));
	if (!is_listed(supported, wanted)) {
		add_list(supported, &theirs);
		return err_set(err, ERR_CREDENTIAL,
			       "the server does not take signing_alg \"%s\", "
			       "but %s",
			       wanted, buf_cstr(&theirs));
	}
	*ret = alg;
	return 0;
}

int jwt_alg_choose(const struct crypto_key *key, const char *wanted,
		   const struct strlist *supported, enum crypto_alg *ret,
		   struct err *err)
{
	if (wanted)
		return alg_wanted(key, wanted, supported, ret, err);
	for (size_t i = 0; i < CRYPTO_ALG_COUNT; i++) {
		enum crypto_alg alg = (enum crypto_alg)i;

		if (crypto_alg_key(alg) != crypto_key_type(key) ||
		    !is_listed(supported, crypto_alg_word(alg)))
			continue;
		*ret = alg;
		return 0;
	}
	return no_alg(key, supported, err);
}

/* ---- the token ---- */

int jwt_sign(const struct crypto_key *key, enum crypto_alg alg,
	     struct str header, struct str claims, struct buf *out,
	     struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf signature = BUF_INIT(BUF_UNBOUNDED);

	base64_encode(BASE64_URL, header, &text);
	buf_addc(&text, '.');
	base64_encode(BASE64_URL, claims, &text);
	if (crypto_sign(key, alg, buf_str(&text), &signature, err) < 0)
		return -1;
	buf_add_str(out, buf_str(&text));
	buf_addc(out, '.');
	base64_encode(BASE64_URL, buf_str(&signature), out);
	return 0;
}

/* A member that is unique: 128 random bits. */
static void put_jti(struct jw *w)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	char random[16];

	crypto_random(random, sizeof(random));
	base64_encode(BASE64_URL, (struct str){random, sizeof(random)}, &text);
	jw_kv_str(w, "jti", buf_str(&text));
}

int jwt_client_assertion(const struct crypto_key *key, enum crypto_alg alg,
			 const struct jwt_assertion *a, struct buf *out,
			 struct err *err)
{
	AUTO(buf_release) struct buf header = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf claims = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &header, false);
	jw_object(&w);
	jw_kv_cstr(&w, "alg", crypto_alg_word(alg));
	jw_kv_cstr(&w, "typ", "JWT");
	jw_end(&w);
	jw_init(&w, &claims, false);
	jw_object(&w);
	jw_kv_cstr(&w, "iss", a->client_id);
	jw_kv_cstr(&w, "sub", a->client_id);
	jw_kv_cstr(&w, "aud", a->audience);
	jw_kv_int(&w, "iat", a->now_s);
	jw_kv_int(&w, "exp", a->now_s + JWT_ASSERTION_S);
	put_jti(&w);
	jw_end(&w);
	return jwt_sign(key, alg, buf_str(&header), buf_str(&claims), out, err);
}

static void put_digest(struct str text, struct buf *out)
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, text.p, text.n);
	sha256_end(&s, sum);
	base64_encode(BASE64_URL, (struct str){(char *)sum, sizeof(sum)}, out);
}

static struct str without_query(struct str url)
{
	for (size_t i = 0; i < url.n; i++)
		if (url.p[i] == '?' || url.p[i] == '#')
			return (struct str){url.p, i};
	return url;
}

static void put_proof(struct jw *w, const struct jwt_proof *p)
{
	AUTO(buf_release) struct buf ath = BUF_INIT(BUF_UNBOUNDED);

	jw_object(w);
	put_jti(w);
	jw_kv_cstr(w, "htm", p->method);
	jw_kv_str(w, "htu", without_query(p->url));
	jw_kv_int(w, "iat", p->now_s);
	if (p->access_token) {
		put_digest(str_of(p->access_token), &ath);
		jw_kv_str(w, "ath", buf_str(&ath));
	}
	if (p->nonce)
		jw_kv_cstr(w, "nonce", p->nonce);
	jw_end(w);
}

int jwt_dpop_proof(const struct crypto_key *key, const struct jwt_proof *p,
		   struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf header = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf claims = BUF_INIT(BUF_UNBOUNDED);
	const struct strlist any = {NULL, 0};
	enum crypto_alg alg;
	struct jw w;

	if (jwt_alg_choose(key, NULL, &any, &alg, err) < 0)
		return -1;
	jw_init(&w, &header, false);
	jw_object(&w);
	jw_kv_cstr(&w, "typ", "dpop+jwt");
	jw_kv_cstr(&w, "alg", crypto_alg_word(alg));
	jw_kv_raw(&w, "jwk", crypto_key_jwk(key));
	jw_end(&w);
	jw_init(&w, &claims, false);
	put_proof(&w, p);
	return jwt_sign(key, alg, buf_str(&header), buf_str(&claims), out, err);
}

/* ---- PKCE ---- */

void jwt_pkce_verifier(struct buf *out)
{
	char random[32];

	crypto_random(random, sizeof(random));
	base64_encode(BASE64_URL, (struct str){random, sizeof(random)}, out);
	mem_wipe(random, sizeof(random));
}

void jwt_pkce_challenge(struct str verifier, struct buf *out)
{
	put_digest(verifier, out);
}
