#include "core/run/pool.h"

#include <assert.h>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/asks.h"
#include "core/client/backoff.h"
#include "core/client/client.h"
#include "core/client/tape.h"
#include "core/mcp/wire/rpc.h"
#include "core/run/credentials.h"
#include "core/run/remotes.h"

/* The probe takes no more than this part of the time that a step has. */
#define PROBE_PART 4
#define PROBE_MS 10000
/* So that a step's own time is over first. */
#define MARGIN_MS 1000
/* A step that waits whether a server is stuck gives that part of its time. */
#define DOUBT_PART 2
/* For the answer, unless a step waits that has less time. */
#define DOUBT_MS 2000

struct pool_server {
	struct pool *pool;
	unsigned char key[SHA256_BYTES];
	const void *apart;	   /* of its users */
	size_t expected;	   /* users that have not left */
	struct pool_user *users;   /* entered, and not left */
	struct pool_user *starter; /* of the process that runs */
	struct pool_user *last;	   /* left, and waits for the end */
	struct client *client;	   /* owned; NULL: none runs */
	struct gate_request request;
	struct gate_policy policy; /* of the request */
	struct env env;
	struct arena arena;
	struct asks asks;	 /* answers to its requests; in the arena */
	struct sampler *sampler; /* owned; NULL: it is not answered */
	struct remote_server *remote; /* owned; NULL: it is a program */
	const struct err *wrong; /* why it cannot be started; NULL: it can */
	uint64_t message_max, stderr_max, timeout_ms; /* largest of all */
	struct backoff pause;			      /* of the next start */
	bool reconnects;	 /* start it again when it ended by itself */
	struct loop_timer timer; /* due: a server is to be freed, or started */
	struct {
		const char *of; /* step that gave up its call; borrowed; NULL:
				   there is no doubt */
		struct client *asked;	/* NULL: no question is open */
		uint64_t ticket;	/* of the question */
		struct loop_timer late; /* the answer is */
	} doubt;
	const char *afresh;	  /* why the next start is not the first; in the
				     arena, or static; NULL: it is, or the last one
				     left */
	struct tape_server *tape; /* NULL: it is on none */
	struct pool_server *next;
};

struct pool {
	struct pool_options o;
	struct pool_server *servers; /* owned */
};

/*
 * ---- is a server stuck ----
 *
 * A step whose call is not answered in time leaves the server to the steps
 * after it; those would wait in vain for a server that works on a single call
 * at a time and never ends it. Before they begin, ask it for something that
 * costs nothing: `ping`, or server/discover where there is no ping. Any answer,
 * an error as well, shows that it works; without one it is stuck.
 */

static void conclude(struct pool_server *s, bool is_stuck);

/* The client is gone: no question, no doubt. */
static void clear_doubt(struct pool_server *s)
{
	loop_timer_clear(s->pool->o.client.loop, &s->doubt.late);
	s->doubt.asked = NULL;
	s->doubt.of = NULL;
}

static void on_late(void *arg)
{
	struct pool_server *s = arg;
	struct client *c = s->doubt.asked;

	s->doubt.asked = NULL;
	client_cancel(c, s->doubt.ticket, REASON_CANCELLED, NULL);
	conclude(s, true);
}

static void on_answer(void *arg, const struct client_event *e)
{
	struct pool_server *s = arg;
	struct client *c = s->doubt.asked;

	if (!c || (e->type != CLIENT_RESULT && e->type != CLIENT_ERROR &&
		   e->type != CLIENT_FAILED))
		return;
	clear_doubt(s);
	/* a question that failed alone says that something is there */
	if (client_is_open(c))
		conclude(s, false);
}

/*
 * Ask, where there is a doubt and no question yet. A client that is not ready
 * is only slow to start: the doubt is forgotten.
 */
