#include "core/proto/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/proto/inbox.h"
#include "core/proto/requests.h"
#include "core/proto/rpc.h"

/* Texts of a server that are only shown, bytes of JSON text (LOG-5). */
#define TEXT_BYTES (16 * 1024)
/* The same inside of a sentence, and of a protocol version. */
#define SENTENCE_BYTES 512
#define VERSION_BYTES 64
/* Log messages that are passed on in a second (LOG-5). */
#define LOGS_PER_SECOND 100
/* Progress of one request is passed on this often (PRO-4). */
#define PROGRESS_EVERY_NS (NS_PER_S / 10)
/* Times, from the table of defaults; milliseconds. */
#define INITIALIZE_TIMEOUT_MS 120000
#define REQUEST_TIMEOUT_MS 60000
#define TOTAL_TIMEOUT_MS (15 * 60000)
/* Id and ticket of initialize; some peers take 0 for "no id" (ID-3). */
#define FIRST_ID 1
#define FIRST_TICKET 1

struct session {
	struct session_options opt; /* defaults filled in */
	enum session_state state;
	uint64_t now_ns; /* the latest that was heard */
	bool refused;	 /* opt.protocol is not ours to speak */
	bool eof;	 /* stdout ended; what came before is still read */
	bool cut;	 /* within a message */
	bool heard;	 /* at least one message was understood */
	bool deaf;	 /* the server's stdin is gone */

	struct inbox in;
	struct buf out; /* bytes for stdin */
	size_t written; /* of them */

	struct requests requests;
	uint64_t next_id, next_ticket;

	/* texts of the current event */
	struct buf text, logger, shown;
	struct request_progress progress;

	uint64_t log_second_ns; /* start of the current second of logs */
	uint32_t logs;		/* passed on in it */

	struct arena arena; /* of `server` */
	struct session_server server;
	struct session_stats stats;
};

/* What looking at one object came to. */
enum outcome {
	NO_MESSAGE, /* skip it */
	DONE,	    /* understood, nothing to tell */
	EVENT,	    /* *ev is filled */
};

const char *session_state_word(enum session_state state)
{
	static const char *const words[] = {
#define SESSION_STATE(name, word) [SESSION_##name] = (word),
		SESSION_STATES(SESSION_STATE)
#undef SESSION_STATE
	};

	return words[state];
}

static void set_state(struct session *s, enum session_state state)
{
	log_debug("session: %s -> %s", session_state_word(s->state),
		  session_state_word(state));
	s->state = state;
}

static bool is_over(const struct session *s)
{
	return s->state == SESSION_CLOSED || s->state == SESSION_FAILED;
}

static uint64_t or_default(uint64_t v, uint64_t otherwise)
{
	return v ? v : otherwise;
}

struct session *session_new(const struct session_options *options)
{
	struct session *s = mem_zalloc(sizeof(*s));
	struct session_options *o = &s->opt;

	*o = *options;
	o->client_name = o->client_name ? o->client_name : "matins";
	o->client_version = o->client_version ? o->client_version : "0";
	if (!o->protocol)
		o->protocol = mcp_revision_newest()->date;
	o->message_max = or_default(o->message_max, LIMIT_MESSAGE_BYTES);
	o->initialize_timeout_ms =
		or_default(o->initialize_timeout_ms, INITIALIZE_TIMEOUT_MS);
	o->request_timeout_ms =
		or_default(o->request_timeout_ms, REQUEST_TIMEOUT_MS);
	o->total_timeout_ms = or_default(o->total_timeout_ms, TOTAL_TIMEOUT_MS);

	s->next_id = FIRST_ID + 1;
	s->next_ticket = FIRST_TICKET + 1;
	inbox_init(&s->in, o->message_max);
	s->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->text = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->logger = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->shown = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->progress.message = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->server.name = s->server.version = STR("");
	s->server.instructions = STR("");
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
	arena_release(&s->arena);
	free(s);
}

void session_freep(struct session **s)
{
	session_free(*s);
	*s = NULL;
}

static void hear_time(struct session *s, uint64_t now_ns)
{
	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
}

static uint64_t after_ms(const struct session *s, uint64_t ms)
{
	uint64_t ns;

	if (__builtin_mul_overflow(ms, NS_PER_MS, &ns) ||
	    __builtin_add_overflow(s->now_ns, ns, &ns))
		return UINT64_MAX;
	return ns;
}

