/*
 * The identity of this client at the authorization server: configured, a
 * document of its own, or registered, in this order; and the person there,
 * with the answer that the browser brings back.
 */
#include "core/auth/answer.h"
#include "core/auth/flow_steps.h"
#include "core/auth/words.h"
#include "core/auth/crypto.h"

#define PERSON_MS (5 * 60 * 1000)
/* Every process of this machine can connect. A state cannot be guessed; more
   answers than these are an attack that its user should hear of. */
#define OTHERS_MAX 100

static void say(struct flow *f, const char *line)
{
	const struct auth_person *p = &f->setting.context->person;

	if (p->say)
		p->say(p->arg, line);
}

int flow_load_account(struct flow *f, const char *issuer, struct account *ret,
		      struct err *err)
{
	struct store *s = f->setting.context->store;
	const struct owner *owner = f->setting.owner;
	const struct auth_options *o = f->setting.options;

	/* a person who logs in, or a grant without one, replaces what was there
	 */
	int r = f->start.kind == FLOW_KIND_LOGIN || o->grant != AUTH_CODE
			? account_reload(s, owner, issuer, ret, err)
			: account_load(s, owner, issuer, ret, err);

	return r == 0 ? account_adopt(s, owner, ret, err) : r;
}

/* ---- the listener ---- */

/* More answers to other requests; -1: too many. */
static int count_other(struct flow *f, struct err *err)
{
	if (f->others++ == 0)
		say(f, "an answer came that belongs to another login (its "
		       "state differs); the wait goes on");
	if (f->others < OTHERS_MAX)
		return 0;
	return err_set(err, ERR_PEER,
		       "%d answers came that belong to other logins (their "
		       "state differs): another program of this machine sends "
		       "them to %s; try again",
		       OTHERS_MAX, f->redirect_uri);
}

/* Nothing is shown of a query that answers another request. */
static enum redirect_verdict judge_query(void *arg, struct str query)
{
	struct flow *f = arg;
	const struct answer_expect expect = {
		.state = buf_cstr(&f->secret),
		.issuer = f->server.issuer,
		.sends_iss = f->server.sends_iss,
	};
	struct err err = ERR_INIT;
	int r;

	if (f->step != FLOW_PERSON || f->verdict != FLOW_WAIT)
		return REDIRECT_OTHERS;
	r = answer_redirect(query, &expect, &f->code, &err);
	if (r > 0) {
		if (count_other(f, &err) < 0)
			flow_settle(f, FLOW_FAILED, &err);
		return REDIRECT_OTHERS;
	}
	loop_timer_clear(f->setting.context->loop, &f->timer);
	flow_note_secret(f, buf_str(&f->secret));
	if (r < 0) {
		flow_settle(f, FLOW_FAILED, &err);
		return REDIRECT_BAD;
	}
	flow_note_secret(f, buf_str(&f->code));
	return REDIRECT_GOOD;
}

/* The page that thanks was sent. */
static void close_listener(void *arg)
{
	struct flow *f = arg;

	redirect_free(f->redirect);
	f->redirect = NULL;
	buf_wipe(&f->secret);
	if (f->step == FLOW_PERSON && f->verdict == FLOW_WAIT)
		flow_settle(f, FLOW_OK, NULL);
}

/* uri  of a registration; NULL: what is configured, or any free address */
static int open_listener(struct flow *f, const char *uri, struct err *err)
{
	const struct redirect_handler handler = {judge_query, close_listener,
						 f};
	const char *wanted = f->setting.options->redirect_uri;
	int r;

	/* the address that is configured now, not then */
	if (uri && wanted && strcmp(uri, wanted) != 0)
		return err_set(err, ERR_CREDENTIAL, "another redirect address");
	if (!uri)
		uri = wanted;
	redirect_free(f->redirect);
	f->redirect = NULL;
	r = redirect_open(f->setting.context->loop, uri, &handler, &f->redirect,
			  err);
	if (r < 0)
		return -1;
	f->redirect_uri = arena_strdup(&f->arena,
				       r > 0 ? uri : redirect_uri(f->redirect));
	return 0;
}

bool flow_redirected(struct flow *f, struct str url)
{
	struct str query = str_trim(url);

	if (f->step != FLOW_PERSON)
		return false;
	(void)!str_cut(&query, '?').n;
	if (judge_query(f, str_cut(&query, '#')) != REDIRECT_OTHERS)
		close_listener(f);
	return true;
}

/* ---- the client ---- */

