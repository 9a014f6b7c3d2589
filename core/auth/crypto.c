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
#include <sys/random.h>

#include "core/auth/words.h"
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
	X(EVP_CipherInit_ex)                \
	X(EVP_CipherUpdate)                 \
	X(EVP_CipherFinal_ex)               \
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

static struct {
	CRYPTO_FUNCTIONS(DL_MEMBER)
} lib;

int crypto_load(struct err *err)
{
	static const char *const names[] = {CRYPTO_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);

	return dl_load(&dl)
		       ? 0
		       : err_set(err, ERR_UNKNOWN,
				 "authorization needs " LIBRARY
				 ", which is not here; install it: apt-get "
				 "install libssl3");
}

/* Forget what the library says of a failure, and say ours. */
static int fail(struct err *err, const char *what)
{
	lib.ERR_clear_error();
	return err_sys(err, EINVAL, "libcrypto cannot %s", what);
}

static int lack_memory(struct err *err)
{
	return err_sys(err, ENOMEM, "libcrypto");
}

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

/* ---- AES-256-GCM ---- */

/*
 * Encrypt and write the tag, or decrypt and compare it.
 *
 * tag      CRYPTO_TAG_BYTES; written when it encrypts, else read
 * returns  0; 1: the tag does not match
 */
static int run_gcm(bool seals, const unsigned char *key,
		   const unsigned char *nonce, struct str bound, struct str in,
		   void *to, void *tag, struct err *err)
{
	EVP_CIPHER_CTX *ctx;
	bool is_ready, is_done;
	int n, end;

	assert(in.n <= INT_MAX - CRYPTO_TAG_BYTES && bound.n <= INT_MAX);
	if (crypto_load(err) < 0)
		return -1;
	ctx = lib.EVP_CIPHER_CTX_new();
	if (!ctx)
		return lack_memory(err);
	is_ready = lib.EVP_CipherInit_ex(ctx, lib.EVP_aes_256_gcm(), NULL, key,
					 nonce, seals) &&
		   lib.EVP_CipherUpdate(ctx, NULL, &n, (const void *)bound.p,
					(int)bound.n) &&
		   (seals || lib.EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG,
						     CRYPTO_TAG_BYTES, tag));
	is_done = is_ready &&
		  lib.EVP_CipherUpdate(ctx, to, &n, (const void *)in.p,
				       (int)in.n) &&
		  lib.EVP_CipherFinal_ex(ctx, (unsigned char *)to + n, &end) >
			  0 &&
		  (!seals || lib.EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG,
						     CRYPTO_TAG_BYTES, tag));
	lib.EVP_CIPHER_CTX_free(ctx);
	if (is_done)
		return 0;
	if (seals || !is_ready)
		return fail(err, seals ? "encrypt by AES-256-GCM"
				       : "decrypt by AES-256-GCM");
	lib.ERR_clear_error();
	return 1;
}

int crypto_seal(const unsigned char key[CRYPTO_KEY_BYTES],
		const unsigned char nonce[CRYPTO_NONCE_BYTES], struct str bound,
		struct str text, struct buf *out, struct err *err)
{
	char *to = buf_room(out, text.n + CRYPTO_TAG_BYTES);

	assert(to); /* our own output is not bounded */
	if (run_gcm(true, key, nonce, bound, text, to, to + text.n, err) < 0)
		return -1;
	out->n += text.n + CRYPTO_TAG_BYTES;
	out->p[out->n] = '\0';
	return 0;
}

int crypto_open(const unsigned char key[CRYPTO_KEY_BYTES],
		const unsigned char nonce[CRYPTO_NONCE_BYTES], struct str bound,
		struct str sealed, char *out, struct err *err)
{
	unsigned char tag[CRYPTO_TAG_BYTES];
	int r;

	if (sealed.n < sizeof(tag))
		return 1;
	sealed.n -= sizeof(tag);
	memcpy(tag, sealed.p + sealed.n, sizeof(tag));
	r = run_gcm(false, key, nonce, bound, sealed, out, tag, err);
	if (r)
		mem_wipe(out, sealed.n);
	return r;
}

/* ---- key pairs ---- */

/* Bits of RSA: less is not safe, more libcrypto does not sign with. */
#define RSA_BITS_MIN 2048
#define RSA_BITS_MAX 16384

