#include "core/run/step.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/client/known_tools.h"
#include "core/client/program.h"
#include "core/client/said.h"
#include "core/client/tool_check.h"
#include "core/run/advice.h"
#include "core/run/advice_command.h"
#include "core/run/condition.h"
#include "core/run/judge.h"
#include "core/run/step_result.h"
#include "core/run/step_words.h"

static const char *const phase_names[] = {
#define X(name) #name,
	STEP_PHASES(X)
#undef X
};

static void set_phase(struct step_run *s, enum step_phase phase)
{
	if (s->phase == phase)
		return;
	log_debug("step %s: %s -> %s", s->plan->step->name,
		  phase_names[s->phase], phase_names[phase]);
	s->phase = phase;
}

/* ---- the result ---- */

/* `in` itself when it holds no secret, else a copy without. */
struct str step_scrubbed(struct step_run *s, struct str in,
			   size_t (*scrub)(const struct scrub *, struct str,
					   struct buf *))
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t n, hits;

	/* a cut text may end in half a secret, which is not found whole */
	if (!in.n || (scrub != scrub_cut && !scrub_finds(s->scrub, in)))
		return in;
	hits = scrub(s->scrub, in, &out);
	s->scrubbed += hits;
	if (!hits)
		return in;
	n = out.n;
	return (struct str){arena_adopt(&s->arena, buf_steal(&out)), n};
}

/*
 * For scrub_set_patience(): is time left, and did no signal come? The first no
 * also sets gave_up, for good.
 */
static bool may_go_on(void *arg)
{
	struct step_run *s = arg;

	s->gave_up |=
		loop_signal_waits() ||
		/* index 0: no timer is set */
		(s->budget.index && s->budget.due_ns <= loop_now(s->ctx->loop));
	return !s->gave_up;
}

/* Reason of a time-out: the phase that used up the time. */
static enum step_reason timeout_reason(const struct step_run *s)
{
	const struct client *c = s->mcp ? s->mcp->user.client : NULL;

	/* a program that ended its output and lives on is not silent */
	if (!s->mcp)
		return s->program && s->program->out_ended
			       ? REASON_DEADLINE_CLOSE
			       : REASON_DEADLINE_CALL;
	return !c		     ? REASON_DEADLINE_SPAWN
	       : !client_is_ready(c) ? REASON_DEADLINE_INITIALIZE
	       : s->mcp->list_ticket ? REASON_DEADLINE_LIST
				     : REASON_DEADLINE_CALL;
}

/* Remark that follows the sentence about a time-out; or "". */
static const char *remark(struct step_run *s)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct client *c = s->mcp ? s->mcp->user.client : NULL;

	if (!s->mcp ? s->program && !s->program->out_bytes
		    : c && !client_stats(c)->bytes_in)
		return "; no output yet";
	if (!c || client_is_ready(c))
		return "";
	if (client_prints_result(c))
		return "; " MCP_IS_PRINTED;
	client_say_noise(c, &line);
	return line.n ? arena_printf(&s->arena,
				     "; it printed \"%s\", which is no MCP "
				     "message",
				     buf_cstr(&line))
		      : "";
}

/* Show nothing of a result that could not be scrubbed in time. */
static void drop_result(struct step_run *s)
{
	bool is_cancelled = loop_signal_waits();

	s->result.reason = is_cancelled ? REASON_CANCELLED : timeout_reason(s);
	s->result.state = report_reason_state(s->result.reason);
	s->result.error =
		is_cancelled
			? STR("cancelled: while secrets were looked for in "
			      "the result")
			: STR("the timeout of the step ended while secrets "
			      "were looked for in the result");
	s->result.data = s->result.output = STR("");
	s->result.answer = (struct report_answer){0};
	buf_wipe(&s->out);
}

/*
 * Scrub the answer itself: the data around it is ours, and the output no longer
 * has every byte of it. The output is made here only where there are secrets,
 * to be scrubbed once more: blocks are cut in it.
 */