/* Writing. */

static bool is_mute(const struct session *s)
{
	return s->deaf || s->state == SESSION_CLOSING || is_over(s);
}

/* The time of a request runs from here. */
static void mark_sent(struct session *s, struct request *r)
{
	r->sent = true;
	r->deadline_ns = after_ms(s, s->opt.request_timeout_ms);
	r->total_deadline_ns = after_ms(s, s->opt.total_timeout_ms);
}

static void send_request(struct session *s, struct request *r)
{
	if (!is_mute(s))
		buf_add_str(&s->out, buf_str(&r->message));
	buf_release(&r->message);
	mark_sent(s, r);
}

static bool speaks_initialize(const struct session *s)
{
	const struct mcp_revision *r =
		mcp_revision_find(str_of(s->opt.protocol));

	return r && r->era == MCP_ERA_INITIALIZE;
}

void session_start(struct session *s, uint64_t now_ns)
{
	struct mcp_initialize init = {
		.protocol = str_of(s->opt.protocol),
		.capabilities = STR("{}"),
		.name = str_of(s->opt.client_name),
		.version = str_of(s->opt.client_version),
	};
	struct rpc_writer w;
	struct request *r;

	hear_time(s, now_ns);
	r = requests_add(&s->requests, FIRST_ID, FIRST_TICKET, "initialize");
	r->is_initialize = true;
	s->refused = !speaks_initialize(s);
	rpc_begin_request(&w, &r->message, r->id, r->method);
	jw_key(&w.jw, "params");
	mcp_write_initialize(&w.jw, &init);
	rpc_end(&w);
	set_state(s, SESSION_INITIALIZING);
	if (!s->refused)
		send_request(s, r);
	r->deadline_ns = after_ms(s, s->opt.initialize_timeout_ms);
	r->total_deadline_ns = UINT64_MAX;
}

/* A JSON object, or nothing. */
static int check_object(struct str json, const char *what, struct err *err)
{
	struct str v;

	if (!json.p)
		return 0;
	if (json.n > LIMIT_QUEUE_BYTES)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes, at most %d",
			       what, json.n, LIMIT_QUEUE_BYTES);
	if (scan_document(json, NULL, &v, err) < 0)
		return err_wrap(err, "%s", what);
	if (scan_type(v) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "%s: not a JSON object", what);
	return 0;
}

/* A request whose message the caller writes, or NULL. */
static struct request *new_request(struct session *s, const char *method,
				   uint64_t now_ns, struct err *err)
{
	hear_time(s, now_ns);
	if (is_mute(s)) {
		err_set(err, ERR_PEER,
			"%s: the session with the server is over", method);
		return NULL;
	}
	return requests_add(&s->requests, s->next_id++, s->next_ticket++,
			    method);
}

static void queue_request(struct session *s, struct request *r,
			  uint64_t *ret_ticket)
{
	*ret_ticket = r->ticket;
	if (s->state == SESSION_READY)
		send_request(s, r);
}

int session_call_tool(struct session *s, const char *tool, struct str arguments,
		      uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	struct rpc_writer w;
	struct request *r;

	if (check_object(arguments, "arguments", err) < 0)
		return -1;
	r = new_request(s, "tools/call", now_ns, err);
	if (!r)
		return -1;
	r->has_token = true;
	rpc_begin_request(&w, &r->message, r->id, r->method);
	jw_key(&w.jw, "params");
	jw_object(&w.jw);
	jw_kv_cstr(&w.jw, "name", tool);
	jw_kv_raw(&w.jw, "arguments", arguments.p ? arguments : STR("{}"));
	jw_key(&w.jw, "_meta");
	jw_object(&w.jw);
	jw_key(&w.jw, "progressToken");
	jw_uint(&w.jw, r->id);
	jw_end(&w.jw);
	jw_end(&w.jw);
	rpc_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}

int session_request(struct session *s, const char *method, struct str params,
		    uint64_t now_ns, uint64_t *ret_ticket, struct err *err)
{
	struct rpc_writer w;
	struct request *r;

	if (check_object(params, method, err) < 0)
		return -1;
	r = new_request(s, method, now_ns, err);
	if (!r)
		return -1;
	rpc_begin_request(&w, &r->message, r->id, r->method);
	if (params.p)
		jw_kv_raw(&w.jw, "params", params);
	rpc_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}

