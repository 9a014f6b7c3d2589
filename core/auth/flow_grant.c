/*
 * The grant: requests to the authorization server and its answers (pure, and
 * public for tests); then the steps. The client is configured, a document of
 * its own, or registered, in this order; the person answers in the browser; the
 * tokens are asked for, refreshed and revoked.
 */
#include "core/auth/flow_grant.h"

#include <strings.h>

#include "core/auth/flow_steps.h"
#include "core/auth/words.h"
#include "core/base/json.h"
#include "core/base/jw.h"
#include "core/base/text.h"
#include "core/secret/secret.h"

/* ---- requests ---- */

#define ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define TOKEN_TYPE "urn:ietf:params:oauth:token-type:"

static const char *const method_word[] = {GRANT_METHODS(ROW_WORD)};

/* false: no such word */
static bool find_method(const char *word, enum grant_method *ret)
{
	return str_choose(word, method_word, ARRAY_LEN(method_word), ret);
}

/* Metadata without methods means client_secret_basic: RFC 8414 section 2. */
static bool has_method(const struct metadata_server *s,
		       enum grant_method method)
{
	if (!s->has_auth_methods)
		return method == GRANT_BASIC;
	return list_has(&s->auth_methods, method_word[method]);
}

/*
 * The method for a client that has a key or a secret, or neither: what the
 * server offers first, basic before post.
 */
static enum grant_method method_for(const struct metadata_server *s,
				    bool has_key, bool has_secret)
{
	if (has_key)
		return GRANT_KEY;
	if (!has_secret)
		return GRANT_NONE;
	return !has_method(s, GRANT_BASIC) && has_method(s, GRANT_POST)
		       ? GRANT_POST
		       : GRANT_BASIC;
}

enum grant_method grant_method_to_register(const struct metadata_server *s)
{
	/* a server without any document is one of those that expect this */
	bool is_public = s->is_default || has_method(s, GRANT_NONE);

	return method_for(s, false, !is_public);
}

static void add_member(struct buf *body, const char *name, const char *value)
{
	if (value)
		url_form_add(body, name, str_of(value));
}

/* As a form, without the name: RFC 6749 appendix B. */
static void add_value(struct buf *out, const char *value)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	url_form_add(&b, "", str_of(value));
	buf_drop(&b, 1);
	buf_add_str(out, buf_str(&b));
}

static void add_basic(const struct grant_client *c, struct buf *authorization)
{
	AUTO(buf_wipe) struct buf pair = BUF_INIT(BUF_UNBOUNDED);

	add_value(&pair, c->id);
	buf_addc(&pair, ':');
	add_value(&pair, c->secret ? c->secret : "");
	buf_adds(authorization, "Basic ");
	base64_encode(BASE64_STANDARD, buf_str(&pair), authorization);
}

/* Never by two methods at once. */
static void add_credentials(const struct grant_client *c, struct buf *body,
			    struct buf *authorization)
{
	switch (c->method) {
	case GRANT_NONE:
		add_member(body, "client_id", c->id);
		break;
	case GRANT_BASIC:
		add_basic(c, authorization);
		break;
	case GRANT_POST:
		add_member(body, "client_id", c->id);
		add_member(body, "client_secret", c->secret);
		break;
	case GRANT_KEY:
		add_member(body, "client_assertion_type", ASSERTION_TYPE);
		add_member(body, "client_assertion", c->assertion);
		break;
	}
}

void grant_form(const struct grant_request *r, const struct grant_client *c,
		struct buf *body, struct buf *authorization)
{
	static const char *const word[] = {GRANT_TYPES(ROW_WORD)};

	add_member(body, "token", r->token);
	add_member(body, "token_type_hint", r->token_hint);
	add_member(body, "grant_type", word[r->type]);
	add_member(body, "code", r->code);
	add_member(body, "redirect_uri", r->redirect_uri);
	add_member(body, "code_verifier", r->verifier);
	add_member(body, "refresh_token", r->refresh_token);
	if (r->type == GRANT_EXCHANGE) {
		add_member(body, "requested_token_type", TOKEN_TYPE "id-jag");
		add_member(body, "audience", r->audience);
		add_member(body, "subject_token", r->assertion);
		add_member(body, "subject_token_type", TOKEN_TYPE "id_token");
	} else {
		add_member(body, "assertion", r->assertion);
	}
	add_member(body, "resource", r->resource);
	add_member(body, "scope", r->scope);
	add_credentials(c, body, authorization);
}

