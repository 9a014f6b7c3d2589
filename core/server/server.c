#include "core/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/text.h"

/* A member of `_meta` that the protocol has a name for. */
#define META(name) "io.modelcontextprotocol/" name

/* Answers of a batch, until the last is there. */
struct server_batch {
	struct buf answers;
	void *to;
	size_t open; /* calls, and the batch itself while it is read */
};

struct server_question {
	struct server_question *next;
	uint64_t number;
	const char *method;
	struct buf params;
	void (*answered)(void *arg, const struct server_reply *r);
	void *arg;
};

/* A resource that a client watches. */
struct server_watch {
	struct server_watch *next;
	const struct server_call *call; /* NULL: of the older era */
	char *uri;
};

/* Lists that change, as a client names them and as it is told. */
static const struct {
	const char *filter, *notice;
} changes[] = {
	{"toolsListChanged", "notifications/tools/list_changed"},
	{"promptsListChanged", "notifications/prompts/list_changed"},
	{"resourcesListChanged", "notifications/resources/list_changed"},
};

/* Bit of every subscription. */
#define LISTENS 128U
/* And of one that is not acknowledged yet, but watches resources. */
#define WATCHES 64U

static const char *const state_names[] = {
#define STATE(name, meaning) #name,
#include "core/server/states.def"
#undef STATE
};

/* Set the state; nothing else does. */
static void become(struct server_session *s, enum server_state state)
{
	log_debug("server: %s -> %s", state_names[s->state],
		  state_names[state]);
	s->state = state;
}

bool server_is_alone(const struct server_call *c)
{
	return c->revision && c->revision->era == MCP_ERA_PER_REQUEST;
}

bool server_brings_answers(const struct server_call *c)
{
	struct str v;

	return server_is_alone(c) &&
	       (scan_get_some(c->params, "requestState", &v) ||
		scan_get_some(c->params, "inputResponses", &v));
}

/* ISO dates compare as text. */
bool server_is_since(const struct server_call *c, const char *date)
{
	return strcmp(c->revision->date, date) >= 0;
}

/* ---- messages out ---- */

/* Send what was written, of a call or NULL. */
static void emit(struct server_session *s, const struct server_call *c,
		 enum server_kind kind)
{
	s->send(s->send_arg, c, buf_str(&s->out), kind);
	buf_clear(&s->out);
	if (s->out.cap > LIMIT_SERVER_BYTES)
		buf_release(&s->out);
}

/* Send the answers of a batch, which stand on a line each, as one array. */
static void leave_batch(struct server_session *s, struct server_batch *b)
{
	const struct server_call all = {
		.s = s, .revision = s->revision, .to = b->to};

	if (--b->open)
		return;
	for (size_t i = 0; i + 1 < b->answers.n; i++)
		if (b->answers.p[i] == '\n')
			b->answers.p[i] = ',';
	if (b->answers.n) {
		buf_addc(&s->out, '[');
		buf_add(&s->out, b->answers.p, b->answers.n - 1);
		buf_adds(&s->out, "]\n");
	}
	/* empty where all were notifications, or cancelled */
	emit(s, &all, SERVER_ANSWER);
	buf_release(&b->answers);
	free(b);
}

/* Take a question back; one that was sent as a request is cancelled. */
void server_withdraw(struct server_call *c, struct server_question *q)
{
	/* the answer of the call may be written already, and follows */
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct server_question **at = &c->questions;
	struct rpc_writer w;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	if (!server_is_alone(c)) {
		rpc_begin_notification(&w, &out, "notifications/cancelled");
		jw_kv_object(&w.jw, "params");
		jw_kv_int(&w.jw, "requestId", (int64_t)q->number);
		jw_end(&w.jw);
		rpc_end(&w);
		c->s->send(c->s->send_arg, c, buf_str(&out), SERVER_MESSAGE);
	}
	buf_release(&q->params);
	free(q);
}

static void withdraw_all(struct server_call *c)
{
	while (c->questions)
		server_withdraw(c, c->questions);
}

static void free_watch(struct server_watch **at)
{
	struct server_watch *w = *at;

	*at = w->next;
	free(w->uri);
	free(w);
}

static void free_call(struct server_call *c)
{
	struct server_session *s = c->s;
	struct server_call **at = &s->calls;

	withdraw_all(c);
	for (struct server_watch **w = &s->watches; c->listens && *w;)
		if ((*w)->call == c)
			free_watch(w);
		else
			w = &(*w)->next;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	s->n_calls--;
	if (c->batch)
		leave_batch(s, c->batch);
	free((char *)c->id.raw.p);
	free(c);
}

static void send_answer(struct server_call *c)
{
	struct server_session *s = c->s;

	withdraw_all(c);
	if (c->batch)
		buf_add_str(&c->batch->answers, buf_str(&s->out));
	/* one that is parked has no request that it could answer */
	if (c->batch || !c->id.raw.p)
		buf_clear(&s->out);
	else
		emit(s, c, SERVER_ANSWER);
	free_call(c);
}

