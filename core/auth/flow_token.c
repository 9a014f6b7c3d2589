/*
 * Requests for tokens and what their answers mean; the end of each flow.
 */
#include "core/auth/answer.h"
#include "core/auth/flow_inner.h"
#include "core/auth/jwt.h"
#include "core/base/limits.h"
#include "core/secret/secret.h"

/* What a file holds, read anew for each request. */
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
		flow_secret(f, buf_str(&b));
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
	if (!f->needs_dpop && !metadata_has(&f->server.dpop_algs, "ES256"))
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
	flow_header(f, "DPoP", buf_str(&b));
	return 0;
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

typedef void came_fn(struct flow *f, const struct http_fetched *answer);

static void post(struct flow *f, const char *what, const char *url,
		 enum guard_origin origin, const struct grant_request *r,
		 const struct grant_client *client, came_fn *came)
{
	AUTO(buf_wipe) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf authorization = BUF_INIT(BUF_UNBOUNDED);

	grant_form(r, client, &body, &authorization);
	flow_header(f, "Content-Type",
		    STR("application/x-www-form-urlencoded"));
	flow_header(f, "Accept", STR("application/json"));
	if (authorization.n) {
		flow_secret(f, buf_str(&authorization));
		flow_header(f, "Authorization", buf_str(&authorization));
	}
	flow_ask(f, what, "POST", url, origin, buf_str(&body), came);
}

static void got_token(struct flow *f, const struct http_fetched *a);
static void got_refreshed(struct flow *f, const struct http_fetched *a);

static void ask_token(struct flow *f, const struct grant_request *r)
{
	const struct auth_options *o = f->setting.options;
	struct err err = ERR_INIT;

	flow_to(f, FLOW_TOKEN);
	if (flow_assertion(o, f->client.method, f->client.id, f->server.issuer,
			   f->server.token, &f->server.signing_algs,
			   flow_now_s(f), &f->arena, &f->client.assertion,
			   &err) < 0 ||
	    add_proof(f, f->server.token, &err) < 0) {
		flow_end(f, &err);
		return;
	}
	post(f, "token endpoint", f->server.token,
	     flow_origin(f, f->server.token), r, &f->client,
	     r->type == GRANT_REFRESH ? got_refreshed : got_token);
}

/* ---- the identity provider's statement ---- */

static void got_statement(struct flow *f, const struct http_fetched *a)
{
	struct answer_token t;
	struct err err = ERR_INIT;

	if (answer_token(a->status, a->body, true, &f->arena, &t, &err) < 0) {
		err_wrap(&err, "identity provider");
		flow_end(f, &err);
		return;
	}
	flow_secret(f, str_of(t.access_token));
	f->assertion = t.access_token;
	flow_token(f);
}

static void exchange(struct flow *f)
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
	const char *url = f->provider_endpoint ? f->provider_endpoint
					       : o->idp_token_endpoint;
	struct err err = ERR_INIT;

	if (!url) {
		flow_find_provider(f);
		return;
	}
	flow_to(f, FLOW_EXCHANGE);
	if (read_statement(f, o->idp_id_token_file, &r.assertion, &err) < 0) {
		flow_end(f, &err);
		return;
	}
	post(f, "token endpoint of the identity provider", url, GUARD_USER, &r,
	     &client, got_statement);
}

/* ---- the token ---- */

void flow_token(struct flow *f)
{
	const struct auth_options *o = f->setting.options;
	struct grant_request r = {.resource = f->resource};
	struct err err = ERR_INIT;

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
		if (read_statement(f, o->assertion_file, &r.assertion, &err) <
		    0) {
			flow_end(f, &err);
			return;
		}
		break;
	case AUTH_ID_JAG:
		if (!f->assertion) {
			exchange(f);
			return;
		}
		r.type = GRANT_ASSERTION;
		r.assertion = f->assertion;
		break;
	}
	ask_token(f, &r);
}

void flow_refresh(struct flow *f)
{
	struct grant_request r = {.type = GRANT_REFRESH};

	if (!flow_identify_stored(f))
		return;
	r.resource = f->resource;
	r.refresh_token = arena_strdup(&f->arena, f->account->refresh_token);
	ask_token(f, &r);
}

static int keep_key(struct flow *f, bool is_bound, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (is_bound && !f->key)
		return err_set(err, ERR_PEER,
			       "the token is bound to a key, and none was "
			       "sent");
	if (is_bound && crypto_key_write(f->key, &b, err) < 0)
		return -1;
	account_set(&f->account->dpop_key, is_bound ? buf_cstr(&b) : NULL);
	return 0;
}

static void keep_token(struct flow *f, const struct answer_token *t,
		       bool is_refresh)
{
	struct account *a = f->account;
	struct err err = ERR_INIT;

	flow_secret(f, str_of(t->access_token));
	if (t->refresh_token)
		flow_secret(f, str_of(t->refresh_token));
	flow_note_client(f);
	if (keep_key(f, t->is_dpop, &err) < 0) {
		flow_end(f, &err);
		return;
	}
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
	if (account_save(f->setting.context->store, f->setting.owner, a, &err) <
	    0)
		flow_end(f, &err);
	else
		flow_end(f, NULL);
}

/* true: a new proof is on its way, once. */
static bool repeat(struct flow *f, const struct answer_token *t,
		   bool is_refresh)
{
	if (strcmp(t->error, "use_dpop_nonce") != 0 || !f->key ||
	    !f->account->nonce || f->has_repeated)
		return false;
	f->has_repeated = true;
	if (is_refresh)
		flow_refresh(f);
	else
		flow_token(f);
	return true;
}

/* The server has forgotten the client that we registered (CI-10). */
static bool register_again(struct flow *f, const struct answer_token *t)
{
	if (strcmp(t->error, "invalid_client") != 0 ||
	    !f->account->is_registered || f->has_registered)
		return false;
	account_forget_client(f->account);
	f->has_registered = true;
	f->redirect_uri = NULL;
	flow_identify(f);
	return true;
}

static void got_token(struct flow *f, const struct http_fetched *a)
{
	struct answer_token t;
	struct err err = ERR_INIT;

	note_nonce(f, a);
	if (answer_token(a->status, a->body, false, &f->arena, &t, &err) == 0)
		keep_token(f, &t, false);
	else if (!repeat(f, &t, false) && !register_again(f, &t))
		flow_end(f, &err);
}

/* The tokens are of no use any more; with a challenge all begins anew. */
static void refresh_refused(struct flow *f, const struct answer_token *t,
			    struct err *err)
{
	struct err ignored = ERR_INIT;

	if (!strcmp(t->error, "invalid_client") && f->account->is_registered)
		account_forget_client(f->account);
	else if (!strcmp(t->error, "invalid_grant"))
		account_forget_tokens(f->account);
	else if (f->start.kind == FLOW_REFRESH) {
		flow_end(f, err);
		return;
	}
	/* what is still stored is found to be of no use once more */
	(void)!account_save(f->setting.context->store, f->setting.owner,
			    f->account, &ignored);
	if (f->start.kind == FLOW_RENEW)
		flow_find_server(f);
	else
		flow_end(f, err);
}

static void got_refreshed(struct flow *f, const struct http_fetched *a)
{
	struct answer_token t;
	struct err err = ERR_INIT;

	note_nonce(f, a);
	if (answer_token(a->status, a->body, false, &f->arena, &t, &err) == 0)
		keep_token(f, &t, true);
	else if (!repeat(f, &t, true))
		refresh_refused(f, &t, &err);
}
