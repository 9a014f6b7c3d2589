#include "core/auth/auth.h"

#include "core/auth/challenge.h"
#include "core/auth/flow_steps.h"
#include "core/auth/words.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/transport/http_head.h"

/*
 * ---- flow ----
 *
 * One authorization, from what a server refused to a token in the store.
 *
 *	f = flow_new(&setting, &start, &account, done, arg);
 *	...				one call of done, from the loop
 *	flow_free(f);
 *
 * In order, each step only where it is needed: the lock among processes (and
 * what another process has done meanwhile), the server's challenge, metadata
 * of the resource, metadata of the authorization server, an identity of this
 * client, the person in the browser, the token. A failure ends it; nothing is
 * tried that was not asked for.
 *
 * source  MCP 2026-07-28, basic/authorization; OAuth 2.1; ext-auth
 */

#define LOCK_AGAIN_MS 50
/* Another process refreshes: seconds. Where it waits for a person, we give up
   and say so. */
#define LOCK_MS 30000

static void set_timer(struct flow *f, uint64_t in_ms)
{
	loop_timer_in(f->setting.context->loop, &f->timer, in_ms);
}

/* ---- lock ---- */

static bool is_usable(const struct flow *f, const struct account *a)
{
	const struct auth_options *o = f->setting.options;

	return a->access_token &&
	       (!a->expires_s ||
		a->expires_s > flow_now_s(f) + ACCOUNT_AHEAD_S) &&
	       (!o->client_id || !a->client_id ||
		!strcmp(o->client_id, a->client_id)) &&
	       (!f->start.refused ||
		strcmp(f->start.refused, a->access_token) != 0);
}

static enum flow_verdict take_lock(struct flow *f, struct err *err)
{
	const struct auth_context *c = f->setting.context;
	/* one for all clients of a server: the last one used is any of them */
	const char *what = owner_text(f->setting.owner, "", &f->arena);
	int r = c->store ? store_lock(c->store, what, &f->lock, err) : 0;

	if (r > 0 && loop_now(c->loop) < f->lock_until_ns) {
		set_timer(f, LOCK_AGAIN_MS);
		return FLOW_WAIT;
	}
	if (r > 0)
		err_set(err, ERR_BUSY,
			"another matins is authorizing at %s; it may wait "
			"for its browser",
			f->setting.endpoint->text.p);
	/* another process may have changed the account while we waited */
	if (r != 0 || flow_load_account(f, NULL, err) < 0)
		return FLOW_FAILED;
	if (f->start.kind == FLOW_KIND_LOGIN ||
	    (!f->start.refused && !f->account->seed) ||
	    account_has_new_seed(f->account, f->setting.options->refresh_token))
		return FLOW_OK;
	return is_usable(f, f->account) ? FLOW_NOT : FLOW_OK;
}

static enum flow_verdict choose_way(struct flow *f, UNUSED struct err *err)
{
	return f->start.kind == FLOW_KIND_REFRESH ? FLOW_OK : FLOW_NOT;
}

/* ---- the walk ---- */

static const struct {
	const char *word;
	enum flow_verdict (*run)(struct flow *f, struct err *err);
	enum flow_step next[2]; /* by FLOW_OK, FLOW_NOT */
} steps[] = {
#define FLOW_STEP(name, word, run, ok, not_ok) \
	[name] = {word, run, {ok, not_ok}},
	FLOW_STEPS(FLOW_STEP)
#undef FLOW_STEP
};

/* The only setter of the step. */
static void go_to(struct flow *f, enum flow_step step)
{
	log_debug("authorization: %s -> %s", steps[f->step].word,
		  steps[step].word);
	f->step = step;
	f->verdict = FLOW_WAIT;
	loop_timer_clear(f->setting.context->loop, &f->timer);
}

/* The next turn of the loop tells it. */
static void end_walk(struct flow *f)
{
	store_unlock(&f->lock);
	set_timer(f, 0);
}