static void send_cancelled(struct session *s, const struct request *r,
			   const char *reason)
{
	struct rpc_writer w;

	/* initialize must not be cancelled (INI-4) */
	if (is_mute(s) || !r->sent || r->is_initialize)
		return;
	rpc_begin_notification(&w, &s->out, "notifications/cancelled");
	jw_key(&w.jw, "params");
	jw_object(&w.jw);
	jw_key(&w.jw, "requestId");
	jw_uint(&w.jw, r->id);
	if (reason)
		jw_kv_cstr(&w.jw, "reason", reason);
	jw_end(&w.jw);
	rpc_end(&w);
}

void session_cancel(struct session *s, uint64_t ticket, const char *reason)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	if (!r || r->is_initialize)
		return;
	send_cancelled(s, r, reason);
	requests_remove(&s->requests, r);
}

void session_close(struct session *s)
{
	if (!is_over(s))
		set_state(s, SESSION_CLOSING);
}

struct str session_output(const struct session *s)
{
	return (struct str){buf_cstr(&s->out) + s->written,
			    s->out.n - s->written};
}

void session_wrote(struct session *s, size_t n)
{
	s->written += n;
	s->stats.bytes_out += n;
	if (s->written == s->out.n)
		buf_clear(&s->out);
	else if (s->written < s->out.n / 2)
		return;
	else
		buf_drop(&s->out, s->written);
	s->written = 0;
}

static void drop_output(struct session *s)
{
	buf_release(&s->out);
	s->written = 0;
}

void session_output_broke(struct session *s)
{
	s->deaf = true;
	drop_output(s);
}

/* Failing. The caller has filled ev->err. */

static enum outcome fail_session(struct session *s,
				 enum session_failure failure,
				 struct session_event *ev)
{
	ev->type = SESSION_EVENT_FAILED;
	ev->failure = failure;
	ev->phase = s->server.revision ? SESSION_PHASE_CALL
				       : SESSION_PHASE_INITIALIZE;
	requests_release(&s->requests);
	drop_output(s);
	set_state(s, SESSION_FAILED);
	return EVENT;
}

/* A request gets no answer; without initialize there is no session. */
static enum outcome fail_request(struct session *s, struct request *r,
				 enum session_failure failure,
				 struct session_event *ev)
{
	if (r->is_initialize)
		return fail_session(s, failure, ev);
	ev->type = SESSION_EVENT_FAILED;
	ev->ticket = r->ticket;
	ev->failure = failure;
	ev->phase = SESSION_PHASE_CALL;
	requests_remove(&s->requests, r);
	return EVENT;
}

/* Messages of the server. */

static struct str shown_text(struct str v, size_t max, struct buf *into)
{
	buf_clear(into);
	if (!scan_string_cut(v, max, into))
		buf_add_cut(into, v, max);
	return buf_str(into);
}

/*
 * Requests of the server are answered at once, whatever is under way: a
 * server that waits for an answer may hold a lock (RW-60, RW-61). None of the
 * optional capabilities is declared, so only ping has a result.
 */
static enum outcome on_request(struct session *s, const struct rpc_message *m,
			       struct session_event *ev)
{
	s->stats.server_requests++;
	if (is_mute(s))
		return DONE;
	if (session_output(s).n + m->id.raw.n > LIMIT_QUEUE_BYTES) {
		err_set(&ev->err, ERR_LIMIT,
			"the server asks and does not read the answers: %d "
			"bytes are waiting for its stdin",
			LIMIT_QUEUE_BYTES);
		return fail_session(s, SESSION_FAIL_QUEUE, ev);
	}
	if (scan_is(m->method, "ping")) {
		rpc_write_result(&s->out, &m->id, STR("{}"));
		return DONE;
	}
	s->stats.refused_requests++;
	rpc_write_error(&s->out, &m->id, RPC_METHOD_NOT_FOUND,
			"Method not found", (struct str){NULL, 0});
	return DONE;
}

static struct str c_text(const char *text)
{
	return text[0] ? str_of(text) : (struct str){NULL, 0};
}

