/*
 * A client from its link to its lists. Lower sections return outcomes; the
 * last ones act on them: they start, restart and end the server.
 */
#include "core/client/client.h"

#include <assert.h>
#include <errno.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/audited.h"
#include "core/client/child.h"
#include "core/client/eras.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/client/tape.h"
#include "core/client/throttle.h"
#include "core/install/depot.h"
#include "core/mcp/wire/cache.h"
#include "core/mcp/wire/rpc.h"
#include "core/transport/transport.h"

#define CHUNK_BYTES (64 * 1024)
/* One turn reads at most this much, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)
/* A budget for all that there is. */
#define TO_THE_END SIZE_MAX
/* Looks for an answer between two turns, and turns after one in vain. */
#define LOOKS 64
#define WAITS 16
/* Of stderr, in the details of a failure. */
#define DETAIL_BYTES 1024
/* Subscriptions that are made in one session, when they end. */
#define LISTENS_MAX 5
#define LISTING_KINDS (LISTING_PROMPTS + 1)

/* Ends the sentence about a request that was sent and lost. */
#define OUTCOME_IS_UNKNOWN "; the outcome is unknown, and it was not repeated"
#define SESSION_IS_OVER "the session with the server is over"

/* An open call: kept until the session can send it, and matched with its
   answer. It is forgotten before its last event is told. */
struct call {
	uint64_t ticket;	 /* of the caller */
	uint64_t session_ticket; /* 0: not sent yet */
	struct client_call o;	 /* .method is set; the two below are its own */
	char *tool;		 /* owned; until it is sent; NULL: none */
	char *origin;		 /* likewise */
	struct audited *audited; /* owned; NULL: it is not, or not yet */
	bool has_turn;		 /* of a throttle */
	int slot;		 /* with that: to be given back, or -1 */
	uint64_t asked_ns;	 /* when it began to wait for its turn; or 0 */
	struct buf params;	 /* owned; until it is sent */
};

struct list_wait {
	uint64_t ticket;
	client_listed_fn *done;
	void *arg;
};

/* One kind of list over all pages: asked for when a caller needs it, shared by
   all callers that wait, held until something says that it has changed. */
struct list {
	struct client *of;
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

struct client {
	struct client_context ctx;
	struct client_options o;

	/* the link */
	struct child child;	     /* never started for a remote server */
	struct err *start_error;     /* owned; NULL: none is known */
	struct transport *transport; /* owned; NULL where nothing runs */
	struct recording *recorded;  /* the tape's; NULL: none is made */
	struct session *session;     /* owned; NULL before the first start */
	struct loop_watch in, out;   /* of the transport */
	uint64_t bytes_in;
	unsigned looks; /* left before the next turn */
	unsigned waits; /* left before the next look */
	uint32_t restarts;
	/* Facts of a remote transport, kept when it is gone: JSON; owned. */
	struct buf remote_facts;

	/* how the next session begins */
	enum session_era era;
	const char *protocol; /* static or borrowed; NULL: by the era */
	bool tried_era, tried_protocol; /* each of the two once */
	struct era_key key;
	bool has_key;
	bool is_remembered; /* `era` is from memory */

	/* why no answer comes, once that is known */
	enum step_reason reason; /* REASON_NONE: nothing failed */
	/* Of the request that the transport lost last. */
	struct transport_refusal refusal;
	bool is_unsent;
	bool is_cut; /* the output ended within a message */
	struct buf sentence, details;
	bool is_failure_told, is_telling_failure;

	struct audit *audit;	   /* owned; NULL: nothing was written */
	struct throttle *throttle; /* owned; NULL: nothing was called */
	struct loop_timer turn;	   /* of calls that wait for one */
	uint64_t turn_ns;	   /* when the next one is due, as now_of() */

	bool has_answered; /* a call of a tool */
	bool is_open;	   /* calls may be made: neither ended nor told to */
	struct call *call; /* owned, in the order of asking */
	size_t n_calls, cap_calls;
	uint64_t last_ticket; /* the number given last; 0: none */

	/* Of each kind; NULL until one is asked for; owned. */
	struct list *list;
	struct cache cache; /* single pages (CH-9) */
	uint64_t last_list_ticket;
	uint64_t listen;     /* ticket of the subscription; 0: none */
	unsigned n_listens;  /* subscriptions that were made */
	bool is_listen_vain; /* the server refuses subscriptions */

	bool is_restart_due;   /* when this process has ended */
	struct loop_timer own; /* the session's deadline */
	/* A remote server is started once more, or has had its time to end. */
	struct loop_timer last;
	bool is_over;
	bool is_pump_due; /* the session has events before anything is read */
	bool is_pumping;  /* events are told */
	bool is_ending;	  /* ENDED is next, or was told */
};

static void restart(struct client *c);

/* ---- the link: a session, its transport, the process behind it ---- */

static uint64_t now_of(const struct client *c)
{
	return loop_now(c->ctx.loop);
}

/* Is there no process of ours behind the transport? */
static bool has_messages(const struct client *c)
{
	return c->transport && transport_has_messages(c->transport);
}

/* Is it no program either that is only replayed? */
static bool is_remote(const struct client *c)
{
	return has_messages(c) && !c->transport->type->is_lines;
}

const struct mcp_peer *client_server(const struct client *c)
{
	static const struct mcp_peer none;

	return c->session ? session_server(c->session) : &none;
}

const struct session_stats *client_stats(const struct client *c)
{
	static const struct session_stats none;

	return c->session ? session_stats(c->session) : &none;
}

bool client_has_answered(const struct client *c)
{
	return c->has_answered;
}

bool client_prints_result(const struct client *c)
{
	/* no revision: initialize was never answered */
	return c->session && !client_server(c)->revision &&
	       mcp_looks_like_result(session_noise(c->session));
}

void client_say_noise(const struct client *c, struct buf *out)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf first = BUF_INIT(BUF_UNBOUNDED);
	struct str noise = c->session ? session_noise(c->session) : STR("");

	noise.n = str_find(noise, '\n');
	if (!noise.n)
		return;
	scrub_cut(c->ctx.scrub, noise, &clean);
	buf_add_cut(&first, buf_str(&clean), LIMIT_NOISE_LINE);
	log_visible(out, buf_str(&first), false);
}

/* Does the server speak a revision whose requests stand alone? */
static bool is_modern(const struct client *c)
{
	const struct mcp_revision *r = client_server(c)->revision;

	return r && r->era == MCP_ERA_PER_REQUEST;
}

static void note_remote(struct client *c)
{
	AUTO(buf_release) struct buf facts = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!is_remote(c))
		return;
	w = jw_begin(&facts);
	transport_facts(c->transport, &w);
	if (c->o.open_facts)
		c->o.open_facts(c->o.open_arg, &w);
	jw_end(&w);
	/* the path of a URL may hold a key */
	buf_clear(&c->remote_facts);
	if (scrub_is_empty(c->ctx.scrub))
		buf_add_str(&c->remote_facts, buf_str(&facts));
	else
		(void)scrub_json(c->ctx.scrub, buf_str(&facts),
				 &c->remote_facts);
}

/* Free the transport; session and facts stay. */
static void drop_transport(struct client *c)
{
	struct transport_exit end = child_exit(&c->child);

	note_remote(c);
	if (c->recorded)
		recording_end(c->recorded, &end);
	loop_unwatch(c->ctx.loop, &c->in);
	loop_unwatch(c->ctx.loop, &c->out);
	transport_free(c->transport);
	c->transport = NULL;
}

/* Is the session to end, or has it? */
static bool is_closing(const struct client *c)
{
	enum session_state state = session_state(c->session);

	return state == SESSION_CLOSING || state == SESSION_CLOSED ||
	       state == SESSION_FAILED;
}