enum key_type { KEY_RSA, KEY_P256, KEY_P384, KEY_ED25519 };

static const char *const key_words[] = {
	[KEY_RSA] = "RSA",
	[KEY_P256] = "EC P-256",
	[KEY_P384] = "EC P-384",
	[KEY_ED25519] = "Ed25519",
};

struct crypto_key {
	EVP_PKEY *pkey; /* owned */
	enum key_type type;
};

void crypto_key_free(struct crypto_key *k)
{
	if (k)
		lib.EVP_PKEY_free(k->pkey);
	free(k);
}

void crypto_key_freep(struct crypto_key **k)
{
	crypto_key_free(*k);
	*k = NULL;
}

static int ec_type(const EVP_PKEY *pkey, enum key_type *ret, struct err *err)
{
	char name[64] = "";
	size_t n;

	if (!lib.EVP_PKEY_get_group_name(pkey, name, sizeof(name), &n))
		name[0] = '\0';
	if (!strcmp(name, "prime256v1") || !strcmp(name, "P-256"))
		*ret = KEY_P256;
	else if (!strcmp(name, "secp384r1") || !strcmp(name, "P-384"))
		*ret = KEY_P384;
	else
		return err_set(err, ERR_CREDENTIAL,
			       "an EC key on %s, not on P-256 or P-384",
			       *name ? name : "a curve without a name");
	return 0;
}

static int find_type(const EVP_PKEY *pkey, enum key_type *ret, struct err *err)
{
	int bits;

	switch (lib.EVP_PKEY_get_base_id(pkey)) {
	case EVP_PKEY_RSA:
		*ret = KEY_RSA;
		bits = lib.EVP_PKEY_get_bits(pkey);
		if (bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX)
			return 0;
		return err_set(err, ERR_CREDENTIAL,
			       "an RSA key of %d bits, not of %d to %d", bits,
			       RSA_BITS_MIN, RSA_BITS_MAX);
	case EVP_PKEY_EC:
		return ec_type(pkey, ret, err);
	case EVP_PKEY_ED25519:
		*ret = KEY_ED25519;
		return 0;
	default:
		return err_set(err, ERR_CREDENTIAL,
			       "a private key of a kind that is not used "
			       "here: RSA, EC P-256 or P-384, or Ed25519 is "
			       "due");
	}
}

/* Takes pkey. */
static int adopt_key(EVP_PKEY *pkey, struct crypto_key **ret, struct err *err)
{
	AUTO(crypto_key_freep) struct crypto_key *k = mem_zalloc(sizeof(*k));

	k->pkey = pkey;
	if (find_type(pkey, &k->type, err) < 0) {
		lib.ERR_clear_error();
		return -1;
	}
	*ret = k;
	k = NULL;
	return 0;
}

/* Refuse to ask for a passphrase, and remember that one was wanted. */
static int no_passphrase(UNUSED char *to, UNUSED int size, UNUSED int writing,
			 void *arg)
{
	*(bool *)arg = true;
	return -1;
}

int crypto_key_read(struct str pem, struct crypto_key **ret, struct err *err)
{
	bool was_asked = false;
	EVP_PKEY *pkey;
	BIO *bio;

	if (crypto_load(err) < 0)
		return -1;
	if (pem.n > LIMIT_SECRET_BYTES)
		return err_set(err, ERR_CREDENTIAL,
			       "more than %d bytes are no private key",
			       LIMIT_SECRET_BYTES);
	bio = lib.BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
	if (!bio)
		return lack_memory(err);
	pkey = lib.PEM_read_bio_PrivateKey(bio, NULL, no_passphrase,
					   &was_asked);
	lib.BIO_free(bio);
	if (pkey)
		return adopt_key(pkey, ret, err);
	lib.ERR_clear_error();
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
	EVP_PKEY *pkey;

	if (crypto_load(err) < 0)
		return -1;
	pkey = lib.EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	return pkey ? adopt_key(pkey, ret, err) : fail(err, "make an EC key");
}

int crypto_key_write(const struct crypto_key *k, struct buf *out,
		     struct err *err)
{
	BIO *bio = lib.BIO_new(lib.BIO_s_secmem());
	char *pem = NULL;
	long n = 0;

