#include "core/run/pool.h"

#include <assert.h>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/asks.h"
#include "core/client/client.h"
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
	size_t expected;	   /* users that have not left */
	struct pool_user *users;   /* entered, and not left */
	struct pool_user *starter; /* of the process that runs */
	struct pool_user *last;	   /* left, and waits for the end */
	struct client *client;	   /* owned; NULL: none runs */
	struct gate_request request;
	struct env env;
	struct arena arena;
	struct asks asks;	 /* answers to its requests; in the arena */
	struct sampler *sampler; /* owned; NULL: it is not answered */
	struct remote_server *remote; /* owned; NULL: it is a program */
	bool is_wrong;		      /* cannot be started, and why */
	struct err err;
	uint64_t message_max, stderr_max, timeout_ms; /* largest of all */
	uint64_t pause_ms, not_before_ns;	      /* of the next start */
	struct loop_timer timer; /* something is to be freed, or started */
	struct {
		const char *of; /* step that gave up its call; borrowed; NULL:
				   there is no doubt */
		struct client *asked;	/* NULL: no question is open */
		uint64_t ticket;	/* of the question */
		struct loop_timer late; /* the answer is */
	} doubt;
	const char *afresh; /* why the next start is not the first; in the
			       arena; NULL: it is, or the last one left */
	struct pool_server *next;
};

struct pool {
	struct client_context ctx;
	const struct gate_policy *sampling_policy; /* NULL: no sampling */
	const char *sampling_cwd;
	struct remotes *remotes; /* NULL: no server has a URL */
	struct credentials *credentials;
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
	loop_timer_clear(s->pool->ctx.loop, &s->doubt.late);
	s->doubt.asked = NULL;
	s->doubt.of = NULL;
}