void server_pass_error(struct server_call *c, int64_t code, const char *message,
		       struct str data)
{
	rpc_write_error(&c->s->out, &c->id, code, message, data);
	send_answer(c);
}

void server_refuse(struct server_call *c, int64_t code, const char *why)
{
	server_pass_error(c, code, why, (struct str){NULL, 0});
}

void server_refuse_answers(struct server_call *c)
{
	server_refuse(c, RPC_INVALID_PARAMS,
		      "nothing waits for this requestState any more");
}

struct jw *server_begin(struct server_call *c)
{
	rpc_begin_result(&c->w, &c->s->out, &c->id);
	jw_object(&c->w.jw);
	if (server_is_alone(c))
		jw_kv_cstr(&c->w.jw, "resultType", "complete");
	return &c->w.jw;
}

static void write_name(const struct server_info *info, struct jw *w)
{
	jw_kv_object(w, "_meta");
	jw_kv_object(w, META("serverInfo"));
	jw_kv_cstr(w, "name", info->name);
	jw_kv_cstr(w, "version", info->version);
	jw_end(w);
	jw_end(w);
}

void server_finish(struct server_call *c, bool is_list)
{
	const struct server_info *info = c->s->info;
	struct jw *w = &c->w.jw;

	if (server_is_alone(c) && is_list) {
		jw_kv_int(w, "ttlMs", info->list_ttl_ms);
		jw_kv_cstr(w, "cacheScope", info->list_scope);
	}
	if (server_is_alone(c))
		write_name(info, w);
	jw_end(w);
	rpc_end(&c->w);
	send_answer(c);
}

static bool can_be_asked(const struct server_call *c, const char *method,
			 struct str params)
{
	if (!strcmp(method, "elicitation/create"))
		return scan_is(scan_some(params, "mode"), "url") ? c->can.url
								 : c->can.form;
	return strcmp(method, "roots/list") ? c->can.sampling : c->can.roots;
}

const char *server_needs(struct str method, struct str params)
{
	if (str_eq(method, STR("sampling/createMessage")))
		return "{\"sampling\":{}}";
	if (str_eq(method, STR("roots/list")))
		return "{\"roots\":{}}";
	if (!str_eq(method, STR("elicitation/create")))
		return NULL;
	return scan_is(scan_some(params, "mode"), "url")
		       ? "{\"elicitation\":{\"url\":{}}}"
		       : "{\"elicitation\":{\"form\":{}}}";
}

void server_refuse_undeclared(struct server_call *c, struct str method,
			      const char *needs)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	buf_adds(&why, "the server asks for ");
	log_visible(&why, method.n ? str_first(method, 80) : STR("\"\""),
		    false);
	buf_adds(&why, ", which the client does not declare");
	if (!needs || !server_is_alone(c)) {
		server_refuse(c, RPC_INTERNAL_ERROR, buf_cstr(&why));
		return;
	}
	w = jw_begin(&data);
	jw_kv_raw(&w, "requiredCapabilities", str_of(needs));
	jw_end(&w);
	server_pass_error(c, MCP_MISSING_CAPABILITY, buf_cstr(&why),
			  buf_str(&data));
}

/* A question of a result that this client cannot be asked. */
struct undeclared {
	struct buf method;
	const char *needs; /* NULL: it is none */
};

static void undeclared_release(struct undeclared *u)
{
	buf_release(&u->method);
}

/* Find the first; false: there is none. */
static bool find_undeclared(const struct server_call *c, struct str result,
			    struct undeclared *u)
{
	struct str asked = scan_some(result, "inputRequests");

	/* without questions the client is only to ask again */
	if (!scan_is(scan_some(result, "resultType"), "input_required") ||
	    !asked.p)
		return false;
	if (scan_type(asked) != SCAN_OBJECT)
		return true;
	for (struct scan_iter it = scan_over(asked); scan_next(&it);) {
		struct str params = scan_some(it.value, "params");

		buf_clear(&u->method);
		u->needs = NULL;
		if (!scan_string(scan_some(it.value, "method"), &u->method))
			return true;
		u->needs = server_needs(buf_str(&u->method), params);
		if (!u->needs || !can_be_asked(c, buf_cstr(&u->method), params))
			return true;
	}
	return false;
}