static void ask(struct pool_server *s)
{
	struct client_call call = {
		.timeout_ms = 2 * DOUBT_MS,
		.total_ms = 2 * DOUBT_MS,
		.on_event = on_answer,
		.arg = s,
	};
	struct loop *loop = s->pool->o.client.loop;

	if (!s->doubt.of || s->doubt.asked)
		return;
	if (client_is_ready(s->client)) {
		/* without state between requests there is no ping (PING-4) */
		call.method = client_server(s->client)->revision->era ==
					      MCP_ERA_PER_REQUEST
				      ? "server/discover"
				      : "ping";
		s->doubt.asked = s->client;
		if (client_call(s->client, &call, &s->doubt.ticket,
				ERR_IGNORED) == 0) {
			loop_timer_in(loop, &s->doubt.late, DOUBT_MS);
			return;
		}
	}
	clear_doubt(s);
}

/* ---- one server ---- */

void pool_key(const struct plan_step *plan, const char *const *env,
	      unsigned char ret[SHA256_BYTES])
{
	const struct gate_request *r = &plan->request;
	struct sha256 sum;

	sha256_init(&sum);
	/* one command under two names is two servers */
	digest_text(&sum, plan->step->server_name);
	digest_text(&sum, r->program);
	digest_vector(&sum, r->argv);
	digest_number(&sum, r->from_data != NULL);
	digest_text(&sum, r->cwd);
	digest_number(&sum, r->cwd_required);
	digest_number(&sum, r->record);
	/* of equal arguments some may be refused where they are data */
	digest_number(&sum, r->data_may_start);
	/* refusals of a shared process must fail a step that asks for it */
	digest_text(&sum, plan->step->on_refusal);
	gate_policy_digest(r->policy, &sum);
	digest_text(&sum, plan->protocol);
	digest_vector(&sum, env);
	sha256_end(&sum, ret);
}

/* Make what the server needs beside its process; it can never start without. */
static int prepare_server(struct pool_server *s, const struct plan_step *plan,
			  struct err *err)
{
	const struct server *server = plan->step->server;
	const struct pool_options *o = &s->pool->o;
	struct sampler_options sampling;
	struct remote_spec spec;

	if (!server)
		return 0;
	if (asks_of_server(server, plan->request.policy, &s->arena, &s->asks,
			   err) < 0) {
		/* a root that it may not see, or that is not there */
		err->kind = ERR_POLICY;
		return -1;
	}
	assert(!server->url || o->remotes);
	if (server->url && !tape_is_replay(o->tape) &&
	    (remote_spec_of_server(server, o->credentials, &spec, err) < 0 ||
	     remote_server_new(o->remotes, &spec, &s->remote, err) < 0))
		return -1;
	if (!s->asks.sampling.n || !o->sampling_policy)
		return 0;
	sampling = (struct sampler_options){
		.loop = o->client.loop,
		.gate = o->client.gate,
		.scrub = s->remote ? s->remote->scrub : o->client.scrub,
		.name = server->name,
		.words = s->asks.sampling,
		.cwd = o->sampling_cwd,
		.policy = o->sampling_policy,
		.tape = o->tape,
	};
	if (!tape_is_replay(o->tape) && sampler_check(&sampling, err) < 0)
		return -1;
	s->sampler = s->asks.sampler = sampler_new(&sampling);
	return 0;
}

/* ---- servers ---- */

static void on_timer(void *arg);

static const struct err *keep_error(const struct err *err, struct arena *arena)
{
	struct err *kept = ARENA_NEW(arena, struct err);

	*kept = *err;
	return kept;
}

/* The user may go before the server does. */
static void own_arguments(struct gate_request *r, struct arena *arena)
{
	struct strlist copy = {NULL, 0};
	bool *from_data;
	size_t n = 0;

	for (; r->argv && r->argv[n]; n++)
		list_add(&copy, arena, arena_strdup(arena, r->argv[n]));
	if (!n)
		return;
	list_add(&copy, arena, NULL);
	r->argv = copy.item;
	if (!r->from_data)
		return;
	from_data = ARENA_ARRAY(arena, bool, n);
	memcpy(from_data, r->from_data, n * sizeof(*from_data));
	r->from_data = from_data;
}

