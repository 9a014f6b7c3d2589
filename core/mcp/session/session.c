#include "core/mcp/session/session.h"

#include <inttypes.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/mcp/session/talk.h"

/* Times, from the table of defaults; milliseconds. */
#define PROBE_TIMEOUT_MS 10000
#define INITIALIZE_TIMEOUT_MS 120000
#define REQUEST_TIMEOUT_MS 60000
#define TOTAL_TIMEOUT_MS (15 * 60000)

/* ---- state ---- */

const char *session_state_word(enum session_state state)
{
	static const char *const words[] = {
#define SESSION_STATE(name, word) [SESSION_##name] = (word),
		SESSION_STATES(SESSION_STATE)
#undef SESSION_STATE
	};

	return words[state];
}

enum session_state session_state_after(enum session_state state,
				       enum session_move move)
{
#define TO(move, state) [MOVE_##move] = SESSION_##state
	/* Absent moves are SESSION_NEW, which no move leads to. */
	static const enum session_state table[][N_MOVES] = {
		[SESSION_NEW] = {TO(PROBE, PROBING),
				 TO(INITIALIZE, INITIALIZING),
				 TO(CLOSE, CLOSING)},
		/* a second probe names a date of the server (PRB-9) */
		[SESSION_PROBING] = {TO(PROBE, PROBING),
				     TO(INITIALIZE, INITIALIZING),
				     TO(GREET, READY), TO(CLOSE, CLOSING),
				     TO(FAIL, FAILED)},
		/* a late answer to the probe may ask for a second (PRB-7) */
		[SESSION_INITIALIZING] = {TO(PROBE, PROBING), TO(GREET, READY),
					  TO(CLOSE, CLOSING), TO(FAIL, FAILED)},
		[SESSION_READY] = {TO(CLOSE, CLOSING), TO(END, CLOSED),
				   TO(FAIL, FAILED)},
		[SESSION_CLOSING] = {TO(END, CLOSED), TO(FAIL, FAILED)},
		[SESSION_CLOSED] = {SESSION_NEW},
		[SESSION_FAILED] = {SESSION_NEW},
	};
#undef TO

	return table[state][move];
}

/* Make a move and trace it. False: not allowed now; nothing has changed. */
static bool session_move(struct session *s, enum session_move move)
{
	enum session_state to = session_state_after(s->state, move);

	if (to == SESSION_NEW)
		return false;
	log_debug("session: %s -> %s", session_state_word(s->state),
		  session_state_word(to));
	s->state = to;
	return true;
}

/* ---- life ---- */

static void set_default(uint64_t *v, uint64_t otherwise)
{
	*v = *v ? *v : otherwise;
}

struct session *session_new(const struct session_options *options)
{
	struct session *s = mem_zalloc(sizeof(*s));
	struct session_options *o = &s->opt;

	*o = *options;
	o->client_name = o->client_name ? o->client_name : "matins";
	o->client_version = o->client_version ? o->client_version : "0";
	set_default(&o->message_max, LIMIT_MESSAGE_BYTES);
	set_default(&o->probe_timeout_ms, PROBE_TIMEOUT_MS);
	set_default(&o->initialize_timeout_ms, INITIALIZE_TIMEOUT_MS);
	set_default(&o->request_timeout_ms, REQUEST_TIMEOUT_MS);
	set_default(&o->total_timeout_ms, TOTAL_TIMEOUT_MS);