void grant_registration(const char *redirect_uri, enum grant_method method,
			const char *scope, struct buf *body)
{
	struct strlist uris = {&redirect_uri, 1};
	struct jw w = jw_begin(body);

	jw_kv_cstr(&w, "client_name", "matins");
	jw_kv_list(&w, "redirect_uris", &uris);
	jw_kv_raw(&w, "grant_types",
		  STR("[\"authorization_code\",\"refresh_token\"]"));
	jw_kv_raw(&w, "response_types", STR("[\"code\"]"));
	jw_kv_cstr(&w, "token_endpoint_auth_method", method_word[method]);
	jw_kv_cstr(&w, "application_type", "native");
	jw_kv_opt(&w, "scope", scope);
	jw_end(&w);
}

void grant_authorization_url(const struct grant_ask *a, struct buf *out)
{
	AUTO(buf_release) struct buf query = BUF_INIT(BUF_UNBOUNDED);
	bool has_query = strchr(a->endpoint, '?') != NULL;

	add_member(&query, "response_type", "code");
	add_member(&query, "client_id", a->client_id);
	add_member(&query, "redirect_uri", a->redirect_uri);
	add_member(&query, "code_challenge", a->challenge);
	add_member(&query, "code_challenge_method", "S256");
	add_member(&query, "state", a->state);
	add_member(&query, "resource", a->resource);
	add_member(&query, "scope", a->scope);
	buf_adds(out, a->endpoint);
	buf_addc(out, has_query ? '&' : '?');
	buf_add_str(out, buf_str(&query));
}

/* ---- answers ---- */

#define ID_JAG "urn:ietf:params:oauth:token-type:id-jag"
/* Of the code of an error in a sentence. */
#define CODE_BYTES 60

/* Members of a JSON object, or of a form where there is none. */
struct source {
	struct json *json; /* owned; NULL: a form */
	struct str form;
	struct arena *arena;
};

static void source_release(struct source *s)
{
	json_freep(&s->json);
}

static const char *get_text(const struct source *s, const char *name)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (s->json)
		return json_text(s->json, name, s->arena);
	if (!url_form_get(s->form, name, &b) || !b.n || memchr(b.p, '\0', b.n))
		return NULL;
	return arena_strndup(s->arena, b.p, b.n);
}

/* returns  0; 1: neither JSON nor a form */
static int open_source(struct str body, struct source *s, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct err why = ERR_INIT;

	if (json_read(body, &s->json, &why) == 0)
		return 0;
	if (why.kind != ERR_SYNTAX && why.kind != ERR_LIMIT) {
		*err = why;
		return -1;
	}
	s->form = str_trim(body);
	return url_form_get(s->form, "access_token", &b) ||
			       url_form_get(s->form, "error", &b)
		       ? 0
		       : 1;
}

/* "invalid_grant: the code was used", or as much of it as there is. */
static void add_refusal(struct buf *out, const struct source *s,
			const char *error)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *text = get_text(s, "error_description");

	buf_adds(out, quote_peer(&b, str_of(error), CODE_BYTES));
	if (!text)
		return;
	buf_adds(out, ": ");
	buf_adds(out, quote_peer(&b, str_of(text), QUOTE_BYTES));
}

static int refuse_token(int status, const struct source *s, const char *error,
			struct answer_token *ret, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	snprintf(ret->error, sizeof(ret->error), "%s", error ? error : "");
	if (error)
		add_refusal(&b, s, error);
	return err_set(err, ERR_PEER,
		       "the authorization server refused: HTTP status %d%s%s",
		       status, b.n ? ", " : "", buf_cstr(&b));
}

