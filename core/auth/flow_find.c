/*
 * Discovery: the server's challenge, the metadata of the resource, that of its
 * authorization server, and that of an identity provider.
 */
#include "core/auth/flow_find.h"

#include "core/auth/flow_steps.h"
#include "core/auth/words.h"
#include "core/base/json.h"

/* ---- documents of resources and servers, and their places ---- */

#define RESOURCE_DOCUMENT "/.well-known/oauth-protected-resource"
#define SERVER_DOCUMENT "/.well-known/oauth-authorization-server"
#define OPENID_DOCUMENT "/.well-known/openid-configuration"

static void add_url(struct strlist *list, struct arena *arena, struct buf *url)
{
	list->item[list->n++] = arena_strndup(arena, url->p, url->n);
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

static void add_query(struct buf *out, const struct url *u)
{
	if (!u->query.p)
		return;
	buf_addc(out, '?');
	buf_add_str(out, u->query);
}

void metadata_resource_urls(const struct url *endpoint, struct arena *arena,
			    struct strlist *ret)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	bool is_root = str_is(endpoint->path, "/");

	*ret = (struct strlist){ARENA_ARRAY(arena, const char *, 3), 0};
	for (int root = is_root; root < 2; root++) {
		url_origin(endpoint, &b);
		buf_adds(&b, RESOURCE_DOCUMENT);
		if (!root)
			buf_add_str(&b, endpoint->path);
		add_query(&b, endpoint);
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
	*ret = (struct strlist){ARENA_ARRAY(arena, const char *, 4), 0};
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

static const char *join_words(const struct strlist *list, struct arena *arena)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < list->n; i++) {
		if (b.n)
			buf_addc(&b, ' ');
		buf_adds(&b, list->item[i]);
	}
	return b.n ? arena_strndup(arena, b.p, b.n) : NULL;
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
		r.scopes = join_words(&scopes, arena);
	r.needs_dpop =
		json_is_true(object, "dpop_bound_access_tokens_required");
	*ret = r;
	return 0;
}

static bool is_prefix(struct str path, struct str of)
{
	if (of.n < path.n || memcmp(path.p, of.p, path.n) != 0)
		return false;
	return of.n == path.n || of.p[path.n] == '/';
}

int metadata_is_for(const struct url *endpoint, const char *resource,
		    struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct url u;

	if (url_parse(str_of(resource), &arena, &u, err) < 0)
		return err_wrap(err, "protected resource metadata");
	/* a path that ends in a slash is the same as one that does not */
	if (!u.fragment.p && url_same_origin(endpoint, &u) &&
	    is_prefix(path_of(&u), endpoint->path))
		return 0;
	return err_set(err, ERR_PEER,
		       "protected resource metadata is for %s, not for %s",
		       quote_peer(&b, str_of(resource), QUOTE_BYTES),
		       endpoint->text.p);
}

bool metadata_is_issuer(const char *found, const char *wanted,
			bool accept_slash)
{
	size_t n = strlen(found), m = strlen(wanted);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct str longer;
	struct url u;

	if (!strcmp(found, wanted))
		return true;
	if (!accept_slash || (n != m + 1 && m != n + 1) ||
	    strncmp(found, wanted, n < m ? n : m) != 0)
		return false;
	longer = str_of(n < m ? wanted : found);
	return str_ends(longer, "/") &&
	       url_parse(longer, &arena, &u, &err) == 0 && str_is(u.path, "/");
}

static int judge_issuer(const struct metadata_server *s, const char *wanted,
			bool accept_slash, struct err *err)
{
	AUTO(buf_release) struct buf a = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *found = s->issuer ? s->issuer : "";

	if (metadata_is_issuer(found, wanted, accept_slash))
		return 0;
	return err_set(err, ERR_PEER,
		       "authorization server metadata: issuer is \"%s\", "
		       "expected \"%s\"%s",
		       quote_peer(&a, str_of(found), QUOTE_BYTES),
		       quote_peer(&b, str_of(wanted), QUOTE_BYTES),
		       metadata_is_issuer(found, wanted, true)
			       ? " (accept_issuer_slash accepts this)"
			       : "");
}

