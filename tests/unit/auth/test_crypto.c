/* Keys are those of tests/unit/auth/keys: examples of RFCs, and a few that
   openssl made. Their private halves are public. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/auth/crypto.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "tests/unit/temp_dir.h"

/* ---- AES-256-GCM ---- */

static void unhex(const char *hex, unsigned char *to)
{
	for (; *hex; hex += 2)
		*to++ = (unsigned char)text_hex((struct str){hex, 2}, 2);
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

/* Open the first n bytes of the sealed text. */
static int open_first(struct gcm *g, size_t n)
{
	return crypto_open(g->key, g->nonce, bytes(g->bound, 20),
			   bytes(g->sealed, n), g->back, &g->err);
}

TEST_IN(gcm, seal, vector, is_that_of_the_paper_and_gives_the_text)
{
	struct gcm *g = *state;

	assert_int_equal(crypto_seal(g->key, g->nonce, bytes(g->bound, 20),
				     bytes(g->text, 60), &g->out, &g->err),
			 0);
	assert_int_equal(g->out.n, 76);
	assert_memory_equal(g->out.p, g->sealed, 76);
	assert_int_equal(open_first(g, 76), 0);
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
			assert_int_equal(open_first(g, 76), 1);
			assert_memory_equal(g->back, zeros, 60);
			parts[i][at] ^= 1;
		}
}

TEST_IN(gcm, open, cut_short, is_refused)
{
	for (size_t n = 0; n < 76; n++)
		assert_int_equal(open_first(*state, n), 1);
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

TEST(random, twice, differs)
{
	unsigned char a[64] = {0}, b[64] = {0}, zeros[64] = {0};

	crypto_random(a, sizeof(a));
	crypto_random(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, zeros, sizeof(a));
}

/* ---- keys and texts, freed behind each test ---- */

#define NOW 1767225600

struct jar {
	struct crypto_key *k, *other;
	struct buf pem, out, again, raw, header, claims;
	struct err err;
	char *dir;
};

static int jar_setup(void **state)
{
	struct jar *j = mem_zalloc(sizeof(*j));

	j->pem.max = j->out.max = j->again.max = j->raw.max = BUF_UNBOUNDED;
	j->header.max = j->claims.max = BUF_UNBOUNDED;
	*state = j;
	return temp_dir_make((void **)&j->dir);
}

static int jar_teardown(void **state)
{
	struct jar *j = *state;
	struct buf *all[] = {&j->pem, &j->out,	  &j->again,
			     &j->raw, &j->header, &j->claims};

	crypto_key_free(j->k);
	crypto_key_free(j->other);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		buf_wipe(all[i]);
	temp_dir_remove((void **)&j->dir);
	free(j);
	return 0;
}

FIXTURE(jar, jar_setup, jar_teardown);

static void read_pem(struct jar *j, const char *name)
{
	AUTO(mem_freep)
	char *path = mem_printf("tests/unit/auth/keys/%s.pem", name);

	buf_clear(&j->pem);
	assert_int_equal(fd_read_file(path, &j->pem, &j->err), 0);
}

static const struct crypto_key *read_key(struct jar *j, const char *name)
{
	read_pem(j, name);
	crypto_key_free(j->k);
	j->k = NULL;
	if (crypto_key_read(buf_str(&j->pem), &j->k, &j->err) < 0)
		fail_msg("%s: %s", name, j->err.msg);
	return j->k;
}

/* Decode a JWS into header, claims, and the signature as raw; returns the text
   that is signed. */
static struct str take_apart(struct jar *j, const struct buf *jws)
{
	struct buf *to[] = {&j->header, &j->claims, &j->raw};
	struct str rest = buf_str(jws), signed_text = rest;

	for (size_t i = 0; i < ARRAY_LEN(to); i++) {
		struct str part = str_cut(&rest, '.');

		buf_clear(to[i]);
		assert_int_equal(
			base64_decode(BASE64_URL, part, to[i], &j->err), 0);
		if (i < 2)
			signed_text.n = (size_t)(part.p + part.n - jws->p);
	}
	return signed_text;
}

/* value  NULL: there is no such member */
static void check_member(const struct buf *json, const char *name,
			 const char *value)
{
	struct str found = {NULL, 0};
	bool is_there = scan_get(buf_str(json), name, &found);

	if (is_there != (value != NULL) || (value && !str_is(found, value)))
		fail_msg("%s is %.*s and not %s", name, STR_ARG(found), value);
}

/* The public half, as a proof by the key shows it. */
static struct str jwk_of(struct jar *j, const struct crypto_key *k)
{
	struct jwt_proof proof = {.method = "GET", .url = STR("https://a/")};
	struct str jwk;

	buf_clear(&j->out);
	assert_int_equal(jwt_dpop_proof(k, &proof, &j->out, &j->err), 0);
	take_apart(j, &j->out);
	assert_true(scan_get(buf_str(&j->header), "jwk", &jwk));
	return jwk;
}

/* The thumbprints are those that RFC 7638 3.1 and RFC 8037 A.3 give. */
TEST_IN(jar, key_read, each_kind, is_known_with_its_public_half)
{
	static const char ec[] =
		"{\"crv\":\"P-256\",\"kty\":\"EC\","
		"\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
		"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}";
	static const struct {
		const char *pem, *jwk, *thumbprint;
	} rows[] = {
		{"ec_7515", ec, NULL},
		{"ec_7515_old_form", ec, NULL},
		{"ed25519_8037",
		 "{\"crv\":\"Ed25519\",\"kty\":\"OKP\","
		 "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
		 "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"},
		{"rsa_7638",
		 "{\"e\":\"AQAB\",\"kty\":\"RSA\",\"n\":\"0vx7agoebGcQSuuPiLJ"
		 "XZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuh"
		 "DR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n"
		 "9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicA"
		 "taSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLy"
		 "rdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0"
		 "Ls1jF44-csFCur-kEgU8awapJzKnqDKgw\"}",
		 "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"},
	};
	struct jar *j = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str jwk = jwk_of(j, read_key(j, rows[i].pem));

		assert_true(str_is(jwk, rows[i].jwk));
		buf_clear(&j->again);
		jwt_pkce_challenge(jwk, &j->again); /* SHA-256, too */
		if (rows[i].thumbprint)
			assert_string_equal(j->again.p, rows[i].thumbprint);
	}
}

