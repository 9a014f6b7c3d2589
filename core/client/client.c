/*
 * The top of a client: acts on reports of link, calls and lists, and is the
 * only file that does. It starts, restarts and ends the server.
 */
#include "core/client/client.h"

#include <assert.h>
#include <errno.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/child.h"
#include "core/client/eras.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/mcp/wire/cache.h"
#include "core/mcp/wire/rpc.h"
#include "core/transport/transport.h"

/* ==== the link ==== */

/* A budget of link_read() for all that there is. */
#define LINK_TO_THE_END SIZE_MAX

struct link {
	struct loop *loop;	     /* borrowed, as is the next */
	const struct scrub *scrub;   /* may be NULL */
	struct child child;	     /* never started for a remote server */
	struct transport *transport; /* owned; NULL where nothing runs */
	struct session *session;     /* owned; NULL before the first start */
	struct loop_watch in, out;   /* of the transport */
	uint64_t bytes_in;
	uint32_t restarts;
	/* Facts of a remote transport, kept when it is gone: JSON; owned. */
	struct buf remote_facts;
	/* Adds to them, as client_options.open_facts; may be NULL. */
	void (*open_facts)(void *open_arg, struct jw *w);
	void *open_arg;
};

enum link_news {
	LINK_QUIET, /* nothing to read, or the budget is used up */
	LINK_NEWS,  /* the session has read something: look at its events */
	LINK_OVER,  /* a remote server has said all that it will */
};

#define CHUNK_BYTES (64 * 1024)

static bool link_is_remote(const struct link *l)
{
	return l->transport && transport_has_messages(l->transport);
}

static const struct mcp_peer *link_server(const struct link *l)
{
	static const struct mcp_peer none;

	return l->session ? session_server(l->session) : &none;
}

static const struct session_stats *link_stats(const struct link *l)
{
	static const struct session_stats none;

	return l->session ? session_stats(l->session) : &none;
}

static bool link_is_modern(const struct link *l)
{
	const struct mcp_revision *r = link_server(l)->revision;

	return r && r->era == MCP_ERA_PER_REQUEST;
}

static bool link_prints_result(const struct link *l)
{
	return l->session && !link_server(l)->revision &&
	       mcp_looks_like_result(session_noise(l->session));
}

/* ---- begin and end ---- */

static void close_pipe(void *arg, int which)
{
	struct link *l = arg;

	child_close_fd(&l->child, which);
}

static int link_spawn(struct link *l, struct gate *gate,
		      const struct gate_request *request, struct err *err)
{
	struct transport_stdio_options pipes = {.close = close_pipe, .arg = l};
	struct gate_child_fds fds;

	if (child_start(&l->child, gate, request, err) < 0)
		return -1;
	fds = child_fds(&l->child);
	pipes.in = fds.out;
	pipes.out = fds.in;
	l->transport = transport_stdio(&pipes);
	return 0;
}

static void link_begin(struct link *l, const struct session_options *options)
{
	session_free(l->session);
	l->session = session_new(options);
	session_start(l->session, loop_now(l->loop));
}

static void note_remote(struct link *l)
{
	AUTO(buf_release) struct buf facts = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!link_is_remote(l))
		return;
	jw_init(&w, &facts, false);
	jw_object(&w);
	transport_facts(l->transport, &w);
	if (l->open_facts)
		l->open_facts(l->open_arg, &w);
	jw_end(&w);
	/* the path of a URL may hold a key */
	buf_clear(&l->remote_facts);
	if (scrub_is_empty(l->scrub))
		buf_add_str(&l->remote_facts, buf_str(&facts));
	else
		(void)scrub_json(l->scrub, buf_str(&facts), &l->remote_facts);
}

static void link_drop(struct link *l)
{
	note_remote(l);
	loop_unwatch(l->loop, &l->in);
	loop_unwatch(l->loop, &l->out);
	transport_free(l->transport);
	l->transport = NULL;
}

static void link_release(struct link *l)
{
	link_drop(l);
	child_release(&l->child);
	session_free(l->session);
	buf_release(&l->remote_facts);
}

/* ---- reading ---- */

static void link_end_input(struct link *l)
{
	if (!l->transport)
		return;
	loop_unwatch(l->loop, &l->in);
	transport_end_input(l->transport);
	session_eof(l->session, loop_now(l->loop));
}

static void spend(size_t *budget, size_t n)
{
	if (*budget != LINK_TO_THE_END)
		*budget -= n < *budget ? n : *budget;
}

static enum link_news read_bytes(struct link *l, size_t *budget)
{
	char chunk[CHUNK_BYTES];
	ssize_t r;

	if (transport_in_fd(l->transport) < 0)
		return LINK_QUIET;
	r = transport_receive(l->transport, chunk, sizeof(chunk));
	if (r < 0 && errno == EAGAIN)
		return LINK_QUIET;
	if (r <= 0) {
		link_end_input(l);
		return LINK_NEWS;
	}
	l->bytes_in += (uint64_t)r;
	session_feed(l->session, (struct str){chunk, (size_t)r},
		     loop_now(l->loop));
	/* a short read means that the pipe is empty; epoll tells of more */
	spend(budget, (size_t)r < sizeof(chunk) ? *budget : (size_t)r);
	return LINK_NEWS;
}

static enum session_failure failure_of(enum transport_loss loss)
{
	switch (loss) {
	case TRANSPORT_BROKE:
		break;
	case TRANSPORT_DENIED:
		return SESSION_FAIL_AUTH;
	case TRANSPORT_LEASH:
		return SESSION_FAIL_LEASH;
	case TRANSPORT_TOO_LONG:
		return SESSION_FAIL_LIMIT;
	}
	return SESSION_FAIL_TRANSPORT;
}

