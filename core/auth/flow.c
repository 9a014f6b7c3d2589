#include "core/auth/flow.h"

#include "core/auth/flow_inner.h"
#include "core/base/log.h"
#include "core/base/mem.h"

/* One request for metadata or a token, all of it. */
#define REQUEST_MS 30000
/* A redirect within the same origin, of metadata only. */
#define REDIRECTS_MAX 3
#define LOCK_AGAIN_MS 50
/* Another process refreshes: seconds. Where it waits for a person, we give up
   and say so. */
#define LOCK_MS 30000

static const char *state_word(enum flow_state state)
{
	static const char *const words[] = {
#define FLOW_STATE(name, word) [name] = (word),
		FLOW_STATES(FLOW_STATE)
#undef FLOW_STATE
	};

	return words[state];
}

void flow_to(struct flow *f, enum flow_state state)
{
	log_debug("authorization: %s -> %s", state_word(f->state),
		  state_word(state));
	f->state = state;
}

static void set_timer(struct flow *f, uint64_t in_ms)
{
	loop_timer_set(f->setting.context->loop, &f->timer,
		       loop_now(f->setting.context->loop) + in_ms * NS_PER_MS);
}

static void forget_request(struct flow *f)
{
	http_cancel(f->request.exchange);
	http_headers_release(&f->request.headers);
	f->request = (struct flow_request){0};
}

/* The next turn of the loop tells it. */
void flow_end(struct flow *f, const struct err *err)
{
	if (f->state == FLOW_OVER)
		return;
	flow_to(f, FLOW_OVER);
	f->is_failed = err != NULL;
	if (err)
		f->result = *err;
	if (f->has_lock)
		store_unlock(&f->lock);
	f->has_lock = false;
	set_timer(f, 0);
}

int64_t flow_now_s(const struct flow *f)
{
	struct clock *clock = f->setting.context->loop->clock;

	return clock->wall_ns(clock) / (int64_t)NS_PER_S;
}

void flow_secret(struct flow *f, struct str value)
{
	const struct auth_context *c = f->setting.context;

	if (c->on_secret && value.n)
		c->on_secret(c->arg, value);
}

void flow_say(struct flow *f, const char *line)
{
	const struct auth_person *p = &f->setting.context->person;

	if (p->say)
		p->say(p->arg, line);
}

/* ---- requests ---- */

static void send_request(struct flow *f, struct str content);

static bool follow(struct flow *f, const struct http_fetched *a)
{
	struct flow_request *r = &f->request;
	struct err err = ERR_INIT;
	struct str location;
	struct url to;

	if (strcmp(r->method, "GET") != 0 || a->status < 301 ||
	    a->status > 308 || r->redirects == REDIRECTS_MAX ||
	    !http_head_get(a->head, "Location", 0, &location) ||
	    url_resolve(&r->url, location, &f->arena, &to, &err) < 0 ||
	    !url_same_origin(&r->url, &to) || to.is_tls != r->url.is_tls)
		return false;
	r->redirects++;
	r->url = to;
	send_request(f, (struct str){NULL, 0});
	return true;
}

static void answered(void *arg, const struct http_fetched *a)
{
	struct flow *f = arg;
	void (*came)(struct flow *, const struct http_fetched *) =
		f->request.came;
	struct err err;

	f->request.exchange = NULL;
	if (!a->status || a->end.kind != HTTP_DONE) {
		err = a->end.err;
		err_wrap(&err, "%s", f->request.url.text.p);
		flow_end(f, &err);
		return;
	}
	if (follow(f, a))
		return;
	forget_request(f);
	came(f, a);
}

/* Where the endpoint's own address lies, others may lie, too. */
static bool note_range(void *arg, UNUSED struct str host,
		       const struct sockaddr *address, UNUSED struct err *err)
{
	struct flow *f = arg;

	f->guard.is_probed = true;
	f->guard.probed = reach_class_of(address);
	return true;
}

static void send_request(struct flow *f, struct str content)
{
	struct flow_request *r = &f->request;
	struct reach reach = guard_reach(&f->guard, &r->url, r->origin);

	if (f->state == FLOW_PROBE) {
		reach.allows = note_range;
		reach.arg = f;
	}
	r->exchange = http_fetch(f->setting.context->http,
				 &(struct http_request){
					 .method = r->method,
					 .url = r->url.text.p,
					 .headers = &r->headers,
					 .content = content,
					 .total_ms = REQUEST_MS,
					 .reach = &reach,
				 },
				 answered, f);
}

static bool is_at(struct flow *f, const char *named, const struct url *u)
{
	struct err err = ERR_INIT;
	struct url n;

	return named && url_parse(str_of(named), &f->arena, &n, &err) == 0 &&
	       url_same_origin(&n, u);
}

enum guard_origin flow_origin(struct flow *f, const char *url)
{
	struct err err = ERR_INIT;
	struct url u;

	if (url_parse(str_of(url), &f->arena, &u, &err) < 0)
		return GUARD_SERVER;
	return url_same_origin(f->setting.endpoint, &u) ||
			       is_at(f, f->setting.options->issuer, &u)
		       ? GUARD_USER
		       : GUARD_SERVER;
}

void flow_header(struct flow *f, const char *name, struct str value)
{
	struct err err = ERR_INIT;

	if (http_headers_set(&f->request.headers, name, value, &err) < 0)
		flow_end(f, &err);
}

