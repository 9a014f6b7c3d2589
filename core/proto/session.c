#include "core/proto/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/proto/session_inner.h"

/* Times, from the table of defaults; milliseconds. */
#define PROBE_TIMEOUT_MS 10000
#define INITIALIZE_TIMEOUT_MS 120000
#define REQUEST_TIMEOUT_MS 60000
#define TOTAL_TIMEOUT_MS (15 * 60000)

const char *session_state_word(enum session_state state)
{
	static const char *const words[] = {
#define SESSION_STATE(name, word) [SESSION_##name] = (word),
		SESSION_STATES(SESSION_STATE)
#undef SESSION_STATE
	};

	return words[state];
}

void session_set_state(struct session *s, enum session_state state)
{
	log_debug("session: %s -> %s", session_state_word(s->state),
		  session_state_word(state));
	s->state = state;
}

bool session_is_over(const struct session *s)
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
	o->message_max = or_default(o->message_max, LIMIT_MESSAGE_BYTES);
	o->probe_timeout_ms = or_default(o->probe_timeout_ms, PROBE_TIMEOUT_MS);
	o->initialize_timeout_ms =
		or_default(o->initialize_timeout_ms, INITIALIZE_TIMEOUT_MS);
	o->request_timeout_ms =
		or_default(o->request_timeout_ms, REQUEST_TIMEOUT_MS);
	o->total_timeout_ms = or_default(o->total_timeout_ms, TOTAL_TIMEOUT_MS);

	/* the first is that of the handshake; some peers take 0 for "no id"
	   (ID-3) */
	s->next_id = 2;
	s->next_ticket = 2;
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
	asks_release(&s->asks);
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

uint64_t session_after_ms(const struct session *s, uint64_t ms)
{
	uint64_t ns;

	if (__builtin_mul_overflow(ms, NS_PER_MS, &ns) ||
	    __builtin_add_overflow(s->now_ns, ns, &ns))
		return UINT64_MAX;
	return ns;
}

uint64_t session_ends_ms(const struct session *s, uint64_t ms)
{
	uint64_t end = session_after_ms(s, ms);

	/* when it goes on, all ends move by how long it stood */
	return s->asks.open && end != UINT64_MAX
		       ? end - (s->now_ns - s->asks.since_ns)
		       : end;
}

uint64_t session_timeout_ms(const struct session *s, const struct request *r)
{
	return or_default(r->timeout_ms, s->opt.request_timeout_ms);
}

uint64_t session_total_ms(const struct session *s, const struct request *r)
{
	return or_default(r->total_ms, s->opt.total_timeout_ms);
}

void session_set_times(struct session *s, uint64_t ticket, uint64_t timeout_ms,
		       uint64_t total_ms)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	if (!r || r->is_handshake)
		return;
	r->timeout_ms = timeout_ms;
	r->total_ms = total_ms;
	if (!r->sent || r->is_listen)
		return;
	r->deadline_ns = session_ends_ms(s, session_timeout_ms(s, r));
	r->total_deadline_ns = session_ends_ms(s, session_total_ms(s, r));
	requests_timed(&s->requests, r);
}

bool session_is_mute(const struct session *s)
{
	return s->deaf || s->state == SESSION_CLOSING || session_is_over(s);
}

bool session_is_modern(const struct session *s)
{
	const struct mcp_revision *r =
		s->date ? mcp_revision_find(str_of(s->date)) : NULL;

	return r && r->era == MCP_ERA_PER_REQUEST;
}

struct str session_shown(struct str v, size_t max, struct buf *into)
{
	buf_clear(into);
	if (!scan_string_cut(v, max, into))
		buf_add_cut(into, v, max);
	return buf_str(into);
}

void session_start(struct session *s, uint64_t now_ns)
{
	hear_time(s, now_ns);
	session_begin(s);
}