static const char *name_on_tape(const struct plan_step *plan)
{
	return plan->step->server ? plan->step->server->name : plan->step->name;
}

/* The server that the user's plan describes; one that can never start, too. */
static struct pool_server *server_for(struct pool *p, const struct pool_user *u)
{
	unsigned char key[SHA256_BYTES];
	struct pool_server *s = p->servers;
	struct err err = ERR_INIT;

	pool_key(u->plan, u->env, key);
	while (s && (s->apart != u->apart ||
		     memcmp(s->key, key, sizeof(s->key)) != 0))
		s = s->next;
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	memcpy(s->key, key, sizeof(s->key));
	s->apart = u->apart;
	s->pool = p;
	s->reconnects =
		!u->plan->step->server || u->plan->step->server->reconnect;
	s->timer = (struct loop_timer){.fire = on_timer, .arg = s};
	s->doubt.late = (struct loop_timer){.fire = on_late, .arg = s};
	s->request = u->plan->request;
	own_arguments(&s->request, &s->arena);
	if (s->request.policy) {
		s->policy = gate_policy_copy(s->request.policy, &s->arena);
		s->request.policy = &s->policy;
	}
	s->request.program = arena_strdup(&s->arena, s->request.program);
	s->request.cwd = arena_strdup(&s->arena, s->request.cwd);
	/* other servers are prepared meanwhile */
	s->request.may_follow = true;
	env_add_lines(&s->env, u->env);
	s->request.env = env_lines(&s->env);
	if (prepare_server(s, u->plan, &err) < 0)
		s->wrong = keep_error(&err, &s->arena);
	if (p->o.tape)
		s->tape = tape_server(p->o.tape, name_on_tape(u->plan),
				      u->plan->request.argv);
	if (s->tape && s->remote)
		s->tape->scrub = s->remote->scrub;
	s->next = p->servers;
	p->servers = s;
	return s;
}

static void raise_to(uint64_t *value, uint64_t least)
{
	if (*value < least)
		*value = least;
}

void pool_expect(struct pool *p, struct pool_user *u)
{
	const struct step *step = u->plan->step;
	struct pool_server *of = u->with ? u->with->server : NULL;

	u->server = of ? of : server_for(p, u);
	u->server->expected++;
	raise_to(&u->server->message_max, step->stdout_max);
	raise_to(&u->server->stderr_max, step->stderr_max);
	raise_to(&u->server->timeout_ms, step->timeout_ms);
}

void pool_take_over(struct pool *p, struct pool_user *u,
		    const struct pool_user *from)
{
	if (u) {
		u->is_entered |= from->is_entered;
		u->afresh = from->afresh ? from->afresh : u->afresh;
	}
	for (struct pool_server *s = p->servers; s; s = s->next) {
		if (s->starter == from)
			s->starter = u;
		if (s->last == from)
			s->last = u;
	}
}

struct pool *pool_new(const struct pool_options *options)
{
	struct pool *p = mem_zalloc(sizeof(*p));

	p->o = *options;
	return p;
}

void pool_free(struct pool *p)
{
	struct pool_server *s;

	if (!p)
		return;
	while ((s = p->servers)) {
		p->servers = s->next;
		loop_timer_clear(p->o.client.loop, &s->timer);
		clear_doubt(s);
		sampler_free(s->sampler);
		client_free(s->client);
		remote_server_free(s->remote);
		env_release(&s->env);
		arena_release(&s->arena);
		free(s);
	}
	free(p);
}

/* ---- the end of a process ---- */

static void start_if_due(struct pool_server *s);

/* Did its process end badly? */
static bool has_died(const struct pool_server *s)
{
	const struct gate_verdict *v = client_verdict(s->client);

	return v && (!v->exited || v->exit_status);
}