static void fill_result(struct step_run *s, const struct judgement *j)
{
	/* a program that failed may have been ended while it wrote */
	__typeof__(scrub_apply) *scrub =
		s->result.state == STATE_OK ? scrub_apply : scrub_cut;
	struct report_answer *answer = &s->result.answer;
	struct buf body = BUF_INIT(BUF_UNBOUNDED);
	size_t n;

	s->result.data = step_scrubbed(s, j->data, scrub_json);
	s->result.output = step_scrubbed(s, j->output, scrub);
	if (!j->answer.content.n)
		return;
	*answer = (struct report_answer){
		.content = step_scrubbed(s, j->answer.content, scrub_json),
		.structured = step_scrubbed(s, j->answer.structured, scrub_json),
		.is_error = j->answer.is_error,
	};
	/* a secret spans all of it */
	if (answer->content.n && answer->content.p[0] != '[')
		answer->content = STR("[{\"type\":\"text\",\"text\":\"***\"}]");
	if (scrub_is_empty(s->scrub))
		return;
	report_step_output(&body, &s->result);
	n = body.n;
	s->result.output = step_scrubbed(
		s, (struct str){arena_adopt(&s->arena, buf_steal(&body)), n},
		scrub);
}

/* The first result counts; later ones are ignored. */
void step_finish(struct step_run *s, const struct judgement *j)
{
	bool is_more = j->data.n || j->answer.content.n;

	/* a deadline came first: keep an answer that was whole by then */
	if (s->has_result && (report_step_has_data(&s->result) || !is_more))
		return;
	if (!s->has_result) {
		s->has_result = true;
		s->result.reason = j->reason;
		s->result.state = report_reason_state(j->reason);
		s->result.error = step_scrubbed(s, j->error, scrub_apply);
	}
	if (s->scrub)
		scrub_set_patience(s->scrub, may_go_on, s);
	fill_result(s, j);
	if (s->scrub)
		scrub_set_patience(s->scrub, NULL, NULL);
	if (s->gave_up)
		drop_result(s);
}

PRINTF(3, 4)
void step_fail(struct step_run *s, enum step_reason reason,
		      const char *fmt, ...)
{
	struct judgement j = {.reason = reason};
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		j.error = str_of(arena_strdup(&s->arena, text));
	va_end(ap);
	free(text);
	step_finish(s, &j);
}

bool step_has_failed(const struct step_run *s)
{
	return s->result.state != STATE_OK &&
	       s->result.state != STATE_SKIPPED &&
	       s->result.reason != REASON_CANCELLED;
}

/* Fail a step that succeeded without something that was refused to it. */
static void fail_unexpected(struct step_run *s)
{
	const char *why = NULL;

	if (s->result.state == STATE_OK && !(s->doer && s->doer->repeats))
		why = condition_unexpected(s->plan->step, &s->result,
					   &s->arena);
	if (!why)
		return;
	s->result.reason = REASON_EXPECT;
	s->result.state = report_reason_state(REASON_EXPECT);
	s->result.error = str_of(why);
}

/*
 * Keep the first of the output of a program that failed. The end may be
 * missing, by the ceiling of stdout or because the program was ended.
 */
static void keep_output(struct step_run *s)
{
	AUTO(buf_release) struct buf first = BUF_INIT(BUF_UNBOUNDED);
	bool is_shown =
		report_step_has_data(&s->result) && s->mode != JUDGE_script;

	if (s->result.output.n || is_shown || !s->out.n ||
	    s->result.state == STATE_OK)
		return;
	buf_add_cut(&first, buf_str(&s->out), LIMIT_KEPT_OUTPUT);
	s->result.output = str_trim(
		step_scrubbed(s, arena_str(&s->arena, buf_str(&first)), scrub_cut));
}

/* ---- the end ---- */

static void add_program_facts(struct step_run *s, struct jw *w)
{
	struct cleaner clean = {s->scrub, 0};
	struct program *p = s->program;

	if (!p || p->child.phase != CHILD_ENDED)
		return;
	facts_child(&clean, w, &p->child, p->out_bytes);
	s->facts_scrubbed = clean.hits;
}

static bool sets(const struct env_refs *refs, const char *name)
{
	for (size_t i = 0; i < refs->n; i++)
		if (!strcmp(refs->item[i].name, name))
			return true;
	for (size_t i = 0; i < refs->n_plain; i++)
		if (!strcmp(refs->plain[i].name, name))
			return true;
	return false;
}

/* Plain values of the environment; `over` sets some of these otherwise. */
static void add_plain(struct cleaner *c, struct jw *w,
		      const struct env_refs *refs, const struct env_refs *over)
{
	for (size_t i = 0; i < refs->n_plain; i++) {
		const struct env_plain *p = &refs->plain[i];

		if (!p->is_secret && !(over && sets(over, p->name)))
			facts_text(c, w, p->name, str_of(p->value));
	}
}