static void note_end(const struct client *c)
{
	if (c->recorded)
		c->recorded->end.is_itself = !is_closing(c);
}

/* Read no more: the session hears the end of its input. */
static void end_input(struct client *c)
{
	note_end(c);
	loop_unwatch(c->ctx.loop, &c->in);
	transport_end_input(c->transport);
	session_eof(c->session, now_of(c));
}

/* Write no more. */
static void end_output(struct client *c)
{
	if (!c->transport)
		return;
	loop_unwatch(c->ctx.loop, &c->out);
	transport_end_output(c->transport);
}

/* The server reads no more; its stdout tells the rest (STD-17). */
static void output_broke(struct client *c)
{
	session_output_broke(c->session);
	end_output(c);
}

/* Write the output of the session; wait for room where there is none. */
static void flush(struct client *c)
{
	struct str bytes = session_output(c->session);
	ssize_t w;

	while (c->transport && bytes.n) {
		w = transport_send(c->transport, bytes);
		if (w < 0 && errno == EAGAIN)
			break;
		if (w < 0) {
			output_broke(c);
			break;
		}
		if (c->recorded)
			recording_feed(c->recorded, RECORDED_TO,
				       str_first(bytes, (size_t)w));
		session_wrote(c->session, (size_t)w);
		bytes = session_output(c->session);
	}
	if (c->transport && session_output(c->session).n)
		loop_rewatch(c->ctx.loop, &c->out, EPOLLOUT);
	else if (c->transport && is_closing(c))
		end_output(c);
	else
		loop_rewatch(c->ctx.loop, &c->out, 0);
}

/* Something to write, or another deadline: look again. */
static void update(struct client *c)
{
	if (!c->session)
		return;
	flush(c);
	loop_timer_set(c->ctx.loop, &c->own,
		       c->is_pump_due ? now_of(c)
		       : c->is_open   ? session_deadline(c->session)
				      : UINT64_MAX);
}

enum news {
	QUIET, /* nothing to read, or the budget is used up */
	NEWS,  /* the session has read something: look at its events */
	OVER,  /* a remote server has said all that it will */
};

static void spend(size_t *budget, size_t n)
{
	if (*budget != TO_THE_END)
		*budget -= n < *budget ? n : *budget;
}

static enum news read_bytes(struct client *c, size_t *budget)
{
	char chunk[CHUNK_BYTES];
	ssize_t r;

	if (transport_in_fd(c->transport) < 0)
		return QUIET;
	r = transport_receive(c->transport, chunk, sizeof(chunk));
	if (r < 0 && errno == EAGAIN)
		return QUIET;
	if (r <= 0) {
		end_input(c);
		return NEWS;
	}
	c->bytes_in += (uint64_t)r;
	if (c->recorded)
		recording_feed(c->recorded, RECORDED_FROM,
			       (struct str){chunk, (size_t)r});
	session_feed(c->session, (struct str){chunk, (size_t)r}, now_of(c));
	/* a short read means that the pipe is empty; epoll tells of more */
	spend(budget, (size_t)r < sizeof(chunk) ? *budget : (size_t)r);
	return NEWS;
}

static void feed_line(struct client *c, struct str line)
{
	session_feed(c->session, line, now_of(c));
	session_feed(c->session, STR("\n"), now_of(c));
}

static int open_throttle(struct client *c, struct err *err)
{
	return c->throttle
		       ? 0
		       : throttle_open(c->o.throttle_key, c->o.rate,
				       c->o.max_concurrent, &c->throttle, err);
}

/* Hold the calls of all processes back as the server says. */
static void hold_back(struct client *c, const struct transport_refusal *r)
{
	struct clock *clock = c->ctx.loop->clock;

	if ((c->o.rate || c->o.max_concurrent) && r->has_time &&
	    open_throttle(c, ERR_IGNORED) == 0)
		throttle_hold(c->throttle, clock->wall_ns(clock), r->after_s);
}

static enum news read_message(struct client *c, size_t *budget)
{
	static const enum session_failure failures[] = {
		[TRANSPORT_BROKE] = SESSION_FAIL_TRANSPORT,
		[TRANSPORT_DENIED] = SESSION_FAIL_AUTH,
		[TRANSPORT_LEASH] = SESSION_FAIL_LEASH,
		[TRANSPORT_TOO_LONG] = SESSION_FAIL_LIMIT,
		[TRANSPORT_DIFFERS] = SESSION_FAIL_REPLAY,
	};
	struct transport_item item;

	transport_next(c->transport, &item);
	switch (item.type) {
	case TRANSPORT_NONE:
		return QUIET;
	case TRANSPORT_MESSAGE:
		c->bytes_in += item.message.n;
		if (c->recorded)
			recording_note(c->recorded, RECORDED_FROM,
				       item.message);
		if (is_remote(c))
			session_message(c->session, item.message, now_of(c));
		else
			feed_line(c, item.message);
		spend(budget, item.message.n);
		break;
	case TRANSPORT_LOST:
		if (c->recorded)
			recording_note_lost(c->recorded, &item);
		c->refusal = item.refusal;
		c->is_unsent = !item.is_unknown && !item.refusal.status;
		hold_back(c, &item.refusal);
		session_lost(c->session, item.id, failures[item.loss],
			     &item.err, now_of(c));
		break;
	case TRANSPORT_HELD:
	case TRANSPORT_RESUMED:
		session_hold(c->session, item.type == TRANSPORT_HELD,
			     now_of(c));
		break;
	case TRANSPORT_PUT_OFF:
		hold_back(c, &item.refusal);
		break;
	case TRANSPORT_OVER:
		note_end(c);
		if (item.exit.is_known && !is_remote(c))
			child_end_as(&c->child, &item.exit);
		return OVER;
	}
	return NEWS;
}

/* ---- sentences about a failure ---- */

/*
 * Append "the server exited with status 3 before the answer to tools/call":
 * how a process ended that was to answer.
 *
 * method   of the request; NULL where none was made
 * is_sent  the request was, so its outcome is unknown
 */
static void say_end(const struct client *c, const char *method, bool is_sent,
		    struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	bool was_ready = client_server(c)->revision != NULL;

	buf_addf(out, "the server %s%s",
		 c->child.phase != CHILD_ENDED ? "ended its output"
		 : c->child.is_told_to
			 ? "ended its output, and was ended,"
			 : facts_say_end(&c->child.verdict, &arena),
		 c->is_cut ? " in the middle of a message," : "");
	if (was_ready && !method)
		buf_adds(out, " while it was needed");
	else
		buf_addf(out, " before the answer to %s",
			 was_ready ? method : "initialize");
	if (is_sent)
		buf_adds(out, OUTCOME_IS_UNKNOWN);
	if (client_prints_result(c))
		buf_adds(out, "; " MCP_IS_PRINTED);
	else if (client_stats(c)->skipped_lines)
		buf_adds(out,
			 "; its stdout held lines that are not MCP messages");
}

/* Append the first line on stdout that is no message (RW-1). */
static void add_noise(const struct client *c, struct buf *out)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	client_say_noise(c, &line);
	if (line.n)
		buf_addf(out,
			 "its stdout held a line that is not an MCP message: "
			 "%s",
			 buf_cstr(&line));
}

/* Fill the details: the first line on stdout that is no message, and the last
   lines of stderr. */
static void note_details(struct client *c)
{
	struct str last = str_trim(child_stderr(&c->child));
	struct buf *out = &c->details;
	size_t at;

	buf_clear(out);
	add_noise(c, out);
	/* from the beginning of a line where there is one */
	if (last.n > DETAIL_BYTES) {
		last = (struct str){last.p + last.n - DETAIL_BYTES,
				    DETAIL_BYTES};
		at = str_find(last, '\n');
		if (at < last.n)
			last = str_skip(last, at + 1);
	}
	if (!last.n)
		return;
	buf_addf(out, "%sits stderr ends with: ", out->n ? "; " : "");
	log_visible(out, last, true);
}

