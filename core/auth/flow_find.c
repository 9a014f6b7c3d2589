/*
 * Discovery: the server's challenge, the metadata of the resource, that of its
 * authorization server, and that of an identity provider.
 */
#include "core/auth/flow_find.h"

#include "core/auth/challenge.h"
#include "core/auth/flow_steps.h"
#include "core/auth/words.h"
#include "core/base/json.h"

/* ---- documents of resources and servers, and their places ---- */

#define RESOURCE_DOCUMENT "/.well-known/oauth-protected-resource"
#define SERVER_DOCUMENT "/.well-known/oauth-authorization-server"
#define OPENID_DOCUMENT "/.well-known/openid-configuration"

static void add_url(struct strlist *list, struct arena *arena, struct buf *url)
{
	if (!list_has(list, buf_cstr(url)))
		list_add(list, arena, arena_strndup(arena, url->p, url->n));
	buf_clear(url);
}

/* The path without the slash at its end; "" for the root. */
static struct str path_of(const struct url *u)
{
	struct str path = u->path;

	if (path.n && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

void metadata_resource_urls(const struct url *endpoint, const char *named,
			    struct arena *arena, struct strlist *ret)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	*ret = (struct strlist){NULL, 0};
	if (named)
		list_add(ret, arena, named);
	for (int root = str_is(endpoint->path, "/"); root < 2; root++) {
		url_origin(endpoint, &b);
		buf_adds(&b, RESOURCE_DOCUMENT);
		if (!root)
			buf_add_str(&b, endpoint->path);
		if (endpoint->query.p) {
			buf_addc(&b, '?');
			buf_add_str(&b, endpoint->query);
		}
		add_url(ret, arena, &b);
	}
}

int metadata_server_urls(const char *issuer, struct arena *arena,
			 struct strlist *ret, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	static const char *const document[] = {SERVER_DOCUMENT,
					       OPENID_DOCUMENT};
	struct str path;
	struct url u;

	if (url_parse(str_of(issuer), arena, &u, err) < 0)
		return err_wrap(err, "issuer");
	if (u.query.p || u.fragment.p)
		return err_set(err, ERR_SYNTAX,
			       "issuer %s: has a query or a fragment",
			       quote_peer(&b, str_of(issuer), QUOTE_BYTES));
	*ret = (struct strlist){NULL, 0};
	path = path_of(&u);
	for (size_t i = 0; i < ARRAY_LEN(document); i++) {
		url_origin(&u, &b);
		buf_adds(&b, document[i]);
		buf_add_str(&b, path);
		add_url(ret, arena, &b);
	}
	if (!path.n)
		return 0;
	url_origin(&u, &b);
	buf_add_str(&b, path);
	buf_adds(&b, OPENID_DOCUMENT);
	add_url(ret, arena, &b);
	return 0;
}

/* returns  0; 1: not a JSON object, which is not an error here */
static int read_document(struct str body, struct json **ret, struct err *err)
{
	struct err why = ERR_INIT;

	if (json_read(body, ret, &why) == 0)
		return 0;
	if (why.kind == ERR_SYNTAX || why.kind == ERR_LIMIT)
		return 1;
	*err = why;
	return -1;
}

int metadata_resource(struct str body, struct arena *arena,
		      struct metadata_resource *ret, struct err *err)
{
	AUTO(json_freep) struct json *object = NULL;
	struct metadata_resource r = {0};
	struct strlist scopes;
	int found = read_document(body, &object, err);