void flow_ask(struct flow *f, const char *what, const char *method,
	      const char *url, enum guard_origin origin, struct str content,
	      void (*came)(struct flow *f, const struct http_fetched *answer))
{
	struct flow_request *r = &f->request;
	struct err err = ERR_INIT;

	if (f->state == FLOW_OVER)
		return;
	r->method = method;
	r->origin = origin;
	r->came = came;
	if (guard_url(&f->guard, what, url, origin, &f->arena, &r->url, &err) <
	    0) {
		flow_end(f, &err);
		return;
	}
	log_debug("authorization: %s %s", method, r->url.text.p);
	send_request(f, content);
}

/* ---- begin, lock ---- */

static bool is_good(const struct flow *f, const struct account *a)
{
	const struct auth_options *o = f->setting.options;

	return a->access_token &&
	       (!a->expires_s ||
		a->expires_s > flow_now_s(f) + ACCOUNT_AHEAD_S) &&
	       (!o->client_id || !a->client_id ||
		!strcmp(o->client_id, a->client_id)) &&
	       (!f->start.refused ||
		strcmp(f->start.refused, a->access_token) != 0);
}

int flow_account(struct flow *f, const char *issuer, struct account *ret,
		 struct err *err)
{
	struct store *s = f->setting.context->store;
	const struct owner *owner = f->setting.owner;
	const struct auth_options *o = f->setting.options;

	/* who is asked in person, or nobody, can do without what was there */
	int r = f->start.kind == FLOW_LOGIN || o->grant != AUTH_CODE
			? account_load_anew(s, owner, issuer, ret, err)
			: account_load(s, owner, issuer, ret, err);

	return r == 0 ? account_adopt(s, owner, ret, err) : r;
}

/* What another process may have done while we waited. */
static int read_again(struct flow *f, struct err *err)
{
	struct account now;
	int r = flow_account(f, NULL, &now, err);

	if (r < 0)
		return -1;
	if (r == 0) {
		account_release(f->account);
		*f->account = now;
		if (now.access_token)
			flow_secret(f, str_of(now.access_token));
		if (now.refresh_token)
			flow_secret(f, str_of(now.refresh_token));
	}
	return 0;
}

static void locked(struct flow *f)
{
	struct err err = ERR_INIT;

	if (read_again(f, &err) < 0)
		flow_end(f, &err);
	else if (f->start.kind != FLOW_LOGIN && f->start.refused &&
		 is_good(f, f->account))
		flow_end(f, NULL);
	else if (f->start.kind == FLOW_REFRESH)
		flow_refresh(f);
	else if (f->start.kind == FLOW_LOGIN)
		flow_probe(f);
	else
		flow_find_resource(f);
}

static void try_lock(struct flow *f)
{
	const struct auth_context *c = f->setting.context;
	/* one for all clients of a server: the last one used is any of them */
	const char *what = owner_text(f->setting.owner, "", &f->arena);
	struct err err = ERR_INIT;
	int r = c->store ? store_lock(c->store, what, &f->lock, &err) : 0;

	if (r == 0) {
		f->has_lock = c->store != NULL;
		locked(f);
		return;
	}
	if (r > 0 && loop_now(c->loop) < f->lock_until_ns) {
		set_timer(f, LOCK_AGAIN_MS);
		return;
	}
	if (r > 0)
		err_set(&err, ERR_BUSY,
			"another matins is authorizing at %s; it may wait "
			"for its browser",
			f->setting.endpoint->text.p);
	flow_end(f, &err);
}

static void fire(void *arg)
{
	struct flow *f = arg;
	struct err err = ERR_INIT;

	switch (f->state) {
	case FLOW_OVER:
		f->done(f->arg, f->is_failed ? &f->result : NULL);
		return;
	case FLOW_PERSON:
		err_set(&err, ERR_CREDENTIAL,
			"nobody answered the page of the authorization server "
			"in time");
		flow_end(f, &err);
		return;
	case FLOW_BEGIN:
		flow_to(f, FLOW_LOCK);
		try_lock(f);
		return;
	default:
		try_lock(f);
	}
}

struct flow *flow_new(const struct flow_setting *setting,
		      const struct flow_start *start, struct account *account,
		      void (*done)(void *arg, const struct err *err), void *arg)
{
	struct flow *f = mem_zalloc(sizeof(*f));

	f->setting = *setting;
	f->guard = (struct guard){.context = setting->context,
				  .options = setting->options,
				  .endpoint = setting->endpoint};
	f->start = (struct flow_start){
		.kind = start->kind,
		.resource_metadata =
			arena_strdup(&f->arena, start->resource_metadata),
		.scope = arena_strdup(&f->arena, start->scope),
		.refused = arena_strdup(&f->arena, start->refused),
		.protocol = arena_strdup(&f->arena, start->protocol),
	};
	f->account = account;
	f->done = done;
	f->arg = arg;
	f->lock.fd = -1;
	f->verifier.max = f->secret.max = f->code.max = BUF_UNBOUNDED;
	f->timer.fire = fire;
	f->timer.arg = f;
	f->lock_until_ns =
		loop_now(setting->context->loop) + LOCK_MS * NS_PER_MS;
	set_timer(f, 0);
	return f;
}

void flow_free(struct flow *f)
{
	if (!f)
		return;
	forget_request(f);
	loop_timer_clear(f->setting.context->loop, &f->timer);
	redirect_free(f->redirect);
	crypto_key_free(f->key);
	if (f->has_lock)
		store_unlock(&f->lock);
	buf_wipe(&f->verifier);
	buf_wipe(&f->secret);
	buf_wipe(&f->code);
	arena_wipe(&f->arena);
	free(f);
}

void flow_tell_person(struct flow *f, void (*waits)(void *arg))
{
	f->waits = waits;
}

bool flow_is_person(const struct flow *f)
{
	return f->state == FLOW_PERSON;
}

bool flow_is_granted(const struct flow *f)
{
	return f->is_granted;
}
