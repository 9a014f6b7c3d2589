/*
 * What the server asks of us. In the older era these are requests with an id,
 * answered by a response; in the newer one they are members of a result that
 * is not complete, answered by sending the request again (MR-1 to MR-13). The
 * caller sees the same event and gives the same answer.
 */
#include <string.h>

#include "core/base/mem.h"
#include "core/proto/session_inner.h"

/* Times that one request is sent again (MR-9). */
#define ROUNDS_MAX 10
/* Nothing was asked, only waited for (MR-8), milliseconds. */
#define AGAIN_FIRST_MS 250
#define AGAIN_LAST_MS 5000

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

static void opened(struct session *s)
{
	if (s->asks.open++ == 0)
		s->asks.since_ns = s->now_ns;
}

static void shut(struct session *s)
{
	if (--s->asks.open == 0)
		requests_shift(&s->requests, s->now_ns - s->asks.since_ns);
}

static void remove_ask(struct session *s, struct ask *a)
{
	size_t at = (size_t)(a - s->asks.item);

	if (a->told && !a->answered)
		shut(s);
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
			remove_ask(s, a);
			continue;
		}
		shut(s);
		a->answered = a->gone = true;
		a->ticket = 0;
	}
}

void session_forget_asks(struct session *s)
{
	while (s->asks.n)
		remove_ask(s, &s->asks.item[s->asks.n - 1]);
}

