#include "core/mcp/session/talk.h"

#include "core/base/mem.h"

/* Times that one request is sent again (MR-9), and that a task may ask. */
#define ROUNDS_MAX 10
#define TASK_ROUNDS_MAX 100
/* Wait before a request without questions is sent again (MR-8), ms. */
#define AGAIN_FIRST_MS 250
#define AGAIN_LAST_MS 5000
/* Between two looks at a task, milliseconds (TK-4). */
#define INTERVAL_MS 5000
#define INTERVAL_LEAST_MS 250
#define INTERVAL_MOST_MS 60000
/* Ceiling of a task's id, bytes of JSON text. */
#define TASK_ID_BYTES 1024
/* Questions of the server that are open at once (SEC-9). */
#define QUESTIONS_MAX 64
/* Log messages and changed resources that are passed on in a second (LOG-5). */
#define LOGS_PER_SECOND 100
/* Progress of one request is passed on this often, but for so many that come
   close together, as of a short call: a client that counts them misses none
   (PRO-4). */
#define PROGRESS_EVERY_NS (NS_PER_S / 5)
#define PROGRESS_BURST 5

static const struct str nothing = {NULL, 0};

/* ---- which questions can be answered ---- */

/* Answers to a question that was not declared, as an error of JSON-RPC. */
struct refusal {
	int64_t code;
	const char *text;
};
static const struct refusal unknown = {RPC_METHOD_NOT_FOUND,
				       "Method not found"};
static const struct refusal undeclared_mode = {
	RPC_INVALID_PARAMS, "This mode of elicitation was not declared"};
static const struct refusal bad_params = {RPC_INVALID_PARAMS,
					  "params must be an object"};
static const struct refusal too_many = {RPC_INTERNAL_ERROR,
					"Too many open requests"};

static const struct refusal *judge_mode(const struct mcp_declared *d,
					struct str params)
{
	struct str mode = scan_some(params, "mode");

	if (!d->elicit_form && !d->elicit_url)
		return &unknown;
	if (!mode.p || scan_is(mode, "form"))
		return d->elicit_form ? NULL : &undeclared_mode;
	return scan_is(mode, "url") && d->elicit_url ? NULL : &undeclared_mode;
}

/* Judge a question; NULL: it can be answered, and *ret_method is its name. */
static const struct refusal *judge(const struct session *s, struct str method,
				   struct str params, const char **ret_method)
{
	const struct mcp_declared *d = &s->opt.declared;
	const struct {
		const char *method;
		const struct refusal *why_not;
	} methods[] = {
		{"roots/list", d->roots ? NULL : &unknown},
		{"elicitation/create", judge_mode(d, params)},
		{"sampling/createMessage", d->sampling ? NULL : &unknown},
	};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (!scan_is(method, methods[i].method))
			continue;
		*ret_method = methods[i].method;
		if (methods[i].why_not)
			return methods[i].why_not;
		if (scan_type(params) != SCAN_OBJECT)
			return &bad_params;
		return s->questions.n == QUESTIONS_MAX ? &too_many : NULL;
	}
	return &unknown;
}

/* ---- pauses of all clocks, while a person is asked (EL-17) ---- */

static uint64_t later(uint64_t ns, uint64_t by_ns)
{
	return by_ns > UINT64_MAX - ns ? UINT64_MAX : ns + by_ns;
}

static void stop_clocks(struct session *s)
{
	if (s->questions.open++ == 0)
		s->questions.since_ns = s->now_ns;
}

static void start_clocks(struct session *s)
{
	uint64_t stood_ns = s->now_ns - s->questions.since_ns;

	if (--s->questions.open)
		return;
	for (struct request *r = s->requests.first; r; r = r->next) {
		r->deadline_ns = later(r->deadline_ns, stood_ns);
		r->total_deadline_ns = later(r->total_deadline_ns, stood_ns);
	}
	s->start_ns += stood_ns;
}

void session_hold(struct session *s, bool is_held, uint64_t now_ns)
{
	session_tick(s, now_ns);
	if (session_is_over(s) || s->is_held == is_held)
		return;
	s->is_held = is_held;
	if (is_held)
		stop_clocks(s);
	else
		start_clocks(s);
}

/* ---- open questions ---- */

/* Add a question of the server; the caller says whose it is. */
static struct question *add_question(struct session *s, const char *method,
				     struct str params)
{
	struct questions *a = &s->questions;
	struct question *ask;

	a->item = mem_grow(a->item, a->n + 1, &a->cap, sizeof(*a->item));
	ask = &a->item[a->n++];
	*ask = (struct question){
		.number = ++a->next,
		.method = method,
		.id = BUF_INIT(BUF_UNBOUNDED),
		.params = BUF_INIT(BUF_UNBOUNDED),
		.answer = BUF_INIT(BUF_UNBOUNDED),
	};
	buf_add_str(&ask->params, params);
	return ask;
}

