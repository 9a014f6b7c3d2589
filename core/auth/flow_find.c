/*
 * Discovery: the server's challenge, the metadata of the resource, and that
 * of its authorization server.
 */
#include "core/auth/fields.h"
#include "core/auth/flow_inner.h"

typedef void came_fn(struct flow *f, const struct http_fetched *answer);

static void ask_json(struct flow *f, const char *what, const char *url,
		     enum guard_origin origin, came_fn *came)
{
	flow_header(f, "Accept", STR("application/json"));
	if (f->start.protocol)
		flow_header(f, "MCP-Protocol-Version",
			    str_of(f->start.protocol));
	flow_ask(f, what, "GET", url, origin, (struct str){NULL, 0}, came);
}

/* ---- the challenge ---- */

static void probed(struct flow *f, const struct http_fetched *a)
{
	struct str value;

	f->probe_status = a->status;
	for (size_t n = 0;
	     http_head_get(a->head, "WWW-Authenticate", n, &value); n++)
		challenge_add(&f->challenge, value, &f->arena);
	f->start.resource_metadata = f->challenge.resource_metadata;
	f->start.scope = f->challenge.scope;
	flow_find_resource(f);
}

void flow_probe(struct flow *f)
{
	static const char ping[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

	flow_to(f, FLOW_PROBE);
	flow_header(f, "Content-Type", STR("application/json"));
	flow_header(f, "Accept", STR("application/json, text/event-stream"));
	flow_ask(f, "MCP server", "POST", f->setting.endpoint->text.p,
		 GUARD_USER, str_of(ping), probed);
}

/* ---- the resource ---- */

/* A pre-registered client is for one issuer only. */
static int judge_move(const struct flow *f, const char *issuer, struct err *err)
{
	const struct auth_options *o = f->setting.options;
	const struct account *a = f->account;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (!o->client_id || o->issuer || !a->issuer || !a->client_id ||
	    strcmp(a->client_id, o->client_id) != 0 ||
	    metadata_is_issuer(a->issuer, issuer, o->accept_issuer_slash))
		return 0;
	return err_set(err, ERR_PEER,
		       "the server moved from the authorization server %s to "
		       "%s, for which the configured client is not; after "
		       "`matins auth logout` it is used there",
		       a->issuer,
		       fields_quote(&b, str_of(issuer), FIELDS_QUOTE_BYTES));
}

static int choose_configured(const struct flow *f, const struct strlist *list,
			     const char **ret, struct err *err)
{
	const char *issuer = f->setting.options->issuer;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (metadata_has(list, issuer)) {
		*ret = issuer;
		return 0;
	}
	return err_set(
		err, ERR_PEER,
		"the server names the authorization server %s; the "
		"configured client is for %s",
		fields_quote(&b, str_of(list->item[0]), FIELDS_QUOTE_BYTES),
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
			      flow_origin(f, list->item[i]), &f->arena, &u,
			      i ? &other : err) < 0)
			continue;
		*ret = list->item[i];
		return 0;
	}
	return -1;
}

static void found_issuer(struct flow *f)
{
	const struct account *a = f->account;
	struct err err = ERR_INIT;

	if (judge_move(f, f->issuer, &err) < 0 ||
	    guard_credential(&f->guard, f->issuer, &err) < 0)
		flow_end(f, &err);
	else if (f->start.kind == FLOW_RENEW && a->refresh_token && a->issuer &&
		 metadata_is_issuer(a->issuer, f->issuer,
				    f->setting.options->accept_issuer_slash))
		flow_refresh(f);
	else
		flow_find_server(f);
}

static int take_resource(struct flow *f, const struct metadata_resource *r,
			 struct err *err)
{
	int result;

	if (metadata_is_for(f->setting.endpoint, r->resource, err) < 0)
		return -1;
	f->resource = r->resource;
	f->scopes_supported = r->scopes;
	f->needs_dpop = r->needs_dpop;
	result = f->setting.options->issuer
			 ? choose_configured(f, &r->servers, &f->issuer, err)
			 : choose_allowed(f, &r->servers, &f->issuer, err);
	return result;
}

/* MCP 2025-03-26: the server's own origin, by metadata or by default paths. */
static void fall_back(struct flow *f)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	url_origin(f->setting.endpoint, &b);
	f->is_fallback = true;
	f->resource = f->setting.endpoint->text.p;
	f->issuer = f->setting.options->issuer
			    ? f->setting.options->issuer
			    : arena_strdup(&f->arena, buf_cstr(&b));
	found_issuer(f);
}

static void next_resource(struct flow *f);

static void got_resource(struct flow *f, const struct http_fetched *a)
{
	struct metadata_resource r;
	struct err err = ERR_INIT;
	int found = 1;

	if (a->status >= 500) {
		err_set(&err, ERR_PEER,
			"protected resource metadata: HTTP status %d",
			a->status);
		flow_end(f, &err);
		return;
	}
	if (a->status >= 200 && a->status < 300)
		found = metadata_resource(a->body, &f->arena, &r, &err);
	if (found > 0)
		next_resource(f);
	else if (found < 0 || take_resource(f, &r, &err) < 0)
		flow_end(f, &err);
	else
		found_issuer(f);
}