/* Refuse what follows, with reconnect = false. */
static void note_end(struct pool_server *s)
{
	const char *why = client_failure_sentence(s->client);
	struct err err = ERR_INIT;

	err_set(&err, ERR_SERVER_EXIT,
		"the server ended%s%s, and is not started again (reconnect = "
		"false)",
		*why ? ": " : "", why);
	s->wrong = keep_error(&err, &s->arena);
}

static void on_server_ended(struct pool_server *s)
{
	struct pool_user *starter = s->starter, *last = s->last;
	bool is_own = !last && !s->afresh; /* ended by itself */

	clear_doubt(s);
	if (is_own && !s->reconnects)
		note_end(s);
	if (client_failure(s->client) == REASON_NONE &&
	    !(is_own && has_died(s))) {
		s->pause = (struct backoff){0};
	} else {
		/* the next start is later the more often it failed (RW-21) */
		backoff_ended(&s->pause, client_has_answered(s->client),
			      loop_now(s->pool->o.client.loop));
		/* a failure that a step was told, or of which only this is
		   left */
		if (!s->afresh)
			s->afresh = arena_strdup(
				&s->arena, client_failure_sentence(s->client));
	}
	s->starter = s->last = NULL;
	for (struct pool_user *u = s->users; u; u = u->next)
		u->client = NULL;
	if (starter)
		starter->handler->closed(starter, s->client);
	if (last && last != starter)
		last->handler->closed(last, s->client);
}

/* A client cannot be freed while it tells of its end. */
static void on_timer(void *arg)
{
	struct pool_server *s = arg;

	if (s->client && client_is_over(s->client)) {
		client_free(s->client);
		s->client = NULL;
	}
	start_if_due(s);
}

static const char *server_text(const struct pool_server *s)
{
	return s->remote ? s->remote->text : s->request.program;
}

/* Tell whoever started it. */
static bool tell(struct pool_server *s, const struct client_event *e)
{
	struct pool_user *u = s->starter;

	return u && u->handler->event && u->handler->event(u, e);
}

/* Answer from the configuration; refuse the rest, since no person is there. */
static void answer(struct pool_server *s, const struct client_event *e)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	bool was_unmet = s->asks.is_unmet;

	if (!asks_answer(&s->asks, s->client, e, &says)) {
		if (tell(s, e))
			return;
		client_answer_error(s->client, e->of->ask, RPC_INTERNAL_ERROR,
				    "no person is here to ask");
	} else if (s->asks.is_unmet && !was_unmet) {
		log_warning("elicit = \"accept\" was not possible: %s asked %s",
			    server_text(s), buf_cstr(&says));
	} else {
		log_debug("%s asked %s", server_text(s), buf_cstr(&says));
	}
}

static void open_waiting(struct pool_server *s);
static void refuse(struct pool_server *s, const struct err *err);

/* As where client_start() fails. */
static void on_start_failed(struct pool_server *s)
{
	struct pool_user *last = s->last;

	s->last = NULL;
	refuse(s, client_start_error(s->client));
	if (last)
		last->handler->closed(last, s->client);
}

static void on_event(void *arg, const struct client_event *e)
{
	struct pool_server *s = arg;

	if (e->type == CLIENT_ASKED)
		answer(s, e);
	if (e->type == CLIENT_ASK_GONE)
		sampler_forget(s->sampler, e->of->ask);
	if (e->type == CLIENT_ASK_GONE || e->type == CLIENT_CHANGED ||
	    e->type == CLIENT_LOG || e->type == CLIENT_READY)
		(void)!tell(s, e);
	if (e->type == CLIENT_STARTED)
		open_waiting(s);
	if (e->type != CLIENT_ENDED)
		return;
	sampler_stop(s->sampler);
	if (!s->starter && client_start_error(s->client))
		on_start_failed(s);
	else
		on_server_ended(s);
	loop_timer_set(s->pool->o.client.loop, &s->timer,
		       loop_now(s->pool->o.client.loop));
}