static void walk(struct flow *f, enum flow_verdict v)
{
	while (v != FLOW_WAIT && f->step != FLOW_OVER) {
		f->is_failed = v == FLOW_FAILED;
		go_to(f, f->is_failed ? FLOW_OVER
				      : steps[f->step].next[v == FLOW_NOT]);
		if (f->step == FLOW_OVER)
			end_walk(f);
		else
			v = steps[f->step].run(f, &f->err);
	}
}

static void on_timer(void *arg)
{
	struct flow *f = arg;
	enum flow_verdict v = f->verdict;

	if (f->step == FLOW_OVER) {
		f->handler.done(f->handler.arg, f->is_failed ? &f->err : NULL,
				f->is_granted);
		return;
	}
	if (v == FLOW_WAIT && f->step == FLOW_LOCK) {
		v = take_lock(f, &f->err);
	} else if (v == FLOW_WAIT) {
		err_set(&f->err, ERR_CREDENTIAL,
			"nobody answered the page of the authorization server "
			"in time");
		v = FLOW_FAILED;
	}
	walk(f, v);
}

/* ---- life ---- */

/*
 * account  changed as it goes on; with tokens when it succeeded, without them
 *	    when the authorization server does not know them any more
 */
static struct flow *flow_new(const struct flow_setting *setting,
			     const struct flow_start *start,
			     struct account *account,
			     const struct flow_handler *handler)
{
	struct flow *f = mem_zalloc(sizeof(*f));

	f->setting = *setting;
	f->guard = (struct guard){.context = setting->context,
				  .options = setting->options,
				  .endpoint = setting->endpoint};
	f->start = (struct flow_start){
		.kind = start->kind,
		.resource_metadata =
			arena_strdup(&f->arena, start->resource_metadata),
		.scope = arena_strdup(&f->arena, start->scope),
		.refused = arena_strdup(&f->arena, start->refused),
		.protocol = arena_strdup(&f->arena, start->protocol),
	};
	f->account = account;
	f->handler = *handler;
	f->lock.fd = -1;
	f->verifier.max = f->secret.max = f->code.max = BUF_UNBOUNDED;
	f->timer.fire = on_timer;
	f->timer.arg = f;
	f->lock_until_ns =
		loop_now(setting->context->loop) + LOCK_MS * NS_PER_MS;
	flow_settle(f, start->kind == FLOW_KIND_REVOKE ? FLOW_NOT : FLOW_OK,
		    NULL);
	return f;
}

/* Ends it, too; takes NULL. */
static void flow_free(struct flow *f)
{
	if (!f)
		return;
	http_cancel(f->request.exchange);
	http_headers_release(&f->request.headers);
	loop_timer_clear(f->setting.context->loop, &f->timer);
	redirect_free(f->redirect);
	crypto_key_free(f->key);
	store_unlock(&f->lock);
	buf_wipe(&f->verifier);
	buf_wipe(&f->secret);
	buf_wipe(&f->code);
	arena_wipe(&f->arena);
	free(f);
}

/* A person is waited for. */
static bool flow_is_person(const struct flow *f)
{
	return f->step == FLOW_PERSON && f->verdict == FLOW_WAIT;
}

/* ---- the configuration ---- */

static const char *const grant_words[] = {AUTH_GRANTS(ROW_WORD)};

bool auth_grant_find(const char *word, enum auth_grant *ret)
{
	return str_choose(word, grant_words, ARRAY_LEN(grant_words), ret);
}

const char *auth_grant_word(enum auth_grant grant)
{
	return grant_words[grant];
}