/* ---- calls ---- */

static void release_call(struct call *call)
{
	free(call->tool);
	free(call->origin);
	buf_release(&call->params);
}

static bool is_throttled(const struct client *c, const struct client_call *o)
{
	return o->tool && (c->o.rate || c->o.max_concurrent);
}

/* Give the turn of a call back; those that wait look for it. */
static void give_turn(struct client *c, struct call *call)
{
	if (!call->has_turn)
		return;
	call->has_turn = false;
	throttle_give(c->throttle, call->slot);
	if (c->turn.fire && c->is_open)
		loop_timer_set(c->ctx.loop, &c->turn, now_of(c));
}

static bool is_audited(const struct client *c, const struct client_call *o)
{
	return o->tool && c->o.audit && strcmp(c->o.audit, "off") != 0;
}

static int begin_audit(struct client *c, struct call *call, struct err *err)
{
	return audited_begin(&c->audit, &call->o, c->o.audited_as, c->ctx.scrub,
			     strcmp(c->o.audit, "full") == 0,
			     c->ctx.loop->clock, &call->audited, err);
}

/* Write both lines of a call that waited for its turn, and was not made. */
static void note_unmade(struct client *c, struct call *call)
{
	struct err err = ERR_INIT;

	if (call->asked_ns && !call->has_turn && !call->audited &&
	    is_audited(c, &call->o) && begin_audit(c, call, &err) < 0)
		log_error("%s", err.msg);
}

/* e  the last event of the call */
static void remove_call(struct client *c, struct call *call,
			const struct client_event *e)
{
	size_t i = (size_t)(call - c->call);

	note_unmade(c, call);
	audited_end(c->audit, call->audited, e, c->ctx.loop->clock);
	give_turn(c, call);
	release_call(call);
	memmove(call, call + 1, (--c->n_calls - i) * sizeof(*call));
}

static void tell_call(const struct call *call, struct client_event *e)
{
	e->ticket = call->ticket;
	if (call->o.on_event)
		call->o.on_event(call->o.arg, e);
}

static void end_call(struct client *c, struct call *call,
		     struct client_event *e)
{
	const struct call gone = *call;

	remove_call(c, call, e);
	tell_call(&gone, e);
}

static void fail_call(struct client *c, struct call *call,
		      enum step_reason reason, const char *sentence)
{
	struct client_event e = {
		.type = CLIENT_FAILED,
		.reason = reason,
		.sentence = sentence,
		.is_unsent = !call->session_ticket,
		.details = buf_cstr(&c->details),
	};

	if (reason == REASON_TRANSPORT) {
		e.is_unsent |= c->is_unsent;
		e.refusal = c->refusal;
	}
	end_call(c, call, &e);
}

/* End all calls; one that was sent may have been carried out.
   sentence  "": one is made for each */
static void fail_calls(struct client *c, enum step_reason reason,
		       const char *sentence)
{
	while (c->n_calls) {
		AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);
		struct call *call = c->call;
		bool is_sent = call->session_ticket != 0;

		if (is_sent && reason == REASON_CANCELLED)
			session_cancel(c->session, call->session_ticket,
				       "the caller no longer waits");
		if (*sentence)
			buf_addf(&own, "%s%s", sentence,
				 is_sent && reason != REASON_CANCELLED
					 ? OUTCOME_IS_UNKNOWN
					 : "");
		else
			say_end(c, call->o.method, is_sent, &own);
		fail_call(c, call, reason, buf_cstr(&own));
	}
}

/* Time of a call that is left when it has waited; 0: it is over. */
static uint64_t time_left(const struct client *c, const struct call *call,
			  uint64_t all_ms)
{
	uint64_t waited_ms =
		call->asked_ns ? (now_of(c) - call->asked_ns) / NS_PER_MS : 0;

	return waited_ms < all_ms ? all_ms - waited_ms : 0;
}

/* The time of a call for its answer; UINT64_MAX: any. */
static uint64_t time_of(const struct client *c, const struct call *call)
{
	uint64_t ms = call->o.timeout_ms ? call->o.timeout_ms
					 : c->o.session.request_timeout_ms;

	return ms ? ms : UINT64_MAX;
}

/* Send a call of a client of the newer era, with what it gave beside. */
static int hand_on(struct client *c, const struct client_call *o,
		   uint64_t *ret_ticket, struct err *err)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&params);

	if (o->tool) {
		jw_kv_cstr(&w, "name", o->tool);
		jw_kv_raw(&w, "arguments", o->params.n ? o->params : STR("{}"));
	} else {
		jw_members(&w, o->params, NULL);
	}
	jw_members(&w, o->beside, NULL);
	jw_end(&w);
	return session_request(c->session, o->method, buf_str(&params), true,
			       now_of(c), ret_ticket, err);
}

static int send_call(struct client *c, struct call *call, struct err *err)
{
	const struct client_call *o = &call->o;
	struct session *s = c->session;
	uint64_t now = now_of(c), ticket;
	int r;

	if (is_audited(c, o) && begin_audit(c, call, err) < 0)
		return -1;
	if (o->beside.n && is_modern(c))
		r = hand_on(c, o, &ticket, err);
	else if (o->tool)
		r = session_call_tool(s, o->tool, o->params, o->as_task, now,
				      &ticket, err);
	else if (strcmp(o->method, "subscriptions/listen") == 0)
		r = session_listen(s, o->params, now, &ticket, err);
	else
		r = session_request(s, o->method, o->params, false, now,
				    &ticket, err);
	if (r < 0)
		return -1;
	call->session_ticket = ticket;
	if (call->asked_ns)
		session_set_times(s, ticket,
				  time_left(c, call, time_of(c, call)),
				  o->total_ms);
	else if (o->timeout_ms || o->total_ms)
		session_set_times(s, ticket, o->timeout_ms, o->total_ms);
	return 0;
}

/* Append the bound by which calls wait, with its value, and how long still. */
static void say_bound(const struct client *c, struct buf *out)
{
	const enum throttle_bound bound = throttle_bound(c->throttle);
	const uint64_t now = now_of(c);

	if (bound == THROTTLE_AT_ONCE)
		buf_addf(out,
			 "`max_concurrent` of the server: %llu calls are "
			 "under way",
			 (unsigned long long)c->o.max_concurrent);
	else if (bound == THROTTLE_HOLD)
		buf_adds(out, "Retry-After of the server");
	else
		buf_addf(out, "`rate` of the server, %s", c->o.rate);
	if (bound != THROTTLE_AT_ONCE && c->turn_ns > now)
		buf_addf(
			out, "; the next one is in %llu s",
			(unsigned long long)((c->turn_ns - now + NS_PER_S - 1) /
					     NS_PER_S));
}

static int no_turn(const struct client *c, struct err *err)
{
	AUTO(buf_release) struct buf bound = BUF_INIT(BUF_UNBOUNDED);

	say_bound(c, &bound);
	return err_set(err, ERR_DEADLINE,
		       "the call was not made: within its time there was no "
		       "turn for it by %s",
		       buf_cstr(&bound));
}

/*
 * Take the turn of a call.
 *
 * returns  1: it has one, or needs none; 0: it waits, and the timer is set; -1:
 *	    there is none to be had
 */
