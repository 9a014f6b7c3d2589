#include "core/run/pool_doubt.h"

#include "core/base/clock.h"

static void on_late(void *arg);

void pool_doubt_init(struct pool_doubt *d, struct loop *loop,
		     pool_doubt_fn *verdict, void *arg)
{
	*d = (struct pool_doubt){
		.loop = loop,
		.verdict = verdict,
		.arg = arg,
		.late = {.fire = on_late, .arg = d},
	};
}

void pool_doubt_raise(struct pool_doubt *d, const char *step)
{
	d->of = step;
}

bool pool_doubt_is_asked(const struct pool_doubt *d)
{
	return d->client != NULL;
}

void pool_doubt_clear(struct pool_doubt *d)
{
	loop_timer_clear(d->loop, &d->late);
	d->client = NULL;
	d->of = NULL;
}

static void on_late(void *arg)
{
	struct pool_doubt *d = arg;
	struct client *c = d->client;

	d->client = NULL;
	client_cancel(c, d->ticket, NULL);
	d->verdict(d->arg, true);
}

static void on_answer(void *arg, const struct client_event *e)
{
	struct pool_doubt *d = arg;
	struct client *c = d->client;

	if (!c || (e->type != CLIENT_RESULT && e->type != CLIENT_ERROR &&
		   e->type != CLIENT_FAILED))
		return;
	pool_doubt_clear(d);
	/* a question that failed alone says that something is there */
	if (client_is_open(c))
		d->verdict(d->arg, false);
}

static const char *question(const struct client *c)
{
	/* without state between requests there is no ping (PING-4) */
	return client_server(c)->revision->era == MCP_ERA_PER_REQUEST
		       ? "server/discover"
		       : "ping";
}

void pool_doubt_ask(struct pool_doubt *d, struct client *c)
{
	struct client_call call = {
		.timeout_ms = 2 * POOL_DOUBT_MS,
		.total_ms = 2 * POOL_DOUBT_MS,
		.on_event = on_answer,
		.arg = d,
	};
	struct err ignored = ERR_INIT;

	if (!d->of || d->client)
		return;
	if (client_is_ready(c)) {
		call.method = question(c);
		d->client = c;
		if (client_call(c, &call, &d->ticket, &ignored) == 0) {
			loop_timer_set(d->loop, &d->late,
				       loop_now(d->loop) +
					       POOL_DOUBT_MS * NS_PER_MS);
			return;
		}
	}
	pool_doubt_clear(d);
}

void pool_doubt_hurry(struct pool_doubt *d, uint64_t ms)
{
	uint64_t at = loop_now(d->loop) + ms * NS_PER_MS;

	if (d->client && at < d->late.due_ns)
		loop_timer_set(d->loop, &d->late, at);
}