	/* 1 is that of the handshake; some peers take 0 for "no id" (ID-3) */
	s->next_id = 2;
	s->next_ticket = 2;
	s->questions.next = o->asks_from;
	inbox_init(&s->in, o->message_max);
	s->out = s->text = s->logger = s->shown = s->progress.message =
		(struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->server.name = s->server.version = s->server.instructions = STR("");
	s->server.capabilities = STR("{}");
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	buf_release(&s->out);
	buf_release(&s->text);
	buf_release(&s->logger);
	buf_release(&s->shown);
	buf_release(&s->progress.message);
	inbox_release(&s->in);
	requests_release(&s->requests);
	talk_forget_questions(s);
	free(s->losses);
	arena_release(&s->arena);
	free(s);
}

void session_close(struct session *s)
{
	if (session_is_over(s))
		return;
	talk_forget_questions(s);
	session_move(s, MOVE_CLOSE);
}

/* ---- the end of a request, and of the session ---- */

/* Forget a request, and what the session asked and sent for it. */
static void drop_request(struct session *s, struct request *r)
{
	talk_drop_questions(s, r->ticket);
	for (struct request *own = r->task.id.n ? s->requests.first : NULL,
			    *after;
	     own; own = after) {
		after = own->next;
		if (own->parent == r->ticket)
			requests_remove(&s->requests, own);
	}
	requests_remove(&s->requests, r);
}

static enum verdict end_session(struct session *s, enum session_failure failure,
				struct session_event *ev)
{
	ev->type = SESSION_EVENT_FAILED;
	ev->failure = failure;
	ev->ticket = 0;
	ev->phase = s->server.revision ? SESSION_PHASE_CALL
				       : SESSION_PHASE_INITIALIZE;
	requests_release(&s->requests);
	talk_forget_questions(s);
	session_output_broke(s);
	session_move(s, MOVE_FAIL);
	return EVENT;
}

/* End the request that ev->ticket names, as the event type says. */
static enum verdict end_request(struct session *s, enum session_event_type type,
				struct session_event *ev)
{
	ev->type = type;
	ev->phase = SESSION_PHASE_CALL;
	drop_request(s, requests_find_ticket(&s->requests, ev->ticket));
	return EVENT;
}

/* Do what a verdict says; gives NO_MESSAGE, DONE or EVENT. */
static enum verdict act(struct session *s, enum verdict verdict,
			struct session_event *ev)
{
	switch (verdict) {
	case NO_MESSAGE:
	case DONE:
	case EVENT:
		return verdict;
	case ENDS_RESULT:
		return end_request(s, SESSION_EVENT_RESULT, ev);
	case ENDS_ERROR:
		return end_request(s, SESSION_EVENT_ERROR, ev);
	case ENDS_BROKEN:
		s->stats.oddities++;
		ev->failure = SESSION_FAIL_BAD_RESULT;
		err_wrap(
			&ev->err, "the server's answer to %s",
			requests_find_ticket(&s->requests, ev->ticket)->method);
		return end_request(s, SESSION_EVENT_FAILED, ev);
	case ENDS_FAILED:
		return end_request(s, SESSION_EVENT_FAILED, ev);
	case ENDS_SESSION:
		return end_session(s, ev->failure, ev);
	}
	return DONE;
}

/* Find the request of the caller that this one was sent for. */
static struct request *of_caller(struct session *s, struct request *r)
{
	struct request *parent = requests_find_ticket(&s->requests, r->parent);

	return parent ? parent : r;
}

/* Fail a request; without a handshake there is no session. */
static enum verdict fail_request(struct session *s, struct request *r,
				 enum session_failure failure,
				 struct session_event *ev)
{
	ev->failure = failure;
	ev->ticket = of_caller(s, r)->ticket;
	return act(s, r->is_handshake ? ENDS_SESSION : ENDS_FAILED, ev);
}

void session_cancel(struct session *s, uint64_t ticket, const char *reason)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	if (!r || r->is_handshake || r->parent)
		return;
	talk_cancel(s, r, reason);
	drop_request(s, r);
}

/* ---- the handshake ---- */

/*
 * A server of the modern era answers server/discover; one of the older begins
 * with initialize, and may answer the probe by any error, by silence, or by its
 * own end.
 */

