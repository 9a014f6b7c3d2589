/*
 * What the server asks of us in the newer era: members of a result that is not
 * complete, or of a task's status, answered by sending the request again (MR-1
 * to MR-13) or by tasks/update.
 */
#include "core/mcp/session/session_inner.h"

/* Times that one request is sent again (MR-9). */
#define ROUNDS_MAX 10
/* Nothing was asked, only waited for (MR-8), milliseconds. */
#define AGAIN_FIRST_MS 250
#define AGAIN_LAST_MS 5000

/* A question that cannot be answered: the server's fault (MR-10). */
static enum outcome cannot_answer(struct session *s, struct request *r,
				  struct str method, struct session_event *ev)
{
	struct str said = session_shown(method, VERSION_BYTES, &s->shown);

	return session_bad_result(s, r, ev,
				  "it asks for %.*s, which we have not offered",
				  STR_ARG(said));
}

static bool was_answered(const struct request *r, struct str key)
{
	struct str list = buf_str(&r->task.answered);
	size_t from = 0;

	for (size_t i = 0; i < list.n; i++) {
		if (list.p[i] != '\n')
			continue;
		if (str_eq((struct str){list.p + from, i - from}, key))
			return true;
		from = i + 1;
	}
	return false;
}

/* Of two members of one name the last counts (RW-15). */
static bool comes_again(struct scan_iter rest, struct str key)
{
	struct buf name = BUF_INIT(BUF_UNBOUNDED);
	bool again = false;

	scan_string(key, &name);
	while (!again && scan_next(&rest))
		again = scan_is(rest.key, buf_cstr(&name));
	buf_release(&name);
	return again;
}

/* One ask for each member; in the order in which they stand. */
static enum outcome add_asks(struct session *s, struct request *r,
			     struct str requests, struct session_event *ev)
{
	struct scan_iter it;

	scan_iter_init(&it, requests);
	while (scan_next(&it)) {
		struct str method, params;
		const char *name = NULL;
		struct ask *ask;

		if (was_answered(r, it.key) || comes_again(it, it.key))
			continue;
		if (!scan_get(it.value, "method", &method))
			method = STR("null");
		if (!scan_get_some(it.value, "params", &params))
			params = STR("{}");
		if (session_judge_ask(s, method, params, &name) !=
			    ASK_ANSWERABLE ||
		    s->asks.n == ASKS_MAX) {
			session_drop_asks(s, r->ticket);
			return cannot_answer(s, r, method, ev);
		}
		ask = session_add_ask(s, name, params);
		ask->is_key = true;
		ask->ticket = r->ticket;
		buf_add_str(&ask->key, it.key);
	}
	return DONE;
}

static bool has_asks(const struct session *s, uint64_t ticket)
{
	for (size_t i = 0; i < s->asks.n; i++)
		if (s->asks.item[i].ticket == ticket)
			return true;
	return false;
}

/* Wait a little, then send it again; longer each time. */
static void send_later(struct session *s, struct request *r)
{
	uint64_t ms = AGAIN_FIRST_MS;

	for (uint32_t i = 1; i < r->rounds && ms < AGAIN_LAST_MS; i++)
		ms *= 2;
	r->due_ns =
		session_after_ms(s, ms < AGAIN_LAST_MS ? ms : AGAIN_LAST_MS);
	requests_timed(&s->requests, r);
}

enum outcome session_on_input_required(struct session *s, struct request *r,
				       struct str result,
				       struct session_event *ev)
{
	struct str asked, state;
	bool any = scan_get_some(result, "inputRequests", &asked) &&
		   scan_count(asked);

	if (!scan_get_some(result, "requestState", &state))
		state = (struct str){NULL, 0};
	if (!any && !state.p)
		return session_bad_result(s, r, ev,
					  "it wants something and does not say "
					  "what (input_required)");
	if (any && scan_type(asked) != SCAN_OBJECT)
		return session_bad_result(s, r, ev,
					  "inputRequests is no object");
	if (state.p && scan_type(state) != SCAN_STRING)
		return session_bad_result(s, r, ev,
					  "requestState is no string");
	if (r->rounds++ == ROUNDS_MAX)
		return session_bad_result(s, r, ev,
					  "it wants more and more: %d rounds",
					  ROUNDS_MAX);
	buf_clear(&r->responses);
	buf_clear(&r->state);
	if (state.p)
		buf_add_str(&r->state, state);
	r->parked = true;
	if (!any) {
		send_later(s, r);
		return DONE;
	}
	return add_asks(s, r, asked, ev);
}

enum outcome session_on_task_input(struct session *s, struct request *r,
				   struct str requests,
				   struct session_event *ev)
{
	size_t before = s->asks.n;
	enum outcome got;

	if (has_asks(s, r->ticket))
		return DONE; /* they are being answered */
	got = add_asks(s, r, requests, ev);
	/* its status may lag behind our answers (TX-5) */
	if (got != DONE || s->asks.n == before ||
	    r->task.rounds++ < ROUNDS_MAX * 10)
		return got;
	return session_bad_result(s, r, ev, "the task wants more and more");
}

/* {"key": answer, ...} of a request, and forget them. */
static void take_answers(struct session *s, uint64_t ticket, struct buf *out,
			 struct buf *keys)
{
	const char *sep = "{";

	for (size_t i = 0; i < s->asks.n; i++) {
		const struct ask *a = &s->asks.item[i];

		if (a->ticket != ticket)
			continue;
		buf_adds(out, sep);
		buf_add_str(out, buf_str(&a->key));
		buf_addc(out, ':');
		buf_add_str(out, buf_str(&a->answer));
		sep = ",";
		if (keys) {
			buf_add_str(keys, buf_str(&a->key));
			buf_addc(keys, '\n');
		}
	}
	buf_addc(out, '}');
	session_drop_asks(s, ticket);
}

static void update_task(struct session *s, struct request *r)
{
	struct buf answers = BUF_INIT(BUF_UNBOUNDED);
	struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	take_answers(s, r->ticket, &answers, &r->task.answered);
	jw_init(&w, &params, false);
	jw_object(&w);
	jw_kv_raw(&w, "taskId", buf_str(&r->task.id));
	jw_kv_raw(&w, "inputResponses", buf_str(&answers));
	jw_end(&w);
	s->stats.rounds++;
	r->task.is_refused = false;
	(void)session_send_own(s, "tasks/update", r->ticket, buf_str(&params));
	buf_release(&answers);
	buf_release(&params);
}

/* All questions of a request are answered: on with it (MR-4, MR-5). */
void session_go_on(struct session *s, uint64_t ticket)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	for (size_t i = 0; i < s->asks.n; i++)
		if (s->asks.item[i].ticket == ticket &&
		    !s->asks.item[i].answered)
			return;
	if (!r)
		return;
	if (r->task.id.n) {
		update_task(s, r);
		return;
	}
	take_answers(s, ticket, &r->responses, NULL);
	s->stats.rounds++;
	session_send(s, r);
}
