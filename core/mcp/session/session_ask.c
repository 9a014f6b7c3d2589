/*
 * Questions of the server that wait for the caller: which can be answered,
 * who is told of them, the clocks meanwhile, the answers. How they come and how
 * an answer goes back is of the era: session_request.c, session_input.c.
 */
#include <string.h>

#include "core/base/mem.h"
#include "core/mcp/session/session_inner.h"

static void ask_release(struct ask *a)
{
	buf_release(&a->id);
	buf_release(&a->key);
	buf_release(&a->params);
	buf_release(&a->answer);
}

void asks_release(struct asks *a)
{
	for (size_t i = 0; i < a->n; i++)
		ask_release(&a->item[i]);
	free(a->item);
	a->item = NULL;
	a->n = a->cap = a->open = 0;
}

/* ---- the clock stands still while somebody is asked (EL-17) ---- */

void session_stop_clocks(struct session *s)
{
	if (s->asks.open++ == 0)
		s->asks.since_ns = s->now_ns;
}

void session_start_clocks(struct session *s)
{
	uint64_t stood_ns = s->now_ns - s->asks.since_ns;

	if (--s->asks.open)
		return;
	requests_shift(&s->requests, stood_ns);
	s->start_ns += stood_ns;
}

/* ---- those that are open ---- */

struct ask *session_add_ask(struct session *s, const char *method,
			    struct str params)
{
	struct asks *a = &s->asks;
	struct ask *ask;

	a->item = mem_grow(a->item, a->n + 1, &a->cap, sizeof(*a->item));
	ask = &a->item[a->n++];
	*ask = (struct ask){
		.number = ++a->next,
		.method = method,
		.id = BUF_INIT(BUF_UNBOUNDED),
		.key = BUF_INIT(BUF_UNBOUNDED),
		.params = BUF_INIT(BUF_UNBOUNDED),
		.answer = BUF_INIT(BUF_UNBOUNDED),
	};
	buf_add_str(&ask->params, params.p ? params : STR("{}"));
	return ask;
}

void session_remove_ask(struct session *s, struct ask *a)
{
	size_t at = (size_t)(a - s->asks.item);

	if (a->told && !a->answered)
		session_start_clocks(s);
	ask_release(a);
	s->asks.n--;
	memmove(a, a + 1, (s->asks.n - at) * sizeof(*a));
}

void session_drop_asks(struct session *s, uint64_t ticket)
{
	for (size_t i = s->asks.n; i-- > 0;) {
		struct ask *a = &s->asks.item[i];

		if (a->ticket != ticket || !ticket)
			continue;
		if (!a->told || a->answered) {
			session_remove_ask(s, a);
			continue;
		}
		session_start_clocks(s);
		a->answered = a->gone = true;
		a->ticket = 0;
	}
}

void session_forget_asks(struct session *s)
{
	while (s->asks.n)
		session_remove_ask(s, &s->asks.item[s->asks.n - 1]);
}

bool session_tell_ask(struct session *s, struct session_event *ev)
{
	for (size_t i = 0; i < s->asks.n; i++) {
		struct ask *a = &s->asks.item[i];

		if (a->gone) {
			ev->type = SESSION_EVENT_ASK_GONE;
			ev->ask = a->number;
			session_remove_ask(s, a);
			return true;
		}
		if (a->told)
			continue;
		a->told = true;
		session_stop_clocks(s);
		ev->type = SESSION_EVENT_ASKED;
		ev->ask = a->number;
		ev->ticket = a->ticket;
		ev->method = a->method;
		ev->params = buf_str(&a->params);
		return true;
	}
	return false;
}

/* ---- what we have said that we can answer ---- */

static enum ask_verdict judge_elicitation(const struct mcp_declared *d,
					  struct str params)
{
	struct str mode;

	if (!d->elicit_form && !d->elicit_url)
		return ASK_UNDECLARED;
	if (!scan_get_some(params, "mode", &mode) || scan_is(mode, "form"))
		return d->elicit_form ? ASK_ANSWERABLE : ASK_UNDECLARED_MODE;
	if (scan_is(mode, "url"))
		return d->elicit_url ? ASK_ANSWERABLE : ASK_UNDECLARED_MODE;
	return ASK_UNDECLARED_MODE;
}

static enum ask_verdict judge_method(const struct session *s, struct str method,
				     struct str params, const char **ret_method)
{
	const struct mcp_declared *d = &s->opt.declared;

	if (scan_is(method, "roots/list")) {
		*ret_method = "roots/list";
		return d->roots ? ASK_ANSWERABLE : ASK_UNDECLARED;
	}
	if (scan_is(method, "elicitation/create")) {
		*ret_method = "elicitation/create";
		return judge_elicitation(d, params);
	}
	if (scan_is(method, "sampling/createMessage")) {
		*ret_method = "sampling/createMessage";
		return d->sampling ? ASK_ANSWERABLE : ASK_UNDECLARED;
	}
	return ASK_UNKNOWN_METHOD;
}

enum ask_verdict session_judge_ask(const struct session *s, struct str method,
				   struct str params, const char **ret_method)
{
	enum ask_verdict verdict = judge_method(s, method, params, ret_method);

	return verdict == ASK_ANSWERABLE && scan_type(params) != SCAN_OBJECT
		       ? ASK_BAD_PARAMS
		       : verdict;
}

/* ---- answers of the caller ---- */

static struct ask *find_ask(struct session *s, uint64_t number)
{
	for (size_t i = 0; i < s->asks.n; i++)
		if (s->asks.item[i].number == number && s->asks.item[i].told &&
		    !s->asks.item[i].answered)
			return &s->asks.item[i];
	return NULL;
}

void session_answer(struct session *s, uint64_t number, struct str result,
		    uint64_t now_ns)
{
	struct ask *a = find_ask(s, number);
	size_t before = session_output(s).n;

	session_hear_time(s, now_ns);
	if (!a)
		return;
	if (a->is_key) {
		buf_add_str(&a->answer, result);
		a->answered = true;
		session_start_clocks(s);
		session_go_on(s, a->ticket);
		return;
	}
	if (!session_is_mute(s))
		session_write_answer(s, a, result);
	session_count_answer(s, before);
	session_remove_ask(s, a);
}

void session_answer_error(struct session *s, uint64_t number, int64_t code,
			  const char *message, uint64_t now_ns)
{
	struct ask *a = find_ask(s, number);
	size_t before = session_output(s).n;
	struct request *r;
	struct rpc_id id;
	uint64_t ticket;

	session_hear_time(s, now_ns);
	if (!a)
		return;
	if (!a->is_key) {
		id = rpc_read_id(buf_str(&a->id));
		if (!session_is_mute(s))
			rpc_write_error(&s->out, &id, code, message,
					(struct str){NULL, 0});
		session_count_answer(s, before);
		session_remove_ask(s, a);
		return;
	}
	/* there is no such answer: nobody is waiting, so it ends (MR-12) */
	ticket = a->ticket;
	r = requests_find_ticket(&s->requests, ticket);
	session_remove_ask(s, a);
	session_drop_asks(s, ticket);
	if (!r)
		return;
	buf_clear(&r->responses);
	buf_adds(&r->responses, message);
	r->is_given_up = true;
	r->due_ns = s->now_ns;
	requests_timed(&s->requests, r);
}
