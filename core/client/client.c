/*
 * The top of a client: acts on reports of link, calls and lists, and is the
 * only file that does. It starts, restarts and ends the server.
 */
#include "core/client/client.h"

#include <assert.h>

#include "core/base/mem.h"
#include "core/client/eras.h"
#include "core/client/failure.h"
#include "core/client/lists.h"
#include "core/mcp/wire/rpc.h"

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
		child_close(&c->link.child);
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
	child_terminate(&c->link.child);
}

void client_kill(struct client *c)
{
	if (c->is_over)
		return;
	client_close(c, 0);
	child_kill(&c->link.child);
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