static enum link_news read_message(struct link *l, size_t *budget)
{
	uint64_t now = loop_now(l->loop);
	struct transport_item item;

	transport_next(l->transport, &item);
	switch (item.type) {
	case TRANSPORT_NONE:
		return LINK_QUIET;
	case TRANSPORT_MESSAGE:
		l->bytes_in += item.message.n;
		session_message(l->session, item.message, now);
		spend(budget, item.message.n);
		break;
	case TRANSPORT_LOST:
		session_lost(l->session, item.id, failure_of(item.loss),
			     &item.err, now);
		break;
	case TRANSPORT_HELD:
	case TRANSPORT_RESUMED:
		session_hold(l->session, item.type == TRANSPORT_HELD, now);
		break;
	case TRANSPORT_OVER:
		return LINK_OVER;
	}
	return LINK_NEWS;
}

static enum link_news link_read(struct link *l, size_t *budget)
{
	if (!l->transport || !*budget)
		return LINK_QUIET;
	return link_is_remote(l) ? read_message(l, budget)
				 : read_bytes(l, budget);
}

/* ---- writing ---- */

static void link_end_output(struct link *l)
{
	if (!l->transport)
		return;
	loop_unwatch(l->loop, &l->out);
	transport_end_output(l->transport);
}

static void link_output_broke(struct link *l)
{
	session_output_broke(l->session);
	link_end_output(l);
}

static bool is_ending(const struct session *s)
{
	return session_state(s) == SESSION_CLOSING ||
	       session_state(s) == SESSION_CLOSED ||
	       session_state(s) == SESSION_FAILED;
}

static void link_flush(struct link *l)
{
	struct str bytes = session_output(l->session);
	ssize_t w;

	while (l->transport && bytes.n) {
		w = transport_send(l->transport, bytes);
		if (w < 0 && errno == EAGAIN)
			break;
		if (w < 0) {
			link_output_broke(l);
			break;
		}
		session_wrote(l->session, (size_t)w);
		bytes = session_output(l->session);
	}
	if (l->transport && session_output(l->session).n)
		loop_rewatch(l->loop, &l->out, EPOLLOUT);
	else if (l->transport && is_ending(l->session))
		link_end_output(l);
	else
		loop_rewatch(l->loop, &l->out, 0);
}

/* ---- state and facts ---- */

static void write_remote(struct link *l, struct jw *w)
{
	struct scan_iter it;

	note_remote(l);
	scan_iter_init(&it, l->remote_facts.n ? buf_str(&l->remote_facts)
					      : STR("{}"));
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		scan_string(it.key, &key);
		jw_key_str(w, buf_str(&key));
		jw_raw(w, it.value);
	}
}

static void write_mcp(const struct link *l, struct cleaner *clean, struct jw *w)
{
	const struct mcp_peer *server = link_server(l);
	const struct session_stats *stats = link_stats(l);
	struct str noise = l->session ? session_noise(l->session) : STR("");

	jw_kv_object(w, "mcp");
	if (server->revision) {
		jw_kv_cstr(w, "protocol", server->revision->date);
		facts_text(clean, w, "server", server->name);
		facts_text(clean, w, "version", server->version);
	}
#define SESSION_STAT(name) jw_kv_int(w, #name, (int64_t)stats->name);
	SESSION_STATS(SESSION_STAT)
#undef SESSION_STAT
	jw_kv_int(w, "restarts", l->restarts);
	if (noise.n)
		facts_cut_text(clean, w, "noise", noise);
	jw_end(w);
}

static void link_write_facts(struct link *l, struct cleaner *clean,
			     struct jw *w)
{
	write_remote(l, w);
	if (l->child.program)
		facts_child(clean, w, &l->child, l->bytes_in);
	write_mcp(l, clean, w);
}

/* ==== why it failed ==== */

/* Of stderr, in the details of a failure. */
#define DETAIL_BYTES 1024
/* Ends the sentence about a request that was sent and lost. */
#define OUTCOME_IS_UNKNOWN "; the outcome is unknown, and it was not repeated"

struct failure {
	const struct link *link; /* borrowed */
	enum step_reason reason; /* REASON_NONE: nothing failed */
	bool is_cut;		 /* the output ended within a message */
	struct buf sentence, details;
};

static void say_how(const struct failure *f, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct child *child = &f->link->child;

	if (child->phase != CHILD_ENDED)
		buf_adds(out, "ended its output");
	else if (child->is_told_to)
		buf_adds(out, "ended its output, and was ended,");
	else
		buf_adds(out, facts_say_end(&child->verdict, &arena));
	if (f->is_cut)
		buf_adds(out, " in the middle of a message,");
}

static void failure_say_end(const struct failure *f, const char *method,
			    bool is_sent, struct buf *out)
{
	bool was_ready = link_server(f->link)->revision != NULL;

	buf_adds(out, "the server ");
	say_how(f, out);
	if (was_ready && !method)
		buf_adds(out, " while it was needed");
	else
		buf_addf(out, " before the answer to %s",
			 was_ready ? method : "initialize");
	if (is_sent)
		buf_adds(out, OUTCOME_IS_UNKNOWN);
	if (link_prints_result(f->link))
		buf_adds(out, "; " MCP_IS_PRINTED);
	else if (link_stats(f->link)->skipped_lines)
		buf_adds(out,
			 "; its stdout held lines that are not MCP messages");
}

/* ---- details ---- */