static void add_environment(struct step_run *s, struct jw *w)
{
	const struct env_refs *server = &s->plan->server_env;
	const struct env_refs *own = &s->plan->step->env;
	struct cleaner clean = {s->scrub, 0};

	if (!server->n_plain && !own->n_plain)
		return;
	jw_kv_object(w, "env");
	add_plain(&clean, w, server, own);
	add_plain(&clean, w, own, NULL);
	jw_end(w);
	s->facts_scrubbed += clean.hits;
}

/* Title that the server gives the tool, where a list of its tools was read. */
static void add_title(struct cleaner *c, struct jw *w, struct str tool)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	if (tool.p &&
	    scan_string_cut(tool_title(tool), LIMIT_NOISE_LINE, &title) &&
	    str_trim(buf_str(&title)).n)
		facts_text(c, w, "title", str_trim(buf_str(&title)));
}

static void add_call_facts(struct step_run *s, struct jw *w)
{
	const struct step *step = s->plan->step;
	const struct mcp_step *m = s->mcp;
	struct cleaner clean = {s->scrub, 0};

	facts_text(&clean, w, "server",
		   str_of(step->server ? step->server_name : step->command));
	facts_text(&clean, w, "tool", str_of(step->tool));
	if (m)
		add_title(&clean, w, m->check.tool);
	s->facts_scrubbed = clean.hits;
	if (!m)
		return;
	if (m->user.session_of)
		jw_kv_cstr(w, "session_of", m->user.session_of);
	if (m->user.afresh)
		jw_kv_cstr(w, "started_afresh", m->user.afresh);
	if (m->facts.n > 1)
		jw_raw(w, str_skip(buf_str(&m->facts), 1));
	jw_kv_int(w, "result_repairs", m->repairs);
	s->facts_scrubbed += m->facts_scrubbed;
}

/* Write the facts, again where more is known than when the step ended. */
static void write_facts(struct step_run *s)
{
	AUTO(buf_release) struct buf run = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &run, false);
	jw_object(&w);
	if (s->begin_ns) {
		facts_time(&w, "started", s->begin_wall_ns);
		jw_kv_int(&w, "duration_us",
			  (int64_t)((s->end_ns - s->begin_ns) / 1000));
	}
	if (*s->inputs)
		jw_kv_cstr(&w, "inputs", s->inputs);
	s->facts_scrubbed = 0;
	if (s->is_call)
		add_call_facts(s, &w);
	else
		add_program_facts(s, &w);
	if (s->begin_ns)
		add_environment(s, &w);
	if (s->doer && s->doer->add_facts)
		s->doer->add_facts(s, &w);
	if (s->scrubbed + s->facts_scrubbed)
		jw_kv_int(&w, "scrubbed",
			  (int64_t)(s->scrubbed + s->facts_scrubbed));
	jw_end(&w);
	s->result.run = arena_str(&s->arena, buf_str(&run));
}

static void step_end(struct step_run *s)
{
	if (s->phase == STEP_ENDED)
		return;
	/* if mcp_leave() did not: the step may not have begun */
	if (s->mcp)
		(void)!pool_leave(s->ctx->pool, &s->mcp->user, POOL_CLOSE,
				  s->ctx->grace_ms);
	if (!s->has_result)
		step_fail(s, REASON_INTERNAL, "the step ended without result");
	s->end_ns = loop_now(s->ctx->loop);
	fail_unexpected(s);
	keep_output(s);
	/* those of one execution are shown nowhere, but for an attempt's */
	if (!s->ctx->whole || s->ctx->whole->doer->add_facts)
		write_facts(s);
	loop_timer_clear(s->ctx->loop, &s->budget);
	env_release(&s->env);
	set_phase(s, STEP_ENDED);
	s->ctx->step_ended(s->ctx->ended_arg, s);
}

/* The facts of a result that was kept say where it comes from. */
static struct str taken_facts(struct str run, uint64_t generation,
			      const char *member, struct arena *arena)
{
	struct str rest = run.n ? str_skip(run, 1) : STR("}");
	struct str from;

	if (run.n && scan_get(run, member, &from))
		return run;
	return str_of(arena_printf(arena, "{\"%s\":%llu%s%.*s", member,
				   (unsigned long long)generation,
				   run.n && scan_count(run) ? "," : "",
				   STR_ARG(rest)));
}