void server_pass(struct server_call *c, struct str result, bool is_read)
{
	AUTO(undeclared_release)
	struct undeclared u = {.method = BUF_INIT(BUF_UNBOUNDED)};
	static const char *const alone[] = {"resultType", "ttlMs",
					    "cacheScope"};
	struct rpc_writer w;
	bool has[ARRAY_LEN(alone)] = {false};

	if (find_undeclared(c, result, &u)) {
		server_refuse_undeclared(c, buf_str(&u.method), u.needs);
		return;
	}
	rpc_begin_result(&w, &c->s->out, &c->id);
	jw_object(&w.jw);
	for (struct scan_iter it = scan_over(result); scan_next(&it);) {
		size_t i = 0;

		while (i < ARRAY_LEN(alone) && !scan_is(it.key, alone[i]))
			i++;
		if (i < ARRAY_LEN(alone) && !server_is_alone(c))
			continue;
		if (i < ARRAY_LEN(alone))
			has[i] = true;
		jw_key_raw(&w.jw, it.key);
		jw_raw(&w.jw, it.value);
	}
	if (server_is_alone(c) && !has[0])
		jw_kv_cstr(&w.jw, alone[0], "complete");
	if (server_is_alone(c) && is_read && !has[0] && !has[1])
		jw_kv_int(&w.jw, alone[1], 0);
	if (server_is_alone(c) && is_read && !has[0] && !has[2])
		jw_kv_cstr(&w.jw, alone[2], "private");
	jw_end(&w.jw);
	rpc_end(&w);
	send_answer(c);
}

void server_progress(struct server_call *c, struct str members)
{
	struct rpc_writer w;

	if (!c->token.p)
		return;
	rpc_begin_notification(&w, &c->s->out, "notifications/progress");
	jw_kv_object(&w.jw, "params");
	jw_kv_raw(&w.jw, "progressToken", c->token);
	for (struct scan_iter it = scan_over(members); scan_next(&it);) {
		if (scan_is(it.key, "progressToken") ||
		    (scan_is(it.key, "message") &&
		     !server_is_since(c, "2025-03-26")))
			continue;
		jw_key_raw(&w.jw, it.key);
		jw_raw(&w.jw, it.value);
	}
	jw_end(&w.jw);
	rpc_end(&w);
	emit(c->s, c, SERVER_PROGRESS);
}

unsigned server_log_rank(const struct server_call *c)
{
	return server_is_alone(c) ? c->log_rank : c->s->log_rank;
}

void server_log(struct server_call *c, struct str params)
{
	unsigned rank = mcp_log_rank(scan_some(params, "level"));
	unsigned wanted = server_log_rank(c);
	struct rpc_writer w;

	if (!wanted || (rank ? rank : MCP_LOG_INFO) < wanted)
		return;
	rpc_begin_notification(&w, &c->s->out, "notifications/message");
	jw_kv_raw(&w.jw, "params", params);
	rpc_end(&w);
	emit(c->s, c, SERVER_PROGRESS);
}

/* ---- questions ---- */

static struct server_can read_can(struct str capabilities)
{
	struct str elicit = scan_some(capabilities, "elicitation"), mode;
	bool has_url = elicit.p && scan_get_some(elicit, "url", &mode);

	return (struct server_can){
		.form = elicit.p &&
			(!has_url || scan_get_some(elicit, "form", &mode)),
		.url = has_url,
		.sampling = scan_some(capabilities, "sampling").p,
		.roots = scan_some(capabilities, "roots").p,
	};
}

static void write_question(const struct server_question *q, struct jw *w)
{
	jw_kv_cstr(w, "method", q->method);
	jw_kv_raw(w, "params", buf_str(&q->params));
}

static void drop_call(struct server_call *c)
{
	if (c->gone)
		c->gone(c);
	free_call(c);
}

static bool is_parked(const struct server_call *c)
{
	return !c->id.raw.p;
}

/* Calls of the client of this one that wait for input. */
static size_t count_parked(const struct server_call *of)
{
	size_t n = 0;

	for (const struct server_call *c = of->s->calls; c; c = c->next)
		n += is_parked(c) && !strcmp(c->client, of->client);
	return n;
}

/* Give up one of too many calls that wait for input: the oldest of the client
   that has the most, but not `last`, which began to and may be older: its
   question is returned. */
static void bound_parked(struct server_session *s,
			 const struct server_call *last)
{
	struct server_call *found = NULL;
	size_t n = 0, most = 0;

	for (struct server_call *c = s->calls; c; c = c->next) {
		size_t own;

		if (!is_parked(c) || c == last)
			continue;
		n++;
		own = count_parked(c);
		if (own < most)
			continue;
		most = own;
		found = c;
	}
	if (n >= SERVER_PARKED_MAX)
		drop_call(found);
}

static void question_key(const struct server_question *q, char key[32])
{
	snprintf(key, 32, "q%llu", (unsigned long long)q->number);
}

/* Answer with all questions of a call, which waits for the next request. */
static void park(struct server_call *c)
{
	struct server_session *s = c->s;
	struct rpc_writer w;
	char key[32];

	text_random(c->state, sizeof(c->state));
	rpc_begin_result(&w, &s->out, &c->id);
	jw_object(&w.jw);
	jw_kv_cstr(&w.jw, "resultType", "input_required");
	jw_kv_object(&w.jw, "inputRequests");
	for (struct server_question *q = c->questions; q; q = q->next) {
		question_key(q, key);
		jw_kv_object(&w.jw, key);
		write_question(q, &w.jw);
		jw_end(&w.jw);
	}
	jw_end(&w.jw);
	jw_kv_cstr(&w.jw, "requestState", c->state);
	write_name(s->info, &w.jw);
	jw_end(&w.jw);
	rpc_end(&w);
	emit(s, c, SERVER_ANSWER);
	free((char *)c->id.raw.p);
	c->id.raw = c->token = (struct str){NULL, 0};
	c->to = NULL;
	c->parked_ns = 0;
	bound_parked(s, c);
}

