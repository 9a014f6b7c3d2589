/*
 * Discovery: the server's challenge, the metadata of the resource, that of its
 * authorization server, and that of an identity provider.
 */
#include "core/auth/words.h"
#include "core/auth/flow_steps.h"

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
