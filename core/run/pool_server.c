#include <assert.h>

#include "core/base/mem.h"
#include "core/run/pool_inner.h"

static int make_sampler(struct pool_server *s, const char *name,
			struct err *err)
{
	const struct pool *p = s->pool;
	const struct scrub *scrub =
		s->remote ? remote_server_scrub(s->remote) : p->ctx.scrub;
	const struct sampling_options options = {
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
	spec.protocol = plan->protocol;
	s->is_wrong =
		remote_server_new(p->remotes, &spec, &s->remote, &s->err) < 0;
}

struct pool_server *pool_server_new(struct pool *p, const struct pool_user *u,
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

void pool_server_free(struct pool_server *s)
{
	loop_timer_clear(s->pool->ctx.loop, &s->timer);
	pool_doubt_clear(&s->doubt);
	sampling_free(s->sampler);
	client_free(s->client);
	remote_server_free(s->remote);
	env_release(&s->env);
	arena_release(&s->arena);
	free(s);
}