static void write_initialize(const struct session *s, struct buf *params)
{
	AUTO(buf_release) struct buf declared = BUF_INIT(BUF_UNBOUNDED);
	struct mcp_peer client = {
		.protocol = str_of(s->spoken->date),
		.name = str_of(s->opt.client_name),
		.version = str_of(s->opt.client_version),
	};
	struct jw w;

	jw_init(&w, &declared, false);
	mcp_write_declared(&w, &s->opt.declared, s->spoken);
	client.capabilities = buf_str(&declared);
	jw_init(&w, params, false);
	mcp_write_peer(&w, &client, "clientInfo");
}

static void speak(struct session *s, const struct mcp_revision *revision)
{
	s->spoken = revision;
	s->is_modern = revision->era == MCP_ERA_PER_REQUEST;
}

static uint64_t start_deadline(const struct session *s)
{
	return session_after_ms(s->start_ns, s->opt.initialize_timeout_ms);
}

/*
 * Send server/discover, or initialize of an older revision, where the state
 * allows it.
 */
static enum verdict send_handshake(struct session *s,
				   const struct mcp_revision *revision)
{
	bool is_probe = revision->era == MCP_ERA_PER_REQUEST;
	bool is_first = s->state == SESSION_NEW;
	const char *method = is_probe ? "server/discover" : "initialize";
	uint64_t probe_end =
		session_after_ms(s->now_ns, s->opt.probe_timeout_ms);
	struct request *r;

	if (!session_move(s, is_probe ? MOVE_PROBE : MOVE_INITIALIZE))
		return DONE;
	speak(s, revision);
	s->tried_again |= s->probed && is_probe;
	s->probed |= is_probe;
	r = is_first ? requests_add(&s->requests, 1, 1, method)
		     : session_add_request(s, method);
	r->is_handshake = true;
	r->is_probe = is_probe;
	if (!is_probe)
		write_initialize(s, &r->params);
	session_send(s, r);
	/* the deadline is that of the start; a pinned revision has no other
	   handshake to try before */
	r->deadline_ns = start_deadline(s);
	if (is_probe && !s->opt.protocol && probe_end < r->deadline_ns)
		r->deadline_ns = probe_end;
	r->total_deadline_ns = UINT64_MAX;
	requests_timed(&s->requests, r);
	return DONE;
}

void session_set_log_level(struct session *s, const char *level)
{
	s->opt.log_level = level;
}

void session_start(struct session *s, uint64_t now_ns)
{
	const struct mcp_revision *first =
		s->opt.protocol ? mcp_revision_find(str_of(s->opt.protocol))
		: s->opt.era == SESSION_ERA_INITIALIZE ? mcp_revision_newest()
						       : mcp_revision_modern();

	session_tick(s, now_ns);
	s->start_ns = s->now_ns;
	s->refused = !first;
	if (first)
		(void)send_handshake(s, first);
	else
		session_move(s, MOVE_INITIALIZE);
}

static enum verdict refuse_to_start(struct session *s, struct session_event *ev)
{
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);

	mcp_revision_list(&ours);
	err_set(&ev->err, ERR_PEER,
		"protocol version \"%s\" is not known; known are %s",
		s->opt.protocol, buf_cstr(&ours));
	return end_session(s, SESSION_FAIL_HANDSHAKE, ev);
}

/* With one answer the other handshake is not waited for (RW-27). */
static enum verdict greet(struct session *s, const struct mcp_revision *spoken,
			  const struct mcp_peer *server,
			  struct session_event *ev)
{
	for (struct request *r = s->requests.first, *after; r; r = after) {
		after = r->next;
		if (r->is_handshake)
			requests_remove(&s->requests, r);
	}
	speak(s, spoken);
	s->server = *server;
	session_move(s, MOVE_GREET);
	if (!s->is_modern && !server->is_assumed)
		session_notify(s, "notifications/initialized",
			       (struct str){NULL, 0});
	/* also for a server that no longer reads: the clocks must run */
	for (struct request *r = s->requests.first; r; r = r->next)
		if (!r->sent)
			session_send(s, r);
	ev->type = SESSION_EVENT_READY;
	return EVENT;
}

