/*
 * `matins auth login`, `status` and `logout`.
 */
#include "core/auth/auth_inner.h"
#include "core/auth/flow.h"
#include "core/auth/guard.h"

#define REVOKE_MS 10000

void auth_login(struct auth *a, void (*done)(void *arg, const struct err *err),
		void *arg)
{
	flow_free(a->flow);
	a->done = done;
	a->done_arg = arg;
	auth_start(a, &(struct flow_start){.kind = FLOW_KIND_LOGIN,
					   .protocol = a->protocol});
}

bool auth_lacks_person(const struct auth *a)
{
	return a->options.grant == AUTH_CODE && !a->context.person.open;
}

bool auth_keeps(const struct auth *a)
{
	return a->context.store;
}

/* ---- status ---- */

static void copy(char *to, size_t room, const char *from)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	buf_add_cut(&b, str_of(from ? from : ""), room - 1);
	snprintf(to, room, "%s", buf_cstr(&b));
}

int auth_status_stored(struct store *store, const struct owner *owner,
		       int64_t now_s, struct auth_status *ret, struct err *err)
{
	struct account now;
	struct auth_status s = {0};

	if (account_load(store, owner, NULL, &now, err) < 0)
		return -1;
	s.has_token = now.access_token != NULL;
	s.has_refresh_token = now.refresh_token != NULL;
	s.has_client = now.client_id != NULL;
	s.is_bound = now.dpop_key != NULL;
	s.expires_s = now.expires_s;
	s.is_expired = now.expires_s && now.expires_s <= now_s;
	copy(s.issuer, sizeof(s.issuer), now.issuer);
	copy(s.client_id, sizeof(s.client_id), now.client_id);
	copy(s.scope, sizeof(s.scope), now.granted);
	account_release(&now);
	*ret = s;
	return 0;
}

int auth_status(struct auth *a, struct auth_status *ret, struct err *err)
{
	return auth_status_stored(a->context.store, &a->owner, auth_now_s(a),
				  ret, err);
}

/* ---- logout ---- */

/* What is here goes, whatever the authorization server says. */
static void forget(struct auth *a, const struct err *revoked)
{
	struct err err = ERR_INIT;
	bool failed = account_remove(a->context.store, &a->owner, &err) < 0;

	account_release(&a->account);
	a->failed_until_ns = 0;
	if (!failed && revoked) {
		err = *revoked;
		err_wrap(&err,
			 "the tokens are forgotten here, but were not revoked");
	}
	a->done(a->done_arg, failed || revoked ? &err : NULL);
}

static void revoked(void *arg, const struct http_fetched *f)
{
	struct auth *a = arg;
	struct err err = ERR_INIT;

	a->exchange = NULL;
	http_headers_release(&a->headers);
	if (!f->status || f->end.kind != HTTP_DONE)
		err = f->end.err;
	else if (f->status < 200 || f->status > 299)
		err_set(&err, ERR_PEER, "HTTP status %d", f->status);
	else {
		forget(a, NULL);
		return;
	}
	forget(a, &err);
}

static int client_of(struct auth *a, struct arena *arena,
		     struct grant_client *ret, struct err *err)
{
	const struct account *now = &a->account;
	const struct strlist none = {NULL, 0};

	*ret = (struct grant_client){
		.id = now->client_id,
		.secret = now->is_registered ? now->client_secret
					     : a->options.client_secret,
	};
	if (!now->method || !grant_method_find(now->method, &ret->method))
		ret->method = GRANT_NONE;
	return flow_assertion(&a->options, ret, now->issuer,
			      now->revocation_endpoint, &none, auth_now_s(a),
			      arena, &ret->assertion, err);
}

static int add_headers(struct auth *a, struct str authorization,
		       struct err *err)
{
	if (http_headers_set(&a->headers, "Content-Type",
			     STR("application/x-www-form-urlencoded"), err) < 0)
		return -1;
	return authorization.n ? http_headers_set(&a->headers, "Authorization",
						  authorization, err)
			       : 0;
}

static int revoke(struct auth *a, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	AUTO(buf_wipe) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf authorization = BUF_INIT(BUF_UNBOUNDED);
	const struct account *now = &a->account;
	const char *token =
		now->refresh_token ? now->refresh_token : now->access_token;
	struct guard guard = {.context = &a->context,
			      .options = &a->options,
			      .endpoint = &a->endpoint};
	struct grant_client client;
	struct reach reach;
	struct url url;

	if (guard_credential(&guard, now->issuer, err) < 0 ||
	    guard_url(&guard, "revocation endpoint", now->revocation_endpoint,
		      GUARD_SERVER, &arena, &url, err) < 0 ||
	    client_of(a, &arena, &client, err) < 0)
		return -1;
	grant_revocation(token,
			 now->refresh_token ? "refresh_token" : "access_token",
			 &client, &body, &authorization);
	if (add_headers(a, buf_str(&authorization), err) < 0)
		return -1;
	reach = guard_reach(&guard, &url, GUARD_SERVER);
	a->exchange = http_fetch(a->context.http,
				 &(struct http_request){
					 .method = "POST",
					 .url = url.text.p,
					 .headers = &a->headers,
					 .content = buf_str(&body),
					 .total_ms = REVOKE_MS,
					 .reach = &reach,
				 },
				 revoked, a);
	return 0;
}

/* From the loop, as all that is told. */
static void begin_logout(void *arg)
{
	struct auth *a = arg;
	const struct account *now = &a->account;
	struct err err = ERR_INIT;

	if (auth_load(a, &err) < 0 || !now->revocation_endpoint ||
	    !now->client_id || !(now->access_token || now->refresh_token))
		forget(a, NULL);
	else if (revoke(a, &err) < 0)
		forget(a, &err);
}

void auth_logout(struct auth *a, void (*done)(void *arg, const struct err *err),
		 void *arg)
{
	flow_free(a->flow);
	a->flow = NULL;
	/* of a URL that is given all goes, whosever it may be */
	a->owner.takes_old |= !a->owner.name;
	a->done = done;
	a->done_arg = arg;
	a->timer.fire = begin_logout;
	a->timer.arg = a;
	loop_timer_set(a->context.loop, &a->timer, loop_now(a->context.loop));
}