static int judge_code(const struct metadata_server *s,
		      const struct json *object, struct arena *arena,
		      struct err *err)
{
	struct strlist methods;

	if (!s->authorization)
		return err_set(err, ERR_PEER,
			       "authorization server metadata: no "
			       "`authorization_endpoint`");
	if (!json_texts(object, "code_challenge_methods_supported", arena,
			&methods) ||
	    !words_has(&methods, "S256"))
		return err_set(err, ERR_PEER,
			       "the authorization server does not offer PKCE "
			       "with S256");
	return 0;
}

static void read_lists(const struct json *object, struct arena *arena,
		       struct metadata_server *s)
{
	s->has_auth_methods =
		json_texts(object, "token_endpoint_auth_methods_supported",
			   arena, &s->auth_methods);
	(void)!json_texts(object, "scopes_supported", arena, &s->scopes);
	(void)!json_texts(object,
			  "token_endpoint_auth_signing_alg_values_supported",
			  arena, &s->signing_algs);
	(void)!json_texts(object, "dpop_signing_alg_values_supported", arena,
			  &s->dpop_algs);
}

int metadata_server(struct str body, const char *issuer,
		    const struct metadata_rules *rules, struct arena *arena,
		    struct metadata_server *ret, struct err *err)
{
	AUTO(json_freep) struct json *object = NULL;
	struct metadata_server s = {0};
	int found = read_document(body, &object, err);

	if (found != 0)
		return found;
	s.issuer = json_text(object, "issuer", arena);
	if (judge_issuer(&s, issuer, rules->accept_slash, err) < 0)
		return -1;
	s.authorization = json_text(object, "authorization_endpoint", arena);
	s.token = json_text(object, "token_endpoint", arena);
	s.registration = json_text(object, "registration_endpoint", arena);
	s.revocation = json_text(object, "revocation_endpoint", arena);
	if (!s.token)
		return err_set(err, ERR_PEER,
			       "authorization server metadata: no "
			       "`token_endpoint`");
	if (rules->needs_code && judge_code(&s, object, arena, err) < 0)
		return -1;
	read_lists(object, arena, &s);
	s.takes_metadata_id =
		json_is_true(object, "client_id_metadata_document_supported");
	s.sends_iss = json_is_true(
		object, "authorization_response_iss_parameter_supported");
	*ret = s;
	return 0;
}

static const char *at_origin(const char *origin, const char *path,
			     struct arena *arena)
{
	return arena_printf(arena, "%s%s", origin, path);
}

void metadata_server_default(const struct url *endpoint, struct arena *arena,
			     struct metadata_server *ret)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *origin;

	url_origin(endpoint, &b);
	origin = buf_cstr(&b);
	*ret = (struct metadata_server){
		.issuer = at_origin(origin, "", arena),
		.authorization = at_origin(origin, "/authorize", arena),
		.token = at_origin(origin, "/token", arena),
		.registration = at_origin(origin, "/register", arena),
		.is_default = true,
	};
}

/* ---- the questions of discovery ---- */

static bool is_good(const struct http_fetched *a)
{
	return a->status >= 200 && a->status < 300;
}

static bool has_candidate(const struct flow *f)
{
	return f->candidate < f->candidates.n;
}

static const char *next_candidate(struct flow *f)
{
	return f->candidates.item[f->candidate++];
}

/* Ask for a document of metadata. */
static enum flow_verdict ask_document(struct flow *f, const char *what,
				      const char *url, enum guard_origin origin,
				      flow_came_fn *came, struct err *err)
{
	const char *protocol = f->start.protocol;

	if (flow_add_header(f, "Accept", STR("application/json"), err) < 0 ||
	    (protocol && flow_add_header(f, "MCP-Protocol-Version",
					 str_of(protocol), err) < 0))
		return FLOW_FAILED;
	return flow_ask(f,
			&(struct flow_question){.what = what,
						.method = "GET",
						.url = url,
						.origin = origin,
						.came = came},
			err);
}

/* ---- the challenge ---- */