/* Find the newest revision of a list of this era, other than `but`; or NULL. */
static const struct mcp_revision *newest_common(struct str list,
						enum mcp_era era,
						const struct mcp_revision *but)
{
	const struct mcp_revision *best = NULL;
	AUTO(buf_release) struct buf date = BUF_INIT(BUF_UNBOUNDED);

	for (struct scan_iter it = scan_over(list); scan_next(&it);) {
		const struct mcp_revision *r;

		buf_clear(&date);
		if (!scan_string_cut(it.value, VERSION_BYTES, &date))
			continue;
		r = mcp_revision_find(buf_str(&date));
		if (r && r->era == era && r != but && (!best || r > best))
			best = r;
	}
	return best;
}

static enum verdict refused(struct session *s, const struct rpc_message *m,
			    const char *method, struct session_event *ev)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	buf_add_cut(&shown, ev->message, SENTENCE_BYTES);
	err_set(&ev->err, ERR_PEER,
		"the server refused %s: %s (code %" PRId64 ")", method,
		buf_cstr(&shown), m->code);
	return end_session(s, SESSION_FAIL_HANDSHAKE, ev);
}

static enum verdict on_initialized(struct session *s, struct str result,
				   struct session_event *ev)
{
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct mcp_peer server;
	struct str date;

	mcp_read_initialize_result(result, &s->arena, &server);
	s->stats.oddities += server.oddities;
	server.revision = mcp_revision_find(server.protocol);
	/* a date of the modern era begins none: that has no initialize */
	if (!server.revision || server.revision->era != MCP_ERA_INITIALIZE)
		server.revision =
			s->opt.accept_unknown_protocol
				? mcp_revision_nearest(server.protocol)
				: NULL;
	if (server.revision)
		return greet(s, s->spoken, &server, ev);
	mcp_revision_list(&ours);
	if (scan_get(result, "protocolVersion", &date)) {
		date = session_shown(date, VERSION_BYTES, &shown);
		err_set(&ev->err, ERR_PEER,
			"the server answered initialize (%s) with protocol "
			"version \"%.*s\"; known are %s",
			s->spoken->date, STR_ARG(date), buf_cstr(&ours));
	} else if (mcp_looks_like_result(result)) {
		err_set(&ev->err, ERR_PEER, "%s",
			"the server did not answer "
			"initialize: " MCP_IS_PRINTED);
	} else {
		err_set(&ev->err, ERR_PEER,
			"the server's answer to initialize has no "
			"protocolVersion; known are %s",
			buf_cstr(&ours));
	}
	return end_session(s, SESSION_FAIL_HANDSHAKE, ev);
}

/* Speak without a handshake: the server has no method for one. Its tools are
   asked for as if it had promised them. */
static enum verdict go_without(struct session *s, struct session_event *ev)
{
	const struct mcp_peer server = {
		.revision = s->spoken,
		.protocol = STR(""),
		.capabilities = STR("{\"tools\":{}}"),
		.name = STR(""),
		.version = STR(""),
		.instructions = STR(""),
		.is_assumed = true,
	};

	s->stats.oddities++;
	return greet(s, s->spoken, &server, ev);
}

/* Say what to try after a refused initialize: another date or era, once. */
static enum verdict on_initialize_error(struct session *s,
					const struct rpc_message *m,
					struct session_event *ev)
{
	struct str list = STR("[]");
	bool named = m->data.p && scan_get(m->data, "supported", &list);
	/* by these codes only a server of the modern era refuses initialize */
	bool is_modern = m->code == RPC_METHOD_NOT_FOUND ||
			 m->code == RPC_INVALID_PARAMS ||
			 m->code == MCP_UNSUPPORTED_VERSION;
	const struct mcp_revision *other =
		newest_common(list, MCP_ERA_INITIALIZE, s->spoken);