static void remove_question(struct session *s, struct question *a)
{
	size_t at = (size_t)(a - s->questions.item);

	if (a->told && !a->answered)
		start_clocks(s);
	buf_release(&a->id);
	buf_release(&a->params);
	buf_release(&a->answer);
	s->questions.n--;
	memmove(a, a + 1, (s->questions.n - at) * sizeof(*a));
}

void talk_drop_questions(struct session *s, uint64_t ticket)
{
	for (size_t i = s->questions.n; i-- > 0;) {
		struct question *a = &s->questions.item[i];

		if (a->ticket != ticket || !ticket)
			continue;
		if (!a->told || a->answered) {
			remove_question(s, a);
			continue;
		}
		start_clocks(s);
		a->answered = a->gone = true;
		a->ticket = 0;
	}
}

void talk_forget_questions(struct session *s)
{
	while (s->questions.n)
		remove_question(s, &s->questions.item[s->questions.n - 1]);
	free(s->questions.item);
	s->questions.item = NULL;
	s->questions.cap = 0;
}

static enum verdict tell_gone(struct session *s, struct question *a,
			      struct session_event *ev)
{
	ev->type = SESSION_EVENT_ASK_GONE;
	ev->ask = a->number;
	remove_question(s, a);
	return EVENT;
}

enum verdict talk_ask(struct session *s, struct session_event *ev)
{
	for (size_t i = 0; i < s->questions.n; i++) {
		struct question *a = &s->questions.item[i];

		if (a->gone)
			return tell_gone(s, a, ev);
		if (a->told)
			continue;
		a->told = true;
		stop_clocks(s);
		ev->type = SESSION_EVENT_ASKED;
		ev->ask = a->number;
		ev->ticket = a->ticket;
		ev->method = a->method;
		ev->params = buf_str(&a->params);
		return EVENT;
	}
	return DONE;
}

/* ---- requests of the initialize era ---- */

/*
 * Requests are answered at once, whatever is open: a server that waits for an
 * answer may hold a lock (RW-60, RW-61).
 */
static enum verdict on_request(struct session *s, const struct rpc_message *m,
			       struct session_event *ev)
{
	size_t before = s->out.n;
	const struct refusal *refusal;
	const char *method;

	/*
	 * A server that sends a request during the probe shows that it is of
	 * the initialize era. In the modern era no response is ever written
	 * (STD-31, RW-64).
	 */
	if (s->is_modern && (s->state != SESSION_PROBING || s->opt.protocol)) {
		s->stats.ignored_requests++;
		return DONE;
	}
	if (session_is_mute(s))
		return DONE;
	if (s->answers + m->id.raw.n > LIMIT_QUEUE_BYTES) {
		err_set(&ev->err, ERR_LIMIT,
			"the server sends requests and does not read the "
			"answers: %d bytes are waiting for its stdin",
			LIMIT_QUEUE_BYTES);
		ev->failure = SESSION_FAIL_QUEUE;
		return ENDS_SESSION;
	}
	refusal = judge(s, m->method, m->params, &method);
	if (scan_is(m->method, "ping")) {
		rpc_write_result(&s->out, &m->id, STR("{}"));
	} else if (!refusal) {
		struct question *a = add_question(s, method, m->params);

		buf_add_str(&a->id, m->id.raw);
	} else {
		s->stats.refused_requests++;
		rpc_write_error(&s->out, &m->id, refusal->code, refusal->text,
				nothing);
	}
	s->answers += s->out.n - before;
	return DONE;
}

/*
 * Write a result. An answer to a question of a task says so: it repeats the
 * related-task member of the question's _meta (TK-6).
 */
static void write_result(struct session *s, const struct question *a,
			 const struct rpc_id *id, struct str result)
{
	static const char related[] = "io.modelcontextprotocol/related-task";
	static const char *const meta_too[] = {"_meta", NULL};
	static const char *const related_too[] = {related, NULL};
	struct str task =
		scan_some(scan_some(buf_str(&a->params), "_meta"), related);
	struct rpc_writer w;

	if (!task.p) {
		rpc_write_result(&s->out, id, result);
		return;
	}
	rpc_begin_result(&w, &s->out, id);
	jw_object(&w.jw);
	copy_members(&w.jw, result, meta_too);
	jw_kv_object(&w.jw, "_meta");
	copy_members(&w.jw, scan_some(result, "_meta"), related_too);
	jw_kv_raw(&w.jw, related, task);
	jw_end(&w.jw);
	jw_end(&w.jw);
	rpc_end(&w);
}

/* ---- questions in a result or in a task's status ---- */

static bool was_answered(const struct request *r, struct str key)
{
	struct str rest = buf_str(&r->task.answered);

	while (rest.n)
		if (str_eq(str_cut(&rest, '\n'), key))
			return true;
	return false;
}

