#include "core/serve/gateway.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/client/audited.h"
#include "core/client/backoff.h"
#include "core/client/tool_check.h"
#include "core/mcp/wire/http_fields.h"
#include "core/mcp/wire/merged_name.h"
#include "core/run/pinned.h"
#include "core/run/plan.h"
#include "core/run/tool_policy.h"

#define N_KINDS (LISTING_PROMPTS + 1)
#define META "io.modelcontextprotocol/"
/* Log messages of a server that are longer are left out, bytes. */
#define LOG_BYTES (64 * 1024)

/* One entry of a list, as clients see it. */
struct shown {
	struct str name; /* for clients; of a resource its URI */
	struct str own;	 /* of the server */
	struct str json; /* the object, with that name; n = 0: not listed */
};

struct shelf {
	struct arena arena;
	struct shown *item; /* in the order of the server */
	size_t n;
	size_t *order; /* by name */
	bool is_known;
};

/* A resource that clients watch. */
struct watched {
	struct watched *next;
	char *own, *shown; /* URI of the server; for clients, ends in that */
};

struct upstream {
	struct gateway *g;
	const struct server *server;
	const struct plan_step *plan;
	struct pool_user user; /* .server is NULL: it is not expected */
	struct env env;
	bool is_told;	      /* a start failed, and that was said */
	bool is_told_change;  /* the subscription told one */
	const char *wrong;    /* why it cannot be used; NULL: it can */
	struct deal *waiting; /* until it is open, the newest first */
	struct deal *deals;   /* calls in flight */
	struct watched *watched;
	uint64_t listen; /* ticket of the subscription, newer era; 0: none */
	struct loop_timer put;	       /* questions are put to clients */
	struct backoff pause;	       /* of the next, where it ended */
	struct loop_timer listen_next; /* it is due */
	struct shelf lists[N_KINDS];
};

struct gateway {
	struct gateway_options o;
	struct scrub *scrub;
	struct eras *eras;
	struct credentials *credentials;
	struct remotes *remotes;
	struct pool *pool;
	struct upstream *up;
	size_t n;
	unsigned log_rank; /* of messages, asked for; 0: none */
	bool is_ending;
};

/* One thing that a server is asked for. */
struct deal {
	struct upstream *up;
	struct deal *next; /* of .waiting or .deals */
	enum listing_kind kind;
	const char *method; /* of a call */
	uint64_t ticket;    /* of the call, or the list; 0: not asked yet */
	bool is_listing;
	/* of a list: who waits for it; NULL: nobody does any more */
	struct gather *gather;
	/* of a call: */
	struct server_call *call;
	struct buf name, args; /* its own name; args.n = 0: none; of a resource
				  the URI for clients */
	struct buf beside;     /* of client_call; empty: questions are put */
	struct query *queries; /* questions that are with the client */
	const char *lacks;     /* method that the client could not be asked */
	const char *needs;     /* and what it must declare for that */
	bool is_asking;	  /* further questions may come together with them */
	bool is_waiting;  /* they are put, and none is answered */
	bool is_answered; /* one is, since the last that was asked */
	bool is_early;	  /* it is kept until the era of the server is known */
	bool is_held;	  /* it is kept until others have asked */
	bool as_task;	  /* of one that is held */
	bool has_state;	  /* of a question, requestState */
};

/* A question of a server that is with the client. */
struct query {
	struct query *next;
	struct deal *deal;
	struct client *client;
	uint64_t ask;
	struct server_question *question;
};

/* Wait for a list of every server. */
struct gather {
	struct gateway *g;
	struct server_call *call;
	enum listing_kind kind;
	size_t left; /* servers that have not told theirs */
	struct loop_timer late;
	void (*done)(struct gather *w);
	/* of a list: */
	void (*more)(void *arg, struct server_call *c, struct jw *w);
	void *arg;
	/* of a call whose server is looked for: */
	const char *method;
	struct buf name, args, beside;
};

static const char *const notices[N_KINDS] = {
	[LISTING_TOOLS] = "notifications/tools/list_changed",
	[LISTING_RESOURCES] = "notifications/resources/list_changed",
	[LISTING_TEMPLATES] = "notifications/resources/list_changed",
	[LISTING_PROMPTS] = "notifications/prompts/list_changed",
};

/* ---- lists of one server, as clients see them ---- */

static const struct scrub *scrub_of(const struct upstream *up)
{
	const struct scrub *own = pool_scrub(&up->user);

	return own ? own : up->g->scrub;
}

/* Take out secrets; the text itself where there are none. */
static struct str clean(const struct upstream *up, struct str json,
			struct buf *room)
{
	const struct scrub *scrub = scrub_of(up);

	if (scrub_is_empty(scrub))
		return json;
	scrub_json(scrub, json, room);
	return buf_str(room);
}

static int compare(const void *a, const void *b, void *item)
{
	const struct shown *all = item;
	struct str x = all[*(const size_t *)a].name;
	struct str y = all[*(const size_t *)b].name;
	int r = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

	return r ? r : (x.n > y.n) - (x.n < y.n);
}

static const struct shown *find_shown(const struct shelf *list, struct str name)
{
	size_t from = 0, to = list->n;

	while (from < to) {
		size_t at = from + (to - from) / 2;
		const struct shown *s = &list->item[list->order[at]];
		size_t n = s->name.n < name.n ? s->name.n : name.n;
		int r = memcmp(name.p, s->name.p, n);

		if (!r && s->name.n == name.n)
			return s;
		if (r > 0 || (!r && name.n > s->name.n))
			from = at + 1;
		else
			to = at;
	}
	return NULL;
}

/* Report whether a tool may be called, as far as its name and hints tell. */
static bool is_offered(const struct upstream *up,
		       const struct listing_item *item, struct arena *arena)
{
	const struct server *s = up->server;
	const char *tool = arena_strndup(arena, item->name.p, item->name.n);

	return !tool_policy_names(s, tool,
				  tool_policy_write(&up->g->o.file->config,
						    up->plan->step),
				  up->g->o.confirmed, arena) &&
	       !tool_policy_hints(s, item->json, arena);
}

/* Append the object with another name, all else as it came. */
static void rename_to(struct str json, struct str name, struct buf *out)
{
	struct jw w = jw_begin(out);

	for (struct scan_iter it = scan_over(json); scan_next(&it);) {
		jw_key_raw(&w, it.key);
		if (scan_is(it.key, "name"))
			jw_str(&w, name);
		else
			jw_raw(&w, it.value);
	}
	jw_end(&w);
}