	if (!named && !s->opt.protocol && s->probed &&
	    m->code == RPC_METHOD_NOT_FOUND)
		return go_without(s, ev);
	if (named)
		is_modern = newest_common(list, MCP_ERA_PER_REQUEST, NULL);
	if (other) {
		ev->retry_protocol = other->date;
	} else if (!s->opt.protocol) {
		/* the probe may be what the server took amiss (PRB-6) */
		ev->era =
			s->probed ? SESSION_ERA_INITIALIZE : SESSION_ERA_PROBE;
		ev->retry_era = s->probed || is_modern;
	}
	return refused(s, m, "initialize", ev);
}

/*
 * Choose from the dates that the server named: one of the modern era, where
 * there is one; else initialize with one of the older (PRB-8). A pinned date
 * is the only choice. NULL: ev->err says so.
 */
static const struct mcp_revision *choose(struct session *s, struct str list,
					 struct session_event *ev)
{
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);
	const struct mcp_revision *r =
		newest_common(list, MCP_ERA_PER_REQUEST, NULL);

	if (s->opt.protocol && r && strcmp(r->date, s->opt.protocol) != 0)
		r = NULL;
	else if (!s->opt.protocol && !r)
		r = newest_common(list, MCP_ERA_INITIALIZE, NULL);
	if (r)
		return r;
	list = session_shown(list, SENTENCE_BYTES, &s->shown);
	if (s->opt.protocol)
		buf_adds(&ours, s->opt.protocol);
	else
		mcp_revision_list(&ours);
	err_set(&ev->err, ERR_PEER,
		"no common protocol version: the server speaks %.*s, we speak "
		"%s",
		STR_ARG(list), buf_cstr(&ours));
	return NULL;
}

/* Go on with a server of the older era. */
static enum verdict on_not_modern(struct session *s, struct session_event *ev)
{
	if (!s->opt.protocol)
		return send_handshake(s, mcp_revision_newest());
	err_set(&ev->err, ERR_PEER,
		"the server does not speak %s: it has no server/discover; "
		"leave the pinned protocol out, or name an older one",
		s->spoken->date);
	return end_session(s, SESSION_FAIL_HANDSHAKE, ev);
}

static enum verdict on_probe_error(struct session *s,
				   const struct rpc_message *m,
				   struct session_event *ev)
{
	const struct mcp_revision *r;
	struct str list;

	if (m->code == MCP_HEADER_MISMATCH || m->code == MCP_MISSING_CAPABILITY)
		return refused(s, m, "server/discover", ev);
	/* other codes alone prove no era (PRB-5) */
	if (m->code != MCP_UNSUPPORTED_VERSION || !m->data.p ||
	    !scan_get(m->data, "supported", &list) ||
	    scan_type(list) != SCAN_ARRAY)
		return on_not_modern(s, ev);
	r = choose(s, list, ev);
	if (!r)
		return end_session(s, SESSION_FAIL_HANDSHAKE, ev);
	/* a server is asked with a date of its own once (PRB-9) */
	if (s->tried_again && r->era == MCP_ERA_PER_REQUEST)
		return refused(s, m, "server/discover", ev);
	return send_handshake(s, r);
}

static enum verdict on_discovered(struct session *s, struct str result,
				  struct session_event *ev)
{
	const struct mcp_revision *r;
	struct mcp_peer server;
	struct str dates;

	if (!mcp_read_discovered(result, &s->arena, &dates, &server))
		return on_not_modern(s, ev);
	r = choose(s, dates, ev);
	if (!r)
		return end_session(s, SESSION_FAIL_HANDSHAKE, ev);
	if (r->era == MCP_ERA_INITIALIZE)
		return send_handshake(s, r);
	s->stats.oddities += server.oddities;
	server.revision = r;
	return greet(s, r, &server, ev);
}

static enum verdict on_handshake(struct session *s, struct request *r,
				 const struct rpc_message *m,
				 struct session_event *ev)
{
	bool is_probe = r->is_probe, is_result = m->type == RPC_RESULT;