static struct ask *add_ask(struct session *s, const char *method,
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

bool session_tell_ask(struct session *s, struct session_event *ev)
{
	for (size_t i = 0; i < s->asks.n; i++) {
		struct ask *a = &s->asks.item[i];

		if (a->gone) {
			ev->type = SESSION_EVENT_ASK_GONE;
			ev->ask = a->number;
			remove_ask(s, a);
			return true;
		}
		if (a->told)
			continue;
		a->told = true;
		opened(s);
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

enum verdict {
	ANSWERABLE,
	UNKNOWN_METHOD,
	UNDECLARED,
	UNDECLARED_MODE,
	BAD_PARAMS,
};

static enum verdict judge_elicitation(const struct mcp_declared *d,
				      struct str params)
{
	struct str mode;

	if (!d->elicit_form && !d->elicit_url)
		return UNDECLARED;
	if (!scan_get_some(params, "mode", &mode) || scan_is(mode, "form"))
		return d->elicit_form ? ANSWERABLE : UNDECLARED_MODE;
	if (scan_is(mode, "url"))
		return d->elicit_url ? ANSWERABLE : UNDECLARED_MODE;
	return UNDECLARED_MODE;
}

static enum verdict judge_method(const struct session *s, struct str method,
				 struct str params, const char **ret_method)
{
	const struct mcp_declared *d = &s->opt.declared;

	if (scan_is(method, "roots/list")) {
		*ret_method = "roots/list";
		return d->roots ? ANSWERABLE : UNDECLARED;
	}
	if (scan_is(method, "elicitation/create")) {
		*ret_method = "elicitation/create";
		return judge_elicitation(d, params);
	}
	if (scan_is(method, "sampling/createMessage")) {
		*ret_method = "sampling/createMessage";
		return d->sampling ? ANSWERABLE : UNDECLARED;
	}
	return UNKNOWN_METHOD;
}

static enum verdict judge(const struct session *s, struct str method,
			  struct str params, const char **ret_method)
{
	enum verdict verdict = judge_method(s, method, params, ret_method);

	return verdict == ANSWERABLE && scan_type(params) != SCAN_OBJECT
		       ? BAD_PARAMS
		       : verdict;
}

/* ---- the older era ---- */

static void count_answer(struct session *s, size_t before)
{
	s->answers += session_output(s).n - before;
}

static enum outcome refuse(struct session *s, const struct rpc_message *m,
			   enum verdict verdict)
{
	static const struct {
		int64_t code;
		const char *text;
	} texts[] = {
		[UNKNOWN_METHOD] = {RPC_METHOD_NOT_FOUND, "Method not found"},
		[UNDECLARED] = {RPC_METHOD_NOT_FOUND, "Method not found"},
		[UNDECLARED_MODE] = {RPC_INVALID_PARAMS,
				     "This mode of elicitation was not "
				     "declared"},
		[BAD_PARAMS] = {RPC_INVALID_PARAMS, "params must be an object"},
	};
	size_t before = session_output(s).n;

	s->stats.refused_requests++;
	rpc_write_error(&s->out, &m->id, texts[verdict].code,
			texts[verdict].text, (struct str){NULL, 0});
	count_answer(s, before);
	return DONE;
}

static enum outcome too_many(struct session *s, struct session_event *ev)
{
	err_set(&ev->err, ERR_LIMIT,
		"the server asks and does not read the answers: %d "
		"bytes are waiting for its stdin",
		LIMIT_QUEUE_BYTES);
	return session_fail(s, SESSION_FAIL_QUEUE, ev);
}

/* A server that asks during the probe shows that it is of the older era. */
static bool is_undecided(const struct session *s)
{
	return s->state == SESSION_PROBING && !s->opt.protocol;
}

/*
 * Answered at once, whatever is under way: a server that waits for an answer
 * may hold a lock (RW-60, RW-61).
 */
enum outcome session_on_request(struct session *s, const struct rpc_message *m,
				struct session_event *ev)
{
	size_t before = session_output(s).n;
	enum verdict verdict;
	const char *method;
	struct ask *ask;

	s->stats.server_requests++;
	if (session_is_modern(s) && !is_undecided(s)) {
		/* no response is ever written there (STD-31, RW-64) */
		s->stats.ignored_requests++;
		return DONE;
	}
	if (session_is_mute(s))
		return DONE;
	if (s->answers + m->id.raw.n > LIMIT_QUEUE_BYTES)
		return too_many(s, ev);
	if (scan_is(m->method, "ping")) {
		rpc_write_result(&s->out, &m->id, STR("{}"));
		count_answer(s, before);
		return DONE;
	}
	verdict = judge(s, m->method, m->params, &method);
	if (verdict == ANSWERABLE && s->asks.n == ASKS_MAX) {
		s->stats.refused_requests++;
		rpc_write_error(&s->out, &m->id, RPC_INTERNAL_ERROR,
				"Too many open requests",
				(struct str){NULL, 0});
		count_answer(s, before);
		return DONE;
	}
	if (verdict != ANSWERABLE)
		return refuse(s, m, verdict);
	ask = add_ask(s, method, m->params);
	buf_add_str(&ask->id, m->id.raw);
	return DONE;
}

enum outcome session_ask_gone(struct session *s, const struct rpc_id *id,
			      struct session_event *ev)
{
	for (size_t i = 0; i < s->asks.n; i++) {
		struct ask *a = &s->asks.item[i];
		bool told = a->told;

		if (a->is_key || !str_eq(buf_str(&a->id), id->raw))
			continue;
		ev->type = SESSION_EVENT_ASK_GONE;
		ev->ask = a->number;
		remove_ask(s, a);
		return told ? EVENT : DONE;
	}
	return DONE;
}

/* ---- the newer era ---- */

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
		if (judge(s, method, params, &name) != ANSWERABLE ||
		    s->asks.n == ASKS_MAX) {
			session_drop_asks(s, r->ticket);
			return cannot_answer(s, r, method, ev);
		}
		ask = add_ask(s, name, params);
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
static void go_on(struct session *s, uint64_t ticket)
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

/* ---- answers of the caller ---- */

static struct ask *find_ask(struct session *s, uint64_t number)
{
	for (size_t i = 0; i < s->asks.n; i++)
		if (s->asks.item[i].number == number && s->asks.item[i].told &&
		    !s->asks.item[i].answered)
			return &s->asks.item[i];
	return NULL;
}

/* What belongs to a task says so, our answers too (TK-6). */
static void write_answer(struct session *s, const struct ask *a,
			 struct str result)
{
	static const char related[] = "io.modelcontextprotocol/related-task";
	static const char *const meta_too[] = {"_meta", NULL};
	static const char *const related_too[] = {related, NULL};
	struct rpc_id id = rpc_read_id(buf_str(&a->id));
	struct str meta, task;
	struct rpc_writer w;

	if (!scan_get_some(buf_str(&a->params), "_meta", &meta) ||
	    !scan_get_some(meta, related, &task)) {
		rpc_write_result(&s->out, &id, result);
		return;
	}
	rpc_begin_result(&w, &s->out, &id);
	jw_object(&w.jw);
	session_copy_members(&w.jw, result, meta_too);
	jw_key(&w.jw, "_meta");
	jw_object(&w.jw);
	if (scan_get_some(result, "_meta", &meta))
		session_copy_members(&w.jw, meta, related_too);
	jw_kv_raw(&w.jw, related, task);
	jw_end(&w.jw);
	jw_end(&w.jw);
	rpc_end(&w);
}

void session_answer(struct session *s, uint64_t number, struct str result,
		    uint64_t now_ns)
{
	struct ask *a = find_ask(s, number);
	size_t before = session_output(s).n;

	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
	if (!a)
		return;
	if (a->is_key) {
		buf_add_str(&a->answer, result);
		a->answered = true;
		shut(s);
		go_on(s, a->ticket);
		return;
	}
	if (!session_is_mute(s))
		write_answer(s, a, result);
	count_answer(s, before);
	remove_ask(s, a);
}

void session_answer_error(struct session *s, uint64_t number, int64_t code,
			  const char *message, uint64_t now_ns)
{
	struct ask *a = find_ask(s, number);
	size_t before = session_output(s).n;
	struct request *r;
	struct rpc_id id;
	uint64_t ticket;

	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
	if (!a)
		return;
	if (!a->is_key) {
		id = rpc_read_id(buf_str(&a->id));
		if (!session_is_mute(s))
			rpc_write_error(&s->out, &id, code, message,
					(struct str){NULL, 0});
		count_answer(s, before);
		remove_ask(s, a);
		return;
	}
	/* there is no such answer: nobody is waiting, so it ends (MR-12) */
	ticket = a->ticket;
	r = requests_find_ticket(&s->requests, ticket);
	remove_ask(s, a);
	session_drop_asks(s, ticket);
	if (!r)
		return;
	buf_clear(&r->responses);
	buf_adds(&r->responses, message);
	r->is_given_up = true;
	r->due_ns = s->now_ns;
	requests_timed(&s->requests, r);
}