static void swap_progress(struct request_progress *a,
			  struct request_progress *b)
{
	struct request_progress c = *a;

	*a = *b;
	*b = c;
}

/* Pass the held progress of a request on. */
static enum outcome tell_progress(struct session *s, struct request *r,
				  struct session_event *ev)
{
	r->progress_held = false;
	r->next_progress_ns = s->now_ns + PROGRESS_EVERY_NS;
	swap_progress(&r->progress, &s->progress);
	ev->type = SESSION_EVENT_PROGRESS;
	ev->ticket = r->ticket;
	ev->message = buf_str(&s->progress.message);
	ev->progress = str_of(s->progress.progress);
	ev->total = c_text(s->progress.total);
	return EVENT;
}

static enum outcome on_progress(struct session *s, struct str params,
				struct session_event *ev)
{
	struct request *r = NULL;
	struct rpc_id token;
	struct str v;
	bool was_held;

	if (scan_get(params, "progressToken", &v)) {
		token = rpc_read_id(v);
		r = requests_find(&s->requests, &token);
	}
	if (!r || !r->has_token)
		return DONE;
	was_held = r->progress_held;
	if (!request_take_progress(r, params))
		return DONE;
	s->stats.dropped_notifications += was_held;
	r->deadline_ns = after_ms(s, s->opt.request_timeout_ms);
	if (s->now_ns < r->next_progress_ns)
		return DONE;
	return tell_progress(s, r, ev);
}

static const char *log_level_of(struct str v)
{
	static const char *const levels[] = {
		"debug", "info",     "notice", "warning",
		"error", "critical", "alert",  "emergency",
	};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (scan_is(v, levels[i]))
			return levels[i];
	return "info";
}

static enum outcome on_log(struct session *s, struct str params,
			   struct session_event *ev)
{
	struct str level, logger, data;

	if (s->now_ns - s->log_second_ns >= NS_PER_S) {
		s->log_second_ns = s->now_ns;
		s->logs = 0;
	}
	if (s->logs == LOGS_PER_SECOND) {
		s->stats.dropped_notifications++;
		return DONE;
	}
	if (!scan_get(params, "data", &data))
		return DONE;
	s->logs++;
	ev->type = SESSION_EVENT_LOG;
	ev->level = scan_get(params, "level", &level) ? log_level_of(level)
						      : "info";
	ev->logger = scan_get_some(params, "logger", &logger)
			     ? shown_text(logger, TEXT_BYTES, &s->logger)
			     : STR("");
	ev->message = shown_text(data, TEXT_BYTES, &s->text);
	return EVENT;
}

static enum outcome on_notification(struct session *s,
				    const struct rpc_message *m,
				    struct session_event *ev)
{
	s->stats.notifications++;
	if (scan_is(m->method, "notifications/progress"))
		return on_progress(s, m->params, ev);
	if (scan_is(m->method, "notifications/message"))
		return on_log(s, m->params, ev);
	return DONE;
}

/*
 * The revision that an answer to initialize begins, or NULL. A date of the
 * other era is none: it has no initialize.
 */
static const struct mcp_revision *accepted(const struct session *s,
					   struct str date)
{
	const struct mcp_revision *r = mcp_revision_find(date);

	if (r && r->era == MCP_ERA_INITIALIZE)
		return r;
	return s->opt.accept_unknown_protocol ? mcp_revision_nearest(date)
					      : NULL;
}

static enum outcome refuse_revision(struct session *s, struct str result,
				    struct session_event *ev)
{
	struct buf ours = BUF_INIT(BUF_UNBOUNDED);
	struct str theirs, said;

	mcp_revision_list(&ours);
	if (scan_get(result, "protocolVersion", &theirs)) {
		said = shown_text(theirs, VERSION_BYTES, &s->shown);
		err_set(&ev->err, ERR_PEER,
			"the server answered initialize (%s) with protocol "
			"version \"%.*s\"; known are %s",
			s->opt.protocol, STR_ARG(said), buf_cstr(&ours));
	} else {
		err_set(&ev->err, ERR_PEER,
			"the server's answer to initialize has no "
			"protocolVersion; known are %s",
			buf_cstr(&ours));
	}
	buf_release(&ours);
	return fail_session(s, SESSION_FAIL_HANDSHAKE, ev);
}