static void on_late(void *arg)
{
	struct pool_server *s = arg;
	struct client *c = s->doubt.asked;

	s->doubt.asked = NULL;
	client_cancel(c, s->doubt.ticket, NULL);
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

static const char *question(const struct client *c)
{
	/* without state between requests there is no ping (PING-4) */
	return client_server(c)->revision->era == MCP_ERA_PER_REQUEST
		       ? "server/discover"
		       : "ping";
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
	struct loop *loop = s->pool->ctx.loop;
	struct err ignored = ERR_INIT;

	if (!s->doubt.of || s->doubt.asked)
		return;
	if (client_is_ready(s->client)) {
		call.method = question(s->client);
		s->doubt.asked = s->client;
		if (client_call(s->client, &call, &s->doubt.ticket, &ignored) ==
		    0) {
			loop_timer_set(loop, &s->doubt.late,
				       loop_now(loop) + DOUBT_MS * NS_PER_MS);
			return;
		}
	}
	clear_doubt(s);
}

/* Conclude in so many ms at most: a step waits for it. */
static void hurry_doubt(struct pool_server *s, uint64_t ms)
{
	uint64_t at = loop_now(s->pool->ctx.loop) + ms * NS_PER_MS;

	if (at < s->doubt.late.due_ns)
		loop_timer_set(s->pool->ctx.loop, &s->doubt.late, at);
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
	digest_text(&sum, r->cwd);
	digest_number(&sum, r->cwd_required);
	digest_number(&sum, r->record);
	gate_policy_digest(r->policy, &sum);
	digest_text(&sum, plan->protocol);
	digest_vector(&sum, env);
	sha256_end(&sum, ret);
}

static int make_sampler(struct pool_server *s, const char *name,
			struct err *err)
{
	const struct pool *p = s->pool;
	const struct scrub *scrub =
		s->remote ? remote_server_scrub(s->remote) : p->ctx.scrub;
	const struct sampler_options options = {
		.loop = p->ctx.loop,
		.gate = p->ctx.gate,
		.scrub = scrub,
		.name = name,
		.words = s->asks.sampling,
		.cwd = p->sampling_cwd,
		.policy = p->sampling_policy,
	};

	if (!options.words.n || !options.policy)
		return 0;
	if (sampler_check(&options, err) < 0)
		return -1;
	s->sampler = s->asks.sampler = sampler_new(&options);
	return 0;
}

static void read_asks(struct pool_server *s, const struct plan_step *plan)
{
	const struct server *server = plan->step->server;

	if (!server)
		return;
	if (asks_of_server(server, plan->request.policy, &s->arena, &s->asks,
			   &s->err) == 0)
		return;
	/* a root that it may not see, or that is not there */
	s->err.kind = ERR_POLICY;
	s->is_wrong = true;
}

static void read_remote(struct pool_server *s, const struct plan_step *plan)
{
	const struct server *server = plan->step->server;
	struct pool *p = s->pool;
	struct remote_spec spec;

	if (s->is_wrong || !server || !server->url)
		return;
	assert(p->remotes);
	s->is_wrong = remote_spec_of_server(server, p->credentials, &spec,
					    &s->err) < 0;
	if (s->is_wrong)
		return;
	s->is_wrong =
		remote_server_new(p->remotes, &spec, &s->remote, &s->err) < 0;
}

/* Make a server as the user's plan says; one that can never start, too. */
static struct pool_server *new_server(struct pool *p, const struct pool_user *u,
				      const unsigned char key[SHA256_BYTES])
{
	struct pool_server *s = mem_zalloc(sizeof(*s));
	const struct server *server = u->plan->step->server;

	memcpy(s->key, key, sizeof(s->key));
	s->pool = p;
	s->request = u->plan->request;
	env_add_lines(&s->env, u->env);
	s->request.env = env_lines(&s->env);
	read_asks(s, u->plan);
	read_remote(s, u->plan);
	if (!s->is_wrong && server)
		s->is_wrong = make_sampler(s, server->name, &s->err) < 0;
	return s;
}

static void free_server(struct pool_server *s)
{
	loop_timer_clear(s->pool->ctx.loop, &s->timer);
	clear_doubt(s);
	sampler_free(s->sampler);
	client_free(s->client);
	remote_server_free(s->remote);
	env_release(&s->env);
	arena_release(&s->arena);
	free(s);
}

/* ---- servers ---- */

static struct pool_server *find_server(struct pool *p, const unsigned char *key)
{
	struct pool_server *s = p->servers;

	while (s && memcmp(s->key, key, sizeof(s->key)) != 0)
		s = s->next;
	return s;
}

static void on_timer(void *arg);

static struct pool_server *add_server(struct pool *p, const struct pool_user *u,
				      const unsigned char *key)
{
	struct pool_server *s = new_server(p, u, key);

	s->timer = (struct loop_timer){.fire = on_timer, .arg = s};
	s->doubt.late = (struct loop_timer){.fire = on_late, .arg = s};
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
	unsigned char key[SHA256_BYTES];

	pool_key(u->plan, u->env, key);
	u->server = find_server(p, key);
	if (!u->server)
		u->server = add_server(p, u, key);
	u->server->expected++;
	raise_to(&u->server->message_max, step->stdout_max);
	raise_to(&u->server->stderr_max, step->stderr_max);
	raise_to(&u->server->timeout_ms, step->timeout_ms);
}

struct pool *pool_new(const struct client_context *context)
{
	struct pool *p = mem_zalloc(sizeof(*p));

	p->ctx = *context;
	return p;
}

void pool_let_sample(struct pool *p, const struct gate_policy *policy,
		     const char *cwd)
{
	p->sampling_policy = policy;
	p->sampling_cwd = cwd;
}

void pool_let_reach(struct pool *p, struct remotes *remotes,
		    struct credentials *credentials)
{
	p->remotes = remotes;
	p->credentials = credentials;
}

void pool_free(struct pool *p)
{
	struct pool_server *s;

	if (!p)
		return;
	while ((s = p->servers)) {
		p->servers = s->next;
		free_server(s);
	}
	free(p);
}

/* ---- the end of a process ---- */

/* The next start is later the more often it failed (RW-21). */
static void lengthen_pause(struct pool_server *s)
{
	if (client_failure(s->client) == REASON_NONE) {
		s->pause_ms = 0;
		return;
	}
	s->pause_ms = s->pause_ms ? 2 * s->pause_ms : POOL_PAUSE_FIRST_MS;
	if (s->pause_ms > POOL_PAUSE_LAST_MS)
		s->pause_ms = POOL_PAUSE_LAST_MS;
	s->not_before_ns =
		loop_now(s->pool->ctx.loop) + s->pause_ms * NS_PER_MS;
}

static void start_if_due(struct pool_server *s);

/* A failure that a step was told, or of which only this is left. */
static void note_why(struct pool_server *s)
{
	if (!s->afresh && client_failure(s->client) != REASON_NONE)
		s->afresh = arena_strdup(&s->arena,
					 client_failure_sentence(s->client));
}

static void on_server_ended(struct pool_server *s)
{
	struct pool_user *starter = s->starter, *last = s->last;

	clear_doubt(s);
	lengthen_pause(s);
	note_why(s);
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
	return s->remote ? remote_server_text(s->remote) : s->request.program;
}

/* Answer from the configuration; refuse the rest, since no person is there. */
static void answer(struct pool_server *s, const struct client_event *e)
{
	struct buf says = BUF_INIT(BUF_UNBOUNDED);
	bool was_unmet = s->asks.is_unmet;

	if (!asks_answer(&s->asks, s->client, e, &says))
		client_answer_error(s->client, e->of->ask, RPC_INTERNAL_ERROR,
				    "no person is here to ask");
	else if (s->asks.is_unmet && !was_unmet)
		log_warning("elicit = \"accept\" was not possible: %s asked %s",
			    server_text(s), buf_cstr(&says));
	else
		log_debug("%s asked %s", server_text(s), buf_cstr(&says));
	buf_release(&says);
}

static void on_event(void *arg, const struct client_event *e)
{
	struct pool_server *s = arg;

	if (e->type == CLIENT_ASKED)
		answer(s, e);
	if (e->type == CLIENT_ASK_GONE)
		sampler_forget(s->sampler, e->of->ask);
	if (e->type != CLIENT_ENDED)
		return;
	sampler_stop(s->sampler);
	on_server_ended(s);
	loop_timer_set(s->pool->ctx.loop, &s->timer,
		       loop_now(s->pool->ctx.loop));
}

/* ---- the begin of one ---- */

static uint64_t probe_ms(uint64_t timeout_ms)
{
	uint64_t ms = timeout_ms / PROBE_PART + 1;

	return ms < PROBE_MS ? ms : PROBE_MS;
}

struct scrub *pool_scrub(const struct pool_user *u)
{
	return u->server && u->server->remote
		       ? remote_server_scrub(u->server->remote)
		       : NULL;
}

static struct client *new_client(struct pool_server *s, struct pool_user *u)
{
	uint64_t longest = s->timeout_ms + MARGIN_MS;
	struct client_context context = s->pool->ctx;
	struct client_options options = {
		.name = u->name,
		.request = &s->request,
		.session = {.protocol = u->plan->protocol,
			    .message_max = s->message_max,
			    .probe_timeout_ms =
				    probe_ms(u->plan->step->timeout_ms),
			    .initialize_timeout_ms = longest,
			    .request_timeout_ms = longest,
			    .total_timeout_ms = longest},
		.stderr_max = s->stderr_max,
		/* more calls come after this one */
		.watches_lists = s->expected > 1,
		.on_event = on_event,
		.arg = s,
	};

	if (s->remote) {
		options.request = NULL;
		options.open = remote_server_open;
		options.open_arg = s->remote;
		options.open_facts = remote_server_facts;
		options.url = remote_server_url(s->remote);
		/* limits of the steps, as they hold for a program */
		remote_server_limit(s->remote, s->message_max, s->timeout_ms);
		context.scrub = remote_server_scrub(s->remote);
	}
	asks_declare(&s->asks, &options.session.declared);
	return client_new(&context, &options);
}

static void open_for(struct pool_user *u)
{
	struct pool_server *s = u->server;

	u->client = s->client;
	if (s->starter != u)
		u->session_of = s->starter ? s->starter->name : NULL;
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
	struct loop *l = s->pool->ctx.loop;
	struct pool_user *u = s->users;
	struct err err = ERR_INIT;

	if (!u || s->client)
		return;
	if (s->not_before_ns > loop_now(l)) {
		loop_timer_set(l, &s->timer, s->not_before_ns);
		return;
	}
	if (s->is_wrong) {
		refuse(s, &s->err);
		return;
	}
	s->client = new_client(s, u);
	if (client_start(s->client, &err) < 0) {
		client_free(s->client);
		s->client = NULL;
		refuse(s, &err);
		return;
	}
	s->starter = u;
	u->afresh = s->afresh;
	s->afresh = NULL;
	open_waiting(s);
}

void pool_enter(struct pool *p, struct pool_user *u)
{
	struct pool_server *s = u->server;
	struct pool_user **end = &s->users;

	assert(p == s->pool);
	while (*end)
		end = &(*end)->next;
	*end = u;
	u->is_entered = true;
	if (s->doubt.asked) {
		hurry_doubt(s, u->plan->step->timeout_ms / DOUBT_PART);
		return; /* conclude() goes on */
	}
	/* the server may have ended unseen */
	if (s->client)
		client_look(s->client);
	if (!s->client)
		start_if_due(s);
	else if (client_is_open(s->client))
		open_for(u);
	/* else it ends, and on_timer() starts another */
}

static void take_out(struct pool_user *u)
{
	struct pool_user **at = &u->server->users;

	while (*at && *at != u)
		at = &(*at)->next;
	if (*at)
		*at = u->next;
	u->next = NULL;
}

static void end_client(struct client *c, enum pool_end how, uint64_t grace_ms)
{
	client_close(c, grace_ms);
	if (how == POOL_TERMINATE)
		client_terminate(c);
	else if (how == POOL_KILL)
		client_kill(c);
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

bool pool_leave(struct pool *p, struct pool_user *u, enum pool_end how,
		uint64_t grace_ms)
{
	struct pool_server *s = u->server;
	bool was_open = u->client != NULL;
	struct client *c;

	if (!s)
		return false;
	assert(p == s->pool && s->expected > 0);
	take_out(u);
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

static struct pool_server *left_last(struct pool *p, const struct pool_user *u)
{
	struct pool_server *s = p->servers;

	while (s && s->last != u)
		s = s->next;
	return s;
}

void pool_hurry(struct pool *p, struct pool_user *u, enum pool_end how)
{
	struct pool_server *s = left_last(p, u);

	if (!s || !s->client)
		return;
	end_client(s->client, how, 0);
}

void pool_kill(struct pool *p)
{
	for (struct pool_server *s = p->servers; s; s = s->next)
		if (s->client)
			client_kill(s->client);
}

bool pool_is_idle(const struct pool *p)
{
	for (struct pool_server *s = p->servers; s; s = s->next)
		if (s->client && !client_is_over(s->client))
			return false;
	return true;
}