/* The last bytes, from the beginning of a line where there is one. */
static struct str last_lines(struct str text, size_t max)
{
	size_t at;

	text = str_trim(text);
	if (text.n <= max)
		return text;
	text = (struct str){text.p + text.n - max, max};
	at = str_find(text, '\n');
	if (at == text.n)
		return text;
	return (struct str){text.p + at + 1, text.n - at - 1};
}

/* The first line on stdout that is no message (RW-1). */
static void add_noise(const struct failure *f, struct buf *out)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf first = BUF_INIT(BUF_UNBOUNDED);
	struct str noise = session_noise(f->link->session);

	noise.n = str_find(noise, '\n');
	if (!noise.n)
		return;
	scrub_cut(f->link->scrub, noise, &clean);
	buf_add_cut(&first, buf_str(&clean), LIMIT_NOISE_LINE);
	buf_adds(out, "its stdout held a line that is not an MCP message: ");
	log_visible(out, buf_str(&first), false);
}

static void failure_note_details(struct failure *f)
{
	struct str last =
		last_lines(child_stderr(&f->link->child), DETAIL_BYTES);
	struct buf *out = &f->details;

	buf_clear(out);
	if (f->link->session)
		add_noise(f, out);
	if (!last.n)
		return;
	buf_addf(out, "%sits stderr ends with: ", out->n ? "; " : "");
	log_visible(out, last, true);
}

/* ==== calls ==== */

struct call {
	uint64_t ticket;	 /* of the caller */
	uint64_t session_ticket; /* 0: not sent yet */
	char *tool;		 /* owned; until it is sent; NULL: none */
	const char *method;	 /* static */
	struct buf params;	 /* owned; until it is sent */
	bool has_params, as_task, is_background;
	uint64_t timeout_ms, total_ms;
	client_event_fn *on_event;
	void *arg;
};

struct calls {
	struct link *link;   /* borrowed, as is the next */
	struct failure *why; /* why no answer comes, once that is known */
	bool is_open;	     /* calls may be made */
	struct call *item;   /* owned, in the order of asking */
	size_t n, cap;
	uint64_t last_ticket; /* the number given last; 0: none */
};

static const struct call *calls_find_sent(const struct calls *c,
					  uint64_t session_ticket)
{
	for (size_t i = 0; session_ticket && i < c->n; i++)
		if (c->item[i].session_ticket == session_ticket)
			return &c->item[i];
	return NULL;
}

static void release_call(struct call *call)
{
	free(call->tool);
	buf_release(&call->params);
}

static void remove_call(struct calls *c, size_t i)
{
	release_call(&c->item[i]);
	memmove(&c->item[i], &c->item[i + 1], (--c->n - i) * sizeof(*c->item));
}

static void calls_release(struct calls *c)
{
	for (size_t i = 0; i < c->n; i++)
		release_call(&c->item[i]);
	free(c->item);
}

static bool calls_are_ready(const struct calls *c)
{
	return c->is_open && c->link->session &&
	       session_state(c->link->session) == SESSION_READY;
}

/* ---- telling ---- */

static void tell_call(const struct call *call, struct client_event *e)
{
	e->ticket = call->ticket;
	if (call->on_event)
		call->on_event(call->arg, e);
}

static void end_call(struct calls *c, size_t i, struct client_event *e)
{
	const struct call gone = c->item[i];

	remove_call(c, i);
	tell_call(&gone, e);
}

static void fail_call(struct calls *c, size_t i, enum step_reason reason,
		      const char *sentence)
{
	struct client_event e = {
		.type = CLIENT_FAILED,
		.reason = reason,
		.sentence = sentence,
		.details = buf_cstr(&c->why->details),
	};

	end_call(c, i, &e);
}

/* The session failed: a call that was sent may have been carried out. */
static void lose_call(struct calls *c, size_t i, enum step_reason reason,
		      const char *sentence)
{
	AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);
	const struct call *call = &c->item[i];
	bool is_sent = call->session_ticket != 0;

	if (!sentence) {
		failure_say_end(c->why, call->method, is_sent, &own);
	} else {
		buf_adds(&own, sentence);
		if (is_sent && reason != REASON_CANCELLED)
			buf_adds(&own, OUTCOME_IS_UNKNOWN);
	}
	fail_call(c, i, reason, buf_cstr(&own));
}

static void calls_fail(struct calls *c, enum step_reason reason,
		       const char *sentence)
{
	while (c->n) {
		uint64_t ticket = c->item[0].session_ticket;

		if (reason == REASON_CANCELLED && ticket)
			session_cancel(c->link->session, ticket,
				       "the caller no longer waits");
		lose_call(c, 0, reason, sentence);
	}
}

static void fail_one(struct calls *c, size_t i, const struct session_event *e)
{
	failure_note_details(c->why);
	fail_call(c, i, failure_of_event(e, c->item[i].method), e->err.msg);
}

static void calls_tell(struct calls *c, const struct session_event *e)
{
	const struct call *call = calls_find_sent(c, e->ticket);
	struct client_event told = {.of = e};
	size_t i;

	if (!call)
		return;
	i = (size_t)(call - c->item);
	switch (e->type) {
	case SESSION_EVENT_RESULT:
		told.type = CLIENT_RESULT;
		end_call(c, i, &told);
		break;
	case SESSION_EVENT_ERROR:
		told.type = CLIENT_ERROR;
		end_call(c, i, &told);
		break;
	case SESSION_EVENT_FAILED:
		fail_one(c, i, e);
		break;
	case SESSION_EVENT_PROGRESS:
		told.type = CLIENT_PROGRESS;
		tell_call(call, &told);
		break;
	case SESSION_EVENT_TASK:
		told.type = CLIENT_TASK;
		tell_call(call, &told);
		break;
	default:
		break;
	}
}