static enum flow_verdict take_challenge(struct flow *f,
					const struct http_fetched *a,
					UNUSED struct err *err)
{
	struct str value;

	f->probe_status = a->status;
	for (size_t n = 0;
	     http_head_get(a->head, "WWW-Authenticate", n, &value); n++)
		challenge_add(&f->challenge, value, &f->arena);
	f->start.resource_metadata = f->challenge.resource_metadata;
	f->start.scope = f->challenge.scope;
	return FLOW_OK;
}

enum flow_verdict flow_probe(struct flow *f, struct err *err)
{
	const struct flow_question q = {
		.what = "MCP server",
		.method = "POST",
		.url = f->setting.endpoint->text.p,
		.origin = GUARD_USER,
		.content = STR(
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
		.came = take_challenge,
	};

	if (f->start.kind != FLOW_KIND_LOGIN)
		return FLOW_OK;
	if (flow_add_header(f, "Content-Type", STR("application/json"), err) <
		    0 ||
	    flow_add_header(f, "Accept",
			    STR("application/json, text/event-stream"),
			    err) < 0)
		return FLOW_FAILED;
	return flow_ask(f, &q, err);
}

/* ---- the resource ---- */

static int choose_configured(const struct flow *f, const struct strlist *list,
			     const char **ret, struct err *err)
{
	const char *issuer = f->setting.options->issuer;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (words_has(list, issuer)) {
		*ret = issuer;
		return 0;
	}
	return err_set(err, ERR_PEER,
		       "the server names the authorization server %s; the "
		       "configured client is for %s",
		       quote_peer(&b, str_of(list->item[0]), QUOTE_BYTES),
		       issuer);
}

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

static enum flow_verdict take_resource(struct flow *f,
				       const struct metadata_resource *r,
				       struct err *err)
{
	int result;

	if (metadata_is_for(f->setting.endpoint, r->resource, err) < 0)
		return FLOW_FAILED;
	f->resource = r->resource;
	f->scopes_supported = r->scopes;
	f->needs_dpop = r->needs_dpop;
	result = f->setting.options->issuer
			 ? choose_configured(f, &r->servers, &f->issuer, err)
			 : choose_allowed(f, &r->servers, &f->issuer, err);
	return result < 0 ? FLOW_FAILED : FLOW_OK;
}

/* MCP 2025-03-26: the server's own origin, by metadata or by default paths. */
static enum flow_verdict fall_back(struct flow *f)
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

static enum flow_verdict ask_resource(struct flow *f, struct err *err);

static enum flow_verdict got_resource(struct flow *f,
				      const struct http_fetched *a,
				      struct err *err)
{
	struct metadata_resource r;
	int found = 1;

	if (a->status >= 500) {
		err_set(err, ERR_PEER,
			"protected resource metadata: HTTP status %d",
			a->status);
		return FLOW_FAILED;
	}
	if (is_good(a))
		found = metadata_resource(a->body, &f->arena, &r, err);
	if (found < 0)
		return FLOW_FAILED;
	return found > 0 ? ask_resource(f, err) : take_resource(f, &r, err);
}

static enum flow_verdict ask_resource(struct flow *f, struct err *err)
{
	const char *url;

	if (!has_candidate(f))
		return fall_back(f);
	url = next_candidate(f);
	return ask_document(f, "protected resource metadata", url,
			    flow_origin_of(f, url), got_resource, err);
}

enum flow_verdict flow_find_resource(struct flow *f, struct err *err)
{
	struct strlist known;

	metadata_resource_urls(f->setting.endpoint, &f->arena, &known);
	f->candidates = (struct strlist){
		ARENA_ARRAY(&f->arena, const char *, known.n + 1), 0};
	if (f->start.resource_metadata)
		f->candidates.item[f->candidates.n++] =
			f->start.resource_metadata;
	for (size_t i = 0; i < known.n; i++)
		if (!words_has(&f->candidates, known.item[i]))
			f->candidates.item[f->candidates.n++] = known.item[i];
	f->candidate = 0;
	return ask_resource(f, err);
}

/* ---- the issuer ---- */

/* A pre-registered client is for one issuer only. */
static int judge_move(const struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct account *a = f->account;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (!o->client_id || o->issuer || !a->issuer || !a->client_id ||
	    strcmp(a->client_id, o->client_id) != 0 ||
	    metadata_is_issuer(a->issuer, f->issuer, o->accept_issuer_slash))
		return 0;
	return err_set(err, ERR_PEER,
		       "the server moved from the authorization server %s to "
		       "%s, for which the configured client is not; after "
		       "`matins auth logout` it is used there",
		       a->issuer,
		       quote_peer(&b, str_of(f->issuer), QUOTE_BYTES));
}

enum flow_verdict flow_judge_issuer(struct flow *f, struct err *err)
{
	const struct account *a = f->account;

