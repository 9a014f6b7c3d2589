#include "core/client/failure.h"

#include "core/base/log.h"
#include "core/client/facts.h"

/* Of stderr, in the details of a failure. */
#define DETAIL_BYTES 1024

/* ---- reasons ---- */

enum step_reason failure_of_spawn(const struct err *err)
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
				       const char *method)
{
	if (e->phase == SESSION_PHASE_INITIALIZE)
		return REASON_DEADLINE_INITIALIZE;
	return method && str_ends(str_of(method), "/list")
		       ? REASON_DEADLINE_LIST
		       : REASON_DEADLINE_CALL;
}

enum step_reason failure_of_event(const struct session_event *e,
				  const char *method)
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
		return timeout_reason(e, method);
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

void failure_say_end(const struct failure *f, const char *method, bool is_sent,
		     struct buf *out)
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

void failure_note_details(struct failure *f)
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
