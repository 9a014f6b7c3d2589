/* Requests at the token endpoint, and what their answers mean. */
#include "core/auth/answer.h"
#include "core/auth/flow_steps.h"
#include "core/auth/crypto.h"
#include "core/auth/words.h"
#include "core/base/limits.h"
#include "core/secret/secret.h"

/* The content of a file, read again for each request. */
static int read_statement(struct flow *f, const char *path, const char **ret,
			  struct err *err)
{
	const struct auth_context *c = f->setting.context;
	AUTO(buf_wipe) struct buf b = BUF_INIT(LIMIT_SECRET_BYTES);

	if (secret_resolve(SECRET_FILE, path, NULL, &b, err) < 0)
		return -1;
	if (c->on_file)
		c->on_file(c->arg, buf_str(&b));
	else
		flow_note_secret(f, buf_str(&b));
	*ret = arena_strndup(&f->arena, b.p, b.n);
	return 0;
}

/* ---- proofs of the key that tokens are bound to ---- */

/* The key of the account, or a new one where the server knows such tokens. */
static int find_key(struct flow *f, struct err *err)
{
	const char *pem = f->account->dpop_key;
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (f->key)
		return 0;
	if (pem)
		return crypto_key_read(str_of(pem), &f->key, err);
	if (!f->needs_dpop && !words_has(&f->server.dpop_algs, "ES256"))
		return 0;
	return crypto_key_make(&f->key, err);
}

static int add_proof(struct flow *f, const char *url, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct jwt_proof proof = {
		.method = "POST",
		.url = str_of(url),
		.nonce = f->account->nonce,
		.now_s = flow_now_s(f),
	};

	if (find_key(f, err) < 0)
		return -1;
	if (!f->key)
		return 0;
	if (jwt_dpop_proof(f->key, &proof, &b, err) < 0)
		return err_wrap(err, "DPoP proof");
	return flow_add_header(f, "DPoP", buf_str(&b), err);
}

static void note_nonce(struct flow *f, const struct http_fetched *a)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct str nonce;

	if (!http_head_get(a->head, "DPoP-Nonce", 0, &nonce) || !nonce.n)
		return;
	buf_add_str(&b, nonce);
	account_set(&f->account->nonce, buf_cstr(&b));
}

/* ---- requests ---- */

int flow_assertion(const struct auth_options *options,
		   const struct grant_client *client, const char *issuer,
		   const char *token_endpoint, const struct strlist *supported,
		   int64_t now_s, struct arena *arena, const char **ret,
		   struct err *err)
{
	AUTO(crypto_key_freep) struct crypto_key *key = NULL;
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct jwt_assertion claims = {
		.client_id = client->id,
		.audience = options->audience_is_token_endpoint ? token_endpoint
								: issuer,
		.now_s = now_s,
		.alg = options->signing_alg,
		.algs = *supported,
	};

	*ret = NULL;
	if (client->method != GRANT_KEY)
		return 0;
	if (!options->private_key)
		return err_set(err, ERR_CREDENTIAL,
			       "the client authenticates with a private key, "
			       "and none is configured");
	if (crypto_key_read(str_of(options->private_key), &key, err) < 0 ||
	    jwt_client_assertion(key, &claims, &b, err) < 0)
		return err_wrap(err, "private key of the client");
	*ret = arena_strndup(arena, b.p, b.n);
	return 0;
}

static enum flow_verdict post_form(struct flow *f, struct flow_question *q,
				   const struct grant_request *r,
				   const struct grant_client *client,
				   struct err *err)
{
	AUTO(buf_wipe) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf authorization = BUF_INIT(BUF_UNBOUNDED);

	grant_form(r, client, &body, &authorization);
	flow_note_secret(f, buf_str(&authorization));
	if (flow_add_header(f, "Content-Type",
			    STR("application/x-www-form-urlencoded"),
			    err) < 0 ||
	    flow_add_header(f, "Accept", STR("application/json"), err) < 0 ||
	    (authorization.n &&
	     flow_add_header(f, "Authorization", buf_str(&authorization), err) <
		     0))
		return FLOW_FAILED;
	q->method = "POST";
	q->content = buf_str(&body);
	return flow_ask(f, q, err);
}

static enum flow_verdict ask_token(struct flow *f,
				   const struct grant_request *r,
				   flow_came_fn *came, struct err *err)
{
	const char *url = f->server.token;
	struct flow_question q = {
		.what = "token endpoint",
		.url = url,
		.origin = flow_origin_of(f, url),
		.came = came,
	};

	if (flow_assertion(f->setting.options, &f->client, f->server.issuer,
			   url, &f->server.signing_algs, flow_now_s(f),
			   &f->arena, &f->client.assertion, err) < 0 ||
	    add_proof(f, url, err) < 0)
		return FLOW_FAILED;
	return post_form(f, &q, r, &f->client, err);
}

/* ---- the statement of the identity provider ---- */

static enum flow_verdict got_statement(struct flow *f,
				       const struct http_fetched *a,
				       struct err *err)
{
	struct answer_token t;

	if (answer_token(a->status, a->body, true, &f->arena, &t, err) < 0) {
		err_wrap(err, "identity provider");
		return FLOW_FAILED;
	}
	flow_note_secret(f, str_of(t.access_token));
	f->assertion = t.access_token;
	return FLOW_OK;
}

