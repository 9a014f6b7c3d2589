/* Requests of the steps, and other things that several of them need. */
#include "core/auth/flow_steps.h"
#include "core/base/log.h"

/* One request for metadata or a token, all of it. */
#define REQUEST_MS 30000
/* A person waits for the end of a logout. */
#define REVOKE_MS 10000
/* A redirect within the same origin, of metadata only. */
#define REDIRECTS_MAX 3

void flow_settle(struct flow *f, enum flow_verdict verdict,
		 const struct err *err)
{
	struct loop *loop = f->setting.context->loop;

	f->verdict = verdict;
	if (err)
		f->err = *err;
	loop_timer_set(loop, &f->timer, loop_now(loop));
}

int64_t flow_now_s(const struct flow *f)
{
	struct clock *clock = f->setting.context->loop->clock;

	return clock->wall_ns(clock) / (int64_t)NS_PER_S;
}

void flow_note_secret(struct flow *f, struct str value)
{
	const struct auth_context *c = f->setting.context;

	if (c->on_secret && value.n)
		c->on_secret(c->arg, value);
}

enum guard_origin flow_origin_of(struct flow *f, const char *url)
{
	const struct auth_options *o = f->setting.options;
	const char *const named[] = {o->issuer, o->token_endpoint};
	struct url u, i;
	bool is_users;

	if (url_parse(str_of(url), &f->arena, &u, ERR_IGNORED) < 0)
		return GUARD_SERVER;
	is_users = url_same_origin(f->setting.endpoint, &u);
	for (size_t n = 0; n < ARRAY_LEN(named); n++)
		is_users |= named[n] &&
			    url_parse(str_of(named[n]), &f->arena, &i,
				      ERR_IGNORED) == 0 &&
			    url_same_origin(&i, &u);
	return is_users ? GUARD_USER : GUARD_SERVER;
}

/* ---- the account ---- */

int flow_load_account(struct flow *f, const char *issuer, struct err *err)
{
	/* a person who logs in, or a grant without one, replaces all of it */
	bool is_lenient = f->start.kind == FLOW_KIND_LOGIN ||
			  f->setting.options->grant != AUTH_CODE;
	struct account now;
	int r = account_open(f->setting.context->store, f->setting.owner,
			     issuer, is_lenient, &now, err);

	if (r < 0)
		account_release(&now);
	if (r != 0)
		return r < 0 ? -1 : 0;
	account_release(f->account);
	*f->account = now;
	flow_note_secret(f, str_of(now.access_token));
	flow_note_secret(f, str_of(now.refresh_token));
	return 0;
}

/* ---- requests ---- */

/* Where the endpoint's own address lies, others may lie, too. */
static bool note_range(void *arg, UNUSED struct str host,
		       const struct sockaddr *address, UNUSED struct err *err)
{
	struct flow *f = arg;

	f->guard.is_probed = true;
	f->guard.probed = reach_class_of(address);
	return true;
}

static void on_answer(void *arg, const struct http_fetched *a);

/* Addresses that a connection to such a URL may have. */
static struct reach reach_of(const struct guard *g, const struct url *u,
			     enum guard_origin origin)
{
	const enum address_class *range =
		g->is_probed ? &g->probed : g->context->server_range;
	struct reach r = reach_of_user();

	if (origin == GUARD_SERVER) {
		r = reach_of_server(range ? *range : ADDRESS_PUBLIC);
		r.private |= g->options->allow_private;
		r.loopback |= g->options->allow_private;
	}
	r.is_loopback_only = !u->is_tls;
	return r;
}

static void send_request(struct flow *f, struct str content)
{
	struct flow_request *r = &f->request;
	struct reach reach = reach_of(&f->guard, &r->url, r->origin);

	if (f->step == FLOW_PROBE) {
		reach.allows = note_range;
		reach.arg = f;
	}
	r->exchange = http_fetch(f->setting.context->http,
				 &(struct http_request){
					 .method = r->method,
					 .url = r->url.text.p,
					 .headers = &r->headers,
					 .content = content,
					 .total_ms = f->step == FLOW_REVOKE
							     ? REVOKE_MS
							     : REQUEST_MS,
					 .reach = &reach,
				 },
				 on_answer, f);
}

static bool follow(struct flow *f, const struct http_fetched *a)
{
	struct flow_request *r = &f->request;
	struct str location;
	struct url to;

	if (strcmp(r->method, "GET") != 0 || a->status < 301 ||
	    a->status > 308 || r->redirects == REDIRECTS_MAX ||
	    !http_head_get(a->head, "Location", 0, &location) ||
	    url_resolve(&r->url, location, &f->arena, &to, ERR_IGNORED) < 0 ||
	    !url_same_origin(&r->url, &to) || to.is_tls != r->url.is_tls)
		return false;
	r->redirects++;
	r->url = to;
	send_request(f, (struct str){NULL, 0});
	return true;
}

static void on_answer(void *arg, const struct http_fetched *a)
{
	struct flow *f = arg;
	flow_came_fn *came = f->request.came;
	struct err err = ERR_INIT;
	enum flow_verdict v;

	f->request.exchange = NULL;
	if (!a->status || a->end.kind != HTTP_DONE) {
		err = a->end.err;
		if (f->step != FLOW_REVOKE)
			err_wrap(&err, "%s", f->request.url.text.p);
		flow_settle(f, FLOW_FAILED, &err);
		return;
	}
	if (follow(f, a))
		return;
	http_headers_release(&f->request.headers);
	f->request = (struct flow_request){0};
	v = came(f, a, &err);
	if (v != FLOW_WAIT)
		flow_settle(f, v, &err);
}

enum flow_verdict flow_ask(struct flow *f, const struct flow_question *q,
			   struct err *err)
{
	struct flow_request *r = &f->request;
	const char *protocol = q->type ? NULL : f->start.protocol;
	const struct {
		const char *name;
		struct str value;
	} headers[] = {
		{"Content-Type", str_of(q->type)},
		{"Accept", str_of(q->accept)},
		{"MCP-Protocol-Version", str_of(protocol)},
		{"Authorization", q->authorization},
	};

	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		if (headers[i].value.n &&
		    http_headers_set(&r->headers, headers[i].name,
				     headers[i].value, err) < 0)
			return FLOW_FAILED;
	r->method = q->type ? "POST" : "GET";
	r->origin = q->origin;
	r->came = q->came;
	if (guard_url(&f->guard, q->what, q->url, q->origin, &f->arena, &r->url,
		      err) < 0)
		return FLOW_FAILED;
	log_debug("authorization: %s %s", r->method, r->url.text.p);
	send_request(f, q->content);
	return FLOW_WAIT;
}