void step_use(struct step_run *s, const struct report_step *kept,
	      uint64_t generation, bool is_cached)
{
	const struct report_step own = s->result;

	s->result = *kept;
	s->result.name = own.name;
	s->result.type = own.type;
	s->result.required = own.required;
	s->result.run =
		taken_facts(kept->run, generation,
			    is_cached ? "cached" : "taken_from", &s->arena);
	s->has_result = true;
	if (s->mcp)
		(void)!pool_leave(s->ctx->pool, &s->mcp->user, POOL_CLOSE,
				  s->ctx->grace_ms);
	env_release(&s->env);
	set_phase(s, STEP_ENDED);
	s->ctx->step_ended(s->ctx->ended_arg, s);
}

/* End it before it begins. */
static void step_skip(struct step_run *s, enum step_reason reason,
		      struct str sentence)
{
	step_fail(s, reason, "%.*s", STR_ARG(sentence));
	step_end(s);
}

/*
 * Steps whose program is run to its end and whose whole stdout is judged:
 * `script`, `harness`, and `mcp-client` without a tool (subprocess-JSON).
 */

/* ---- a program: the end ---- */

static void exec_over(void *arg)
{
	struct step_run *s = arg;

	step_fail(s, REASON_OUTPUT_LIMIT,
		  "stdout is over its ceiling of %llu bytes; raise stdout_max "
		  "of the step when that much is expected",
		  (unsigned long long)s->plan->step->stdout_max);
}

static void exec_ended(void *arg)
{
	struct step_run *s = arg;
	struct program *p = s->program;
	struct judgement j;

	/* the result points into it */
	s->out = p->out;
	p->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	j = judge_program(s->mode, buf_str(&s->out), &p->child.verdict,
			  &s->arena);
	s->cause.has_exit = p->child.verdict.exited;
	s->cause.exit_status = p->child.verdict.exit_status;
	/* step_end() keeps a part of an output that was cut off */
	if (s->has_result && s->mode == JUDGE_script)
		j.output = (struct str){NULL, 0};
	step_finish(s, &j);
	s->scrubbed += p->child.scrubbed;
	step_keep_said(s, child_stderr(&p->child), "");
	step_advise(s, child_stderr(&p->child), &p->child.verdict);
	if (s->ctx->verdict)
		s->ctx->verdict(s->ctx->arg, s, &p->child.verdict);
	step_end(s);
	/* other steps need its descriptors */
	child_release(&p->child);
}

/* ---- a program: the begin ---- */

static void exec_begin(struct step_run *s)
{
	struct gate_request request = s->plan->request;
	const struct program_options options = {
		.loop = s->ctx->loop,
		.scrub = s->scrub,
		.name = s->plan->step->name,
		.grace_ms = s->ctx->grace_ms,
		.stderr_max = s->plan->step->stderr_max,
		.stdout_max = s->plan->step->stdout_max,
		.input = s->plan->input,
		.over = exec_over,
		.ended = exec_ended,
		.arg = s,
	};
	struct err err = ERR_INIT;

	s->program = mem_zalloc(sizeof(*s->program));
	program_init(s->program, &options);
	request.env = env_lines(&s->env);
	if (program_start(s->program, s->ctx->gate, &request, &err) < 0)
		step_skip(s, failure_of_spawn(&err), str_of(err.msg));
}

/*
 * `mcp-client` with a tool: one tools/call in a session that other steps of the
 * run may use as well (core/run/pool.h). With `strict` the tools are listed
 * first, and arguments and result must fit the schemas of the tool.
 */

static void send_call(struct step_run *s);
static void forget_hint(struct step_run *s);
static void list_tools(struct step_run *s, bool anew);

/* ---- a call: the end ---- */

/* End the step that has its result, or wait for the server that it ends. */
static void mcp_leave(struct step_run *s, enum pool_end how)
{
	struct mcp_step *m = s->mcp;
	const struct client *c = m->user.client;

	if (s->phase != STEP_RUNNING)
		return;
	if (c)
		step_keep_said(s, client_stderr(c), client_failure_details(c));
	forget_hint(s);
	m->waits = pool_leave(s->ctx->pool, &m->user, how, s->ctx->grace_ms);
	if (m->waits) {
		set_phase(s, STEP_CLOSING);
		return;
	}
	if (c && step_has_failed(s))
		step_advise(s, client_stderr(c), NULL);
	step_end(s);
}

/* The process that this step started, or left as the last, has ended. */
static void mcp_closed(struct pool_user *u, struct client *c)
{
	struct step_run *s = u->arg;
	struct mcp_step *m = s->mcp;
	const struct gate_verdict *v = client_verdict(c);
	struct jw w;

	if (!u->session_of) {
		m->facts_scrubbed = 0;
		buf_clear(&m->facts);
		jw_init(&w, &m->facts, false);
		jw_object(&w);
		client_facts(c, &w, &m->facts_scrubbed);
		if (v && s->ctx->verdict)
			s->ctx->verdict(s->ctx->arg, s, v);
	}
	if (v)
		step_advise(s, client_stderr(c), v);
	if (s->phase == STEP_CLOSING && m->waits)
		step_end(s);
	else if (s->phase == STEP_ENDED)
		write_facts(s);
	if (s->phase == STEP_ENDED)
		buf_release(&m->facts);
}

