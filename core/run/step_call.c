/*
 * A step that calls a tool: `mcp-client` with a tool, one tools/call in a
 * session that other steps of the run may use as well (core/run/pool.h). With
 * `strict` the tools are listed first, and arguments and result must fit the
 * schemas of the tool.
 */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/tool_check.h"
#include "core/mcp/wire/merged_name.h"
#include "core/run/pinned.h"
#include "core/run/step.h"
#include "core/run/step_result.h"
#include "core/run/step_words.h"
#include "core/run/tool_policy.h"

struct call {
	struct step_run *step;
	uint64_t ticket;      /* 0: no call is open */
	uint64_t hint_ticket; /* of the list that tells of the tool; or 0 */
	uint64_t list_ticket; /* 0: the tools are not waited for */
	/* strict: */
	bool asked_anew; /* the list is from after the step began */
	struct tool_check check;
	struct str typed;	 /* arguments, by the schema; {NULL, 0}: not */
	struct str answer;	 /* CallToolResult that breaks a schema; n = 0:
				    none, or it was judged */
	struct judgement judged; /* of it, while the tools are listed again */
};

static struct client *client_of(const struct call *c)
{
	return c->step->session->user.client;
}

/* ---- the end ---- */

static void close_call(struct call *c)
{
	if (c->hint_ticket && client_of(c))
		client_unlist(client_of(c), c->hint_ticket);
	c->hint_ticket = 0;
	step_close(c->step, NULL);
}

static void fail(struct call *c, enum step_reason reason, const char *sentence)
{
	step_fail(c->step, reason, "%s", sentence);
	close_call(c);
}

static void deny(struct call *c, enum step_reason reason, const char *sentence)
{
	step_fail(c->step, reason, "%s", sentence);
	step_note_denied(c->step);
	close_call(c);
}

static void unlist(struct call *c)
{
	if (c->list_ticket && client_of(c))
		client_unlist(client_of(c), c->list_ticket);
	c->list_ticket = 0;
	if (c->answer.n)
		step_finish(c->step, &c->judged);
	c->answer.n = 0;
}

static void stop(struct step_run *s, const char *why UNUSED)
{
	struct call *c = s->work;

	if (!c) {
		step_close(s, NULL);
		return;
	}
	if (c->ticket && client_of(c))
		client_cancel(client_of(c), c->ticket, s->result.reason,
			      "the caller no longer waits");
	c->ticket = 0;
	unlist(c);
	close_call(c);
}

static void release(struct step_run *s)
{
	struct call *c = s->work;

	if (c)
		tool_check_release(&c->check);
	free(c);
}

static const char *initialize_remark(struct step_run *s, const struct client *c)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (client_prints_result(c))
		return "; " MCP_IS_PRINTED;
	client_say_noise(c, &line);
	return line.n ? arena_printf(&s->arena,
				     "; it printed \"%s\", which is no MCP "
				     "message",
				     buf_cstr(&line))
		      : "";
}

static enum step_reason late(struct step_run *s, const char **remark)
{
	const struct client *client = s->session->user.client;
	const struct call *c = s->work;
	AUTO(buf_release) struct buf turn = BUF_INIT(BUF_UNBOUNDED);

	if (!client)
		return REASON_DEADLINE_SPAWN;
	if (!client_stats(client)->bytes_in)
		*remark = "; no output yet";
	else if (!client_is_ready(client))
		*remark = initialize_remark(s, client);
	else if (client_say_turn(client, c->ticket, &turn))
		*remark = arena_printf(&s->arena,
				       "; it waited for its turn, by %s",
				       buf_cstr(&turn));
	return !client_is_ready(client) ? REASON_DEADLINE_INITIALIZE
	       : c->list_ticket		? REASON_DEADLINE_LIST
					: REASON_DEADLINE_CALL;
}

/* ---- a result ---- */

/* Learn the tool from a list. */
static void use_tool(struct call *c, const struct listing_item *item)
{
	struct step_run *s = c->step;

	s->session->tool = arena_str(&s->arena, item->json);
	tool_check_release(&c->check);
	tool_check_init(&c->check, s->session->tool);
}