/* Of two members of one name the last counts (RW-15). */
static bool comes_again(struct scan_iter rest, struct str key)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	scan_string(key, &name);
	while (scan_next(&rest))
		if (scan_is(rest.key, buf_cstr(&name)))
			return true;
	return false;
}

/* Add a question for each member, in their order. */
static enum verdict add_questions(struct session *s, struct request *r,
				  struct str requests, struct session_event *ev)
{
	for (struct scan_iter it = scan_over(requests); scan_next(&it);) {
		struct str method = scan_some(it.value, "method");
		struct str params = scan_some(it.value, "params");
		const char *name;
		struct question *ask;

		if (was_answered(r, it.key) || comes_again(it, it.key))
			continue;
		params = params.p ? params : STR("{}");
		method = method.p ? method : STR("null");
		if (judge(s, method, params, &name)) {
			/* the server's fault (MR-10) */
			talk_drop_questions(s, r->ticket);
			method =
				session_shown(method, VERSION_BYTES, &s->shown);
			err_set(&ev->err, ERR_PEER,
				"asks for %.*s, which was not offered",
				STR_ARG(method));
			return ENDS_BROKEN;
		}
		ask = add_question(s, name, params);
		ask->is_key = true;
		ask->ticket = r->ticket;
		buf_add_str(&ask->id, it.key);
	}
	return DONE;
}

/* Write {"key": answer, ...} of a request, and forget its questions. */
static void take_answers(struct session *s, uint64_t ticket, struct buf *out,
			 struct buf *keys)
{
	const char *sep = "{";

	for (size_t i = 0; i < s->questions.n; i++) {
		const struct question *a = &s->questions.item[i];

		if (a->ticket != ticket)
			continue;
		buf_adds(out, sep);
		buf_add_str(out, buf_str(&a->id));
		buf_addc(out, ':');
		buf_add_str(out, buf_str(&a->answer));
		sep = ",";
		buf_add_str(keys, buf_str(&a->id));
		buf_addc(keys, '\n');
	}
	buf_addc(out, '}');
	talk_drop_questions(s, ticket);
}

/* ---- input_required ---- */

static enum verdict broken(struct session_event *ev, const char *rule)
{
	err_set(&ev->err, ERR_PEER, "%s", rule);
	return ENDS_BROKEN;
}

static enum verdict gave_up(struct session_event *ev, int rounds,
			    const char *of)
{
	err_set(&ev->err, ERR_PEER,
		"gave up after %d rounds of input requests%s", rounds, of);
	return ENDS_BROKEN;
}

static enum verdict on_input_required(struct session *s, struct request *r,
				      struct str result,
				      struct session_event *ev)
{
	struct str asked = scan_some(result, "inputRequests");
	struct str state = scan_some(result, "requestState");
	bool any = asked.p && scan_count(asked);
	uint64_t ms = AGAIN_FIRST_MS;

	if (!any && !state.p)
		return broken(ev, "input_required comes with neither "
				  "inputRequests nor requestState");
	if (any && scan_type(asked) != SCAN_OBJECT)
		return broken(ev, "inputRequests is not an object");
	if (state.p && scan_type(state) != SCAN_STRING)
		return broken(ev, "requestState is not a string");
	if (r->rounds++ == ROUNDS_MAX)
		return gave_up(ev, ROUNDS_MAX, "");
	buf_clear(&r->responses);
	buf_clear(&r->state);
	buf_add_str(&r->state, state);
	r->parked = true;
	if (any)
		return add_questions(s, r, asked, ev);
	/* send it again after a while, which grows with each round */
	for (uint32_t i = 1; i < r->rounds && ms < AGAIN_LAST_MS; i++)
		ms *= 2;
	r->due_ns = session_after_ms(s->now_ns,
				     ms < AGAIN_LAST_MS ? ms : AGAIN_LAST_MS);
	requests_timed(&s->requests, r);
	return DONE;
}

/* ---- tasks of both eras ---- */

/* The object with the task's members, where one was asked for; or {NULL, 0}. */
static struct str task_of(const struct session *s, const struct request *r,
			  struct str result)
{
	struct str type;

	if (strcmp(r->method, "tools/call") != 0)
		return nothing;
	if (!s->is_modern)
		return r->as_task ? scan_some(result, "task") : nothing;
	type = scan_some(result, "resultType");
	return s->opt.declared.tasks && type.p && scan_is(type, "task")
		       ? result
		       : nothing;
}

/*
 * Send {"taskId": …, ...}. It never has related-task, also not with
 * tasks/result: the SDK servers take that for a message of the task, and queue
 * their answer to it for the next caller of tasks/result (TK-6).
 *
 * answers  JSON object of inputResponses, or {NULL, 0}
 * returns  NULL when the session is mute
 */