	if (found != 0)
		return found;
	r.resource = json_text(object, "resource", arena);
	if (!r.resource)
		return err_set(err, ERR_PEER,
			       "protected resource metadata: no `resource`");
	if (!json_texts(object, "authorization_servers", arena, &r.servers) ||
	    !r.servers.n)
		return err_set(err, ERR_PEER,
			       "protected resource metadata: names no "
			       "authorization server");
	if (json_texts(object, "scopes_supported", arena, &scopes))
		r.scopes = scopes.n ? list_join(&scopes, " ", arena) : NULL;
	r.needs_dpop =
		json_is_true(object, "dpop_bound_access_tokens_required");
	*ret = r;
	return 0;
}

int metadata_is_for(const struct url *endpoint, const char *resource,
		    struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct str path, of = endpoint->path;
	struct url u;

	if (url_parse(str_of(resource), &arena, &u, err) < 0)
		return err_wrap(err, "protected resource metadata");
	/* a path that ends in a slash is the same as one that does not */
	path = path_of(&u);
	if (!u.fragment.p && url_same_origin(endpoint, &u) && path.n <= of.n &&
	    memcmp(path.p, of.p, path.n) == 0 &&
	    (of.n == path.n || of.p[path.n] == '/'))
		return 0;
	return err_set(err, ERR_PEER,
		       "protected resource metadata is for %s, not for %s",
		       quote_peer(&b, str_of(resource), QUOTE_BYTES),
		       endpoint->text.p);
}

static int judge_issuer(const struct metadata_server *s, const char *wanted,
			bool accept_slash, struct err *err)
{
	AUTO(buf_release) struct buf a = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *found = s->issuer ? s->issuer : "";

	if (guard_is_issuer(found, wanted, accept_slash))
		return 0;
	return err_set(err, ERR_PEER,
		       "authorization server metadata: issuer is \"%s\", "
		       "expected \"%s\"%s",
		       quote_peer(&a, str_of(found), QUOTE_BYTES),
		       quote_peer(&b, str_of(wanted), QUOTE_BYTES),
		       guard_is_issuer(found, wanted, true)
			       ? " (accept_issuer_slash accepts this)"
			       : "");
}

int metadata_server(struct str body, const char *issuer,
		    const struct metadata_rules *rules, struct arena *arena,
		    struct metadata_server *ret, struct err *err)
{
	AUTO(json_freep) struct json *object = NULL;
	struct metadata_server s = {0};
	struct strlist pkce = {NULL, 0};
	const struct {
		const char *name;
		const char **text;
	} texts[] = {
		{"issuer", &s.issuer},
		{"authorization_endpoint", &s.authorization},
		{"token_endpoint", &s.token},
		{"registration_endpoint", &s.registration},
		{"revocation_endpoint", &s.revocation},
	};
	const struct {
		const char *name;
		struct strlist *list;
	} lists[] = {
		{"scopes_supported", &s.scopes},
		{"token_endpoint_auth_signing_alg_values_supported",
		 &s.signing_algs},
		{"dpop_signing_alg_values_supported", &s.dpop_algs},
		{"code_challenge_methods_supported", &pkce},
	};
	int found = read_document(body, &object, err);

	if (found != 0)
		return found;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i].text = json_text(object, texts[i].name, arena);
	if (judge_issuer(&s, issuer, rules->accept_slash, err) < 0)
		return -1;
	if (!s.token || (rules->needs_code && !s.authorization))
		return err_set(
			err, ERR_PEER, "authorization server metadata: no `%s`",
			s.token ? "authorization_endpoint" : "token_endpoint");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		(void)!json_texts(object, lists[i].name, arena, lists[i].list);
	if (rules->needs_code && !list_has(&pkce, "S256"))
		return err_set(err, ERR_PEER,
			       "the authorization server does not offer PKCE "
			       "with S256");
	s.has_auth_methods =
		json_texts(object, "token_endpoint_auth_methods_supported",
			   arena, &s.auth_methods);
	s.takes_metadata_id =
		json_is_true(object, "client_id_metadata_document_supported");
	s.sends_iss = json_is_true(
		object, "authorization_response_iss_parameter_supported");
	*ret = s;
	return 0;
}

void metadata_server_default(const struct url *endpoint, struct arena *arena,
			     struct metadata_server *ret)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *origin;

	url_origin(endpoint, &b);
	origin = buf_cstr(&b);
	*ret = (struct metadata_server){
		.issuer = arena_strdup(arena, origin),
		.authorization = arena_printf(arena, "%s/authorize", origin),
		.token = arena_printf(arena, "%s/token", origin),
		.registration = arena_printf(arena, "%s/register", origin),
		.is_default = true,
	};
}

/* ---- the challenge ---- */

static enum flow_verdict take_challenge(struct flow *f,
					const struct http_fetched *a,
					UNUSED struct err *err)
{
	struct challenge c = {0};

	f->probe_status = a->status;
	challenge_read(&c, a->head, &f->arena);
	f->start.resource_metadata = c.resource_metadata;
	f->start.scope = c.scope;
	return FLOW_OK;
}