	requests_remove(&s->requests, r);
	if (is_result)
		return is_probe ? on_discovered(s, m->result, ev)
				: on_initialized(s, m->result, ev);
	session_read_error(s, m, ev);
	if (is_probe)
		return on_probe_error(s, m, ev);
	/* a late answer to the probe may still come (PRB-7) */
	for (r = s->requests.first; r; r = r->next)
		if (r->is_handshake)
			return DONE;
	return on_initialize_error(s, m, ev);
}

/*
 * Give a probe up whose answer cannot be read: only a server of the older era
 * has none (PRB-7). False: the request is no such probe, or of a pinned
 * revision, which cannot begin otherwise.
 */
static bool is_lost_probe(struct session *s, struct request *r)
{
	if (!r->is_probe || s->opt.protocol)
		return false;
	requests_remove(&s->requests, r);
	(void)send_handshake(s, mcp_revision_newest());
	return true;
}

/* ---- messages ---- */

/*
 * An error whose id the server could not read, or made up, belongs to the
 * only request that is open (RPC-6, RW-52).
 */
static struct request *only_pending(struct session *s,
				    const struct rpc_message *m)
{
	struct request *r = requests_pending(&s->requests, NULL);
	struct str id = m->id.raw;
	uint64_t number;
	bool made_up = m->id.type == RPC_ID_NONE ||
		       (m->id.type == RPC_ID_STRING &&
			!str_uint64((struct str){id.p + 1, id.n - 2}, &number));

	if (m->type != RPC_ERROR || m->version == RPC_VERSION_ABSENT ||
	    !made_up || !r || requests_pending(&s->requests, r))
		return NULL;
	return r;
}

static enum verdict on_response(struct session *s, const struct rpc_message *m,
				struct session_event *ev)
{
	struct request *r = requests_find(&s->requests, m->id.raw, false), *of;

	if (!r)
		r = only_pending(s, m);
	/* a structured log may look like a response (RW-3) */
	if (!r && m->version == RPC_VERSION_ABSENT)
		return NO_MESSAGE;
	if (!r) {
		s->stats.dropped_responses++;
		return DONE;
	}
	of = of_caller(s, r);
	if (of->progress_held) {
		/* the last progress goes first, then this response again */
		inbox_unread(&s->in);
		return talk_tell_progress(s, of, ev);
	}
	s->stats.oddities += m->version != RPC_VERSION_OK;
	if (r->is_handshake)
		return on_handshake(s, r, m, ev);
	ev->ticket = of->ticket;
	return talk_on_answer(s, r, m, ev);
}

static enum verdict on_request(struct session *s, const struct rpc_message *m,
			       struct session_event *ev)
{
	struct request *r = requests_find(&s->requests, m->id.raw, false);

	s->stats.server_requests++;
	if (!r || !r->is_handshake || !scan_is(m->method, r->method))
		return talk_on_message(s, m, ev);
	err_set(&ev->err, ERR_PEER,
		"the server repeats what it is sent (%s came back): it is not "
		"an MCP server, or it is behind a terminal that echoes",
		r->method);
	return fail_request(s, r, SESSION_FAIL_HANDSHAKE, ev);
}

static enum verdict on_object(struct session *s, const struct inbox_item *item,
			      struct session_event *ev)
{
	struct rpc_message m;
	struct request *r;
	uint64_t at_least;
	bool response;
	enum verdict verdict;

	rpc_read_noted(item->object, item->members, &m);
	response = m.type == RPC_RESULT || m.type == RPC_ERROR;
	if (m.type == RPC_INVALID ||
	    (m.version == RPC_VERSION_ABSENT && !response))
		return NO_MESSAGE;
	if (response)
		verdict = on_response(s, &m, ev);
	else if (m.type == RPC_REQUEST)
		verdict = on_request(s, &m, ev);
	else
		verdict = talk_on_message(s, &m, ev);
	verdict = act(s, verdict, ev);
	if (verdict == NO_MESSAGE || s->in.again.p)
		return verdict;
	s->stats.messages++;
	if (!response)
		s->stats.oddities += m.version != RPC_VERSION_OK;
	if (s->heard)
		return verdict;
	/* the first message shows that the server runs: its time is over */
	s->heard = true;
	r = requests_pending(&s->requests, NULL);
	at_least = session_ends_ms(s, s->opt.request_timeout_ms);
	if (r && s->state == SESSION_INITIALIZING && r->is_handshake &&
	    r->deadline_ns < at_least)
		r->deadline_ns = at_least;
	return verdict;
}

