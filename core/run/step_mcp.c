/*
 * `mcp-client` with a tool: one tools/call in a session over stdio, which
 * other steps of the run may use as well (core/run/pool.h). With `strict` the
 * tools are listed first, and the schemas of the tool hold.
 */
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/run/step_mcp_inner.h"

/* ---- the end ---- */

/* Output that is no message, and the end of stderr; else that end alone. */
static void log_words(struct step_run *s, const struct client *c)
{
	const char *details = client_failure_details(c);

	if (*details && step_has_failed(s))
		log_note("%s: %s", s->result.name, details);
	else
		step_log_words(s, client_stderr(c));
}

/* It has its result: it ends, or waits for the server that it ends. */
void step_mcp_leave(struct step_run *s, enum pool_end how)
{
	struct mcp_step *m = step_mcp_state(s);

	if (s->phase != STEP_RUNNING)
		return;
	if (m->user.client)
		log_words(s, m->user.client);
	m->waits = pool_leave(s->ctx->pool, &m->user, how, s->ctx->grace_ms);
	if (m->waits)
		step_close(s);
	else
		step_end(s);
}

/* Without having begun, or whatever the type does not know of. */
static void on_leave(struct step_run *s)
{
	struct mcp_step *m = step_mcp_state(s);

	if (m)
		(void)!pool_leave(s->ctx->pool, &m->user, POOL_CLOSE,
				  s->ctx->grace_ms);
}

static void keep_facts(struct step_run *s, struct client *c)
{
	struct mcp_step *m = step_mcp_state(s);
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	m->facts_scrubbed = 0;
	jw_init(&w, &text, false);
	jw_object(&w);
	client_facts(c, &w, &m->facts_scrubbed);
	jw_end(&w);
	m->facts = arena_str(&s->arena, buf_str(&text));
	buf_release(&text);
}

/* The process has ended that this step has started, or left as the last. */
static void closed(struct pool_user *u, struct client *c)
{
	struct step_run *s = u->arg;
	struct mcp_step *m = step_mcp_state(s);
	const struct gate_verdict *v = client_verdict(c);

	if (!u->session_of) {
		keep_facts(s, c);
		if (v && s->ctx->verdict)
			s->ctx->verdict(s->ctx->arg, s, v);
	}
	if (v)
		step_log_denials(s, v);
	if (s->phase == STEP_CLOSING && m->waits)
		step_end(s);
	else if (s->phase == STEP_ENDED)
		step_refresh_facts(s);
}

static void stop(struct step_run *s, enum step_haste haste)
{
	struct mcp_step *m = step_mcp_state(s);

	if (s->phase == STEP_RUNNING) {
		if (m->ticket && m->user.client)
			client_cancel(m->user.client, m->ticket,
				      "the caller no longer waits");
		m->ticket = 0;
		step_mcp_unlist(s);
		step_mcp_leave(s, POOL_TERMINATE);
		return;
	}
	pool_hurry(s->ctx->pool, &m->user,
		   haste == HASTE_KILL ? POOL_KILL : POOL_TERMINATE);
}

/* ---- the call ---- */

/* The report borrows from the arena of the step. */
static void keep_answer(struct step_run *s, const struct client_event *e,
			struct mcp_tool_result *r)
{
	bool is_kept =
		client_keep(step_mcp_state(s)->user.client, e, &s->arena);

	if (r->fixed.n)
		r->content.p = arena_adopt(&s->arena, buf_steal(&r->fixed));
	else if (!is_kept)
		r->content = arena_str(&s->arena, r->content);
	if (!is_kept && r->structured.p)
		r->structured = arena_str(&s->arena, r->structured);
}

/* False: there is something to wait for yet. */
static bool on_result(struct step_run *s, const struct client_event *e)
{
	struct mcp_step *m = step_mcp_state(s);
	struct client *c = m->user.client;
	uint64_t max = s->plan->step->stdout_max;
	struct mcp_tool_result r = {0};
	struct err err = ERR_INIT;
	struct judgement j;
	bool waits = false;

	if (e->of->result.n > max) {
		step_fail(s, REASON_OUTPUT_LIMIT,
			  "the result has %zu bytes, over the ceiling of %llu; "
			  "raise stdout_max of the step when that much is "
			  "expected",
			  e->of->result.n, (unsigned long long)max);
		return true;
	}
	if (mcp_read_tool_result(e->of->result, client_server(c)->revision, &r,
				 &err) < 0) {
		step_fail(s, REASON_NOT_CALL_TOOL_RESULT, "%s", err.msg);
	} else {
		m->repairs = r.repairs;
		keep_answer(s, e, &r);
		j = judge_result(r.content, r.is_error, r.structured);
		waits = step_mcp_hold_back(s, &j, e->of->result);
		if (!waits)
			step_finish(s, &j);
	}
	mcp_tool_result_release(&r);
	return !waits;
}