static void mcp_fail(struct step_run *s, enum step_reason reason,
		     const char *sentence)
{
	step_fail(s, reason, "%s", sentence);
	mcp_leave(s, POOL_CLOSE);
}

static void unlist(struct step_run *s)
{
	struct mcp_step *m = s->mcp;

	if (m->list_ticket && m->user.client)
		client_unlist(m->user.client, m->list_ticket);
	m->list_ticket = 0;
	if (m->answer.n)
		step_finish(s, &m->judged);
	m->answer.n = 0;
}

static void mcp_stop(struct step_run *s, bool is_urgent)
{
	struct mcp_step *m = s->mcp;

	if (s->phase == STEP_RUNNING) {
		if (m->ticket && m->user.client)
			client_cancel(m->user.client, m->ticket,
				      "the caller no longer waits");
		m->ticket = 0;
		unlist(s);
		mcp_leave(s, POOL_TERMINATE);
		return;
	}
	pool_hurry(s->ctx->pool, &m->user,
		   is_urgent ? POOL_KILL : POOL_TERMINATE);
}

/* ---- a call: results ---- */

/*
 * Does the result break what the tool promises? *j says so then. A list from
 * before the step may be wrong: then the tools are listed again, and the step
 * waits.
 */
static bool breaks_promise(struct step_run *s, struct judgement *j)
{
	struct mcp_step *m = s->mcp;
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

/* The report borrows from the arena of the step. */
static void keep_answer(struct step_run *s, const struct client_event *e,
			struct mcp_tool_result *r)
{
	bool is_kept = client_keep(s->mcp->user.client, e, &s->arena);

	if (r->fixed.n)
		r->content.p = arena_adopt(&s->arena, buf_steal(&r->fixed));
	else if (!is_kept)
		r->content = arena_str(&s->arena, r->content);
	if (!is_kept && r->structured.p)
		r->structured = arena_str(&s->arena, r->structured);
}

/* False: the step waits, for a list. */
static bool mcp_on_result(struct step_run *s, const struct client_event *e)
{
	struct mcp_step *m = s->mcp;
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
		m->answer = e->of->result;
		waits = m->check.tool.p && breaks_promise(s, &j) &&
			(!m->asked_anew ||
			 client_list_is_stale(c, LISTING_TOOLS));
		m->answer = waits ? arena_str(&s->arena, m->answer)
				  : (struct str){NULL, 0};
		m->judged = j;
		if (waits)
			list_tools(s, true);
		else
			step_finish(s, &j);
	}
	mcp_tool_result_release(&r);
	return !waits;
}

static void mcp_on_progress(struct step_run *s, const struct client_event *e)
{
	AUTO(buf_release) struct buf note = BUF_INIT(BUF_UNBOUNDED);

	if (!s->ctx->progress)
		return;
	client_say_progress(s->mcp->user.client, e, &note);
	s->ctx->progress(s->ctx->arg, s, buf_cstr(&note));
}

/* ---- a call: a tool that is not there ---- */

/* A step that has failed waits so long for the names of the tools. */
#define NAMES_MS 2000

static void on_names(void *arg, const struct client_listed *l)
{
	struct step_run *s = arg;
	const char *tool = s->plan->step->tool;
	struct strlist names = {NULL, 0};

	s->mcp->list_ticket = 0;
	for (size_t i = 0; l->type == CLIENT_RESULT && i < l->list->n; i++) {
		struct str name = l->list->item[i].name;

		if (known_tools_takes(name) && !str_is(name, tool))
			list_add(&names, &s->arena,
				 arena_strndup(&s->arena, name.p, name.n));
	}
	s->mcp->near = str_nearest(str_of(tool), names.item, names.n);
	mcp_leave(s, POOL_CLOSE);
}

/* Ask for the tools, to name the one that was meant; then the step ends. */
static bool asks_for_names(struct step_run *s)
{
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.done = on_names,
		.arg = s,
	};
	uint64_t until = loop_now(s->ctx->loop) + NAMES_MS * NS_PER_MS;

	if (!step_misses_tool(s))
		return false;
	if (s->budget.due_ns > until)
		loop_timer_set(s->ctx->loop, &s->budget, until);
	return client_list(s->mcp->user.client, &list, &s->mcp->list_ticket,
			   ERR_IGNORED) == 0;
}