static void send_initialized(struct session *s)
{
	struct rpc_writer w;

	if (!is_mute(s)) {
		rpc_begin_notification(&w, &s->out,
				       "notifications/initialized");
		rpc_end(&w);
	}
	/* also to a server that no longer reads: their time must run */
	for (size_t i = 0; i < s->requests.n; i++)
		if (!s->requests.item[i].sent)
			send_request(s, &s->requests.item[i]);
}

static enum outcome on_initialized(struct session *s, struct str result,
				   struct session_event *ev)
{
	struct mcp_initialize_result init;
	const struct mcp_revision *revision;

	mcp_read_initialize_result(result, &s->arena, &init);
	s->stats.oddities += init.oddities;
	revision = accepted(s, init.protocol);
	if (!revision)
		return refuse_revision(s, result, ev);
	s->server = (struct session_server){
		.revision = revision,
		.name = init.name,
		.version = init.version,
		.instructions = init.instructions,
		.capabilities = arena_str(&s->arena, init.capabilities),
	};
	if (s->state == SESSION_INITIALIZING)
		set_state(s, SESSION_READY);
	send_initialized(s);
	ev->type = SESSION_EVENT_READY;
	return EVENT;
}

/* The newest date in data.supported that was not just refused (VER-5). */
static const char *supported(const struct session *s, struct str data)
{
	const struct mcp_revision *best = NULL;
	struct buf date = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	struct str list;

	if (!data.p || !scan_get(data, "supported", &list))
		return NULL;
	scan_iter_init(&it, list);
	while (scan_next(&it)) {
		const struct mcp_revision *r;

		buf_clear(&date);
		if (!scan_string_cut(it.value, VERSION_BYTES, &date))
			continue;
		r = mcp_revision_find(buf_str(&date));
		if (r && r->era == MCP_ERA_INITIALIZE && (!best || r > best) &&
		    strcmp(r->date, s->opt.protocol) != 0)
			best = r;
	}
	buf_release(&date);
	return best ? best->date : NULL;
}

/* The text of an error, also of one that is none (RW-56). */
static struct str error_text(struct session *s, const struct rpc_message *m)
{
	return shown_text(m->message.p ? m->message : m->raw_error, TEXT_BYTES,
			  &s->text);
}

static enum outcome on_error(struct session *s, struct request *r,
			     const struct rpc_message *m,
			     struct session_event *ev)
{
	ev->ticket = r->ticket;
	ev->code = m->code;
	ev->message = error_text(s, m);
	ev->data = m->data;
	if (m->bad_error && !m->data.p)
		ev->data = m->raw_error;
	s->stats.oddities += m->both + m->bad_error;
	if (r->is_initialize) {
		ev->ticket = 0;
		ev->retry_protocol = supported(s, m->data);
		buf_clear(&s->shown);
		buf_add_cut(&s->shown, ev->message, SENTENCE_BYTES);
		err_set(&ev->err, ERR_PEER,
			"the server refused initialize: %s (code %" PRId64 ")",
			buf_cstr(&s->shown), m->code);
		return fail_session(s, SESSION_FAIL_HANDSHAKE, ev);
	}
	ev->type = SESSION_EVENT_ERROR;
	requests_remove(&s->requests, r);
	return EVENT;
}

/*
 * An error whose id the server could not read, or made up, belongs to the
 * only request that can be meant (RPC-6, RW-52).
 */
static struct request *only_pending(struct session *s,
				    const struct rpc_message *m)
{
	struct str id = m->id.raw;
	uint64_t number;
	bool made_up = m->id.type == RPC_ID_NONE ||
		       (m->id.type == RPC_ID_STRING &&
			!str_uint64((struct str){id.p + 1, id.n - 2}, &number));

	if (m->type != RPC_ERROR || m->version == RPC_VERSION_ABSENT ||
	    !made_up || requests_sent(&s->requests) != 1)
		return NULL;
	return requests_oldest(&s->requests);
}

static enum outcome on_response(struct session *s, const struct rpc_message *m,
				struct session_event *ev)
{
	struct request *r = requests_find(&s->requests, &m->id);

