#include "core/client/client.h"

#include <assert.h>
#include <errno.h>

#include "core/base/mem.h"
#include "core/client/client_inner.h"

/* One turn reads at most this much, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)
#define TO_THE_END SIZE_MAX

static void on_deadline(void *arg);

/* ---- made and freed ---- */

static void init_child(struct client *c)
{
	const struct child_options options = {
		.loop = c->ctx.loop,
		.scrub = c->ctx.scrub,
		.name = c->o.name,
		.grace_ms = CLIENT_GRACE_MS,
		.stderr_max = c->o.stderr_max,
		.show_stderr = c->o.show_stderr,
		.handler = &client_child_handler,
		.arg = c,
	};

	child_init(&c->child, &options);
}

struct client *client_new(const struct client_context *context,
			  const struct client_options *options)
{
	struct client *c = mem_zalloc(sizeof(*c));

	c->ctx = *context;
	c->o = *options;
	if (!c->o.session.client_name) {
		c->o.session.client_name = "matins";
		c->o.session.client_version = MATINS_VERSION;
	}
	if (!c->o.stderr_max)
		c->o.stderr_max = LIMIT_STDERR_BYTES;
	c->next_ticket = 1;
	c->is_over = true;
	c->begin.protocol = options->session.protocol;
	c->begin.era = SESSION_ERA_PROBE;
	c->sentence = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	c->details = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	c->own = (struct loop_timer){.fire = on_deadline, .arg = c};
	c->last = (struct loop_timer){.fire = client_on_last, .arg = c};
	c->grace_ms = CLIENT_GRACE_MS;
	c->remote = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	init_child(c);
	return c;
}

struct client *client_new_over(const struct client_context *context,
			       const struct client_options *options,
			       struct transport *transport)
{
	struct client *c = client_new(context, options);

	c->transport = transport;
	return c;
}

void client_drop_transport(struct client *c)
{
	loop_unwatch(c->ctx.loop, &c->in);
	loop_unwatch(c->ctx.loop, &c->out);
	client_note_remote(c);
	transport_free(c->transport);
	c->transport = NULL;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	client_drop_transport(c);
	loop_timer_clear(c->ctx.loop, &c->own);
	loop_timer_clear(c->ctx.loop, &c->last);
	child_release(&c->child);
	session_free(c->session);
	buf_release(&c->remote);
	client_lists_free(c);
	client_release_calls(c);
	buf_release(&c->sentence);
	buf_release(&c->details);
	free(c);
}

/* ---- bytes ---- */

void client_end_input(struct client *c)
{
	if (!c->transport)
		return;
	loop_unwatch(c->ctx.loop, &c->in);
	transport_end_input(c->transport);
	session_eof(c->session, loop_now(c->ctx.loop));
}

/* Take what is there, up to `budget`; false: there will be more. */
static bool receive(struct client *c, size_t budget)
{
	const bool to_the_end = budget == TO_THE_END;
	char chunk[CHUNK_BYTES];
	ssize_t r;

	if (c->transport && transport_has_messages(c->transport))
		return client_receive_messages(c, budget);
	while (c->transport && transport_in_fd(c->transport) >= 0) {
		if (!budget)
			return false;
		r = transport_receive(c->transport, chunk, sizeof(chunk));
		if (r < 0 && errno == EAGAIN)
			return true;
		if (r <= 0) {
			client_end_input(c);
			client_pump(c);
			return true;
		}
		c->bytes_in += (uint64_t)r;
		session_feed(c->session, (struct str){chunk, (size_t)r},
			     loop_now(c->ctx.loop));
		client_pump(c);
		budget -= (size_t)r < budget ? (size_t)r : budget;
		/* what left room was all, and the loop tells of more */
		if (!to_the_end && (size_t)r < sizeof(chunk))
			return true;
	}
	return true;
}

void client_end_output(struct client *c)
{
	loop_unwatch(c->ctx.loop, &c->out);
	transport_end_output(c->transport);
}

static void send_output(struct client *c)
{
	struct str bytes = session_output(c->session);
	ssize_t w;

	while (c->transport && bytes.n) {
		w = transport_send(c->transport, bytes);
		if (w < 0 && errno == EAGAIN)
			return;
		if (w < 0) {
			session_output_broke(c->session);
			client_end_output(c);
			return;
		}
		session_wrote(c->session, (size_t)w);
		bytes = session_output(c->session);
	}
}

static bool is_ending(const struct client *c)
{
	return session_state(c->session) == SESSION_CLOSING ||
	       session_state(c->session) == SESSION_CLOSED ||
	       session_state(c->session) == SESSION_FAILED;
}

static uint64_t due(struct client *c)
{
	if (c->is_pump_due)
		return loop_now(c->ctx.loop);
	return c->is_open ? session_deadline(c->session) : UINT64_MAX;
}

