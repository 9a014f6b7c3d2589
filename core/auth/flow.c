/*
 * The walk through the steps of an authorization: FLOW_STEPS has the table.
 */
#include "core/auth/flow.h"

#include "core/auth/flow_steps.h"
#include "core/base/log.h"
#include "core/base/mem.h"

#define LOCK_AGAIN_MS 50
/* Another process refreshes: seconds. Where it waits for a person, we give up
   and say so. */
#define LOCK_MS 30000

static void set_timer(struct flow *f, uint64_t in_ms)
{
	loop_timer_set(f->setting.context->loop, &f->timer,
		       loop_now(f->setting.context->loop) + in_ms * NS_PER_MS);
}

/* ---- lock ---- */

static bool is_usable(const struct flow *f, const struct account *a)
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

static enum flow_verdict take_lock(struct flow *f, struct err *err)
{
	const struct auth_context *c = f->setting.context;
	/* one for all clients of a server: the last one used is any of them */
	const char *what = owner_text(f->setting.owner, "", &f->arena);
	int r = c->store ? store_lock(c->store, what, &f->lock, err) : 0;

	if (r > 0 && loop_now(c->loop) < f->lock_until_ns) {
		set_timer(f, LOCK_AGAIN_MS);
		return FLOW_WAIT;
	}
	if (r > 0)
		err_set(err, ERR_BUSY,
			"another matins is authorizing at %s; it may wait "
			"for its browser",
			f->setting.endpoint->text.p);
	/* another process may have changed the account while we waited */
	if (r != 0 || flow_load_account(f, NULL, err) < 0)
		return FLOW_FAILED;
	return f->start.kind != FLOW_KIND_LOGIN && f->start.refused &&
			       is_usable(f, f->account)
		       ? FLOW_NOT
		       : FLOW_OK;
}

static enum flow_verdict choose_way(struct flow *f, UNUSED struct err *err)
{
	return f->start.kind == FLOW_KIND_REFRESH ? FLOW_OK : FLOW_NOT;
}

/* ---- the walk ---- */

static const struct {
	const char *word;
	enum flow_verdict (*run)(struct flow *f, struct err *err);
	enum flow_step next[2]; /* by FLOW_OK, FLOW_NOT */
} steps[] = {
#define FLOW_STEP(name, word, run, ok, not_ok) \
	[name] = {word, run, {ok, not_ok}},
	FLOW_STEPS(FLOW_STEP)
#undef FLOW_STEP
};

/* The only setter of the step. */
static void go_to(struct flow *f, enum flow_step step)
{
	log_debug("authorization: %s -> %s", steps[f->step].word,
		  steps[step].word);
	f->step = step;
	f->verdict = FLOW_WAIT;
	loop_timer_clear(f->setting.context->loop, &f->timer);
}

/* The next turn of the loop tells it. */
static void end_walk(struct flow *f)
{
	store_unlock(&f->lock);
	set_timer(f, 0);
}

static void walk(struct flow *f, enum flow_verdict v)
{
	while (v != FLOW_WAIT && f->step != FLOW_OVER) {
		f->is_failed = v == FLOW_FAILED;
		go_to(f, f->is_failed ? FLOW_OVER
				      : steps[f->step].next[v == FLOW_NOT]);
		if (f->step == FLOW_OVER)
			end_walk(f);
		else
			v = steps[f->step].run(f, &f->err);
	}
}

static void on_timer(void *arg)
{
	struct flow *f = arg;
	enum flow_verdict v = f->verdict;

	if (f->step == FLOW_OVER) {
		f->handler.done(f->handler.arg, f->is_failed ? &f->err : NULL,
				f->is_granted);
		return;
	}
	if (v == FLOW_WAIT && f->step == FLOW_LOCK) {
		v = take_lock(f, &f->err);
	} else if (v == FLOW_WAIT) {
		err_set(&f->err, ERR_CREDENTIAL,
			"nobody answered the page of the authorization server "
			"in time");
		v = FLOW_FAILED;
	}
	walk(f, v);
}

/* ---- life ---- */

struct flow *flow_new(const struct flow_setting *setting,
		      const struct flow_start *start, struct account *account,
		      const struct flow_handler *handler)
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
	f->handler = *handler;
	f->lock.fd = -1;
	f->verifier.max = f->secret.max = f->code.max = BUF_UNBOUNDED;
	f->timer.fire = on_timer;
	f->timer.arg = f;
	f->lock_until_ns =
		loop_now(setting->context->loop) + LOCK_MS * NS_PER_MS;
	flow_settle(f, start->kind == FLOW_KIND_REVOKE ? FLOW_NOT : FLOW_OK,
		    NULL);
	return f;
}

void flow_free(struct flow *f)
{
	if (!f)
		return;
	http_cancel(f->request.exchange);
	http_headers_release(&f->request.headers);
	loop_timer_clear(f->setting.context->loop, &f->timer);
	redirect_free(f->redirect);
	crypto_key_free(f->key);
	store_unlock(&f->lock);
	buf_wipe(&f->verifier);
	buf_wipe(&f->secret);
	buf_wipe(&f->code);
	arena_wipe(&f->arena);
	free(f);
}

bool flow_is_person(const struct flow *f)
{
	return f->step == FLOW_PERSON && f->verdict == FLOW_WAIT;
}