	if (!r)
		r = only_pending(s, m);
	if (!r) {
		/* a structured log may look like a response (RW-3) */
		if (m->version == RPC_VERSION_ABSENT)
			return NO_MESSAGE;
		s->stats.dropped_responses++;
		return DONE;
	}
	if (r->progress_held) {
		/* the last progress goes first, then this once more */
		inbox_unread(&s->in);
		return tell_progress(s, r, ev);
	}
	s->stats.oddities += m->version != RPC_VERSION_OK;
	if (m->type == RPC_ERROR)
		return on_error(s, r, m, ev);
	if (r->is_initialize) {
		requests_remove(&s->requests, r);
		return on_initialized(s, m->result, ev);
	}
	ev->type = SESSION_EVENT_RESULT;
	ev->ticket = r->ticket;
	ev->result = m->result;
	requests_remove(&s->requests, r);
	return EVENT;
}

/* The first message shows that the server runs: its own time is over. */
static void first_heard(struct session *s)
{
	struct request *r = requests_oldest(&s->requests);
	uint64_t at_least = after_ms(s, s->opt.request_timeout_ms);

	s->heard = true;
	if (r && r->is_initialize && r->deadline_ns < at_least)
		r->deadline_ns = at_least;
}

static enum outcome on_object(struct session *s, struct str object,
			      struct session_event *ev)
{
	struct rpc_message m;
	bool response;
	enum outcome got;

	rpc_read(object, &m);
	response = m.type == RPC_RESULT || m.type == RPC_ERROR;
	if (m.type == RPC_INVALID ||
	    (m.version == RPC_VERSION_ABSENT && !response))
		return NO_MESSAGE;
	if (response)
		got = on_response(s, &m, ev);
	else if (m.type == RPC_REQUEST)
		got = on_request(s, &m, ev);
	else
		got = on_notification(s, &m, ev);
	if (got == NO_MESSAGE || s->in.again.p)
		return got;
	s->stats.messages++;
	if (!response)
		s->stats.oddities += m.version != RPC_VERSION_OK;
	if (!s->heard)
		first_heard(s);
	return got;
}

/* RW-15: an answer may be lost, so nobody waits for it. */
static enum outcome on_broken(struct session *s, const struct inbox_item *item,
			      struct session_event *ev)
{
	bool cut = strstr(item->err.msg, "unexpected end") != NULL;
	struct request *r = NULL;
	struct rpc_id id;

	s->stats.broken_messages++;
	if (item->id.p) {
		id = rpc_read_id(item->id);
		r = requests_find(&s->requests, &id);
	}
	if (!r)
		r = requests_oldest(&s->requests);
	if (!r)
		return DONE;
	err_set(&ev->err, item->err.kind == ERR_LIMIT ? ERR_LIMIT : ERR_PEER,
		"the server sent a broken message while %s was open: %s%s",
		r->method, item->err.msg,
		cut ? " (is it printed over several lines?)" : "");
	return fail_request(s, r, SESSION_FAIL_BAD_MESSAGE, ev);
}

/* RW-14: the line is gone, and whose it was with it. */
static enum outcome on_over(struct session *s, struct session_event *ev)
{
	struct request *r = requests_oldest(&s->requests);

	s->stats.broken_messages++;
	if (!r)
		return DONE;
	err_set(&ev->err, ERR_LIMIT,
		"the server sent a line of more than %" PRIu64
		" bytes while %s was open; if it may be that long, raise "
		"stdout_max",
		s->opt.message_max, r->method);
	return fail_request(s, r, SESSION_FAIL_LIMIT, ev);
}

/* Time and end. */

static void format_ms(uint64_t ms, char out[32])
{
	if (ms % 1000)
		snprintf(out, 32, "%" PRIu64 " ms", ms);
	else
		snprintf(out, 32, "%" PRIu64 " s", ms / 1000);
}

static enum outcome expire(struct session *s, struct request *r,
			   struct session_event *ev)
{
	const struct session_options *o = &s->opt;
	bool total = r->total_deadline_ns <= s->now_ns;
	uint64_t ms = r->is_initialize ? o->initialize_timeout_ms
		      : total	       ? o->total_timeout_ms
				       : o->request_timeout_ms;
	char time[32];