static void ask_resource(struct flow *f, const char *url)
{
	ask_json(f, "protected resource metadata", url, flow_origin(f, url),
		 got_resource);
}

static void next_resource(struct flow *f)
{
	if (f->candidate == f->candidates.n)
		fall_back(f);
	else
		ask_resource(f, f->candidates.item[f->candidate++]);
}

void flow_find_resource(struct flow *f)
{
	struct strlist known;

	flow_to(f, FLOW_RESOURCE);
	metadata_resource_urls(f->setting.endpoint, &f->arena, &known);
	f->candidates = (struct strlist){
		ARENA_ARRAY(&f->arena, const char *, known.n + 1), 0};
	if (f->start.resource_metadata)
		f->candidates.item[f->candidates.n++] =
			f->start.resource_metadata;
	for (size_t i = 0; i < known.n; i++)
		if (!metadata_has(&f->candidates, known.item[i]))
			f->candidates.item[f->candidates.n++] = known.item[i];
	f->candidate = 0;
	next_resource(f);
}

/* ---- the authorization server ---- */

static void next_server(struct flow *f);

/* Who was asked without a token, did not mind, and names nobody. */
static bool wants_no_login(const struct flow *f)
{
	return f->probe_status && f->probe_status != 401 &&
	       f->probe_status != 403 && !f->has_refused && f->is_fallback &&
	       !f->setting.options->issuer;
}

static void not_found(struct flow *f)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	if (wants_no_login(f)) {
		err_set(&err, ERR_PEER,
			"the server wants no login, or its URL is not right: "
			"it answered with HTTP status %d, not 401, and names "
			"no authorization server",
			f->probe_status);
		flow_end(f, &err);
		return;
	}
	if (!f->has_refused && f->is_fallback && !f->setting.options->issuer) {
		metadata_server_default(f->setting.endpoint, &f->arena,
					&f->server);
		flow_identify(f);
		return;
	}
	if (!f->has_refused)
		err_set(&f->refused, ERR_PEER, "nothing was found");
	err = f->refused;
	err_wrap(&err, "metadata of the authorization server %s",
		 fields_quote(&b, str_of(f->issuer), FIELDS_QUOTE_BYTES));
	flow_end(f, &err);
}

static void got_server(struct flow *f, const struct http_fetched *a)
{
	const struct metadata_rules rules = {
		.accept_slash = f->setting.options->accept_issuer_slash,
		.needs_code = f->setting.options->grant == AUTH_CODE,
	};
	struct err err = ERR_INIT;
	int found = 1;

	if (a->status >= 500) {
		f->has_refused = true;
		err_set(&f->refused, ERR_PEER, "HTTP status %d", a->status);
	}
	if (a->status >= 200 && a->status < 300)
		found = metadata_server(a->body, f->issuer, &rules, &f->arena,
					&f->server, &err);
	if (found > 0)
		next_server(f);
	else if (found < 0)
		flow_end(f, &err);
	else
		flow_identify(f);
}

static void ask_server(struct flow *f, const char *url)
{
	ask_json(f, "authorization server metadata", url, flow_origin(f, url),
		 got_server);
}

static void next_server(struct flow *f)
{
	if (f->candidate == f->candidates.n)
		not_found(f);
	else
		ask_server(f, f->candidates.item[f->candidate++]);
}

void flow_find_server(struct flow *f)
{
	struct err err = ERR_INIT;

	flow_to(f, FLOW_SERVER);
	f->has_refused = false;
	f->candidate = 0;
	if (metadata_server_urls(f->issuer, &f->arena, &f->candidates, &err) <
	    0)
		flow_end(f, &err);
	else
		next_server(f);
}

/* ---- the identity provider ---- */

static void next_provider(struct flow *f);

static void got_provider(struct flow *f, const struct http_fetched *a)
{
	const struct metadata_rules rules = {
		.accept_slash = f->setting.options->accept_issuer_slash};
	struct metadata_server s;
	struct err err = ERR_INIT;
	int found = 1;

	if (a->status >= 200 && a->status < 300)
		found = metadata_server(a->body, f->setting.options->idp_issuer,
					&rules, &f->arena, &s, &err);
	if (found > 0) {
		next_provider(f);
	} else if (found < 0) {
		flow_end(f, &err);
	} else {
		f->provider_endpoint = s.token;
		flow_token(f);
	}
}

static void next_provider(struct flow *f)
{
	struct err err = ERR_INIT;

	if (f->candidate < f->candidates.n) {
		ask_json(f, "identity provider metadata",
			 f->candidates.item[f->candidate++], GUARD_USER,
			 got_provider);
		return;
	}
	err_set(&err, ERR_PEER,
		"metadata of the identity provider %s: nothing was found",
		f->setting.options->idp_issuer);
	flow_end(f, &err);
}

void flow_find_provider(struct flow *f)
{
	struct err err = ERR_INIT;

	flow_to(f, FLOW_PROVIDER);
	f->candidate = 0;
	if (metadata_server_urls(f->setting.options->idp_issuer, &f->arena,
				 &f->candidates, &err) < 0)
		flow_end(f, &err);
	else
		next_provider(f);
}