enum flow_verdict flow_exchange(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct grant_client client = {
		.method = o->idp_client_secret ? GRANT_BASIC : GRANT_NONE,
		.id = o->idp_client_id,
		.secret = o->idp_client_secret,
	};
	struct grant_request r = {
		.type = GRANT_EXCHANGE,
		.audience = f->server.issuer,
		.resource = f->resource,
		.scope = f->scope,
	};
	struct flow_question q = {
		.what = "token endpoint of the identity provider",
		.url = f->provider_endpoint ? f->provider_endpoint
					    : o->idp_token_endpoint,
		.origin = GUARD_USER,
		.came = got_statement,
	};

	if (o->grant != AUTH_ID_JAG || f->assertion)
		return FLOW_OK;
	if (read_statement(f, o->idp_id_token_file, &r.assertion, err) < 0)
		return FLOW_FAILED;
	return post_form(f, &q, &r, &client, err);
}

/* ---- the token ---- */

static int keep_key(struct flow *f, bool is_bound, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (is_bound && !f->key)
		return err_set(err, ERR_PEER,
			       "the token is bound to a key, and this login "
			       "sent none");
	if (is_bound && crypto_key_write(f->key, &b, err) < 0)
		return -1;
	account_set(&f->account->dpop_key, is_bound ? buf_cstr(&b) : NULL);
	return 0;
}

static enum flow_verdict keep_token(struct flow *f,
				    const struct answer_token *t,
				    bool is_refresh, struct err *err)
{
	struct account *a = f->account;

	flow_note_secret(f, str_of(t->access_token));
	if (t->refresh_token)
		flow_note_secret(f, str_of(t->refresh_token));
	flow_note_client(f);
	if (keep_key(f, t->is_dpop, err) < 0)
		return FLOW_FAILED;
	account_set(&a->access_token, t->access_token);
	if (t->refresh_token || !is_refresh)
		account_set(&a->refresh_token, t->refresh_token);
	if (!is_refresh)
		account_set(&a->scope, f->scope);
	if (t->scope || !is_refresh)
		account_set(&a->granted, t->scope ? t->scope : f->scope);
	f->is_granted = !is_refresh;
	a->expires_s =
		t->expires_in_s < 0 ? 0 : flow_now_s(f) + t->expires_in_s;
	return account_save(f->setting.context->store, f->setting.owner, a,
			    err) < 0
		       ? FLOW_FAILED
		       : FLOW_OK;
}

/* The server wants another nonce in the proof: once more, once. */
static bool wants_nonce(struct flow *f, const struct answer_token *t)
{
	if (strcmp(t->error, "use_dpop_nonce") != 0 || !f->key ||
	    !f->account->nonce || f->has_repeated)
		return false;
	f->has_repeated = true;
	return true;
}

static enum flow_verdict got_token(struct flow *f, const struct http_fetched *a,
				   struct err *err)
{
	struct answer_token t;

	note_nonce(f, a);
	if (answer_token(a->status, a->body, false, &f->arena, &t, err) == 0)
		return keep_token(f, &t, false, err);
	if (wants_nonce(f, &t))
		return flow_token(f, err);
	/* the server has forgotten the client that we registered */
	if (strcmp(t.error, "invalid_client") != 0 ||
	    !f->account->is_registered || f->has_registered)
		return FLOW_FAILED;
	account_forget_client(f->account);
	f->has_registered = true;
	f->redirect_uri = NULL;
	return FLOW_NOT;
}

enum flow_verdict flow_token(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	struct grant_request r = {.resource = f->resource};

	switch (o->grant) {
	case AUTH_CODE:
		r.type = GRANT_CODE;
		r.code = buf_cstr(&f->code);
		r.redirect_uri = f->redirect_uri;
		r.verifier = buf_cstr(&f->verifier);
		break;
	case AUTH_CLIENT_CREDENTIALS:
		r.type = GRANT_CLIENT;
		r.scope = f->scope;
		break;
	case AUTH_JWT_BEARER:
		r.type = GRANT_ASSERTION;
		r.scope = f->scope;
		if (read_statement(f, o->assertion_file, &r.assertion, err) < 0)
			return FLOW_FAILED;
		break;
	case AUTH_ID_JAG:
		r.type = GRANT_ASSERTION;
		r.assertion = f->assertion;
		break;
	}
	return ask_token(f, &r, got_token, err);
}

/* ---- refresh ---- */

/* The tokens are of no use any more; with a challenge all begins again. */
static enum flow_verdict refuse_refresh(struct flow *f,
					const struct answer_token *t)
{
	struct err ignored = ERR_INIT;

	if (!strcmp(t->error, "invalid_client") && f->account->is_registered)
		account_forget_client(f->account);
	else if (!strcmp(t->error, "invalid_grant"))
		account_forget_tokens(f->account);
	else if (f->start.kind == FLOW_KIND_REFRESH)
		return FLOW_FAILED;
	/* tokens that stay in the store are found to be of no use once more */
	(void)!account_save(f->setting.context->store, f->setting.owner,
			    f->account, &ignored);
	return f->start.kind == FLOW_KIND_RENEW ? FLOW_NOT : FLOW_FAILED;
}

static enum flow_verdict got_refreshed(struct flow *f,
				       const struct http_fetched *a,
				       struct err *err)
{
	struct answer_token t;

	note_nonce(f, a);
	if (answer_token(a->status, a->body, false, &f->arena, &t, err) == 0)
		return keep_token(f, &t, true, err);
	return wants_nonce(f, &t) ? flow_refresh(f, err)
				  : refuse_refresh(f, &t);
}

enum flow_verdict flow_refresh(struct flow *f, struct err *err)
{
	struct grant_request r = {.type = GRANT_REFRESH};

	if (flow_identify_stored(f, err) < 0)
		return FLOW_FAILED;
	r.resource = f->resource;
	r.refresh_token = arena_strdup(&f->arena, f->account->refresh_token);
	return ask_token(f, &r, got_refreshed, err);
}
