#include "core/auth/guard.h"

#include "core/auth/words.h"
#include "core/auth/flow_find.h"

static int judge_scheme(const struct guard *g, const char *what,
			const struct url *u, enum guard_origin origin,
			struct err *err)
{
	bool is_local = origin == GUARD_USER || url_is_loopback(g->endpoint) ||
			g->options->allow_private;

	if (str_is(u->scheme, "https"))
		return 0;
	if (str_is(u->scheme, "http") && url_is_loopback(u) && is_local)
		return 0;
	return err_set(err, ERR_PEER, "%s %s: only https may be used", what,
		       u->text.p);
}

int guard_page(const struct guard *g, const char *what, const char *text,
	       struct arena *arena, struct url *ret, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (url_parse(str_of(text), arena, ret, err) < 0) {
		err->kind = ERR_PEER;
		return err_wrap(err, "%s %s", what,
				quote_peer(&b, str_of(text), QUOTE_BYTES));
	}
	if (ret->fragment.p)
		return err_set(err, ERR_PEER, "%s %s: has a fragment", what,
			       ret->text.p);
	return judge_scheme(g, what, ret, GUARD_SERVER, err);
}

int guard_url(const struct guard *g, const char *what, const char *text,
	      enum guard_origin origin, struct arena *arena, struct url *ret,
	      struct err *err)
{
	if (origin == GUARD_SERVER &&
	    guard_page(g, what, text, arena, ret, err) < 0)
		return -1;
	if (origin == GUARD_USER &&
	    (url_parse(str_of(text), arena, ret, err) < 0 ||
	     judge_scheme(g, what, ret, origin, err) < 0))
		return -1;
	if (g->context->may_use &&
	    !g->context->may_use(g->context->arg, ret->host, ret->port, err))
		return err_wrap(err, "%s", what);
	return 0;
}

/* The credential that would be sent; NULL: none. */
static const char *credential_of(const struct auth_options *o)
{
	return o->client_secret	   ? "client_secret"
	       : o->private_key	   ? "private_key"
	       : o->assertion_file ? "assertion_file"
				   : NULL;
}

int guard_credential(const struct guard *g, const char *issuer, struct err *err)
{
	const char *what = credential_of(g->options);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;
	const char *said;
	struct url u;

	if (what && g->options->issuer &&
	    !metadata_is_issuer(issuer, g->options->issuer,
				g->options->accept_issuer_slash))
		return err_set(err, ERR_ISSUER,
			       "%s is for the issuer %s, not for %s", what,
			       g->options->issuer,
			       quote_peer(&b, str_of(issuer), QUOTE_BYTES));
	if (!what || g->options->issuer ||
	    (url_parse(str_of(issuer), &arena, &u, &ignored) == 0 &&
	     url_same_origin(&u, g->endpoint)))
		return 0;
	said = quote_peer(&b, str_of(issuer), QUOTE_BYTES);
	return err_set(err, ERR_ISSUER,
		       "the server names the authorization server %s, and "
		       "nothing says that %s may be sent there; if the client "
		       "is registered at it, add issuer = \"%s\" to the `auth` "
		       "table of the server (--oauth-issuer)",
		       said, what, said);
}

static enum address_class range_of_server(const struct guard *g)
{
	if (g->is_probed)
		return g->probed;
	return g->context->server_range ? *g->context->server_range
					: ADDRESS_PUBLIC;
}

struct reach guard_reach(const struct guard *g, const struct url *u,
			 enum guard_origin origin)
{
	struct reach r = reach_of_user();

	if (origin == GUARD_SERVER) {
		r = reach_of_server(range_of_server(g));
		r.private |= g->options->allow_private;
		r.loopback |= g->options->allow_private;
	}
	r.is_loopback_only = !u->is_tls;
	return r;
}