/* The transport says more of a loss. */
static void note_loss(struct step_run *s, const struct client_event *e)
{
	s->cause.is_before = e->is_unsent;
	s->cause.http_status = e->refusal.status;
	if (e->refusal.has_time)
		s->cause.after_s = e->refusal.after_s;
}

static void mcp_on_event(void *arg, const struct client_event *e)
{
	struct step_run *s = arg;
	struct mcp_step *m = s->mcp;

	switch (e->type) {
	case CLIENT_RESULT:
		m->ticket = 0;
		if (!mcp_on_result(s, e))
			return;
		break;
	case CLIENT_ERROR:
		step_fail(s, REASON_RPC_ERROR,
			  "the server answered error %lld: %.*s",
			  (long long)e->of->code, STR_ARG(e->of->message));
		s->cause.has_rpc = true;
		s->cause.rpc_code = e->of->code;
		break;
	case CLIENT_FAILED:
		note_loss(s, e);
		step_fail(s, e->reason, "%s", e->sentence);
		break;
	case CLIENT_PROGRESS:
		mcp_on_progress(s, e);
		return;
	default:
		return;
	}
	m->ticket = 0;
	if (e->type == CLIENT_FAILED || !asks_for_names(s))
		mcp_leave(s, POOL_CLOSE);
}

static void send_call(struct step_run *s)
{
	struct mcp_step *m = s->mcp;
	/* the step's own time is over first */
	uint64_t longest = s->plan->step->timeout_ms + 1000;
	const struct client_call call = {
		.tool = s->plan->step->tool,
		.params = m->typed.p ? m->typed : s->plan->inputs.json,
		.as_task = m->check.tool.p && tool_needs_task(m->check.tool),
		.timeout_ms = longest,
		.total_ms = longest,
		.on_event = mcp_on_event,
		.arg = s,
	};
	struct err err = ERR_INIT;

	s->cause.is_before = false;
	if (client_call(m->user.client, &call, &m->ticket, &err) < 0) {
		s->cause.is_before = true;
		mcp_fail(s, REASON_TRANSPORT, err.msg);
	}
}

/* ---- a call: may it be repeated ---- */

static void on_hint(void *arg, const struct client_listed *l)
{
	struct step_run *s = arg;
	const struct listing_item *item = NULL;

	s->mcp->hint_ticket = 0;
	if (l->type == CLIENT_RESULT)
		item = listing_find(l->list, str_of(s->plan->step->tool));
	s->cause.may_repeat = item && tool_may_repeat(item->json);
}

/* Ask for the tools beside the call, which does not wait for them. */
static void ask_for_hint(struct step_run *s)
{
	struct mcp_step *m = s->mcp;
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.done = on_hint,
		.arg = s,
	};

	if (s->plan->step->retry.max &&
	    client_list(m->user.client, &list, &m->hint_ticket, ERR_IGNORED) <
		    0)
		m->hint_ticket = 0;
}

static void forget_hint(struct step_run *s)
{
	if (s->mcp->hint_ticket && s->mcp->user.client)
		client_unlist(s->mcp->user.client, s->mcp->hint_ticket);
	s->mcp->hint_ticket = 0;
}

/* ---- a call: strict: arguments ---- */

/*
 * Refuse a call, as the server would have to (-32602), unless the list is from
 * before the step: then list the tools again.
 */
static void mcp_refuse(struct step_run *s, const struct client_listed *l,
		       const char *sentence)
{
	if (l->is_known && !s->mcp->asked_anew)
		list_tools(s, true);
	else
		mcp_fail(s, REASON_RPC_ERROR, sentence);
}

/*
 * Arguments from -p are typed as JSON, unless the schema refuses that and takes
 * the text.
 */
static bool fits(struct step_run *s, struct tool_findings *found)
{
	static const char what[] = "arguments";
	struct mcp_step *m = s->mcp;
	const struct fill_params *in = &s->plan->inputs;
	const struct str none = {NULL, 0};
	struct tool_findings again;

	m->typed = none;
	if (tool_check_arguments(&m->check, in->json.n ? in->json : none, what,
				 &s->arena, found))
		return true;
	m->typed = fill_as_text(in, &found->places, &s->arena);
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
	struct mcp_step *m = s->mcp;
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	struct tool_findings found;

	tool_check_release(&m->check);
	tool_check_init(&m->check, arena_str(&s->arena, item->json));
	if (!fits(s, &found) || found.unusable) {
		tool_findings_say(&found, &says);
		buf_adds(&says, "; it was not called");
		mcp_refuse(s, l, buf_cstr(&says));
		return;
	}
	for (size_t i = 0; i < found.hints.n; i++)
		log_warning("%s: %s", s->result.name, found.hints.item[i]);
	send_call(s);
}