static int read_type(const struct source *s, bool is_exchange,
		     struct answer_token *t, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *type = get_text(s, "token_type");
	const char *issued = get_text(s, "issued_token_type");

	if (is_exchange) {
		if (!issued || strcmp(issued, ID_JAG) != 0)
			return err_set(err, ERR_PEER,
				       "the identity provider gave no ID-JAG");
		if (!type || strcasecmp(type, "N_A") != 0)
			return err_set(err, ERR_PEER,
				       "the identity provider's token_type is "
				       "not N_A");
		return 0;
	}
	t->is_dpop = type && !strcasecmp(type, "DPoP");
	if (!type || t->is_dpop || !strcasecmp(type, "Bearer"))
		return 0;
	return err_set(err, ERR_PEER,
		       "the token is of the type \"%s\", neither Bearer nor "
		       "DPoP",
		       quote_peer(&b, str_of(type), CODE_BYTES));
}

/* Characters of a header value: RFC 6750 section 2.1, and a little more. */
static bool is_visible(const char *token)
{
	for (; *token; token++)
		if (*token <= 0x20 || *token > 0x7e)
			return false;
	return true;
}

/* text  NULL: there is none */
static int judge_length(const char *what, const char *text, struct err *err)
{
	if (!text || strlen(text) <= LIMIT_TOKEN_BYTES)
		return 0;
	return err_set(err, ERR_LIMIT,
		       "the authorization server gave a %s of more than %d "
		       "bytes",
		       what, LIMIT_TOKEN_BYTES);
}

int answer_token(int status, struct str body, bool is_exchange,
		 struct arena *arena, struct answer_token *ret, struct err *err)
{
	AUTO(source_release) struct source s = {.arena = arena};
	struct answer_token t = {.expires_in_s = -1};
	const char *error, *lifetime;
	int r = open_source(body, &s, err);

	*ret = (struct answer_token){.expires_in_s = -1};
	if (r < 0)
		return -1;
	if (r > 0)
		return refuse_token(status, &s, NULL, ret, err);
	error = get_text(&s, "error");
	if (error || status < 200 || status > 299)
		return refuse_token(status, &s, error, ret, err);
	t.access_token = get_text(&s, "access_token");
	if (judge_length("access_token", t.access_token, err) < 0)
		return -1;
	if (!t.access_token || !is_visible(t.access_token))
		return err_set(err, ERR_PEER,
			       "the authorization server gave no usable "
			       "access_token");
	t.refresh_token = get_text(&s, "refresh_token");
	if (read_type(&s, is_exchange, &t, err) < 0 ||
	    judge_length("refresh_token", t.refresh_token, err) < 0)
		return -1;
	t.scope = get_text(&s, "scope");
	lifetime = s.json ? NULL : get_text(&s, "expires_in");
	if (!(s.json ? json_int64(s.json, "expires_in", &t.expires_in_s)
		     : lifetime &&
			       str_int64(str_of(lifetime), &t.expires_in_s)) ||
	    t.expires_in_s < 0)
		t.expires_in_s = -1;
	*ret = t;
	return 0;
}

static int refuse_registration(int status, struct str body,
			       const struct source *s, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	const char *error = s->json ? get_text(s, "error") : NULL;

	if (error)
		add_refusal(&said, s, error);
	else
		buf_adds(&said, quote_peer(&b, body, QUOTE_BYTES));
	return err_set(err, ERR_PEER,
		       "the authorization server refused to register this "
		       "client: HTTP status %d%s%s; configure a client_id",
		       status, said.n ? ", " : "", buf_cstr(&said));
}

int answer_client(int status, struct str body, struct arena *arena,
		  struct answer_client *ret, struct err *err)
{
	AUTO(source_release) struct source s = {.arena = arena};
	struct answer_client c = {0};
	const char *method;