TEST_IN(jar, key_read, kind_that_is_not_used, is_refused_with_a_reason)
{
	static const struct {
		const char *pem, *says;
	} rows[] = {
		{"public", "not a private key"},
		{"under_passphrase", "under a passphrase"},
		{"under_passphrase_old_form", "under a passphrase"},
		{"rsa_1024", "RSA key of 1024 bits"},
		{"ec_k1", "secp256k1"},
		{"ed448", "a kind that is not used"},
	};
	static const char *const texts[] = {
		"", "not a key",
		"-----BEGIN PRIVATE KEY-----\nMIIB\n"
		"-----END PRIVATE KEY-----\n"};
	struct jar *j = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows) + ARRAY_LEN(texts); i++) {
		const char *text, *says = "not a private key";

		if (i < ARRAY_LEN(rows)) {
			read_pem(j, rows[i].pem);
			text = buf_cstr(&j->pem);
			says = rows[i].says;
		} else {
			text = texts[i - ARRAY_LEN(rows)];
		}
		assert_int_equal(crypto_key_read(str_of(text), &j->k, &j->err),
				 -1);
		assert_int_equal(j->err.kind, ERR_CREDENTIAL);
		assert_non_null(strstr(j->err.msg, says));
		assert_null(j->k);
	}
}