static struct request *ask_server(struct session *s, struct request *r,
				  const char *method, struct str answers)
{
	struct request *own;
	struct jw w;

	if (session_is_mute(s))
		return NULL;
	own = session_add_request(s, method);
	own->parent = r->ticket;
	own->timeout_ms = r->timeout_ms;
	w = jw_begin(&own->params);
	jw_kv_raw(&w, "taskId", buf_str(&r->task.id));
	if (answers.p)
		jw_kv_raw(&w, "inputResponses", answers);
	jw_end(&w);
	session_send(s, own);
	return own;
}

static void look_later(struct session *s, struct request *r)
{
	r->due_ns = session_after_ms(s->now_ns, r->task.interval_ms);
	/* a task that lives restarts the timeout; the total goes on */
	r->deadline_ns =
		session_ends_ms(s, r->timeout_ms + r->task.interval_ms);
	requests_timed(&s->requests, r);
}

static enum verdict end_badly(struct session *s, struct str task,
			      struct session_event *ev)
{
	struct rpc_message m = {.type = RPC_ERROR, .code = RPC_INTERNAL_ERROR};
	struct str v;

	m.raw_error = scan_some(task, "error");
	if (!m.raw_error.p)
		return broken(ev, "the task failed without an error");
	m.message = scan_text(m.raw_error, "message");
	if (!scan_get(m.raw_error, "code", &v) || !scan_int64(v, &m.code))
		m.code = RPC_INTERNAL_ERROR;
	if (scan_get(m.raw_error, "data", &v))
		m.data = v;
	session_read_error(s, &m, ev);
	return ENDS_ERROR;
}

/* Read the questions of a task (TX-5). */
static enum verdict on_task_input(struct session *s, struct request *r,
				  struct str task, struct session_event *ev)
{
	struct str requests = scan_some(task, "inputRequests");
	size_t before = s->questions.n;
	enum verdict verdict;

	if (r->task.is_refused)
		return broken(ev, "the task refused the answer to its "
				  "question and asks again");
	look_later(s, r);
	for (size_t i = 0; i < s->questions.n; i++)
		if (s->questions.item[i].ticket == r->ticket)
			return DONE;
	if (!requests.p)
		return DONE;
	verdict = add_questions(s, r, requests, ev);
	/* the status may lag behind the answers (TX-5) */
	if (verdict != DONE || s->questions.n == before ||
	    r->task.rounds++ < TASK_ROUNDS_MAX)
		return verdict;
	return gave_up(ev, TASK_ROUNDS_MAX, " of the task");
}

/* Look at a task of 2025-11-25. */
static enum verdict follow_legacy(struct session *s, struct request *r,
				  struct str status, struct session_event *ev)
{
	/* questions come as requests meanwhile; the result of a task that
	   failed says so (TK-9) */
	bool waits = scan_is(status, "input_required") ||
		     scan_is(status, "completed") ||
		     scan_is(status, "failed") || scan_is(status, "cancelled");
	struct request *own;

	if (scan_is(status, "working"))
		look_later(s, r);
	else if (!waits)
		return broken(ev, "the task has no known status");
	if (!waits || r->task.is_waiting)
		return DONE;
	r->task.is_waiting = true;
	r->deadline_ns = r->total_deadline_ns;
	r->due_ns = UINT64_MAX;
	own = ask_server(s, r, "tasks/result", nothing);
	/* the server answers at the end of the task (TK-5) */
	if (own)
		own->deadline_ns = own->total_deadline_ns = UINT64_MAX;
	return DONE;
}

static enum verdict follow_modern(struct session *s, struct request *r,
				  struct str task, struct str status,
				  struct session_event *ev)
{
	if (scan_is(status, "working")) {
		look_later(s, r);
		return DONE;
	}
	if (scan_is(status, "input_required"))
		return on_task_input(s, r, task, ev);
	if (scan_is(status, "failed"))
		return end_badly(s, task, ev);
	if (scan_is(status, "cancelled"))
		return broken(ev, "the server cancelled the task");
	if (!scan_is(status, "completed"))
		return broken(ev, "the task has no known status");
	ev->result = scan_some(task, "result");
	return ev->result.p ? ENDS_RESULT
			    : broken(ev, "the task ended without a result");
}

static enum verdict follow(struct session *s, struct request *r,
			   struct str task, struct session_event *ev)
{
	struct str every = scan_some(task, s->is_modern ? "pollIntervalMs"
							: "pollInterval");
	struct str status = scan_some(task, "status");
	int64_t ms = INTERVAL_MS;

	/* the server may change that each time (TX-3) */
	if (every.p && !scan_int64(every, &ms))
		ms = INTERVAL_MS;
	if (ms < INTERVAL_LEAST_MS)
		ms = INTERVAL_LEAST_MS;
	r->task.interval_ms =
		(uint64_t)(ms < INTERVAL_MOST_MS ? ms : INTERVAL_MOST_MS);
	return s->is_modern ? follow_modern(s, r, task, status, ev)
			    : follow_legacy(s, r, status, ev);
}

