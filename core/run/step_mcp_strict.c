/*
 * `strict`: the tools are listed before the call, and what the tool says of
 * its arguments and of its result holds.
 */
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/step_mcp_inner.h"

void step_mcp_unlist(struct step_run *s)
{
	struct mcp_step *m = step_mcp_state(s);

	if (m->list_ticket && m->user.client)
		client_unlist(m->user.client, m->list_ticket);
	m->list_ticket = 0;
	if (m->answer.n)
		step_finish(s, &m->judged);
	m->answer.n = 0;
}

/* ---- results ---- */

/*
 * Does it keep what the tool promises? A list of before may be wrong: asked
 * for anew before that is said, and the step waits.
 */
static bool breaks_promise(struct step_run *s, struct judgement *j)
{
	struct mcp_step *m = step_mcp_state(s);
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

bool step_mcp_hold_back(struct step_run *s, struct judgement *j,
			struct str whole)
{
	struct mcp_step *m = step_mcp_state(s);

	m->answer = whole;
	if (!m->check.tool.p || !breaks_promise(s, j) ||
	    (m->asked_anew &&
	     !client_list_is_stale(m->user.client, LISTING_TOOLS))) {
		m->answer.n = 0;
		return false;
	}
	m->answer = arena_str(&s->arena, whole);
	m->judged = *j;
	step_mcp_list(s, true);
	return true;
}

/* ---- arguments ---- */

/*
 * What would be refused, as the server would have to (-32602), unless the
 * list is one of before: then it is asked for anew.
 */
static void refuse(struct step_run *s, const struct client_listed *l,
		   const char *sentence)
{
	if (l->is_known && !step_mcp_state(s)->asked_anew)
		step_mcp_list(s, true);
	else
		step_mcp_fail(s, REASON_RPC_ERROR, sentence);
}

/*
 * What -p gives is typed as JSON, unless the schema refuses that and takes the
 * text.
 */
static bool fits(struct step_run *s, struct tool_findings *found)
{
	static const char what[] = "arguments";
	struct mcp_step *m = step_mcp_state(s);
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
	struct mcp_step *m = step_mcp_state(s);
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
	step_mcp_send(s);
}

/* The answer is here, and the list was asked for anew to judge it. */
static void judge_again(struct step_run *s, const struct listing *list)
{
	struct mcp_step *m = step_mcp_state(s);
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
	step_mcp_leave(s, POOL_CLOSE);
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
	step_mcp_leave(s, POOL_CLOSE);
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct step_run *s = arg;
	struct mcp_step *m = step_mcp_state(s);
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

void step_mcp_list(struct step_run *s, bool anew)
{
	struct mcp_step *m = step_mcp_state(s);
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
	step_mcp_unlist(s);
	step_mcp_fail(s, REASON_TRANSPORT, err.msg);
}