static void take_list(struct upstream *up, const struct listing *l)
{
	AUTO(arena_release) struct arena scratch = ARENA_INIT;
	struct shelf *list = &up->lists[l->kind];
	bool is_named = l->kind == LISTING_TOOLS || l->kind == LISTING_PROMPTS;
	char merged[MERGED_NAME_BYTES + 1];

	arena_release(&list->arena);
	*list = (struct shelf){.arena = ARENA_INIT, .is_known = true};
	list->item = ARENA_ARRAY(&list->arena, struct shown, l->n + 1);
	for (size_t i = 0; i < l->n; i++) {
		AUTO(buf_release) struct buf room = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
		const struct listing_item *item = &l->item[i];
		struct shown *s = &list->item[list->n];
		bool is_hidden;

		/* bounds and the call would read it as another, shorter one */
		if (memchr(item->name.p, '\0', item->name.n))
			continue;
		s->own = arena_str(&list->arena, item->name);
		s->name = s->own;
		if (is_named) {
			merged_name(str_of(up->server->name), item->name,
				    merged);
			s->name = str_of(arena_strdup(&list->arena, merged));
		}
		/* a call of it is denied, and audited */
		is_hidden = l->kind == LISTING_TOOLS &&
			    !is_offered(up, item, &scratch);
		if (is_named && !is_hidden)
			rename_to(clean(up, item->json, &room), s->name, &out);
		else if (!is_hidden)
			buf_add_str(&out, clean(up, item->json, &room));
		s->json = arena_buf(&list->arena, &out);
		list->n++;
	}
	list->order = ARENA_ARRAY(&list->arena, size_t, list->n + 1);
	for (size_t i = 0; i < list->n; i++)
		list->order[i] = i;
	qsort_r(list->order, list->n, sizeof(*list->order), compare,
		list->item);
}

/* ---- deals: begun when the server is open ---- */

static void begin_call(struct deal *d);
static void begin_list(struct deal *d);
static void told_list(struct deal *d, const struct client_listed *l);

static void free_deal(struct deal *d)
{
	struct query *q, *next;

	for (q = d->queries; q; q = next) {
		next = q->next;
		free(q);
	}
	buf_release(&d->name);
	buf_release(&d->args);
	buf_release(&d->beside);
	free(d);
}

static void unlink_deal(struct deal **first, struct deal *d)
{
	while (*first && *first != d)
		first = &(*first)->next;
	if (*first)
		*first = d->next;
}

/* End a call with an error, or a list without entries. */
static void fail_deal(struct deal *d, const char *why)
{
	struct server_call *c = d->call;

	if (d->is_listing) {
		told_list(d, NULL);
		return;
	}
	unlink_deal(&d->up->deals, d);
	free_deal(d);
	server_refuse(c, RPC_INTERNAL_ERROR, why);
}

static void begin(struct deal *d)
{
	if (d->is_listing) {
		begin_list(d);
		return;
	}
	d->next = d->up->deals;
	d->up->deals = d;
	begin_call(d);
}

static struct deal *take_waiting(struct upstream *up)
{
	struct deal **last = &up->waiting, *d;

	if (!*last)
		return NULL;
	while ((*last)->next)
		last = &(*last)->next;
	d = *last;
	*last = NULL;
	return d;
}

static void opened(struct pool_user *u)
{
	struct upstream *up = u->arg;
	struct deal *d;

	up->is_told = false;
	if (u->client && up->g->log_rank)
		client_set_log_level(u->client, mcp_log_level(up->g->log_rank));
	while (u->client && (d = take_waiting(up)))
		begin(d);
}

static void leave(struct upstream *up)
{
	if (up->user.server)
		(void)!pool_leave(up->g->pool, &up->user, POOL_CLOSE,
				  CLIENT_GRACE_MS);
}

static void refused(struct pool_user *u, const struct err *err)
{
	struct upstream *up = u->arg;
	const char *why =
		mem_printf("server %s: %s", up->server->name, err->msg);
	struct deal *d;

	leave(up);
	/* each list asks again */
	if (!up->is_told)
		log_warning("%s", why);
	up->is_told = true;
	while ((d = take_waiting(up)))
		fail_deal(d, why);
	free((char *)why);
}

static struct deal *take_early(const struct upstream *up)
{
	struct deal *d = up->deals;

	while (d && !d->is_early)
		d = d->next;
	if (d)
		d->is_early = false;
	return d;
}

static struct deal *take_held(const struct upstream *up)
{
	struct deal *d = up->deals;

	while (d && !d->is_held)
		d = d->next;
	if (d)
		d->is_held = false;
	return d;
}

static void closed(struct pool_user *u, struct client *c)
{
	struct upstream *up = u->arg;
	struct deal *d;

	if (*client_failure_sentence(c) && !up->g->is_ending)
		log_warning("server %s: %s %s", up->server->name,
			    client_failure_sentence(c),
			    client_failure_details(c));
	up->listen = 0;
	while ((d = take_early(up)) || (d = take_held(up)))
		fail_deal(d, client_failure_sentence(c));
	/* calls that wait have it started again */
	if (!up->waiting)
		leave(up);
}

static bool on_event(struct pool_user *u, const struct client_event *e);

static const struct pool_handler handler = {opened, refused, closed, on_event};

/* Begin a deal when its server is open. */
static void use(struct upstream *up, struct deal *d)
{
	const struct server_call *c = d->gather ? d->gather->call : d->call;
	struct gateway *g = up->g;

	d->up = up;
	if (up->wrong) {
		d->next = up->deals;
		if (!d->is_listing)
			up->deals = d;
		fail_deal(d, up->wrong);
		return;
	}
	if (up->user.client && client_is_open(up->user.client)) {
		begin(d);
		return;
	}
	d->next = up->waiting;
	up->waiting = d;
	if (up->user.server)
		return;
	up->user = (struct pool_user){
		.name = up->server->name,
		.plan = up->plan,
		.env = env_lines(&up->env),
		.handler = &handler,
		.arg = up,
	};
	if (c && !g->o.any_client)
		up->user.can = (struct mcp_declared){
			.elicit_form = c->can.form,
			.elicit_url = c->can.url,
			.sampling = c->can.sampling,
			.roots = c->can.roots,
		};
	else
		up->user.can = (struct mcp_declared){
			.elicit_form = true,
			.elicit_url = true,
			.sampling = true,
			.roots = true,
		};
	pool_expect(g->pool, &up->user);
	pool_enter(g->pool, &up->user);
}

/* ---- lists ---- */

/* Wait no longer for those of these deals that are late. */
static void detach(struct deal *d, const struct gather *w)
{
	for (; d; d = d->next)
		if (d->gather == w)
			d->gather = NULL;
}

static void detach_all(struct gather *w)
{
	for (size_t i = 0; i < w->g->n; i++) {
		detach(w->g->up[i].waiting, w);
		detach(w->g->up[i].deals, w);
	}
}

static void end_gather(struct gather *w)
{
	loop_timer_clear(w->g->o.loop, &w->late);
	detach_all(w);
	buf_release(&w->name);
	buf_release(&w->args);
	buf_release(&w->beside);
	free(w);
}

