#include "tests/unit/test.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/auth/crypto.h"
#include "core/base/text.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "tests/unit/auth/auth_keys.h"
#include "tests/unit/temp_dir.h"

#define NOW 1767225600

static struct crypto_key *read_key(const char *pem)
{
	struct crypto_key *k = NULL;
	struct err err = ERR_INIT;

	if (crypto_key_read(str_of(pem), &k, &err) < 0)
		fail_msg("%s", err.msg);
	return k;
}

/* The parts of a JWS, decoded but for the signature. */
struct parts {
	struct buf header, claims;
	struct str signed_text, signature;
};

static void take_apart(struct str jws, struct parts *p)
{
	struct str rest = jws, header = str_cut(&rest, '.'),
		   claims = str_cut(&rest, '.');
	struct err err = ERR_INIT;

	*p = (struct parts){
		.header = BUF_INIT(BUF_UNBOUNDED),
		.claims = BUF_INIT(BUF_UNBOUNDED),
		.signed_text = {jws.p, header.n + 1 + claims.n},
		.signature = rest,
	};
	assert_int_equal(base64_decode(BASE64_URL, header, &p->header, &err),
			 0);
	assert_int_equal(base64_decode(BASE64_URL, claims, &p->claims, &err),
			 0);
}

static void parts_release(struct parts *p)
{
	buf_release(&p->header);
	buf_release(&p->claims);
}

static void check_member(const struct buf *json, const char *name,
			 const char *value)
{
	struct str found;

	if (!scan_get(buf_str(json), name, &found))
		fail_msg("no %s in %s", name, buf_cstr(json));
	if (!str_is(found, value))
		fail_msg("%s is %.*s and not %s", name, STR_ARG(found), value);
}

static void check_no_member(const struct buf *json, const char *name)
{
	struct str found;

	assert_false(scan_get(buf_str(json), name, &found));
}

/* ---- PKCE ---- */

TEST(pkce_challenge, of_rfc_7636_b, is_that_one)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	jwt_pkce_challenge(STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
			   &out);
	assert_string_equal(buf_cstr(&out),
			    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
	buf_release(&out);
}

