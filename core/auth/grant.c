#include "core/auth/grant.h"

#include "core/auth/words.h"
#include "core/base/text.h"
#include "core/base/json.h"
#include "core/base/url.h"

#define ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define TOKEN_TYPE "urn:ietf:params:oauth:token-type:"

static const char *const method_word[] = {
#define GRANT_METHOD(name, word) [name] = (word),
	GRANT_METHODS(GRANT_METHOD)
#undef GRANT_METHOD
};

const char *grant_method_word(enum grant_method method)
{
	return method_word[method];
}

bool grant_method_find(const char *word, enum grant_method *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(method_word); i++) {
		if (!strcmp(word, method_word[i])) {
			*ret = (enum grant_method)i;
			return true;
		}
	}
	return false;
}

/* Metadata without methods means client_secret_basic: RFC 8414 section 2. */
static bool has_method(const struct metadata_server *s,
		       enum grant_method method)
{
	if (!s->has_auth_methods)
		return method == GRANT_BASIC;
	return words_has(&s->auth_methods, method_word[method]);
}

enum grant_method grant_method_for(const struct metadata_server *s,
				   bool has_key, bool has_secret)
{
	if (has_key)
		return GRANT_KEY;
	if (!has_secret)
		return GRANT_NONE;
	return !has_method(s, GRANT_BASIC) && has_method(s, GRANT_POST)
		       ? GRANT_POST
		       : GRANT_BASIC;
}

enum grant_method grant_method_to_register(const struct metadata_server *s)
{
	/* a server without any document is one of those that expect this */
	if (s->is_default || has_method(s, GRANT_NONE))
		return GRANT_NONE;
	return !has_method(s, GRANT_BASIC) && has_method(s, GRANT_POST)
		       ? GRANT_POST
		       : GRANT_BASIC;
}

static void add_member(struct buf *body, const char *name, const char *value)
{
	if (value)
		url_form_add(body, name, str_of(value));
}

/* As a form, without the name: RFC 6749 appendix B. */
static void add_value(struct buf *out, const char *value)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	url_form_add(&b, "", str_of(value));
	buf_drop(&b, 1);
	buf_add_str(out, buf_str(&b));
}

static void add_basic(const struct grant_client *c, struct buf *authorization)
{
	AUTO(buf_wipe) struct buf pair = BUF_INIT(BUF_UNBOUNDED);

	add_value(&pair, c->id);
	buf_addc(&pair, ':');
	add_value(&pair, c->secret ? c->secret : "");
	buf_adds(authorization, "Basic ");
	base64_encode(BASE64_STANDARD, buf_str(&pair), authorization);
}

/* Never by two methods at once. */
static void add_credentials(const struct grant_client *c, struct buf *body,
			    struct buf *authorization)
{
	switch (c->method) {
	case GRANT_NONE:
		add_member(body, "client_id", c->id);
		break;
	case GRANT_BASIC:
		add_basic(c, authorization);
		break;
	case GRANT_POST:
		add_member(body, "client_id", c->id);
		add_member(body, "client_secret", c->secret);
		break;
	case GRANT_KEY:
		add_member(body, "client_assertion_type", ASSERTION_TYPE);
		add_member(body, "client_assertion", c->assertion);
		break;
	}
}

void grant_form(const struct grant_request *r, const struct grant_client *c,
		struct buf *body, struct buf *authorization)
{
	static const char *const word[] = {
#define GRANT_TYPE(name, text) [name] = (text),
		GRANT_TYPES(GRANT_TYPE)
#undef GRANT_TYPE
	};

	add_member(body, "grant_type", word[r->type]);
	add_member(body, "code", r->code);
	add_member(body, "redirect_uri", r->redirect_uri);
	add_member(body, "code_verifier", r->verifier);
	add_member(body, "refresh_token", r->refresh_token);
	if (r->type == GRANT_EXCHANGE) {
		add_member(body, "requested_token_type", TOKEN_TYPE "id-jag");
		add_member(body, "audience", r->audience);
		add_member(body, "subject_token", r->assertion);
		add_member(body, "subject_token_type", TOKEN_TYPE "id_token");
	} else {
		add_member(body, "assertion", r->assertion);
	}
	add_member(body, "resource", r->resource);
	add_member(body, "scope", r->scope);
	add_credentials(c, body, authorization);
}

void grant_revocation(const char *token, const char *hint,
		      const struct grant_client *c, struct buf *body,
		      struct buf *authorization)
{
	add_member(body, "token", token);
	add_member(body, "token_type_hint", hint);
	add_credentials(c, body, authorization);
}

#define LIST(...)                                         \
	(&(struct strlist){(const char *[]){__VA_ARGS__}, \
			   ARRAY_LEN(((const char *[]){__VA_ARGS__}))})

int grant_registration(const char *redirect_uri, enum grant_method method,
		       const char *scope, struct buf *body, struct err *err)
{
	AUTO(json_freep) struct json *doc = NULL;

	if (json_make(&doc, err) < 0)
		return -1;
	json_add_text(doc, "client_name", "matins");
	json_add_texts(doc, "redirect_uris", LIST(redirect_uri));
	json_add_texts(doc, "grant_types",
		       LIST("authorization_code", "refresh_token"));
	json_add_texts(doc, "response_types", LIST("code"));
	json_add_text(doc, "token_endpoint_auth_method", method_word[method]);
	json_add_text(doc, "application_type", "native");
	json_add_text(doc, "scope", scope);
	json_print(doc, body);
	return 0;
}

void grant_authorization_url(const struct grant_ask *a, struct buf *out)
{
	AUTO(buf_release) struct buf query = BUF_INIT(BUF_UNBOUNDED);
	bool has_query = strchr(a->endpoint, '?') != NULL;

	add_member(&query, "response_type", "code");
	add_member(&query, "client_id", a->client_id);
	add_member(&query, "redirect_uri", a->redirect_uri);
	add_member(&query, "code_challenge", a->challenge);
	add_member(&query, "code_challenge_method", "S256");
	add_member(&query, "state", a->state);
	add_member(&query, "resource", a->resource);
	add_member(&query, "scope", a->scope);
	buf_adds(out, a->endpoint);
	buf_addc(out, has_query ? '&' : '?');
	buf_add_str(out, buf_str(&query));
}