struct server_question *server_ask(
	struct server_call *c, const char *method, struct str params,
	void (*answered)(void *arg, const struct server_reply *r), void *arg)
{
	struct server_session *s = c->s;
	struct server_question *q;
	struct rpc_writer w;

	if (!can_be_asked(c, method, params))
		return NULL;
	q = mem_zalloc(sizeof(*q));
	*q = (struct server_question){
		.next = c->questions,
		.number = ++s->last_question,
		.method = method,
		.params = BUF_INIT(BUF_UNBOUNDED),
		.answered = answered,
		.arg = arg,
	};
	scan_compact(params, &q->params);
	c->questions = q;
	if (!server_is_alone(c)) {
		rpc_begin_request(&w, &s->out, q->number, method);
		jw_kv_raw(&w.jw, "params", buf_str(&q->params));
		rpc_end(&w);
		emit(s, c, SERVER_MESSAGE);
	}
	return q;
}

void server_put(struct server_call *c)
{
	if (server_is_alone(c) && c->questions && !is_parked(c))
		park(c);
}

/* Hand an answer on; the question is over. */
static void reply(struct server_call *c, struct server_question *q,
		  const struct server_reply *r)
{
	struct server_question **at = &c->questions, gone = *q;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	buf_release(&q->params);
	free(q);
	gone.answered(gone.arg, r);
}

/* An answer of the older era; one that nobody waits for is ignored. */
static void on_reply(struct server_session *s, const struct rpc_message *m)
{
	const struct server_reply r = {
		.result = m->type == RPC_RESULT ? m->result
						: (struct str){NULL, 0},
		.code = m->code,
		.message = m->message,
	};
	uint64_t number;

	if (!rpc_id_number(&m->id, &number))
		return;
	for (struct server_call *c = s->calls; c; c = c->next)
		for (struct server_question *q = c->questions; q; q = q->next)
			if (q->number == number && !server_is_alone(c)) {
				reply(c, q, &r);
				return;
			}
}

/* Question of a call whose answer is there; NULL: there is none. */
static struct server_question *answered_question(const struct server_call *c,
						 struct str answers,
						 struct str *ret)
{
	char key[32];

	for (struct server_question *q = c->questions; q; q = q->next) {
		question_key(q, key);
		if (scan_get(answers, key, ret))
			return q;
	}
	return NULL;
}

static bool is_open(const struct server_session *s, const struct server_call *c)
{
	const struct server_call *at = s->calls;

	while (at && at != c)
		at = at->next;
	return at;
}

/* Go on with the call that waits for this request. False: there is none. */
static bool resume(struct server_call *fresh, struct str state)
{
	struct server_session *s = fresh->s;
	struct server_call *c = s->calls;
	struct str answers = scan_some(fresh->params, "inputResponses");
	struct server_reply r = {.code = 0};
	struct server_question *q;

	while (c && (c->id.raw.p || !scan_is(state, c->state)))
		c = c->next;
	if (!c)
		return false;
	c->id = fresh->id;
	c->token = fresh->token;
	c->to = fresh->to;
	c->can = fresh->can;
	fresh->id.raw.p = NULL;
	free_call(fresh);
	/* the callback may end the call */
	while (answers.p && is_open(s, c) &&
	       (q = answered_question(c, answers, &r.result)))
		reply(c, q, &r);
	if (is_open(s, c) && c->questions)
		park(c);
	return true;
}

/* ---- changes ---- */

/* c  subscription of the newer era, or NULL; uri  {NULL, 0}: of a list */
static void tell_change(struct server_session *s, const struct server_call *c,
			const char *notice, struct str uri)
{
	struct rpc_writer w;

	rpc_begin_notification(&w, &s->out, notice);
	if (c || uri.p)
		jw_kv_object(&w.jw, "params");
	if (uri.p)
		jw_kv_str(&w.jw, "uri", uri);
	if (c) {
		jw_kv_object(&w.jw, "_meta");
		jw_kv_raw(&w.jw, META("subscriptionId"), c->id.raw);
		jw_end(&w.jw);
	}
	if (c || uri.p)
		jw_end(&w.jw);
	rpc_end(&w);
	emit(s, c, SERVER_MESSAGE);
}

/* Owner of what a request watches: its session, or the request. */
static const struct server_call *watcher(const struct server_call *c)
{
	return server_is_alone(c) ? c : NULL;
}

bool server_watch(struct server_call *c, struct str uri)
{
	struct server_session *s = c->s;
	struct server_watch **at = &s->watches;
	size_t n = 0;

	for (; *at; at = &(*at)->next) {
		if ((*at)->call != watcher(c))
			continue;
		if (str_eq(str_of((*at)->uri), uri))
			return true;
		n++;
	}
	if (n >= LIMIT_SERVER_WATCHES)
		return false;
	/* an order in which they are acknowledged as they were asked for */
	*at = mem_zalloc(sizeof(**at));
	**at = (struct server_watch){NULL, watcher(c),
				     mem_strndup(uri.p, uri.n)};
	if (server_is_alone(c))
		c->listens |= WATCHES;
	return true;
}

