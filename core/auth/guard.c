#include "core/auth/guard.h"

#include "core/auth/owner.h"
#include "core/auth/words.h"

int guard_url(const struct guard *g, const char *what, const char *text,
	      enum guard_origin origin, struct arena *arena, struct url *ret,
	      struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	bool is_users = origin == GUARD_USER;

	if (url_parse(str_of(text), arena, ret, err) < 0) {
		if (is_users)
			return -1;
		err->kind = ERR_PEER;
		return err_wrap(err, "%s %s", what,
				quote_peer(&b, str_of(text), QUOTE_BYTES));
	}
	if (!is_users && ret->fragment.p)
		return err_set(err, ERR_PEER, "%s %s: has a fragment", what,
			       ret->text.p);
	is_users |= url_is_loopback(g->endpoint) || g->options->allow_private;
	if (!str_is(ret->scheme, "https") &&
	    !(str_is(ret->scheme, "http") && url_is_loopback(ret) && is_users))
		return err_set(err, ERR_PEER, "%s %s: only https may be used",
			       what, ret->text.p);
	if (origin != GUARD_PAGE && g->context->may_use &&
	    !g->context->may_use(g->context->arg, ret->host, ret->port, err))
		return err_wrap(err, "%s", what);
	return 0;
}

bool guard_is_issuer(const char *found, const char *wanted, bool accept_slash)
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

int guard_credential(const struct guard *g, const char *issuer, struct err *err)
{
	const struct auth_options *o = g->options;
	const char *what = o->client_secret    ? "client_secret"
			   : o->private_key    ? "private_key"
			   : o->assertion_file ? "assertion_file"
			   : o->refresh_token  ? "refresh_token"
					       : NULL;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *said;
	struct url u;

	if (!what || (o->issuer ? guard_is_issuer(issuer, o->issuer,
						  o->accept_issuer_slash)
				: url_parse(str_of(issuer), &arena, &u,
					    ERR_IGNORED) == 0 &&
					  url_same_origin(&u, g->endpoint)))
		return 0;
	said = quote_peer(&b, str_of(issuer), QUOTE_BYTES);
	if (o->issuer)
		return err_set(err, ERR_ISSUER,
			       "%s is for the issuer %s, not for %s", what,
			       o->issuer, said);
	return err_set(err, ERR_ISSUER,
		       "the server names the authorization server %s, and "
		       "nothing says that %s may be sent there; if the client "
		       "is registered at it, add issuer = \"%s\" to the `auth` "
		       "table of the server (--oauth-issuer)",
		       said, what, said);
}

int guard_person(const struct auth_context *c, const struct auth_options *o,
		 const struct owner *owner, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	if (o->grant != AUTH_CODE)
		return 0;
	if (o->token_endpoint && !o->authorization_endpoint)
		return err_set(err, ERR_CREDENTIAL,
			       "authorization is needed, and the refresh token "
			       "of the configuration was used up or refused: "
			       "put a new one in its place, or name the "
			       "authorization_endpoint for a login");
	if (c->person.open)
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "authorization is needed%s: run `%s`, or give a token "
		       "or key as a header",
		       o->headers && o->headers->n
			       ? ", for the headers that were given do not do"
			       : "",
		       owner_command(owner, "login", &arena));
}