/* A step-up keeps the scopes that were asked for so far. */
static void decide_scope(struct flow *f)
{
	const struct auth_options *o = f->setting.options;
	const char *scope =
		f->start.scope ? f->start.scope : f->scopes_supported;

	if (o->scope)
		scope = words_union(o->scope, f->start.scope, &f->arena);
	if (scope && o->grant == AUTH_CODE &&
	    words_has(&f->server.scopes, "offline_access"))
		scope = words_union(scope, "offline_access", &f->arena);
	f->scope = scope;
}

static void take_client(struct flow *f, const char *id, const char *secret,
			enum grant_method method)
{
	f->client = (struct grant_client){
		.method = method,
		.id = arena_strdup(&f->arena, id),
		.secret = arena_strdup(&f->arena, secret),
	};
	if (secret)
		flow_note_secret(f, str_of(secret));
}

void flow_note_client(struct flow *f)
{
	struct account *a = f->account;

	if (!a->client_id || strcmp(a->client_id, f->client.id) != 0)
		account_forget_client(a);
	account_set(&a->issuer, f->server.issuer);
	account_set(&a->resource, f->resource);
	account_set(&a->token_endpoint, f->server.token);
	account_set(&a->revocation_endpoint, f->server.revocation);
	account_set(&a->client_id, f->client.id);
	account_set(&a->method, grant_method_word(f->client.method));
}

/* The account of this issuer, which may be an earlier one than the present. */
static int read_issuer(struct flow *f, struct err *err)
{
	struct account *a = f->account, other;
	int r;

	if (a->issuer && !strcmp(a->issuer, f->server.issuer))
		return 0;
	account_release(a);
	r = flow_load_account(f, f->server.issuer, &other, err);
	if (r == 0)
		*a = other;
	return r < 0 ? -1 : 0;
}

/* A registration that still holds, on an address that is still free. */
static bool use_registration(struct flow *f)
{
	const struct account *a = f->account;
	struct err ignored = ERR_INIT;
	enum grant_method method;

	if (!a->is_registered || !a->client_id || !a->redirect_uri ||
	    !a->method || !grant_method_find(a->method, &method) ||
	    (a->secret_expires_s && a->secret_expires_s <= flow_now_s(f)) ||
	    open_listener(f, a->redirect_uri, &ignored) < 0)
		return false;
	take_client(f, a->client_id, a->client_secret, method);
	return true;
}

static bool use_configured(struct flow *f)
{
	const struct auth_options *o = f->setting.options;
	bool has_key = o->private_key != NULL;

	if (o->client_id)
		take_client(f, o->client_id, o->client_secret,
			    grant_method_for(&f->server, has_key,
					     o->client_secret != NULL));
	else if (o->client_metadata_url && f->server.takes_metadata_id)
		take_client(f, o->client_metadata_url, NULL,
			    grant_method_for(&f->server, has_key, false));
	else
		return false;
	return true;
}

int flow_need_person(const struct flow_setting *s, struct err *err)
{
	const struct auth_context *c = s->context;
	struct str url, where;

	if (s->options->grant != AUTH_CODE || c->person.open)
		return 0;
	/* a query may hold a key */
	url = str_of(s->options->url);
	where = str_cut(&url, '?');
	return err_set(err, ERR_CREDENTIAL,
		       "authorization is needed%s: run `matins auth login "
		       "%s%.*s%s`, or give a token or key as a header",
		       s->options->headers && s->options->headers->n
			       ? ", for the headers that were given do not do"
			       : "",
		       c->server_name ? "" : "--url ",
		       c->server_name ? (int)strlen(c->server_name)
				      : (int)where.n,
		       c->server_name ? c->server_name : where.p,
		       c->server_name || !url.p ? "" : "?...");
}

enum flow_verdict flow_identify(struct flow *f, struct err *err)
{
	if (flow_need_person(&f->setting, err) < 0 || read_issuer(f, err) < 0)
		return FLOW_FAILED;
	decide_scope(f);
	return use_configured(f) || use_registration(f) ? FLOW_OK : FLOW_NOT;
}

int flow_identify_stored(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct account *a = f->account;
	enum grant_method method;

	if (!a->client_id || !a->method || !a->token_endpoint ||
	    !grant_method_find(a->method, &method))
		return err_set(err, ERR_CREDENTIAL,
			       "the stored client is not complete; run `matins "
			       "auth logout`");
	/* an earlier version trusted the issuer that the server named first */
	if (guard_credential(&f->guard, a->issuer, err) < 0)
		return -1;
	take_client(f, a->client_id,
		    a->is_registered ? a->client_secret : o->client_secret,
		    method);
	f->server = (struct metadata_server){
		.issuer = arena_strdup(&f->arena, a->issuer),
		.token = arena_strdup(&f->arena, a->token_endpoint),
		.revocation = arena_strdup(&f->arena, a->revocation_endpoint),
	};
	if (!f->resource)
		f->resource = arena_strdup(&f->arena, a->resource);
	return 0;
}

