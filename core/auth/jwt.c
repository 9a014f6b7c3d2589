#include "core/auth/jwt.h"

#include "core/base/text.h"
#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"

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