	if (!bio)
		return lack_memory(err);
	if (lib.PEM_write_bio_PKCS8PrivateKey(bio, k->pkey, NULL, NULL, 0, NULL,
					      NULL) &&
	    (n = lib.BIO_ctrl(bio, BIO_CTRL_INFO, 0, &pem)) > 0)
		buf_add(out, pem, (size_t)n);
	lib.BIO_free(bio); /* wipes it */
	if (n <= 0)
		return fail(err, "write the key");
	lib.ERR_clear_error();
	return 0;
}

/* ---- the public half: JSON Web Key, required members, sorted ---- */

/* Bytes of one number of an EC key. */
static int coordinate_bytes(enum key_type type)
{
	return type == KEY_P384 ? 48 : 32;
}

static int refuse_public(struct err *err)
{
	return err_set(err, ERR_CREDENTIAL,
		       "the public half of the key cannot be read");
}

static void put_bytes(struct jw *w, const char *name, const void *bytes,
		      size_t n)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	base64_encode(BASE64_URL, (struct str){bytes, n}, &b);
	jw_kv_str(w, name, buf_str(&b));
}

/* n: bytes of the number, 0: as many as it has */
static int put_number(struct jw *w, const struct crypto_key *k,
		      const char *name, const char *parameter, int n,
		      struct err *err)
{
	unsigned char bytes[RSA_BITS_MAX / 8];
	BIGNUM *number = NULL;
	bool done;

	if (!lib.EVP_PKEY_get_bn_param(k->pkey, parameter, &number))
		return refuse_public(err);
	if (!n)
		n = (lib.BN_num_bits(number) + 7) / 8;
	done = n <= (int)sizeof(bytes) &&
	       lib.BN_bn2binpad(number, bytes, n) == n;
	lib.BN_free(number);
	if (!done)
		return err_set(err, ERR_CREDENTIAL,
			       "a number in the key is too large");
	put_bytes(w, name, bytes, (size_t)n);
	return 0;
}

static int put_ec(struct jw *w, const struct crypto_key *k, struct err *err)
{
	const int n = coordinate_bytes(k->type);

	jw_kv_cstr(w, "crv", k->type == KEY_P384 ? "P-384" : "P-256");
	jw_kv_cstr(w, "kty", "EC");
	return put_number(w, k, "x", OSSL_PKEY_PARAM_EC_PUB_X, n, err) < 0
		       ? -1
		       : put_number(w, k, "y", OSSL_PKEY_PARAM_EC_PUB_Y, n,
				    err);
}

static int put_ed25519(struct jw *w, const struct crypto_key *k,
		       struct err *err)
{
	unsigned char point[32];
	size_t n = sizeof(point);

	if (!lib.EVP_PKEY_get_raw_public_key(k->pkey, point, &n))
		return refuse_public(err);
	jw_kv_cstr(w, "crv", "Ed25519");
	jw_kv_cstr(w, "kty", "OKP");
	put_bytes(w, "x", point, n);
	return 0;
}

static int put_jwk(struct jw *w, const struct crypto_key *k, struct err *err)
{
	int r = 0;

	jw_kv_object(w, "jwk");
	if (k->type == KEY_ED25519) {
		r = put_ed25519(w, k, err);
	} else if (k->type != KEY_RSA) {
		r = put_ec(w, k, err);
	} else {
		r = put_number(w, k, "e", OSSL_PKEY_PARAM_RSA_E, 0, err);
		jw_kv_cstr(w, "kty", "RSA");
		if (r == 0)
			r = put_number(w, k, "n", OSSL_PKEY_PARAM_RSA_N, 0,
				       err);
	}
	jw_end(w);
	if (r < 0)
		lib.ERR_clear_error();
	return r;
}

/* ---- signatures ---- */

static const struct {
	const char *word;
	enum key_type key;
} algs[] = {
#define ALG_ROW(name, word, key) {word, key},
	CRYPTO_ALGS(ALG_ROW)
#undef ALG_ROW
};