/* The deal is freed; l  NULL: there is no list */
static void told_list(struct deal *d, const struct client_listed *l)
{
	struct upstream *up = d->up;
	struct gather *w = d->gather;
	enum listing_kind kind = d->kind;

	if (l && (!l->is_known || !up->lists[kind].is_known))
		take_list(up, l->list);
	unlink_deal(&up->deals, d);
	free_deal(d);
	if (w && !--w->left)
		w->done(w);
	else if (!w && l && !up->g->is_ending)
		up->g->o.changed(up->g->o.arg, notices[kind]);
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct deal *d = arg;

	d->ticket = 0;
	told_list(d, l->type == CLIENT_RESULT ? l : NULL);
}

/* Name of the capability of a list. */
static const char *capability(enum listing_kind kind)
{
	return kind == LISTING_TEMPLATES ? "resources" : listing_member(kind);
}

static void begin_list(struct deal *d)
{
	struct client *client = d->up->user.client;
	const struct client_list list = {d->kind, false, on_list, d};

	d->next = d->up->deals;
	d->up->deals = d;
	if (client_is_ready(client) &&
	    !client_offers(client, capability(d->kind)) &&
	    d->kind != LISTING_TOOLS)
		told_list(d, NULL);
	else if (client_list(client, &list, &d->ticket, ERR_IGNORED) < 0)
		told_list(d, NULL);
}

static void on_late(void *arg)
{
	struct gather *w = arg;

	w->done(w);
}

static void on_gather_gone(struct server_call *c)
{
	end_gather(c->work);
}

/* Make sure that the list of every server is known, or was asked for. */
static struct gather *gather(struct gateway *g, struct server_call *c,
			     enum listing_kind kind,
			     void (*done)(struct gather *w))
{
	struct gather *w = mem_zalloc(sizeof(*w));

	*w = (struct gather){
		.g = g,
		.call = c,
		.kind = kind,
		.late = {.fire = on_late, .arg = w},
		.done = done,
		.name = BUF_INIT(BUF_UNBOUNDED),
		.args = BUF_INIT(BUF_UNBOUNDED),
		.beside = BUF_INIT(BUF_UNBOUNDED),
	};
	c->work = w;
	c->gone = on_gather_gone;
	return w;
}

/* Ask them; done() may be called before this returns. */
static void ask_all(struct gather *w)
{
	struct gateway *g = w->g;

	/* one more, so that it is not done before all are asked */
	w->left = g->n + 1;
	loop_timer_set(g->o.loop, &w->late,
		       loop_now(g->o.loop) + GATEWAY_LIST_MS * NS_PER_MS);
	for (size_t i = 0; i < g->n; i++) {
		struct deal *d = mem_zalloc(sizeof(*d));

		*d = (struct deal){
			.kind = w->kind, .is_listing = true, .gather = w};
		use(&g->up[i], d);
	}
	if (!--w->left)
		w->done(w);
}

/* The server that a URI of clients names in front of a "+"; NULL: none. */
static struct upstream *named_by(const struct gateway *g, struct str uri)
{
	for (size_t i = 0; i < g->n; i++) {
		const char *name = g->up[i].server->name;
		const size_t n = strlen(name);

		if (str_starts(uri, name) && uri.n > n && uri.p[n] == '+')
			return &g->up[i];
	}
	return NULL;
}

/* Has an earlier server this URI, or does it name another? */
static bool is_taken(const struct gateway *g, size_t at, struct str uri)
{
	const struct upstream *named = named_by(g, uri);

	for (size_t i = 0; i < at; i++)
		if (find_shown(&g->up[i].lists[LISTING_RESOURCES], uri))
			return true;
	return named && named != &g->up[at];
}

static void write_clash(const struct upstream *up, const struct shown *s,
			struct jw *w)
{
	AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&uri, "%s+%.*s", up->server->name, STR_ARG(s->name));
	jw_object(w);
	for (struct scan_iter it = scan_over(s->json); scan_next(&it);) {
		jw_key_raw(w, it.key);
		if (scan_is(it.key, "uri"))
			jw_str(w, buf_str(&uri));
		else
			jw_raw(w, it.value);
	}
	jw_end(w);
}

static void answer_list(struct gather *w)
{
	struct gateway *g = w->g;
	struct server_call *c = w->call;
	struct jw *out = server_begin(c);

	jw_kv_array(out, listing_member(w->kind));
	if (w->more)
		w->more(w->arg, c, out);
	for (size_t i = 0; i < g->n; i++) {
		const struct shelf *list = &g->up[i].lists[w->kind];

		for (size_t k = 0; k < list->n; k++) {
			const struct shown *s = &list->item[k];

			if (w->kind == LISTING_RESOURCES &&
			    is_taken(g, i, s->name))
				write_clash(&g->up[i], s, out);
			else if (s->json.n)
				jw_raw(out, s->json);
		}
	}
	jw_end(out);
	end_gather(w);
	server_finish(c, true);
}

void gateway_list(struct gateway *g, struct server_call *c,
		  enum listing_kind kind,
		  void (*more)(void *arg, struct server_call *c, struct jw *w),
		  void *arg)
{
	struct gather *w = gather(g, c, kind, answer_list);

	w->more = more;
	w->arg = arg;
	ask_all(w);
}

/* ---- questions ---- */

static void end_query(struct query *q)
{
	struct query **at = &q->deal->queries;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	free(q);
}

static void on_reply(void *arg, const struct server_reply *r)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	struct query *q = arg;
	struct client *client = q->client;
	uint64_t ask = q->ask;

	q->deal->is_waiting = false;
	q->deal->is_answered = true;
	end_query(q);
	if (r->result.p && scan_type(r->result) == SCAN_OBJECT) {
		client_answer(client, ask, r->result);
		return;
	}
	if (!r->message.p || !scan_string(r->message, &why))
		buf_adds(&why, "the client gave no answer");
	client_answer_error(client, ask,
			    r->result.p ? RPC_INTERNAL_ERROR : r->code,
			    buf_cstr(&why));
}

static bool is_of_one_client(const struct deal *a, const struct deal *b)
{
	return a->call->s == b->call->s && !a->call->s->is_shared;
}

/*
 * Find the call that a message of a server belongs to which names none: a call
 * that waits for answers sends nothing, as long as another may have. NULL: more
 * than one may have.
 */
static struct deal *only_deal(const struct upstream *up)
{
	struct deal *only = NULL;
	bool is_unclear = false;

	for (struct deal *d = up->deals; d; d = d->next) {
		if (d->is_listing || !d->ticket ||
		    (only && !only->is_waiting && d->is_waiting))
			continue;
		is_unclear = only && only->is_waiting == d->is_waiting &&
			     (is_unclear || !is_of_one_client(only, d));
		only = d;
	}
	return is_unclear ? NULL : only;
}

