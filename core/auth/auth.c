#include "core/auth/auth.h"

#include "core/auth/auth_inner.h"
#include "core/auth/jwt.h"
#include "core/auth/metadata.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/transport/http_head.h"

#define FAILED_MS 30000

static const char *const grant_words[] = {
#define AUTH_GRANT(name, word) [name] = (word),
	AUTH_GRANTS(AUTH_GRANT)
#undef AUTH_GRANT
};

bool auth_grant_find(const char *word, enum auth_grant *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(grant_words); i++) {
		if (!strcmp(word, grant_words[i])) {
			*ret = (enum auth_grant)i;
			return true;
		}
	}
	return false;
}

const char *auth_grant_word(enum auth_grant grant)
{
	return grant_words[grant];
}

struct flow_setting auth_setting(struct auth *a)
{
	return (struct flow_setting){&a->context, &a->options, &a->endpoint,
				     &a->owner};
}

int64_t auth_now_s(const struct auth *a)
{
	struct clock *clock = a->context.loop->clock;

	return clock->wall_ns(clock) / (int64_t)NS_PER_S;
}

bool auth_has_failed(struct auth *a, struct err *err)
{
	if (loop_now(a->context.loop) >= a->failed_until_ns)
		return false;
	*err = a->failed;
	return true;
}

/* ---- the account ---- */

static void tell_secret(struct auth *a, const char *value)
{
	if (value && a->context.on_secret)
		a->context.on_secret(a->context.arg, str_of(value));
}

/* Nothing was found, but an entry that may be any server's of this URL. */
static void note_old(struct auth *a)
{
	if (a->account.is_old && a->options.grant == AUTH_CODE)
		log_note("%s: tokens that an earlier version kept for this URL "
			 "do not say which server they are of, and are not "
			 "used; a login gets new ones, and `matins auth logout "
			 "--url` forgets them",
			 owner_shown(&a->owner, &a->arena));
	a->account.is_old = false;
}

int auth_load(struct auth *a, struct err *err)
{
	const struct auth_options *o = &a->options;
	struct account *now = &a->account;
	/* a grant that needs nobody gets them anew */
	int (*load)(struct store *, const struct owner *, const char *,
		    struct account *, struct err *) =
		o->grant == AUTH_CODE ? account_load : account_load_anew;
	int r;

	if (a->is_loaded)
		return 0;
	r = load(a->context.store, &a->owner, NULL, now, err);
	if (r > 0)
		note_old(a);
	if (r < 0 || account_adopt(a->context.store, &a->owner, now, err) < 0)
		return -1;
	a->is_loaded = true;
	tell_secret(a, now->access_token);
	tell_secret(a, now->refresh_token);
	tell_secret(a, now->client_secret);
	/* tokens of another client, or of an issuer that is not wanted */
	if ((o->client_id && now->client_id &&
	     strcmp(o->client_id, now->client_id) != 0) ||
	    (o->issuer && now->issuer &&
	     !metadata_is_issuer(now->issuer, o->issuer,
				 o->accept_issuer_slash)))
		account_forget_tokens(now);
	return 0;
}

/* ---- flows ---- */

static void ended(void *arg, const struct err *err)
{
	struct auth *a = arg;
	void (*done)(void *, const struct err *) = a->done;
	struct err copy = ERR_INIT;

	if (err)
		copy = *err;
	/* a refresh token that has died is no failure: the server will ask */
	if (err && (!a->is_early || a->account.access_token)) {
		a->failed = copy;
		a->failed_until_ns =
			loop_now(a->context.loop) + FAILED_MS * NS_PER_MS;
	}
	if (!err) {
		a->from = flow_is_granted(a->flow) ? TOKEN_GRANTED
						   : TOKEN_REFRESHED;
		a->is_proved = a->is_refused = false;
		a->is_loaded = true;
		a->failed_until_ns = 0;
	}
	flow_free(a->flow);
	a->flow = NULL;
	crypto_key_free(a->key);
	a->key = NULL;
	a->done = NULL;
	if (done)
		done(a->done_arg, err ? &copy : NULL);
	else if (a->authorizer.changed)
		a->authorizer.changed(a->authorizer.arg);
}

/* Who asks again is told to wait, and then that it is for a person. */
static void person_is_asked(void *arg)
{
	struct auth *a = arg;

	if (!a->done && a->authorizer.changed)
		a->authorizer.changed(a->authorizer.arg);
}

void auth_start(struct auth *a, const struct flow_start *start)
{
	struct flow_setting setting = auth_setting(a);

	a->is_early = start->kind == FLOW_KIND_REFRESH;
	a->flow = flow_new(&setting, start, &a->account, ended, a);
	flow_tell_person(a->flow, person_is_asked);
}

/* true: one is on its way. */
static bool renew_early(struct auth *a)
{
	struct account *now = &a->account;
	struct flow_start start = {
		.kind = FLOW_KIND_REFRESH,
		.scope = now->scope,
		.refused = now->access_token,
		.protocol = a->protocol,
	};
	struct err ignored;
	int64_t left_s = now->expires_s - auth_now_s(a);

	if (!now->access_token || !now->expires_s || left_s > ACCOUNT_AHEAD_S ||
	    auth_has_failed(a, &ignored))
		return false;
	/* one that lives no longer than that is used at least once */
	if (a->from != TOKEN_STORED && !a->is_proved)
		return false;
	if (!now->refresh_token && a->options.grant == AUTH_CODE) {
		if (left_s <= 0)
			account_forget_tokens(now);
		return false;
	}
	if (!now->refresh_token)
		start.kind = FLOW_KIND_AUTHORIZE;
	auth_start(a, &start);
	return true;
}