/* The two numbers of an ECDSA signature, each at full length. */
static bool add_raw(const struct crypto_key *k, const unsigned char *der,
		    size_t n, struct buf *out)
{
	const int size = coordinate_bytes(k->type);
	ECDSA_SIG *sig = lib.d2i_ECDSA_SIG(NULL, &der, (long)n);
	unsigned char raw[2 * 48];
	const BIGNUM *r, *s;
	bool done;

	if (!sig)
		return false;
	lib.ECDSA_SIG_get0(sig, &r, &s);
	done = lib.BN_bn2binpad(r, raw, size) == size &&
	       lib.BN_bn2binpad(s, raw + size, size) == size;
	lib.ECDSA_SIG_free(sig);
	if (done)
		buf_add(out, raw, 2 * (size_t)size);
	return done;
}

static bool sign_text(const struct crypto_key *k, enum crypto_alg alg,
		      struct str text, EVP_MD_CTX *ctx, struct buf *out)
{
	unsigned char signature[RSA_BITS_MAX / 8];
	size_t n = sizeof(signature);
	EVP_PKEY_CTX *options = NULL; /* of ctx */
	const EVP_MD *md = k->type == KEY_ED25519 ? NULL
			   : alg == ALG_ES384	  ? lib.EVP_sha384()
						  : lib.EVP_sha256();

	if (!lib.EVP_DigestSignInit(ctx, &options, md, NULL, k->pkey))
		return false;
	if (alg == ALG_PS256 && (lib.EVP_PKEY_CTX_set_rsa_padding(
					 options, RSA_PKCS1_PSS_PADDING) <= 0 ||
				 lib.EVP_PKEY_CTX_set_rsa_pss_saltlen(
					 options, RSA_PSS_SALTLEN_DIGEST) <= 0))
		return false;
	if (!lib.EVP_DigestSign(ctx, signature, &n,
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

	if (algs[alg].key != k->type)
		return err_set(err, ERR_CREDENTIAL,
			       "%s needs an %s key, and this is an %s key",
			       algs[alg].word, key_words[algs[alg].key],
			       key_words[k->type]);
	ctx = lib.EVP_MD_CTX_new();
	if (!ctx)
		return lack_memory(err);
	done = sign_text(k, alg, text, ctx, out);
	lib.EVP_MD_CTX_free(ctx);
	if (done)
		return 0;
	lib.ERR_clear_error();
	return err_sys(err, EINVAL, "libcrypto cannot sign by %s",
		       algs[alg].word);
}

/* ---- the algorithm ---- */

static bool is_taken(const struct strlist *supported, const char *word)
{
	return !supported->n || list_has(supported, word);
}

static int refuse_alg(const struct crypto_key *k, const char *wanted,
		      const struct strlist *supported, struct err *err)
{
	AUTO(buf_release) struct buf theirs = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < supported->n; i++)
		buf_addf(&theirs, "%s%s", i ? ", " : "", supported->item[i]);
	if (wanted)
		return err_set(err, ERR_CREDENTIAL,
			       "the server does not take signing_alg \"%s\", "
			       "but %s",
			       wanted, buf_cstr(&theirs));
	for (size_t i = 0; i < ARRAY_LEN(algs); i++)
		if (algs[i].key == k->type)
			buf_addf(&ours, "%s%s", ours.n ? ", " : "",
				 algs[i].word);
	return err_set(err, ERR_CREDENTIAL,
		       "an %s key signs by %s, and the server takes %s",
		       key_words[k->type], buf_cstr(&ours), buf_cstr(&theirs));
}

/* The one that is wanted, else the first for this key that is taken. */
static int choose_alg(const struct crypto_key *k, const char *wanted,
		      const struct strlist *supported, enum crypto_alg *ret,
		      struct err *err)
{
	size_t i = 0;