/* Call that a message belongs to; NULL: that cannot be said. */
static struct deal *deal_of(const struct upstream *up, uint64_t ticket)
{
	if (!ticket)
		return only_deal(up);
	for (struct deal *d = up->deals; d; d = d->next)
		if (!d->is_listing && d->ticket == ticket)
			return d;
	return NULL;
}

static void send_call(struct deal *d, bool as_task);

static struct deal *take_asking(const struct upstream *up)
{
	struct deal *d = up->deals;

	while (d && !d->is_asking)
		d = d->next;
	if (d)
		d->is_asking = false;
	return d;
}

/* Put the questions that have come, and go on with the calls that were held for
   them. */
static void on_put(void *arg)
{
	struct upstream *up = arg;
	struct deal *d;

	while ((d = take_asking(up))) {
		/* with an answer it goes on, and may send anything */
		d->is_waiting = d->queries && !d->is_answered;
		server_put(d->call);
	}
	while ((d = take_held(up)))
		send_call(d, d->as_task);
}

/* Wait for further questions of a call. */
static void put_soon(struct deal *d)
{
	struct upstream *up = d->up;
	struct loop *l = up->g->o.loop;

	d->is_asking = true;
	d->is_waiting = d->is_answered = false;
	if (!up->put.index)
		loop_timer_set(l, &up->put,
			       loop_now(l) + GATEWAY_ASK_MS * NS_PER_MS);
}

/* May a call of another client ask just now? */
static bool others_ask(const struct deal *of)
{
	const struct deal *d = of->up->deals;

	while (d && (!d->is_asking || is_of_one_client(d, of)))
		d = d->next;
	return d;
}

static bool ask_client(struct upstream *up, const struct client_event *e)
{
	AUTO(buf_release) struct buf room = BUF_INIT(BUF_UNBOUNDED);
	struct deal *d = deal_of(up, e->ticket);
	struct query *q;

	if (!d) {
		client_answer_error(up->user.client, e->of->ask,
				    RPC_INTERNAL_ERROR,
				    "no client can be told from the others "
				    "that this question is for");
		return true;
	}
	q = mem_zalloc(sizeof(*q));
	*q = (struct query){d->queries, d, up->user.client, e->of->ask, NULL};
	d->queries = q;
	q->question = server_ask(d->call, e->of->method,
				 clean(up, e->of->params, &room), on_reply, q);
	if (q->question) {
		put_soon(d);
		return true;
	}
	end_query(q);
	d->lacks = e->of->method;
	d->needs = server_needs(str_of(d->lacks), e->of->params);
	client_answer_error(up->user.client, e->of->ask, RPC_METHOD_NOT_FOUND,
			    "the client behind matins serve cannot be asked "
			    "that: it does not declare it");
	return true;
}

static void withdraw(struct upstream *up, uint64_t ask)
{
	for (struct deal *d = up->deals; d; d = d->next)
		for (struct query *q = d->queries; q; q = q->next) {
			if (q->ask != ask)
				continue;
			server_withdraw(d->call, q->question);
			d->is_waiting = false;
			d->is_answered = true;
			end_query(q);
			return;
		}
}

/* ---- resources that are watched ---- */

/* Do requests to the server stand alone? */
static bool is_alone(const struct client *c)
{
	const struct mcp_revision *r = client_server(c)->revision;

	return r && r->era == MCP_ERA_PER_REQUEST;
}

/* Free the deal of a call that is over; its call lives on. */
static struct server_call *end_deal(struct deal *d)
{
	struct server_call *c = d->call;

	unlink_deal(&d->up->deals, d);
	free_deal(d);
	c->gone = NULL;
	c->work = NULL;
	return c;
}

static void free_watched(struct watched **at)
{
	struct watched *w = *at;

	*at = w->next;
	free(w->own);
	free(w->shown);
	free(w);
}

static const struct watched *find_own(const struct upstream *up, struct str own)
{
	const struct watched *w = up->watched;

	while (w && !str_eq(str_of(w->own), own))
		w = w->next;
	return w;
}

/* The server ended the subscription: begin another after a pause. One that it
   refuses stays so until something else is watched. */
static void on_listen_over(void *arg, const struct client_event *e)
{
	struct upstream *up = arg;
	struct loop *l = up->g->o.loop;

	if (up->listen != e->ticket)
		return;
	up->listen = 0;
	if (e->type != CLIENT_RESULT)
		return;
	backoff_ended(&up->pause, up->is_told_change, loop_now(l));
	up->is_told_change = false;
	loop_timer_set(l, &up->listen_next, up->pause.not_before_ns);
}

/* Subscribe to all of them at once; those of before end afterwards, so that no
   change is missed. */
static void listen_anew(struct upstream *up)
{
	AUTO(buf_release) struct buf filter = BUF_INIT(BUF_UNBOUNDED);
	struct client *client = up->user.client;
	const uint64_t before = up->listen;
	struct client_call call = {
		.method = "subscriptions/listen",
		.is_background = true,
		.on_event = on_listen_over,
		.arg = up,
	};
	struct err err = ERR_INIT;
	struct jw w = jw_begin(&filter);

	jw_kv_array(&w, "resourceSubscriptions");
	for (const struct watched *at = up->watched; at; at = at->next)
		jw_cstr(&w, at->own);
	jw_end(&w);
	jw_end(&w);
	call.params = buf_str(&filter);
	up->listen = 0;
	if (up->watched && client_call(client, &call, &up->listen, &err) < 0)
		log_debug("server %s: %s", up->server->name, err.msg);
	if (before)
		client_cancel(client, before, REASON_CANCELLED, NULL);
}

static void on_listen_due(void *arg)
{
	struct upstream *up = arg;
	struct client *client = up->user.client;

	if (client && client_is_ready(client) && is_alone(client) &&
	    up->watched && !up->listen)
		listen_anew(up);
}

/* Tell a server of the older era; whether it takes it changes nothing. */
static void tell_watch(struct upstream *up, const char *method, struct str own)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct client_call call = {.method = method, .is_background = true};
	struct err err = ERR_INIT;
	struct jw w = jw_begin(&params);

	jw_kv_str(&w, "uri", own);
	jw_end(&w);
	call.params = buf_str(&params);
	if (client_call(up->user.client, &call, NULL, &err) < 0)
		log_debug("server %s: %s", up->server->name, err.msg);
}

/* Begin to watch what nobody watched. False: it is watched already. */
static bool add_watched(struct upstream *up, struct str own, struct str shown)
{
	struct watched **at = &up->watched;

	while (*at && !str_eq(str_of((*at)->shown), shown))
		at = &(*at)->next;
	if (*at)
		return false;
	*at = mem_zalloc(sizeof(**at));
	**at = (struct watched){NULL, mem_strndup(own.p, own.n),
				mem_strndup(shown.p, shown.n)};
	return true;
}