/* ---- registration ---- */

static enum flow_verdict take_registration(struct flow *f,
					   const struct http_fetched *a,
					   struct err *err)
{
	struct answer_client c;

	if (answer_client(a->status, a->body, &f->arena, &c, err) < 0)
		return FLOW_FAILED;
	take_client(f, c.id, c.secret, c.method);
	account_forget_client(f->account);
	flow_note_client(f);
	f->account->is_registered = true;
	f->account->secret_expires_s = c.secret_expires_s;
	account_set(&f->account->client_secret, c.secret);
	account_set(&f->account->redirect_uri, f->redirect_uri);
	/* registered once, whether the person agrees or not */
	return account_save(f->setting.context->store, f->setting.owner,
			    f->account, err) < 0
		       ? FLOW_FAILED
		       : FLOW_OK;
}

static int lack_identity(const struct flow *f, struct err *err)
{
	return err_set(err, ERR_CREDENTIAL,
		       "the authorization server %s registers nobody; "
		       "configure a client: --oauth-client-id, or "
		       "--oauth-client-metadata-url%s",
		       f->server.issuer,
		       f->setting.options->client_metadata_url
			       ? " (documents of clients are not understood "
				 "there)"
			       : "");
}

enum flow_verdict flow_register(struct flow *f, struct err *err)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	const char *endpoint = f->server.registration;

	if ((!endpoint && lack_identity(f, err) < 0) ||
	    (!f->redirect_uri && open_listener(f, NULL, err) < 0) ||
	    flow_add_header(f, "Content-Type", STR("application/json"), err) <
		    0 ||
	    flow_add_header(f, "Accept", STR("application/json"), err) < 0)
		return FLOW_FAILED;
	if (grant_registration(f->redirect_uri,
			       grant_method_to_register(&f->server), f->scope,
			       &body, err) < 0)
		return FLOW_FAILED;
	f->has_registered = true;
	return flow_ask(f,
			&(struct flow_question){
				.what = "registration endpoint",
				.method = "POST",
				.url = endpoint,
				.origin = flow_origin_of(f, endpoint),
				.content = buf_str(&body),
				.came = take_registration,
			},
			err);
}

/* ---- the person ---- */

static void make_page_url(struct flow *f, struct buf *url)
{
	AUTO(buf_release) struct buf challenge = BUF_INIT(BUF_UNBOUNDED);

	f->has_repeated = false;
	buf_wipe(&f->verifier);
	buf_wipe(&f->secret);
	buf_wipe(&f->code);
	jwt_pkce_verifier(&f->verifier);
	jwt_pkce_verifier(&f->secret);
	jwt_pkce_challenge(buf_str(&f->verifier), &challenge);
	flow_note_secret(f, buf_str(&f->verifier));
	grant_authorization_url(
		&(struct grant_ask){
			.endpoint = f->server.authorization,
			.client_id = f->client.id,
			.redirect_uri = f->redirect_uri,
			.challenge = buf_cstr(&challenge),
			.state = buf_cstr(&f->secret),
			.resource = f->resource,
			.scope = f->scope,
		},
		url);
}

enum flow_verdict flow_ask_person(struct flow *f, struct err *err)
{
	AUTO(buf_wipe) struct buf url = BUF_INIT(BUF_UNBOUNDED);
	const struct auth_person *p = &f->setting.context->person;
	struct loop *loop = f->setting.context->loop;
	uint64_t wait_ms = p->timeout_ms ? p->timeout_ms : PERSON_MS;
	struct url u;

	if (f->setting.options->grant != AUTH_CODE)
		return FLOW_OK;
	if (!f->redirect_uri && open_listener(f, NULL, err) < 0)
		return FLOW_FAILED;
	make_page_url(f, &url);
	if (guard_page(&f->guard, "authorization endpoint", buf_cstr(&url),
		       &f->arena, &u, err) < 0)
		return FLOW_FAILED;
	loop_timer_set(loop, &f->timer, loop_now(loop) + wait_ms * NS_PER_MS);
	if (p->open(p->arg, buf_cstr(&url), err) < 0)
		return FLOW_FAILED;
	say(f, "waiting for the browser");
	f->handler.waits(f->handler.arg);
	return FLOW_WAIT;
}
