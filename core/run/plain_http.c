#include "core/run/plain_http.h"

#include <string.h>

#include "core/run/url_secrets.h"

static bool is_credential(const struct header *h)
{
	return h->is_reference || url_secrets_names(str_of(h->name)) ||
	       strcasecmp(h->name, "Cookie") == 0;
}

static bool has_credential(const struct server *s)
{
	const struct server_auth *a = &s->auth;

	for (size_t i = 0; i < s->n_headers; i++)
		if (is_credential(&s->headers[i]))
			return true;
	for (size_t i = 0; i < SERVER_REFERENCES; i++)
		if (server_reference(s, i)->from)
			return true;
	return a->client_id || a->assertion_file || a->idp_id_token_file ||
	       s->url_has_reference;
}

struct plain_http plain_http_of(const struct server *s)
{
	return (struct plain_http){
		.is_allowed = s->insecure_http,
		.allows_credentials = s->insecure_credentials,
		.has_credentials = has_credential(s),
	};
}

static bool carries_credential(const struct plain_http *p, const struct url *u)
{
	return p->has_credentials || url_secrets_any(u);
}

static const char *secure(const struct url *u)
{
	return str_is(u->scheme, "ws") ? "wss" : "https";
}

int plain_http_judge(const struct plain_http *p, const struct url *u,
		     struct err *err)
{
	if (u->is_tls || url_is_loopback(u))
		return 0;
	if (!p->is_allowed)
		return err_set(err, ERR_SYNTAX,
			       "plain %.*s is for loopback only: what is sent "
			       "to %.*s could be read on the way; write %s://, "
			       "or allow it by insecure_http = true "
			       "(--insecure-http)",
			       STR_ARG(u->scheme), STR_ARG(u->host), secure(u));
	if (carries_credential(p, u) && !p->allows_credentials)
		return err_set(err, ERR_SYNTAX,
			       "plain %.*s to %.*s would carry a credential, "
			       "for everybody on the way to read; write "
			       "%s://, or allow that as well by "
			       "insecure_credentials = true "
			       "(--insecure-credentials)",
			       STR_ARG(u->scheme), STR_ARG(u->host), secure(u));
	return 1;
}

const char *plain_http_say(const struct plain_http *p, const struct url *u,
			   struct arena *arena)
{
	return arena_printf(
		arena,
		"plain %.*s to %.*s: what is sent and answered%s can be read "
		"and changed on the way",
		STR_ARG(u->scheme), STR_ARG(u->host),
		carries_credential(p, u) ? ", credentials included," : "");
}