static void on_event(void *arg, const struct client_event *e)
{
	struct step_run *s = arg;
	struct mcp_step *m = step_mcp_state(s);

	switch (e->type) {
	case CLIENT_RESULT:
		m->ticket = 0;
		if (!on_result(s, e))
			return;
		break;
	case CLIENT_ERROR:
		step_fail(s, REASON_RPC_ERROR,
			  "the server answered error %lld: %.*s",
			  (long long)e->of->code, STR_ARG(e->of->message));
		break;
	case CLIENT_FAILED:
		step_fail(s, e->reason, "%s", e->sentence);
		break;
	default:
		return; /* nobody is told of progress */
	}
	m->ticket = 0;
	step_mcp_leave(s, POOL_CLOSE);
}

/* ---- the begin ---- */

void step_mcp_fail(struct step_run *s, enum step_reason reason,
		   const char *sentence)
{
	step_fail(s, reason, "%s", sentence);
	step_mcp_leave(s, POOL_CLOSE);
}

void step_mcp_send(struct step_run *s)
{
	struct mcp_step *m = step_mcp_state(s);
	/* the step's own time is over first */
	uint64_t longest = s->plan->step->timeout_ms + 1000;
	const struct client_call call = {
		.tool = s->plan->step->tool,
		.params = m->typed.p ? m->typed : s->plan->inputs.json,
		.as_task = m->check.tool.p && tool_needs_task(m->check.tool),
		.timeout_ms = longest,
		.total_ms = longest,
		.on_event = on_event,
		.arg = s,
	};
	struct err err = ERR_INIT;

	if (client_call(m->user.client, &call, &m->ticket, &err) < 0)
		step_mcp_fail(s, REASON_TRANSPORT, err.msg);
}

static void opened(struct pool_user *u)
{
	struct step_run *s = u->arg;

	if (s->plan->strict)
		step_mcp_list(s, false);
	else
		step_mcp_send(s);
}

static void refused(struct pool_user *u, const struct err *err)
{
	step_skip(u->arg, failure_of_spawn(err), err->msg);
}

static const struct pool_handler handler = {
	.opened = opened,
	.refused = refused,
	.closed = closed,
};

static void expect(struct step_run *s)
{
	struct mcp_step *m = mem_zalloc(sizeof(*m));

	s->state = m;
	m->user = (struct pool_user){
		.name = s->plan->step->name,
		.plan = s->plan,
		.env = (const char *const *)s->env,
		.handler = &handler,
		.arg = s,
	};
	pool_expect(s->ctx->pool, &m->user);
}

static void begin(struct step_run *s)
{
	struct pool_user *u = &step_mcp_state(s)->user;
	struct scrub *own = pool_scrub(u);

	if (own)
		s->scrub = own;
	pool_enter(s->ctx->pool, u);
}

static enum step_reason timeout_reason(struct step_run *s)
{
	const struct client *c = step_mcp_state(s)->user.client;

	if (!c)
		return REASON_DEADLINE_SPAWN;
	if (!client_is_ready(c))
		return REASON_DEADLINE_INITIALIZE;
	return step_mcp_state(s)->list_ticket ? REASON_DEADLINE_LIST
					      : REASON_DEADLINE_CALL;
}

static const char *remark(const struct step_run *s)
{
	const struct client *c = step_mcp_state(s)->user.client;

	if (c && !client_stats(c)->bytes_in)
		return "; no output yet";
	return c && client_prints_result(c) ? "; " MCP_IS_PRINTED : "";
}

static void facts(struct step_run *s, struct jw *w)
{
	const struct step *step = s->plan->step;
	struct mcp_step *m = step_mcp_state(s);
	struct cleaner clean = {s->scrub, 0};
	struct scan_iter it;

	facts_text(&clean, w, "server",
		   str_of(step->server ? step->server_name : step->command));
	facts_text(&clean, w, "tool", str_of(step->tool));
	s->facts_scrubbed = clean.hits;
	if (!m)
		return;
	if (m->user.session_of)
		jw_kv_cstr(w, "session_of", m->user.session_of);
	if (m->user.afresh)
		jw_kv_cstr(w, "started_afresh", m->user.afresh);
	scan_iter_init(&it, m->facts);
	while (m->facts.n && scan_next(&it)) {
		jw_key_str(w, (struct str){it.key.p + 1, it.key.n - 2});
		jw_raw(w, it.value);
	}
	jw_kv_int(w, "result_repairs", m->repairs);
	s->facts_scrubbed += m->facts_scrubbed;
}

static void release(struct step_run *s)
{
	struct mcp_step *m = step_mcp_state(s);

	if (m)
		tool_check_release(&m->check);
	free(m);
	s->state = NULL;
}

const struct step_type step_type_mcp = {
	.name = "mcp-client",
	.expect = expect,
	.begin = begin,
	.stop = stop,
	.remark = remark,
	.timeout_reason = timeout_reason,
	.leave = on_leave,
	.facts = facts,
	.release = release,
};
