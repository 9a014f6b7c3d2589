/*
 * What is known of a server: why it failed, how it ended, what it used.
 */
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/client_inner.h"
#include "core/client/facts.h"

/* Of stderr, in the details of a failure. */
#define DETAIL_BYTES 1024

/* ---- reasons ---- */

enum step_reason client_spawn_reason(const struct err *err)
{
	switch (err->kind) {
	case ERR_NOT_FOUND:
		return REASON_NO_COMMAND;
	case ERR_LEASH:
		return REASON_LEASH;
	case ERR_POLICY:
		return REASON_POLICY;
	case ERR_PROTECTION:
		return REASON_PROTECTION;
	case ERR_PIN:
		return REASON_PIN;
	case ERR_CREDENTIAL:
		return REASON_NO_CREDENTIAL;
	case ERR_DEADLINE:
		return REASON_DEADLINE_SPAWN;
	default:
		return REASON_TRANSPORT;
	}
}

static enum step_reason timeout_reason(const struct session_event *e,
				       const struct call *call)
{
	if (e->phase == SESSION_PHASE_INITIALIZE)
		return REASON_DEADLINE_INITIALIZE;
	return call && str_ends(str_of(call->method), "/list")
		       ? REASON_DEADLINE_LIST
		       : REASON_DEADLINE_CALL;
}

enum step_reason client_failure_reason(const struct session_event *e,
				       const struct call *call)
{
	switch (e->failure) {
	case SESSION_FAIL_BAD_MESSAGE:
	case SESSION_FAIL_FRAMING:
		return REASON_BAD_MESSAGE;
	case SESSION_FAIL_BAD_RESULT:
		return REASON_NOT_CALL_TOOL_RESULT;
	case SESSION_FAIL_HANDSHAKE:
		return REASON_HANDSHAKE;
	case SESSION_FAIL_LIMIT:
		return REASON_OUTPUT_LIMIT;
	case SESSION_FAIL_TIMEOUT:
		return timeout_reason(e, call);
	case SESSION_FAIL_EOF:
		return REASON_SERVER_EXIT;
	case SESSION_FAIL_QUEUE:
	case SESSION_FAIL_TRANSPORT:
		return REASON_TRANSPORT;
	case SESSION_FAIL_AUTH:
		return REASON_AUTH;
	case SESSION_FAIL_LEASH:
		return REASON_LEASH;
	}
	return REASON_INTERNAL;
}

/* ---- sentences ---- */

static void say_how(const struct client *c, struct buf *out)
{
	struct arena arena = ARENA_INIT;

	if (c->child.phase != CHILD_ENDED)
		buf_adds(out, "ended its output");
	else if (c->child.is_told_to)
		buf_adds(out, "ended its output, and was ended,");
	else
		buf_adds(out, facts_say_end(&c->child.verdict, &arena));
	if (c->is_cut)
		buf_adds(out, " in the middle of a message,");
	arena_release(&arena);
}

void client_say_unknown(const struct call *call, struct buf *out)
{
	if (call && call->session_ticket)
		buf_adds(out,
			 "; the outcome is unknown, and it was not repeated");
}

bool client_prints_result(const struct client *c)
{
	return c->session && !client_server(c)->revision &&
	       mcp_looks_like_result(session_noise(c->session));
}

void client_say_end(const struct client *c, const struct call *call,
		    struct buf *out)
{
	bool was_ready = client_server(c)->revision != NULL;

	buf_adds(out, "the server ");
	say_how(c, out);
	if (was_ready && !call)
		buf_adds(out, " while it was needed");
	else
		buf_addf(out, " before the answer to %s",
			 was_ready ? call->method : "initialize");
	client_say_unknown(call, out);
	if (client_prints_result(c))
		buf_adds(out, "; " MCP_IS_PRINTED);
	else if (client_stats(c)->skipped_lines)
		buf_adds(out, "; its stdout held lines that are no messages");
}

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

/* RW-1: the first line that was none. */
static void note_noise(struct client *c, struct buf *out)
{
	struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	struct buf first = BUF_INIT(BUF_UNBOUNDED);
	struct str noise = c->session ? session_noise(c->session) : STR("");

	noise.n = str_find(noise, '\n');
	if (!noise.n)
		return;
	scrub_cut(c->ctx.scrub, noise, &clean);
	buf_add_cut(&first, buf_str(&clean), LIMIT_NOISE_LINE);
	buf_adds(out, "its stdout held a line that is no message: ");
	log_visible(out, buf_str(&first), false);
	buf_release(&clean);
	buf_release(&first);
}

void client_note_details(struct client *c)
{
	struct str last = last_lines(child_stderr(&c->child), DETAIL_BYTES);

	buf_clear(&c->details);
	note_noise(c, &c->details);
	if (!last.n)
		return;
	if (c->details.n)
		buf_adds(&c->details, "; ");
	buf_adds(&c->details, "its stderr ends with: ");
	log_visible(&c->details, last, true);
}

enum step_reason client_failure(const struct client *c)
{
	return c->failure;
}

const char *client_failure_sentence(const struct client *c)
{
	return buf_cstr(&c->sentence);
}

const char *client_failure_details(const struct client *c)
{
	return buf_cstr(&c->details);
}

/* ---- what it is ---- */

const struct session_server *client_server(const struct client *c)
{
	static const struct session_server none;

	return c->session ? session_server(c->session) : &none;
}

bool client_offers(const struct client *c, const char *capability)
{
	return c->session && session_offers(c->session, capability);
}

const struct session_stats *client_stats(const struct client *c)
{
	static const struct session_stats none;

	return c->session ? session_stats(c->session) : &none;
}

const struct gate_verdict *client_verdict(const struct client *c)
{
	return c->child.phase == CHILD_ENDED ? &c->child.verdict : NULL;
}

struct str client_stderr(const struct client *c)
{
	return child_stderr(&c->child);
}

static void write_mcp(struct client *c, struct cleaner *clean, struct jw *w)
{
	const struct session_server *server = client_server(c);
	const struct session_stats *stats = client_stats(c);
	struct str noise = c->session ? session_noise(c->session) : STR("");

	jw_key(w, "mcp");
	jw_object(w);
	if (server->revision) {
		jw_kv_cstr(w, "protocol", server->revision->date);
		facts_text(clean, w, "server", server->name);
		facts_text(clean, w, "version", server->version);
	}
#define SESSION_STAT(name) jw_kv_int(w, #name, (int64_t)stats->name);
	SESSION_STATS(SESSION_STAT)
#undef SESSION_STAT
	jw_kv_int(w, "restarts", c->begin.restarts);
	if (noise.n)
		facts_cut_text(clean, w, "noise", noise);
	jw_end(w);
}

void client_facts(struct client *c, struct jw *w, size_t *ret_scrubbed)
{
	struct cleaner clean = {c->ctx.scrub, 0};

	client_write_remote(c, w);
	if (c->child.program)
		facts_child(&clean, w, &c->child, c->bytes_in);
	write_mcp(c, &clean, w);
	if (ret_scrubbed)
		*ret_scrubbed += clean.hits + c->child.scrubbed;
}