void session_close(struct session *s)
{
	if (session_is_over(s))
		return;
	session_forget_asks(s);
	session_set_state(s, SESSION_CLOSING);
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
	if (s->answers > s->out.n - s->written)
		s->answers = s->out.n - s->written;
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
	s->written = s->answers = 0;
}

void session_output_broke(struct session *s)
{
	s->deaf = true;
	drop_output(s);
}

/* The first message shows that the server runs: its own time is over. */
static void first_heard(struct session *s)
{
	struct request *r = requests_oldest(&s->requests);
	uint64_t at_least = session_ends_ms(s, s->opt.request_timeout_ms);

	s->heard = true;
	if (r && s->state == SESSION_INITIALIZING && r->is_handshake &&
	    r->deadline_ns < at_least)
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
		got = session_on_response(s, &m, ev);
	else if (m.type == RPC_REQUEST)
		got = session_on_request(s, &m, ev);
	else
		got = session_on_notification(s, &m, ev);
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
	if (!r || session_probe_lost(s, r))
		return DONE;
	err_set(&ev->err, item->err.kind == ERR_LIMIT ? ERR_LIMIT : ERR_PEER,
		"the server sent a broken message while %s was open: %s%s",
		r->method, item->err.msg,
		cut ? " (is it printed over several lines?)" : "");
	return session_fail_request(s, r, SESSION_FAIL_BAD_MESSAGE, ev);
}

/* RW-14: the line is gone, and whose it was with it. */
static enum outcome on_over(struct session *s, struct session_event *ev)
{
	struct request *r = requests_oldest(&s->requests);

	s->stats.broken_messages++;
	if (!r || session_probe_lost(s, r))
		return DONE;
	err_set(&ev->err, ERR_LIMIT,
		"the server sent a line of more than %" PRIu64
		" bytes while %s was open; if it may be that long, raise "
		"stdout_max",
		s->opt.message_max, r->method);
	return session_fail_request(s, r, SESSION_FAIL_LIMIT, ev);
}

/* Time and end. */

static void format_ms(uint64_t ms, char out[32])
{
	if (ms % 1000)
		snprintf(out, 32, "%" PRIu64 " ms", ms);
	else
		snprintf(out, 32, "%" PRIu64 " s", ms / 1000);
}

/* TMO-2; a task is ended as one (CAN-6). */
static void cancel_expired(struct session *s, struct request *r)
{
	struct request *of =
		r->parent ? requests_find_ticket(&s->requests, r->parent) : r;

	if (of && of->task.id.n)
		session_cancel_task(s, of);
	else
		session_send_cancelled(s, r, "timed out");
}

static enum outcome expire(struct session *s, struct request *r,
			   struct session_event *ev)
{
	const struct session_options *o = &s->opt;
	bool total = r->total_deadline_ns <= s->now_ns;
	uint64_t ms = r->is_handshake ? o->initialize_timeout_ms
		      : total	      ? session_total_ms(s, r)
				      : session_timeout_ms(s, r);
	char time[32];

	if (s->state == SESSION_PROBING && r->is_handshake &&
	    !s->opt.protocol && !total) {
		session_probe_silent(s, r);
		return DONE;
	}
	format_ms(ms, time);
	err_set(&ev->err, ERR_PEER, "no answer to %s within %s%s", r->method,
		time,
		s->stats.bytes_in
			? ""
			: "; the server has written nothing to its stdout yet");
	cancel_expired(s, r);
	return session_fail_request(s, r, SESSION_FAIL_TIMEOUT, ev);
}

static const char *handshake_text(const struct request *r)
{
	return strcmp(r->method, "initialize") == 0
		       ? "it answered initialize"
		       : "it answered server/discover";
}

/* Nobody waits for anything but changes. */
static bool is_idle(const struct session *s)
{
	for (const struct request *r = s->requests.first; r; r = r->next)
		if (!r->is_listen)
			return false;
	return true;
}