/* ---- a call: strict: lists ---- */

/* Judge the answer by the list that was asked for because of it. */
static void judge_again(struct step_run *s, const struct listing *list)
{
	struct mcp_step *m = s->mcp;
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
	mcp_leave(s, POOL_CLOSE);
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct step_run *s = arg;
	struct mcp_step *m = s->mcp;
	const struct client_event *e = l->event;
	const char *tool = s->plan->step->tool;
	const struct listing_item *item;

	m->list_ticket = 0;
	m->asked_anew |= !l->is_known;
	if (m->answer.n) {
		judge_again(s, l->list);
		return;
	}
	if (l->type == CLIENT_ERROR)
		step_fail(s, REASON_RPC_ERROR,
			  "the server answered error %lld to tools/list, which "
			  "`strict` needs: %.*s",
			  (long long)e->of->code, STR_ARG(e->of->message));
	else if (l->type != CLIENT_RESULT)
		step_fail(s, e->reason, "%s", e->sentence);
	if (l->type != CLIENT_RESULT) {
		mcp_leave(s, POOL_CLOSE);
		return;
	}
	item = listing_find(l->list, str_of(tool));
	if (item)
		check_and_call(s, l, item);
	else
		mcp_refuse(s, l,
			   arena_printf(&s->arena, "the server has %s",
					tool_unknown(l->list, "tool", tool, "",
						     &s->arena)));
}

static void list_tools(struct step_run *s, bool anew)
{
	struct mcp_step *m = s->mcp;
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
	mcp_fail(s, REASON_TRANSPORT, err.msg);
}

/* ---- a call: the begin ---- */

static void mcp_opened(struct pool_user *u)
{
	struct step_run *s = u->arg;

	ask_for_hint(s);
	if (s->plan->strict)
		list_tools(s, false);
	else
		send_call(s);
}

static void mcp_refused(struct pool_user *u, const struct err *err)
{
	step_skip(u->arg, failure_of_spawn(err), str_of(err->msg));
}

static const struct pool_handler mcp_handler = {
	.opened = mcp_opened,
	.refused = mcp_refused,
	.closed = mcp_closed,
};

/* ---- the life of a step ---- */

/* End it, since no result is wanted any more. */
static void stop(struct step_run *s, const char *why, bool is_urgent)
{
	if (s->doer && s->phase == STEP_RUNNING) {
		s->doer->stop(s, why);
	} else if (s->mcp) {
		mcp_stop(s, is_urgent);
	} else if (s->program) {
		s->program->child.o.grace_ms = s->ctx->grace_ms;
		child_end(&s->program->child,
			  is_urgent ? CHILD_KILLING : CHILD_TERMINATING);
	}
}

static void on_budget(void *arg)
{
	struct step_run *s = arg;

	if (!s->has_result)
		step_fail(s, timeout_reason(s),
			  "no result within %.3g s (timeout of the step)%s",
			  (double)s->plan->step->timeout_ms / 1000, remark(s));
	stop(s, "the time of the step is over", false);
}

void step_cancel(struct step_run *s, const char *why)
{
	bool is_urgent = s->is_cancelled;

	if (s->phase == STEP_ENDED)
		return;
	if (s->phase == STEP_WAITING) {
		step_fail(s, REASON_CANCELLED, "cancelled: %s before it began",
			  why);
		s->result.not_begun = true;
		step_end(s);
		return;
	}
	step_fail(s, REASON_CANCELLED, "cancelled: %s", why);
	s->is_cancelled = true;
	stop(s, why, is_urgent);
}

/* ---- a step that others do ---- */

void step_close(struct step_run *s, const struct judgement *j)
{
	step_finish(s, j);
	if (s->mcp)
		mcp_leave(s, s->is_cancelled ? POOL_TERMINATE : POOL_CLOSE);
	else
		step_end(s);
}

void step_take_over(struct step_run *s, const struct step_run *part)
{
	if (part->mcp)
		pool_take_over(s->ctx->pool, s->mcp ? &s->mcp->user : NULL,
			       &part->mcp->user);
	s->result.refused |= part->result.refused;
	s->scrubbed += part->scrubbed;
}