static int take_turn(struct client *c, struct call *call, struct err *err)
{
	struct clock *clock = c->ctx.loop->clock;
	uint64_t wait_ns, left_ms;

	if (!is_throttled(c, &call->o) || call->has_turn)
		return 1;
	left_ms = time_left(c, call, time_of(c, call));
	if (!left_ms && c->throttle)
		return no_turn(c, err);
	if (open_throttle(c, err) < 0 ||
	    throttle_take(c->throttle, clock->wall_ns(clock), &call->slot,
			  &wait_ns, err) < 0) {
		err->kind = ERR_PROTECTION;
		return err_wrap(err, "the call was not made");
	}
	call->has_turn = !wait_ns;
	c->turn_ns = now_of(c) + wait_ns;
	if (left_ms < wait_ns / NS_PER_MS)
		wait_ns = left_ms * NS_PER_MS;
	if (wait_ns)
		loop_timer_set(c->ctx.loop, &c->turn, now_of(c) + wait_ns);
	return !wait_ns;
}

/* Send calls that were made before the session was ready, and those whose turn
   it is, in their order. */
static void send_waiting(struct client *c)
{
	struct err err = ERR_INIT;
	bool is_held = false;

	for (size_t i = 0; i < c->n_calls; i++) {
		struct call *call = &c->call[i];
		int turn;

		if (call->session_ticket)
			continue;
		if (is_throttled(c, &call->o) && !call->asked_ns)
			call->asked_ns = now_of(c);
		if (is_held && call->asked_ns)
			continue;
		turn = take_turn(c, call, &err);
		is_held |= turn == 0;
		if (turn == 0)
			continue;
		if (turn > 0 && send_call(c, call, &err) == 0)
			buf_release(&call->params);
		else
			fail_call(c, &c->call[i--],
				  err.kind == ERR_PROTECTION ? REASON_PROTECTION
				  : err.kind == ERR_DEADLINE
					  ? REASON_DEADLINE_CALL
					  : REASON_INTERNAL,
				  err.msg);
	}
}

/* Keep a call that is sent later; its params are judged as the session will. */
static int keep_call(struct call *call, struct err *err)
{
	struct client_call *o = &call->o;
	const char *what = o->tool ? "arguments" : o->method;
	struct str v;

	if (o->params.n > LIMIT_ARGUMENTS_BYTES)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes, at most %d",
			       what, o->params.n, LIMIT_ARGUMENTS_BYTES);
	if (o->params.n && scan_document(o->params, NULL, &v, err) < 0)
		return err_wrap(err, "%s", what);
	if (o->params.n && scan_type(v) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "%s: not a JSON object", what);
	if (o->tool)
		o->tool = call->tool = mem_strdup(o->tool);
	if (o->origin)
		o->origin = call->origin = mem_strdup(o->origin);
	buf_add_str(&call->params, o->params);
	buf_add_str(&call->params, o->beside);
	if (o->params.n)
		o->params = str_first(buf_str(&call->params), o->params.n);
	if (o->beside.n)
		o->beside = str_skip(buf_str(&call->params), o->params.n);
	return 0;
}

/* A server that was ready, and left before anything was asked (RW-32). */
static int refuse_call(const struct client *c, const char *method,
		       struct err *err)
{
	AUTO(buf_release) struct buf how = BUF_INIT(BUF_UNBOUNDED);

	if (c->sentence.n)
		buf_adds(&how, buf_cstr(&c->sentence));
	else if (c->session)
		say_end(c, NULL, false, &how);
	else
		buf_adds(&how, SESSION_IS_OVER);
	return err_set(err, ERR_PEER, "%s was not sent: %s", method,
		       buf_cstr(&how));
}

static int add_call(struct client *c, const struct client_call *call,
		    uint64_t *ret_ticket, struct err *err)
{
	struct call made = {
		.ticket = c->last_ticket + 1,
		.o = *call,
		.params = BUF_INIT(BUF_UNBOUNDED),
	};

	if (call->tool)
		made.o.method = "tools/call";
	if (!call->params.n)
		made.o.params.p = NULL;
	if (!c->is_open)
		return refuse_call(c, made.o.method, err);
	if (!client_is_ready(c) || is_throttled(c, &made.o)) {
		if (keep_call(&made, err) < 0)
			return -1;
		if (client_is_ready(c))
			loop_timer_set(c->ctx.loop, &c->turn, now_of(c));
	} else if (send_call(c, &made, err) < 0) {
		audited_end(c->audit, made.audited, NULL, c->ctx.loop->clock);
		return err->kind == ERR_PEER
			       ? refuse_call(c, made.o.method, err)
			       : -1;
	}
	c->last_ticket++;
	c->call = mem_grow(c->call, c->n_calls + 1, &c->cap_calls,
			   sizeof(*c->call));
	c->call[c->n_calls++] = made;
	if (ret_ticket)
		*ret_ticket = made.ticket;
	return 0;
}

bool client_say_turn(const struct client *c, uint64_t ticket, struct buf *out)
{
	for (size_t i = 0; c->throttle && i < c->n_calls; i++)
		if (c->call[i].ticket == ticket && c->call[i].asked_ns &&
		    !c->call[i].session_ticket) {
			say_bound(c, out);
			return true;
		}
	return false;
}

void client_cancel(struct client *c, uint64_t ticket, enum step_reason why,
		   const char *reason)
{
	const struct client_event end = {.type = CLIENT_FAILED, .reason = why};

	for (size_t i = 0; i < c->n_calls; i++) {
		struct call *call = &c->call[i];

		if (call->ticket != ticket)
			continue;
		if (call->session_ticket)
			session_cancel(c->session, call->session_ticket,
				       reason);
		remove_call(c, call, &end);
		break;
	}
	update(c);
}

/* ---- lists: how long one is good ---- */

static const char *const notices[LISTING_KINDS] = {
	[LISTING_TOOLS] = "notifications/tools/list_changed",
	[LISTING_RESOURCES] = "notifications/resources/list_changed",
	[LISTING_TEMPLATES] = "notifications/resources/list_changed",
	[LISTING_PROMPTS] = "notifications/prompts/list_changed",
};

static void drop_list(struct list *l)
{
	cache_stale(&l->of->cache, notices[l->held.kind], STR(""));
	l->is_stale = true;
}

/* A notice of the server says that something has changed. uri  or "" */
static void note_change(struct client *c, const char *notice, struct str uri)
{
	cache_stale(&c->cache, notice, uri);
	for (int i = 0; c->list && i < LISTING_KINDS; i++)
		if (strcmp(notices[i], notice) == 0)
			drop_list(&c->list[i]);
}

bool client_list_is_stale(const struct client *c, enum listing_kind kind)
{
	const struct list *l = c->list ? &c->list[kind] : NULL;

	return !l || l->is_stale || (l->until_ns && now_of(c) >= l->until_ns);
}

/* Without a subscription the server tells of no change; `ttlMs` still counts.
 */
static void on_listen(void *arg, const struct client_event *e)
{
	struct client *c = arg;

	if (e->type != CLIENT_RESULT && e->type != CLIENT_ERROR &&
	    e->type != CLIENT_FAILED)
		return;
	c->listen = 0;
	c->is_listen_vain = e->type == CLIENT_ERROR;
	/* changes in between were not told (SUB-6) */
	for (size_t i = 0;
	     e->type != CLIENT_ERROR && c->is_open && i < LISTING_KINDS; i++)
		drop_list(&c->list[i]);
}

static void watch_lists(struct client *c)
{
	static const struct {
		const char *offered, *filter;
	} lists[] = {
		{"tools.listChanged", "toolsListChanged"},
		{"prompts.listChanged", "promptsListChanged"},
		{"resources.listChanged", "resourcesListChanged"},
	};
	AUTO(buf_release) struct buf filter = BUF_INIT(BUF_UNBOUNDED);
	struct client_call call = {
		.method = "subscriptions/listen",
		.is_background = true,
		.on_event = on_listen,
		.arg = c,
	};
	struct err err = ERR_INIT;
	struct jw w;

	if (!c->o.watches_lists || c->listen || c->is_listen_vain ||
	    c->n_listens == LISTENS_MAX || !is_modern(c) ||
	    !session_offers(c->session, "tools.listChanged"))
		return;
	w = jw_begin(&filter);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (session_offers(c->session, lists[i].offered))
			jw_kv_bool(&w, lists[i].filter, true);
	jw_end(&w);
	call.params = buf_str(&filter);
	c->n_listens++;
	if (add_call(c, &call, &c->listen, &err) < 0)
		log_debug("%s: %s", c->o.name, err.msg);
}

