#include "core/cli/auth_say.h"

bool auth_is_usable(const struct auth_status *s)
{
	return s->has_token && (!s->is_expired || s->has_refresh_token);
}

const char *auth_state_text(const struct auth_status *s)
{
	return !s->has_token	      ? "not logged in"
	       : !s->is_expired	      ? "logged in"
	       : s->has_refresh_token ? "logged in; the token is due for "
					"renewal"
				      : "the token has expired";
}

static const char *state_word(const struct auth_status *s)
{
	if (!s->has_token)
		return s->has_client ? "registered" : "logged_out";
	if (s->is_expired)
		return s->has_refresh_token ? "refreshable" : "expired";
	return "logged_in";
}

void auth_say_text(const struct auth_said *said, struct buf *out)
{
	const struct auth_status *s = &said->status;
	char when[CLOCK_TEXT_BYTES];

	if (said->name)
		buf_addf(out, "%s: %s\n", said->name, auth_state_text(s));
	else
		buf_addf(out, "%.*s: %s\n", STR_ARG(said->url),
			 auth_state_text(s));
	if (said->name)
		buf_addf(out, "  url      %.*s\n", STR_ARG(said->url));
	if (said->is_elsewhere)
		buf_adds(out, "  in no configuration that is in use\n");
	if (said->is_old)
		buf_adds(out, "  of an earlier version, for any server of this "
			      "URL\n");
	if (*s->issuer)
		buf_addf(out, "  issuer   %s\n", s->issuer);
	if (*s->client_id)
		buf_addf(out, "  client   %s\n", s->client_id);
	if (*s->scope)
		buf_addf(out, "  scope    %s\n", s->scope);
	if (s->expires_s) {
		clock_format(s->expires_s * (int64_t)NS_PER_S, when);
		buf_addf(out, "  expires  %s%s\n", when,
			 s->has_refresh_token ? ", and is renewed by itself"
					      : "");
	}
	if (s->is_bound)
		buf_adds(out, "  bound to a key of this machine (DPoP)\n");
}

void auth_say_json(const struct auth_said *said, struct jw *w)
{
	const struct auth_status *s = &said->status;

	jw_object(w);
	jw_key(w, "server");
	if (said->name)
		jw_cstr(w, said->name);
	else
		jw_null(w);
	jw_kv_str(w, "url", said->url);
	if (said->is_old)
		jw_kv_bool(w, "old", true);
	jw_kv_cstr(w, "state", state_word(s));
	jw_kv_cstr(w, "issuer", s->issuer);
	jw_kv_cstr(w, "client_id", s->client_id);
	jw_kv_cstr(w, "scope", s->scope);
	jw_kv_int(w, "expires", s->expires_s);
	jw_kv_bool(w, "refresh_token", s->has_refresh_token);
	jw_kv_bool(w, "dpop", s->is_bound);
	jw_end(w);
}
