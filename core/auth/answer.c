#include "core/auth/answer.h"

#include <strings.h>

#include "core/auth/words.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/url.h"

#define ID_JAG "urn:ietf:params:oauth:token-type:id-jag"
/* Of the code of an error in a sentence. */
#define CODE_BYTES 60

/* Members of a JSON object, or of a form where there is none. */
struct source {
	struct json *json; /* owned; NULL: a form */
	struct str form;
	struct arena *arena;
};

static void source_release(struct source *s)
{
	json_freep(&s->json);
}

static const char *get_text(const struct source *s, const char *name)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (s->json)
		return json_text(s->json, name, s->arena);
	if (!url_form_get(s->form, name, &b) || !b.n || memchr(b.p, '\0', b.n))
		return NULL;
	return arena_strndup(s->arena, b.p, b.n);
}

/* returns  0; 1: neither JSON nor a form */
static int open_source(struct str body, struct source *s, struct err *err)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct err why = ERR_INIT;

	if (json_read(body, &s->json, &why) == 0)
		return 0;
	if (why.kind != ERR_SYNTAX && why.kind != ERR_LIMIT) {
		*err = why;
		return -1;
	}
	s->form = str_trim(body);
	return url_form_get(s->form, "access_token", &b) ||
			       url_form_get(s->form, "error", &b)
		       ? 0
		       : 1;
}

/* "invalid_grant: the code was used", or as much of it as there is. */
static void add_refusal(struct buf *out, const struct source *s,
			const char *error)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *text = get_text(s, "error_description");

	buf_adds(out, quote_peer(&b, str_of(error), CODE_BYTES));
	if (!text)
		return;
	buf_adds(out, ": ");
	buf_adds(out, quote_peer(&b, str_of(text), QUOTE_BYTES));
}

static int refuse_token(int status, const struct source *s, const char *error,
			struct answer_token *ret, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	snprintf(ret->error, sizeof(ret->error), "%s", error ? error : "");
	if (error)
		add_refusal(&b, s, error);
	return err_set(err, ERR_PEER,
		       "the authorization server refused: HTTP status %d%s%s",
		       status, b.n ? ", " : "", buf_cstr(&b));
}

static int read_expiry(const struct source *s, struct answer_token *t)
{
	const char *text;

	if (s->json)
		return json_int64(s->json, "expires_in", &t->expires_in_s);
	text = get_text(s, "expires_in");
	return text && str_int64(str_of(text), &t->expires_in_s);
}

static int read_type(const struct source *s, bool is_exchange,
		     struct answer_token *t, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *type = get_text(s, "token_type");
	const char *issued = get_text(s, "issued_token_type");

	if (is_exchange) {
		if (!issued || strcmp(issued, ID_JAG) != 0)
			return err_set(err, ERR_PEER,
				       "the identity provider gave no ID-JAG");
		if (!type || strcasecmp(type, "N_A") != 0)
			return err_set(err, ERR_PEER,
				       "the identity provider's token_type is "
				       "not N_A");
		return 0;
	}
	t->is_dpop = type && !strcasecmp(type, "DPoP");
	if (!type || t->is_dpop || !strcasecmp(type, "Bearer"))
		return 0;
	return err_set(err, ERR_PEER,
		       "the token is of the type \"%s\", neither Bearer nor "
		       "DPoP",
		       quote_peer(&b, str_of(type), CODE_BYTES));
}

/* Characters of a header value: RFC 6750 section 2.1, and a little more. */
static bool is_visible(const char *token)
{
	for (; *token; token++)
		if (*token <= 0x20 || *token > 0x7e)
			return false;
	return true;
}

static int refuse_length(const char *what, struct err *err)
{
	return err_set(err, ERR_LIMIT,
		       "the authorization server gave a %s of more than %d "
		       "bytes",
		       what, LIMIT_TOKEN_BYTES);
}

int answer_token(int status, struct str body, bool is_exchange,
		 struct arena *arena, struct answer_token *ret, struct err *err)
{
	AUTO(source_release) struct source s = {.arena = arena};
	struct answer_token t = {.expires_in_s = -1};
	const char *error;
	int r = open_source(body, &s, err);