static enum outcome ended(struct session *s, struct session_event *ev)
{
	struct request *r = requests_oldest(&s->requests);

	if (is_idle(s) && s->server.revision) {
		/* STD-43: whatever the exit status */
		session_set_state(s, SESSION_CLOSED);
		ev->type = SESSION_EVENT_CLOSED;
		return EVENT;
	}
	err_set(&ev->err, ERR_PEER, "the server ended its output%s before %s",
		s->cut ? " in the middle of a message" : "",
		r && !r->is_handshake ? "it answered the request"
		: r		      ? handshake_text(r)
		: s->requests.n	      ? "the request was done"
				      : "the session began");
	/* many end on any message before initialize (PRB-6, RW-22) */
	ev->retry_era = s->probed && !s->server.revision && !s->opt.protocol;
	ev->era = SESSION_ERA_INITIALIZE;
	ev->is_cut = s->cut;
	return session_fail(s, SESSION_FAIL_EOF, ev);
}

static enum outcome on_due(struct session *s, struct request *r,
			   struct session_event *ev)
{
	struct str why;

	if (!r->is_given_up) {
		session_do_due(s, r);
		return DONE;
	}
	why = session_shown(buf_str(&r->responses), SENTENCE_BYTES, &s->shown);
	return session_bad_result(s, r, ev, "%.*s", STR_ARG(why));
}

/* What is due when all lines were read. */
static enum outcome on_idle(struct session *s, struct session_event *ev)
{
	struct request *r = NULL;

	/* the clocks stand still while somebody is asked (EL-17) */
	if (!s->asks.open)
		r = requests_expired(&s->requests, s->now_ns);
	if (r)
		return expire(s, r, ev);
	r = requests_due(&s->requests, s->now_ns);
	if (r)
		return on_due(s, r, ev);
	r = requests_progressed(&s->requests, s->now_ns);
	if (r)
		return session_tell_progress(s, r, ev);
	return s->eof ? ended(s, ev) : NO_MESSAGE;
}

static enum outcome step(struct session *s, struct session_event *ev)
{
	struct inbox_item item;
	enum outcome got;

	if (s->refused)
		return session_refuse_to_start(s, ev);
	if (!session_is_mute(s) && session_tell_ask(s, ev))
		return EVENT;
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
		return session_fail(s, SESSION_FAIL_FRAMING, ev);
	case INBOX_NONE:
		break;
	}
	return on_idle(s, ev);
}

bool session_next(struct session *s, struct session_event *ret)
{
	enum outcome got = DONE;

	while (!session_is_over(s) && s->state != SESSION_NEW && got == DONE) {
		*ret = (struct session_event){0};
		got = step(s, ret);
	}
	s->stats.skipped_lines = s->in.skipped_lines;
	s->stats.skipped_bytes = s->in.skipped_bytes;
	s->stats.repairs = s->in.repairs;
	s->stats.prefixed_messages = s->in.prefixed;
	return got == EVENT;
}

char *session_take(struct session *s, struct str slice)
{
	return inbox_take(&s->in, slice);
}

bool session_feed(struct session *s, struct str in, uint64_t now_ns)
{
	hear_time(s, now_ns);
	if (session_is_over(s) || s->eof)
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
	return session_is_over(s)
		       ? UINT64_MAX
		       : requests_deadline(&s->requests, s->asks.open > 0);
}

enum session_state session_state(const struct session *s)
{
	return s->state;
}

bool session_offers(const struct session *s, const char *capability)
{
	struct str at = s->server.capabilities;
	char name[64];

	while (*capability) {
		size_t n = strcspn(capability, ".");

		if (n >= sizeof(name))
			return false;
		memcpy(name, capability, n);
		name[n] = '\0';
		if (!scan_get_some(at, name, &at) ||
		    scan_type(at) == SCAN_FALSE)
			return false;
		capability += n + (capability[n] == '.');
	}
	return s->server.revision != NULL;
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
