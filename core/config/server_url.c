#include "core/config/server_url.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/base/url.h"

/* From so many bytes on letters and digits together are no word. */
#define CHANCE_BYTES 20

/* ---- keys in a query ---- */

/* "api_key", "X-Auth-Token": the name says that its value is a secret. */
static bool is_secret_name(struct str name)
{
	static const char *const words[] = {
		"key",	"token",     "secret", "pass",	  "auth",
		"code", "signature", "sig",    "session", "credential",
	};

	for (size_t w = 0; w < ARRAY_LEN(words); w++) {
		size_t n = strlen(words[w]);

		for (size_t i = 0; i + n <= name.n; i++)
			if (strncasecmp(name.p + i, words[w], n) == 0)
				return true;
	}
	return false;
}

static bool is_by_chance(struct str value)
{
	bool letter = false, digit = false;

	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		letter |= isalpha(c) != 0;
		digit |= isdigit(c) != 0;
	}
	return value.n >= CHANCE_BYTES && letter && digit;
}

static void add_decoded(struct str value, struct scrub *scrub)
{
	AUTO(buf_wipe) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	while (value.n) {
		int byte = uri_percent(value);
		size_t n = byte < 0 ? 1 : 3;

		buf_addc(&out, byte < 0 ? value.p[0] : (char)byte);
		value = str_skip(value, n);
	}
	(void)scrub_add(scrub, buf_str(&out));
}

/* The next secret of a query; false: there is none. */
static bool next_secret(struct str *rest, struct str *ret)
{
	while (rest->n) {
		struct str name;

		*ret = str_cut(rest, '&');
		name = str_cut(ret, '=');
		if (is_secret_name(name) || is_by_chance(*ret))
			return true;
	}
	return false;
}

void server_url_hide(const struct url *url, struct scrub *scrub)
{
	struct str rest = url->query, value;

	while (next_secret(&rest, &value)) {
		(void)scrub_add(scrub, value);
		add_decoded(value, scrub);
	}
}

/* ---- plain http ---- */

static bool has_credential(const struct server *s)
{
	const struct server_auth *a = &s->auth;

	for (size_t i = 0; i < s->headers.n; i++) {
		const struct header *h = &s->headers.item[i];

		if (h->is_reference || is_secret_name(str_of(h->name)) ||
		    strcasecmp(h->name, "Cookie") == 0)
			return true;
	}
	for (size_t i = 0; i < server_references(s); i++)
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
	struct str rest = u->query, value;

	return p->has_credentials || next_secret(&rest, &value);
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

/* ---- one URL ---- */

int server_url_read(const char *text, const struct plain_http *plain,
		    struct arena *arena, struct url *ret, struct err *err)
{
	const char *secure;

	if (url_parse(str_of(text), arena, ret, err) < 0)
		return -1;
	if (ret->is_tls || url_is_loopback(ret))
		return 0;
	secure = str_is(ret->scheme, "ws") ? "wss" : "https";
	if (!plain->is_allowed)
		return err_set(err, ERR_SYNTAX,
			       "plain %.*s is for loopback only: what is sent "
			       "to %.*s could be read on the way; write %s://, "
			       "or allow it by insecure_http = true "
			       "(--insecure-http)",
			       STR_ARG(ret->scheme), STR_ARG(ret->host),
			       secure);
	if (carries_credential(plain, ret) && !plain->allows_credentials)
		return err_set(err, ERR_SYNTAX,
			       "plain %.*s to %.*s would carry a credential, "
			       "for everybody on the way to read; write "
			       "%s://, or allow that as well by "
			       "insecure_credentials = true "
			       "(--insecure-credentials)",
			       STR_ARG(ret->scheme), STR_ARG(ret->host),
			       secure);
	return 1;
}

int server_url_check(const struct server *s, struct err *err)
{
	const struct plain_http plain = plain_http_of(s);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url parsed;
	int r = server_url_read(s->url, &plain, &arena, &parsed, err);

	if (r == 1)
		err_set(err, ERR_SYNTAX, "%s",
			plain_http_say(&plain, &parsed, &arena));
	return r;
}

int server_url_judge(const struct gate *gate, const struct server *s,
		     struct err *err)
{
	const struct plain_http plain = plain_http_of(s);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url parsed;

	if (server_url_read(s->url, &plain, &arena, &parsed, err) < 0)
		return -1;
	return gate_may_connect(gate, parsed.host, parsed.port, NULL, err);
}

bool server_url_is_single(const struct config *c, const char *name,
			  const char *url)
{
	size_t others = 0;

	for (size_t i = 0; c && i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct url own;

		if (!s->url || (name && strcmp(s->name, name) == 0))
			continue;
		/* a variable that is not expanded may be any URL */
		others += url_parse(str_of(s->url), &arena, &own, ERR_IGNORED) <
				  0 ||
			  strcmp(own.text.p, url) == 0;
	}
	return !others;
}