/* Does a CallToolResult break what the tool promises? *j says so then. */
static bool breaks_promise(struct call *c, struct str answer,
			   struct judgement *j)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	struct arena *arena = &c->step->arena;
	struct tool_findings found;

	if (tool_check_result(&c->check, answer, arena, &found) &&
	    !found.unusable)
		return false;
	tool_findings_say(&found, &says);
	j->reason = REASON_BAD_MESSAGE;
	j->error = arena_str(arena, buf_str(&says));
	return true;
}

/* The report borrows from the arena of the step. */
static void keep_answer(struct call *c, const struct client_event *e,
			struct mcp_tool_result *r)
{
	struct arena *arena = &c->step->arena;
	bool is_kept = client_keep(client_of(c), e, arena);

	if (r->fixed.n)
		r->content.p = arena_adopt(arena, buf_steal(&r->fixed));
	else if (!is_kept)
		r->content = arena_str(arena, r->content);
	if (!is_kept && r->structured.p)
		r->structured = arena_str(arena, r->structured);
}

static void list_tools(struct call *c, bool anew);

/*
 * Finish the step, unless the result breaks a promise of a list from before
 * the step, which may be wrong: then the tools are listed again.
 *
 * returns  false: the step waits for the list
 */
static bool on_result(struct call *c, const struct client_event *e)
{
	AUTO(mcp_tool_result_release) struct mcp_tool_result r = {0};
	struct client *client = client_of(c);
	struct step_run *s = c->step;
	uint64_t max = s->plan->step->stdout_max;
	struct str answer = e->of->result;
	struct err err = ERR_INIT;

	if (answer.n > max) {
		step_fail(s, REASON_OUTPUT_LIMIT,
			  "the result has %zu bytes, over the ceiling of %llu; "
			  "raise stdout_max of the step when that much is "
			  "expected",
			  answer.n, (unsigned long long)max);
		return true;
	}
	if (mcp_read_tool_result(answer, client_server(client)->revision, &r,
				 &err) < 0) {
		step_fail(s, REASON_NOT_CALL_TOOL_RESULT, "%s", err.msg);
		return true;
	}
	s->session->repairs = r.repairs;
	keep_answer(c, e, &r);
	c->judged = judge_result(r.content, r.is_error, r.structured);
	if (!c->check.tool.p || !breaks_promise(c, answer, &c->judged) ||
	    (c->asked_anew && !client_list_is_stale(client, LISTING_TOOLS))) {
		step_finish(s, &c->judged);
		return true;
	}
	c->answer = arena_str(&s->arena, answer);
	list_tools(c, true);
	return false;
}

static void on_progress(struct call *c, const struct client_event *e)
{
	AUTO(buf_release) struct buf note = BUF_INIT(BUF_UNBOUNDED);
	struct step_run *s = c->step;

	if (!s->ctx->progress)
		return;
	client_say_progress(client_of(c), e, &note);
	s->ctx->progress(s->ctx->arg, s, buf_cstr(&note));
}

/* ---- a tool that is not there ---- */

/* A step that has failed waits so long for the names of the tools. */
#define NAMES_MS 2000

static void on_names(void *arg, const struct client_listed *l)
{
	struct call *c = arg;
	struct step_run *s = c->step;
	const char *tool = s->plan->step->tool;
	struct strlist names = {NULL, 0};

	c->list_ticket = 0;
	for (size_t i = 0; l->type == CLIENT_RESULT && i < l->list->n; i++) {
		struct str name = l->list->item[i].name;

		s->session->has_tool |= str_is(name, tool);
		if (tool_name_is_word(name) && !str_is(name, tool))
			list_add(&names, &s->arena,
				 arena_strndup(&s->arena, name.p, name.n));
	}
	s->session->near = str_nearest(str_of(tool), names.item, names.n);
	close_call(c);
}