void step_become(struct step_run *s, struct step_run *part)
{
	part->result.refused |= s->result.refused;
	s->result = part->result;
	s->has_result = true;
	step_take_over(s, part);
	if (!s->mcp || !part->mcp)
		return;
	s->mcp->check = part->mcp->check;
	s->mcp->repairs = part->mcp->repairs;
	tool_check_init(&part->mcp->check, (struct str){NULL, 0});
}

/* ---- the begin and the end of its life ---- */

/* A step that others do has the time that the file says, or no end of it; that
   of one with executions is for each of them. */
static bool is_bounded(const struct step_run *s)
{
	return !s->doer->repeats && toml_get(s->plan->step->written, "timeout");
}

void step_begin(struct step_run *s)
{
	struct loop *l = s->ctx->loop;

	s->begin_ns = loop_now(l);
	s->begin_wall_ns = l->clock->wall_ns(l->clock);
	s->budget = (struct loop_timer){.fire = on_budget, .arg = s};
	if (s->plan->reason != REASON_NONE) {
		step_skip(s, s->plan->reason, s->plan->error);
		return;
	}
	set_phase(s, STEP_RUNNING);
	if (s->doer && !is_bounded(s)) {
		s->doer->begin(s);
		return;
	}
	loop_timer_set(l, &s->budget,
		       s->begin_ns + s->plan->step->timeout_ms * NS_PER_MS);
	if (s->doer) {
		s->doer->begin(s);
		return;
	}
	if (!s->is_call) {
		exec_begin(s);
		return;
	}
	if (!s->mcp->user.server)
		pool_expect(s->ctx->pool, &s->mcp->user);
	if (pool_scrub(&s->mcp->user))
		s->scrub = pool_scrub(&s->mcp->user);
	pool_enter(s->ctx->pool, &s->mcp->user);
}

/* Mode of the judgement of a type; the loader has resolved aliases. */
static enum judge_mode mode_of(const struct step *step)
{
	static const struct {
		const char *name;
		enum judge_mode mode;
	} modes[] = {
#define STEP_TYPE(ident, name, section, help) {name, JUDGE_##ident},
#include "core/config/step_types.def"
	};
	size_t i = 0;

	/* a step of a type that is not supported never begins */
	if (step->instead)
		return JUDGE_script;
	while (i + 1 < ARRAY_LEN(modes) && strcmp(step->type, modes[i].name))
		i++;
	assert(strcmp(step->type, modes[i].name) == 0);
	return modes[i].mode;
}

void step_init(struct step_run *s, struct step_context *ctx,
	       const struct plan_step *plan)
{
	const struct step *step = plan->step;

	*s = (struct step_run){
		.plan = plan,
		.ctx = ctx,
		.scrub = ctx->scrub,
		.mode = mode_of(step),
		.phase = STEP_WAITING,
		.out = BUF_INIT(BUF_UNBOUNDED),
		.env = s->env,
		.result = {.name = step->name,
			   .type = step->type,
			   .required = step->required},
		.cause = {.is_before = true, .after_s = -1},
	};
	s->is_call = s->mode == JUDGE_mcp_client && step->tool;
	if (ctx->doer)
		s->doer = ctx->doer(step, ctx->whole);
	if (!s->is_call || plan->reason != REASON_NONE || plan->is_taken)
		return;
	s->mcp = mem_zalloc(sizeof(*s->mcp));
	s->mcp->facts = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->mcp->user = (struct pool_user){
		.name = step->name,
		.plan = plan,
		.env = env_lines(&s->env),
		.handler = &mcp_handler,
		.arg = s,
	};
	/* another step may give it the arguments that tell servers apart */
	if (ctx->whole && ctx->whole->mcp->user.server)
		pool_expect_with(&s->mcp->user, &ctx->whole->mcp->user);
	else if (!plan->flow->has_late_args)
		pool_expect(ctx->pool, &s->mcp->user);
}

void step_release(struct step_run *s)
{
	if (s->program) {
		/* the loop may have ended before its steps are freed */
		if (!s->ctx)
			s->program->o.loop = NULL;
		program_release(s->program);
	}
	if (s->mcp) {
		tool_check_release(&s->mcp->check);
		buf_release(&s->mcp->facts);
	}
	if (s->doer)
		s->doer->release(s);
	free(s->program);
	free(s->mcp);
	env_release(&s->env);
	buf_release(&s->out);
	arena_release(&s->arena);
}