enum flow_verdict flow_probe(struct flow *f, struct err *err)
{
	const struct flow_question q = {
		.what = "MCP server",
		.url = f->setting.endpoint->text.p,
		.origin = GUARD_USER,
		.type = "application/json",
		.accept = "application/json, text/event-stream",
		.content = STR(
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
		.came = take_challenge,
	};

	return f->start.kind == FLOW_KIND_LOGIN ? flow_ask(f, &q, err)
						: FLOW_OK;
}

/* ---- a search: one document, at one of several places ---- */

struct search {
	const char *what;
	/* returns  0; 1: nothing is there, ask at the next place */
	int (*read)(struct flow *f, struct str body, struct err *err);
	/* Nothing was found anywhere. */
	enum flow_verdict (*end)(struct flow *f, struct err *err);
};

static enum flow_verdict search(struct flow *f, struct err *err);

static enum flow_verdict got_document(struct flow *f,
				      const struct http_fetched *a,
				      struct err *err)
{
	int found = 1;

	if (a->status >= 500) {
		f->has_refused = true;
		err_set(&f->refused, ERR_PEER, "HTTP status %d", a->status);
	}
	if (a->status >= 500 && f->step == FLOW_RESOURCE) {
		*err = f->refused;
		err_wrap(err, "%s", f->search->what);
		return FLOW_FAILED;
	}
	if (a->status >= 200 && a->status < 300)
		found = f->search->read(f, a->body, err);
	if (found < 0)
		return FLOW_FAILED;
	return found > 0 ? search(f, err) : FLOW_OK;
}

static enum flow_verdict search(struct flow *f, struct err *err)
{
	struct flow_question q = {
		.what = f->search->what,
		.accept = "application/json",
		.came = got_document,
	};

	if (f->candidate == f->candidates.n)
		return f->search->end(f, err);
	q.url = f->candidates.item[f->candidate++];
	/* the provider is named by the user, wherever it lies */
	q.origin = f->step == FLOW_PROVIDER ? GUARD_USER
					    : flow_origin_of(f, q.url);
	return flow_ask(f, &q, err);
}

/* The places are in f->candidates. */
static enum flow_verdict begin_search(struct flow *f, const struct search *s,
				      struct err *err)
{
	f->search = s;
	f->candidate = 0;
	f->has_refused = false;
	return search(f, err);
}

/* ---- the resource ---- */

/* The first that may be asked at all. */
static int choose_allowed(struct flow *f, const struct strlist *list,
			  const char **ret, struct err *err)
{
	struct err other = ERR_INIT;
	struct url u;

	for (size_t i = 0; i < list->n; i++) {
		if (guard_url(&f->guard, "authorization server", list->item[i],
			      flow_origin_of(f, list->item[i]), &f->arena, &u,
			      i ? &other : err) < 0)
			continue;
		*ret = list->item[i];
		return 0;
	}
	return -1;
}

static int read_resource(struct flow *f, struct str body, struct err *err)
{
	const char *issuer = f->setting.options->issuer;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct metadata_resource r;
	int found = metadata_resource(body, &f->arena, &r, err);

	if (found != 0)
		return found;
	if (metadata_is_for(f->setting.endpoint, r.resource, err) < 0)
		return -1;
	f->resource = r.resource;
	f->scopes_supported = r.scopes;
	f->needs_dpop = r.needs_dpop;
	if (!issuer)
		return choose_allowed(f, &r.servers, &f->issuer, err);
	f->issuer = issuer;
	if (list_has(&r.servers, issuer))
		return 0;
	return err_set(err, ERR_PEER,
		       "the server names the authorization server %s; the "
		       "configured client is for %s",
		       quote_peer(&b, str_of(r.servers.item[0]), QUOTE_BYTES),
		       issuer);
}

/* MCP 2025-03-26: the server's own origin, by metadata or by default paths. */
static enum flow_verdict fall_back(struct flow *f, UNUSED struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	url_origin(f->setting.endpoint, &b);
	f->is_fallback = true;
	f->resource = f->setting.endpoint->text.p;
	f->issuer = f->setting.options->issuer
			    ? f->setting.options->issuer
			    : arena_strdup(&f->arena, buf_cstr(&b));
	return FLOW_OK;
}

enum flow_verdict flow_find_resource(struct flow *f, struct err *err)
{
	static const struct search resource = {"protected resource metadata",
					       read_resource, fall_back};
	const struct auth_options *o = f->setting.options;