/* ---- the vtable ---- */

static int add_proof(struct auth *a, const char *method, const char *url,
		     struct http_headers *headers, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct jwt_proof proof = {
		.method = method,
		.url = str_of(url),
		.access_token = a->account.access_token,
		.nonce = a->nonce,
		.now_s = auth_now_s(a),
	};

	if (!a->key &&
	    crypto_key_read(str_of(a->account.dpop_key), &a->key, err) < 0)
		return err_wrap(err, "key of the token");
	if (jwt_dpop_proof(a->key, &proof, &b, err) < 0)
		return err_wrap(err, "DPoP proof");
	return http_headers_set(headers, "DPoP", buf_str(&b), err);
}

static int add_token(struct auth *a, const char *method, const char *url,
		     struct http_headers *headers, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	bool is_bound = a->account.dpop_key != NULL;

	if (!a->account.access_token)
		return 0;
	if (is_bound && add_proof(a, method, url, headers, err) < 0)
		return -1;
	buf_addf(&b, "%s %s", is_bound ? "DPoP" : "Bearer",
		 a->account.access_token);
	return http_headers_set(headers, "Authorization", buf_str(&b), err);
}

static enum authorizer_verdict sign(struct authorizer *authorizer,
				    const char *method, const char *url,
				    struct http_headers *headers,
				    struct err *err)
{
	struct auth *a = (struct auth *)authorizer;

	http_headers_replace(headers, a->options.headers);
	if (a->has_fixed || a->options.is_off)
		return AUTHORIZER_GO;
	if (a->flow)
		return AUTHORIZER_WAIT;
	if (auth_load(a, err) < 0)
		return AUTHORIZER_NO;
	if ((!a->account.access_token || a->is_refused) &&
	    auth_has_failed(a, err))
		return AUTHORIZER_NO;
	if (renew_early(a))
		return AUTHORIZER_WAIT;
	return add_token(a, method, url, headers, err) < 0 ? AUTHORIZER_NO
							   : AUTHORIZER_GO;
}

static void answered(struct authorizer *authorizer,
		     const struct http_head *head)
{
	struct auth *a = (struct auth *)authorizer;
	struct str nonce;

	if (head->status != 401 && !a->flow) {
		a->is_proved = true;
		a->is_refused = false;
	}
	if (!http_head_get(head, "DPoP-Nonce", 0, &nonce) || !nonce.n ||
	    (a->nonce && str_is(nonce, a->nonce)))
		return;
	free(a->nonce);
	a->nonce = mem_strndup(nonce.p, nonce.n);
	a->is_nonce_new = true;
}

static bool is_person(const struct authorizer *authorizer)
{
	const struct auth *a = (const struct auth *)authorizer;

	return a->flow && flow_is_person(a->flow);
}

static void spoke(struct authorizer *authorizer, const char *protocol)
{
	struct auth *a = (struct auth *)authorizer;

	free(a->protocol);
	a->protocol = protocol ? mem_strdup(protocol) : NULL;
}

static const struct authorizer_type type = {
	.sign = sign,
	.answered = answered,
	.refused = auth_refused,
	.is_person = is_person,
	.spoke = spoke,
};

struct authorizer *auth_authorizer(struct auth *a)
{
	return &a->authorizer;
}

/* ---- life ---- */

/* Documents about a WebSocket's server are asked for by http and https. */
static int parse_endpoint(struct auth *a, struct err *err)
{
	const char *url = a->options.url;

	if (str_starts(str_of(url), "ws"))
		url = arena_printf(&a->arena, "http%s", url + 2);
	return url_parse(str_of(url), &a->arena, &a->endpoint, err);
}

int auth_new(const struct auth_context *context,
	     const struct auth_options *options, struct auth **ret,
	     struct err *err)
{
	struct auth *a;

	if (auth_judge_options(options, err) < 0)
		return -1;
	a = mem_zalloc(sizeof(*a));
	a->authorizer.type = &type;
	a->context = *context;
	a->options = *options;
	a->owner = (struct owner){
		.name = context->server_name,
		.url = options->url,
		.grant = auth_grant_word(options->grant),
		.client = options->client_id,
		.takes_old = context->is_only_one,
	};
	a->has_fixed = http_headers_has(options->headers, "Authorization");
	if (parse_endpoint(a, err) < 0) {
		auth_free(a);
		return -1;
	}
	tell_secret(a, options->client_secret);
	tell_secret(a, options->idp_client_secret);
	*ret = a;
	return 0;
}

void auth_free(struct auth *a)
{
	if (!a)
		return;
	flow_free(a->flow);
	loop_timer_clear(a->context.loop, &a->timer);
	http_cancel(a->exchange);
	http_headers_release(&a->headers);
	crypto_key_free(a->key);
	account_release(&a->account);
	arena_release(&a->arena);
	free(a->wanted);
	free(a->protocol);
	free(a->nonce);
	free(a);
}

bool auth_redirected(struct auth *a, struct str url)
{
	return a->flow && flow_redirected(a->flow, url);
}