/* End what no client watches any more. */
static void prune_watched(struct upstream *up)
{
	struct client *client = up->user.client;
	bool is_less = false;

	for (struct watched **at = &up->watched; *at;) {
		struct watched *w = *at;
		AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);

		if (up->g->o.updated(up->g->o.arg, str_of(w->shown),
				     (struct str){NULL, 0})) {
			at = &w->next;
			continue;
		}
		is_less = true;
		buf_adds(&own, w->own);
		free_watched(at);
		if (client && client_is_ready(client) && !is_alone(client) &&
		    !find_own(up, buf_str(&own)))
			tell_watch(up, "resources/unsubscribe", buf_str(&own));
	}
	if (is_less && client && client_is_ready(client) && is_alone(client))
		listen_anew(up);
}

/* Ask a server that was started again for what is watched of it. */
static void watch_again(struct upstream *up)
{
	prune_watched(up);
	if (is_alone(up->user.client) && up->watched)
		listen_anew(up);
	else if (!is_alone(up->user.client))
		for (struct watched *w = up->watched; w; w = w->next)
			tell_watch(up, "resources/subscribe", str_of(w->own));
}

/* Is it the resource, or a part of it? */
static bool is_within(struct str whole, struct str uri)
{
	if (!whole.n || uri.n < whole.n || memcmp(uri.p, whole.p, whole.n) != 0)
		return false;
	return uri.n == whole.n || whole.p[whole.n - 1] == '/' ||
	       strchr("/?#", uri.p[whole.n]);
}

/* A resource has changed; a part of it has the same name in front. */
static void tell_update(struct upstream *up, struct str uri)
{
	const struct gateway *g = up->g;
	bool is_less = false;

	up->is_told_change = true;
	for (struct watched *w = up->watched; w; w = w->next) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct str own = str_of(w->own), shown = str_of(w->shown);

		if (!is_within(own, uri))
			continue;
		buf_add(&text, shown.p, shown.n - own.n);
		scrub_apply(scrub_of(up), uri, &text);
		is_less |= !g->o.updated(g->o.arg, shown, buf_str(&text));
	}
	if (is_less)
		prune_watched(up);
}

/*
 * Watch, or watch no more, what a request of the older era names. False: it is
 * handed on to the server, whose answer counts. Before the server is ready
 * nobody knows which of both it takes.
 */
static bool take_watch(struct deal *d)
{
	const bool is_on = !strcmp(d->method, "resources/subscribe");
	struct upstream *up = d->up;
	struct str shown = buf_str(&d->args);

	if (!is_on && strcmp(d->method, "resources/unsubscribe") != 0)
		return false;
	d->is_early = !client_is_ready(up->user.client);
	if (d->is_early)
		return true;
	if (is_on && !server_watch(d->call, shown)) {
		server_refuse(end_deal(d), RPC_INTERNAL_ERROR,
			      "too many resources are watched");
		return true;
	}
	if (!is_on) {
		server_unwatch(d->call, shown);
		prune_watched(up);
	} else if (add_watched(up, buf_str(&d->name), shown) &&
		   is_alone(up->user.client)) {
		listen_anew(up);
	}
	if (is_on && !is_alone(up->user.client))
		return false;
	server_pass(end_deal(d), STR("{}"), false);
	return true;
}

/* The server refuses what take_watch() handed on. */
static void refuse_watch(struct deal *d)
{
	if (strcmp(d->method, "resources/subscribe") != 0)
		return;
	server_unwatch(d->call, buf_str(&d->args));
	prune_watched(d->up);
}

/* ---- messages ---- */

/* Ask all servers for messages of this rank and above; a client that wants
   fewer later is told fewer. rank  0: none */
static void want_log(struct gateway *g, unsigned rank)
{
	if (!rank || (g->log_rank && rank >= g->log_rank))
		return;
	g->log_rank = rank;
	for (size_t i = 0; i < g->n; i++)
		if (g->up[i].user.client)
			client_set_log_level(g->up[i].user.client,
					     mcp_log_level(rank));
}

/* Hand a message on to the client whose call it belongs to: what a server says
   of the call of one is nothing for others. */
static void tell_log(struct upstream *up, const struct client_event *e)
{
	AUTO(buf_release) struct buf room = BUF_INIT(BUF_UNBOUNDED);
	struct deal *d = deal_of(up, e->ticket);

	if (d && e->of->params.n <= LOG_BYTES)
		server_log(d->call, clean(up, e->of->params, &room));
}

static void on_ready(struct upstream *up)
{
	struct deal *d;

	watch_again(up);
	while ((d = take_early(up)))
		send_call(d, false);
}

static bool on_event(struct pool_user *u, const struct client_event *e)
{
	struct upstream *up = u->arg;

	if (e->type == CLIENT_ASKED)
		return ask_client(up, e);
	if (e->type == CLIENT_ASK_GONE)
		withdraw(up, e->of->ask);
	if (e->type == CLIENT_LOG)
		tell_log(up, e);
	if (e->type == CLIENT_READY)
		on_ready(up);
	if (e->type == CLIENT_CHANGED &&
	    !strcmp(e->of->method, "notifications/resources/updated"))
		tell_update(up, e->of->message);
	for (size_t i = 0; e->type == CLIENT_CHANGED && i < N_KINDS; i++)
		if (i != LISTING_TEMPLATES &&
		    !strcmp(e->of->method, notices[i]))
			up->g->o.changed(up->g->o.arg, notices[i]);
	return false;
}

/* ---- calls ---- */

static void tell_progress(struct deal *d, const struct session_event *of)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf room = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!d->call->token.p)
		return;
	w = jw_begin(&out);
	jw_kv_raw(&w, "progress", of->progress);
	if (of->total.p)
		jw_kv_raw(&w, "total", of->total);
	if (of->message.n)
		jw_kv_str(&w, "message", of->message);
	jw_end(&w);
	server_progress(d->call, clean(d->up, buf_str(&out), &room));
}

/*
 * Name the question that a call failed for, as far as can be said, to a client
 * of the newer era, which can mend that. A server that does without the answer
 * has its say.
 */
static bool refuse_lacking(struct deal *d)
{
	const char *lacks = d->lacks, *needs = d->needs;

	if (!lacks || !server_is_alone(d->call))
		return false;
	server_refuse_undeclared(end_deal(d), str_of(lacks), needs);
	return true;
}

/* An error of the server; its text without secrets. */
static void pass_error(struct deal *d, const struct session_event *of)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct str more = {NULL, 0};

	if (of->data.p)
		more = clean(d->up, of->data, &data);
	scrub_apply(scrub_of(d->up), of->message, &text);
	server_pass_error(end_deal(d), of->code, buf_cstr(&text), more);
}