/* ---- asking ---- */

/* tool  of the call; NULL: none */
static int send_call(struct calls *c, struct call *call, const char *tool,
		     struct str params, struct err *err)
{
	struct session *s = c->link->session;
	uint64_t now = loop_now(c->link->loop), ticket;
	int r;

	if (tool)
		r = (call->as_task ? session_call_task : session_call_tool)(
			s, tool, params, now, &ticket, err);
	else if (strcmp(call->method, "subscriptions/listen") == 0)
		r = session_listen(s, params, now, &ticket, err);
	else
		r = session_request(s, call->method, params, now, &ticket, err);
	if (r < 0)
		return -1;
	call->session_ticket = ticket;
	if (call->timeout_ms || call->total_ms)
		session_set_times(s, ticket, call->timeout_ms, call->total_ms);
	return 0;
}

static void calls_send_waiting(struct calls *c)
{
	const struct str none = {NULL, 0};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < c->n; i++) {
		struct call *call = &c->item[i];

		if (call->session_ticket)
			continue;
		if (send_call(c, call, call->tool,
			      call->has_params ? buf_str(&call->params) : none,
			      &err) == 0)
			buf_release(&call->params);
		else
			fail_call(c, i--, REASON_INTERNAL, err.msg);
	}
}

/* Params of a call that is sent later, judged as the session will. */
static int check_params(const struct client_call *call, struct err *err)
{
	const char *what = call->tool ? "arguments" : call->method;
	struct str v;

	if (!call->params.n)
		return 0;
	if (call->params.n > LIMIT_QUEUE_BYTES)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes, at most %d",
			       what, call->params.n, LIMIT_QUEUE_BYTES);
	if (scan_document(call->params, NULL, &v, err) < 0)
		return err_wrap(err, "%s", what);
	if (scan_type(v) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "%s: not a JSON object", what);
	return 0;
}

/* A server that was ready, and left before anything was asked (RW-32). */
static int refuse_call(const struct calls *c, const char *method,
		       struct err *err)
{
	AUTO(buf_release) struct buf how = BUF_INIT(BUF_UNBOUNDED);

	if (c->why->sentence.n)
		buf_adds(&how, buf_cstr(&c->why->sentence));
	else if (c->link->session)
		failure_say_end(c->why, NULL, false, &how);
	else
		buf_adds(&how, "the session with the server is over");
	return err_set(err, ERR_PEER, "%s was not sent: %s", method,
		       buf_cstr(&how));
}

static int calls_ask(struct calls *c, const struct client_call *call,
		     uint64_t *ret_ticket, struct err *err)
{
	const struct str none = {NULL, 0};
	struct call made = {
		.ticket = c->last_ticket + 1,
		.method = call->tool ? "tools/call" : call->method,
		.params = BUF_INIT(BUF_UNBOUNDED),
		.has_params = call->params.n > 0,
		.as_task = call->as_task,
		.is_background = call->is_background,
		.timeout_ms = call->timeout_ms,
		.total_ms = call->total_ms,
		.on_event = call->on_event,
		.arg = call->arg,
	};

	if (!c->is_open)
		return refuse_call(c, made.method, err);
	if (!calls_are_ready(c)) {
		if (check_params(call, err) < 0)
			return -1;
		made.tool = call->tool ? mem_strdup(call->tool) : NULL;
		buf_add_str(&made.params, call->params);
	} else if (send_call(c, &made, call->tool,
			     made.has_params ? call->params : none, err) < 0) {
		return err->kind == ERR_PEER ? refuse_call(c, made.method, err)
					     : -1;
	}
	c->last_ticket++;
	c->item = mem_grow(c->item, c->n + 1, &c->cap, sizeof(*c->item));
	c->item[c->n++] = made;
	if (ret_ticket)
		*ret_ticket = made.ticket;
	return 0;
}

static void calls_cancel(struct calls *c, uint64_t ticket, const char *reason)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->item[i].ticket != ticket)
			continue;
		if (c->item[i].session_ticket)
			session_cancel(c->link->session,
				       c->item[i].session_ticket, reason);
		remove_call(c, i);
		return;
	}
}

/* ==== lists ==== */

#define LISTING_KINDS (LISTING_PROMPTS + 1)

struct list_wait {
	uint64_t ticket;
	client_listed_fn *done;
	void *arg;
};

/* One kind of list. */
struct list_state {
	struct lists *of;
	struct listing held;   /* whole, when is_held */
	struct listing making; /* while is_asking */
	bool is_asking;	       /* pages are on their way */
	bool is_held;
	bool is_stale;	/* something has changed since it was asked for */
	bool has_known; /* a page of `making` was there already */
	uint64_t until_ns, making_until_ns; /* 0: nothing was said */
	uint64_t call;			    /* ticket of the page asked for */
	uint64_t rounds;	/* of the session, when asking began */
	struct list_wait *wait; /* in the order of asking; owned */
	size_t n_wait, cap_wait;
};

struct lists {
	struct calls *calls; /* borrowed, as is the next */
	const char *name;    /* of the server, for people */
	bool watches;	     /* subscribe to notices of change */
	struct cache cache;  /* single pages (CH-9) */
	struct list_state kind[LISTING_KINDS];
	uint64_t last_ticket;
	uint64_t listen;     /* ticket of the subscription; 0: none */
	unsigned n_listens;  /* subscriptions that were made */
	bool is_listen_vain; /* the server refuses subscriptions */
};