static enum verdict on_task(struct session *s, struct request *r,
			    struct str task, struct session_event *ev)
{
	struct str id = scan_text(task, "taskId");
	enum verdict verdict;

	if (!id.p || id.n > TASK_ID_BYTES)
		return broken(ev, "the task has no usable taskId");
	buf_add_str(&r->task.id, id);
	r->parked = true;
	verdict = follow(s, r, task, ev);
	if (verdict != DONE)
		return verdict;
	ev->type = SESSION_EVENT_TASK;
	ev->params = task;
	return EVENT;
}

/* ---- answers to requests ---- */

/* Judge the answer to a request that follows a task; it is removed. */
static enum verdict on_own_answer(struct session *s, struct request *own,
				  const struct rpc_message *m,
				  struct session_event *ev)
{
	struct request *r = requests_find_ticket(&s->requests, own->parent);
	const char *method = own->method;
	bool is_update = strcmp(method, "tasks/update") == 0;

	requests_remove(&s->requests, own);
	if (!r)
		return DONE; /* tasks/cancel, which has no use for an answer */
	if (m->type == RPC_ERROR && is_update) {
		/* the task may have ended meanwhile: its status says so */
		r->task.is_refused = true;
		r->due_ns = s->now_ns;
		requests_timed(&s->requests, r);
		return DONE;
	}
	if (m->type == RPC_ERROR) {
		session_read_error(s, m, ev);
		return ENDS_ERROR;
	}
	if (strcmp(method, "tasks/get") == 0)
		return follow(s, r, m->result, ev);
	if (is_update || strcmp(method, "tasks/result") != 0)
		return DONE; /* tasks/update is only acknowledged (TX-5) */
	ev->result = m->result;
	return ENDS_RESULT;
}

/* Requests that may be answered by questions (MR-2). */
static bool may_ask(const struct request *r)
{
	return strcmp(r->method, "tools/call") == 0 ||
	       strcmp(r->method, "resources/read") == 0 ||
	       strcmp(r->method, "prompts/get") == 0;
}

enum verdict talk_on_answer(struct session *s, struct request *r,
			    const struct rpc_message *m,
			    struct session_event *ev)
{
	struct str task, type;

	if (r->parent)
		return on_own_answer(s, r, m, ev);
	if (m->type == RPC_ERROR) {
		session_read_error(s, m, ev);
		return ENDS_ERROR;
	}
	task = task_of(s, r, m->result);
	if (task.p)
		return on_task(s, r, task, ev);
	/* resultType is read first; absent it is `complete` (MR-1, RW-81) */
	type = scan_some(m->result, "resultType");
	if (!s->is_modern || !type.p || scan_is(type, "complete")) {
		ev->result = m->result;
		return ENDS_RESULT;
	}
	if (scan_is(type, "input_required") && may_ask(r) && r->is_handed_on) {
		ev->result = m->result;
		return ENDS_RESULT;
	}
	if (scan_is(type, "input_required") && may_ask(r))
		return on_input_required(s, r, m->result, ev);
	type = session_shown(type, VERSION_BYTES, &s->shown);
	err_set(&ev->err, ERR_PEER,
		"resultType \"%.*s\" is not known for this method",
		STR_ARG(type));
	return ENDS_BROKEN;
}

enum verdict talk_on_due(struct session *s, struct request *r,
			 struct session_event *ev)
{
	struct str why;

	if (r->is_given_up) {
		why = session_shown(buf_str(&r->responses), SENTENCE_BYTES,
				    &s->shown);
		err_set(&ev->err, ERR_PEER, "%.*s", STR_ARG(why));
		ev->ticket = r->ticket;
		return ENDS_BROKEN;
	}
	r->due_ns = UINT64_MAX;
	if (r->task.id.n) {
		(void)ask_server(s, r, "tasks/get", nothing);
	} else {
		s->stats.rounds++;
		session_send(s, r);
	}
	return DONE;
}

/* ---- answers of the caller ---- */

static struct question *find_question(struct session *s, uint64_t number)
{
	for (size_t i = 0; i < s->questions.n; i++) {
		struct question *a = &s->questions.item[i];

		if (a->number == number && a->told && !a->answered)
			return a;
	}
	return NULL;
}

/* Continue with a request when all of its questions are answered. */
static void go_on(struct session *s, uint64_t ticket)
{
	AUTO(buf_release) struct buf answers = BUF_INIT(BUF_UNBOUNDED);
	struct request *r = requests_find_ticket(&s->requests, ticket);

	for (size_t i = 0; i < s->questions.n; i++)
		if (s->questions.item[i].ticket == ticket &&
		    !s->questions.item[i].answered)
			return;
	if (!r)
		return;
	s->stats.rounds++;
	if (r->task.id.n) {
		take_answers(s, ticket, &answers, &r->task.answered);
		r->task.is_refused = false;
		(void)ask_server(s, r, "tasks/update", buf_str(&answers));
		return;
	}
	take_answers(s, ticket, &r->responses, &answers);
	session_send(s, r);
}

