#include "core/auth/metadata.h"

#include "core/auth/words.h"
#include "core/base/json.h"

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