	format_ms(ms, time);
	err_set(&ev->err, ERR_PEER, "no answer to %s within %s%s", r->method,
		time,
		s->stats.bytes_in
			? ""
			: "; the server has written nothing to its stdout yet");
	send_cancelled(s, r, "timed out");
	return fail_request(s, r, SESSION_FAIL_TIMEOUT, ev);
}

static enum outcome ended(struct session *s, struct session_event *ev)
{
	struct request *r = requests_oldest(&s->requests);

	if (!s->requests.n && s->server.revision) {
		/* STD-43: whatever the exit status */
		set_state(s, SESSION_CLOSED);
		ev->type = SESSION_EVENT_CLOSED;
		return EVENT;
	}
	err_set(&ev->err, ERR_PEER, "the server ended its output%s before %s",
		s->cut ? " in the middle of a message" : "",
		r ? r->is_initialize ? "it answered initialize"
				     : "it answered the request"
		  : "the session began");
	return fail_session(s, SESSION_FAIL_EOF, ev);
}

/* What is due when all lines were read. */
static enum outcome on_idle(struct session *s, struct session_event *ev)
{
	struct request *r = requests_expired(&s->requests, s->now_ns);

	if (r)
		return expire(s, r, ev);
	r = requests_progressed(&s->requests, s->now_ns);
	if (r)
		return tell_progress(s, r, ev);
	return s->eof ? ended(s, ev) : NO_MESSAGE;
}

static enum outcome refuse_to_start(struct session *s, struct session_event *ev)
{
	struct buf ours = BUF_INIT(BUF_UNBOUNDED);

	mcp_revision_list(&ours);
	err_set(&ev->err, ERR_PEER,
		"protocol version \"%s\" is not one that begins with "
		"initialize; known are %s",
		s->opt.protocol, buf_cstr(&ours));
	buf_release(&ours);
	return fail_session(s, SESSION_FAIL_HANDSHAKE, ev);
}

static enum outcome step(struct session *s, struct session_event *ev)
{
	struct inbox_item item;
	enum outcome got;

	if (s->refused)
		return refuse_to_start(s, ev);
	switch (inbox_next(&s->in, &item)) {
	case INBOX_OBJECT:
		got = on_object(s, item.object, ev);
		if (!s->in.again.p)
			inbox_judge(&s->in, got != NO_MESSAGE);
		return got == NO_MESSAGE ? DONE : got;
	case INBOX_BROKEN:
		return on_broken(s, &item, ev);
	case INBOX_CUT:
		s->stats.broken_messages++;
		s->cut = true;
		return DONE;
	case INBOX_OVER:
		return on_over(s, ev);
	case INBOX_FRAMING:
		ev->err = item.err;
		return fail_session(s, SESSION_FAIL_FRAMING, ev);
	case INBOX_NONE:
		break;
	}
	return on_idle(s, ev);
}

bool session_next(struct session *s, struct session_event *ret)
{
	enum outcome got = DONE;

	while (!is_over(s) && s->state != SESSION_NEW && got == DONE) {
		*ret = (struct session_event){0};
		got = step(s, ret);
	}
	s->stats.skipped_lines = s->in.skipped_lines;
	s->stats.skipped_bytes = s->in.skipped_bytes;
	s->stats.repairs = s->in.repairs;
	s->stats.prefixed_messages = s->in.prefixed;
	return got == EVENT;
}

bool session_feed(struct session *s, struct str in, uint64_t now_ns)
{
	hear_time(s, now_ns);
	if (is_over(s) || s->eof)
		return false;
	s->stats.bytes_in += in.n;
	inbox_add(&s->in, in);
	return true;
}

void session_eof(struct session *s, uint64_t now_ns)
{
	hear_time(s, now_ns);
	s->eof = true;
	inbox_eof(&s->in);
}

void session_tick(struct session *s, uint64_t now_ns)
{
	hear_time(s, now_ns);
}

uint64_t session_deadline(const struct session *s)
{
	return is_over(s) ? UINT64_MAX : requests_deadline(&s->requests);
}

enum session_state session_state(const struct session *s)
{
	return s->state;
}

const struct session_stats *session_stats(const struct session *s)
{
	return &s->stats;
}

const struct session_server *session_server(const struct session *s)
{
	return &s->server;
}

struct str session_noise(const struct session *s)
{
	return buf_str(&s->in.noise);
}
