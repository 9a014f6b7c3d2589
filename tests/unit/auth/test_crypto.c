#include "tests/unit/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/base/text.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "tests/unit/auth/auth_keys.h"
#include "tests/unit/temp_dir.h"

/* ---- AES-256-GCM ---- */

static void unhex(const char *hex, unsigned char *to)
{
	for (; *hex; hex += 2) {
		const char pair[] = {hex[0], hex[1], '\0'};

		*to++ = (unsigned char)strtoul(pair, NULL, 16);
	}
}

/* Test case 16 of the paper on GCM by McGrew and Viega. */
static const char gcm_key[] = "feffe9928665731c6d6a8f9467308308"
			      "feffe9928665731c6d6a8f9467308308";
static const char gcm_nonce[] = "cafebabefacedbaddecaf888";
static const char gcm_bound[] = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
static const char gcm_text[] =
	"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
static const char gcm_sealed[] =
	"522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	"8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
	"76fc6ece0f4e1768cddf8853bb2d551b";

struct gcm {
	unsigned char key[32], nonce[12], bound[20], text[60], sealed[76];
	struct buf out;
	char back[60];
	struct err err;
};

static int gcm_setup(void **state)
{
	struct gcm *g = mem_zalloc(sizeof(*g));

	unhex(gcm_key, g->key);
	unhex(gcm_nonce, g->nonce);
	unhex(gcm_bound, g->bound);
	unhex(gcm_text, g->text);
	unhex(gcm_sealed, g->sealed);
	g->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	*state = g;
	return 0;
}

static int gcm_teardown(void **state)
{
	struct gcm *g = *state;

	buf_release(&g->out);
	free(g);
	return 0;
}

FIXTURE(gcm, gcm_setup, gcm_teardown);

static struct str bytes(const void *p, size_t n)
{
	return (struct str){p, n};
}

TEST_IN(gcm, seal, vector, is_that_of_the_paper)
{
	struct gcm *g = *state;

	assert_int_equal(crypto_seal(g->key, g->nonce, bytes(g->bound, 20),
				     bytes(g->text, 60), &g->out, &g->err),
			 0);
	assert_int_equal(g->out.n, 76);
	assert_memory_equal(g->out.p, g->sealed, 76);
}

TEST_IN(gcm, open, vector, gives_the_text)
{
	struct gcm *g = *state;

	assert_int_equal(crypto_open(g->key, g->nonce, bytes(g->bound, 20),
				     bytes(g->sealed, 76), g->back, &g->err),
			 0);
	assert_memory_equal(g->back, g->text, 60);
}

TEST_IN(gcm, open, one_bit_differs, is_refused_and_wiped)
{
	static const char zeros[60];
	struct gcm *g = *state;
	unsigned char *const parts[] = {g->key, g->nonce, g->bound, g->sealed};
	const size_t sizes[] = {32, 12, 20, 76};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		for (size_t at = 0; at < sizes[i]; at++) {
			parts[i][at] ^= 1;
			memset(g->back, 'x', 60);
			assert_int_equal(crypto_open(g->key, g->nonce,
						     bytes(g->bound, 20),
						     bytes(g->sealed, 76),
						     g->back, &g->err),
					 1);
			assert_memory_equal(g->back, zeros, 60);
			parts[i][at] ^= 1;
		}
}

TEST_IN(gcm, open, shorter_than_a_tag, is_refused)
{
	struct gcm *g = *state;

	for (size_t n = 0; n < 76; n++)
		assert_int_equal(
			crypto_open(g->key, g->nonce, bytes(g->bound, 20),
				    bytes(g->sealed, n), g->back, &g->err),
			1);
}

