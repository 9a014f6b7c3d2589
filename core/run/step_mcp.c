/*
 * `mcp-client` with a tool: one tools/call in a session over stdio.
 *
 * The session (core/proto) decides what bytes mean; this file joins it to a
 * step: events become the result, its deadline a timer, its output stdin.
 */
#include "core/base/mem.h"
#include "core/proto/session.h"
#include "core/run/facts.h"
#include "core/run/judge.h"
#include "core/run/step.h"

struct mcp_step {
	struct session *session;
	uint64_t ticket; /* of the call */
	uint32_t repairs;
};

static struct mcp_step *state_of(struct step_run *s)
{
	return s->state;
}

static void on_result(struct step_run *s, struct str result)
{
	struct mcp_step *m = state_of(s);
	struct mcp_tool_result r = {0};
	struct err err = ERR_INIT;
	struct judgement j;

	if (mcp_read_tool_result(result, session_server(m->session)->revision,
				 &r, &err) < 0) {
		step_fail(s, REASON_NOT_CALL_TOOL_RESULT, "%s", err.msg);
	} else {
		m->repairs = r.repairs;
		j = judge_result(r.content, r.is_error, r.structured);
		step_finish(s, &j);
	}
	mcp_tool_result_release(&r);
	step_close(s);
}

static enum step_reason failure_reason(const struct session_event *e)
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
		return e->phase == SESSION_PHASE_INITIALIZE
			       ? REASON_DEADLINE_INITIALIZE
			       : REASON_DEADLINE_CALL;
	case SESSION_FAIL_EOF:
		return REASON_SERVER_EXIT;
	case SESSION_FAIL_QUEUE:
		return REASON_TRANSPORT;
	}
	return REASON_INTERNAL;
}

static void on_event(struct step_run *s, const struct session_event *e)
{
	switch (e->type) {
	case SESSION_EVENT_RESULT:
		on_result(s, e->result);
		break;
	case SESSION_EVENT_ERROR:
		step_fail(s, REASON_RPC_ERROR,
			  "the server answered error %lld: %.*s",
			  (long long)e->code, STR_ARG(e->message));
		step_close(s);
		break;
	case SESSION_EVENT_FAILED:
		/* how the server ended is known only when it has */
		if (e->failure != SESSION_FAIL_EOF)
			step_fail(s, failure_reason(e), "%s", e->err.msg);
		step_close(s);
		break;
	case SESSION_EVENT_READY:
	case SESSION_EVENT_PROGRESS:
	case SESSION_EVENT_LOG:
	case SESSION_EVENT_ASKED:
	case SESSION_EVENT_ASK_GONE:
	case SESSION_EVENT_CHANGED:
	case SESSION_EVENT_TASK:
	case SESSION_EVENT_CLOSED:
		break;
	}
}

static void pump(struct step_run *s)
{
	struct mcp_step *m = state_of(s);
	struct session_event e;

	while (session_next(m->session, &e))
		on_event(s, &e);
	if (s->phase != STEP_RUNNING)
		session_close(m->session);
}

static void start(struct step_run *s)
{
	const struct step *step = s->plan->step;
	struct session_options options = {
		.client_name = "matins",
		.client_version = MATINS_VERSION,
		.protocol = s->plan->protocol,
		.message_max = step->stdout_max,
		/* the step's own budget ends first */
		.initialize_timeout_ms = step->timeout_ms + 1000,
		.request_timeout_ms = step->timeout_ms + 1000,
		.total_timeout_ms = step->timeout_ms + 1000,
	};
	struct mcp_step *m = mem_zalloc(sizeof(*m));
	struct err err = ERR_INIT;
	uint64_t now = loop_now(s->ctx->loop);

	s->state = m;
	m->session = session_new(&options);
	session_start(m->session, now);
	if (session_call_tool(m->session, step->tool, s->plan->arguments, now,
			      &m->ticket, &err) < 0) {
		step_fail(s, REASON_TRANSPORT, "%s", err.msg);
		step_close(s);
	}
	pump(s);
}

static void output(struct step_run *s, struct str bytes)
{
	session_feed(state_of(s)->session, bytes, loop_now(s->ctx->loop));
	pump(s);
}

static void eof(struct step_run *s)
{
	session_eof(state_of(s)->session, loop_now(s->ctx->loop));
	pump(s);
}

static struct str input(struct step_run *s)
{
	return session_output(state_of(s)->session);
}

static void wrote(struct step_run *s, size_t n)
{
	session_wrote(state_of(s)->session, n);
}

static void input_broke(struct step_run *s)
{
	session_output_broke(state_of(s)->session);
}

static uint64_t deadline(struct step_run *s)
{
	return session_deadline(state_of(s)->session);
}

static void tick(struct step_run *s)
{
	session_tick(state_of(s)->session, loop_now(s->ctx->loop));
	pump(s);
}

static enum step_reason timeout_reason(struct step_run *s)
{
	switch (session_state(state_of(s)->session)) {
	case SESSION_NEW:
	case SESSION_PROBING:
	case SESSION_INITIALIZING:
		return REASON_DEADLINE_INITIALIZE;
	case SESSION_READY:
	case SESSION_FAILED:
		return REASON_DEADLINE_CALL;
	case SESSION_CLOSING:
	case SESSION_CLOSED:
		return REASON_DEADLINE_CLOSE;
	}
	return REASON_DEADLINE_CALL;
}

static void cancel(struct step_run *s)
{
	struct mcp_step *m = state_of(s);

	session_cancel(m->session, m->ticket, "the caller no longer waits");
}

/* What the server printed that was no message, for the sentence. */
static const char *noise_hint(struct step_run *s)
{
	return session_stats(state_of(s)->session)->skipped_lines
		       ? "; its stdout held lines that are no messages"
		       : "";
}

static void finish(struct step_run *s, const struct gate_verdict *v)
{
	struct mcp_step *m = state_of(s);
	const struct session_server *server = session_server(m->session);
	const char *phase = server->revision ? "the answer to tools/call"
					     : "the answer to initialize";

	step_fail(s, REASON_SERVER_EXIT, "the server %s before %s%s",
		  judge_end(v, &s->arena), phase, noise_hint(s));
}

static void facts(struct step_run *s, struct jw *w)
{
	struct mcp_step *m = state_of(s);
	const struct session_stats *stats;
	const struct session_server *server;
	struct str noise;

	if (!m)
		return;
	noise = session_noise(m->session);
	stats = session_stats(m->session);
	server = session_server(m->session);
	jw_key(w, "mcp");
	jw_object(w);
	if (server->revision) {
		jw_kv_cstr(w, "protocol", server->revision->date);
		facts_text(s, w, "server", server->name);
		facts_text(s, w, "version", server->version);
	}
	jw_kv_int(w, "result_repairs", m->repairs);
#define SESSION_STAT(name) jw_kv_int(w, #name, (int64_t)stats->name);
	SESSION_STATS(SESSION_STAT)
#undef SESSION_STAT
	if (noise.n)
		facts_cut_text(s, w, "noise", noise);
	jw_end(w);
}

static void release(struct step_run *s)
{
	struct mcp_step *m = state_of(s);

	if (!m)
		return;
	session_free(m->session);
	free(m);
	s->state = NULL;
}

const struct step_type step_type_mcp = {
	.name = "mcp-client",
	.start = start,
	.output = output,
	.eof = eof,
	.input = input,
	.wrote = wrote,
	.input_broke = input_broke,
	.deadline = deadline,
	.tick = tick,
	.timeout_reason = timeout_reason,
	.cancel = cancel,
	.finish = finish,
	.facts = facts,
	.release = release,
};