	if (open_source(body, &s, err) < 0)
		return -1;
	if (status != 200 && status != 201)
		return refuse_registration(status, body, &s, err);
	if (!s.json)
		return err_set(err, ERR_PEER,
			       "the answer to the registration is not a JSON "
			       "object");
	c.id = get_text(&s, "client_id");
	if (!c.id)
		return refuse_registration(status, body, &s, err);
	c.secret = get_text(&s, "client_secret");
	if (judge_length("client_id", c.id, err) < 0 ||
	    judge_length("client_secret", c.secret, err) < 0)
		return -1;
	method = get_text(&s, "token_endpoint_auth_method");
	if (!method || !find_method(method, &c.method))
		c.method = c.secret ? GRANT_BASIC : GRANT_NONE;
	if (c.method == GRANT_KEY || (c.method != GRANT_NONE && !c.secret))
		return err_set(err, ERR_PEER,
			       "the registration is for %s, and gives no "
			       "secret",
			       method_word[c.method]);
	if (!json_int64(s.json, "client_secret_expires_at",
			&c.secret_expires_s))
		c.secret_expires_s = 0;
	*ret = c;
	return 0;
}

static int judge_issuer(struct str query, const struct answer_expect *e,
			struct err *err)
{
	AUTO(buf_release) struct buf iss = BUF_INIT(BUF_UNBOUNDED);

	if (url_form_get(query, "iss", &iss))
		return str_is(buf_str(&iss), e->issuer)
			       ? 0
			       : err_set(err, ERR_PEER,
					 "the answer that the browser brought "
					 "is of another issuer than %s",
					 e->issuer);
	if (e->sends_iss)
		return err_set(err, ERR_PEER,
			       "the answer that the browser brought names no "
			       "issuer, though the authorization server "
			       "promised one");
	return 0;
}

/* Takes as long for a state that differs early as for one that differs late. */
static bool is_equal(struct str a, struct str b)
{
	volatile unsigned char differs = 0;

	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		differs |= (unsigned char)(a.p[i] ^ b.p[i]);
	return differs == 0;
}

int answer_redirect(struct str query, const struct answer_expect *e,
		    struct buf *code, struct err *err)
{
	AUTO(buf_wipe) struct buf state = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	struct source s = {.form = query, .arena = &arena};
	const char *error;

	if (!url_form_get(query, "state", &state) ||
	    !is_equal(buf_str(&state), str_of(e->state)))
		return 1;
	if (judge_issuer(query, e, err) < 0)
		return -1;
	error = get_text(&s, "error");
	if (error) {
		add_refusal(&said, &s, error);
		return err_set(err, ERR_PEER, "authorization refused: %s",
			       buf_cstr(&said));
	}
	if (!url_form_get(query, "code", code) || !code->n ||
	    memchr(code->p, '\0', code->n))
		return err_set(err, ERR_PEER,
			       "the answer that the browser brought has no "
			       "code");
	return 0;
}

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

/* Does the configured refresh token do instead of a person? A login needs the
   person where there is a page for one. */