TEST_IN(gcm, seal, empty_text, comes_back)
{
	struct gcm *g = *state;

	assert_int_equal(crypto_seal(g->key, g->nonce, STR("head"),
				     (struct str){NULL, 0}, &g->out, &g->err),
			 0);
	assert_int_equal(g->out.n, CRYPTO_TAG_BYTES);
	assert_int_equal(crypto_open(g->key, g->nonce, STR("head"),
				     buf_str(&g->out), g->back, &g->err),
			 0);
	assert_int_equal(crypto_open(g->key, g->nonce, STR("Head"),
				     buf_str(&g->out), g->back, &g->err),
			 1);
}

/* ---- without the library ---- */

TEST(equal, same_and_not, is_told)
{
	assert_true(crypto_equal(STR("state"), STR("state")));
	assert_true(crypto_equal((struct str){NULL, 0}, STR("")));
	assert_false(crypto_equal(STR("state"), STR("stat")));
	assert_false(crypto_equal(STR("state"), STR("statf")));
	assert_false(crypto_equal(STR("state"), STR("xtate")));
}

TEST(random, twice, differs)
{
	unsigned char a[64] = {0}, b[64] = {0}, zeros[64] = {0};

	crypto_random(a, sizeof(a));
	crypto_random(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, zeros, sizeof(a));
}

/* ---- keys ---- */

static struct crypto_key *read_key(const char *pem)
{
	struct crypto_key *k = NULL;
	struct err err = ERR_INIT;

	if (crypto_key_read(str_of(pem), &k, &err) < 0)
		fail_msg("%s", err.msg);
	return k;
}

TEST(key_read, each_kind, is_known_with_its_jwk)
{
	static const struct {
		const char *pem;
		enum crypto_key_type type;
		const char *jwk;
	} rows[] = {
		{PEM_EC_7515, KEY_P256,
		 "{\"crv\":\"P-256\",\"kty\":\"EC\","
		 "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
		 "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}"},
		{PEM_EC_7515_OLD_FORM, KEY_P256,
		 "{\"crv\":\"P-256\",\"kty\":\"EC\","
		 "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
		 "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}"},
		{PEM_ED25519_8037, KEY_ED25519,
		 "{\"crv\":\"Ed25519\",\"kty\":\"OKP\","
		 "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}"},
		{PEM_RSA_7638, KEY_RSA,
		 "{\"e\":\"AQAB\",\"kty\":\"RSA\",\"n\":\"0vx7agoebGcQSuuPiLJ"
		 "XZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuh"
		 "DR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n"
		 "9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicA"
		 "taSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLy"
		 "rdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0"
		 "Ls1jF44-csFCur-kEgU8awapJzKnqDKgw\"}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct crypto_key *k = read_key(rows[i].pem);

		assert_int_equal(crypto_key_type(k), rows[i].type);
		assert_string_equal(crypto_key_jwk(k).p, rows[i].jwk);
		crypto_key_free(k);
	}
}

/* Of the public half; what other programs say shows that it is right. */
static void add_thumbprint(const struct crypto_key *k, struct buf *out)
{
	struct str jwk = crypto_key_jwk(k);
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, jwk.p, jwk.n);
	sha256_end(&s, sum);
	base64_encode(BASE64_URL, (struct str){(char *)sum, sizeof(sum)}, out);
}

