#include "core/mcp/session/core.h"

#include <string.h>

#include "core/base/log.h"

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

bool session_move(struct session *s, enum session_move move)
{
	enum session_state to = session_state_after(s->state, move);

	if (to == SESSION_NEW)
		return false;
	log_debug("session: %s -> %s", session_state_word(s->state),
		  session_state_word(to));
	s->state = to;
	return true;
}

enum session_state session_state(const struct session *s)
{
	return s->state;
}

bool session_is_over(const struct session *s)
{
	return s->state == SESSION_CLOSED || s->state == SESSION_FAILED;
}

bool session_is_mute(const struct session *s)
{
	return s->deaf || s->state == SESSION_CLOSING || session_is_over(s);
}

void session_set_date(struct session *s, const char *date)
{
	const struct mcp_revision *r = mcp_revision_find(str_of(date));

	s->date = date;
	s->is_modern = r && r->era == MCP_ERA_PER_REQUEST;
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

const struct mcp_peer *session_server(const struct session *s)
{
	return &s->server;
}

/* ---- bytes ---- */

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

void session_output_broke(struct session *s)
{
	s->deaf = true;
	buf_release(&s->out);
	s->written = s->answers = 0;
}

bool session_feed(struct session *s, struct str in, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	if (session_is_over(s) || s->eof)
		return false;
	s->stats.bytes_in += in.n;
	inbox_add(&s->in, in);
	return true;
}

bool session_message(struct session *s, struct str message, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	if (session_is_over(s) || s->eof)
		return false;
	s->stats.bytes_in += message.n;
	inbox_message(&s->in, message);
	return true;
}

void session_eof(struct session *s, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	s->eof = true;
	inbox_eof(&s->in);
}

char *session_take(struct session *s, struct str slice)
{
	return inbox_take(&s->in, slice);
}

struct str session_noise(const struct session *s)
{
	return buf_str(&s->in.noise);
}

/* ---- clocks ---- */

void session_hear_time(struct session *s, uint64_t now_ns)
{
	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
}

void session_tick(struct session *s, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
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

	/* the end of the pause moves all deadlines by its whole length */
	return s->questions.open && end != UINT64_MAX
		       ? end - (s->now_ns - s->questions.since_ns)
		       : end;
}

uint64_t session_timeout_ms(const struct session *s, const struct request *r)
{
	return r->timeout_ms ? r->timeout_ms : s->opt.request_timeout_ms;
}

uint64_t session_total_ms(const struct session *s, const struct request *r)
{
	return r->total_ms ? r->total_ms : s->opt.total_timeout_ms;
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

uint64_t session_deadline(const struct session *s)
{
	return session_is_over(s)
		       ? UINT64_MAX
		       : requests_deadline(&s->requests, s->questions.open > 0);
}

void session_stop_clocks(struct session *s)
{
	if (s->questions.open++ == 0)
		s->questions.since_ns = s->now_ns;
}

void session_start_clocks(struct session *s)
{
	uint64_t stood_ns = s->now_ns - s->questions.since_ns;

	if (--s->questions.open)
		return;
	requests_shift(&s->requests, stood_ns);
	s->start_ns += stood_ns;
}

void session_hold(struct session *s, bool is_held, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	if (session_is_over(s) || s->is_held == is_held)
		return;
	s->is_held = is_held;
	if (is_held)
		session_stop_clocks(s);
	else
		session_start_clocks(s);
}

/* ---- texts ---- */

struct str session_shown(struct str v, size_t max, struct buf *into)
{
	buf_clear(into);
	if (!scan_string_cut(v, max, into))
		buf_add_cut(into, v, max);
	return buf_str(into);
}

void session_read_error(struct session *s, const struct rpc_message *m,
			struct session_event *ev)
{
	ev->code = m->code;
	ev->message = session_shown(m->message.p ? m->message : m->raw_error,
				    TEXT_BYTES, &s->text);
	ev->data = m->bad_error && !m->data.p ? m->raw_error : m->data;
	s->stats.oddities += m->both + m->bad_error;
}

void copy_members(struct jw *w, struct str object, const char *const *except)
{
	struct scan_iter it;

	scan_iter_init(&it, object);
	while (scan_next(&it)) {
		bool is_ours = false;

		for (size_t i = 0; except[i]; i++)
			is_ours |= scan_is(it.key, except[i]);
		if (is_ours)
			continue;
		jw_key_raw(w, it.key);
		jw_raw(w, it.value);
	}
}