static int judge_grant(const struct auth_options *o, struct err *err)
{
	bool is_jag = o->grant == AUTH_ID_JAG;
	bool has_endpoint = o->token_endpoint, has_seed = o->refresh_token;
	const struct {
		bool is_missing;
		const char *name;
	} needs[] = {
		{o->grant != AUTH_CODE && !o->client_id, "a client id"},
		{o->grant == AUTH_CLIENT_CREDENTIALS && !o->client_secret &&
			 !o->private_key,
		 "a secret or a private key"},
		{o->grant == AUTH_JWT_BEARER && !o->assertion_file,
		 "an assertion file"},
		{is_jag && !o->idp_client_id, "idp_client_id"},
		{is_jag && !o->idp_id_token_file, "idp_id_token_file"},
		{is_jag && !o->idp_token_endpoint && !o->idp_issuer,
		 "idp_token_endpoint or idp_issuer"},
	};

	if (has_endpoint && !o->client_id)
		return err_set(err, ERR_SYNTAX,
			       "token_endpoint needs a client id: without "
			       "discovery none is registered");
	if (has_endpoint && o->grant == AUTH_CODE && !has_seed &&
	    !o->authorization_endpoint)
		return err_set(err, ERR_SYNTAX,
			       "token_endpoint needs authorization_endpoint or "
			       "refresh_token beside it");
	if (o->authorization_endpoint && !has_endpoint)
		return err_set(err, ERR_SYNTAX,
			       "authorization_endpoint needs token_endpoint");
	if (has_seed && (!o->client_id || o->grant != AUTH_CODE))
		return err_set(err, ERR_SYNTAX,
			       "refresh_token needs the client id that it was "
			       "given to, and the grant authorization_code");
	if (o->client_secret && o->private_key)
		return err_set(err, ERR_SYNTAX,
			       "a client has a secret or a private key, not "
			       "both");
	for (size_t i = 0; i < ARRAY_LEN(needs); i++)
		if (needs[i].is_missing)
			return err_set(err, ERR_SYNTAX, "the grant %s needs %s",
				       auth_grant_word(o->grant),
				       needs[i].name);
	return 0;
}

static int judge_urls(const struct auth_options *o, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *const endpoints[] = {o->token_endpoint,
					 o->authorization_endpoint};
	struct url u;

	for (size_t i = 0; i < ARRAY_LEN(endpoints); i++)
		if (endpoints[i] &&
		    url_parse(str_of(endpoints[i]), &arena, &u, err) < 0)
			return err_wrap(err, i ? "authorization_endpoint"
					       : "token_endpoint");
	if (o->client_metadata_url) {
		if (url_parse(str_of(o->client_metadata_url), &arena, &u, err) <
		    0)
			return err_wrap(err, "client metadata URL");
		if (!str_is(u.scheme, "https") || str_is(u.path, "/"))
			return err_set(err, ERR_SYNTAX,
				       "client metadata URL: must be https and "
				       "have a path");
	}
	if (!o->redirect_uri)
		return 0;
	if (url_parse(str_of(o->redirect_uri), &arena, &u, err) < 0)
		return err_wrap(err, "redirect address");
	if (!str_is(u.scheme, "https") && !url_is_loopback(&u))
		return err_set(err, ERR_SYNTAX,
			       "redirect address: must be https, or http on "
			       "loopback");
	return 0;
}

/* ---- the authorizer ---- */

/* A flow that failed is not tried again for so long. */
#define FAILED_MS 30000
/* 401s of one request: nonce, refresh, new token; then it is enough. */
#define UNAUTHORIZED_MAX 3
/* Step-ups of one request (SU-3). */
#define FORBIDDEN_MAX 2

/* Where the present token is from. */
enum auth_token {
	TOKEN_STORED,
	TOKEN_REFRESHED,
	TOKEN_GRANTED,
};

struct auth {
	struct authorizer authorizer; /* first: see authorizer.h */
	struct auth_context context;
	struct auth_options options;
	struct arena arena; /* of the endpoint */
	struct url endpoint;
	bool has_fixed; /* an Authorization was given */

	struct owner owner;
	struct flow_setting setting; /* of all of these, for flows */
	struct account account;
	bool is_loaded;
	enum auth_token from;
	bool is_proved;	 /* an answer to it was no 401 */
	bool is_refused; /* the last answer to it was one */
	char *wanted;	 /* scopes of step-ups so far; owned */
	char *protocol;	 /* owned; NULL: not known */