void server_unwatch(struct server_call *c, struct str uri)
{
	struct server_watch **at = &c->s->watches;

	while (*at &&
	       ((*at)->call != watcher(c) || !str_eq(str_of((*at)->uri), uri)))
		at = &(*at)->next;
	if (*at)
		free_watch(at);
}

bool server_updated(struct server_session *s, struct str watched,
		    struct str uri)
{
	bool is_watched = false;

	for (struct server_watch *w = s->watches; w; w = w->next) {
		if (!str_eq(str_of(w->uri), watched))
			continue;
		is_watched = true;
		if (uri.p && (!w->call || w->call->listens & LISTENS))
			tell_change(s, w->call,
				    "notifications/resources/updated", uri);
	}
	return is_watched;
}

void server_changed(struct server_session *s, const char *notice)
{
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		if (strcmp(changes[i].notice, notice) != 0)
			continue;
		if (s->revision)
			tell_change(s, NULL, notice, (struct str){NULL, 0});
		for (struct server_call *c = s->calls; c; c = c->next)
			if (c->listens & 1U << i)
				tell_change(s, c, notice,
					    (struct str){NULL, 0});
	}
}

void server_on_listen(struct server_call *c)
{
	struct str filter = scan_some(c->params, "notifications");
	const struct server_watch *watches = c->listens ? c->s->watches : NULL;
	struct rpc_writer w;

	rpc_begin_notification(&w, &c->s->out,
			       "notifications/subscriptions/acknowledged");
	jw_kv_object(&w.jw, "params");
	jw_kv_object(&w.jw, "_meta");
	jw_kv_raw(&w.jw, META("subscriptionId"), c->id.raw);
	jw_end(&w.jw);
	jw_kv_object(&w.jw, "notifications");
	c->listens |= LISTENS;
	for (size_t i = 0; filter.p && i < ARRAY_LEN(changes); i++) {
		if (!scan_true(filter, changes[i].filter))
			continue;
		c->listens |= 1U << i;
		jw_kv_bool(&w.jw, changes[i].filter, true);
	}
	if (watches) {
		jw_kv_array(&w.jw, "resourceSubscriptions");
		for (; watches; watches = watches->next)
			if (watches->call == c)
				jw_cstr(&w.jw, watches->uri);
		jw_end(&w.jw);
	}
	jw_end(&w.jw);
	jw_end(&w.jw);
	rpc_end(&w);
	emit(c->s, c, SERVER_MESSAGE);
}

/* ---- methods of every server ---- */

/* The revisions in which a request may stand alone. */
static void write_dates(struct jw *w)
{
	size_t n;
	const struct mcp_revision *r = mcp_revisions(&n);

	jw_array(w);
	for (size_t i = 0; i < n; i++)
		if (r[i].era == MCP_ERA_PER_REQUEST)
			jw_cstr(w, r[i].date);
	jw_end(w);
}

static void on_discover(struct server_call *c)
{
	const struct server_info *info = c->s->info;
	struct jw *w = server_begin(c);

	jw_key(w, "supportedVersions");
	write_dates(w);
	jw_kv_raw(w, "capabilities", str_of(info->capabilities));
	if (info->instructions[0])
		jw_kv_cstr(w, "instructions", info->instructions);
	server_finish(c, true);
}

/* Answer with an empty result. */
static void on_ping(struct server_call *c)
{
	rpc_write_result(&c->s->out, &c->id, STR("{}"));
	send_answer(c);
}

void server_on_set_level(struct server_call *c)
{
	unsigned rank = mcp_log_rank(scan_some(c->params, "level"));

	if (!rank) {
		server_refuse(c, RPC_INVALID_PARAMS,
			      "params.level must be a level of messages, as "
			      "\"info\"");
		return;
	}
	c->s->log_rank = rank;
	on_ping(c);
}

static void on_initialize(struct server_call *c)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct server_session *s = c->s;
	struct mcp_peer asked;
	struct mcp_peer answer = {
		.capabilities = str_of(s->info->capabilities),
		.name = str_of(s->info->name),
		.version = str_of(s->info->version),
		.instructions = str_of(s->info->instructions),
	};
	struct err err = ERR_INIT;
	struct rpc_writer w;

	if (c->batch) {
		server_refuse(c, RPC_INVALID_REQUEST,
			      "initialize must not be part of a batch");
		return;
	}
	if (s->state != SERVER_NEW && s->state != SERVER_ALONE) {
		server_refuse(c, RPC_INVALID_REQUEST,
			      "the session is initialized already");
		return;
	}
	if (mcp_read_initialize(c->params, &arena, &asked, &err) < 0) {
		server_refuse(c, RPC_INVALID_PARAMS, err.msg);
		return;
	}
	s->revision = mcp_revision_find(asked.protocol);
	if (!s->revision || s->revision->era != MCP_ERA_INITIALIZE)
		s->revision = mcp_revision_newest();
	snprintf(s->client, sizeof(s->client), "%.*s", STR_ARG(asked.name));
	s->can = read_can(asked.capabilities);
	answer.protocol = str_of(s->revision->date);
	become(s, SERVER_GREETED);
	rpc_begin_result(&w, &s->out, &c->id);
	mcp_write_peer(&w.jw, &answer, "serverInfo");
	rpc_end(&w);
	send_answer(c);
}