TEST_IN(jar, key_make, written_and_read, is_the_same)
{
	struct jar *j = *state;
	struct crypto_key *back = NULL;
	struct str jwk;

	assert_int_equal(crypto_key_make(&j->k, &j->err), 0);
	assert_int_equal(crypto_key_make(&j->other, &j->err), 0);
	assert_int_equal(crypto_key_write(j->k, &j->pem, &j->err), 0);
	assert_true(
		str_starts(buf_str(&j->pem), "-----BEGIN PRIVATE KEY-----"));
	assert_int_equal(crypto_key_read(buf_str(&j->pem), &back, &j->err), 0);
	buf_add_str(&j->again, jwk_of(j, j->k));
	assert_true(str_starts(buf_str(&j->again), "{\"crv\":\"P-256\""));
	assert_null(strstr(j->again.p, "\"d\""));
	jwk = jwk_of(j, back);
	assert_true(str_is(jwk, j->again.p));
	jwk = jwk_of(j, j->other);
	assert_false(str_is(jwk, j->again.p));
	crypto_key_free(back);
}

/* ---- signatures ---- */

TEST_IN(jar, sign, deterministic, is_that_of_the_rfc)
{
	static const struct {
		const char *pem;
		enum crypto_alg alg;
		const char *text, *signature;
	} rows[] = {
		/* RFC 7515 A.2 */
		{"rsa_7515", ALG_RS256,
		 "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkz"
		 "ODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
		 "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZ"
		 "mh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjb"
		 "KBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHl"
		 "b1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZES"
		 "c6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AX"
		 "LIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"},
		/* RFC 8037 A.4 */
		{"ed25519_8037", ALG_EDDSA,
		 "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
		 "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGj"
		 "g5BhVsPt9g7sVvpAr_MuM0KAg"},
	};
	struct jar *j = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&j->raw);
		buf_clear(&j->out);
		assert_int_equal(crypto_sign(read_key(j, rows[i].pem),
					     rows[i].alg, str_of(rows[i].text),
					     &j->raw, &j->err),
				 0);
		base64_encode(BASE64_URL, buf_str(&j->raw), &j->out);
		assert_string_equal(j->out.p, rows[i].signature);
	}
}

static void put(const struct jar *j, const char *name, struct str content)
{
	AUTO(mem_freep) char *path = mem_printf("%s/%s", j->dir, name);
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

/* ECDSA as DER, which openssl takes. */
static void to_der(const struct buf *raw, struct buf *out)
{
	AUTO(buf_release) struct buf both = BUF_INIT(BUF_UNBOUNDED);

	add_integer(&both, raw->p, raw->n / 2);
	add_integer(&both, raw->p + raw->n / 2, raw->n / 2);
	buf_addc(out, 0x30);
	buf_addc(out, (char)both.n);
	buf_add_str(out, buf_str(&both));
}

/* Verify by the command line of OpenSSL, which knows nothing of ours. */
static int verify(const struct jar *j, struct str signature, struct str text,
		  const char *options)
{
	AUTO(mem_freep)
	char *line = mem_printf(
		"cd '%s' && openssl pkey -in key -pubout -out pub 2>/dev/null "
		"&& openssl dgst %s -verify pub -signature sig text "
		">/dev/null 2>&1",
		j->dir, options);

	put(j, "key", buf_str(&j->pem));
	put(j, "sig", signature);
	put(j, "text", text);
	return system(line);
}

TEST_IN(jar, sign, randomized, is_verified_by_openssl)
{
	static const struct {
		const char *pem;
		enum crypto_alg alg;
		size_t n; /* bytes of it */
		const char *options;
	} rows[] = {
		{"ec_7515", ALG_ES256, 64, "-sha256"},
		{"ec_p384", ALG_ES384, 96, "-sha384"},
		{"rsa_7515", ALG_PS256, 256,
		 "-sha256 -sigopt rsa_padding_mode:pss "
		 "-sigopt rsa_pss_saltlen:digest"},
	};
	struct jar *j = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf *sig = &j->raw;

		buf_clear(&j->raw);
		buf_clear(&j->out);
		assert_int_equal(crypto_sign(read_key(j, rows[i].pem),
					     rows[i].alg, STR("a text"),
					     &j->raw, &j->err),
				 0);
		assert_int_equal(j->raw.n, rows[i].n);
		if (rows[i].alg != ALG_PS256) {
			to_der(&j->raw, &j->out);
			sig = &j->out;
		}
		assert_int_equal(
			verify(j, buf_str(sig), STR("a text"), rows[i].options),
			0);
		assert_int_not_equal(verify(j, buf_str(sig), STR("another"),
					    rows[i].options),
				     0);
	}
}

