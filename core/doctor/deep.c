#include "core/doctor/deep.h"

#include "core/base/log.h"
#include "core/client/asks.h"
#include "core/client/eras.h"
#include "core/client/said.h"
#include "core/config/keys.h"
#include "core/run/advice.h"
#include "core/run/advice_command.h"
#include "core/run/pinned.h"
#include "core/run/pool.h"
#include "core/run/remotes.h"
#include "core/run/tool_policy.h"

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
	struct pool_user user;
	struct loop_timer timer;
	struct env env;
	bool is_done;
};

/* Copy a text without secrets into the arena of the doctor. */
static const char *clean(struct asked *a, struct str text)
{
	const struct scrub *own = pool_scrub(&a->user);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	scrub_cut(own ? own : a->deep->scrub, text, &out);
	return arena_strdup(a->deep->d->arena, buf_cstr(&out));
}

/* Add the pieces of advice, the last of which leads to a trace. */
static void add_advice(struct asked *a, const struct client *c, struct buf *out)
{
	const struct plan_step *s = a->plan;
	struct doctor *d = a->deep->d;
	const char *routine = a->whole->routine->name;
	const struct advice_known known = {
		.verdict = client_verdict(c),
		.said = client_stderr(c),
		.failed = true,
		.is_server = true,
		.own = s->step->server ? &s->step->server->sandbox
				       : &s->step->sandbox,
		.config = d->config,
		.scrub = a->deep->scrub,
		.gate = d->gate,
		.request = &s->request,
		.trace = routine ? advice_about(d->config, "trace",
						advice_words(routine,
							     s->step->name,
							     d->arena),
						d->arena)
				 : advice_command(&s->request, d->arena),
	};
	struct advice_list list = advice_find(&known, d->arena);

	for (size_t i = 0; i < list.n; i++)
		buf_addf(
			out, "%s%s", i ? "; " : "",
			clean(a, str_of(advice_line(&list.item[i], d->arena))));
}

/* The command that lists the tools of the server of a step. */
static const char *tools_of(struct asked *a, const struct plan_step *step,
			    const char *option)
{
	const struct server *server = step->step->server;
	struct doctor *d = a->deep->d;

	return clean(a, str_of(advice_tools(d->config, option,
					    server ? server->name : NULL,
					    &step->request, d->arena)));
}

/*
 * Add the row of a server that does not answer.
 *
 * c  that ended, with the words of its program; NULL: none did
 */
static void fail(struct asked *a, const struct client *c, const char *sentence,
		 const char *details)
{
	AUTO(buf_release) struct buf remedy = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	const struct step *step = a->plan->step;
	struct doctor *d = a->deep->d;

	if (a->is_done)
		return;
	a->is_done = true;
	if (c && a->plan->request.program) {
		add_advice(a, c, &remedy);
		said_join(&said, client_stderr(c), "; ");
	}
	if (!remedy.n)
		buf_addf(&remedy, "try it by itself: %s",
			 tools_of(a, a->plan, " -v"));
	doctor_add(d, "answer", doctor_row_name(d, a->whole, step),
		   CHECK_FAILED, buf_cstr(&remedy), "%s%s%s",
		   clean(a, str_of(sentence)),
		   said.n     ? "; its stderr: "
		   : *details ? "; "
			      : "",
		   said.n ? buf_cstr(&said) : details);
}

/* Add the row of a pinned tool that is not as it was accepted. */
static void say_drift(struct asked *a, const struct plan_step *step,
		      const struct listing_item *tool)
{
	struct doctor *d = a->deep->d;
	const char *why = NULL;

	if (step->is_pinned && tool)
		why = pinned_refusal(d->config, step->step->server, tool,
				     d->arena);
	if (why)
		doctor_add(d, "pin", doctor_row_name(d, a->whole, step->step),
			   CHECK_FAILED, "", "%s",
			   clean(a, str_first(str_of(why),
					      str_find(str_of(why), '\n'))));
}

/* Add a row for each pattern of the server that no tool of it fits, as where
   one was renamed. */
static void say_patterns(struct asked *a, const struct listing *list)
{
	const struct server *server = a->plan->step->server;
	struct doctor *d = a->deep->d;

	for (const struct key *k = NULL;
	     server && (k = key_next(SECTION_server, k));) {
		struct strlist all = {NULL, 0};

		if (k->type == KEY_PATTERNS)
			all = key_values(k, server, d->arena);
		for (size_t i = 0; i < all.n; i++) {
			size_t n = 0;

			while (n < list->n &&
			       !str_fits(list->item[n].name, all.item[i]))
				n++;
			if (n == list->n)
				doctor_add(
					d, "answer",
					doctor_row_name(d, a->whole,
							a->plan->step),
					CHECK_WARNING,
					arena_printf(
						d->arena,
						"name one of its tools, of %s",
						tools_of(a, a->plan, "")),
					"\"%s\" in %s of [servers.%s] fits "
					"none of its tools",
					all.item[i], k->name, server->name);
		}
	}
}

/* Add the row of a tool that read_only refuses. */
static void say_hints(struct asked *a, const struct step *step,
		      const struct listing_item *tool)
{
	struct doctor *d = a->deep->d;
	const char *why = NULL;

	if (step->server && tool)
		why = tool_policy_hints(step->server, tool->json, d->arena);
	if (why)
		doctor_add(d, "answer", doctor_row_name(d, a->whole, step),
			   CHECK_FAILED, "", "%s", clean(a, str_of(why)));
}

/* Add the row of the server, and one for each of its steps whose tool is
   missing. */
