#include "core/run/pool.h"

#include <assert.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/proto/rpc.h"
#include "core/run/asks.h"

/* The probe takes no more than this part of the time that a step has. */
#define PROBE_PART 4
#define PROBE_MS 10000
/* So that a step's own time is over first. */
#define MARGIN_MS 1000

struct pool_server {
	struct pool *pool;
	unsigned char key[SHA256_BYTES];
	size_t expected;	   /* users that have not left */
	struct pool_user *users;   /* entered, and not left */
	struct pool_user *starter; /* of the process that runs */
	struct pool_user *last;	   /* it left, and waits for the end */
	struct client *client;	   /* owned; NULL: none runs */
	struct gate_request request;
	char **env; /* owned, wiped */
	struct arena arena;
	struct asks asks;	  /* what it asks of us; in the arena */
	struct sampling *sampler; /* owned; NULL: it is not answered */
	bool is_wrong;		  /* it cannot be started, and why */
	struct err err;
	uint64_t message_max, stderr_max, timeout_ms; /* largest of all */
	uint64_t pause_ms, not_before_ns;	      /* of the next start */
	struct loop_timer timer; /* something is to be freed, or started */
	struct pool_server *next;
};

struct pool {
	struct client_context ctx;
	const struct gate_policy *sampling_policy; /* NULL: nobody samples */
	const char *sampling_cwd;
	struct pool_server *servers; /* owned */
};

/* ---- keys ---- */

static void add_bytes(struct sha256 *sum, const void *bytes, size_t n)
{
	uint64_t length = n;

	/* so that no two lists run together */
	sha256_add(sum, &length, sizeof(length));
	sha256_add(sum, bytes, n);
}

static void add_text(struct sha256 *sum, const char *text)
{
	if (text)
		add_bytes(sum, text, strlen(text));
	else
		add_bytes(sum, "\0none", 5);
}

static void add_number(struct sha256 *sum, uint64_t n)
{
	sha256_add(sum, &n, sizeof(n));
}

static void add_list(struct sha256 *sum, const struct strlist *list)
{
	add_number(sum, list->n);
	for (size_t i = 0; i < list->n; i++)
		add_text(sum, list->item[i]);
}

static void add_vector(struct sha256 *sum, const char *const *vector)
{
	size_t n = 0;

	while (vector && vector[n])
		n++;
	add_number(sum, n);
	for (size_t i = 0; i < n; i++)
		add_text(sum, vector[i]);
}

static void add_rule(struct sha256 *sum, const struct gate_program_rule *r)
{
	add_text(sum, r->name);
	add_number(sum, r->has_args);
	add_list(sum, &r->args);
	add_list(sum, &r->prefix);
	add_list(sum, &r->deny);
	add_text(sum, r->package);
	add_text(sum, r->sha256);
}

static void add_policy(struct sha256 *sum, const struct gate_policy *p)
{
	add_list(sum, &p->read);
	add_list(sum, &p->write);
	add_list(sum, &p->exec);
	add_list(sum, &p->net);
	add_text(sum, p->profile);
	add_number(sum, p->memory_bytes);
	add_number(sum, p->file_size_bytes);
	add_number(sum, p->processes);
	add_number(sum, p->files);
	add_number(sum, p->cpu_seconds);
	add_number(sum, p->tmp_shared);
	add_number(sum, p->isolate);
	add_list(sum, &p->require);
	add_list(sum, &p->syscalls);
	add_text(sum, p->user);
	add_number(sum, p->n_programs);
	for (size_t i = 0; i < p->n_programs; i++)
		add_rule(sum, &p->programs[i]);
	add_number(sum, p->record_exec);
}

void pool_key(const struct plan_step *plan, const char *const *env,
	      unsigned char ret[SHA256_BYTES])
{
	const struct gate_request *r = &plan->request;
	struct sha256 sum;

	sha256_init(&sum);
	/* one command under two names is two servers */
	add_text(&sum, plan->step->server_name);
	add_text(&sum, r->program);
	add_vector(&sum, r->argv);
	add_text(&sum, r->cwd);
	add_number(&sum, r->cwd_required);
	add_number(&sum, r->record);
	add_policy(&sum, r->policy);
	add_text(&sum, plan->protocol);
	add_vector(&sum, env);
	sha256_end(&sum, ret);
}

/* ---- servers ---- */

