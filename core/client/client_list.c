/*
 * Lists of a server over all pages: asked for when somebody needs one, shared
 * by all that need it, held while nothing says that it has changed.
 */
#include "core/client/client_list_inner.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"

static struct client_lists *lists_of(struct client *c)
{
	if (c->lists)
		return c->lists;
	c->lists = mem_zalloc(sizeof(*c->lists));
	c->lists->next_ticket = 1;
	for (int i = 0; i < LISTING_KINDS; i++) {
		struct list_state *s = &c->lists->of[i];

		s->client = c;
		listing_init(&s->held, (enum listing_kind)i);
		listing_init(&s->making, (enum listing_kind)i);
	}
	return c->lists;
}

void client_lists_free(struct client *c)
{
	struct client_lists *l = c->lists;

	if (!l)
		return;
	for (int i = 0; i < LISTING_KINDS; i++) {
		listing_release(&l->of[i].held);
		listing_release(&l->of[i].making);
		free(l->of[i].wait);
	}
	cache_release(&l->cache);
	free(l);
	c->lists = NULL;
}

/* ---- who waits ---- */

static bool take_waiter(struct list_state *s, uint64_t before,
			struct list_wait *ret)
{
	if (!s->n_wait || s->wait[0].ticket >= before)
		return false;
	*ret = s->wait[0];
	memmove(s->wait, s->wait + 1, --s->n_wait * sizeof(*s->wait));
	return true;
}

/* Those that wait now; who asks again on being told waits for the next. */
static void tell(struct list_state *s, const struct client_listed *l)
{
	uint64_t before = s->client->lists->next_ticket;
	struct list_wait w;

	while (take_waiter(s, before, &w))
		w.done(w.arg, l);
}

static void tell_list(struct list_state *s, bool is_known)
{
	const struct client_listed l = {
		.type = CLIENT_RESULT,
		.list = &s->held,
		.is_known = is_known,
	};

	tell(s, &l);
}

void client_unlist(struct client *c, uint64_t ticket)
{
	struct list_state *s = NULL;
	size_t at = 0;

	for (int i = 0; c->lists && i < LISTING_KINDS && !s; i++)
		for (at = 0; at < c->lists->of[i].n_wait; at++)
			if (c->lists->of[i].wait[at].ticket == ticket) {
				s = &c->lists->of[i];
				break;
			}
	if (!s)
		return;
	memmove(s->wait + at, s->wait + at + 1,
		(--s->n_wait - at) * sizeof(*s->wait));
	if (s->n_wait || s->phase == LIST_IDLE)
		return;
	/* nobody needs it any more */
	s->phase = LIST_IDLE;
	client_cancel(c, s->call, "the caller no longer waits");
}

/* ---- pages ---- */

static void ask_page(struct list_state *s);

/* It cannot be had: the one of before is, where that may go on. */
static void give_up(struct list_state *s, const struct client_event *e)
{
	const struct client_listed l = {
		.type = e->type, .list = NULL, .event = e};
	struct client *c = s->client;

	s->phase = LIST_IDLE;
	listing_release(&s->making);
	if (!s->is_held || !c->is_open || e->reason == REASON_CANCELLED) {
		tell(s, &l);
		return;
	}
	/* CH-7 */
	s->is_stale = true;
	log_warning("%s: %s could not be asked for again; the list of before "
		    "is used",
		    c->o.name, listing_method(s->held.kind));
	tell_list(s, true);
}

static void give_up_for(struct list_state *s, enum step_reason reason,
			const char *sentence)
{
	const struct client_event e = {
		.type = CLIENT_FAILED,
		.reason = reason,
		.sentence = sentence,
		.details = "",
	};

	give_up(s, &e);
}

static void finish(struct list_state *s)
{
	struct client *c = s->client;

	s->phase = LIST_IDLE;
	listing_release(&s->held);
	s->held = s->making;
	listing_init(&s->making, s->held.kind);
	s->is_held = true;
	s->until_ns = s->making_until_ns;
	client_lists_watch(c, s->held.kind);
	tell_list(s, s->has_known);
}

/* until_ns  0: nothing was said of how long it is good */
static void add_page(struct list_state *s, struct str result, uint64_t until_ns)
{
	struct err err = ERR_INIT;
	int got;

	if (until_ns && (!s->making_until_ns || until_ns < s->making_until_ns))
		s->making_until_ns = until_ns;
	s->making.checks_headers = client_has_headers(s->client);
	got = listing_add(&s->making, result, &err);
	if (got == LISTING_MORE)
		ask_page(s);
	else if (got == LISTING_DONE)
		finish(s);
	else
		give_up_for(s,
			    err.kind == ERR_LIMIT ? REASON_OUTPUT_LIMIT
						  : REASON_BAD_MESSAGE,
			    err.msg);
}