/* ---- lists: callers that wait ---- */

static void remove_waiter(struct list *l, size_t i)
{
	memmove(l->wait + i, l->wait + i + 1,
		(--l->n_wait - i) * sizeof(*l->wait));
}

/* Tell all waiters; one that asks again waits for the next list. */
static void tell_waiters(struct list *l, const struct client_listed *listed)
{
	uint64_t last = l->of->last_list_ticket;

	while (l->n_wait && l->wait[0].ticket <= last) {
		const struct list_wait w = l->wait[0];

		remove_waiter(l, 0);
		w.done(w.arg, listed);
	}
}

static void tell_list(struct list *l, bool is_known)
{
	const struct client_listed listed = {
		.type = CLIENT_RESULT,
		.list = &l->held,
		.is_known = is_known,
	};

	tell_waiters(l, &listed);
}

/* ---- lists: pages ---- */

static void ask_page(struct list *l);

/* No list comes: fall back on the one before, where the session goes on. */
static void give_up(struct list *l, const struct client_event *e)
{
	const struct client_listed none = {.type = e->type, .event = e};

	l->is_asking = false;
	listing_release(&l->making);
	if (!l->is_held || !l->of->is_open || e->reason == REASON_CANCELLED) {
		tell_waiters(l, &none);
		return;
	}
	l->is_stale = true; /* so that the next user asks again (CH-7) */
	log_warning("%s: %s could not be asked for again; the list from before "
		    "is used",
		    l->of->o.name, listing_method(l->held.kind));
	tell_list(l, true);
}

static void give_up_for(struct list *l, enum step_reason reason,
			const char *sentence)
{
	const struct client_event e = {
		.type = CLIENT_FAILED,
		.reason = reason,
		.sentence = sentence,
		.details = "",
	};

	give_up(l, &e);
}

/* until_ns  0: the server did not say how long the page is good */
static void add_page(struct list *l, struct str result, uint64_t until_ns)
{
	struct err err = ERR_INIT;
	int got;

	if (until_ns && (!l->making_until_ns || until_ns < l->making_until_ns))
		l->making_until_ns = until_ns;
	/* arguments go into header fields there (XH-2) */
	l->making.checks_headers = is_remote(l->of) && is_modern(l->of);
	got = listing_add(&l->making, result, &err);
	if (got == LISTING_MORE)
		ask_page(l);
	else if (got != LISTING_DONE)
		give_up_for(l,
			    err.kind == ERR_LIMIT ? REASON_OUTPUT_LIMIT
						  : REASON_BAD_MESSAGE,
			    err.msg);
	if (got != LISTING_DONE)
		return;
	l->is_asking = false;
	listing_release(&l->held);
	l->held = l->making;
	listing_init(&l->making, l->held.kind);
	l->is_held = true;
	l->until_ns = l->making_until_ns;
	if (l->held.kind == LISTING_TOOLS)
		watch_lists(l->of);
	tell_list(l, l->has_known);
}

static void on_page(void *arg, const struct client_event *e)
{
	struct list *l = arg;
	struct client *c = l->of;
	const char *method = listing_method(l->making.kind);
	struct str params = listing_params(&l->making);
	uint64_t until = 0;

	if (e->type == CLIENT_RESULT) {
		/* a result that took another round, and its repetition, is not
		   kept (CH-8) */
		if (is_modern(c) && client_stats(c)->rounds == l->rounds &&
		    cache_put(&c->cache, method, params, e->of->result,
			      now_of(c)))
			until = cache_until(&c->cache, method, params);
		add_page(l, e->of->result, until);
	} else if (e->type == CLIENT_ERROR &&
		   e->of->code == RPC_INVALID_PARAMS &&
		   listing_restart(&l->making)) {
		/* the server no longer knows its own cursor (PAG-8) */
		drop_list(l);
		l->making_until_ns = 0;
		ask_page(l);
	} else if (e->type == CLIENT_ERROR || e->type == CLIENT_FAILED) {
		give_up(l, e);
	}
}

static void ask_page(struct list *l)
{
	struct client *c = l->of;
	const struct client_call call = {
		.method = listing_method(l->making.kind),
		.params = listing_params(&l->making),
		.on_event = on_page,
		.arg = l,
	};
	struct err err = ERR_INIT;
	struct str known;

	l->call = 0;
	if (cache_find(&c->cache, call.method, call.params, now_of(c),
		       &known)) {
		l->has_known = true;
		add_page(l, known,
			 cache_until(&c->cache, call.method, call.params));
	} else if (add_call(c, &call, &l->call, &err) < 0) {
		give_up_for(l, REASON_TRANSPORT, err.msg);
	}
}

/* ---- the end ---- */

static void tell(struct client *c, const struct client_event *e)
{
	if (c->o.on_event)
		c->o.on_event(c->o.arg, e);
}

static void tell_failure(struct client *c)
{
	struct client_event e = {.type = CLIENT_FAILED, .reason = c->reason};

	if (c->is_failure_told)
		return;
	c->is_failure_told = c->is_telling_failure = true;
	note_details(c);
	fail_calls(c, c->reason, buf_cstr(&c->sentence));
	if (!c->sentence.n)
		say_end(c, NULL, false, &c->sentence);
	e.sentence = buf_cstr(&c->sentence);
	e.details = buf_cstr(&c->details);
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
	c->is_open = false;
	if (c->reason)
		tell_failure(c);
	drop_transport(c);
	loop_timer_clear(c->ctx.loop, &c->own);
	loop_timer_clear(c->ctx.loop, &c->last);
	loop_timer_clear(c->ctx.loop, &c->turn);
	c->is_over = true;
	tell(c, &e);
}

/* Wait for the end of whatever runs; of a remote server, its grace. */
static void await_end(struct client *c)
{
	uint64_t wait_ms = c->is_restart_due || c->child.phase == CHILD_ENDED
				   ? 0
				   : c->child.o.grace_ms;

	child_end(&c->child, CHILD_CLOSING);
	update(c);
	if (has_messages(c) && !c->is_ending)
		loop_timer_set(c->ctx.loop, &c->last,
			       now_of(c) + wait_ms * NS_PER_MS);
}

static bool is_anything_left(const struct client *c)
{
	return child_is_live(&c->child) || has_messages(c);
}

/* No more calls; the server should end by itself. */
static void begin_end(struct client *c)
{
	c->is_open = false;
	c->is_restart_due = false;
	session_close(c->session);
	await_end(c);
	if (!is_anything_left(c) && !c->is_telling_failure)
		end_all(c);
}

/* The process has ended, or a remote server has had its time. */
static void on_gone(void *arg)
{
	struct client *c = arg;

	if (c->is_restart_due && c->is_open)
		restart(c);
	else
		end_all(c);
}

/* ---- another beginning ---- */

/*
 * The session failed within its beginning: is another beginning right? What
 * the server said decides, and each other beginning is tried once (PRB-6,
 * RW-22).
 */
static bool choose_other(struct client *c, const struct session_event *e)
{
	/* over HTTP an initialize may be refused without a word of JSON-RPC */
	bool is_refusal = e->failure == SESSION_FAIL_HANDSHAKE ||
			  (e->failure == SESSION_FAIL_TRANSPORT &&
			   is_remote(c) && c->era == SESSION_ERA_INITIALIZE);

	if (e->retry_protocol && !c->tried_protocol) {
		c->tried_protocol = true;
		c->protocol = e->retry_protocol;
		return true;
	}
	/* a server that began so before and now refuses: probe it (PRB-10) */
	if (c->tried_era ||
	    (!e->retry_era && !(c->is_remembered && is_refusal)))
		return false;
	c->tried_era = true;
	c->era = e->retry_era ? e->era : SESSION_ERA_PROBE;
	return true;
}

