/*
 * Who this client is at the authorization server: configured, a document of
 * its own, or registered; in this order.
 */
#include "core/auth/answer.h"
#include "core/auth/flow_inner.h"

static void start_grant(struct flow *f)
{
	if (f->setting.options->grant == AUTH_CODE)
		flow_ask_person(f);
	else
		flow_token(f);
}

/* AZ-4, SU-1: what was asked for so far stays. */
static void decide_scope(struct flow *f)
{
	const struct auth_options *o = f->setting.options;
	const char *scope =
		f->start.scope ? f->start.scope : f->scopes_supported;

	if (o->scope)
		scope = metadata_union(o->scope, f->start.scope, &f->arena);
	if (scope && o->grant == AUTH_CODE &&
	    metadata_has(&f->server.scopes, "offline_access"))
		scope = metadata_union(scope, "offline_access", &f->arena);
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
		flow_secret(f, str_of(secret));
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

/* ---- registration ---- */

static void registered(struct flow *f, const struct http_fetched *a)
{
	struct answer_client c;
	struct err err = ERR_INIT;

	if (answer_client(a->status, a->body, &f->arena, &c, &err) < 0) {
		flow_end(f, &err);
		return;
	}
	take_client(f, c.id, c.secret, c.method);
	account_forget_client(f->account);
	flow_note_client(f);
	f->account->is_registered = true;
	f->account->secret_expires_s = c.secret_expires_s;
	account_set(&f->account->client_secret, c.secret);
	account_set(&f->account->redirect_uri, f->redirect_uri);
	/* not to be made again, whatever becomes of the person */
	if (account_save(f->setting.context->store, f->setting.owner,
			 f->account, &err) < 0)
		flow_end(f, &err);
	else
		start_grant(f);
}

static void register_client(struct flow *f)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	if (!f->redirect_uri && flow_listen(f, NULL, &err) < 0) {
		flow_end(f, &err);
		return;
	}
	flow_to(f, FLOW_REGISTER);
	f->has_registered = true;
	grant_registration(f->redirect_uri,
			   grant_method_to_register(&f->server), f->scope,
			   &body);
	flow_header(f, "Content-Type", STR("application/json"));
	flow_header(f, "Accept", STR("application/json"));
	flow_ask(f, "registration endpoint", "POST", f->server.registration,
		 flow_origin(f, f->server.registration), buf_str(&body),
		 registered);
}

/* The account of this issuer, which may be an earlier one than the present. */
static int read_issuer(struct flow *f, struct err *err)
{
	struct account *a = f->account, other;
	int r;

	if (a->issuer && !strcmp(a->issuer, f->server.issuer))
		return 0;
	account_release(a);
	r = flow_account(f, f->server.issuer, &other, err);
	if (r == 0)
		*a = other;
	return r < 0 ? -1 : 0;
}

/* A registration that still holds, on an address that is still free. */
static bool use_registration(struct flow *f)
{
	const struct account *a = f->account;
	struct err err = ERR_INIT;
	enum grant_method method;

	if (!a->is_registered || !a->client_id || !a->redirect_uri ||
	    !a->method || !grant_method_find(a->method, &method) ||
	    (a->secret_expires_s && a->secret_expires_s <= flow_now_s(f)) ||
	    flow_listen(f, a->redirect_uri, &err) < 0)
		return false;
	take_client(f, a->client_id, a->client_secret, method);
	return true;
}

static void without_identity(struct flow *f)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_CREDENTIAL,
		"the authorization server %s registers nobody; configure a "
		"client: --oauth-client-id, or --oauth-client-metadata-url%s",
		f->server.issuer,
		f->setting.options->client_metadata_url
			? " (documents of clients are not understood there)"
			: "");
	flow_end(f, &err);
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

void flow_identify(struct flow *f)
{
	struct err err = ERR_INIT;

	if (flow_need_person(&f->setting, &err) < 0 ||
	    read_issuer(f, &err) < 0) {
		flow_end(f, &err);
		return;
	}
	decide_scope(f);
	if (use_configured(f) || use_registration(f))
		start_grant(f);
	else if (f->server.registration)
		register_client(f);
	else
		without_identity(f);
}

bool flow_identify_stored(struct flow *f)
{
	const struct auth_options *o = f->setting.options;
	const struct account *a = f->account;
	struct err err = ERR_INIT;
	enum grant_method method;

	if (!a->client_id || !a->method || !a->token_endpoint ||
	    !grant_method_find(a->method, &method)) {
		err_set(&err, ERR_CREDENTIAL,
			"what is stored of the client is not complete; run "
			"`matins auth logout`");
		flow_end(f, &err);
		return false;
	}
	/* of a version that trusted what the server named first */
	if (guard_credential(&f->guard, a->issuer, &err) < 0) {
		flow_end(f, &err);
		return false;
	}
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
	return true;
}