static const struct server_method own_methods[] = {
	{"initialize", SERVER_NEVER_ALONE, on_initialize},
	{"ping", SERVER_NEVER_ALONE, on_ping},
	{"server/discover", SERVER_ONLY_ALONE, on_discover},
	{0},
};

/* ---- reading params ---- */

bool server_read_page(struct server_call *c)
{
	struct str cursor;

	if (!scan_get_some(c->params, "cursor", &cursor))
		return true;
	server_refuse(c, RPC_INVALID_PARAMS,
		      "unknown cursor: the list has one page");
	return false;
}

bool server_read_tool(struct server_call *c, struct str *ret_name,
		      struct str *ret_args)
{
	if (!scan_get(c->params, "name", ret_name) ||
	    scan_type(*ret_name) != SCAN_STRING) {
		server_refuse(c, RPC_INVALID_PARAMS,
			      "params.name must be the name of a tool");
		return false;
	}
	if (!scan_get_some(c->params, "arguments", ret_args))
		*ret_args = STR("{}");
	if (scan_type(*ret_args) == SCAN_OBJECT)
		return true;
	server_refuse(c, RPC_INVALID_PARAMS,
		      "params.arguments must be an object");
	return false;
}

/* ---- requests ---- */

/* Error -32022: the versions supported, and the one asked for. */
static void refuse_version(struct server_call *c, struct str version)
{
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&data);

	jw_key(&w, "supported");
	write_dates(&w);
	jw_kv_raw(&w, "requested", version);
	jw_end(&w);
	server_pass_error(c, MCP_UNSUPPORTED_VERSION,
			  "unsupported protocol version", buf_str(&data));
}

static void read_client(struct server_call *c, struct str info)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	if (scan_string_cut(scan_some(info, "name"), sizeof(c->client) - 1,
			    &name))
		snprintf(c->client, sizeof(c->client), "%s", buf_cstr(&name));
}

/* Read a request that names its own version. False: an error was answered. */
static bool read_own_version(struct server_call *c, struct str meta,
			     struct str version)
{
	struct str can;

	/* no head of HTTP says what it is */
	if (c->batch) {
		server_refuse(c, RPC_INVALID_REQUEST,
			      "a request that stands alone must not be part of "
			      "a batch");
		return false;
	}
	if (scan_type(version) != SCAN_STRING) {
		server_refuse(c, RPC_INVALID_PARAMS,
			      "the protocol version in params._meta must be a "
			      "string");
		return false;
	}
	/* the string without its quotes */
	c->revision =
		mcp_revision_find((struct str){version.p + 1, version.n - 2});
	if (!server_is_alone(c)) {
		refuse_version(c, version);
		return false;
	}
	if (!scan_get(meta, META("clientCapabilities"), &can) ||
	    scan_type(can) != SCAN_OBJECT) {
		server_refuse(c, RPC_INVALID_PARAMS,
			      "params._meta must have the object \"" META(
				      "clientCapabilities") "\"");
		return false;
	}
	c->can = read_can(can);
	read_client(c, scan_some(meta, META("clientInfo")));
	c->log_rank = mcp_log_rank(scan_some(meta, META("logLevel")));
	if (c->s->state == SERVER_NEW)
		become(c->s, SERVER_ALONE);
	return true;
}

/*
 * Find the revision of a request: that of initialize, or the one that it names
 * itself. False: an error was answered.
 */
static bool read_revision(struct server_call *c)
{
	const enum server_state state = c->s->state;
	struct str meta, version;

	c->revision = c->s->revision;
	c->can = c->s->can;
	memcpy(c->client, c->s->client, sizeof(c->client));
	/* initialize begins the older era, also behind a probe */
	if (!c->s->is_shared && scan_is(c->method, "initialize"))
		return true;
	if (scan_get_some(c->params, "_meta", &meta) &&
	    scan_get_some(meta, META("protocolVersion"), &version))
		return read_own_version(c, meta, version);
	if (state != SERVER_ALONE &&
	    (state != SERVER_NEW || !scan_is(c->method, "server/discover")))
		return true;
	server_refuse(c, RPC_INVALID_PARAMS,
		      "params._meta must name the version: \"" META(
			      "protocolVersion") "\"");
	return false;
}

