/* How a client with a key authenticates: by a signed statement. */
#include "core/auth/flow_inner.h"
#include "core/auth/jwt.h"

int flow_assertion(const struct auth_options *options, enum grant_method method,
		   const char *client_id, const char *issuer,
		   const char *token_endpoint, const struct strlist *supported,
		   int64_t now_s, struct arena *arena, const char **ret,
		   struct err *err)
{
	AUTO(crypto_key_freep) struct crypto_key *key = NULL;
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct jwt_assertion claims = {
		.client_id = client_id,
		.audience = options->audience_is_token_endpoint ? token_endpoint
								: issuer,
		.now_s = now_s,
	};
	enum crypto_alg alg;

	*ret = NULL;
	if (method != GRANT_KEY)
		return 0;
	if (!options->private_key)
		return err_set(err, ERR_CREDENTIAL,
			       "the client authenticates with a private key, "
			       "and none is configured");
	if (crypto_key_read(str_of(options->private_key), &key, err) < 0 ||
	    jwt_alg_choose(key, options->signing_alg, supported, &alg, err) <
		    0 ||
	    jwt_client_assertion(key, alg, &claims, &b, err) < 0)
		return err_wrap(err, "private key of the client");
	*ret = arena_strndup(arena, b.p, b.n);
	return 0;
}