static void on_answer(void *arg, const struct client_event *e)
{
	AUTO(buf_release) struct buf room = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	struct deal *d = arg;
	struct str result;
	bool is_read;

	switch (e->type) {
	case CLIENT_RESULT:
		if (scan_type(e->of->result) != SCAN_OBJECT) {
			server_refuse(end_deal(d), RPC_INTERNAL_ERROR,
				      "the server's result is no object");
			return;
		}
		if (scan_true(e->of->result, "isError") && refuse_lacking(d))
			return;
		result = clean(d->up, e->of->result, &room);
		is_read = !strcmp(d->method, "resources/read");
		server_pass(end_deal(d), result, is_read);
		return;
	case CLIENT_ERROR:
		refuse_watch(d);
		if (!refuse_lacking(d))
			pass_error(d, e->of);
		return;
	case CLIENT_FAILED:
		refuse_watch(d);
		buf_addf(&why, "server %s: %s", d->up->server->name,
			 e->sentence);
		server_refuse(end_deal(d), RPC_INTERNAL_ERROR, buf_cstr(&why));
		return;
	case CLIENT_PROGRESS:
		tell_progress(d, e->of);
		return;
	default:
		return;
	}
}

static void on_call_gone(struct server_call *c)
{
	struct deal *d = c->work;
	struct client *client = d->up->user.client;

	if (d->ticket && client && d->kind == LISTING_TOOLS && d->is_listing)
		client_unlist(client, d->ticket);
	else if (d->ticket && client)
		client_cancel(client, d->ticket, REASON_CANCELLED,
			      "the client cancelled it");
	unlink_deal(&d->up->waiting, d);
	unlink_deal(&d->up->deals, d);
	free_deal(d);
}

/* Copy members of an object that it has. */
static void copy_some(struct str from, const char *const *keys, struct jw *w)
{
	struct str v;

	for (size_t i = 0; keys[i]; i++)
		if (scan_get_some(from, keys[i], &v))
			jw_kv_raw(w, keys[i], v);
}

/* Params of all but tools/call, as the server knows them. */
static struct str own_params(const struct deal *d, struct buf *out)
{
	static const char *const type[] = {"type", NULL};
	static const char *const asked[] = {"argument", "context", NULL};
	const bool is_completion = !strcmp(d->method, "completion/complete");
	struct jw w = jw_begin(out);

	if (is_completion) {
		jw_kv_object(&w, "ref");
		copy_some(scan_some(buf_str(&d->args), "ref"), type, &w);
	}
	jw_kv_str(&w, d->kind == LISTING_PROMPTS ? "name" : "uri",
		  buf_str(&d->name));
	if (is_completion) {
		jw_end(&w);
		copy_some(buf_str(&d->args), asked, &w);
	} else if (d->kind == LISTING_PROMPTS && d->args.n) {
		jw_kv_raw(&w, "arguments", buf_str(&d->args));
	}
	jw_end(&w);
	return buf_str(out);
}

/* Make the call of a tool. origin  holds a text of it */
static struct client_call tool_call(struct deal *d, struct buf *origin)
{
	buf_addf(origin, "serve %s", d->call->client);
	return (struct client_call){
		.tool = buf_cstr(&d->name),
		.params = buf_str(&d->args),
		.origin = buf_cstr(origin),
		.timeout_ms = d->up->server->timeout_ms,
		.total_ms = GATEWAY_TOTAL_MS,
		.on_event = on_answer,
		.arg = d,
	};
}

static void send_call(struct deal *d, bool as_task)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf origin = BUF_INIT(BUF_UNBOUNDED);
	struct client *client = d->up->user.client;
	struct client_call call = tool_call(d, &origin);
	struct err err = ERR_INIT;

	/* answers without a state are to no question that was put: the server
	   asks */
	if (!is_alone(client) && d->has_state) {
		server_refuse_answers(end_deal(d));
		return;
	}
	/* a question that came after the call would be taken for its own */
	d->is_held = !is_alone(client) && others_ask(d);
	d->as_task = as_task;
	if (d->is_held || take_watch(d))
		return;
	call.as_task = as_task;
	call.beside = buf_str(&d->beside);
	if (d->kind != LISTING_TOOLS) {
		call.tool = call.origin = NULL;
		call.method = d->method;
		call.params = own_params(d, &params);
	}
	if (client_call(client, &call, &d->ticket, &err) < 0)
		server_refuse(end_deal(d), RPC_INTERNAL_ERROR, err.msg);
}

static void note_denied(struct deal *d)
{
	AUTO(buf_release) struct buf origin = BUF_INIT(BUF_UNBOUNDED);
	const struct client_call call = tool_call(d, &origin);

	audited_denied(d->up->server->audit, &call, d->up->server->name,
		       clock_system());
}

/* A call that bounds or pins forbid is a result that says so. */
static void deny(struct deal *d, const char *why)
{
	struct server_call *c;
	struct jw *w;

	note_denied(d);
	c = end_deal(d);
	w = server_begin(c);

	jw_kv_array(w, "content");
	jw_object(w);
	jw_kv_cstr(w, "type", "text");
	jw_kv_cstr(w, "text", why);
	jw_end(w);
	jw_end(w);
	jw_kv_bool(w, "isError", true);
	server_finish(c, false);
}

/* Compare the head of a call's request with its arguments. False: an error was
   answered. */
static bool head_agrees(struct deal *d, struct str tool, struct arena *arena)
{
	const struct server_call *c = d->call;
	const char *name;

	if (!c->s->field || !server_is_alone(c) || !c->to)
		return true;
	name = http_params_differ(tool, buf_str(&d->args), c->s->field, c->to,
				  arena);
	if (!name)
		return true;
	note_denied(d);
	server_refuse(end_deal(d), MCP_HEADER_MISMATCH,
		      arena_printf(arena, "%s is not the argument of the call",
				   name));
	return false;
}

/* Judge the tool as the server lists it now, then call it. */
static void on_tools(void *arg, const struct client_listed *l)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct deal *d = arg;
	struct upstream *up = d->up;
	const struct config *config = &up->g->o.file->config;
	const struct listing_item *item;
	const char *why;

	d->ticket = 0;
	d->is_listing = false;
	if (l->type == CLIENT_FAILED) {
		server_refuse(end_deal(d), RPC_INTERNAL_ERROR,
			      l->event->sentence);
		return;
	}
	if (l->list && !l->is_known)
		take_list(up, l->list);
	item = l->list ? listing_find(l->list, buf_str(&d->name)) : NULL;
	if (!item) {
		server_refuse(end_deal(d), RPC_INVALID_PARAMS,
			      "the server has no such tool any more");
		return;
	}
	if (!head_agrees(d, item->json, &arena))
		return;
	why = tool_policy_names(up->server, buf_cstr(&d->name),
				tool_policy_write(config, up->plan->step),
				up->g->o.confirmed, &arena);
	if (!why)
		why = tool_policy_hints(up->server, item->json, &arena);
	if (!why && up->plan->is_pinned)
		why = pinned_refusal(config, up->server, item, &arena);
	if (why)
		deny(d, why);
	else
		send_call(d, tool_needs_task(item->json));
}