/*
 * A broken message, or a line over the ceiling, may have been an answer: fail
 * its request (RW-14, RW-15).
 */
static enum verdict on_broken(struct session *s, const struct inbox_item *item,
			      bool is_over, struct session_event *ev)
{
	struct request *r =
		item->id.p ? requests_find(&s->requests, item->id, false)
			   : NULL;

	s->stats.broken_messages++;
	if (!r)
		r = requests_pending(&s->requests, NULL);
	if (!r || is_lost_probe(s, r))
		return DONE;
	if (is_over) {
		err_set(&ev->err, ERR_LIMIT,
			"the server sent a line of more than %" PRIu64
			" bytes while %s was open; if it may be that long, "
			"raise stdout_max",
			s->opt.message_max, r->method);
		return fail_request(s, r, SESSION_FAIL_LIMIT, ev);
	}
	err_set(&ev->err, item->err.kind == ERR_LIMIT ? ERR_LIMIT : ERR_PEER,
		"the server sent a broken message while %s was open: %s%s",
		r->method, item->err.msg,
		item->is_unfinished ? " (is it printed over several lines?)"
				    : "");
	return fail_request(s, r, SESSION_FAIL_BAD_MESSAGE, ev);
}

/* ---- what is due when all lines were read ---- */

void session_lost(struct session *s, struct str id,
		  enum session_failure failure, const struct err *err,
		  uint64_t now_ns)
{
	struct request *r =
		id.p ? requests_find(&s->requests, id, false) : NULL;

	session_tick(s, now_ns);
	if (session_is_over(s) || (id.p && !r))
		return;
	s->losses = mem_grow(s->losses, s->n_losses + 1, &s->cap_losses,
			     sizeof(*s->losses));
	s->losses[s->n_losses++] =
		(struct loss){r ? r->ticket : 0, failure, *err};
}

static enum verdict on_lost(struct session *s, struct session_event *ev)
{
	struct loss loss = s->losses[0];
	struct request *r = requests_find_ticket(&s->requests, loss.ticket);

	memmove(s->losses, s->losses + 1, --s->n_losses * sizeof(loss));
	ev->err = loss.err;
	if (!loss.ticket)
		return end_session(s, loss.failure, ev);
	/* the caller may have cancelled the request meanwhile */
	return r ? fail_request(s, r, loss.failure, ev) : DONE;
}

static enum verdict expire(struct session *s, struct request *r,
			   struct session_event *ev)
{
	bool total = r->total_deadline_ns <= s->now_ns;
	struct request *of = of_caller(s, r);
	uint64_t ms;

	if (s->state == SESSION_PROBING && r->is_handshake && !total) {
		/* initialize is sent beside a probe that is silent */
		r->deadline_ns = start_deadline(s);
		if (!s->opt.protocol && r->deadline_ns > s->now_ns)
			return send_handshake(s, mcp_revision_newest());
	}
	ms = r->is_handshake ? s->opt.initialize_timeout_ms
	     : total	     ? r->total_ms
			     : r->timeout_ms;
	err_set(&ev->err, ERR_PEER, "no answer to %s within %" PRIu64 " %s%s",
		r->method, ms % 1000 ? ms : ms / 1000, ms % 1000 ? "ms" : "s",
		s->stats.bytes_in || s->opt.is_remote
			? ""
			: "; the server has written nothing to its stdout yet");
	/* the server is told (TMO-2); of a task as of a task (CAN-6) */
	talk_cancel(s, of->task.id.n ? of : r, "timed out");
	return fail_request(s, r, SESSION_FAIL_TIMEOUT, ev);
}