static bool has_seed(const struct flow *f)
{
	return account_has_new_seed(f->account,
				    f->setting.options->refresh_token) &&
	       (f->start.kind != FLOW_KIND_LOGIN || !f->server.authorization);
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

/* Forget the client, and its tokens with it. */
static void forget_client(struct account *a)
{
	account_forget_tokens(a);
	account_set(&a->client_id, NULL);
	account_set(&a->client_secret, NULL);
	account_set(&a->method, NULL);
	account_set(&a->redirect_uri, NULL);
	a->secret_expires_s = 0;
	a->is_registered = false;
}

static void note_client(struct flow *f)
{
	struct account *a = f->account;

	if (!a->client_id || strcmp(a->client_id, f->client.id) != 0)
		forget_client(a);
	account_set(&a->issuer, f->server.issuer);
	account_set(&a->resource, f->resource);
	account_set(&a->token_endpoint, f->server.token);
	account_set(&a->revocation_endpoint, f->server.revocation);
	account_set(&a->client_id, f->client.id);
	account_set(&a->method, method_word[f->client.method]);
}

/* A registration that still holds, on an address that is still free. */
static bool use_registration(struct flow *f)
{
	const struct account *a = f->account;
	enum grant_method method;

	if (!a->is_registered || !a->client_id || !a->redirect_uri ||
	    !a->method || !find_method(a->method, &method) ||
	    (a->secret_expires_s && a->secret_expires_s <= flow_now_s(f)) ||
	    open_listener(f, a->redirect_uri, ERR_IGNORED) < 0)
		return false;
	take_client(f, a->client_id, a->client_secret, method);
	return true;
}

enum flow_verdict flow_identify(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const char *scope = f->start.scope, *id = o->client_id;

	if (!has_seed(f) &&
	    guard_person(f->setting.context, o, f->setting.owner, err) < 0)
		return FLOW_FAILED;
	/* the account of this issuer may be an earlier one than the present */
	if (!f->account->issuer ||
	    strcmp(f->account->issuer, f->server.issuer) != 0) {
		account_release(f->account);
		if (flow_load_account(f, f->server.issuer, err) < 0)
			return FLOW_FAILED;
	}
	/* a step-up keeps the scopes that were asked for so far */
	if (o->scope)
		scope = words_union(o->scope, scope, &f->arena);
	else if (!scope)
		scope = f->scopes_supported;
	if (scope && o->grant == AUTH_CODE &&
	    list_has(&f->server.scopes, "offline_access"))
		scope = words_union(scope, "offline_access", &f->arena);
	f->scope = scope;
	if (!id && o->client_metadata_url && f->server.takes_metadata_id)
		id = o->client_metadata_url;
	if (!id)
		return use_registration(f) ? FLOW_OK : FLOW_NOT;
	take_client(f, id, o->client_id ? o->client_secret : NULL,
		    method_for(&f->server, o->private_key,
			       o->client_id && o->client_secret));
	return FLOW_OK;
}

/* Be the client of the stored account, for a refresh. */
static int be_stored_client(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct account *a = f->account;
	enum grant_method method;

	if (!a->client_id || !a->method || !a->token_endpoint ||
	    !find_method(a->method, &method))
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
		.token = arena_strdup(&f->arena, o->token_endpoint
							 ? o->token_endpoint
							 : a->token_endpoint),
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
	forget_client(f->account);
	note_client(f);
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

enum flow_verdict flow_register(struct flow *f, struct err *err)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct flow_question q = {
		.what = "registration endpoint",
		.url = f->server.registration,
		.type = "application/json",
		.accept = "application/json",
		.came = take_registration,
	};
	bool has_document = f->setting.options->client_metadata_url;

	if (!q.url) {
		err_set(err, ERR_CREDENTIAL,
			"the authorization server %s registers nobody; "
			"configure a client: --oauth-client-id, or "
			"--oauth-client-metadata-url%s",
			f->server.issuer,
			has_document ? " (documents of clients are not "
				       "understood there)"
				     : "");
		return FLOW_FAILED;
	}
	if (!f->redirect_uri && open_listener(f, NULL, err) < 0)
		return FLOW_FAILED;
	grant_registration(f->redirect_uri,
			   grant_method_to_register(&f->server), f->scope,
			   &body);
	f->has_registered = true;
	q.origin = flow_origin_of(f, q.url);
	q.content = buf_str(&body);
	return flow_ask(f, &q, err);
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

	if (f->setting.options->grant != AUTH_CODE || has_seed(f))
		return FLOW_OK;
	if (!f->redirect_uri && open_listener(f, NULL, err) < 0)
		return FLOW_FAILED;
	make_page_url(f, &url);
	if (guard_url(&f->guard, "authorization endpoint", buf_cstr(&url),
		      GUARD_PAGE, &f->arena, &u, err) < 0)
		return FLOW_FAILED;
	loop_timer_in(loop, &f->timer, wait_ms);
	if (p->open(p->arg, buf_cstr(&url), err) < 0)
		return FLOW_FAILED;
	say(f, "waiting for the browser");
	f->handler.waits(f->handler.arg);
	return FLOW_WAIT;
}

/* ---- the token endpoint ---- */

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

/* By the key of the account, or a new one where the server knows such tokens.
 */
static int add_proof(struct flow *f, const char *url, struct err *err)
{
	const char *pem = f->account->dpop_key;
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct jwt_proof proof = {
		.method = "POST",
		.url = str_of(url),
		.nonce = f->account->nonce,
		.now_s = flow_now_s(f),
	};

	if (!f->key && !pem && !f->needs_dpop &&
	    !list_has(&f->server.dpop_algs, "ES256"))
		return 0;
	if (!f->key && (pem ? crypto_key_read(str_of(pem), &f->key, err)
			    : crypto_key_make(&f->key, err)) < 0)
		return -1;
	if (jwt_dpop_proof(f->key, &proof, &b, err) < 0)
		return err_wrap(err, "DPoP proof");
	return http_headers_set(&f->request.headers, "DPoP", buf_str(&b), err);
}

/* ---- requests ---- */

/* The statement that authenticates a client with a key. */
static int add_assertion(struct flow *f, const char *endpoint, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	AUTO(crypto_key_freep) struct crypto_key *key = NULL;
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const struct jwt_assertion claims = {
		.client_id = f->client.id,
		.audience = o->audience_is_token_endpoint ? endpoint
							  : f->server.issuer,
		.now_s = flow_now_s(f),
		.alg = o->signing_alg,
		.algs = f->server.signing_algs,
	};

	if (f->client.method != GRANT_KEY)
		return 0;
	if (!o->private_key)
		return err_set(err, ERR_CREDENTIAL,
			       "the client authenticates with a private key, "
			       "and none is configured");
	if (crypto_key_read(str_of(o->private_key), &key, err) < 0 ||
	    jwt_client_assertion(key, &claims, &b, err) < 0)
		return err_wrap(err, "private key of the client");
	f->client.assertion = arena_strndup(&f->arena, b.p, b.n);
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
	q->type = "application/x-www-form-urlencoded";
	q->accept = r->type == GRANT_REVOKE ? NULL : "application/json";
	q->authorization = buf_str(&authorization);
	q->content = buf_str(&body);
	return flow_ask(f, q, err);
}

static enum flow_verdict got_token(struct flow *f, const struct http_fetched *a,
				   struct err *err);

static enum flow_verdict ask_token(struct flow *f,
				   const struct grant_request *r,
				   struct err *err)
{
	const char *url = f->server.token;
	struct flow_question q = {
		.what = "token endpoint",
		.url = url,
		.origin = flow_origin_of(f, url),
		.came = got_token,
	};

	if (add_assertion(f, url, err) < 0 || add_proof(f, url, err) < 0)
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
	const char *seed = f->setting.options->refresh_token;
	struct account *a = f->account;
	bool is_seeded = !is_refresh && has_seed(f);

	flow_note_secret(f, str_of(t->access_token));
	if (t->refresh_token)
		flow_note_secret(f, str_of(t->refresh_token));
	note_client(f);
	if (keep_key(f, t->is_dpop, err) < 0)
		return FLOW_FAILED;
	account_set(&a->access_token, t->access_token);
	if (t->refresh_token || !is_refresh)
		account_set(&a->refresh_token, t->refresh_token || !is_seeded
						       ? t->refresh_token
						       : seed);
	if (!is_refresh) {
		account_set(&a->scope, f->scope);
		account_note_seed(a, seed);
	}
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

enum flow_verdict flow_token(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	struct grant_request r = {.resource = f->resource};

	switch (o->grant) {
	case AUTH_CODE:
		if (has_seed(f)) {
			r.type = GRANT_REFRESH;
			r.refresh_token = o->refresh_token;
			break;
		}
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
	return ask_token(f, &r, err);
}

/* ---- refresh ---- */

enum flow_verdict flow_refresh(struct flow *f, struct err *err)
{
	struct grant_request r = {.type = GRANT_REFRESH};

	if (be_stored_client(f, err) < 0)
		return FLOW_FAILED;
	r.resource = f->resource;
	r.refresh_token = arena_strdup(&f->arena, f->account->refresh_token);
	return ask_token(f, &r, err);
}

/* The tokens are of no use any more; with a challenge all begins again. */
static enum flow_verdict refuse_refresh(struct flow *f,
					const struct answer_token *t)
{
	if (!strcmp(t->error, "invalid_client") && f->account->is_registered)
		forget_client(f->account);
	else if (!strcmp(t->error, "invalid_grant"))
		account_forget_tokens(f->account);
	else if (f->start.kind == FLOW_KIND_REFRESH)
		return FLOW_FAILED;
	/* tokens that stay in the store are found to be of no use once more */
	(void)!account_save(f->setting.context->store, f->setting.owner,
			    f->account, ERR_IGNORED);
	return f->start.kind == FLOW_KIND_RENEW ? FLOW_NOT : FLOW_FAILED;
}

/* The refresh token of the configuration is no good: not sent once more. */
static enum flow_verdict refuse_seed(struct flow *f,
				     const struct answer_token *t,
				     struct err *err)
{
	if (!strcmp(t->error, "invalid_grant")) {
		note_client(f);
		account_forget_tokens(f->account);
		account_note_seed(f->account,
				  f->setting.options->refresh_token);
		(void)!account_save(f->setting.context->store, f->setting.owner,
				    f->account, ERR_IGNORED);
	}
	err_wrap(err, "refresh_token of the configuration");
	return FLOW_FAILED;
}

/* Of a grant, or of a refresh. */
static enum flow_verdict got_token(struct flow *f, const struct http_fetched *a,
				   struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	bool is_refresh = f->step == FLOW_REFRESH;
	struct answer_token t;
	struct str nonce;

	if (http_head_get(a->head, "DPoP-Nonce", 0, &nonce) && nonce.n) {
		buf_add_str(&b, nonce);
		account_set(&f->account->nonce, buf_cstr(&b));
	}
	if (answer_token(a->status, a->body, false, &f->arena, &t, err) == 0)
		return keep_token(f, &t, is_refresh, err);
	/* the server wants another nonce in the proof: once more, once */
	if (!strcmp(t.error, "use_dpop_nonce") && f->key && f->account->nonce &&
	    !f->has_repeated) {
		f->has_repeated = true;
		return is_refresh ? flow_refresh(f, err) : flow_token(f, err);
	}
	if (is_refresh)
		return refuse_refresh(f, &t);
	if (has_seed(f) && f->setting.options->grant == AUTH_CODE)
		return refuse_seed(f, &t, err);
	/* the server has forgotten the client that we registered */
	if (strcmp(t.error, "invalid_client") != 0 ||
	    !f->account->is_registered || f->has_registered)
		return FLOW_FAILED;
	forget_client(f->account);
	f->has_registered = true;
	f->redirect_uri = NULL;
	return FLOW_NOT;
}

/* ---- revocation: RFC 7009 ---- */

static enum flow_verdict got_revoked(UNUSED struct flow *f,
				     const struct http_fetched *a,
				     struct err *err)
{
	if (a->status >= 200 && a->status <= 299)
		return FLOW_OK;
	err_set(err, ERR_PEER, "HTTP status %d", a->status);
	return FLOW_FAILED;
}

enum flow_verdict flow_revoke(struct flow *f, struct err *err)
{
	const struct account *a = f->account;
	const struct grant_request r = {
		.type = GRANT_REVOKE,
		.token = a->refresh_token ? a->refresh_token : a->access_token,
		.token_hint =
			a->refresh_token ? "refresh_token" : "access_token",
	};
	struct flow_question q = {
		.what = "revocation endpoint",
		.url = a->revocation_endpoint,
		.origin = GUARD_SERVER,
		.came = got_revoked,
	};

	if (guard_credential(&f->guard, a->issuer, err) < 0)
		return FLOW_FAILED;
	f->server.issuer = a->issuer;
	f->client = (struct grant_client){
		.id = a->client_id,
		.secret = a->is_registered ? a->client_secret
					   : f->setting.options->client_secret,
	};
	if (!a->method || !find_method(a->method, &f->client.method))
		f->client.method = GRANT_NONE;
	if (add_assertion(f, q.url, err) < 0)
		return FLOW_FAILED;
	return post_form(f, &q, &r, &f->client, err);
}