	struct crypto_key *key; /* of account.dpop_key; NULL: not read yet */
	char *nonce;		/* the server's newest; owned */
	bool is_nonce_new;

	struct flow *flow; /* NULL: none is on its way */
	bool is_early;	   /* the flow refreshes a token before its end */
	/* The last one failed: what waited for it is told, and no browser opens
	   for each request. */
	struct err failed;
	uint64_t failed_until_ns;

	/* of a login or logout */
	void (*done)(void *arg, const struct err *err);
	void *done_arg;
	struct loop_timer timer; /* of a logout */
};

static int64_t now_s(const struct auth *a)
{
	struct clock *clock = a->context.loop->clock;

	return clock->wall_ns(clock) / (int64_t)NS_PER_S;
}

static bool has_failed(struct auth *a, struct err *err)
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
			 "used; a login gets new ones, and `%s` forgets them",
			 owner_shown(&a->owner, &a->arena),
			 owner_command(&(struct owner){.url = a->owner.url},
				       "logout", &a->arena));
	a->account.is_old = false;
}

static int load_account(struct auth *a, struct err *err)
{
	const struct auth_options *o = &a->options;
	struct account *now = &a->account;
	int r;

	if (a->is_loaded)
		return 0;
	/* a grant that needs nobody gets them anew */
	r = account_open(a->context.store, &a->owner, NULL,
			 o->grant != AUTH_CODE, now, err);
	if (r < 0)
		return -1;
	if (r > 0)
		note_old(a);
	a->is_loaded = true;
	tell_secret(a, now->access_token);
	tell_secret(a, now->refresh_token);
	tell_secret(a, now->client_secret);
	/* tokens of another client or refresh token, or of an issuer that is
	   not wanted */
	if ((now->seed && account_has_new_seed(now, o->refresh_token)) ||
	    (o->client_id && now->client_id &&
	     strcmp(o->client_id, now->client_id) != 0) ||
	    (o->issuer && now->issuer &&
	     !guard_is_issuer(now->issuer, o->issuer, o->accept_issuer_slash)))
		account_forget_tokens(now);
	return 0;
}

/* ---- flows ---- */

static void end_flow(void *arg, const struct err *err, bool is_granted)
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
		a->from = is_granted ? TOKEN_GRANTED : TOKEN_REFRESHED;
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

/* A transport that asks again waits, and learns that it is for a person. */
static void tell_person(void *arg)
{
	struct auth *a = arg;

	if (!a->done && a->authorizer.changed)
		a->authorizer.changed(a->authorizer.arg);
}

static void start_flow(struct auth *a, const struct flow_start *start)
{
	const struct flow_handler handler = {end_flow, tell_person, a};

	a->is_early = start->kind == FLOW_KIND_REFRESH;
	a->flow = flow_new(&a->setting, start, &a->account, &handler);
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
	int64_t left_s = now->expires_s - now_s(a);

	if (!now->access_token || !now->expires_s || left_s > ACCOUNT_AHEAD_S ||
	    has_failed(a, &ignored))
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
	start_flow(a, &start);
	return true;
}

/* ---- requests that are signed ---- */