/* Numbers that begin with zeros are where lengths go wrong. */
TEST_IN(jar, sign, often, has_always_its_length)
{
	struct jar *j = *state;

	read_key(j, "ec_7515");
	for (int i = 0; i < 600; i++) {
		buf_clear(&j->raw);
		assert_int_equal(crypto_sign(j->k, ALG_ES256, STR("text"),
					     &j->raw, &j->err),
				 0);
		assert_int_equal(j->raw.n, 64);
	}
}

TEST_IN(jar, sign, another_kind_of_key, is_refused)
{
	struct jar *j = *state;

	read_key(j, "ec_7515");
	for (int alg = ALG_ES256 + 1; alg < CRYPTO_ALG_COUNT; alg++) {
		assert_int_equal(
			crypto_sign(j->k, alg, STR("text"), &j->raw, &j->err),
			-1);
		assert_int_equal(j->err.kind, ERR_CREDENTIAL);
		assert_non_null(strstr(j->err.msg, "EC P-256 key"));
	}
	assert_int_equal(j->raw.n, 0);
}

/* ---- PKCE ---- */

TEST_IN(jar, pkce_challenge, of_rfc_7636_b, is_that_one)
{
	struct jar *j = *state;

	jwt_pkce_challenge(STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
			   &j->out);
	assert_string_equal(j->out.p,
			    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST_IN(jar, pkce_verifier, twice, is_unreserved_and_differs)
{
	struct jar *j = *state;

	jwt_pkce_verifier(&j->out);
	jwt_pkce_verifier(&j->again);
	assert_int_equal(j->out.n, 43);
	assert_int_equal(strspn(j->out.p,
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"abcdefghijklmnopqrstuvwxyz0123456789-_"),
			 43);
	assert_string_not_equal(j->out.p, j->again.p);
}

/* ---- client assertions ---- */

/* supported  words parted by spaces; NULL: not said */
static int assert_client(struct jar *j, const char *pem, const char *wanted,
			 const char *supported)
{
	const char *item[8];
	struct jwt_assertion a = {
		.client_id = "cli \"1\"",
		.audience = "https://as.example/t",
		.now_s = NOW,
		.alg = wanted,
		.algs = {item, 0},
	};
	AUTO(mem_freep) char *words = mem_strdup(supported ? supported : "");
	char *left = NULL;

	for (char *w = strtok_r(words, " ", &left); w;
	     w = strtok_r(NULL, " ", &left))
		item[a.algs.n++] = w;
	buf_clear(&j->out);
	return jwt_client_assertion(read_key(j, pem), &a, &j->out, &j->err);
}

TEST_IN(jar, algorithm, key_and_server, first_that_fits)
{
	static const char both[] = "PS256 RS256 ES256";
	static const struct {
		const char *pem, *wanted, *supported, *alg;
	} rows[] = {
		{"ec_7515", NULL, NULL, "\"ES256\""},
		{"ec_7515", NULL, both, "\"ES256\""},
		{"ec_p384", NULL, NULL, "\"ES384\""},
		{"rsa_7515", NULL, NULL, "\"RS256\""},
		{"rsa_7515", NULL, both, "\"RS256\""},
		{"rsa_7515", NULL, "ES256 PS256", "\"PS256\""},
		{"rsa_7515", "PS256", both, "\"PS256\""},
		{"ed25519_8037", NULL, NULL, "\"EdDSA\""},
		{"ed25519_8037", NULL, "RS256 Ed25519", "\"Ed25519\""},
	};
	struct jar *j = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(assert_client(j, rows[i].pem, rows[i].wanted,
					       rows[i].supported),
				 0);
		take_apart(j, &j->out);
		check_member(&j->header, "alg", rows[i].alg);
	}
}

TEST_IN(jar, algorithm, nothing_fits, is_said)
{
	static const char rsa[] = "RS256 PS512";
	static const struct {
		const char *wanted, *supported, *says;
	} rows[] = {
		{NULL, rsa,
		 "signs by ES256, and the server takes RS256, PS512"},
		{"ES256", rsa,
		 "does not take signing_alg \"ES256\", but RS256, PS512"},
		{"RS256", rsa, "needs an RSA key"},
		{"none", NULL, "unknown"},
		{"HS256", NULL, "unknown"},
		{"es256", NULL, "unknown"},
	};
	struct jar *j = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(assert_client(j, "ec_7515", rows[i].wanted,
					       rows[i].supported),
				 -1);
		assert_int_equal(j->err.kind, ERR_CREDENTIAL);
		assert_non_null(strstr(j->err.msg, rows[i].says));
		assert_int_equal(j->out.n, 0);
	}
}

