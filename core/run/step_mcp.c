/*
 * `mcp-client` with a tool: one tools/call in a session that other steps of the
 * run may use as well (core/run/pool.h). With `strict` the tools are listed
 * first, and arguments and result must fit the schemas of the tool.
 */
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/client/tool_check.h"
#include "core/run/judge.h"
#include "core/run/step_types.h"

struct mcp_step {
	struct pool_user user;
	uint64_t ticket; /* of the call; 0: none is open */
	/* strict: */
	uint64_t list_ticket; /* 0: the tools are not waited for */
	bool asked_anew;      /* the list is from after the step began */
	struct tool_check check;
	struct str typed;	 /* arguments, by the schema; {NULL, 0}: not */
	struct str answer;	 /* CallToolResult that breaks a schema */
	struct judgement judged; /* of it, while the tools are listed again */
	uint32_t repairs;
	bool waits;	  /* for the end of the server */
	struct str facts; /* of the process; n = 0: not known, or another's */
	size_t facts_scrubbed;
};

static void send_call(struct step_run *s);
static void list_tools(struct step_run *s, bool anew);

static struct mcp_step *state_of(const struct step_run *s)
{
	return s->state;
}

/* ---- the end ---- */

/* Log the details of a failure, or the end of stderr alone. */
static void log_words(struct step_run *s, const struct client *c)
{
	const char *details = client_failure_details(c);

	if (*details && step_has_failed(s))
		log_note("%s: %s", s->result.name, details);
	else
		step_log_words(s, client_stderr(c));
}