/* Look up how the server began before, where no revision is pinned. */
static void recall_era(struct client *c)
{
	const struct gate_request *r = c->o.request;

	if (c->protocol || c->has_key || (!r && !c->o.url))
		return;
	if (r)
		eras_key(&c->key, c->child.program, r->argv, r->cwd);
	else
		eras_key_url(&c->key, c->o.url);
	c->has_key = true;
	c->era = eras_find(c->ctx.eras, &c->key);
	c->is_remembered = c->era != SESSION_ERA_PROBE;
}

/* ---- events of the session ---- */

/* The older era asks for messages once, by a request; whether it works shows by
   itself. */
static void ask_for_log(struct client *c)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct client_call call = {
		.method = "logging/setLevel",
		.is_background = true,
	};
	struct err err = ERR_INIT;
	struct jw w;

	if (!c->o.session.log_level || !c->is_open || is_modern(c) ||
	    !session_offers(c->session, "logging"))
		return;
	w = jw_begin(&params);
	jw_kv_cstr(&w, "level", c->o.session.log_level);
	jw_end(&w);
	call.params = buf_str(&params);
	if (client_call(c, &call, NULL, &err) < 0)
		log_debug("%s: %s", c->o.name, err.msg);
}

void client_set_log_level(struct client *c, const char *level)
{
	c->o.session.log_level = level;
	if (c->session)
		session_set_log_level(c->session, level);
	if (client_is_ready(c))
		ask_for_log(c);
}

static void on_ready(struct client *c)
{
	const struct client_event e = {.type = CLIENT_READY};

	/* a pinned revision tells nothing about others; without a handshake
	   both ways are tried each time */
	if (c->has_key && !c->o.session.protocol &&
	    !client_server(c)->is_assumed)
		eras_learn(c->ctx.eras, &c->key,
			   is_modern(c) ? SESSION_ERA_PER_REQUEST
					: SESSION_ERA_INITIALIZE);
	ask_for_log(c);
	if (c->is_open)
		send_waiting(c);
	tell(c, &e);
}

/* The end of a process is known only when it has ended. */
static void note_failure(struct client *c, const struct session_event *e)
{
	bool is_end = e->failure == SESSION_FAIL_EOF;

	c->reason = failure_of_event(e, NULL);
	c->is_cut = e->is_cut;
	if (is_end && is_remote(c)) {
		c->reason = REASON_TRANSPORT;
		buf_adds(&c->sentence, "the server closed the connection");
	} else if (!is_end || (!child_is_live(&c->child) && !has_messages(c))) {
		buf_adds(&c->sentence, e->err.msg);
	}
	if (!c->sentence.n)
		return;
	if (client_prints_result(c))
		buf_adds(&c->sentence, "; " MCP_IS_PRINTED);
	tell_failure(c);
}

/* After its beginning a failure ends the calls: their outcome is unknown. */
static void on_failed(struct client *c, const struct session_event *e)
{
	bool is_beginning = e->phase == SESSION_PHASE_INITIALIZE;
	bool is_other = is_beginning && choose_other(c, e);

	/* forget a memory that proved wrong; a connection that fails says
	   nothing of an era (HE-5) */
	if (is_beginning && c->is_remembered &&
	    (!is_remote(c) || e->failure == SESSION_FAIL_HANDSHAKE)) {
		eras_learn(c->ctx.eras, &c->key, SESSION_ERA_PROBE);
		c->is_remembered = false;
	}
	c->is_restart_due =
		is_other && c->is_open && (c->o.request || c->o.open);
	if (!c->is_restart_due)
		note_failure(c, e);
	if (!is_anything_left(c)) {
		end_all(c);
		return;
	}
	c->is_open = c->is_restart_due; /* calls wait for the restart */
	await_end(c);
}

/* Events of the session as a client tells them. */
static const enum client_event_type told_as[] = {
	[SESSION_EVENT_RESULT] = CLIENT_RESULT,
	[SESSION_EVENT_ERROR] = CLIENT_ERROR,
	[SESSION_EVENT_PROGRESS] = CLIENT_PROGRESS,
	[SESSION_EVENT_TASK] = CLIENT_TASK,
	[SESSION_EVENT_LOG] = CLIENT_LOG,
	[SESSION_EVENT_ASKED] = CLIENT_ASKED,
	[SESSION_EVENT_ASK_GONE] = CLIENT_ASK_GONE,
	[SESSION_EVENT_CHANGED] = CLIENT_CHANGED,
	[SESSION_EVENT_CLOSED] = CLIENT_ENDED, /* not told */
};