#define LISTENS_MAX 5

static const char *const notices[LISTING_KINDS] = {
	[LISTING_TOOLS] = "notifications/tools/list_changed",
	[LISTING_RESOURCES] = "notifications/resources/list_changed",
	[LISTING_TEMPLATES] = "notifications/resources/list_changed",
	[LISTING_PROMPTS] = "notifications/prompts/list_changed",
};

static void lists_init(struct lists *l, struct calls *calls, const char *name,
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

static void lists_release(struct lists *l)
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
static void tell_waiters(struct list_state *s, const struct client_listed *l)
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

	tell_waiters(s, &l);
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

static void lists_leave(struct lists *l, uint64_t ticket)
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

static void lists_change(struct lists *l, const char *notice, struct str uri)
{
	cache_stale(&l->cache, notice, uri);
	for (int i = 0; i < LISTING_KINDS; i++)
		if (strcmp(notices[i], notice) == 0)
			drop(&l->kind[i]);
}

static bool lists_are_stale(const struct lists *l, enum listing_kind kind)
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
		tell_waiters(s, &none);
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

static int lists_ask(struct lists *l, const struct client_list *list,
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

static void lists_take(struct lists *l, enum listing_kind kind,
		       struct listing *ret)
{
	struct list_state *s = &l->kind[kind];

	*ret = s->held;
	listing_init(&s->held, kind);
	s->is_held = false;
}

/* ==== the client ==== */

/* One turn reads at most this much, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)

struct client {
	struct client_context ctx;
	struct client_options o;
	struct link link;
	struct failure failure;
	struct calls calls; /* .is_open: neither ended nor told to end */
	struct lists lists;
	struct beginning begin;
	bool is_restart_due;   /* when this process has ended */
	struct loop_timer own; /* the session's deadline */
	/* A remote server is started once more, or has had its time to end. */
	struct loop_timer last;
	bool is_over;
	bool is_pump_due; /* the session has events before anything is read */
	bool is_pumping;  /* events are told */
	bool is_failure_told, is_telling_failure;
	bool is_ending; /* ENDED is next, or was told */
};

static void restart(struct client *c);

static void tell(struct client *c, const struct client_event *e)
{
	if (c->o.on_event)
		c->o.on_event(c->o.arg, e);
}

/* ---- the end ---- */

static void tell_failure(struct client *c)
{
	struct failure *f = &c->failure;
	struct client_event e = {.type = CLIENT_FAILED};

	if (c->is_failure_told)
		return;
	c->is_failure_told = c->is_telling_failure = true;
	failure_note_details(f);
	calls_fail(&c->calls, f->reason,
		   f->sentence.n ? buf_cstr(&f->sentence) : NULL);
	if (!f->sentence.n)
		failure_say_end(f, NULL, false, &f->sentence);
	e.reason = f->reason;
	e.sentence = buf_cstr(&f->sentence);
	e.details = buf_cstr(&f->details);
	tell(c, &e);
	c->is_telling_failure = false;
}

/* Nothing of the server runs any more. */
static void end_all(struct client *c)
{
	const struct client_event e = {.type = CLIENT_ENDED};

	if (c->is_ending)
		return;
	c->is_ending = true;
	c->calls.is_open = false;
	if (c->failure.reason)
		tell_failure(c);
	link_drop(&c->link);
	loop_timer_clear(c->ctx.loop, &c->own);
	loop_timer_clear(c->ctx.loop, &c->last);
	c->is_over = true;
	tell(c, &e);
}

/* Something to write, or another deadline: look again. */
static void update(struct client *c)
{
	struct loop *l = c->ctx.loop;

	if (!c->link.session)
		return;
	link_flush(&c->link);
	loop_timer_set(l, &c->own,
		       c->is_pump_due	  ? loop_now(l)
		       : c->calls.is_open ? session_deadline(c->link.session)
					  : UINT64_MAX);
}

/* Wait for the end of whatever runs; of a remote server, its grace. */
static void await_end(struct client *c)
{
	struct loop *l = c->ctx.loop;
	uint64_t wait_ms = c->is_restart_due ? 0 : c->link.child.o.grace_ms;

	if (child_is_live(&c->link.child))
		child_end(&c->link.child, CHILD_CLOSING);
	update(c);
	if (link_is_remote(&c->link) && !c->is_ending)
		loop_timer_set(l, &c->last, loop_now(l) + wait_ms * NS_PER_MS);
}

static bool is_anything_left(const struct client *c)
{
	return child_is_live(&c->link.child) || link_is_remote(&c->link);
}

/* No more calls; the server should end by itself. */
static void begin_end(struct client *c)
{
	c->calls.is_open = false;
	c->is_restart_due = false;
	session_close(c->link.session);
	await_end(c);
	if (!is_anything_left(c) && !c->is_telling_failure)
		end_all(c);
}

/* The end of a process is known only when it has ended. */
static void note_failure(struct client *c, const struct session_event *e)
{
	struct failure *f = &c->failure;
	bool is_end = e->failure == SESSION_FAIL_EOF;

	f->reason = failure_of_event(e, NULL);
	f->is_cut = e->is_cut;
	if (is_end && link_is_remote(&c->link)) {
		f->reason = REASON_TRANSPORT;
		buf_adds(&f->sentence, "the server closed the connection");
	} else if (!is_end || !child_is_live(&c->link.child)) {
		buf_adds(&f->sentence, e->err.msg);
	}
	if (f->sentence.n && link_prints_result(&c->link))
		buf_adds(&f->sentence, "; " MCP_IS_PRINTED);
	if (f->sentence.n)
		tell_failure(c);
}

/* After its beginning a failure ends the calls: their outcome is unknown. */
static void on_failed(struct client *c, const struct session_event *e)
{
	bool is_other = e->phase == SESSION_PHASE_INITIALIZE &&
			beginning_change(&c->begin, c->ctx.eras, e,
					 link_is_remote(&c->link));

	c->is_restart_due =
		is_other && c->calls.is_open && (c->o.request || c->o.open);
	if (!c->is_restart_due)
		note_failure(c, e);
	if (!is_anything_left(c)) {
		end_all(c);
		return;
	}
	c->calls.is_open = c->is_restart_due; /* calls wait for the restart */
	await_end(c);
}

/* The process has ended, or a remote server has had its time. */
static void on_gone(struct client *c)
{
	if (c->is_restart_due && c->calls.is_open)
		restart(c);
	else
		end_all(c);
}

static void on_last(void *arg)
{
	on_gone(arg);
}

/* ---- events of the session ---- */

static void on_ready(struct client *c)
{
	const struct client_event e = {.type = CLIENT_READY};

	/* of a pinned revision nothing is learned: it may speak others too */
	if (c->begin.has_key && !c->o.session.protocol)
		eras_learn(c->ctx.eras, &c->begin.key,
			   link_is_modern(&c->link) ? SESSION_ERA_PER_REQUEST
						    : SESSION_ERA_INITIALIZE);
	if (c->calls.is_open)
		calls_send_waiting(&c->calls);
	tell(c, &e);
}

static void on_notice(struct client *c, const struct session_event *e,
		      enum client_event_type type)
{
	const struct call *call = calls_find_sent(&c->calls, e->ticket);
	const struct client_event told = {
		.type = type, .of = e, .ticket = call ? call->ticket : 0};

	tell(c, &told);
}

static void on_answer(struct client *c, const struct session_event *e)
{
	const struct call *call = calls_find_sent(&c->calls, e->ticket);

	/* an unknown tool, or arguments of an earlier list of tools (CH-7) */
	if (call && e->type == SESSION_EVENT_ERROR &&
	    e->code == RPC_INVALID_PARAMS &&
	    strcmp(call->method, "tools/call") == 0)
		lists_change(&c->lists, "notifications/tools/list_changed",
			     STR(""));
	calls_tell(&c->calls, e);
}

static void on_event(struct client *c, const struct session_event *e)
{
	switch (e->type) {
	case SESSION_EVENT_READY:
		on_ready(c);
		break;
	case SESSION_EVENT_RESULT:
	case SESSION_EVENT_ERROR:
	case SESSION_EVENT_PROGRESS:
	case SESSION_EVENT_TASK:
		on_answer(c, e);
		break;
	case SESSION_EVENT_FAILED:
		if (e->ticket)
			calls_tell(&c->calls, e);
		else
			on_failed(c, e);
		break;
	case SESSION_EVENT_LOG:
		on_notice(c, e, CLIENT_LOG);
		break;
	case SESSION_EVENT_ASKED:
		if (c->o.on_event)
			on_notice(c, e, CLIENT_ASKED);
		else
			client_answer_error(c, e->ask, RPC_INTERNAL_ERROR,
					    "no person is here to ask");
		break;
	case SESSION_EVENT_ASK_GONE:
		on_notice(c, e, CLIENT_ASK_GONE);
		break;
	case SESSION_EVENT_CHANGED:
		lists_change(&c->lists, e->method, e->message);
		on_notice(c, e, CLIENT_CHANGED);
		break;
	case SESSION_EVENT_CLOSED:
		begin_end(c);
		break;
	}
}

/* ---- the loop ---- */

/* Tell the events of the session. */
static void pump(struct client *c)
{
	struct session_event e;

	/* a callback of an event may call in again */
	if (c->is_pumping)
		return;
	c->is_pumping = true;
	c->is_pump_due = false;
	while (session_next(c->link.session, &e))
		on_event(c, &e);
	c->is_pumping = false;
	update(c);
}

static void on_remote_over(struct client *c)
{
	if (!c->calls.is_open && !c->is_telling_failure) {
		end_all(c);
		return;
	}
	loop_unwatch(c->ctx.loop, &c->link.in);
	session_eof(c->link.session, loop_now(c->ctx.loop));
	pump(c);
}

static void receive(struct client *c, size_t budget)
{
	enum link_news news = link_read(&c->link, &budget);

	while (news == LINK_NEWS) {
		pump(c);
		news = link_read(&c->link, &budget);
	}
	if (news == LINK_OVER)
		on_remote_over(c);
}

void client_look(struct client *c)
{
	if (c->calls.is_open && !c->is_pumping)
		receive(c, TURN_BYTES);
}

static void on_readable(void *arg, UNUSED uint32_t events)
{
	receive(arg, TURN_BYTES);
}

static void on_writable(void *arg, uint32_t events)
{
	struct client *c = arg;

	if (events & EPOLLERR)
		link_output_broke(&c->link);
	update(c);
}

static void on_deadline(void *arg)
{
	struct client *c = arg;

	session_tick(c->link.session, loop_now(c->ctx.loop));
	pump(c);
}

static void on_last_words(void *arg)
{
	struct client *c = arg;

	update(c);
	link_end_output(&c->link);
}

static void on_drain(void *arg)
{
	receive(arg, LINK_TO_THE_END);
}

static void on_child_ended(void *arg)
{
	struct client *c = arg;

	/* a grandchild may hold the pipe: nothing more can come (STD-42) */
	if (c->link.transport && transport_in_fd(c->link.transport) >= 0) {
		link_end_input(&c->link);
		pump(c);
	}
	on_gone(c);
}

static const struct child_handler child_handler = {
	.last_words = on_last_words,
	.drain = on_drain,
	.ended = on_child_ended,
};

/* ---- the begin ---- */

static void init_child(struct client *c)
{
	const struct child_options options = {
		.loop = c->ctx.loop,
		.scrub = c->ctx.scrub,
		.name = c->o.name,
		.grace_ms = CLIENT_GRACE_MS,
		.stderr_max = c->o.stderr_max,
		.show_stderr = c->o.show_stderr,
		.handler = &child_handler,
		.arg = c,
	};

	child_init(&c->link.child, &options);
}

static int watch_transport(struct client *c, struct err *err)
{
	struct link *link = &c->link;
	int in = transport_in_fd(link->transport);
	int out = transport_out_fd(link->transport);
	struct loop *l = c->ctx.loop;

	if (in >= 0 &&
	    loop_watch(l, &link->in, in, EPOLLIN, on_readable, c, err) < 0)
		return -1;
	return out < 0 ? 0
		       : loop_watch(l, &link->out, out, 0, on_writable, c, err);
}

/* Look up how the server began before, where no revision is pinned. */
static void recall_era(struct client *c)
{
	const struct gate_request *r = c->o.request;
	struct era_key key;

	if (c->begin.protocol || c->begin.has_key)
		return;
	if (r)
		eras_key(&key, c->link.child.program, r->argv, r->cwd);
	else if (c->o.url)
		eras_key_url(&key, c->o.url);
	else
		return;
	beginning_recall(&c->begin, c->ctx.eras, &key);
}

static void open_session(struct client *c)
{
	struct session_options options = c->o.session;

	options.protocol = c->begin.protocol;
	options.era = c->begin.era;
	/* answers to questions of the process before must not match new ones */
	options.asks_from = (uint64_t)c->link.restarts << 32;
	/* a slow server is not sent a second beginning: over HTTP time is no
	   sign of an era (HE-5) */
	options.is_remote = link_is_remote(&c->link);
	if (options.is_remote)
		options.probe_timeout_ms = UINT64_MAX;
	link_begin(&c->link, &options);
	/* the first events are told in the next turn */
	c->is_pump_due = true;
}

static int open_link(struct client *c, struct err *err)
{
	struct link *l = &c->link;

	if (c->o.request)
		return link_spawn(l, c->ctx.gate, c->o.request, err);
	if (c->o.open)
		return c->o.open(c->o.open_arg, &l->transport, err);
	return 0;
}

static int open_server(struct client *c, struct err *err)
{
	if (open_link(c, err) < 0 || watch_transport(c, err) < 0)
		return -1;
	recall_era(c);
	open_session(c);
	update(c);
	return 0;
}

static void close_server(struct client *c)
{
	link_drop(&c->link);
	child_release(&c->link.child);
	init_child(c);
}

static void restart(struct client *c)
{
	struct err err = ERR_INIT;

	c->is_restart_due = false;
	c->link.restarts++;
	close_server(c);
	if (open_server(c, &err) == 0)
		return;
	c->failure.reason = failure_of_spawn(&err);
	buf_adds(&c->failure.sentence, err.msg);
	end_all(c);
}

int client_start(struct client *c, struct err *err)
{
	assert(!c->link.session);
	if (open_server(c, err) < 0) {
		close_server(c);
		return -1;
	}
	c->calls.is_open = true;
	c->is_over = false;
	return 0;
}

struct client *client_new(const struct client_context *context,
			  const struct client_options *options)
{
	struct client *c = mem_zalloc(sizeof(*c));
	const struct buf empty = BUF_INIT(BUF_UNBOUNDED);

	c->ctx = *context;
	c->o = *options;
	if (!c->o.session.client_name) {
		c->o.session.client_name = "matins";
		c->o.session.client_version = MATINS_VERSION;
	}
	if (!c->o.stderr_max)
		c->o.stderr_max = LIMIT_STDERR_BYTES;
	c->is_over = true;
	c->begin.protocol = options->session.protocol;
	c->begin.era = SESSION_ERA_PROBE;
	c->own = (struct loop_timer){.fire = on_deadline, .arg = c};
	c->last = (struct loop_timer){.fire = on_last, .arg = c};
	c->link = (struct link){
		.loop = context->loop,
		.scrub = context->scrub,
		.remote_facts = empty,
		.open_facts = options->open_facts,
		.open_arg = options->open_arg,
	};
	c->failure = (struct failure){
		.link = &c->link,
		.sentence = empty,
		.details = empty,
	};
	c->calls = (struct calls){.link = &c->link, .why = &c->failure};
	lists_init(&c->lists, &c->calls, c->o.name, c->o.watches_lists);
	init_child(c);
	return c;
}

struct client *client_new_over(const struct client_context *context,
			       const struct client_options *options,
			       struct transport *transport)
{
	struct client *c = client_new(context, options);

	c->link.transport = transport;
	return c;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	loop_timer_clear(c->ctx.loop, &c->own);
	loop_timer_clear(c->ctx.loop, &c->last);
	link_release(&c->link);
	lists_release(&c->lists);
	calls_release(&c->calls);
	buf_release(&c->failure.sentence);
	buf_release(&c->failure.details);
	free(c);
}

/* ---- requests ---- */

int client_call(struct client *c, const struct client_call *call,
		uint64_t *ret_ticket, struct err *err)
{
	if (calls_ask(&c->calls, call, ret_ticket, err) < 0)
		return -1;
	update(c);
	return 0;
}

void client_cancel(struct client *c, uint64_t ticket, const char *reason)
{
	calls_cancel(&c->calls, ticket, reason);
	update(c);
}

void client_answer(struct client *c, uint64_t ask, struct str result)
{
	if (!c->link.session)
		return;
	session_answer(c->link.session, ask, result, loop_now(c->ctx.loop));
	update(c);
}

void client_answer_error(struct client *c, uint64_t ask, int64_t code,
			 const char *message)
{
	if (!c->link.session)
		return;
	session_answer_error(c->link.session, ask, code, message,
			     loop_now(c->ctx.loop));
	update(c);
}

bool client_keep(struct client *c, const struct client_event *e,
		 struct arena *arena)
{
	char *memory = session_take(c->link.session, e->of->result);

	if (memory)
		arena_adopt(arena, memory);
	return memory != NULL;
}

int client_list(struct client *c, const struct client_list *list,
		uint64_t *ret_ticket, struct err *err)
{
	if (lists_ask(&c->lists, list, ret_ticket, err) < 0)
		return -1;
	update(c);
	return 0;
}

void client_unlist(struct client *c, uint64_t ticket)
{
	lists_leave(&c->lists, ticket);
	update(c);
}

void client_take_list(struct client *c, enum listing_kind kind,
		      struct listing *ret)
{
	lists_take(&c->lists, kind, ret);
}

bool client_list_is_stale(const struct client *c, enum listing_kind kind)
{
	return lists_are_stale(&c->lists, kind);
}

/* ---- asked to end ---- */

void client_stop(struct client *c, const char *why, uint64_t grace_ms)
{
	AUTO(buf_release) struct buf sentence = BUF_INIT(BUF_UNBOUNDED);

	if (c->is_over)
		return;
	if (grace_ms)
		c->link.child.o.grace_ms = grace_ms;
	buf_addf(&sentence, "cancelled: %s", why);
	calls_fail(&c->calls, REASON_CANCELLED, buf_cstr(&sentence));
	begin_end(c);
}

void client_close(struct client *c, uint64_t grace_ms)
{
	client_stop(c, "the session ends", grace_ms);
}

void client_terminate(struct client *c)
{
	if (c->is_over)
		return;
	client_close(c, 0);
	child_end(&c->link.child, CHILD_TERMINATING);
}

void client_kill(struct client *c)
{
	if (c->is_over)
		return;
	client_close(c, 0);
	child_end(&c->link.child, CHILD_KILLING);
	if (link_is_remote(&c->link))
		end_all(c);
}

/* ---- in a loop of its own ---- */

/* A server that was ready and ended within one turn: no failure, but for a
   caller who waits. */
static void note_early_end(struct client *c)
{
	struct failure *f = &c->failure;

	if (f->sentence.n)
		return;
	if (!f->reason)
		f->reason = REASON_SERVER_EXIT;
	failure_note_details(f);
	failure_say_end(f, NULL, false, &f->sentence);
}

int client_wait_ready(struct client *c, struct err *err)
{
	while (!client_is_ready(c)) {
		if (c->is_failure_told || c->is_over) {
			note_early_end(c);
			return err_set(err, ERR_PEER, "%s",
				       client_failure_sentence(c));
		}
		if (loop_turn(c->ctx.loop, err) < 0)
			return -1;
	}
	return 0;
}

int client_wait(struct client *c, struct err *err)
{
	while (client_open_calls(c))
		if (loop_turn(c->ctx.loop, err) < 0)
			return -1;
	return 0;
}

int client_finish(struct client *c, struct err *err)
{
	client_close(c, 0);
	while (!c->is_over)
		if (loop_turn(c->ctx.loop, err) < 0)
			return -1;
	return 0;
}

/* ---- state and facts ---- */

bool client_is_ready(const struct client *c)
{
	return calls_are_ready(&c->calls);
}

bool client_is_open(const struct client *c)
{
	return c->calls.is_open;
}

bool client_is_over(const struct client *c)
{
	return c->is_over;
}

size_t client_open_calls(const struct client *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->calls.n; i++)
		n += !c->calls.item[i].is_background;
	return n;
}