/* Ask for the tools, to name the one that was meant; then the step ends. */
static bool asks_for_names(struct call *c)
{
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.done = on_names,
		.arg = c,
	};
	struct step_run *s = c->step;
	uint64_t until = loop_now(s->ctx->loop) + NAMES_MS * NS_PER_MS;

	if (!step_misses_tool(s))
		return false;
	if (s->budget.due_ns > until)
		loop_timer_set(s->ctx->loop, &s->budget, until);
	return client_list(client_of(c), &list, &c->list_ticket, ERR_IGNORED) ==
	       0;
}

/* ---- the call ---- */

static void on_failed(struct step_run *s, const struct client_event *e)
{
	s->cause.is_before = e->is_unsent;
	s->cause.http_status = e->refusal.status;
	if (e->refusal.has_time)
		s->cause.after_s = e->refusal.after_s;
	step_fail(s, e->reason, "%s", e->sentence);
}

static void on_event(void *arg, const struct client_event *e)
{
	struct call *c = arg;
	struct step_run *s = c->step;

	switch (e->type) {
	case CLIENT_RESULT:
		c->ticket = 0;
		if (!on_result(c, e))
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
		on_failed(s, e);
		break;
	case CLIENT_PROGRESS:
		on_progress(c, e);
		return;
	default:
		return;
	}
	c->ticket = 0;
	if (e->type == CLIENT_FAILED || !asks_for_names(c))
		close_call(c);
}

/* A server that answers before its start is known may have failed already. */
static enum step_reason reason_of_refusal(const struct call *c)
{
	enum step_reason reason = client_failure(client_of(c));

	return reason ? reason : REASON_TRANSPORT;
}

static void send_call(struct call *c)
{
	struct step_run *s = c->step;
	/* the step's own time is over first */
	uint64_t longest = s->plan->step->timeout_ms + 1000;
	const struct client_call call = {
		.tool = s->plan->step->tool,
		.params = c->typed.p ? c->typed : s->plan->inputs.json,
		.as_task = c->check.tool.p && tool_needs_task(c->check.tool),
		.timeout_ms = longest,
		.total_ms = longest,
		.origin = step_origin(s),
		.on_event = on_event,
		.arg = c,
	};
	struct err err = ERR_INIT;

	s->cause.is_before = false;
	if (client_call(client_of(c), &call, &c->ticket, &err) < 0) {
		s->cause.is_before = true;
		fail(c,
		     err.kind == ERR_PROTECTION ? REASON_PROTECTION
						: reason_of_refusal(c),
		     err.msg);
	}
}

/* ---- strict: arguments ---- */

/*
 * Refuse a call, as the server would have to (-32602), unless the list is from
 * before the step: then list the tools again.
 */
static void refuse(struct call *c, const struct client_listed *l,
		   const char *sentence)
{
	if (l->is_known && !c->asked_anew)
		list_tools(c, true);
	else
		fail(c, REASON_RPC_ERROR, sentence);
}

/*
 * Arguments from -p are typed as JSON, unless the schema refuses that and takes
 * the text.
 */
static bool fits(struct call *c, struct tool_findings *found)
{
	static const char what[] = "arguments";
	const struct fill_params *in = &c->step->plan->inputs;
	struct arena *arena = &c->step->arena;
	const struct str none = {NULL, 0};
	struct tool_findings again;

	c->typed = none;
	if (tool_check_arguments(&c->check, in->json.n ? in->json : none, what,
				 arena, found))
		return true;
	c->typed = fill_as_text(in, &found->places, arena);
	if (c->typed.p &&
	    (tool_check_arguments(&c->check, c->typed, what, arena, &again) ||
	     again.violations.n < found->violations.n))
		*found = again;
	else
		c->typed = none;
	return !found->violations.n;
}