/* ---- the beginning of one ---- */

/* Tell whether two calls name one server of one file. */
static const char *throttle_key(const struct plan_step *plan,
				struct arena *arena)
{
	const struct server *server = plan->step->server;

	return server ? arena_printf(arena, "%s/%s", plan->config->path,
				     server->name)
		      : NULL;
}

struct scrub *pool_scrub(const struct pool_user *u)
{
	return u->server && u->server->remote ? u->server->remote->scrub : NULL;
}

struct recording *pool_taped(const struct pool_user *u)
{
	return u->server && u->server->tape ? tape_last(u->server->tape) : NULL;
}

static struct client *new_client(struct pool_server *s, struct pool_user *u)
{
	uint64_t longest = s->timeout_ms + MARGIN_MS;
	uint64_t probe = u->plan->step->timeout_ms / PROBE_PART + 1;
	struct client_context context = s->pool->o.client;
	const struct server *server = u->plan->step->server;
	struct client_options options = {
		.name = u->name,
		.request = &s->request,
		.session = {.declared = u->can,
			    .protocol = u->plan->protocol,
			    .message_max = s->message_max,
			    .probe_timeout_ms =
				    probe < PROBE_MS ? probe : PROBE_MS,
			    .initialize_timeout_ms = longest,
			    .request_timeout_ms = longest,
			    .total_timeout_ms = longest},
		.stderr_max = s->stderr_max,
		/* more calls come after this one */
		.watches_lists = s->expected > 1 || u->handler->event,
		.on_event = on_event,
		.arg = s,
	};

	if (s->remote) {
		options.request = NULL;
		options.open = remote_server_open;
		options.open_arg = s->remote;
		options.open_facts = remote_server_facts;
		options.url = s->remote->url.text.p;
		/* limits of the steps, as they hold for a program */
		s->remote->spec.message_max = s->message_max;
		s->remote->spec.timeout_ms = s->timeout_ms;
		context.scrub = s->remote->scrub;
	}
	if (tape_is_replay(s->pool->o.tape)) {
		options.request = NULL;
		options.open = tape_open;
		options.open_arg = s->tape;
	} else {
		options.tape = s->tape;
		options.is_edited =
			server && strcmp(server->integrity, "off") == 0;
		options.audit = server ? server->audit : NULL;
		options.audited_as = server ? server->name : NULL;
		options.rate = server ? server->rate : NULL;
		options.max_concurrent = server ? server->max_concurrent : 0;
		options.throttle_key = throttle_key(u->plan, &s->arena);
	}
	asks_declare(&s->asks, &options.session.declared);
	return client_new(&context, &options);
}

static void open_for(struct pool_user *u)
{
	struct pool_server *s = u->server;

	u->client = s->client;
	if (!s->starter) {
		s->starter = u;
		u->afresh = s->afresh;
		s->afresh = NULL;
	}
	if (s->starter != u)
		u->session_of = s->starter->name;
	u->handler->opened(u);
}

static void open_waiting(struct pool_server *s)
{
	struct pool_user *u = s->users, *next;

	for (; u; u = next) {
		next = u->next;
		if (!u->client)
			open_for(u);
	}
}

static void refuse(struct pool_server *s, const struct err *err)
{
	struct pool_user *u = s->users, *next;

	for (; u; u = next) {
		next = u->next;
		u->handler->refused(u, err);
	}
}