	if (o->token_endpoint) {
		f->resource = f->setting.endpoint->text.p;
		f->issuer = o->issuer;
		return FLOW_OK;
	}
	metadata_resource_urls(f->setting.endpoint, f->start.resource_metadata,
			       &f->arena, &f->candidates);
	return begin_search(f, &resource, err);
}

/* ---- the issuer ---- */

enum flow_verdict flow_judge_issuer(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct account *a = f->account;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	bool is_stored = a->issuer && guard_is_issuer(a->issuer, f->issuer,
						      o->accept_issuer_slash);

	/* a pre-registered client is for one issuer only */
	if (o->client_id && !o->issuer && a->issuer && !is_stored &&
	    a->client_id && !strcmp(a->client_id, o->client_id)) {
		err_set(err, ERR_PEER,
			"the server moved from the authorization server %s to "
			"%s, for which the configured client is not; after "
			"`%s` it is used there",
			a->issuer,
			quote_peer(&b, str_of(f->issuer), QUOTE_BYTES),
			owner_command(f->setting.owner, "logout", &f->arena));
		return FLOW_FAILED;
	}
	if (guard_credential(&f->guard, f->issuer, err) < 0)
		return FLOW_FAILED;
	return f->start.kind == FLOW_KIND_RENEW && a->refresh_token && is_stored
		       ? FLOW_OK
		       : FLOW_NOT;
}

/* ---- the authorization server ---- */

static int read_server(struct flow *f, struct str body, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct metadata_rules rules = {
		.accept_slash = o->accept_issuer_slash,
		.needs_code = o->grant == AUTH_CODE,
	};

	return metadata_server(body, f->issuer, &rules, &f->arena, &f->server,
			       err);
}

static enum flow_verdict end_server(struct flow *f, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	int status = f->probe_status;
	bool is_default = !f->has_refused && f->is_fallback &&
			  !f->setting.options->issuer;

	/* asked without a token, the server answered, and names nobody */
	if (is_default && status && status != 401 && status != 403) {
		err_set(err, ERR_PEER,
			"the server wants no login, or its URL is not right: "
			"it answered with HTTP status %d, not 401, and names "
			"no authorization server",
			status);
		return FLOW_FAILED;
	}
	if (is_default) {
		metadata_server_default(f->setting.endpoint, &f->arena,
					&f->server);
		return FLOW_OK;
	}
	if (!f->has_refused)
		err_set(&f->refused, ERR_PEER, "nothing was found");
	*err = f->refused;
	err_wrap(err, "metadata of the authorization server %s",
		 quote_peer(&b, str_of(f->issuer), QUOTE_BYTES));
	return FLOW_FAILED;
}

enum flow_verdict flow_find_server(struct flow *f, struct err *err)
{
	static const struct search server = {"authorization server metadata",
					     read_server, end_server};
	const struct auth_options *o = f->setting.options;

	if (o->token_endpoint) {
		f->server = (struct metadata_server){
			.issuer = f->issuer,
			.authorization = o->authorization_endpoint,
			.token = o->token_endpoint,
		};
		return FLOW_OK;
	}
	return metadata_server_urls(f->issuer, &f->arena, &f->candidates, err) <
			       0
		       ? FLOW_FAILED
		       : begin_search(f, &server, err);
}

/* ---- the identity provider ---- */

static int read_provider(struct flow *f, struct str body, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct metadata_rules rules = {.accept_slash =
						     o->accept_issuer_slash};
	struct metadata_server s;
	int found = metadata_server(body, o->idp_issuer, &rules, &f->arena, &s,
				    err);

	if (found == 0)
		f->provider_endpoint = s.token;
	return found;
}

static enum flow_verdict end_provider(struct flow *f, struct err *err)
{
	err_set(err, ERR_PEER,
		"metadata of the identity provider %s: nothing was found",
		f->setting.options->idp_issuer);
	return FLOW_FAILED;
}

enum flow_verdict flow_find_provider(struct flow *f, struct err *err)
{
	static const struct search provider = {"identity provider metadata",
					       read_provider, end_provider};
	const struct auth_options *o = f->setting.options;

	if (o->grant != AUTH_ID_JAG || f->assertion || f->provider_endpoint ||
	    o->idp_token_endpoint)
		return FLOW_OK;
	return metadata_server_urls(o->idp_issuer, &f->arena, &f->candidates,
				    err) < 0
		       ? FLOW_FAILED
		       : begin_search(f, &provider, err);
}