void session_answer(struct session *s, uint64_t ask, struct str result,
		    uint64_t now_ns)
{
	struct question *a = find_question(s, ask);
	size_t before = s->out.n;
	struct rpc_id id;

	session_tick(s, now_ns);
	if (!a)
		return;
	if (a->is_key) {
		buf_add_str(&a->answer, result);
		a->answered = true;
		start_clocks(s);
		if (a->ticket)
			go_on(s, a->ticket);
		return;
	}
	id = rpc_read_id(buf_str(&a->id));
	if (!session_is_mute(s))
		write_result(s, a, &id, result);
	s->answers += s->out.n - before;
	remove_question(s, a);
}

void session_answer_error(struct session *s, uint64_t ask, int64_t code,
			  const char *message, uint64_t now_ns)
{
	struct question *a = find_question(s, ask);
	uint64_t ticket = a ? a->ticket : 0;
	size_t before = s->out.n;
	struct request *r;
	struct rpc_id id;

	session_tick(s, now_ns);
	if (!a)
		return;
	if (!a->is_key && !session_is_mute(s)) {
		id = rpc_read_id(buf_str(&a->id));
		rpc_write_error(&s->out, &id, code, message, nothing);
		s->answers += s->out.n - before;
	}
	remove_question(s, a);
	talk_drop_questions(s, ticket);
	r = requests_find_ticket(&s->requests, ticket);
	if (!r)
		return;
	/* the request has to end (MR-12), with this text, by talk_on_due() */
	buf_clear(&r->responses);
	buf_adds(&r->responses, message);
	r->is_given_up = true;
	r->due_ns = s->now_ns;
	requests_timed(&s->requests, r);
}

/* ---- progress ---- */

enum verdict talk_tell_progress(struct session *s, struct request *r,
				struct session_event *ev)
{
	const uint64_t saved_ns = (PROGRESS_BURST - 1) * PROGRESS_EVERY_NS;
	struct request_progress told = r->progress;

	r->progress_held = false;
	if (r->progress_paid_ns < s->now_ns)
		r->progress_paid_ns = s->now_ns;
	r->progress_paid_ns += PROGRESS_EVERY_NS;
	r->next_progress_ns = r->progress_paid_ns > saved_ns
				      ? r->progress_paid_ns - saved_ns
				      : 0;
	r->progress = s->progress;
	s->progress = told;
	ev->type = SESSION_EVENT_PROGRESS;
	ev->ticket = r->ticket;
	ev->message = buf_str(&s->progress.message);
	ev->progress = str_of(s->progress.progress);
	if (s->progress.total[0])
		ev->total = str_of(s->progress.total);
	return EVENT;
}

static bool copy_number(struct str v, char to[REQUEST_NUMBER_BYTES + 1])
{
	if (!v.p || scan_type(v) != SCAN_NUMBER || v.n > REQUEST_NUMBER_BYTES)
		return false;
	memcpy(to, v.p, v.n);
	to[v.n] = '\0';
	return true;
}

/* Hold progress; false: it is not a number, or does not grow. */
static bool hold_progress(struct request *r, struct str params)
{
	struct request_progress *p = &r->progress;
	char text[REQUEST_NUMBER_BYTES + 1];
	struct str v;
	double now;

	if (!copy_number(scan_some(params, "progress"), text))
		return false;
	now = strtod(text, NULL);
	if (r->any_progress && !(now > r->last_progress))
		return false;
	r->any_progress = r->progress_held = true;
	r->last_progress = now;
	memcpy(p->progress, text, sizeof(text));
	if (!copy_number(scan_some(params, "total"), p->total))
		p->total[0] = '\0';
	buf_clear(&p->message);
	if (scan_get(params, "message", &v))
		scan_string_cut(v, REQUEST_TEXT_BYTES, &p->message);
	return true;
}

static enum verdict on_progress(struct session *s, struct str params,
				struct session_event *ev)
{
	struct str token = scan_some(params, "progressToken");
	/* a token is the id of a request, also of one with a task (PRO-5) */
	struct request *r =
		token.p ? requests_find(&s->requests, token, true) : NULL;
	bool was_held = r && r->progress_held;

	if (!r || !r->has_token || !hold_progress(r, params))
		return DONE;
	s->stats.dropped_notifications += was_held;
	r->deadline_ns = session_ends_ms(s, r->timeout_ms);
	if (s->now_ns >= r->next_progress_ns)
		return talk_tell_progress(s, r, ev);
	requests_timed(&s->requests, r);
	return DONE;
}

/* ---- log messages and changes ---- */

static enum verdict drop(struct session *s)
{
	s->stats.dropped_notifications++;
	return DONE;
}