static void on_event(struct client *c, const struct session_event *e)
{
	struct client_event told = {.type = told_as[e->type], .of = e};
	struct call *call = NULL;

	for (size_t i = 0; e->ticket && !call && i < c->n_calls; i++)
		if (c->call[i].session_ticket == e->ticket)
			call = &c->call[i];
	told.ticket = call ? call->ticket : 0;
	switch (e->type) {
	case SESSION_EVENT_READY:
		on_ready(c);
		break;
	case SESSION_EVENT_RESULT:
	case SESSION_EVENT_ERROR:
		/* an unknown tool, or arguments of an earlier list (CH-7) */
		if (call && told.type == CLIENT_ERROR &&
		    e->code == RPC_INVALID_PARAMS &&
		    strcmp(call->o.method, "tools/call") == 0)
			note_change(c, notices[LISTING_TOOLS], STR(""));
		c->has_answered |=
			call && strcmp(call->o.method, "tools/call") == 0;
		if (call)
			end_call(c, call, &told);
		break;
	case SESSION_EVENT_PROGRESS:
	case SESSION_EVENT_TASK:
		if (call)
			tell_call(call, &told);
		break;
	case SESSION_EVENT_FAILED:
		if (!e->ticket) {
			on_failed(c, e);
		} else if (call) {
			note_details(c);
			fail_call(c, call, failure_of_event(e, call->o.method),
				  e->err.msg);
		}
		break;
	case SESSION_EVENT_ASKED:
		if (!c->o.on_event)
			client_answer_error(c, e->ask, RPC_INTERNAL_ERROR,
					    "no person is here to ask");
		tell(c, &told);
		break;
	case SESSION_EVENT_CHANGED:
	case SESSION_EVENT_LOG:
	case SESSION_EVENT_ASK_GONE:
		if (told.type == CLIENT_CHANGED)
			note_change(c, e->method, e->message);
		tell(c, &told);
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
	while (session_next(c->session, &e))
		on_event(c, &e);
	c->is_pumping = false;
	update(c);
}

/* budget  bytes that may be read, or TO_THE_END */
static void receive(struct client *c, size_t budget)
{
	enum news news = QUIET;

	while (c->transport && budget) {
		news = (has_messages(c) ? read_message : read_bytes)(c,
								     &budget);
		if (news != NEWS)
			break;
		pump(c);
		/* said of this loss, and of no later one */
		c->refusal = (struct transport_refusal){0};
		c->is_unsent = false;
	}
	if (news != OVER)
		return;
	if (!c->is_open && !c->is_telling_failure) {
		end_all(c);
		return;
	}
	loop_unwatch(c->ctx.loop, &c->in);
	session_eof(c->session, now_of(c));
	pump(c);
}

void client_look(struct client *c)
{
	if (c->is_open && !c->is_pumping)
		receive(c, TURN_BYTES);
}

bool client_look_ahead(struct client *c)
{
	uint64_t before = c->bytes_in;

	if (c->waits) {
		c->waits--;
		return false;
	}
	if (!c->looks) {
		c->looks = LOOKS;
		return false;
	}
	c->looks--;
	client_look(c);
	if (c->bytes_in == before)
		c->waits = WAITS;
	return c->bytes_in != before;
}

static void on_readable(void *arg, UNUSED uint32_t events)
{
	receive(arg, TURN_BYTES);
}

static void on_writable(void *arg, uint32_t events)
{
	if (events & EPOLLERR)
		output_broke(arg);
	update(arg);
}

static void on_deadline(void *arg)
{
	struct client *c = arg;

	session_tick(c->session, now_of(c));
	pump(c);
}

static void on_turn(void *arg)
{
	struct client *c = arg;

	if (client_is_ready(c))
		send_waiting(c);
	update(c);
}

static void on_child_started(void *arg, const struct err *why_not)
{
	const struct client_event e = {.type = CLIENT_STARTED};
	struct client *c = arg;

	if (!why_not) {
		tell(c, &e);
		return;
	}
	if (c->recorded)
		recording_fail(c->recorded, why_not);
	c->start_error = mem_alloc(sizeof(*c->start_error));
	*c->start_error = *why_not;
	c->reason = failure_of_spawn(why_not);
	buf_adds(&c->sentence, why_not->msg);
	end_all(c);
}

static void on_last_words(void *arg)
{
	update(arg);
	end_output(arg);
}

static void on_drain(void *arg)
{
	receive(arg, TO_THE_END);
}

static void on_child_ended(void *arg)
{
	struct client *c = arg;

	/* a grandchild may hold the pipe: nothing more can come (STD-42) */
	if (c->transport && transport_in_fd(c->transport) >= 0) {
		end_input(c);
		pump(c);
	}
	on_gone(c);
}

/* ---- the begin ---- */

static void init_child(struct client *c)
{
	static const struct child_handler handler = {
		.started = on_child_started,
		.last_words = on_last_words,
		.drain = on_drain,
		.ended = on_child_ended,
	};
	const struct child_options options = {
		.loop = c->ctx.loop,
		.scrub = c->ctx.scrub,
		.name = c->o.name,
		.grace_ms = CLIENT_GRACE_MS,
		.stderr_max = c->o.stderr_max,
		.show_stderr = c->o.show_stderr,
		.handler = &handler,
		.arg = c,
	};

	child_init(&c->child, &options);
}

static void close_pipe(void *arg, int which)
{
	child_close_fd(arg, which);
}

static int open_link(struct client *c, struct err *err)
{
	struct transport_stdio_options pipes = {
		.close = close_pipe,
		.arg = &c->child,
	};
	struct gate_child_fds fds;

	if (!c->o.request)
		return c->o.open ? c->o.open(c->o.open_arg, &c->transport, err)
				 : 0;
	if (!c->o.is_edited && depot_check(c->o.request, err) < 0)
		return -1;
	if (child_start(&c->child, c->ctx.gate, c->o.request, err) < 0)
		return -1;
	fds = child_fds(&c->child);
	pipes.in = fds.out;
	pipes.out = fds.in;
	c->transport = transport_stdio(&pipes);
	return 0;
}

static int open_transport(struct client *c, struct err *err)
{
	int r;

	if (c->o.tape)
		c->recorded = tape_begin(c->o.tape,
					 c->o.request ? RECORDING_LINES
						      : RECORDING_MESSAGES);
	r = open_link(c, err);
	if (r < 0 && c->recorded)
		recording_fail(c->recorded, err);
	return r;
}

static int open_server(struct client *c, struct err *err)
{
	struct session_options options = c->o.session;
	int in, out;

	if (open_transport(c, err) < 0)
		return -1;
	in = transport_in_fd(c->transport);
	out = transport_out_fd(c->transport);
	if ((in >= 0 && loop_watch(c->ctx.loop, &c->in, in, EPOLLIN,
				   on_readable, c, err) < 0) ||
	    (out >= 0 &&
	     loop_watch(c->ctx.loop, &c->out, out, 0, on_writable, c, err) < 0))
		return -1;
	recall_era(c);
	options.protocol = c->protocol;
	options.era = c->era;
	/* answers to questions of the process before must not match new ones */
	options.asks_from = (uint64_t)c->restarts << 32;
	/* a slow server is not sent a second beginning: over HTTP time is no
	   sign of an era (HE-5) */
	options.is_remote = is_remote(c);
	if (options.is_remote)
		options.probe_timeout_ms = UINT64_MAX;
	session_free(c->session);
	c->session = session_new(&options);
	session_start(c->session, now_of(c));
	/* the first events are told in the next turn */
	c->is_pump_due = true;
	update(c);
	return 0;
}

static void close_server(struct client *c)
{
	drop_transport(c);
	child_release(&c->child);
	init_child(c);
}

static void restart(struct client *c)
{
	struct err err = ERR_INIT;

	c->is_restart_due = false;
	c->restarts++;
	close_server(c);
	if (open_server(c, &err) == 0)
		return;
	c->reason = failure_of_spawn(&err);
	buf_adds(&c->sentence, err.msg);
	end_all(c);
}

int client_start(struct client *c, struct err *err)
{
	assert(!c->session);
	if (open_server(c, err) < 0) {
		close_server(c);
		return -1;
	}
	c->is_open = true;
	c->is_over = false;
	return 0;
}

struct client *client_new(const struct client_context *context,
			  const struct client_options *options)
{
	struct client *c = mem_zalloc(sizeof(*c));
	const struct buf empty = BUF_INIT(BUF_UNBOUNDED);

	*c = (struct client){
		.ctx = *context,
		.o = *options,
		.remote_facts = empty,
		.era = SESSION_ERA_PROBE,
		.protocol = options->session.protocol,
		.sentence = empty,
		.details = empty,
		.own = {.fire = on_deadline, .arg = c},
		.last = {.fire = on_gone, .arg = c},
		.turn = {.fire = on_turn, .arg = c},
		.is_over = true,
	};
	if (!c->o.session.client_name) {
		c->o.session.client_name = "matins";
		c->o.session.client_version = MATINS_VERSION;
	}
	if (!c->o.stderr_max)
		c->o.stderr_max = LIMIT_STDERR_BYTES;
	init_child(c);
	return c;
}

struct client *client_new_over(const struct client_context *context,
			       const struct client_options *options,
			       struct transport *transport)
{
	struct client *c = client_new(context, options);

	c->transport = transport;
	return c;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	loop_timer_clear(c->ctx.loop, &c->own);
	loop_timer_clear(c->ctx.loop, &c->last);
	loop_timer_clear(c->ctx.loop, &c->turn);
	drop_transport(c);
	child_release(&c->child);
	session_free(c->session);
	buf_release(&c->remote_facts);
	for (int i = 0; c->list && i < LISTING_KINDS; i++) {
		listing_release(&c->list[i].held);
		listing_release(&c->list[i].making);
		free(c->list[i].wait);
	}
	free(c->list);
	cache_release(&c->cache);
	for (size_t i = 0; i < c->n_calls; i++) {
		audited_end(c->audit, c->call[i].audited, NULL,
			    c->ctx.loop->clock);
		release_call(&c->call[i]);
	}
	audit_free(c->audit);
	throttle_free(c->throttle);
	free(c->call);
	free(c->start_error);
	buf_release(&c->sentence);
	buf_release(&c->details);
	free(c);
}

/* ---- requests ---- */

int client_call(struct client *c, const struct client_call *call,
		uint64_t *ret_ticket, struct err *err)
{
	if (add_call(c, call, ret_ticket, err) < 0)
		return -1;
	update(c);
	return 0;
}

void client_answer(struct client *c, uint64_t ask, struct str result)
{
	if (c->session)
		session_answer(c->session, ask, result, now_of(c));
	update(c);
}

void client_answer_error(struct client *c, uint64_t ask, int64_t code,
			 const char *message)
{
	if (c->session)
		session_answer_error(c->session, ask, code, message, now_of(c));
	update(c);
}

bool client_keep(struct client *c, const struct client_event *e,
		 struct arena *arena)
{
	char *memory = session_take(c->session, e->of->result);

	if (memory)
		arena_adopt(arena, memory);
	return memory != NULL;
}

static struct list *list_of(struct client *c, enum listing_kind kind)
{
	if (c->list)
		return &c->list[kind];
	c->list = mem_zalloc(LISTING_KINDS * sizeof(*c->list));
	for (int i = 0; i < LISTING_KINDS; i++) {
		c->list[i] = (struct list){.of = c, .is_stale = true};
		listing_init(&c->list[i].held, (enum listing_kind)i);
		listing_init(&c->list[i].making, (enum listing_kind)i);
	}
	return &c->list[kind];
}

int client_list(struct client *c, const struct client_list *list,
		uint64_t *ret_ticket, struct err *err)
{
	struct list *l = list_of(c, list->kind);

	if (!c->is_open)
		return err_set(err, ERR_PEER, "%s: " SESSION_IS_OVER,
			       listing_method(list->kind));
	*ret_ticket = ++c->last_list_ticket;
	l->wait = mem_grow(l->wait, l->n_wait + 1, &l->cap_wait,
			   sizeof(*l->wait));
	l->wait[l->n_wait++] =
		(struct list_wait){*ret_ticket, list->done, list->arg};
	/* one that is on its way is as new as one that would be asked for */
	if (!l->is_asking && list->anew)
		drop_list(l);
	if (!l->is_asking && l->is_held &&
	    !client_list_is_stale(c, list->kind)) {
		tell_list(l, true);
	} else if (!l->is_asking) {
		l->is_asking = true;
		l->is_stale = false;
		l->has_known = false;
		l->making_until_ns = 0;
		l->rounds = client_stats(c)->rounds;
		listing_release(&l->making);
		ask_page(l);
	}
	update(c);
	return 0;
}

void client_unlist(struct client *c, uint64_t ticket)
{
	for (int k = 0; c->list && k < LISTING_KINDS; k++) {
		struct list *l = &c->list[k];
		size_t i = 0;

		while (i < l->n_wait && l->wait[i].ticket != ticket)
			i++;
		if (i == l->n_wait)
			continue;
		remove_waiter(l, i);
		if (l->n_wait || !l->is_asking)
			continue;
		l->is_asking = false;
		client_cancel(c, l->call, REASON_CANCELLED,
			      "the caller no longer waits");
	}
	update(c);
}

void client_take_list(struct client *c, enum listing_kind kind,
		      struct listing *ret)
{
	struct list *l = list_of(c, kind);

	*ret = l->held;
	listing_init(&l->held, kind);
	l->is_held = false;
}

/* ---- asked to end ---- */

void client_stop(struct client *c, const char *why, uint64_t grace_ms)
{
	AUTO(buf_release) struct buf sentence = BUF_INIT(BUF_UNBOUNDED);

	if (c->is_over)
		return;
	if (grace_ms)
		c->child.o.grace_ms = grace_ms;
	buf_addf(&sentence, "cancelled: %s", why);
	fail_calls(c, REASON_CANCELLED, buf_cstr(&sentence));
	begin_end(c);
}

void client_close(struct client *c, uint64_t grace_ms)
{
	client_stop(c, "the session ends", grace_ms);
}

void client_terminate(struct client *c)
{
	client_close(c, 0);
	child_end(&c->child, CHILD_TERMINATING);
}

void client_kill(struct client *c)
{
	if (c->is_over)
		return;
	client_close(c, 0);
	child_end(&c->child, CHILD_KILLING);
	if (has_messages(c))
		end_all(c);
}

/* ---- in a loop of its own ---- */

int client_wait_ready(struct client *c, struct err *err)
{
	while (!client_is_ready(c)) {
		if (c->is_failure_told || c->is_over)
			break;
		if (loop_turn(c->ctx.loop, err) < 0)
			return -1;
	}
	if (client_is_ready(c))
		return 0;
	/* a server that was ready and ended within one turn: no failure, but
	   for a caller who waits */
	if (!c->sentence.n) {
		if (!c->reason)
			c->reason = REASON_SERVER_EXIT;
		note_details(c);
		say_end(c, NULL, false, &c->sentence);
	}
	return err_set(err, ERR_PEER, "%s", buf_cstr(&c->sentence));
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

void client_say_progress(const struct client *c, const struct client_event *e,
			 struct buf *out)
{
	const struct session_event *of = e->of;

	buf_add_str(out, of->progress);
	if (of->total.p)
		buf_addf(out, "/%.*s", STR_ARG(of->total));
	buf_adds(out, of->message.n ? "  " : "");
	scrub_apply(c->ctx.scrub, of->message, out);
}

bool client_is_ready(const struct client *c)
{
	return c->is_open && c->session &&
	       session_state(c->session) == SESSION_READY;
}

bool client_is_starting(const struct client *c)
{
	return child_is_starting(&c->child);
}

const struct err *client_start_error(const struct client *c)
{
	return c->start_error;
}

bool client_is_open(const struct client *c)
{
	return c->is_open;
}

bool client_is_over(const struct client *c)
{
	return c->is_over;
}

size_t client_open_calls(const struct client *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_calls; i++)
		n += !c->call[i].o.is_background;
	return n;
}

enum step_reason client_failure(const struct client *c)
{
	return c->reason;
}

const char *client_failure_sentence(const struct client *c)
{
	return buf_cstr(&c->sentence);
}

const char *client_failure_details(const struct client *c)
{
	return buf_cstr(&c->details);
}

bool client_offers(const struct client *c, const char *capability)
{
	return c->session && session_offers(c->session, capability);
}

const struct gate_verdict *client_verdict(const struct client *c)
{
	return c->child.phase == CHILD_ENDED ? &c->child.verdict : NULL;
}

struct str client_stderr(const struct client *c)
{
	return child_stderr(&c->child);
}

static void write_mcp(const struct client *c, struct cleaner *clean,
		      struct jw *w)
{
	const struct mcp_peer *server = client_server(c);
	const struct session_stats *stats = client_stats(c);
	struct str noise = c->session ? session_noise(c->session) : STR("");

	jw_kv_object(w, "mcp");
	if (server->revision) {
		jw_kv_cstr(w, "protocol", server->revision->date);
		if (server->is_assumed)
			jw_kv_bool(w, "handshake", false);
		facts_text(clean, w, "server", server->name);
		facts_text(clean, w, "version", server->version);
	}
#define SESSION_STAT(name) jw_kv_int(w, #name, (int64_t)stats->name);
	SESSION_STATS(SESSION_STAT)
#undef SESSION_STAT
	jw_kv_int(w, "restarts", c->restarts);
	if (noise.n)
		facts_cut_text(clean, w, "noise", noise);
	jw_end(w);
}

void client_facts(struct client *c, struct jw *w, size_t *ret_scrubbed)
{
	struct cleaner clean = {c->ctx.scrub, 0};
	struct scan_iter it;

	note_remote(c);
	if (c->remote_facts.n)
		for (scan_iter_init(&it, buf_str(&c->remote_facts));
		     scan_next(&it);) {
			AUTO(buf_release)
			struct buf key = BUF_INIT(BUF_UNBOUNDED);

			scan_string(it.key, &key);
			jw_key_str(w, buf_str(&key));
			jw_raw(w, it.value);
		}
	if (c->child.program)
		facts_child(&clean, w, &c->child, c->bytes_in);
	write_mcp(c, &clean, w);
	if (ret_scrubbed)
		*ret_scrubbed += clean.hits + c->child.scrubbed;
}