static const char *end_phase(const struct session *s, const struct request *r)
{
	if (r && r->is_handshake)
		return r->is_probe ? "it answered server/discover"
				   : "it answered initialize";
	return r	       ? "it answered the request"
	       : s->requests.n ? "the request was done"
			       : "the session began";
}

static enum verdict on_end(struct session *s, struct session_event *ev)
{
	struct request *r = requests_pending(&s->requests, NULL);
	bool is_idle = s->server.revision != NULL;

	/* only subscriptions are open */
	for (const struct request *q = s->requests.first; q; q = q->next)
		is_idle &= q->is_listen;
	if (is_idle) {
		/* STD-43: whatever the exit status */
		session_move(s, MOVE_END);
		ev->type = SESSION_EVENT_CLOSED;
		return EVENT;
	}
	err_set(&ev->err, ERR_PEER, "the server ended its output%s before %s",
		s->cut ? " in the middle of a message" : "", end_phase(s, r));
	/* many end on any message before initialize (PRB-6, RW-22) */
	ev->retry_era = s->probed && !s->server.revision && !s->opt.protocol;
	ev->era = SESSION_ERA_INITIALIZE;
	ev->is_cut = s->cut;
	return end_session(s, SESSION_FAIL_EOF, ev);
}

static enum verdict on_idle(struct session *s, struct session_event *ev)
{
	struct request *r = NULL;

	if (s->n_losses)
		return on_lost(s, ev);

	/* the clocks stand still while a person is asked (EL-17) */
	if (!s->questions.open)
		r = requests_find_time(&s->requests, REQUEST_EXPIRED,
				       s->now_ns);
	if (r)
		return expire(s, r, ev);
	r = requests_find_time(&s->requests, REQUEST_DUE, s->now_ns);
	if (r)
		return act(s, talk_on_due(s, r, ev), ev);
	r = requests_find_time(&s->requests, REQUEST_PROGRESS, s->now_ns);
	if (r)
		return talk_tell_progress(s, r, ev);
	return s->eof ? on_end(s, ev) : NO_MESSAGE;
}

/* ---- the next event ---- */

static enum verdict step(struct session *s, struct session_event *ev)
{
	struct inbox_item item;
	enum inbox_result got;
	enum verdict verdict;

	if (s->refused)
		return refuse_to_start(s, ev);
	if (!session_is_mute(s) && talk_ask(s, ev) == EVENT)
		return EVENT;
	got = inbox_next(&s->in, &item);
	switch (got) {
	case INBOX_OBJECT:
		verdict = on_object(s, &item, ev);
		if (!s->in.again.p)
			inbox_judge(&s->in, verdict != NO_MESSAGE);
		return verdict == NO_MESSAGE ? DONE : verdict;
	case INBOX_BROKEN:
	case INBOX_OVER:
		return on_broken(s, &item, got == INBOX_OVER, ev);
	case INBOX_CUT:
		s->stats.broken_messages++;
		s->cut = true;
		return DONE;
	case INBOX_FRAMING:
		ev->err = item.err;
		return end_session(s, SESSION_FAIL_FRAMING, ev);
	case INBOX_NONE:
		break;
	}
	return on_idle(s, ev);
}

bool session_next(struct session *s, struct session_event *ret)
{
	enum verdict verdict = DONE;

	while (!session_is_over(s) && s->state != SESSION_NEW &&
	       verdict == DONE) {
		memset(ret, 0, offsetof(struct session_event, err));
		err_clear(&ret->err);
		verdict = step(s, ret);
	}
	s->stats.skipped_lines = s->in.skipped_lines;
	s->stats.skipped_bytes = s->in.skipped_bytes;
	s->stats.repairs = s->in.repairs;
	s->stats.prefixed_messages = s->in.prefixed;
	return verdict == EVENT;
}