/* Count an event against the bound of this second; false: drop it. */
static bool has_room(struct session *s)
{
	if (s->now_ns - s->log_second_ns >= NS_PER_S) {
		s->log_second_ns = s->now_ns;
		s->logs = 0;
	}
	if (s->logs == LOGS_PER_SECOND) {
		(void)drop(s);
		return false;
	}
	s->logs++;
	return true;
}

static enum verdict on_log(struct session *s, struct str params,
			   struct session_event *ev)
{
	struct str logger = scan_some(params, "logger"), data;
	unsigned rank = mcp_log_rank(scan_some(params, "level"));

	/* not asked for, not passed on (LOG-3) */
	if (s->is_modern && !s->opt.log_level)
		return drop(s);
	if (!scan_get(params, "data", &data) || !has_room(s))
		return DONE;
	ev->type = SESSION_EVENT_LOG;
	ev->level = mcp_log_level(rank ? rank : MCP_LOG_INFO);
	ev->params = params;
	ev->logger = logger.p ? session_shown(logger, TEXT_BYTES, &s->logger)
			      : STR("");
	ev->message = session_shown(data, TEXT_BYTES, &s->text);
	return EVENT;
}

/*
 * Notices of a change. Of a list, each is told once until that list is asked
 * for again (RW-65); of one thing, a member of the params names it.
 */
static const struct change {
	const char *notice, *list, *member;
	bool is_subscribed; /* in the modern era it belongs to a subscription */
} changes[] = {
	{"notifications/tools/list_changed", "tools/list", NULL, true},
	{"notifications/prompts/list_changed", "prompts/list", NULL, true},
	{"notifications/resources/list_changed", "resources/list", NULL, true},
	{"notifications/resources/updated", NULL, "uri", true},
	{"notifications/elicitation/complete", NULL, "elicitationId", false},
};

/* Find the subscription that a notification names in its _meta, or NULL. */
static struct request *subscription_of(struct session *s, struct str params)
{
	struct str id = scan_some(scan_some(params, "_meta"),
				  "io.modelcontextprotocol/subscriptionId");
	struct request *r =
		id.p ? requests_find(&s->requests, id, false) : NULL;

	return r && r->is_listen ? r : NULL;
}

static enum verdict on_change(struct session *s, size_t i, struct str params,
			      struct session_event *ev)
{
	const struct change *c = &changes[i];
	struct request *r = subscription_of(s, params);
	struct str name = STR("\"\"");

	/* a change must belong to an open subscription (SUB-3) */
	if (s->is_modern && c->is_subscribed && (!r || !r->is_acked))
		return drop(s);
	if (c->list && s->changed & 1U << i)
		return drop(s);
	if (c->list)
		s->changed |= 1U << i;
	else if (!scan_get_some(params, c->member, &name) || !has_room(s))
		return DONE;
	ev->type = SESSION_EVENT_CHANGED;
	ev->method = c->notice;
	ev->message = session_shown(name, TEXT_BYTES, &s->text);
	return EVENT;
}

/* ---- notices of the end ---- */

/* The server gives up a request of its own, or a subscription of ours. */
static enum verdict on_cancelled(struct session *s, struct str params,
				 struct session_event *ev)
{
	struct request *r;
	struct str id;

	if (!scan_get(params, "requestId", &id))
		return DONE;
	if (s->is_modern) {
		r = requests_find(&s->requests, id, false);
		if (!r || !r->is_listen)
			return DONE; /* CAN-8 */
		ev->ticket = r->ticket;
		ev->result = STR("{}");
		return ENDS_RESULT;
	}
	/* withdraw a request of the server (CAN-7) */
	for (size_t i = 0; i < s->questions.n; i++) {
		struct question *a = &s->questions.item[i];
		bool told = a->told;

		if (a->is_key || !str_eq(buf_str(&a->id), id))
			continue;
		(void)tell_gone(s, a, ev);
		return told ? EVENT : DONE;
	}
	return DONE;
}

enum verdict talk_on_message(struct session *s, const struct rpc_message *m,
			     struct session_event *ev)
{
	struct request *r;

	if (m->type == RPC_REQUEST)
		return on_request(s, m, ev);
	s->stats.notifications++;
	if (scan_is(m->method, "notifications/progress"))
		return on_progress(s, m->params, ev);
	if (scan_is(m->method, "notifications/message"))
		return on_log(s, m->params, ev);
	if (scan_is(m->method, "notifications/cancelled"))
		return on_cancelled(s, m->params, ev);
	for (size_t i = 0; i < ARRAY_LEN(changes); i++)
		if (scan_is(m->method, changes[i].notice))
			return on_change(s, i, m->params, ev);
	if (!scan_is(m->method, "notifications/subscriptions/acknowledged"))
		return DONE;
	r = subscription_of(s, m->params);
	if (r) {
		r->is_acked = true;
		r->deadline_ns = UINT64_MAX; /* SUB-7 */
	}
	return DONE;
}

