#include "core/client/lists.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/mcp/wire/rpc.h"

/* Subscriptions that are made in one session, when they end. */
#define LISTENS_MAX 5

static const char *const notices[LISTING_KINDS] = {
	[LISTING_TOOLS] = "notifications/tools/list_changed",
	[LISTING_RESOURCES] = "notifications/resources/list_changed",
	[LISTING_TEMPLATES] = "notifications/resources/list_changed",
	[LISTING_PROMPTS] = "notifications/prompts/list_changed",
};

void lists_init(struct lists *l, struct calls *calls, const char *name,
		bool watches)
{
	*l = (struct lists){
		.calls = calls,
		.name = name,
		.watches = watches,
	};
	for (int i = 0; i < LISTING_KINDS; i++) {
		struct list_state *s = &l->kind[i];

		s->of = l;
		s->is_stale = true;
		listing_init(&s->held, (enum listing_kind)i);
		listing_init(&s->making, (enum listing_kind)i);
	}
}

void lists_release(struct lists *l)
{
	for (int i = 0; i < LISTING_KINDS; i++) {
		listing_release(&l->kind[i].held);
		listing_release(&l->kind[i].making);
		free(l->kind[i].wait);
	}
	cache_release(&l->cache);
}

static uint64_t now_of(const struct lists *l)
{
	return loop_now(l->calls->link->loop);
}

/* ---- waiters ---- */

static bool take_waiter(struct list_state *s, uint64_t last,
			struct list_wait *ret)
{
	if (!s->n_wait || s->wait[0].ticket > last)
		return false;
	*ret = s->wait[0];
	memmove(s->wait, s->wait + 1, --s->n_wait * sizeof(*s->wait));
	return true;
}