	while (i < ARRAY_LEN(algs) &&
	       (wanted ? strcmp(algs[i].word, wanted) != 0
		       : algs[i].key != k->type ||
				 !is_taken(supported, algs[i].word)))
		i++;
	*ret = (enum crypto_alg)i;
	if (i == ARRAY_LEN(algs) && wanted)
		return err_set(err, ERR_CREDENTIAL,
			       "unknown signing_alg \"%s\"", wanted);
	if (i < ARRAY_LEN(algs) && algs[i].key != k->type)
		return err_set(err, ERR_CREDENTIAL,
			       "signing_alg \"%s\" needs an %s key, and this "
			       "is an %s key",
			       wanted, key_words[algs[i].key],
			       key_words[k->type]);
	return i < ARRAY_LEN(algs) && is_taken(supported, algs[i].word)
		       ? 0
		       : refuse_alg(k, wanted, supported, err);
}

/* ---- signed statements ---- */

/* A JWS in compact form, RFC 7515 section 7.1, of two JSON texts. */
static int add_jws(const struct crypto_key *k, enum crypto_alg alg,
		   const struct buf *header, const struct buf *claims,
		   struct buf *out, struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf signature = BUF_INIT(BUF_UNBOUNDED);

	base64_encode(BASE64_URL, buf_str(header), &text);
	buf_addc(&text, '.');
	base64_encode(BASE64_URL, buf_str(claims), &text);
	if (crypto_sign(k, alg, buf_str(&text), &signature, err) < 0)
		return -1;
	buf_add_str(out, buf_str(&text));
	buf_addc(out, '.');
	base64_encode(BASE64_URL, buf_str(&signature), out);
	return 0;
}

/* A member that is unique: 128 random bits. */
static void put_jti(struct jw *w)
{
	char random[16];

	crypto_random(random, sizeof(random));
	put_bytes(w, "jti", random, sizeof(random));
}

int jwt_client_assertion(const struct crypto_key *k,
			 const struct jwt_assertion *a, struct buf *out,
			 struct err *err)
{
	AUTO(buf_release) struct buf header = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf claims = BUF_INIT(BUF_UNBOUNDED);
	enum crypto_alg alg;
	struct jw w;

	if (choose_alg(k, a->alg, &a->algs, &alg, err) < 0)
		return -1;
	w = jw_begin(&header);
	jw_kv_cstr(&w, "alg", algs[alg].word);
	jw_kv_cstr(&w, "typ", "JWT");
	jw_end(&w);
	w = jw_begin(&claims);
	jw_kv_cstr(&w, "iss", a->client_id);
	jw_kv_cstr(&w, "sub", a->client_id);
	jw_kv_cstr(&w, "aud", a->audience);
	jw_kv_int(&w, "iat", a->now_s);
	jw_kv_int(&w, "exp", a->now_s + JWT_ASSERTION_S);
	put_jti(&w);
	jw_end(&w);
	return add_jws(k, alg, &header, &claims, out, err);
}

void jwt_pkce_challenge(struct str verifier, struct buf *out)
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, verifier.p, verifier.n);
	sha256_end(&s, sum);
	base64_encode(BASE64_URL, (struct str){(char *)sum, sizeof(sum)}, out);
}

void jwt_pkce_verifier(struct buf *out)
{
	char random[32];

	crypto_random(random, sizeof(random));
	base64_encode(BASE64_URL, (struct str){random, sizeof(random)}, out);
	mem_wipe(random, sizeof(random));
}

static void put_proof(struct jw *w, const struct jwt_proof *p)
{
	AUTO(buf_release) struct buf ath = BUF_INIT(BUF_UNBOUNDED);
	struct str url = p->url;

	for (url.n = 0; url.n < p->url.n; url.n++)
		if (url.p[url.n] == '?' || url.p[url.n] == '#')
			break;
	jw_object(w);
	put_jti(w);
	jw_kv_cstr(w, "htm", p->method);
	jw_kv_str(w, "htu", url);
	jw_kv_int(w, "iat", p->now_s);
	if (p->access_token) {
		/* SHA-256 in Base64, as for a verifier */
		jwt_pkce_challenge(str_of(p->access_token), &ath);
		jw_kv_str(w, "ath", buf_str(&ath));
	}
	jw_kv_opt(w, "nonce", p->nonce);
	jw_end(w);
}

int jwt_dpop_proof(const struct crypto_key *k, const struct jwt_proof *p,
		   struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf header = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf claims = BUF_INIT(BUF_UNBOUNDED);
	const struct strlist any = {NULL, 0};
	enum crypto_alg alg;
	struct jw w;

	if (choose_alg(k, NULL, &any, &alg, err) < 0)
		return -1;
	w = jw_begin(&header);
	jw_kv_cstr(&w, "typ", "dpop+jwt");
	jw_kv_cstr(&w, "alg", algs[alg].word);
	if (put_jwk(&w, k, err) < 0)
		return -1;
	jw_end(&w);
	jw_init(&w, &claims, false);
	put_proof(&w, p);
	return add_jws(k, alg, &header, &claims, out, err);
}