static char **copy_env(const char *const *env)
{
	size_t n = 0;
	char **copy;

	while (env && env[n])
		n++;
	copy = mem_zalloc((n + 1) * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = mem_strdup(env[i]);
	return copy;
}

static void wipe_env(char **env)
{
	for (size_t i = 0; env[i]; i++) {
		mem_wipe(env[i], strlen(env[i]));
		free(env[i]);
	}
	free(env);
}

static struct pool_server *find_server(struct pool *p, const unsigned char *key)
{
	struct pool_server *s = p->servers;

	while (s && memcmp(s->key, key, sizeof(s->key)) != 0)
		s = s->next;
	return s;
}

static void on_timer(void *arg);

static int make_sampler(struct pool_server *s, const char *name,
			struct err *err)
{
	const struct pool *p = s->pool;
	const struct sampling_options options = {
		.loop = p->ctx.loop,
		.gate = p->ctx.gate,
		.scrub = p->ctx.scrub,
		.name = name,
		.words = s->asks.sampling,
		.cwd = p->sampling_cwd,
		.policy = p->sampling_policy,
	};

	if (!options.words.n || !options.policy)
		return 0;
	if (sampling_check(&options, err) < 0)
		return -1;
	s->sampler = s->asks.sampler = sampling_new(&options);
	return 0;
}

static void read_asks(struct pool_server *s, const struct plan_step *plan)
{
	const struct server *server = plan->step->server;

	if (!server)
		return;
	if (asks_of_server(server, plan->request.policy, &s->arena, &s->asks,
			   &s->err) == 0) {
		s->is_wrong = make_sampler(s, server->name, &s->err) < 0;
		return;
	}
	/* a root that it may not see, or that is not there */
	s->err.kind = ERR_POLICY;
	s->is_wrong = true;
}

static struct pool_server *add_server(struct pool *p, const struct pool_user *u,
				      const unsigned char *key)
{
	struct pool_server *s = mem_zalloc(sizeof(*s));

	memcpy(s->key, key, sizeof(s->key));
	s->pool = p;
	s->request = u->plan->request;
	s->env = copy_env(u->env);
	s->request.env = (const char *const *)s->env;
	s->timer = (struct loop_timer){.fire = on_timer, .arg = s};
	s->next = p->servers;
	p->servers = s;
	read_asks(s, u->plan);
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

void pool_free(struct pool *p)
{
	struct pool_server *s;

	if (!p)
		return;
	while ((s = p->servers)) {
		p->servers = s->next;
		loop_timer_clear(p->ctx.loop, &s->timer);
		sampling_free(s->sampler);
		client_free(s->client);
		wipe_env(s->env);
		arena_release(&s->arena);
		free(s);
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

static void on_server_ended(struct pool_server *s)
{
	struct pool_user *starter = s->starter, *last = s->last;

	lengthen_pause(s);
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

/* What the configuration knows; nobody is there for the rest. */
static void answer(struct pool_server *s, const struct client_event *e)
{
	struct buf says = BUF_INIT(BUF_UNBOUNDED);

	if (asks_answer(&s->asks, s->client, e, &says))
		log_debug("%s", buf_cstr(&says));
	else
		client_answer_error(s->client, e->of->ask, RPC_INTERNAL_ERROR,
				    "nobody is here to ask");
	buf_release(&says);
}

static void on_event(void *arg, const struct client_event *e)
{
	struct pool_server *s = arg;

	if (e->type == CLIENT_ASKED)
		answer(s, e);
	if (e->type == CLIENT_ASK_GONE)
		sampling_forget(s->sampler, e->of->ask);
	if (e->type != CLIENT_ENDED)
		return;
	sampling_stop(s->sampler);
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

static struct client *new_client(struct pool_server *s, struct pool_user *u)
{
	uint64_t longest = s->timeout_ms + MARGIN_MS;
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
		.on_event = on_event,
		.arg = s,
	};

	asks_declare(&s->asks, &options.session.declared);
	return client_new(&s->pool->ctx, &options);
}

static void open_for(struct pool_user *u)
{
	struct pool_server *s = u->server;

	u->client = s->client;
	if (s->starter != u)
		u->session_of = s->starter ? s->starter->name : NULL;
	u->handler->opened(u);
}

static void refuse(struct pool_server *s, const struct err *err)
{
	struct pool_user *u = s->users, *next;

	for (; u; u = next) {
		next = u->next;
		u->handler->refused(u, err);
	}
}

/* Somebody waits, none runs, and the pause is over. */
static void start_if_due(struct pool_server *s)
{
	struct loop *l = s->pool->ctx.loop;
	struct pool_user *u = s->users, *next;
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
	for (; u; u = next) {
		next = u->next;
		open_for(u);
	}
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
	/* nobody may have looked at it for a while */
	if (s->client)
		client_look(s->client);
	if (!s->client)
		start_if_due(s);
	else if (client_is_open(s->client))
		open_for(u);
	/* else it ends, and on_sweep() starts another */
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

bool pool_leave(struct pool *p, struct pool_user *u, enum pool_end how,
		uint64_t grace_ms)
{
	struct pool_server *s = u->server;
	struct client *c;

	if (!s)
		return false;
	assert(p == s->pool && s->expected > 0);
	take_out(u);
	u->server = NULL;
	u->client = NULL;
	s->expected--;
	c = s->client;
	if (!c || client_is_over(c) || s->expected)
		return false;
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
