/*
 * What a 401 or 403 means, and what is done about it: once for each token,
 * twice for more scopes, and then no more.
 */
#include "core/auth/auth_inner.h"
#include "core/auth/challenge.h"
#include "core/auth/quote.h"
#include "core/auth/metadata.h"
#include "core/base/mem.h"

/* 401s of one request: nonce, refresh, new token; then it is enough. */
#define UNAUTHORIZED_MAX 3
/* Step-ups of one request (SU-3). */
#define FORBIDDEN_MAX 2

struct refusal {
	struct auth *a;
	const struct http_head *head;
	struct str body;
	const struct authorizer_try *tries;
	struct challenge challenge;
	struct arena arena;
	struct err *err;
};

/* Text or JSON: a page says nothing in a line. */
static bool is_short_text(struct str body)
{
	body = str_trim(body);
	return body.n && body.n <= QUOTE_BYTES && body.p[0] != '<';
}

/* "HTTP status 403, insufficient_scope: needs mail.write" */
static void describe(const struct refusal *r, struct buf *out)
{
	const struct challenge *c = &r->challenge;
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(out, "HTTP status %d", r->head->status);
	if (c->error)
		buf_addf(out, ", %s",
			 quote_peer(&b, str_of(c->error), QUOTE_BYTES));
	if (c->error_description)
		buf_addf(out, ": %s",
			 quote_peer(&b, str_of(c->error_description),
				    QUOTE_BYTES));
	if (!c->error && is_short_text(r->body))
		buf_addf(out, ": %s",
			 quote_peer(&b, str_trim(r->body), QUOTE_BYTES));
}

static enum authorizer_verdict no(const struct refusal *r, const char *what)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	describe(r, &b);
	err_set(r->err, ERR_CREDENTIAL, "%s (%s)", what, buf_cstr(&b));
	return AUTHORIZER_NO;
}

static enum authorizer_verdict start(struct refusal *r, enum flow_kind kind,
				     const char *scope)
{
	struct auth *a = r->a;
	struct flow_setting setting = auth_setting(a);

	if (auth_has_failed(a, r->err))
		return AUTHORIZER_NO;
	if (kind == FLOW_KIND_AUTHORIZE &&
	    flow_need_person(&setting, r->err) < 0)
		return AUTHORIZER_NO;
	auth_start(a,
		   &(struct flow_start){
			   .kind = kind,
			   .resource_metadata = r->challenge.resource_metadata,
			   .scope = scope,
			   .refused = a->account.access_token,
			   .protocol = a->protocol,
		   });
	return AUTHORIZER_WAIT;
}

/* ---- 403 ---- */

static enum authorizer_verdict step_up(struct refusal *r)
{
	struct auth *a = r->a;
	const char *so_far =
		metadata_union(a->account.scope, a->wanted, &r->arena);
	const char *all = metadata_union(so_far, r->challenge.scope, &r->arena);

	if (!all || (so_far && !strcmp(all, so_far)))
		return no(r, "the server wants more rights than it names, or "
			     "those that were given already");
	if (r->tries->forbidden > FORBIDDEN_MAX ||
	    r->tries->unauthorized > UNAUTHORIZED_MAX)
		return no(r, "the server wants more rights again and again");
	free(a->wanted);
	a->wanted = mem_strdup(all);
	return start(r, FLOW_KIND_AUTHORIZE, all);
}

static bool is_scope(const struct refusal *r)
{
	return r->challenge.error &&
	       !strcmp(r->challenge.error, "insufficient_scope");
}

static enum authorizer_verdict forbidden(struct refusal *r)
{
	if (!is_scope(r))
		return no(r, "the server forbids this");
	return step_up(r);
}

/* ---- 401 ---- */

static enum authorizer_verdict unauthorized(struct refusal *r)
{
	struct auth *a = r->a;
	const char *scope;
	bool is_fresh = a->account.access_token && !a->is_proved;

	if (r->challenge.wants_nonce && a->is_nonce_new &&
	    a->account.dpop_key && r->tries->unauthorized <= UNAUTHORIZED_MAX) {
		a->is_nonce_new = false;
		return AUTHORIZER_GO;
	}
	if (is_scope(r) && a->account.access_token)
		return step_up(r);
	if (r->tries->unauthorized > UNAUTHORIZED_MAX ||
	    (is_fresh && a->from == TOKEN_GRANTED))
		return no(r, "the server refuses a token that was just issued "
			     "for it");
	scope = a->wanted ? metadata_union(a->wanted, r->challenge.scope,
					   &r->arena)
			  : r->challenge.scope;
	a->is_refused = true;
	if (a->account.refresh_token &&
	    !(is_fresh && a->from == TOKEN_REFRESHED))
		return start(r, FLOW_KIND_RENEW, scope);
	return start(r, FLOW_KIND_AUTHORIZE, scope);
}

enum authorizer_verdict auth_refused(
	struct authorizer *authorizer, UNUSED const char *method,
	UNUSED const char *url, const struct http_head *head, struct str body,
	const struct authorizer_try *tries, struct err *err)
{
	struct auth *a = (struct auth *)authorizer;
	struct refusal r = {
		.a = a,
		.head = head,
		.body = body,
		.tries = tries,
		.err = err,
	};
	enum authorizer_verdict verdict;
	struct str value;

	for (size_t n = 0; http_head_get(head, "WWW-Authenticate", n, &value);
	     n++)
		challenge_add(&r.challenge, value, &r.arena);
	if (a->has_fixed)
		verdict = no(&r, head->status == 401
					 ? "the server refuses the token that "
					   "was given to it by `token`, "
					   "`headers` or --header; it is not "
					   "renewed here"
					 : "the server forbids this to the "
					   "token that was given");
	else if (a->options.is_off)
		verdict = no(&r, "the server wants authorization, and is "
				 "reached by plain http: a token could be read "
				 "on the way; insecure_credentials = true "
				 "(--insecure-credentials) allows that");
	else if (a->flow)
		verdict = AUTHORIZER_WAIT;
	else if (head->status == 401)
		verdict = unauthorized(&r);
	else
		verdict = forbidden(&r);
	arena_release(&r.arena);
	return verdict;
}
