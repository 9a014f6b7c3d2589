#include "core/auth/auth_options.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/url.h"

static const char *const grant_words[] = {
#define AUTH_GRANT(name, word) [name] = (word),
	AUTH_GRANTS(AUTH_GRANT)
#undef AUTH_GRANT
};

bool auth_grant_find(const char *word, enum auth_grant *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(grant_words); i++) {
		if (!strcmp(word, grant_words[i])) {
			*ret = (enum auth_grant)i;
			return true;
		}
	}
	return false;
}

const char *auth_grant_word(enum auth_grant grant)
{
	return grant_words[grant];
}

static int need(const char *value, const struct auth_options *o,
		const char *name, struct err *err)
{
	return value ? 0
		     : err_set(err, ERR_SYNTAX, "the grant %s needs %s",
			       auth_grant_word(o->grant), name);
}

static int judge_grant(const struct auth_options *o, struct err *err)
{
	const char *credential =
		o->client_secret ? o->client_secret : o->private_key;
	const char *provider =
		o->idp_token_endpoint ? o->idp_token_endpoint : o->idp_issuer;

	if (o->client_secret && o->private_key)
		return err_set(err, ERR_SYNTAX,
			       "a client has a secret or a private key, not "
			       "both");
	if (o->grant == AUTH_CODE)
		return 0;
	if (need(o->client_id, o, "a client id", err) < 0)
		return -1;
	switch (o->grant) {
	case AUTH_CLIENT_CREDENTIALS:
		return need(credential, o, "a secret or a private key", err);
	case AUTH_JWT_BEARER:
		return need(o->assertion_file, o, "an assertion file", err);
	default:
		if (need(o->idp_client_id, o, "idp_client_id", err) < 0 ||
		    need(o->idp_id_token_file, o, "idp_id_token_file", err) < 0)
			return -1;
		return need(provider, o, "idp_token_endpoint or idp_issuer",
			    err);
	}
}

static int judge_urls(const struct auth_options *o, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url u;

	if (o->client_metadata_url) {
		if (url_parse(str_of(o->client_metadata_url), &arena, &u, err) <
		    0)
			return err_wrap(err, "client metadata URL");
		if (!str_is(u.scheme, "https") || str_is(u.path, "/"))
			return err_set(err, ERR_SYNTAX,
				       "client metadata URL: must be https and "
				       "have a path");
	}
	if (!o->redirect_uri)
		return 0;
	if (url_parse(str_of(o->redirect_uri), &arena, &u, err) < 0)
		return err_wrap(err, "redirect address");
	if (!str_is(u.scheme, "https") && !url_is_loopback(&u))
		return err_set(err, ERR_SYNTAX,
			       "redirect address: must be https, or http on "
			       "loopback");
	return 0;
}

int auth_options_judge(const struct auth_options *o, struct err *err)
{
	if (judge_grant(o, err) < 0)
		return -1;
	return judge_urls(o, err);
}