static void begin_call(struct deal *d)
{
	const struct client_list list = {LISTING_TOOLS, false, on_tools, d};
	struct err err = ERR_INIT;

	if (d->kind != LISTING_TOOLS) {
		send_call(d, false);
		return;
	}
	d->is_listing = true;
	if (client_list(d->up->user.client, &list, &d->ticket, &err) < 0) {
		d->is_listing = false;
		server_refuse(end_deal(d), RPC_INTERNAL_ERROR, err.msg);
	}
}

/* Copy what a client of the newer era gives beside a request: its params live
   only until the method returns. */
static void copy_beside(const struct server_call *c, struct buf *out)
{
	static const char *const answers[] = {"inputResponses", "requestState",
					      NULL};
	static const char *const abilities[] = {"elicitation", "sampling",
						"roots", NULL};
	static const char *const level[] = {META "logLevel", NULL};
	struct str meta;
	struct jw w;

	if (!server_is_alone(c))
		return;
	meta = scan_some(c->params, "_meta");
	w = jw_begin(out);
	copy_some(c->params, answers, &w);
	jw_kv_object(&w, "_meta");
	jw_kv_object(&w, META "clientCapabilities");
	copy_some(scan_some(meta, META "clientCapabilities"), abilities, &w);
	jw_end(&w);
	copy_some(meta, level, &w);
	jw_end(&w);
	jw_end(&w);
}

static void start_call(struct upstream *up, struct server_call *c,
		       const char *method, enum listing_kind kind,
		       struct str own, struct str args, struct str beside)
{
	const struct server *s = up->server;
	struct deal *d = mem_zalloc(sizeof(*d));
	struct str state;

	*d = (struct deal){
		.kind = kind,
		.method = method,
		.call = c,
		.name = BUF_INIT(BUF_UNBOUNDED),
		.args = BUF_INIT(BUF_UNBOUNDED),
		.beside = BUF_INIT(BUF_UNBOUNDED),
		.up = up,
		.has_state = scan_get_some(beside, "requestState", &state),
	};
	buf_add_str(&d->name, own);
	buf_add_str(&d->args, args);
	/* a server of the newer era asks its client itself, but where the
	   configuration answers its questions */
	if (!s->roots.n && !s->elicit && !s->sampling.n)
		buf_add_str(&d->beside, beside);
	want_log(up->g, server_log_rank(c));
	c->work = d;
	c->gone = on_call_gone;
	use(up, d);
}

/* ---- which server ---- */

/* Does a template begin as the URI does? */
static bool fits_template(const struct upstream *up, struct str uri)
{
	const struct shelf *list = &up->lists[LISTING_TEMPLATES];

	for (size_t i = 0; i < list->n; i++) {
		struct str rest = list->item[i].name;
		struct str start = str_cut(&rest, '{');

		if (start.n && start.n <= uri.n &&
		    !memcmp(start.p, uri.p, start.n))
			return true;
	}
	return false;
}

/* The server of a URI in no list. */
static struct upstream *find_by_template(struct gateway *g, struct str uri)
{
	for (size_t i = 0; i < g->n; i++)
		if (fits_template(&g->up[i], uri))
			return &g->up[i];
	return NULL;
}

/* The server that the URI of a client names, whatever others list; *uri becomes
   its own, which may begin with its name, too. */
static struct upstream *find_by_name(const struct gateway *g, struct str *uri)
{
	struct upstream *up = named_by(g, *uri);

	if (up && !find_shown(&up->lists[LISTING_RESOURCES], *uri))
		*uri = str_skip(*uri, strlen(up->server->name) + 1);
	return up;
}

static struct upstream *find(struct gateway *g, enum listing_kind kind,
			     struct str *name, bool has_templates)
{
	const bool is_named = kind != LISTING_RESOURCES;
	struct upstream *found = is_named ? NULL : find_by_name(g, name);
	struct str own = *name;

	if (found)
		return found;
	/* a name of two servers would pass by the bounds of one of them */
	for (size_t i = 0; i < g->n && (is_named || !found); i++) {
		const struct shown *s =
			find_shown(&g->up[i].lists[kind], *name);

		if (s && found)
			return NULL;
		if (!s)
			continue;
		own = s->own;
		found = &g->up[i];
	}
	*name = own;
	return found || is_named || !has_templates ? found
						   : find_by_template(g, *name);
}

/* Write an error of a name that no server has; of a URI with its data. */
static void name_unknown(enum listing_kind kind, struct str name,
			 struct buf *why, struct buf *data)
{
	struct jw w;

	buf_adds(why, kind == LISTING_TOOLS	? "unknown tool "
		      : kind == LISTING_PROMPTS ? "unknown prompt "
						: "no server has ");
	log_visible(why, str_first(name, 200), false);
	if (kind != LISTING_RESOURCES)
		return;
	w = jw_begin(data);
	jw_kv_str(&w, "uri", name);
	jw_end(&w);
}

static void on_found(struct gather *w)
{
	AUTO(buf_release) struct buf room = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct gateway *g = w->g;
	struct server_call *c = w->call;
	bool is_second = w->kind == LISTING_TEMPLATES;
	enum listing_kind kind = is_second ? LISTING_RESOURCES : w->kind;
	struct str name = buf_str(&w->name);
	struct upstream *up = find(g, kind, &name, is_second);

	if (!up && kind == LISTING_RESOURCES && !is_second) {
		w->kind = LISTING_TEMPLATES;
		detach_all(w);
		ask_all(w);
		return;
	}
	if (!up) {
		name_unknown(kind, name, &room, &data);
		end_gather(w);
		server_pass_error(
			c,
			kind != LISTING_RESOURCES || server_is_alone(c)
				? RPC_INVALID_PARAMS
				: MCP_RESOURCE_NOT_FOUND,
			buf_cstr(&room),
			data.n ? buf_str(&data) : (struct str){NULL, 0});
		return;
	}
	buf_add_str(&room, name);
	name = buf_str(&room);
	start_call(up, c, w->method, kind, name, buf_str(&w->args),
		   buf_str(&w->beside));
	end_gather(w);
}

void gateway_forward(struct gateway *g, struct server_call *c,
		     const char *method, enum listing_kind kind,
		     struct str name, struct str args)
{
	AUTO(buf_release) struct buf beside = BUF_INIT(BUF_UNBOUNDED);
	struct upstream *up = find(g, kind, &name, false);
	struct gather *w;