TEST(pkce_verifier, twice, is_unreserved_and_differs)
{
	struct buf a = BUF_INIT(BUF_UNBOUNDED), b = BUF_INIT(BUF_UNBOUNDED);

	jwt_pkce_verifier(&a);
	jwt_pkce_verifier(&b);
	assert_int_equal(a.n, 43);
	assert_int_equal(strspn(a.p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_"),
			 43);
	assert_string_not_equal(a.p, b.p);
	buf_wipe(&a);
	buf_wipe(&b);
}

/* ---- the algorithm ---- */

static int choose(const char *pem, const char *wanted,
		  const char *const *supported, struct err *err)
{
	struct crypto_key *k = read_key(pem);
	struct strlist list = {(const char **)supported, 0};
	enum crypto_alg alg;
	int r;

	while (supported && supported[list.n])
		list.n++;
	r = jwt_alg_choose(k, wanted, &list, &alg, err);
	crypto_key_free(k);
	return r < 0 ? r : (int)alg;
}

TEST(alg_choose, key_and_server, first_that_fits)
{
	static const char *const both[] = {"PS256", "RS256", "ES256", NULL};
	static const char *const ps[] = {"ES256", "PS256", NULL};
	static const char *const ed[] = {"RS256", "Ed25519", NULL};
	struct err err = ERR_INIT;

	assert_int_equal(choose(PEM_EC_7515, NULL, NULL, &err), ALG_ES256);
	assert_int_equal(choose(PEM_EC_7515, NULL, both, &err), ALG_ES256);
	assert_int_equal(choose(PEM_EC_P384, NULL, NULL, &err), ALG_ES384);
	assert_int_equal(choose(PEM_RSA_7515, NULL, NULL, &err), ALG_RS256);
	assert_int_equal(choose(PEM_RSA_7515, NULL, both, &err), ALG_RS256);
	assert_int_equal(choose(PEM_RSA_7515, NULL, ps, &err), ALG_PS256);
	assert_int_equal(choose(PEM_RSA_7515, "PS256", both, &err), ALG_PS256);
	assert_int_equal(choose(PEM_ED25519_8037, NULL, NULL, &err), ALG_EDDSA);
	assert_int_equal(choose(PEM_ED25519_8037, NULL, ed, &err), ALG_ED25519);
}

TEST(alg_choose, nothing_fits, is_said)
{
	static const char *const rsa[] = {"RS256", "PS512", NULL};
	static const struct {
		const char *wanted;
		const char *const *supported;
		const char *says;
	} rows[] = {
		{NULL, rsa,
		 "signs by ES256, and the server takes RS256, PS512"},
		{"ES256", rsa,
		 "does not take signing_alg \"ES256\", but RS256, PS512"},
		{"RS256", rsa, "needs an RSA key"},
		{"none", NULL, "known"},
		{"HS256", NULL, "known"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(choose(PEM_EC_7515, rows[i].wanted,
					rows[i].supported, &err),
				 -1);
		assert_int_equal(err.kind, ERR_CREDENTIAL);
		assert_non_null(strstr(err.msg, rows[i].says));
	}
}

/* ---- tokens ---- */

TEST(sign, header_and_claims, is_that_of_rfc_7515_a2)
{
	struct crypto_key *k = read_key(PEM_RSA_7515);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(
		jwt_sign(k, ALG_RS256, STR("{\"alg\":\"RS256\"}"),
			 STR("{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n "
			     "\"http://example.com/is_root\":true}"),
			 &out, &err),
		0);
	assert_true(
		str_starts(buf_str(&out),
			   "eyJhbGciOiJSUzI1NiJ9."
			   "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQog"
			   "Imh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
			   "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9"));
	buf_release(&out);
	crypto_key_free(k);
}

TEST(client_assertion, claims, are_those_of_cc_2)
{
	const struct jwt_assertion a = {
		.client_id = "cli \"1\"",
		.audience = "https://as.example/t",
		.now_s = NOW,
	};
	struct crypto_key *k = read_key(PEM_ED25519_8037);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str jti;
	struct parts p;

	assert_int_equal(jwt_client_assertion(k, ALG_EDDSA, &a, &out, &err), 0);
	assert_int_equal(jwt_client_assertion(k, ALG_EDDSA, &a, &again, &err),
			 0);
	assert_string_not_equal(out.p, again.p); /* the jti */
	take_apart(buf_str(&out), &p);
	assert_string_equal(buf_cstr(&p.header),
			    "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}");
	check_member(&p.claims, "iss", "\"cli \\\"1\\\"\"");
	check_member(&p.claims, "sub", "\"cli \\\"1\\\"\"");
	check_member(&p.claims, "aud", "\"https://as.example/t\"");
	check_member(&p.claims, "iat", "1767225600");
	check_member(&p.claims, "exp", "1767225900");
	assert_true(scan_get(buf_str(&p.claims), "jti", &jti));
	assert_int_equal(jti.n, 22 + 2);
	parts_release(&p);
	buf_release(&out);
	buf_release(&again);
	crypto_key_free(k);
}

TEST(client_assertion, wrong_key, is_refused)
{
	const struct jwt_assertion a = {.client_id = "c", .audience = "a"};
	struct crypto_key *k = read_key(PEM_EC_7515);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(jwt_client_assertion(k, ALG_RS256, &a, &out, &err),
			 -1);
	assert_int_equal(out.n, 0);
	crypto_key_free(k);
}

/* Signature and all, by another's hand: see sign__… in test_crypto.c. */
TEST(dpop_proof, of_a_token_request, has_what_dp_1_wants)
{
	const struct jwt_proof proof = {
		.method = "POST",
		.url = STR("https://as.example:8443/token?x=1#y"),
		.now_s = NOW,
	};
	struct crypto_key *k = read_key(PEM_EC_7515);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct parts p;

	assert_int_equal(jwt_dpop_proof(k, &proof, &out, &err), 0);
	take_apart(buf_str(&out), &p);
	assert_string_equal(
		buf_cstr(&p.header),
		"{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":"
		"{\"crv\":\"P-256\",\"kty\":\"EC\","
		"\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
		"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}}");
	check_member(&p.claims, "htm", "\"POST\"");
	check_member(&p.claims, "htu", "\"https://as.example:8443/token\"");
	check_member(&p.claims, "iat", "1767225600");
	check_no_member(&p.claims, "ath");
	check_no_member(&p.claims, "nonce");
	assert_int_equal(p.signature.n, 86); /* 64 bytes */
	parts_release(&p);
	buf_release(&out);
	crypto_key_free(k);
}

TEST(dpop_proof, with_token_and_nonce, carries_both)
{
	const struct jwt_proof proof = {
		.method = "GET",
		.url = STR("https://resource.example.org/protectedresource"),
		/* RFC 9449 section 7.1 */
		.access_token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU",
		.nonce = "eyJ7S_zG.eyJH0-Z.HX4w-7v",
		.now_s = NOW,
	};
	struct crypto_key *k = read_key(PEM_EC_7515);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct parts p;

	assert_int_equal(jwt_dpop_proof(k, &proof, &out, &err), 0);
	take_apart(buf_str(&out), &p);
	check_member(&p.claims, "ath",
		     "\"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo\"");
	check_member(&p.claims, "nonce", "\"eyJ7S_zG.eyJH0-Z.HX4w-7v\"");
	check_member(&p.claims, "htu",
		     "\"https://resource.example.org/protectedresource\"");
	parts_release(&p);
	buf_release(&out);
	crypto_key_free(k);
}

/* The whole token, verified by OpenSSL's command line. */
TEST_IN(temp_dir, sign, rs256, is_verified_by_openssl)
{
	const struct jwt_assertion a = {
		.client_id = "client",
		.audience = "https://as.example",
		.now_s = NOW,
	};
	const char *dir = *state;
	AUTO(mem_freep) char *text = mem_printf("%s/text", dir);
	AUTO(mem_freep) char *sig = mem_printf("%s/sig", dir);
	AUTO(mem_freep) char *key = mem_printf("%s/key", dir);
	AUTO(mem_freep)
	char *line = mem_printf(
		"openssl pkey -in '%s' -pubout -out '%s.pub' 2>/dev/null && "
		"openssl dgst -sha256 -verify '%s.pub' -signature '%s' '%s' "
		">/dev/null 2>&1",
		key, key, key, sig, text);
	struct crypto_key *k = read_key(PEM_RSA_7638);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct buf raw = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct parts p;

	assert_int_equal(jwt_client_assertion(k, ALG_RS256, &a, &out, &err), 0);
	take_apart(buf_str(&out), &p);
	assert_int_equal(base64_decode(BASE64_URL, p.signature, &raw, &err), 0);
	assert_int_equal(
		fd_replace_file(text, p.signed_text, 0600, false, &err), 0);
	assert_int_equal(fd_replace_file(sig, buf_str(&raw), 0600, false, &err),
			 0);
	assert_int_equal(
		fd_replace_file(key, STR(PEM_RSA_7638), 0600, false, &err), 0);
	assert_int_equal(system(line), 0);
	parts_release(&p);
	buf_release(&raw);
	buf_release(&out);
	crypto_key_free(k);
}