/* The next method of the era, of the session's own and then the server's. */
static const struct server_method *next_method(const struct server_call *c,
					       const struct server_method *m)
{
	do {
		m = m ? m + 1 : own_methods;
		if (!m->name && m == own_methods + ARRAY_LEN(own_methods) - 1)
			m = c->s->info->methods;
		if (!m->name)
			return NULL;
	} while (m->when != SERVER_ALWAYS &&
		 (m->when == SERVER_ONLY_ALONE) != server_is_alone(c));
	return m;
}

static void refuse_method(struct server_call *c)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	const struct server_method *m = next_method(c, NULL), *next;

	buf_addf(&why, "method not found: this server has %s", m->name);
	for (; (next = next_method(c, m)); m = next)
		buf_addf(&why, "%s%s", next_method(c, next) ? ", " : " and ",
			 next->name);
	server_refuse(c, RPC_METHOD_NOT_FOUND, buf_cstr(&why));
}

static void on_request(struct server_call *c)
{
	const struct server_method *m = NULL;
	struct str state = {NULL, 0};

	if (!read_revision(c))
		return;
	while ((m = next_method(c, m)) && !scan_is(c->method, m->name))
		;
	if (!m)
		refuse_method(c);
	else if (!c->revision && m->run != on_initialize && m->run != on_ping)
		server_refuse(c, RPC_INVALID_REQUEST,
			      "not initialized: send initialize first");
	else if (scan_type(c->params) != SCAN_OBJECT)
		server_refuse(c, RPC_INVALID_PARAMS,
			      "params must be an object");
	else if (server_is_alone(c) &&
		 scan_get_some(c->params, "requestState", &state) &&
		 resume(c, state))
		return;
	else if (state.p && !c->s->info->hands_on)
		server_refuse_answers(c);
	else
		m->run(c);
}

static struct server_call *find_call(const struct server_session *s,
				     struct str id)
{
	for (struct server_call *c = s->calls; c; c = c->next)
		if (str_eq(c->id.raw, id))
			return c;
	return NULL;
}

/* Keep the id, and the token of progress: what outlives the message. */
static void keep_id(struct server_call *c, const struct rpc_message *m)
{
	struct str meta, token = {NULL, 0};
	char *p;

	if (m->type == RPC_REQUEST && scan_get_some(m->params, "_meta", &meta))
		token = scan_some(meta, "progressToken");
	if (token.n > LIMIT_SERVER_ID_BYTES ||
	    (token.p && scan_type(token) != SCAN_STRING &&
	     scan_type(token) != SCAN_NUMBER))
		token = (struct str){NULL, 0};
	c->id = m->id;
	p = mem_alloc(c->id.raw.n + token.n + 1);
	memcpy(p, c->id.raw.p, c->id.raw.n);
	c->id.raw.p = p;
	if (!token.p)
		return;
	memcpy(p + c->id.raw.n, token.p, token.n);
	c->token = (struct str){p + c->id.raw.n, token.n};
}

/* Reason why a request is none that can be answered; NULL: it is one. */
static const char *refusal(const struct server_session *s,
			   const struct rpc_message *m)
{
	if (m->type == RPC_INVALID || m->version != RPC_VERSION_OK)
		return "invalid request: an object with \"jsonrpc\":\"2.0\" "
		       "and a method is needed";
	if (m->id.type == RPC_ID_OTHER)
		return "invalid request: an id is a string or an integer";
	/* ids of several clients say nothing about each other */
	if (s->is_shared)
		return NULL;
	if (s->n_calls >= LIMIT_SERVER_CALLS)
		return "too many requests are open";
	return find_call(s, m->id.raw) ? "a request with this id is open"
				       : NULL;
}

static void begin_call(struct server_session *s, struct rpc_message *m,
		       struct server_batch *batch, void *to)
{
	const char *why;
	struct server_call *c;

	if (m->id.raw.n > LIMIT_SERVER_ID_BYTES)
		m->id = (struct rpc_id){.type = RPC_ID_OTHER,
					.raw = STR("null")};
	why = refusal(s, m);
	c = mem_zalloc(sizeof(*c));
	*c = (struct server_call){.s = s, .batch = batch, .next = s->calls};
	keep_id(c, m);
	if (batch)
		batch->open++;
	s->calls = c;
	s->n_calls++;
	c->to = to;
	c->method = m->method;
	c->params = m->params;
	if (why)
		server_refuse(c, RPC_INVALID_REQUEST, why);
	else
		on_request(c);
}

static void on_notification(struct server_session *s,
			    const struct rpc_message *m)
{
	struct server_call *c = NULL;
	struct str id;

	if (s->state == SERVER_GREETED &&
	    scan_is(m->method, "notifications/initialized"))
		become(s, SERVER_READY);
	if (!s->is_shared && scan_is(m->method, "notifications/cancelled") &&
	    scan_get_some(m->params, "requestId", &id))
		c = find_call(s, id);
	if (!c)
		return;
	withdraw_all(c);
	/* no answer follows, and whoever waits for it learns that */
	if (!c->batch)
		emit(s, c, SERVER_ANSWER);
	drop_call(c);
}