static int add_proof(struct auth *a, const char *method, const char *url,
		     struct http_headers *headers, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct jwt_proof proof = {
		.method = method,
		.url = str_of(url),
		.access_token = a->account.access_token,
		.nonce = a->nonce,
		.now_s = now_s(a),
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

static enum authorizer_verdict sign_request(struct authorizer *authorizer,
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
	if (load_account(a, err) < 0)
		return AUTHORIZER_NO;
	if ((!a->account.access_token || a->is_refused) && has_failed(a, err))
		return AUTHORIZER_NO;
	if (renew_early(a))
		return AUTHORIZER_WAIT;
	return add_token(a, method, url, headers, err) < 0 ? AUTHORIZER_NO
							   : AUTHORIZER_GO;
}

static void note_answer(struct authorizer *authorizer,
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

static void note_protocol(struct authorizer *authorizer, const char *protocol)
{
	struct auth *a = (struct auth *)authorizer;

	free(a->protocol);
	a->protocol = protocol ? mem_strdup(protocol) : NULL;
}

/* ---- refusals: 401 and 403 ---- */

struct refusal {
	struct auth *a;
	const struct http_head *head;
	struct str body;
	const struct authorizer_try *tries;
	struct challenge challenge;
	struct arena arena;
	struct err *err;
};

/* "HTTP status 403, insufficient_scope: needs mail.write" */
static void describe(const struct refusal *r, struct buf *out)
{
	const struct challenge *c = &r->challenge;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct str body = str_trim(r->body), why = str_of(c->error_description);

	buf_addf(out, "HTTP status %d", r->head->status);
	if (c->error)
		buf_addf(out, ", %s",
			 quote_peer(&b, str_of(c->error), QUOTE_BYTES));
	if (why.p)
		buf_addf(out, ": %s", quote_peer(&b, why, QUOTE_BYTES));
	/* text or JSON: a page says nothing in a line */
	if (!c->error && body.n && body.n <= QUOTE_BYTES && body.p[0] != '<')
		buf_addf(out, ": %s", quote_peer(&b, body, QUOTE_BYTES));
}

static enum authorizer_verdict deny(const struct refusal *r, const char *what)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	describe(r, &b);
	err_set(r->err, ERR_CREDENTIAL, "%s (%s)", what, buf_cstr(&b));
	return AUTHORIZER_NO;
}

static enum authorizer_verdict begin_flow(struct refusal *r,
					  enum flow_kind kind,
					  const char *scope)
{
	struct auth *a = r->a;

	if (has_failed(a, r->err))
		return AUTHORIZER_NO;
	if (kind == FLOW_KIND_AUTHORIZE &&
	    !account_has_new_seed(&a->account, a->options.refresh_token) &&
	    guard_person(&a->context, &a->options, &a->owner, r->err) < 0)
		return AUTHORIZER_NO;
	start_flow(a,
		   &(struct flow_start){
			   .kind = kind,
			   .resource_metadata = r->challenge.resource_metadata,
			   .scope = scope,
			   .refused = a->account.access_token,
			   .protocol = a->protocol,
		   });
	return AUTHORIZER_WAIT;
}

/* ---- 403 ---- */

static enum authorizer_verdict step_up(struct refusal *r)
{
	struct auth *a = r->a;
	const char *so_far =
		words_union(a->account.scope, a->wanted, &r->arena);
	const char *all = words_union(so_far, r->challenge.scope, &r->arena);

	if (!all || (so_far && !strcmp(all, so_far)))
		return deny(r, "the server wants more rights than it names, or "
			       "those that were given already");
	if (r->tries->forbidden > FORBIDDEN_MAX ||
	    r->tries->unauthorized > UNAUTHORIZED_MAX)
		return deny(r,
			    "the server asks for more rights again and again");
	free(a->wanted);
	a->wanted = mem_strdup(all);
	return begin_flow(r, FLOW_KIND_AUTHORIZE, all);
}

static bool is_scope(const struct refusal *r)
{
	return r->challenge.error &&
	       !strcmp(r->challenge.error, "insufficient_scope");
}

/* ---- 401 ---- */

static enum authorizer_verdict judge_unauthorized(struct refusal *r)
{
	struct auth *a = r->a;
	const char *scope;
	bool is_fresh = a->account.access_token && !a->is_proved;

	if (r->challenge.wants_nonce && a->is_nonce_new &&
	    a->account.dpop_key && r->tries->unauthorized <= UNAUTHORIZED_MAX) {
		a->is_nonce_new = false;
		return AUTHORIZER_GO;
	}
	if (is_scope(r) && a->account.access_token)
		return step_up(r);
	if (r->tries->unauthorized > UNAUTHORIZED_MAX ||
	    (is_fresh && a->from == TOKEN_GRANTED))
		return deny(r,
			    "the server refuses a token that was just issued "
			    "for it");
	scope = a->wanted
			? words_union(a->wanted, r->challenge.scope, &r->arena)
			: r->challenge.scope;
	a->is_refused = true;
	if (a->account.refresh_token &&
	    !(is_fresh && a->from == TOKEN_REFRESHED))
		return begin_flow(r, FLOW_KIND_RENEW, scope);
	return begin_flow(r, FLOW_KIND_AUTHORIZE, scope);
}

static enum authorizer_verdict judge_refusal(
	struct authorizer *authorizer, UNUSED const char *method,
	UNUSED const char *url, const struct http_head *head, struct str body,
	const struct authorizer_try *tries, struct err *err)
{
	struct auth *a = (struct auth *)authorizer;
	struct refusal r = {
		.a = a,
		.head = head,
		.body = body,
		.tries = tries,
		.err = err,
	};
	enum authorizer_verdict verdict;

	challenge_read(&r.challenge, head, &r.arena);
	if (a->has_fixed)
		verdict =
			deny(&r, head->status == 401
					 ? "the server refuses the token that "
					   "was given to it by `token`, "
					   "`headers` or --header; it is not "
					   "renewed here"
					 : "the server forbids this to the "
					   "token that was given");
	else if (a->options.is_off)
		verdict =
			deny(&r, "the server wants authorization, and is "
				 "reached by plain http: a token could be read "
				 "on the way; insecure_credentials = true "
				 "(--insecure-credentials) allows that");
	else if (a->flow)
		verdict = AUTHORIZER_WAIT;
	else if (head->status == 401)
		verdict = judge_unauthorized(&r);
	else if (is_scope(&r))
		verdict = step_up(&r);
	else
		verdict = deny(&r, "the server forbids this");
	arena_release(&r.arena);
	return verdict;
}

/* ---- life ---- */

static const struct authorizer_type type = {
	.sign = sign_request,
	.answered = note_answer,
	.refused = judge_refusal,
	.is_person = is_person,
	.spoke = note_protocol,
};

struct authorizer *auth_authorizer(struct auth *a)
{
	return &a->authorizer;
}

static const char *origin_of(const char *text, struct arena *arena)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct url u;

	if (url_parse(str_of(text), arena, &u, ERR_IGNORED) < 0)
		return NULL;
	url_origin(&u, &b);
	return arena_strdup(arena, buf_cstr(&b));
}

int auth_new(const struct auth_context *context,
	     const struct auth_options *options, struct auth **ret,
	     struct err *err)
{
	const char *url;
	struct auth *a;

	if (judge_grant(options, err) < 0 || judge_urls(options, err) < 0)
		return -1;
	a = mem_zalloc(sizeof(*a));
	a->authorizer.type = &type;
	a->context = *context;
	a->options = *options;
	a->owner = (struct owner){
		.name = context->server_name,
		.config = context->config,
		.url = options->url,
		.grant = auth_grant_word(options->grant),
		.client = options->client_id,
		.takes_old = context->is_only_one,
	};
	a->setting = (struct flow_setting){&a->context, &a->options,
					   &a->endpoint, &a->owner};
	a->has_fixed = http_headers_has(options->headers, "Authorization");
	/* documents about a WebSocket's server are asked for by http */
	url = str_starts(str_of(options->url), "ws")
		      ? arena_printf(&a->arena, "http%s", options->url + 2)
		      : options->url;
	if (url_parse(str_of(url), &a->arena, &a->endpoint, err) < 0) {
		auth_free(a);
		return -1;
	}
	/* the user says where the client is known */
	if (options->token_endpoint && !options->issuer)
		a->options.issuer =
			origin_of(options->token_endpoint, &a->arena);
	tell_secret(a, options->client_secret);
	tell_secret(a, options->refresh_token);
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

/* ---- login, status, logout ---- */

void auth_login(struct auth *a, void (*done)(void *arg, const struct err *err),
		void *arg)
{
	flow_free(a->flow);
	a->done = done;
	a->done_arg = arg;
	start_flow(a, &(struct flow_start){.kind = FLOW_KIND_LOGIN,
					   .protocol = a->protocol});
}

bool auth_lacks_person(const struct auth *a)
{
	return a->options.grant == AUTH_CODE && !a->context.person.open;
}

bool auth_keeps(const struct auth *a)
{
	return a->context.store;
}

/* ---- status ---- */

static void copy_cut(char *to, size_t room, const char *from)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	buf_add_cut(&b, str_of(from ? from : ""), room - 1);
	snprintf(to, room, "%s", buf_cstr(&b));
}

int auth_status_stored(struct store *store, const struct owner *owner,
		       int64_t now_s, struct auth_status *ret, struct err *err)
{
	struct account now;
	struct auth_status s = {0};

	if (account_load(store, owner, NULL, &now, err) < 0)
		return -1;
	s.has_token = now.access_token != NULL;
	s.has_refresh_token = now.refresh_token != NULL;
	s.has_client = now.client_id != NULL;
	s.is_bound = now.dpop_key != NULL;
	s.expires_s = now.expires_s;
	s.is_expired = now.expires_s && now.expires_s <= now_s;
	copy_cut(s.issuer, sizeof(s.issuer), now.issuer);
	copy_cut(s.client_id, sizeof(s.client_id), now.client_id);
	copy_cut(s.scope, sizeof(s.scope), now.granted);
	account_release(&now);
	*ret = s;
	return 0;
}

int auth_status(struct auth *a, struct auth_status *ret, struct err *err)
{
	return auth_status_stored(a->context.store, &a->owner, now_s(a), ret,
				  err);
}

/* ---- logout ---- */

/* Tokens are removed here, whatever the authorization server says. */
static void forget_tokens(struct auth *a, const struct err *revoked)
{
	struct err err = ERR_INIT;
	bool failed = account_remove(a->context.store, &a->owner, &err) < 0;

	account_release(&a->account);
	a->failed_until_ns = 0;
	if (!failed && revoked) {
		err = *revoked;
		err_wrap(&err,
			 "the tokens are forgotten here, but were not revoked");
	}
	a->done(a->done_arg, failed || revoked ? &err : NULL);
}

static void on_revoked(void *arg, const struct err *err, UNUSED bool is_granted)
{
	struct auth *a = arg;
	struct err copy = err ? *err : (struct err)ERR_INIT;

	flow_free(a->flow);
	a->flow = NULL;
	forget_tokens(a, err ? &copy : NULL);
}

/* From the loop, as every end. */
static void begin_logout(void *arg)
{
	struct auth *a = arg;
	const struct flow_start start = {.kind = FLOW_KIND_REVOKE};
	const struct flow_handler handler = {.done = on_revoked, .arg = a};
	const struct account *now = &a->account;
	struct err err = ERR_INIT;

	if (load_account(a, &err) < 0 || !now->revocation_endpoint ||
	    !now->client_id || !(now->access_token || now->refresh_token))
		forget_tokens(a, NULL);
	else
		a->flow = flow_new(&a->setting, &start, &a->account, &handler);
}

void auth_logout(struct auth *a, void (*done)(void *arg, const struct err *err),
		 void *arg)
{
	flow_free(a->flow);
	a->flow = NULL;
	/* of a URL that is given all goes, whosever it may be */
	a->owner.takes_old |= !a->owner.name;
	a->done = done;
	a->done_arg = arg;
	a->timer.fire = begin_logout;
	a->timer.arg = a;
	loop_timer_set(a->context.loop, &a->timer, loop_now(a->context.loop));
}