static void say_list(struct asked *a, const struct listing *list)
{
	const struct mcp_peer *s = client_server(a->user.client);
	const struct server *server = a->plan->step->server;
	struct doctor *d = a->deep->d;

	a->is_done = true;
	say_patterns(a, list);
	for (size_t i = (size_t)(a->plan - a->whole->steps);
	     i < a->whole->n_steps; i++) {
		const struct plan_step *step = &a->whole->steps[i];
		const char *tool = step->step->tool;
		bool has_tool;

		if (step != a->plan &&
		    (!server || step->step->server != server || !tool ||
		     step->reason != REASON_NONE))
			continue;
		say_drift(a, step, listing_find(list, str_of(tool)));
		say_hints(a, step->step, listing_find(list, str_of(tool)));
		has_tool = !*tool || listing_find(list, str_of(tool));
		if (has_tool && step != a->plan)
			continue;
		doctor_add(
			d, "answer", doctor_row_name(d, a->whole, step->step),
			has_tool ? CHECK_OK : CHECK_FAILED,
			arena_printf(d->arena, "name one of its tools, of %s",
				     tools_of(a, step, "")),
			"%s%s%s, MCP %s%s, %zu tool%s%s%s%s",
			s->name.n ? clean(a, s->name) : "without a name",
			s->version.n ? " " : "", clean(a, s->version),
			s->revision->date, mcp_peer_note(s), list->n,
			list->n == 1 ? "" : "s", has_tool ? "" : "; none is \"",
			has_tool ? "" : tool, has_tool ? "" : "\"");
	}
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct asked *a = arg;
	const struct client_event *e = l->event;

	if (a->is_done)
		return;
	if (l->type == CLIENT_RESULT)
		say_list(a, l->list);
	else if (l->type == CLIENT_FAILED)
		fail(a, a->user.client, e->sentence, e->details);
	else
		fail(a, NULL, "the server refuses to list its tools",
		     clean(a, e->of->message));
}

static void opened(struct pool_user *u)
{
	struct asked *a = u->arg;
	const struct client_list list = {LISTING_TOOLS, false, on_list, a};
	struct err err = ERR_INIT;
	uint64_t ticket;

	if (!a->is_done && client_list(u->client, &list, &ticket, &err) < 0)
		fail(a, NULL, err.msg, "");
}

static void refused(struct pool_user *u, const struct err *err)
{
	fail(u->arg, NULL, err->msg, "");
}

static void closed(struct pool_user *u, struct client *c)
{
	if (*client_failure_sentence(c))
		fail(u->arg, c, client_failure_sentence(c),
		     client_failure_details(c));
	fail(u->arg, c, "the server ended before it answered", "");
}

static void on_time(void *arg)
{
	struct asked *a = arg;

	fail(a, NULL,
	     arena_printf(a->deep->d->arena,
			  "no answer within the %llu ms of its timeout",
			  (unsigned long long)a->plan->step->timeout_ms),
	     "");
}

/* Wait for a row or Ctrl-C, then until the server has ended. */
static int wait_for(struct asked *a, struct err *err)
{
	struct deep *deep = a->deep;

	while (!a->is_done && !deep->loop.signal)
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	(void)!pool_leave(deep->pool, &a->user,
			  deep->loop.signal ? POOL_TERMINATE : POOL_CLOSE,
			  CLIENT_GRACE_MS);
	while (!pool_is_idle(deep->pool))
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	return 0;
}

/* Open a server as a run would, list its tools, end it. */
static int ask(struct deep *deep, const struct plan *plan,
	       const struct plan_step *step, struct err *err)
{
	static const struct pool_handler handler = {opened, refused, closed,
						    NULL};
	struct asked a = {
		.deep = deep,
		.whole = plan,
		.plan = step,
		.timer = {.fire = on_time, .arg = &a},
	};
	struct err why = ERR_INIT;
	int r = 0;

	if (credentials_give(deep->credentials, &step->server_env, NULL, &a.env,
			     &why) < 0 ||
	    credentials_give(deep->credentials, &step->step->env, NULL, &a.env,
			     &why) < 0) {
		fail(&a, NULL, why.msg, "");
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

static void open_deep(struct deep *deep)
{
	struct doctor *d = deep->d;
	const struct strlist *values = &d->options->file->header_values;
	const struct client_context context = {
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub = scrub_new(),
		.eras = deep->eras = eras_open(NULL),
	};

	for (size_t i = 0; i < values->n; i++)
		scrub_add(deep->scrub, str_of(values->item[i]));
	log_set_filter(scrub_log_filter, deep->scrub);
	deep->credentials = credentials_new(&(struct credentials_context){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.policy = &d->policy,
		.config = d->config,
	});
	deep->remotes = remotes_new(&(struct remotes_options){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.keeps_apart = true,
		.state_dir = d->state,
		.config = d->config,
	});
	deep->pool = pool_new(&(struct pool_options){
		.client = context,
		.sampling_policy = &d->policy,
		.sampling_cwd = d->config->dir,
		.remotes = deep->remotes,
		.credentials = deep->credentials,
	});
}

int doctor_ask_servers(struct doctor *d, const struct plan *plan,
		       struct err *err)
{
	struct deep deep = {.d = d};
	int r;

	if (loop_init(&deep.loop, clock_system(), err) < 0)
		return -1;
	open_deep(&deep);
	r = loop_take_signals(&deep.loop, err);
	for (size_t i = 0; r == 0 && i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];

		if (deep.loop.signal)
			r = err_set(err, ERR_PEER, "ended by a signal");
		else if (s->step->tool && s->reason == REASON_NONE &&
			 !doctor_is_met(plan, i, true))
			r = ask(&deep, plan, s, err);
	}
	log_set_filter(NULL, NULL);
	pool_free(deep.pool);
	remotes_free(deep.remotes);
	credentials_free(deep.credentials);
	eras_free(deep.eras);
	scrub_free(deep.scrub);
	loop_release(&deep.loop);
	return r;
}
