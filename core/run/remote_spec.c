#include "core/run/remote_spec.h"

#include <assert.h>

#include "core/base/mem.h"

const char *remote_spec_keep(struct remote_spec *spec, struct str value)
{
	size_t i = 0;

	while (i < ARRAY_LEN(spec->secret) && spec->secret[i])
		i++;
	assert(i < ARRAY_LEN(spec->secret));
	spec->secret[i] = mem_strndup(value.p, value.n);
	return spec->secret[i];
}

void remote_spec_release(struct remote_spec *spec)
{
	for (size_t i = 0; i < ARRAY_LEN(spec->secret); i++) {
		if (spec->secret[i])
			mem_wipe(spec->secret[i], strlen(spec->secret[i]));
		free(spec->secret[i]);
	}
	http_headers_release(&spec->headers);
	*spec = (struct remote_spec){0};
}

/* ---- from the configuration ---- */

/* {NULL, 0} where nothing is referred to. */
static int value_of(struct credentials *c, const struct env_ref *ref,
		    const char *what, struct str *ret, struct err *err)
{
	*ret = (struct str){NULL, 0};
	if (!ref->from)
		return 0;
	if (credentials_value(c, ref, ret, err) < 0)
		return err_wrap(err, "%s", what);
	return 0;
}

/* A copy that remote_spec_release() wipes. */
static int secret_of(struct credentials *c, const struct env_ref *ref,
		     const char *what, struct remote_spec *spec,
		     const char **ret, struct err *err)
{
	struct str value;

	if (value_of(c, ref, what, &value, err) < 0)
		return -1;
	*ret = value.p ? remote_spec_keep(spec, value) : NULL;
	return 0;
}

static int add_headers(const struct server *s, struct credentials *c,
		       struct http_headers *ret, struct err *err)
{
	AUTO(buf_release) struct buf bearer = BUF_INIT(BUF_UNBOUNDED);
	struct str token, api_key;

	for (size_t i = 0; i < s->headers.n; i++)
		if (http_headers_set(ret, s->headers.item[i].name,
				     str_of(s->headers.item[i].value), err) < 0)
			return err_wrap(err, "headers");
	if (value_of(c, &s->token, "token", &token, err) < 0 ||
	    value_of(c, &s->api_key, "api_key", &api_key, err) < 0)
		return -1;
	if (token.p) {
		buf_addf(&bearer, "Bearer %.*s", STR_ARG(token));
		if (http_headers_set(ret, "Authorization", buf_str(&bearer),
				     err) < 0)
			return err_wrap(err, "token");
		mem_wipe(bearer.p, bearer.n);
	}
	if (api_key.p &&
	    http_headers_set(ret, s->api_key_header, api_key, err) < 0)
		return err_wrap(err, "api_key");
	return 0;
}

static int read_auth(const struct server_auth *from, struct credentials *c,
		     struct remote_spec *spec, struct err *err)
{
	struct auth_options *ret = &spec->auth;

	ret->audience_is_token_endpoint =
		from->audience && strcmp(from->audience, "token_endpoint") == 0;
#define AUTH_TEXT(key, ...) ret->key = from->key;
#define AUTH_FLAG(key, ...) ret->key = from->key;
#include "core/auth/auth.def"
	if ((from->assertion_file &&
	     credentials_check_file(c, from->assertion_file, err) < 0) ||
	    (from->idp_id_token_file &&
	     credentials_check_file(c, from->idp_id_token_file, err) < 0))
		return -1;
	/* the words were checked when the file was read */
	if (from->grant && !auth_grant_find(from->grant, &ret->grant))
		return err_set(err, ERR_CONFIG, "grant %s", from->grant);
#define AUTH_SECRET(key, ...)                                         \
	if (secret_of(c, &from->key, #key, spec, &ret->key, err) < 0) \
		return -1;
#include "core/auth/auth.def"
	return 0;
}

int remote_spec_of_server(const struct server *s,
			  struct credentials *credentials,
			  struct remote_spec *ret, struct err *err)
{
	struct remote_spec spec = {
		.server = s,
		.name = s->name,
		.is_named = true,
		.url = s->url,
		.plain = plain_http_of(s),
		.message_max = s->stdout_max,
#define AUTH_OWN(key, ...) .key = s->auth.key,
#include "core/auth/auth.def"
		.store_key = s->auth.store_key,
	};

	if (read_auth(&s->auth, credentials, &spec, err) < 0 ||
	    add_headers(s, credentials, &spec.headers, err) < 0) {
		remote_spec_release(&spec);
		return err_wrap(err, "server %s", s->name);
	}
	*ret = spec;
	return 0;
}
