/*
 * Servers that are asked: each is opened as a run would open it, one after the
 * other, its tools are listed, and it is ended.
 */
#include "core/doctor/doctor_deep.h"

#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/credentials.h"
#include "core/client/eras.h"
#include "core/run/pool.h"
#include "core/run/remotes.h"
#include "core/report/ledger.h"

struct deep {
	struct doctor *d;
	struct loop loop;
	struct scrub *scrub;
	struct eras *eras;
	struct credentials *credentials;
	struct remotes *remotes;
	struct pool *pool;
};

/* A server being asked, by the first step that names it. */
struct asked {
	struct deep *deep;
	const struct plan *whole;
	const struct plan_step *plan;
	const char *name;
	struct pool_user user;
	struct loop_timer timer;
	struct env env;
	bool is_done, is_closed;
};

/* ---- rows ---- */

static const char *remedy_of(const struct asked *a)
{
	const struct server *server = a->plan->step->server;

	if (!server)
		return "try it by itself: matins tools -v -- PROGRAM ARGS";
	return arena_printf(a->deep->d->arena,
			    "try it by itself: matins tools -v --server %s",
			    server->name);
}

/* Copy a text without secrets into the arena of the doctor. */
static const char *clean(struct asked *a, struct str text)
{
	const struct scrub *own = pool_scrub(&a->user);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	scrub_cut(own ? own : a->deep->scrub, text, &out);
	return arena_strdup(a->deep->d->arena, buf_cstr(&out));
}

static void fail(struct asked *a, const char *sentence, const char *details)
{
	if (a->is_done)
		return;
	a->is_done = true;
	doctor_add(a->deep->d, "answer", a->name, CHECK_FAILED, remedy_of(a),
		   "%s%s%s", clean(a, str_of(sentence)), *details ? "; " : "",
		   details);
}

static bool calls(const struct plan_step *step)
{
	return step->step->tool && step->reason == REASON_NONE;
}

static void say_tool(struct asked *a, const struct listing *list,
		     const struct plan_step *step)
{
	const struct session_server *s = client_server(a->user.client);
	const char *tool = step->step->tool;
	bool has_tool = !*tool || listing_find(list, str_of(tool)) != NULL;

	if (has_tool && step != a->plan)
		return;
	doctor_add(a->deep->d, "answer",
		   doctor_row(a->deep->d, a->whole->routine, step->step),
		   has_tool ? CHECK_OK : CHECK_FAILED,
		   has_tool ? ""
			    : "name one of its tools; matins tools lists them",
		   "%s %s, MCP %s, %zu tool%s%s%s%s", clean(a, s->name),
		   clean(a, s->version), s->revision->date, list->n,
		   list->n == 1 ? "" : "s", has_tool ? "" : "; none is \"",
		   has_tool ? "" : tool, has_tool ? "" : "\"");
}

/* Add rows for later steps of this server whose tools are missing, too. */
static void say_list(struct asked *a, const struct listing *list)
{
	const struct server *server = a->plan->step->server;

	a->is_done = true;
	say_tool(a, list, a->plan);
	for (size_t i = 0; server && i < a->whole->n_steps; i++) {
		const struct plan_step *other = &a->whole->steps[i];

		if (other != a->plan && other->step->server == server &&
		    calls(other))
			say_tool(a, list, other);
	}
}

/* ---- one server ---- */

static void on_list(void *arg, const struct client_listed *l)
{
	struct asked *a = arg;
	const struct client_event *e = l->event;

	if (a->is_done)
		return;
	if (l->type == CLIENT_RESULT)
		say_list(a, l->list);
	else if (l->type == CLIENT_FAILED)
		fail(a, e->sentence, e->details);
	else
		fail(a, "the server refuses to list its tools",
		     clean(a, e->of->message));
}

static void opened(struct pool_user *u)
{
	struct asked *a = u->arg;
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.done = on_list,
		.arg = a,
	};
	struct err err = ERR_INIT;
	uint64_t ticket;

	if (!a->is_done && client_list(u->client, &list, &ticket, &err) < 0)
		fail(a, err.msg, "");
}

static void refused(struct pool_user *u, const struct err *err)
{
	fail(u->arg, err->msg, "");
}

static void closed(struct pool_user *u, struct client *c)
{
	struct asked *a = u->arg;

	a->is_closed = true;
	if (*client_failure_sentence(c))
		fail(a, client_failure_sentence(c), client_failure_details(c));
	fail(a, "the server ended before it answered", "");
}