static void begin_walk(struct list_state *s)
{
	s->phase = LIST_ASKING;
	s->is_stale = false;
	s->has_known = false;
	s->making_until_ns = 0;
	s->rounds = client_stats(s->client)->rounds;
	listing_release(&s->making);
	ask_page(s);
}

/* What took another round, and its repetition, is nothing to keep (CH-8). */
static void on_result(struct list_state *s, struct str result)
{
	struct client *c = s->client;
	struct cache *cache = &c->lists->cache;
	const char *method = listing_method(s->making.kind);
	struct str params = listing_params(&s->making);
	uint64_t until = 0;

	if (client_is_modern(c) && client_stats(c)->rounds == s->rounds &&
	    cache_put(cache, method, params, result, loop_now(c->ctx.loop)))
		until = cache_until(cache, method, params);
	add_page(s, result, until);
}

static void on_page(void *arg, const struct client_event *e)
{
	struct list_state *s = arg;

	switch (e->type) {
	case CLIENT_RESULT:
		s->call = 0;
		on_result(s, e->of->result);
		break;
	case CLIENT_ERROR:
		s->call = 0;
		/* the server no longer knows its own cursor (PAG-8) */
		if (e->of->code == RPC_INVALID_PARAMS &&
		    listing_restart(&s->making)) {
			client_lists_drop(s);
			s->making_until_ns = 0;
			ask_page(s);
		} else {
			give_up(s, e);
		}
		break;
	case CLIENT_FAILED:
		s->call = 0;
		give_up(s, e);
		break;
	default:
		break;
	}
}

static void ask_page(struct list_state *s)
{
	struct client *c = s->client;
	const char *method = listing_method(s->making.kind);
	struct client_call call = {
		.method = method,
		.params = listing_params(&s->making),
		.on_event = on_page,
		.arg = s,
	};
	struct err err = ERR_INIT;
	struct str known;

	if (cache_find(&c->lists->cache, method, call.params,
		       loop_now(c->ctx.loop), &known)) {
		s->has_known = true;
		add_page(s, known,
			 cache_until(&c->lists->cache, method, call.params));
	} else if (client_call(c, &call, &s->call, &err) < 0) {
		give_up_for(s, REASON_TRANSPORT, err.msg);
	}
}

/* ---- asked for ---- */

static bool is_fresh(const struct list_state *s)
{
	return s->is_held && !s->is_stale &&
	       (!s->until_ns || loop_now(s->client->ctx.loop) < s->until_ns);
}

static void begin(struct list_state *s)
{
	if (s->is_anew)
		client_lists_drop(s);
	s->is_anew = false;
	if (!is_fresh(s))
		begin_walk(s);
	else
		tell_list(s, true);
}

int client_list(struct client *c, const struct client_list *list,
		uint64_t *ret_ticket, struct err *err)
{
	struct client_lists *l = lists_of(c);
	struct list_state *s = &l->of[list->kind];
	struct list_wait w = {l->next_ticket, list->done, list->arg};

	if (!c->is_open)
		return err_set(err, ERR_PEER,
			       "%s: the session with the server is over",
			       listing_method(list->kind));
	l->next_ticket++;
	*ret_ticket = w.ticket;
	s->wait = mem_grow(s->wait, s->n_wait + 1, &s->cap_wait,
			   sizeof(*s->wait));
	s->wait[s->n_wait++] = w;
	/* one that is under way is as new as one that would be asked for */
	if (s->phase == LIST_ASKING)
		return 0;
	s->is_anew |= list->anew;
	s->phase = LIST_DUE;
	if (client_is_ready(c)) {
		s->phase = LIST_IDLE;
		begin(s);
	}
	return 0;
}

void client_lists_begin(struct client *c)
{
	for (int i = 0; c->lists && i < LISTING_KINDS; i++) {
		struct list_state *s = &c->lists->of[i];

		if (s->phase != LIST_DUE)
			continue;
		s->phase = LIST_IDLE;
		begin(s);
	}
}

void client_lists_fail(struct client *c, enum step_reason reason,
		       const char *sentence)
{
	for (int i = 0; c->lists && i < LISTING_KINDS; i++)
		if (c->lists->of[i].phase == LIST_DUE)
			give_up_for(&c->lists->of[i], reason, sentence);
}

void client_take_list(struct client *c, enum listing_kind kind,
		      struct listing *ret)
{
	struct list_state *s = &lists_of(c)->of[kind];

	*ret = s->held;
	listing_init(&s->held, kind);
	s->is_held = false;
}

bool client_list_is_stale(const struct client *c, enum listing_kind kind)
{
	const struct list_state *s = c->lists ? &c->lists->of[kind] : NULL;

	if (!s)
		return true;
	return s->is_stale ||
	       (s->until_ns && loop_now(c->ctx.loop) >= s->until_ns);
}