TEST(thumbprint, keys_of_the_rfcs, are_theirs)
{
	static const char *const rows[][2] = {
		/* RFC 7638 section 3.1 */
		{PEM_RSA_7638, "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"},
		/* RFC 8037 A.3 */
		{PEM_ED25519_8037,
		 "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct crypto_key *k = read_key(rows[i][0]);
		struct buf out = BUF_INIT(BUF_UNBOUNDED);

		add_thumbprint(k, &out);
		assert_string_equal(buf_cstr(&out), rows[i][1]);
		buf_release(&out);
		crypto_key_free(k);
	}
}

TEST(key_read, what_is_not_used, is_refused_with_a_reason)
{
	static const struct {
		const char *pem, *says;
	} rows[] = {
		{"", "not a private key"},
		{"not a key", "not a private key"},
		{PEM_PUBLIC, "not a private key"},
		{"-----BEGIN PRIVATE KEY-----\nMIIB\n"
		 "-----END PRIVATE KEY-----\n",
		 "not a private key"},
		{PEM_UNDER_PASSPHRASE, "under a passphrase"},
		{PEM_UNDER_PASSPHRASE_OLD_FORM, "under a passphrase"},
		{PEM_RSA_1024, "RSA key of 1024 bits"},
		{PEM_EC_K1, "secp256k1"},
		{PEM_ED448, "a kind that is not used"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct crypto_key *k = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(crypto_key_read(str_of(rows[i].pem), &k, &err),
				 -1);
		assert_int_equal(err.kind, ERR_CREDENTIAL);
		assert_non_null(strstr(err.msg, rows[i].says));
		assert_null(k);
	}
}

TEST(key_make, written_and_read, is_the_same)
{
	struct crypto_key *a = NULL, *b = NULL, *other = NULL;
	struct buf pem = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(crypto_key_make(&a, &err), 0);
	assert_int_equal(crypto_key_make(&other, &err), 0);
	assert_int_equal(crypto_key_type(a), KEY_P256);
	assert_int_equal(crypto_key_write(a, &pem, &err), 0);
	assert_true(str_starts(buf_str(&pem), "-----BEGIN PRIVATE KEY-----"));
	assert_int_equal(crypto_key_read(buf_str(&pem), &b, &err), 0);
	assert_string_equal(crypto_key_jwk(a).p, crypto_key_jwk(b).p);
	assert_string_not_equal(crypto_key_jwk(a).p, crypto_key_jwk(other).p);
	assert_null(strstr(crypto_key_jwk(a).p, "\"d\""));
	buf_wipe(&pem);
	crypto_key_free(a);
	crypto_key_free(b);
	crypto_key_free(other);
}

/* ---- signatures ---- */

TEST(sign, deterministic, is_that_of_the_rfc)
{
	static const struct {
		const char *pem;
		enum crypto_alg alg;
		const char *text, *signature;
	} rows[] = {
		/* RFC 7515 A.2 */
		{PEM_RSA_7515, ALG_RS256,
		 "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkz"
		 "ODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
		 "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZ"
		 "mh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjb"
		 "KBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHl"
		 "b1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZES"
		 "c6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AX"
		 "LIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"},
		/* RFC 8037 A.4 */
		{PEM_ED25519_8037, ALG_EDDSA,
		 "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
		 "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGj"
		 "g5BhVsPt9g7sVvpAr_MuM0KAg"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct crypto_key *k = read_key(rows[i].pem);
		struct buf raw = BUF_INIT(BUF_UNBOUNDED);
		struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;

		assert_int_equal(crypto_sign(k, rows[i].alg,
					     str_of(rows[i].text), &raw, &err),
				 0);
		base64_encode(BASE64_URL, buf_str(&raw), &out);
		assert_string_equal(buf_cstr(&out), rows[i].signature);
		buf_release(&raw);
		buf_release(&out);
		crypto_key_free(k);
	}
}

static void put(const char *dir, const char *name, struct str content)
{
	AUTO(mem_freep) char *path = mem_printf("%s/%s", dir, name);
	struct err err = ERR_INIT;

	assert_int_equal(fd_replace_file(path, content, 0600, false, &err), 0);
}

/* An ASN.1 INTEGER of up to 48 bytes. */
static void add_integer(struct buf *out, const char *p, size_t n)
{
	bool pad;

	while (n > 1 && !*p) {
		p++;
		n--;
	}
	pad = (unsigned char)*p & 0x80;
	buf_addc(out, 2);
	buf_addc(out, (char)(n + pad));
	if (pad)
		buf_addc(out, 0);
	buf_add(out, p, n);
}

/* What openssl takes: ECDSA as DER. */
static void to_der(const struct buf *raw, struct buf *out)
{
	struct buf both = BUF_INIT(BUF_UNBOUNDED);

	add_integer(&both, raw->p, raw->n / 2);
	add_integer(&both, raw->p + raw->n / 2, raw->n / 2);
	buf_addc(out, 0x30);
	buf_addc(out, (char)both.n);
	buf_add_str(out, buf_str(&both));
	buf_release(&both);
}

/* Verified by the command line of OpenSSL, which knows nothing of ours. */
static int verify(const char *dir, const char *options)
{
	AUTO(mem_freep)
	char *line = mem_printf(
		"cd '%s' && openssl pkey -in key -pubout -out pub 2>/dev/null "
		"&& openssl dgst %s -verify pub -signature sig text "
		">/dev/null 2>&1",
		dir, options);

	return system(line);
}

TEST_IN(temp_dir, sign, randomized, is_verified_by_openssl)
{
	static const struct {
		const char *pem;
		enum crypto_alg alg;
		size_t n; /* bytes of it */
		const char *options;
	} rows[] = {
		{PEM_EC_7515, ALG_ES256, 64, "-sha256"},
		{PEM_EC_P384, ALG_ES384, 96, "-sha384"},
		{PEM_RSA_7515, ALG_PS256, 256,
		 "-sha256 -sigopt rsa_padding_mode:pss "
		 "-sigopt rsa_pss_saltlen:digest"},
	};
	const char *dir = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct crypto_key *k = read_key(rows[i].pem);
		struct buf raw = BUF_INIT(BUF_UNBOUNDED);
		struct buf der = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;

		assert_int_equal(
			crypto_sign(k, rows[i].alg, STR("a text"), &raw, &err),
			0);
		assert_int_equal(raw.n, rows[i].n);
		if (rows[i].alg != ALG_PS256)
			to_der(&raw, &der);
		put(dir, "key", str_of(rows[i].pem));
		put(dir, "sig", buf_str(der.n ? &der : &raw));
		put(dir, "text", STR("a text"));
		assert_int_equal(verify(dir, rows[i].options), 0);
		put(dir, "text", STR("another"));
		assert_int_not_equal(verify(dir, rows[i].options), 0);
		buf_release(&raw);
		buf_release(&der);
		crypto_key_free(k);
	}
}

/* Numbers that begin with zeros are where lengths go wrong. */
TEST(sign, often, has_always_its_length)
{
	struct crypto_key *k = read_key(PEM_EC_7515);
	struct err err = ERR_INIT;

	for (int i = 0; i < 600; i++) {
		struct buf raw = BUF_INIT(BUF_UNBOUNDED);

		assert_int_equal(
			crypto_sign(k, ALG_ES256, STR("text"), &raw, &err), 0);
		assert_int_equal(raw.n, 64);
		buf_release(&raw);
	}
	crypto_key_free(k);
}

TEST(sign, another_kind_of_key, is_refused)
{
	struct crypto_key *k = read_key(PEM_EC_7515);
	struct buf raw = BUF_INIT(BUF_UNBOUNDED);

	for (int alg = ALG_ES256 + 1; alg < CRYPTO_ALG_COUNT; alg++) {
		struct err err = ERR_INIT;

		assert_int_equal(crypto_sign(k, alg, STR("text"), &raw, &err),
				 -1);
		assert_int_equal(err.kind, ERR_CREDENTIAL);
		assert_non_null(strstr(err.msg, "EC P-256 key"));
	}
	assert_int_equal(raw.n, 0);
	crypto_key_free(k);
}

TEST(alg_find, words, are_those_of_jws)
{
	enum crypto_alg alg;

	assert_true(crypto_alg_find(STR("PS256"), &alg));
	assert_int_equal(alg, ALG_PS256);
	assert_false(crypto_alg_find(STR("none"), &alg));
	assert_false(crypto_alg_find(STR("HS256"), &alg));
	assert_false(crypto_alg_find(STR("es256"), &alg));
}