/* ---- requests of the caller ---- */

void talk_cancel(struct session *s, struct request *r, const char *reason)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (r->task.id.n) {
		/* the answer is ignored (TX-6) */
		(void)ask_server(s, r, "tasks/cancel", nothing);
		return;
	}
	/* initialize must not be cancelled (INI-4); a parked request has been
	   answered (CAN-4) */
	if (!r->sent || r->parked || r->is_handshake)
		return;
	w = jw_begin(&params);
	jw_key(&w, "requestId");
	jw_uint(&w, r->id);
	if (reason)
		jw_kv_cstr(&w, "reason", reason);
	jw_end(&w);
	session_notify(s, "notifications/cancelled", buf_str(&params));
}

/*
 * Add a request whose params the caller writes. Its JSON must be an object, or
 * absent; `what` names that in errors.
 */
static int new_request(struct session *s, const char *method, const char *what,
		       struct str json, uint64_t now_ns, struct request **ret,
		       struct err *err)
{
	struct str v;

	if (json.n > LIMIT_ARGUMENTS_BYTES)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes, at most %d",
			       what, json.n, LIMIT_ARGUMENTS_BYTES);
	if (json.p && scan_document(json, NULL, &v, err) < 0)
		return err_wrap(err, "%s", what);
	if (json.p && scan_type(v) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "%s: not a JSON object", what);
	session_tick(s, now_ns);
	if (session_is_mute(s))
		return err_set(err, ERR_PEER,
			       "%s: the session with the server is over",
			       method);
	*ret = session_add_request(s, method);
	return 0;
}

static void queue_request(struct session *s, struct request *r,
			  uint64_t *ret_ticket)
{
	*ret_ticket = r->ticket;
	if (s->state == SESSION_READY)
		session_send(s, r);
}

/*
 * Send a tools/call that is never sent again, as session_send() would, but
 * without keeping its params. The message is written as a whole: a writer for
 * each of its tokens would take as long as everything else of a call.
 */
static void send_call_once(struct session *s, struct request *r,
			   const char *tool, struct str arguments)
{
	struct buf *out = &s->out;

	buf_adds(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_addu(out, r->id);
	buf_adds(out, ",\"method\":\"tools/call\",\"params\":{\"name\":");
	jw_quote(out, str_of(tool));
	buf_adds(out, ",\"arguments\":");
	/* a message stands on one line */
	if (memchr(arguments.p, '\n', arguments.n) ||
	    memchr(arguments.p, '\r', arguments.n))
		scan_compact(arguments, out);
	else
		buf_add_str(out, arguments);
	buf_adds(out, ",\"_meta\":{\"progressToken\":");
	buf_addu(out, r->id);
	buf_adds(out, "}}}\n");
	session_mark_sent(s, r);
}

int session_call_tool(struct session *s, const char *tool, struct str arguments,
		      bool as_task, uint64_t now_ns, uint64_t *ret_ticket,
		      struct err *err)
{
	struct request *r;
	struct jw w;

	if (new_request(s, "tools/call", "arguments", arguments, now_ns, &r,
			err) < 0)
		return -1;
	if (!arguments.p)
		arguments = STR("{}");
	r->has_token = true;
	r->as_task = as_task;
	if (s->state == SESSION_READY && !s->is_modern && !as_task) {
		*ret_ticket = r->ticket;
		send_call_once(s, r, tool, arguments);
		return 0;
	}
	w = jw_begin(&r->params);
	jw_kv_cstr(&w, "name", tool);
	jw_kv_raw(&w, "arguments", arguments);
	if (as_task)
		jw_kv_raw(&w, "task", STR("{}"));
	jw_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}

int session_request(struct session *s, const char *method, struct str params,
		    bool is_handed_on, uint64_t now_ns, uint64_t *ret_ticket,
		    struct err *err)
{
	struct request *r;

	if (new_request(s, method, method, params, now_ns, &r, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++)
		if (changes[i].list && strcmp(method, changes[i].list) == 0)
			s->changed &= ~(1U << i);
	if (params.p)
		buf_add_str(&r->params, str_trim(params));
	r->is_handed_on = is_handed_on;
	r->has_token = is_handed_on && !strcmp(method, "tools/call");
	queue_request(s, r, ret_ticket);
	return 0;
}

int session_listen(struct session *s, struct str filter, uint64_t now_ns,
		   uint64_t *ret_ticket, struct err *err)
{
	struct request *r;
	struct jw w;

	if (new_request(s, "subscriptions/listen", "notifications", filter,
			now_ns, &r, err) < 0)
		return -1;
	r->is_listen = true;
	w = jw_begin(&r->params);
	jw_kv_raw(&w, "notifications", filter.p ? filter : STR("{}"));
	jw_end(&w);
	queue_request(s, r, ret_ticket);
	return 0;
}