/* End the step that has its result, or wait for the server that it ends. */
static void leave(struct step_run *s, enum pool_end how)
{
	struct mcp_step *m = state_of(s);

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

/* Leave the server, if leave() did not: the step may not have begun. */
static void on_leave(struct step_run *s)
{
	struct mcp_step *m = state_of(s);

	if (m)
		(void)!pool_leave(s->ctx->pool, &m->user, POOL_CLOSE,
				  s->ctx->grace_ms);
}

static void keep_facts(struct step_run *s, struct client *c)
{
	struct mcp_step *m = state_of(s);
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

/* The process that this step started, or left as the last, has ended. */
static void closed(struct pool_user *u, struct client *c)
{
	struct step_run *s = u->arg;
	struct mcp_step *m = state_of(s);
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

static void fail(struct step_run *s, enum step_reason reason,
		 const char *sentence)
{
	step_fail(s, reason, "%s", sentence);
	leave(s, POOL_CLOSE);
}

static void unlist(struct step_run *s)
{
	struct mcp_step *m = state_of(s);

	if (m->list_ticket && m->user.client)
		client_unlist(m->user.client, m->list_ticket);
	m->list_ticket = 0;
	if (m->answer.n)
		step_finish(s, &m->judged);
	m->answer.n = 0;
}

static void stop(struct step_run *s, enum step_haste haste)
{
	struct mcp_step *m = state_of(s);

	if (s->phase == STEP_RUNNING) {
		if (m->ticket && m->user.client)
			client_cancel(m->user.client, m->ticket,
				      "the caller no longer waits");
		m->ticket = 0;
		unlist(s);
		leave(s, POOL_TERMINATE);
		return;
	}
	pool_hurry(s->ctx->pool, &m->user,
		   haste == HASTE_KILL ? POOL_KILL : POOL_TERMINATE);
}

/* ---- results ---- */

/*
 * Does the result break what the tool promises? *j says so then. A list from
 * before the step may be wrong: then the tools are listed again, and the step
 * waits.
 */
static bool breaks_promise(struct step_run *s, struct judgement *j)
{
	struct mcp_step *m = state_of(s);
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	struct tool_findings found;

	if (tool_check_result(&m->check, m->answer, &s->arena, &found) &&
	    !found.unusable)
		return false;
	tool_findings_say(&found, &says);
	j->reason = REASON_BAD_MESSAGE;
	j->error = arena_str(&s->arena, buf_str(&says));
	return true;
}

static bool hold_back(struct step_run *s, struct judgement *j, struct str whole)
{
	struct mcp_step *m = state_of(s);

	m->answer = whole;
	if (!m->check.tool.p || !breaks_promise(s, j) ||
	    (m->asked_anew &&
	     !client_list_is_stale(m->user.client, LISTING_TOOLS))) {
		m->answer.n = 0;
		return false;
	}
	m->answer = arena_str(&s->arena, whole);
	m->judged = *j;
	list_tools(s, true);
	return true;
}

/* The report borrows from the arena of the step. */
static void keep_answer(struct step_run *s, const struct client_event *e,
			struct mcp_tool_result *r)
{
	bool is_kept = client_keep(state_of(s)->user.client, e, &s->arena);

	if (r->fixed.n)
		r->content.p = arena_adopt(&s->arena, buf_steal(&r->fixed));
	else if (!is_kept)
		r->content = arena_str(&s->arena, r->content);
	if (!is_kept && r->structured.p)
		r->structured = arena_str(&s->arena, r->structured);
}

/* False: the step waits, for a list. */
static bool on_result(struct step_run *s, const struct client_event *e)
{
	struct mcp_step *m = state_of(s);
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
		waits = hold_back(s, &j, e->of->result);
		if (!waits)
			step_finish(s, &j);
	}
	mcp_tool_result_release(&r);
	return !waits;
}

static void on_event(void *arg, const struct client_event *e)
{
	struct step_run *s = arg;
	struct mcp_step *m = state_of(s);

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
		return; /* steps show no progress */
	}
	m->ticket = 0;
	leave(s, POOL_CLOSE);
}

static void send_call(struct step_run *s)
{
	struct mcp_step *m = state_of(s);
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
		fail(s, REASON_TRANSPORT, err.msg);
}

/* ---- strict: arguments ---- */

/*
 * Refuse a call, as the server would have to (-32602), unless the list is from
 * before the step: then list the tools again.
 */
static void refuse(struct step_run *s, const struct client_listed *l,
		   const char *sentence)
{
	if (l->is_known && !state_of(s)->asked_anew)
		list_tools(s, true);
	else
		fail(s, REASON_RPC_ERROR, sentence);
}

/*
 * Arguments from -p are typed as JSON, unless the schema refuses that and takes
 * the text.
 */
static bool fits(struct step_run *s, struct tool_findings *found)
{
	static const char what[] = "arguments";
	struct mcp_step *m = state_of(s);
	const struct plan_inputs *in = &s->plan->inputs;
	const struct str none = {NULL, 0};
	struct tool_findings again;

	m->typed = none;
	if (tool_check_arguments(&m->check, in->json.n ? in->json : none, what,
				 &s->arena, found))
		return true;
	m->typed = plan_inputs_as_text(in, &found->places, &s->arena);
	if (m->typed.p && (tool_check_arguments(&m->check, m->typed, what,
						&s->arena, &again) ||
			   again.violations.n < found->violations.n))
		*found = again;
	else
		m->typed = none;
	return !found->violations.n;
}

static void check_and_call(struct step_run *s, const struct client_listed *l,
			   const struct listing_item *item)
{
	struct mcp_step *m = state_of(s);
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	struct tool_findings found;

	tool_check_release(&m->check);
	tool_check_init(&m->check, arena_str(&s->arena, item->json));
	if (!fits(s, &found) || found.unusable) {
		tool_findings_say(&found, &says);
		buf_adds(&says, "; it was not called");
		refuse(s, l, buf_cstr(&says));
		return;
	}
	for (size_t i = 0; i < found.hints.n; i++)
		log_warning("%s: %s", s->result.name, found.hints.item[i]);
	send_call(s);
}

/* ---- strict: lists ---- */

/* Judge the answer by the list that was asked for because of it. */
static void judge_again(struct step_run *s, const struct listing *list)
{
	struct mcp_step *m = state_of(s);
	const struct listing_item *item =
		list ? listing_find(list, str_of(s->plan->step->tool)) : NULL;
	struct judgement j = m->judged;

	if (item) {
		tool_check_release(&m->check);
		tool_check_init(&m->check, arena_str(&s->arena, item->json));
		j.reason = REASON_NONE;
		j.error = (struct str){NULL, 0};
		(void)breaks_promise(s, &j);
	}
	m->answer.n = 0;
	step_finish(s, &j);
	leave(s, POOL_CLOSE);
}

static void on_no_list(struct step_run *s, const struct client_event *e)
{
	if (e->type == CLIENT_ERROR)
		step_fail(s, REASON_RPC_ERROR,
			  "the server answered error %lld to tools/list, which "
			  "`strict` needs: %.*s",
			  (long long)e->of->code, STR_ARG(e->of->message));
	else
		step_fail(s, e->reason, "%s", e->sentence);
	leave(s, POOL_CLOSE);
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct step_run *s = arg;
	struct mcp_step *m = state_of(s);
	const char *tool = s->plan->step->tool;
	const struct listing_item *item;

	m->list_ticket = 0;
	m->asked_anew |= !l->is_known;
	if (m->answer.n) {
		judge_again(s, l->list);
		return;
	}
	if (l->type != CLIENT_RESULT) {
		on_no_list(s, l->event);
		return;
	}
	item = listing_find(l->list, str_of(tool));
	if (item)
		check_and_call(s, l, item);
	else
		refuse(s, l,
		       arena_printf(&s->arena, "the server has %s",
				    tool_unknown(l->list, "tool", tool, "",
						 &s->arena)));
}

static void list_tools(struct step_run *s, bool anew)
{
	struct mcp_step *m = state_of(s);
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.anew = anew,
		.done = on_list,
		.arg = s,
	};
	struct err err = ERR_INIT;

	m->asked_anew |= anew;
	if (client_list(m->user.client, &list, &m->list_ticket, &err) == 0)
		return;
	unlist(s);
	fail(s, REASON_TRANSPORT, err.msg);
}

/* ---- the begin ---- */

static void opened(struct pool_user *u)
{
	struct step_run *s = u->arg;

	if (s->plan->strict)
		list_tools(s, false);
	else
		send_call(s);
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
		.env = env_lines(&s->env),
		.handler = &handler,
		.arg = s,
	};
	pool_expect(s->ctx->pool, &m->user);
}

static void begin(struct step_run *s)
{
	struct pool_user *u = &state_of(s)->user;
	struct scrub *own = pool_scrub(u);

	if (own)
		s->scrub = own;
	pool_enter(s->ctx->pool, u);
}

static enum step_reason timeout_reason(struct step_run *s)
{
	const struct client *c = state_of(s)->user.client;

	if (!c)
		return REASON_DEADLINE_SPAWN;
	if (!client_is_ready(c))
		return REASON_DEADLINE_INITIALIZE;
	return state_of(s)->list_ticket ? REASON_DEADLINE_LIST
					: REASON_DEADLINE_CALL;
}

static const char *remark(const struct step_run *s)
{
	const struct client *c = state_of(s)->user.client;

	if (c && !client_stats(c)->bytes_in)
		return "; no output yet";
	return c && client_prints_result(c) ? "; " MCP_IS_PRINTED : "";
}

static void facts(struct step_run *s, struct jw *w)
{
	const struct step *step = s->plan->step;
	struct mcp_step *m = state_of(s);
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
	struct mcp_step *m = state_of(s);

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
