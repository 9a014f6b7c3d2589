#include "core/mcp/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/mcp/session/session_inner.h"

/* Times, from the table of defaults; milliseconds. */
#define PROBE_TIMEOUT_MS 10000
#define INITIALIZE_TIMEOUT_MS 120000
#define REQUEST_TIMEOUT_MS 60000
#define TOTAL_TIMEOUT_MS (15 * 60000)

/* ---- life ---- */

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
	s->asks.next = o->asks_from;
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
	free(s->losses);
	arena_release(&s->arena);
	free(s);
}

void session_freep(struct session **s)
{
	session_free(*s);
	*s = NULL;
}

void session_start(struct session *s, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	session_begin(s);
}

void session_close(struct session *s)
{
	if (session_is_over(s))
		return;
	session_forget_asks(s);
	session_set_state(s, SESSION_CLOSING);
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

char *session_take(struct session *s, struct str slice)
{
	return inbox_take(&s->in, slice);
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

void session_eof(struct session *s, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
	s->eof = true;
	inbox_eof(&s->in);
}

/* ---- what it is like ---- */

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

bool session_is_modern(const struct session *s)
{
	return s->is_modern;
}

struct str session_shown(struct str v, size_t max, struct buf *into)
{
	buf_clear(into);
	if (!scan_string_cut(v, max, into))
		buf_add_cut(into, v, max);
	return buf_str(into);
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
