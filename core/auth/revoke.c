#include "core/auth/revoke.h"

#include "core/auth/guard.h"
#include "core/base/mem.h"

#define REVOKE_MS 10000

struct revoke {
	void (*done)(void *arg, const struct err *err);
	void *arg;
	struct guard guard;
	struct http_exchange *exchange;
	struct http_headers headers; /* wiped */
};

static void on_answer(void *arg, const struct http_fetched *f)
{
	struct revoke *r = arg;
	struct err err = ERR_INIT;
	bool is_done = f->status >= 200 && f->status <= 299 &&
		       f->end.kind == HTTP_DONE;

	r->exchange = NULL;
	if (!f->status || f->end.kind != HTTP_DONE)
		err = f->end.err;
	else if (!is_done)
		err_set(&err, ERR_PEER, "HTTP status %d", f->status);
	r->done(r->arg, is_done ? NULL : &err);
}

static int make_client(const struct flow_setting *s, const struct account *a,
		       struct arena *arena, struct grant_client *ret,
		       struct err *err)
{
	struct clock *clock = s->context->loop->clock;
	const struct strlist none = {NULL, 0};

	*ret = (struct grant_client){
		.id = a->client_id,
		.secret = a->is_registered ? a->client_secret
					   : s->options->client_secret,
	};
	if (!a->method || !grant_method_find(a->method, &ret->method))
		ret->method = GRANT_NONE;
	return flow_assertion(s->options, ret, a->issuer,
			      a->revocation_endpoint, &none,
			      clock->wall_ns(clock) / (int64_t)NS_PER_S, arena,
			      &ret->assertion, err);
}

static int add_headers(struct revoke *r, struct str authorization,
		       struct err *err)
{
	if (http_headers_set(&r->headers, "Content-Type",
			     STR("application/x-www-form-urlencoded"), err) < 0)
		return -1;
	return authorization.n ? http_headers_set(&r->headers, "Authorization",
						  authorization, err)
			       : 0;
}

static int send_request(struct revoke *r, const struct flow_setting *s,
			const struct account *a, struct err *err)
{
	AUTO(arena_wipe) struct arena arena = ARENA_INIT;
	AUTO(buf_wipe) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf authorization = BUF_INIT(BUF_UNBOUNDED);
	bool is_refresh = a->refresh_token != NULL;
	struct grant_client client;
	struct reach reach;
	struct url url;

	if (guard_credential(&r->guard, a->issuer, err) < 0 ||
	    guard_url(&r->guard, "revocation endpoint", a->revocation_endpoint,
		      GUARD_SERVER, &arena, &url, err) < 0 ||
	    make_client(s, a, &arena, &client, err) < 0)
		return -1;
	grant_revocation(is_refresh ? a->refresh_token : a->access_token,
			 is_refresh ? "refresh_token" : "access_token", &client,
			 &body, &authorization);
	if (add_headers(r, buf_str(&authorization), err) < 0)
		return -1;
	reach = guard_reach(&r->guard, &url, GUARD_SERVER);
	r->exchange = http_fetch(s->context->http,
				 &(struct http_request){
					 .method = "POST",
					 .url = url.text.p,
					 .headers = &r->headers,
					 .content = buf_str(&body),
					 .total_ms = REVOKE_MS,
					 .reach = &reach,
				 },
				 on_answer, r);
	return 0;
}

int revoke_start(const struct flow_setting *s, const struct account *account,
		 void (*done)(void *arg, const struct err *err), void *arg,
		 struct revoke **ret, struct err *err)
{
	struct revoke *r = mem_zalloc(sizeof(*r));

	r->done = done;
	r->arg = arg;
	r->guard = (struct guard){.context = s->context,
				  .options = s->options,
				  .endpoint = s->endpoint};
	if (send_request(r, s, account, err) < 0) {
		revoke_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void revoke_free(struct revoke *r)
{
	if (!r)
		return;
	http_cancel(r->exchange);
	http_headers_release(&r->headers);
	free(r);
}