TEST_IN(jar, client_assertion, claims, are_those_of_cc_2)
{
	struct jar *j = *state;
	struct str jti;

	assert_int_equal(assert_client(j, "ed25519_8037", NULL, NULL), 0);
	buf_add_str(&j->again, buf_str(&j->out));
	assert_int_equal(assert_client(j, "ed25519_8037", NULL, NULL), 0);
	assert_string_not_equal(j->out.p, j->again.p); /* the jti */
	take_apart(j, &j->out);
	assert_string_equal(j->header.p, "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}");
	check_member(&j->claims, "iss", "\"cli \\\"1\\\"\"");
	check_member(&j->claims, "sub", "\"cli \\\"1\\\"\"");
	check_member(&j->claims, "aud", "\"https://as.example/t\"");
	check_member(&j->claims, "iat", "1767225600");
	check_member(&j->claims, "exp", "1767225900");
	assert_true(scan_get(buf_str(&j->claims), "jti", &jti));
	assert_int_equal(jti.n, 22 + 2);
}

TEST_IN(jar, client_assertion, rs256, is_verified_by_openssl)
{
	struct jar *j = *state;
	struct str text;

	assert_int_equal(assert_client(j, "rsa_7638", NULL, NULL), 0);
	text = take_apart(j, &j->out);
	assert_int_equal(verify(j, buf_str(&j->raw), text, "-sha256"), 0);
}

/* ---- proofs ---- */

static void make_proof(struct jar *j, const struct jwt_proof *proof)
{
	assert_int_equal(
		jwt_dpop_proof(read_key(j, "ec_7515"), proof, &j->out, &j->err),
		0);
	take_apart(j, &j->out);
}

TEST_IN(jar, dpop_proof, of_a_token_request, has_what_dp_1_wants)
{
	struct jar *j = *state;

	make_proof(j, &(struct jwt_proof){
			      .method = "POST",
			      .url = STR("https://as.example:8443/token?x=1#y"),
			      .now_s = NOW,
		      });
	assert_string_equal(
		j->header.p,
		"{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":"
		"{\"crv\":\"P-256\",\"kty\":\"EC\","
		"\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
		"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}}");
	check_member(&j->claims, "htm", "\"POST\"");
	check_member(&j->claims, "htu", "\"https://as.example:8443/token\"");
	check_member(&j->claims, "iat", "1767225600");
	check_member(&j->claims, "ath", NULL);
	check_member(&j->claims, "nonce", NULL);
	assert_int_equal(j->raw.n, 64);
}

TEST_IN(jar, dpop_proof, with_token_and_nonce, carries_both)
{
	static const char url[] =
		"https://resource.example.org/protectedresource";
	struct jar *j = *state;

	make_proof(
		j,
		&(struct jwt_proof){
			.method = "GET",
			.url = str_of(url),
			/* RFC 9449 section 7.1 */
			.access_token =
				"Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU",
			.nonce = "eyJ7S_zG.eyJH0-Z.HX4w-7v",
			.now_s = NOW,
		});
	check_member(&j->claims, "ath",
		     "\"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo\"");
	check_member(&j->claims, "nonce", "\"eyJ7S_zG.eyJH0-Z.HX4w-7v\"");
	check_member(&j->claims, "htu",
		     "\"https://resource.example.org/protectedresource\"");
}