static void check_and_call(struct call *c, const struct client_listed *l,
			   const struct listing_item *item)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	const struct plan_step *p = c->step->plan;
	struct tool_findings found;
	const char *pinned = NULL, *why = NULL;

	use_tool(c, item);
	if (p->step->server)
		why = tool_policy_hints(p->step->server, item->json,
					&c->step->arena);
	if (why) {
		deny(c, REASON_TOOL_POLICY, why);
		return;
	}
	pinned = pinned_action_refusal(p->step->action, item->json,
				       &c->step->arena);
	if (!pinned && p->is_pinned)
		pinned = pinned_refusal(p->config, p->step->server, item,
					&c->step->arena);
	if (pinned) {
		deny(c, REASON_PIN, pinned);
		return;
	}
	if (!p->strict) {
		tool_check_release(&c->check);
		send_call(c);
		return;
	}
	if (!fits(c, &found) || found.unusable) {
		tool_findings_say(&found, &says);
		buf_adds(&says, "; it was not called");
		refuse(c, l, buf_cstr(&says));
		return;
	}
	for (size_t i = 0; i < found.hints.n; i++)
		log_warning("%s: %s", c->step->result.name,
			    found.hints.item[i]);
	send_call(c);
}

/* ---- strict: lists ---- */

/* Judge the answer by the list that was asked for because of it. */
static void judge_again(struct call *c, const struct listing_item *item)
{
	struct judgement j = c->judged;

	if (item) {
		use_tool(c, item);
		j.reason = REASON_NONE;
		j.error = (struct str){NULL, 0};
		(void)breaks_promise(c, c->answer, &j);
	}
	c->answer.n = 0;
	step_finish(c->step, &j);
	close_call(c);
}

/* Key for which the tools are listed before the call; NULL: they are not. */
static const char *listed_for(const struct plan_step *p)
{
	const struct step *step = p->step;

	return p->strict					     ? "strict"
	       : p->is_pinned || (step->action && step->action->pin) ? "pin"
	       : step->server ? tool_policy_bound(step->server)
			      : NULL;
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct call *c = arg;
	struct step_run *s = c->step;
	const struct client_event *e = l->event;
	const char *tool = s->plan->step->tool;
	const struct listing_item *item =
		l->list ? listing_find(l->list, str_of(tool)) : NULL;

	c->list_ticket = 0;
	c->asked_anew |= !l->is_known;
	if (c->answer.n) {
		judge_again(c, item);
	} else if (l->type == CLIENT_ERROR) {
		step_fail(s, REASON_RPC_ERROR,
			  "the server answered error %lld to tools/list, which "
			  "`%s` needs: %.*s",
			  (long long)e->of->code, listed_for(s->plan),
			  STR_ARG(e->of->message));
		close_call(c);
	} else if (l->type != CLIENT_RESULT) {
		fail(c, e->reason, e->sentence);
	} else if (item) {
		check_and_call(c, l, item);
	} else {
		refuse(c, l,
		       arena_printf(&s->arena, "the server has %s",
				    tool_unknown(l->list, "tool", tool, "",
						 &s->arena)));
	}
}

static void list_tools(struct call *c, bool anew)
{
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.anew = anew,
		.done = on_list,
		.arg = c,
	};
	struct err err = ERR_INIT;

	c->asked_anew |= anew;
	if (client_list(client_of(c), &list, &c->list_ticket, &err) == 0)
		return;
	unlist(c);
	fail(c, reason_of_refusal(c), err.msg);
}

/* ---- may it be repeated ---- */

static void on_hint(void *arg, const struct client_listed *l)
{
	struct call *c = arg;
	struct step_run *s = c->step;
	const struct listing_item *item = NULL;

	c->hint_ticket = 0;
	if (l->type == CLIENT_RESULT)
		item = listing_find(l->list, str_of(s->plan->step->tool));
	s->cause.may_repeat = item && tool_may_repeat(item->json);
}

/* Ask for the tools beside the call, which does not wait for them. */
static void ask_for_hint(struct call *c)
{
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.done = on_hint,
		.arg = c,
	};

	if (c->step->plan->step->retry.max &&
	    client_list(client_of(c), &list, &c->hint_ticket, ERR_IGNORED) < 0)
		c->hint_ticket = 0;
}

static void begin(struct step_run *s)
{
	struct call *c = mem_zalloc(sizeof(*c));

	s->work = c;
	c->step = s;
	ask_for_hint(c);
	if (listed_for(s->plan))
		list_tools(c, false);
	else
		send_call(c);
}

const struct step_doer call_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
	.is_job = true,
	.late = late,
};