	*ret = (struct answer_token){.expires_in_s = -1};
	if (r < 0)
		return -1;
	if (r > 0)
		return refuse_token(status, &s, NULL, ret, err);
	error = get_text(&s, "error");
	if (error || status < 200 || status > 299)
		return refuse_token(status, &s, error, ret, err);
	t.access_token = get_text(&s, "access_token");
	if (t.access_token && strlen(t.access_token) > LIMIT_TOKEN_BYTES)
		return refuse_length("access_token", err);
	if (!t.access_token || !is_visible(t.access_token))
		return err_set(err, ERR_PEER,
			       "the authorization server gave no usable "
			       "access_token");
	if (read_type(&s, is_exchange, &t, err) < 0)
		return -1;
	t.refresh_token = get_text(&s, "refresh_token");
	if (t.refresh_token && strlen(t.refresh_token) > LIMIT_TOKEN_BYTES)
		return refuse_length("refresh_token", err);
	t.scope = get_text(&s, "scope");
	if (!read_expiry(&s, &t) || t.expires_in_s < 0)
		t.expires_in_s = -1;
	*ret = t;
	return 0;
}

static int refuse_registration(int status, struct str body,
			       const struct source *s, struct err *err)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	const char *error = s->json ? get_text(s, "error") : NULL;

	if (error)
		add_refusal(&said, s, error);
	else
		buf_adds(&said, quote_peer(&b, body, QUOTE_BYTES));
	return err_set(err, ERR_PEER,
		       "the authorization server refused to register this "
		       "client: HTTP status %d%s%s; configure a client_id",
		       status, said.n ? ", " : "", buf_cstr(&said));
}

int answer_client(int status, struct str body, struct arena *arena,
		  struct answer_client *ret, struct err *err)
{
	AUTO(source_release) struct source s = {.arena = arena};
	struct answer_client c = {0};
	const char *method;

	if (open_source(body, &s, err) < 0)
		return -1;
	if (status != 200 && status != 201)
		return refuse_registration(status, body, &s, err);
	if (!s.json)
		return err_set(err, ERR_PEER,
			       "the answer to the registration is not a JSON "
			       "object");
	c.id = get_text(&s, "client_id");
	if (!c.id)
		return refuse_registration(status, body, &s, err);
	c.secret = get_text(&s, "client_secret");
	if (strlen(c.id) > LIMIT_TOKEN_BYTES)
		return refuse_length("client_id", err);
	if (c.secret && strlen(c.secret) > LIMIT_TOKEN_BYTES)
		return refuse_length("client_secret", err);
	method = get_text(&s, "token_endpoint_auth_method");
	if (!method || !grant_method_find(method, &c.method))
		c.method = c.secret ? GRANT_BASIC : GRANT_NONE;
	if (c.method == GRANT_KEY || (c.method != GRANT_NONE && !c.secret))
		return err_set(err, ERR_PEER,
			       "the registration is for %s, and gives no "
			       "secret",
			       grant_method_word(c.method));
	if (!json_int64(s.json, "client_secret_expires_at",
			&c.secret_expires_s))
		c.secret_expires_s = 0;
	*ret = c;
	return 0;
}

static int judge_issuer(struct str query, const struct answer_expect *e,
			struct err *err)
{
	AUTO(buf_release) struct buf iss = BUF_INIT(BUF_UNBOUNDED);

	if (url_form_get(query, "iss", &iss))
		return str_is(buf_str(&iss), e->issuer)
			       ? 0
			       : err_set(err, ERR_PEER,
					 "the answer that the browser brought "
					 "is of another issuer than %s",
					 e->issuer);
	if (e->sends_iss)
		return err_set(err, ERR_PEER,
			       "the answer that the browser brought names no "
			       "issuer, though the authorization server "
			       "promised one");
	return 0;
}

/* Takes as long for a state that differs early as for one that differs late. */
static bool is_equal(struct str a, struct str b)
{
	volatile unsigned char differs = 0;

	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		differs |= (unsigned char)(a.p[i] ^ b.p[i]);
	return differs == 0;
}

int answer_redirect(struct str query, const struct answer_expect *e,
		    struct buf *code, struct err *err)
{
	AUTO(buf_wipe) struct buf state = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	struct source s = {.form = query, .arena = &arena};
	const char *error;

	if (!url_form_get(query, "state", &state) ||
	    !is_equal(buf_str(&state), str_of(e->state)))
		return 1;
	if (judge_issuer(query, e, err) < 0)
		return -1;
	error = get_text(&s, "error");
	if (error) {
		add_refusal(&said, &s, error);
		return err_set(err, ERR_PEER, "authorization refused: %s",
			       buf_cstr(&said));
	}
	if (!url_form_get(query, "code", code) || !code->n ||
	    memchr(code->p, '\0', code->n))
		return err_set(err, ERR_PEER,
			       "the answer that the browser brought has no "
			       "code");
	return 0;
}