/* Tell all waiters; one that asks again waits for the next list. */
static void tell(struct list_state *s, const struct client_listed *l)
{
	uint64_t last = s->of->last_ticket;
	struct list_wait w;

	while (take_waiter(s, last, &w))
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

static bool remove_waiter(struct list_state *s, uint64_t ticket)
{
	for (size_t i = 0; i < s->n_wait; i++) {
		if (s->wait[i].ticket != ticket)
			continue;
		memmove(s->wait + i, s->wait + i + 1,
			(--s->n_wait - i) * sizeof(*s->wait));
		return true;
	}
	return false;
}

void lists_leave(struct lists *l, uint64_t ticket)
{
	for (int i = 0; i < LISTING_KINDS; i++) {
		struct list_state *s = &l->kind[i];

		if (!remove_waiter(s, ticket) || s->n_wait || !s->is_asking)
			continue;
		s->is_asking = false;
		calls_cancel(l->calls, s->call, "the caller no longer waits");
	}
}

/* ---- how long a list is good ---- */

static void drop(struct list_state *s)
{
	cache_stale(&s->of->cache, notices[s->held.kind], STR(""));
	s->is_stale = true;
}

void lists_change(struct lists *l, const char *notice, struct str uri)
{
	cache_stale(&l->cache, notice, uri);
	for (int i = 0; i < LISTING_KINDS; i++)
		if (strcmp(notices[i], notice) == 0)
			drop(&l->kind[i]);
}

bool lists_are_stale(const struct lists *l, enum listing_kind kind)
{
	const struct list_state *s = &l->kind[kind];

	return s->is_stale || (s->until_ns && now_of(l) >= s->until_ns);
}

/* Without a subscription the server tells of no change; `ttlMs` still counts.
 */
static void on_listen(void *arg, const struct client_event *e)
{
	struct lists *l = arg;

	if (e->type != CLIENT_RESULT && e->type != CLIENT_ERROR &&
	    e->type != CLIENT_FAILED)
		return;
	l->listen = 0;
	l->is_listen_vain = e->type == CLIENT_ERROR;
	/* changes in between were not told (SUB-6) */
	if (e->type != CLIENT_ERROR && l->calls->is_open)
		drop(&l->kind[LISTING_TOOLS]);
}

static void watch_tools(struct lists *l)
{
	const struct client_call call = {
		.method = "subscriptions/listen",
		.params = STR("{\"toolsListChanged\":true}"),
		.is_background = true,
		.on_event = on_listen,
		.arg = l,
	};
	const struct link *link = l->calls->link;
	struct err err = ERR_INIT;

	if (!l->watches || l->listen || l->is_listen_vain ||
	    l->n_listens == LISTENS_MAX || !link_is_modern(link) ||
	    !session_offers(link->session, "tools.listChanged"))
		return;
	l->n_listens++;
	if (calls_ask(l->calls, &call, &l->listen, &err) < 0)
		log_debug("%s: %s", l->name, err.msg);
}

/* ---- pages ---- */

static void ask_page(struct list_state *s);

/* No list comes: fall back on the one before, where the session goes on. */
static void give_up(struct list_state *s, const struct client_event *e)
{
	const struct client_listed none = {.type = e->type, .event = e};

	s->is_asking = false;
	listing_release(&s->making);
	if (!s->is_held || !s->of->calls->is_open ||
	    e->reason == REASON_CANCELLED) {
		tell(s, &none);
		return;
	}
	s->is_stale = true; /* so that the next user asks again (CH-7) */
	log_warning("%s: %s could not be asked for again; the list from before "
		    "is used",
		    s->of->name, listing_method(s->held.kind));
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
	s->is_asking = false;
	listing_release(&s->held);
	s->held = s->making;
	listing_init(&s->making, s->held.kind);
	s->is_held = true;
	s->until_ns = s->making_until_ns;
	if (s->held.kind == LISTING_TOOLS)
		watch_tools(s->of);
	tell_list(s, s->has_known);
}

/* until_ns  0: the server did not say how long the page is good */
static void add_page(struct list_state *s, struct str result, uint64_t until_ns)
{
	const struct link *link = s->of->calls->link;
	struct err err = ERR_INIT;
	int got;

	if (until_ns && (!s->making_until_ns || until_ns < s->making_until_ns))
		s->making_until_ns = until_ns;
	/* arguments go into header fields there (XH-2) */
	s->making.checks_headers = link_is_remote(link) && link_is_modern(link);
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

/* A result that took another round, and its repetition, is not kept (CH-8). */
static void on_result(struct list_state *s, struct str result)
{
	const struct link *link = s->of->calls->link;
	struct cache *cache = &s->of->cache;
	const char *method = listing_method(s->making.kind);
	struct str params = listing_params(&s->making);
	uint64_t until = 0;

	if (link_is_modern(link) && link_stats(link)->rounds == s->rounds &&
	    cache_put(cache, method, params, result, now_of(s->of)))
		until = cache_until(cache, method, params);
	add_page(s, result, until);
}

static void on_error(struct list_state *s, const struct client_event *e)
{
	/* the server no longer knows its own cursor (PAG-8) */
	if (e->of->code != RPC_INVALID_PARAMS || !listing_restart(&s->making)) {
		give_up(s, e);
		return;
	}
	drop(s);
	s->making_until_ns = 0;
	ask_page(s);
}

static void on_page(void *arg, const struct client_event *e)
{
	struct list_state *s = arg;

	if (e->type == CLIENT_RESULT)
		on_result(s, e->of->result);
	else if (e->type == CLIENT_ERROR)
		on_error(s, e);
	else if (e->type == CLIENT_FAILED)
		give_up(s, e);
}

static void ask_page(struct list_state *s)
{
	struct lists *l = s->of;
	const char *method = listing_method(s->making.kind);
	const struct client_call call = {
		.method = method,
		.params = listing_params(&s->making),
		.on_event = on_page,
		.arg = s,
	};
	struct err err = ERR_INIT;
	struct str known;

	s->call = 0;
	if (cache_find(&l->cache, method, call.params, now_of(l), &known)) {
		s->has_known = true;
		add_page(s, known, cache_until(&l->cache, method, call.params));
	} else if (calls_ask(l->calls, &call, &s->call, &err) < 0) {
		give_up_for(s, REASON_TRANSPORT, err.msg);
	}
}

/* ---- asking ---- */

static void begin_walk(struct list_state *s)
{
	s->is_asking = true;
	s->is_stale = false;
	s->has_known = false;
	s->making_until_ns = 0;
	s->rounds = link_stats(s->of->calls->link)->rounds;
	listing_release(&s->making);
	ask_page(s);
}

int lists_ask(struct lists *l, const struct client_list *list,
	      uint64_t *ret_ticket, struct err *err)
{
	struct list_state *s = &l->kind[list->kind];

	if (!l->calls->is_open)
		return err_set(err, ERR_PEER,
			       "%s: the session with the server is over",
			       listing_method(list->kind));
	*ret_ticket = ++l->last_ticket;
	s->wait = mem_grow(s->wait, s->n_wait + 1, &s->cap_wait,
			   sizeof(*s->wait));
	s->wait[s->n_wait++] =
		(struct list_wait){*ret_ticket, list->done, list->arg};
	/* one that is on its way is as new as one that would be asked for */
	if (s->is_asking)
		return 0;
	if (list->anew)
		drop(s);
	if (s->is_held && !lists_are_stale(l, list->kind))
		tell_list(s, true);
	else
		begin_walk(s);
	return 0;
}

void lists_take(struct lists *l, enum listing_kind kind, struct listing *ret)
{
	struct list_state *s = &l->kind[kind];

	*ret = s->held;
	listing_init(&s->held, kind);
	s->is_held = false;
}