enum step_reason client_failure(const struct client *c)
{
	return c->failure.reason;
}

const char *client_failure_sentence(const struct client *c)
{
	return buf_cstr(&c->failure.sentence);
}

const char *client_failure_details(const struct client *c)
{
	return buf_cstr(&c->failure.details);
}

const struct mcp_peer *client_server(const struct client *c)
{
	return link_server(&c->link);
}

bool client_offers(const struct client *c, const char *capability)
{
	return c->link.session && session_offers(c->link.session, capability);
}

bool client_prints_result(const struct client *c)
{
	return link_prints_result(&c->link);
}

const struct session_stats *client_stats(const struct client *c)
{
	return link_stats(&c->link);
}

const struct gate_verdict *client_verdict(const struct client *c)
{
	const struct child *child = &c->link.child;

	return child->phase == CHILD_ENDED ? &child->verdict : NULL;
}

struct str client_stderr(const struct client *c)
{
	return child_stderr(&c->link.child);
}

void client_facts(struct client *c, struct jw *w, size_t *ret_scrubbed)
{
	struct cleaner clean = {c->ctx.scrub, 0};

	link_write_facts(&c->link, &clean, w);
	if (ret_scrubbed)
		*ret_scrubbed += clean.hits + c->link.child.scrubbed;
}