static void on_object(struct server_session *s, struct str object,
		      struct server_batch *batch, void *to)
{
	struct rpc_message m;
	enum rpc_type type = rpc_read(object, &m);

	/* JSON-RPC gives no answer to an answer, however odd it is */
	if (type == RPC_RESULT || type == RPC_ERROR)
		on_reply(s, &m);
	else if (type == RPC_NOTIFICATION)
		on_notification(s, &m);
	else
		begin_call(s, &m, batch, to);
}

/* ---- messages in ---- */

static void refuse_line(struct server_session *s, int64_t code, const char *why,
			void *to)
{
	const struct server_call none = {
		.s = s, .revision = s->revision, .to = to};

	rpc_write_error(&s->out, NULL, code, why, (struct str){NULL, 0});
	emit(s, &none, SERVER_ANSWER);
}

static void on_batch(struct server_session *s, struct str array, void *to)
{
	struct server_batch *b;
	size_t n = scan_count(array);

	if (!s->revision || strcmp(s->revision->date, "2025-03-26") != 0) {
		refuse_line(s, RPC_INVALID_REQUEST,
			    "batches belong to revision 2025-03-26 only", to);
		return;
	}
	if (!n || n > LIMIT_SERVER_BATCH) {
		refuse_line(s, RPC_INVALID_REQUEST,
			    n ? "the batch has too many messages"
			      : "the batch is empty",
			    to);
		return;
	}
	b = mem_zalloc(sizeof(*b));
	*b = (struct server_batch){BUF_INIT(BUF_UNBOUNDED), to, 1};
	for (struct scan_iter it = scan_over(array); scan_next(&it);)
		on_object(s, it.value, b, to);
	leave_batch(s, b);
}

void server_message(struct server_session *s, struct str line, void *to)
{
	struct err err = ERR_INIT;
	struct str value;

	if (scan_document(line, NULL, &value, &err) < 0) {
		err_wrap(&err, "parse error");
		refuse_line(s, RPC_PARSE_ERROR, err.msg, to);
		return;
	}
	if (scan_type(value) == SCAN_ARRAY)
		on_batch(s, value, to);
	else
		on_object(s, value, NULL, to);
}

static void on_frame(struct server_session *s, enum frame_result got,
		     struct str line)
{
	char why[64];

	if (got == FRAME_LINE)
		server_message(s, line, NULL);
	if (got != FRAME_OVER)
		return;
	snprintf(why, sizeof(why), "the message is longer than %d MiB",
		 LIMIT_SERVER_BYTES / (1024 * 1024));
	refuse_line(s, RPC_INVALID_REQUEST, why, NULL);
}

void server_init(struct server_session *s, const struct server_info *info,
		 void *arg, server_send_fn *send, void *send_arg)
{
	*s = (struct server_session){
		.info = info,
		.arg = arg,
		.send = send,
		.send_arg = send_arg,
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	frame_init(&s->in, LIMIT_SERVER_BYTES);
}

static void send_nowhere(UNUSED void *arg, UNUSED const struct server_call *c,
			 UNUSED struct str message,
			 UNUSED enum server_kind kind)
{
}

void server_release(struct server_session *s)
{
	struct server_call *c = s->calls, *next;

	/* answers of others in a batch have no reader any more */
	s->send = send_nowhere;
	for (; c; c = next) {
		next = c->next;
		drop_call(c);
	}
	while (s->watches)
		free_watch(&s->watches);
	frame_release(&s->in);
	buf_release(&s->out);
}

void server_send_to_buf(void *buf, UNUSED const struct server_call *c,
			struct str message, UNUSED enum server_kind kind)
{
	buf_add_str(buf, message);
}

void server_feed(struct server_session *s, struct str in)
{
	enum frame_result got;
	struct str line = {NULL, 0};

	frame_add(&s->in, in);
	while ((got = frame_next(&s->in, &line)) != FRAME_NONE)
		on_frame(s, got, line);
}

void server_end(struct server_session *s)
{
	struct str line = {NULL, 0};
	enum frame_result got = frame_rest(&s->in, &line);
	struct server_call *c, *next;

	on_frame(s, got, line);
	for (c = s->calls; c; c = next) {
		next = c->next;
		if (c->listens || c->questions || !c->id.raw.p)
			drop_call(c);
	}
}

void server_forget(struct server_session *s, uint64_t now_ns, uint64_t after_ns)
{
	struct server_call *c = s->calls, *next;

	for (; c; c = next) {
		next = c->next;
		if (!is_parked(c))
			continue;
		if (!c->parked_ns)
			c->parked_ns = now_ns;
		if (now_ns - c->parked_ns > after_ns)
			drop_call(c);
	}
}

void server_drop(struct server_session *s, const void *to)
{
	struct server_call *c = s->calls, *next;

	for (; c; c = next) {
		next = c->next;
		if (c->to != to)
			continue;
		c->to = NULL;
		if (c->batch)
			c->batch->to = NULL;
		if (server_is_alone(c) || !to)
			drop_call(c);
	}
}