/* Start a process where a user waits, none runs and the pause is over. */
static void start_if_due(struct pool_server *s)
{
	struct loop *l = s->pool->o.client.loop;
	struct pool_user *u = s->users;
	struct err err = ERR_INIT;

	if (!u || s->client)
		return;
	if (s->pause.not_before_ns > loop_now(l)) {
		loop_timer_set(l, &s->timer, s->pause.not_before_ns);
		return;
	}
	if (s->wrong) {
		refuse(s, s->wrong);
		return;
	}
	s->client = new_client(s, u);
	if (client_start(s->client, &err) < 0) {
		client_free(s->client);
		s->client = NULL;
		refuse(s, &err);
		return;
	}
	if (!client_is_starting(s->client))
		open_waiting(s);
}

void pool_enter(struct pool *p, struct pool_user *u)
{
	struct pool_server *s = u->server;
	struct pool_user **end = &s->users;
	struct loop *l = p->o.client.loop;
	uint64_t due_ns;

	assert(p == s->pool);
	while (*end)
		end = &(*end)->next;
	*end = u;
	u->is_entered = true;
	if (s->doubt.asked) {
		/* the step waits for it; conclude() goes on */
		due_ns = loop_now(l) +
			 u->plan->step->timeout_ms / DOUBT_PART * NS_PER_MS;
		if (due_ns < s->doubt.late.due_ns)
			loop_timer_set(l, &s->doubt.late, due_ns);
		return;
	}
	/* the server may have ended unseen */
	if (s->client)
		client_look(s->client);
	if (!s->client)
		start_if_due(s);
	else if (client_is_open(s->client) && !client_is_starting(s->client))
		open_for(u);
	/* else it ends, and on_timer() starts another; or on_event() tells */
}

static void end_client(struct client *c, enum pool_end how, uint64_t grace_ms)
{
	if (how == POOL_KILL) {
		client_kill(c);
		return;
	}
	client_close(c, grace_ms);
	if (how == POOL_TERMINATE)
		client_terminate(c);
}

static void conclude(struct pool_server *s, bool is_stuck)
{
	if (!is_stuck) {
		open_waiting(s);
		return;
	}
	s->afresh = arena_printf(
		&s->arena,
		"it did not answer the call of step \"%s\" in time, nor a ping "
		"after it, and was ended",
		s->doubt.of);
	log_warning("%s: %s", server_text(s), s->afresh);
	/* no call is open */
	end_client(s->client, POOL_TERMINATE, CLIENT_GRACE_STOPPED_MS);
}

void pool_renew(struct pool_user *u)
{
	struct pool_server *s = u->server;

	if (!s || s->users || !s->client || !client_is_open(s->client) ||
	    client_is_ready(s->client))
		return;
	s->afresh = "it was not ready in time, and was ended";
	end_client(s->client, POOL_TERMINATE, CLIENT_GRACE_STOPPED_MS);
}

bool pool_leave(struct pool *p, struct pool_user *u, enum pool_end how,
		uint64_t grace_ms)
{
	struct pool_server *s = u->server;
	bool was_open = u->client != NULL;
	struct pool_user **at;
	struct client *c;

	if (!s)
		return false;
	assert(p == s->pool && s->expected > 0);
	for (at = &s->users; *at && *at != u;)
		at = &(*at)->next;
	if (*at)
		*at = u->next;
	u->next = NULL;
	u->server = NULL;
	u->client = NULL;
	s->expected--;
	c = s->client;
	if (!c || client_is_over(c))
		return false;
	if (s->expected) {
		if (was_open && how != POOL_CLOSE)
			s->doubt.of = u->name;
		if (!s->users)
			ask(s);
		return false;
	}
	if (u->is_entered)
		s->last = u;
	end_client(c, how, grace_ms);
	return s->last == u && !client_is_over(c);
}

void pool_hurry(struct pool *p, const struct pool_user *u, enum pool_end how)
{
	for (struct pool_server *s = p->servers; s; s = s->next)
		if (s->client && (!u || s->last == u))
			end_client(s->client, how, 0);
}

bool pool_is_idle(const struct pool *p)
{
	for (struct pool_server *s = p->servers; s; s = s->next)
		if (s->client && !client_is_over(s->client))
			return false;
	return true;
}