static void on_time(void *arg)
{
	struct asked *a = arg;

	fail(a,
	     arena_printf(a->deep->d->arena,
			  "no answer within the %llu ms of its timeout",
			  (unsigned long long)a->plan->step->timeout_ms),
	     "");
}

/* Wait for a row or Ctrl-C, then until the server has ended. */
static int wait_for(struct asked *a, struct err *err)
{
	struct deep *deep = a->deep;
	enum pool_end how = POOL_CLOSE;

	while (!a->is_done && !deep->loop.signal)
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	if (deep->loop.signal)
		how = POOL_TERMINATE;
	(void)!pool_leave(deep->pool, &a->user, how, CLIENT_GRACE_MS);
	while (!pool_is_idle(deep->pool))
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	return 0;
}

static int ask(struct deep *deep, const struct plan *plan,
	       const struct plan_step *step, struct err *err)
{
	static const struct pool_handler handler = {opened, refused, closed};
	struct asked a = {
		.deep = deep,
		.whole = plan,
		.plan = step,
		.timer = {.fire = on_time, .arg = &a},
	};
	struct err why = ERR_INIT;
	int r = 0;

	a.name = doctor_row(deep->d, plan->routine, step->step);
	if (credentials_give(deep->credentials, &step->server_env, &a.env,
			     &why) < 0 ||
	    credentials_give(deep->credentials, &step->step->env, &a.env,
			     &why) < 0) {
		fail(&a, why.msg, "");
	} else {
		a.user = (struct pool_user){
			.name = step->step->name,
			.plan = step,
			.env = env_lines(&a.env),
			.handler = &handler,
			.arg = &a,
		};
		pool_expect(deep->pool, &a.user);
		loop_timer_set(&deep->loop, &a.timer,
			       loop_now(&deep->loop) +
				       step->step->timeout_ms * NS_PER_MS);
		pool_enter(deep->pool, &a.user);
		r = wait_for(&a, err);
		loop_timer_clear(&deep->loop, &a.timer);
	}
	env_release(&a.env);
	return r;
}

/* ---- all of them ---- */

static void scrub_filter(struct buf *line, void *arg)
{
	scrub_log_filter(line, arg);
}

static void open_deep(struct deep *deep)
{
	struct doctor *d = deep->d;
	const struct strlist *values = &d->options->file->header_values;
	const struct remotes_options reach = {
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.keeps_apart = true,
		.state_dir = d->state,
		.config = d->config,
	};

	for (size_t i = 0; i < values->n; i++)
		scrub_add(deep->scrub, str_of(values->item[i]));
	log_set_filter(scrub_filter, deep->scrub);
	deep->credentials = credentials_new(&(struct credentials_context){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.policy = &d->policy,
		.config = d->config,
	});
	deep->remotes = remotes_new(&reach);
	deep->eras = eras_open(NULL);
	deep->pool = pool_new(&(struct client_context){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.eras = deep->eras,
	});
	pool_let_reach(deep->pool, deep->remotes, deep->credentials);
	pool_let_sample(deep->pool, &d->policy, d->config->dir);
}

static void close_deep(struct deep *deep)
{
	log_set_filter(NULL, NULL);
	pool_free(deep->pool);
	remotes_free(deep->remotes);
	credentials_free(deep->credentials);
	eras_free(deep->eras);
	scrub_free(deep->scrub);
	loop_release(&deep->loop);
}

/* Report whether an earlier step asks the server of step `at`. */
static bool was_asked(const struct plan *plan, size_t at)
{
	const struct server *server = plan->steps[at].step->server;

	for (size_t i = 0; server && i < at; i++)
		if (plan->steps[i].step->server == server &&
		    calls(&plan->steps[i]))
			return true;
	return false;
}

int doctor_look_deep(struct doctor *d, const struct plan *plan, struct err *err)
{
	struct deep deep = {.d = d};
	int r;

	if (loop_init(&deep.loop, clock_system(), err) < 0)
		return -1;
	deep.scrub = scrub_new();
	open_deep(&deep);
	r = loop_take_signals(&deep.loop, err);
	for (size_t i = 0; r == 0 && i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];

		if (deep.loop.signal)
			r = err_set(err, ERR_PEER, "ended by a signal");
		else if (calls(s) && !was_asked(plan, i))
			r = ask(&deep, plan, s, err);
	}
	close_deep(&deep);
	return r;
}