void client_update(struct client *c)
{
	struct loop *l = c->ctx.loop;

	if (!c->session)
		return;
	send_output(c);
	if (c->transport && session_output(c->session).n)
		loop_rewatch(l, &c->out, EPOLLOUT);
	else if (c->transport && is_ending(c))
		client_end_output(c);
	else
		loop_rewatch(l, &c->out, 0);
	loop_timer_set(l, &c->own, due(c));
}

/* ---- the loop ---- */

void client_pump(struct client *c)
{
	struct session_event e;

	/* a callback of an event may turn to us again */
	if (c->is_pumping)
		return;
	c->is_pumping = true;
	c->is_pump_due = false;
	while (session_next(c->session, &e))
		client_on_event(c, &e);
	c->is_pumping = false;
	client_update(c);
}

static void on_readable(void *arg, UNUSED uint32_t events)
{
	(void)receive(arg, TURN_BYTES);
}

static void on_writable(void *arg, uint32_t events)
{
	struct client *c = arg;

	if (events & EPOLLERR) {
		session_output_broke(c->session);
		client_end_output(c);
	}
	client_update(c);
}

static void on_deadline(void *arg)
{
	struct client *c = arg;

	session_tick(c->session, loop_now(c->ctx.loop));
	client_pump(c);
}

/* ---- the begin ---- */

static void close_pipe(void *arg, int which)
{
	struct client *c = arg;

	child_close_fd(&c->child, which);
}

static int watch_transport(struct client *c, struct err *err)
{
	int in = transport_in_fd(c->transport);
	int out = transport_out_fd(c->transport);
	struct loop *l = c->ctx.loop;

	if (in >= 0 &&
	    loop_watch(l, &c->in, in, EPOLLIN, on_readable, c, err) < 0)
		return -1;
	return out < 0 ? 0
		       : loop_watch(l, &c->out, out, 0, on_writable, c, err);
}

static void open_session(struct client *c)
{
	struct session_options options = c->o.session;

	options.protocol = c->begin.protocol;
	options.era = c->begin.era;
	/* who still works on an answer must not give it to another question */
	options.asks_from = (uint64_t)c->begin.restarts << 32;
	/* a slow server is not sent a second beginning: over HTTP time is no
	   sign of an era (HE-5) */
	options.is_remote = client_is_remote(c);
	if (options.is_remote)
		options.probe_timeout_ms = UINT64_MAX;
	session_free(c->session);
	c->session = session_new(&options);
	session_start(c->session, loop_now(c->ctx.loop));
	/* what it has to say at once is heard in the next turn */
	c->is_pump_due = true;
}

/* What is known of the program that runs; only where it may matter. */
static void recall_era(struct client *c)
{
	struct client_begin *b = &c->begin;
	const struct gate_request *r = c->o.request;

	if (b->protocol || b->has_key)
		return;
	eras_key(&b->key, c->child.program, r->argv, r->cwd);
	b->has_key = true;
	b->era = eras_find(c->ctx.eras, &b->key);
	b->is_remembered = b->era != SESSION_ERA_PROBE;
}

static int open_process(struct client *c, struct err *err)
{
	struct transport_stdio_options pipes = {.close = close_pipe, .arg = c};
	struct gate_child_fds fds;

	if (child_start(&c->child, c->ctx.gate, c->o.request, err) < 0)
		return -1;
	fds = child_fds(&c->child);
	pipes.in = fds.out;
	pipes.out = fds.in;
	c->transport = transport_stdio(&pipes);
	recall_era(c);
	return 0;
}

static int open_server(struct client *c, struct err *err)
{
	if (c->o.request ? open_process(c, err) < 0
	    : c->o.open	 ? client_open_remote(c, err) < 0
			 : false)
		return -1;
	if (watch_transport(c, err) < 0)
		return -1;
	open_session(c);
	client_update(c);
	return 0;
}

int client_reopen(struct client *c, struct err *err)
{
	client_drop_transport(c);
	child_release(&c->child);
	init_child(c);
	return open_server(c, err);
}

int client_start(struct client *c, struct err *err)
{
	assert(!c->session);
	if (open_server(c, err) < 0) {
		client_drop_transport(c);
		child_release(&c->child);
		init_child(c);
		return -1;
	}
	c->is_open = true;
	c->is_over = false;
	return 0;
}

void client_on_ready(struct client *c)
{
	const struct mcp_revision *r = session_server(c->session)->revision;
	const struct client_event e = {.type = CLIENT_READY};

	/* of a pinned revision nothing is learned: it may speak others too */
	if (c->begin.has_key && !c->o.session.protocol)
		eras_learn(c->ctx.eras, &c->begin.key,
			   r->era == MCP_ERA_PER_REQUEST
				   ? SESSION_ERA_PER_REQUEST
				   : SESSION_ERA_INITIALIZE);
	if (c->is_open)
		client_send_waiting(c);
	if (c->is_open)
		client_lists_begin(c);
	client_tell(c, &e);
}

void client_look(struct client *c)
{
	if (c->is_open && !c->is_pumping)
		(void)receive(c, TURN_BYTES);
}

void client_drain(struct client *c)
{
	(void)receive(c, TO_THE_END);
}