	copy_beside(c, &beside);
	if (up) {
		start_call(up, c, method, kind, name, args, buf_str(&beside));
		return;
	}
	w = gather(g, c, kind, on_found);
	w->method = method;
	buf_add_str(&w->name, name);
	buf_add_str(&w->args, args);
	buf_add_str(&w->beside, buf_str(&beside));
	ask_all(w);
}

/* Watch what is found, and tell which that is. */
static void on_listen_found(struct gather *w)
{
	struct gateway *g = w->g;
	struct server_call *c = w->call;
	struct str all;

	c->params = buf_str(&w->args);
	all = scan_some(scan_some(c->params, "notifications"),
			"resourceSubscriptions");
	for (struct scan_iter it = scan_over(all); scan_next(&it);) {
		AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);
		struct upstream *up;
		struct str own;

		if (!scan_string(it.value, &uri))
			continue;
		own = buf_str(&uri);
		up = find(g, LISTING_RESOURCES, &own, true);
		if (!up || !up->user.client ||
		    !client_offers(up->user.client, "resources.subscribe") ||
		    !server_watch(c, buf_str(&uri))) {
			server_unwatch(c, buf_str(&uri));
			continue;
		}
		if (!add_watched(up, own, buf_str(&uri)))
			continue;
		if (is_alone(up->user.client))
			listen_anew(up);
		else
			tell_watch(up, "resources/subscribe", own);
	}
	server_on_listen(c);
	c->gone = NULL;
	c->work = NULL;
	end_gather(w);
}

void gateway_listen(struct gateway *g, struct server_call *c)
{
	struct str all = scan_some(scan_some(c->params, "notifications"),
				   "resourceSubscriptions");
	bool is_more = false;
	struct gather *w;

	for (struct scan_iter it = scan_over(all); scan_next(&it);) {
		AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);

		is_more |= scan_string(it.value, &uri) &&
			   server_watch(c, buf_str(&uri));
	}
	if (!is_more) {
		server_on_listen(c);
		return;
	}
	w = gather(g, c, LISTING_RESOURCES, on_listen_found);
	buf_add_str(&w->args, c->params);
	ask_all(w);
}

/* ---- from the beginning to the end ---- */

static void open_pool(struct gateway *g)
{
	const struct config_file *file = g->o.file;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *state = state_dir_find(&arena);
	const struct client_context context = {
		.loop = g->o.loop,
		.gate = g->o.gate,
		.scrub = g->scrub,
		.eras = g->eras = eras_open(state),
	};

	g->credentials = credentials_new(&(struct credentials_context){
		.loop = g->o.loop,
		.gate = g->o.gate,
		.scrub = g->scrub,
		.policy = &file->config.sandbox,
		.config = &file->config,
	});
	g->remotes = remotes_new(&(struct remotes_options){
		.loop = g->o.loop,
		.gate = g->o.gate,
		.scrub = g->scrub,
		.keeps_apart = true,
		.state_dir = state_dir_find(&arena),
		.config = &file->config,
	});
	g->pool = pool_new(&(struct pool_options){
		.client = context,
		.sampling_policy = &file->config.sandbox,
		.sampling_cwd = file->config.dir,
		.remotes = g->remotes,
		.credentials = g->credentials,
	});
}

/* Reasons against the use of a server are told now, and to each caller. */
static void open_upstream(struct upstream *up, struct arena *arena)
{
	struct err err = ERR_INIT;

	if (up->plan->reason != REASON_NONE)
		up->wrong = arena_strndup(arena, up->plan->error.p,
					  up->plan->error.n);
	else if (credentials_give(up->g->credentials, &up->plan->server_env,
				  NULL, &up->env, &err) < 0)
		up->wrong = arena_strdup(arena, err.msg);
	if (up->wrong)
		log_warning("server %s is not served: %s", up->server->name,
			    up->wrong);
}

int gateway_new(const struct gateway_options *o, struct arena *arena,
		struct gateway **ret, struct err *err)
{
	const struct config *config = &o->file->config;
	struct routine *all = ARENA_NEW(arena, struct routine);
	const struct strlist *values = &o->file->header_values;
	struct plan *plan = ARENA_NEW(arena, struct plan);
	struct plan_options p = {.config = config, .routine = all};
	struct gateway *g;

	all->steps = ARENA_ARRAY(arena, struct step, o->servers.n + 1);
	for (size_t i = 0; i < o->servers.n; i++)
		all->steps[all->n_steps++] = plan_server_step(
			config_server(config, o->servers.item[i]));
	if (plan_make(&p, arena, plan, err) < 0)
		return -1;
	g = mem_zalloc(sizeof(*g));
	g->o = *o;
	g->scrub = scrub_new();
	for (size_t i = 0; i < values->n; i++)
		scrub_add(g->scrub, str_of(values->item[i]));
	log_set_filter(scrub_log_filter, g->scrub);
	open_pool(g);
	g->n = plan->n_steps;
	g->up = ARENA_ARRAY(arena, struct upstream, g->n + 1);
	for (size_t i = 0; i < g->n; i++) {
		g->up[i].g = g;
		g->up[i].listen_next = (struct loop_timer){
			.fire = on_listen_due, .arg = &g->up[i]};
		g->up[i].put =
			(struct loop_timer){.fire = on_put, .arg = &g->up[i]};
		g->up[i].plan = &plan->steps[i];
		g->up[i].server = plan->steps[i].step->server;
		open_upstream(&g->up[i], arena);
	}
	*ret = g;
	return 0;
}

void gateway_stop(struct gateway *g)
{
	g->is_ending = true;
	for (size_t i = 0; i < g->n; i++)
		leave(&g->up[i]);
}

bool gateway_is_idle(const struct gateway *g)
{
	return pool_is_idle(g->pool);
}

void gateway_free(struct gateway *g)
{
	if (!g)
		return;
	g->is_ending = true;
	log_set_filter(NULL, NULL);
	pool_free(g->pool);
	for (size_t i = 0; i < g->n; i++) {
		struct upstream *up = &g->up[i];
		struct deal *d, *next;

		loop_timer_clear(g->o.loop, &up->listen_next);
		loop_timer_clear(g->o.loop, &up->put);
		for (d = up->waiting; d; d = next) {
			next = d->next;
			free_deal(d);
		}
		for (d = up->deals; d; d = next) {
			next = d->next;
			free_deal(d);
		}
		while (up->watched)
			free_watched(&up->watched);
		for (size_t k = 0; k < N_KINDS; k++)
			arena_release(&up->lists[k].arena);
		env_release(&up->env);
	}
	remotes_free(g->remotes);
	credentials_free(g->credentials);
	eras_free(g->eras);
	scrub_free(g->scrub);
	free(g);
}