	if (judge_move(f, err) < 0 ||
	    guard_credential(&f->guard, f->issuer, err) < 0)
		return FLOW_FAILED;
	return f->start.kind == FLOW_KIND_RENEW && a->refresh_token &&
			       a->issuer &&
			       metadata_is_issuer(
				       a->issuer, f->issuer,
				       f->setting.options->accept_issuer_slash)
		       ? FLOW_OK
		       : FLOW_NOT;
}

/* ---- the authorization server ---- */

static enum flow_verdict end_search(struct flow *f, struct err *err)
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

static enum flow_verdict ask_server(struct flow *f, struct err *err);

static enum flow_verdict got_server(struct flow *f,
				    const struct http_fetched *a,
				    struct err *err)
{
	const struct metadata_rules rules = {
		.accept_slash = f->setting.options->accept_issuer_slash,
		.needs_code = f->setting.options->grant == AUTH_CODE,
	};
	int found = 1;

	if (a->status >= 500) {
		f->has_refused = true;
		err_set(&f->refused, ERR_PEER, "HTTP status %d", a->status);
	}
	if (is_good(a))
		found = metadata_server(a->body, f->issuer, &rules, &f->arena,
					&f->server, err);
	if (found < 0)
		return FLOW_FAILED;
	return found > 0 ? ask_server(f, err) : FLOW_OK;
}

static enum flow_verdict ask_server(struct flow *f, struct err *err)
{
	const char *url;

	if (!has_candidate(f))
		return end_search(f, err);
	url = next_candidate(f);
	return ask_document(f, "authorization server metadata", url,
			    flow_origin_of(f, url), got_server, err);
}

enum flow_verdict flow_find_server(struct flow *f, struct err *err)
{
	f->has_refused = false;
	f->candidate = 0;
	if (metadata_server_urls(f->issuer, &f->arena, &f->candidates, err) < 0)
		return FLOW_FAILED;
	return ask_server(f, err);
}

/* ---- the identity provider ---- */

static enum flow_verdict ask_provider(struct flow *f, struct err *err);

static enum flow_verdict got_provider(struct flow *f,
				      const struct http_fetched *a,
				      struct err *err)
{
	const struct metadata_rules rules = {
		.accept_slash = f->setting.options->accept_issuer_slash};
	struct metadata_server s;
	int found = 1;

	if (is_good(a))
		found = metadata_server(a->body, f->setting.options->idp_issuer,
					&rules, &f->arena, &s, err);
	if (found < 0)
		return FLOW_FAILED;
	if (found > 0)
		return ask_provider(f, err);
	f->provider_endpoint = s.token;
	return FLOW_OK;
}

static enum flow_verdict ask_provider(struct flow *f, struct err *err)
{
	if (has_candidate(f))
		return ask_document(f, "identity provider metadata",
				    next_candidate(f), GUARD_USER, got_provider,
				    err);
	err_set(err, ERR_PEER,
		"metadata of the identity provider %s: nothing was found",
		f->setting.options->idp_issuer);
	return FLOW_FAILED;
}

enum flow_verdict flow_find_provider(struct flow *f, struct err *err)
{
	const struct auth_options *o = f->setting.options;

	if (o->grant != AUTH_ID_JAG || f->assertion || f->provider_endpoint ||
	    o->idp_token_endpoint)
		return FLOW_OK;
	f->candidate = 0;
	if (metadata_server_urls(o->idp_issuer, &f->arena, &f->candidates,
				 err) < 0)
		return FLOW_FAILED;
	return ask_provider(f, err);
}
