#include "core/run/client.h"

#include <assert.h>
#include <errno.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/client_inner.h"

/* One turn reads at most this much, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)

static void pump(struct client *c);
static int open_server(struct client *c, struct err *err);
static void on_deadline(void *arg);
static const struct child_handler handler;

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
		.handler = &handler,
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

static void drop_transport(struct client *c)
{
	loop_unwatch(c->ctx.loop, &c->in);
	loop_unwatch(c->ctx.loop, &c->out);
	transport_free(c->transport);
	c->transport = NULL;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	drop_transport(c);
	loop_timer_clear(c->ctx.loop, &c->own);
	child_release(&c->child);
	session_free(c->session);
	client_release_calls(c);
	buf_release(&c->sentence);
	buf_release(&c->details);
	free(c);
}

/* ---- bytes ---- */

static void end_input(struct client *c)
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
	char chunk[CHUNK_BYTES];
	ssize_t r;

	while (c->transport && transport_in_fd(c->transport) >= 0) {
		if (!budget)
			return false;
		r = transport_receive(c->transport, chunk, sizeof(chunk));
		if (r < 0 && errno == EAGAIN)
			return true;
		if (r <= 0) {
			end_input(c);
			pump(c);
			return true;
		}
		c->bytes_in += (uint64_t)r;
		session_feed(c->session, (struct str){chunk, (size_t)r},
			     loop_now(c->ctx.loop));
		pump(c);
		budget -= (size_t)r < budget ? (size_t)r : budget;
	}
	return true;
}

/* It no longer reads: its stdout tells the rest (STD-17). */
static void end_output(struct client *c)
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
			end_output(c);
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
		end_output(c);
	else
		loop_rewatch(l, &c->out, 0);
	loop_timer_set(l, &c->own, due(c));
}

/* ---- the loop ---- */

static void pump(struct client *c)
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
		end_output(c);
	}
	client_update(c);
}

static void on_deadline(void *arg)
{
	struct client *c = arg;

	session_tick(c->session, loop_now(c->ctx.loop));
	pump(c);
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
	if ((c->o.request && open_process(c, err) < 0) ||
	    watch_transport(c, err) < 0)
		return -1;
	open_session(c);
	client_update(c);
	return 0;
}

int client_start(struct client *c, struct err *err)
{
	assert(!c->session);
	if (open_server(c, err) < 0) {
		drop_transport(c);
		child_release(&c->child);
		init_child(c);
		return -1;
	}
	c->is_open = true;
	c->is_over = false;
	return 0;
}

/* ---- the end ---- */

static void tell_failure(struct client *c)
{
	struct client_event e = {.type = CLIENT_FAILED};

	if (c->is_failure_told)
		return;
	c->is_failure_told = c->is_telling = true;
	client_note_details(c);
	client_fail_calls(c, c->failure,
			  c->sentence.n ? buf_cstr(&c->sentence) : NULL);
	if (!c->sentence.n)
		client_say_end(c, NULL, &c->sentence);
	e.reason = c->failure;
	e.sentence = buf_cstr(&c->sentence);
	e.details = buf_cstr(&c->details);
	client_tell(c, &e);
	c->is_telling = false;
}

static void over(struct client *c)
{
	const struct client_event e = {.type = CLIENT_ENDED};

	if (c->is_ending)
		return;
	c->is_ending = true;
	c->is_open = false;
	if (c->failure)
		tell_failure(c);
	drop_transport(c);
	loop_timer_clear(c->ctx.loop, &c->own);
	c->is_over = true;
	client_tell(c, &e);
}

/* No more calls; the process should end by itself. */
static void begin_end(struct client *c)
{
	c->is_open = false;
	session_close(c->session);
	if (child_is_live(&c->child)) {
		child_close(&c->child);
		client_update(c);
	} else {
		client_update(c);
		if (!c->is_telling)
			over(c);
	}
}

void client_on_left(struct client *c)
{
	begin_end(c);
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
	client_tell(c, &e);
}

/*
 * Shall it be started once more? What it said shows that another beginning
 * is right; nothing but that beginning was sent to it (PRB-6, RW-22).
 */
static bool shall_restart(struct client *c, const struct session_event *e)
{
	struct client_begin *b = &c->begin;

	if (!c->is_open || !c->o.request)
		return false;
	if (e->retry_protocol && !b->tried_protocol) {
		b->tried_protocol = true;
		b->protocol = e->retry_protocol;
		return true;
	}
	if (e->retry_era && !b->tried_era) {
		b->tried_era = true;
		b->era = e->era;
		return true;
	}
	/* it was known to begin so, and refuses to: ask it anew (PRB-10) */
	if (b->is_remembered && e->failure == SESSION_FAIL_HANDSHAKE &&
	    !b->tried_era) {
		b->tried_era = true;
		b->era = SESSION_ERA_PROBE;
		return true;
	}
	return false;
}

void client_on_failed(struct client *c, const struct session_event *e)
{
	struct client_begin *b = &c->begin;
	bool is_end = e->failure == SESSION_FAIL_EOF;

	if (e->phase == SESSION_PHASE_INITIALIZE && b->is_remembered) {
		eras_learn(c->ctx.eras, &b->key, SESSION_ERA_PROBE);
		b->is_due = shall_restart(c, e);
		b->is_remembered = false;
	} else {
		b->is_due = shall_restart(c, e);
	}
	if (!b->is_due) {
		c->failure = client_failure_reason(e, NULL);
		c->is_cut = e->is_cut;
		/* how it ended is known only when it has */
		if (!is_end || !child_is_live(&c->child))
			buf_adds(&c->sentence, e->err.msg);
		if (c->sentence.n)
			tell_failure(c);
	}
	/* calls wait for the restart */
	if (child_is_live(&c->child)) {
		c->is_open = b->is_due;
		child_close(&c->child);
		client_update(c);
	} else {
		over(c);
	}
}

static void restart(struct client *c)
{
	struct err err = ERR_INIT;

	c->begin.is_due = false;
	c->begin.restarts++;
	drop_transport(c);
	child_release(&c->child);
	init_child(c);
	if (open_server(c, &err) == 0)
		return;
	c->failure = client_spawn_reason(&err);
	buf_adds(&c->sentence, err.msg);
	over(c);
}

static void on_last_words(void *arg)
{
	struct client *c = arg;

	client_update(c);
	if (c->transport)
		end_output(c);
}

static void on_drain(void *arg)
{
	(void)receive(arg, SIZE_MAX);
}

static void on_child_ended(void *arg)
{
	struct client *c = arg;

	/* a grandchild may hold the pipe: nothing more can come (STD-42) */
	if (c->transport && transport_in_fd(c->transport) >= 0) {
		end_input(c);
		pump(c);
	}
	if (c->begin.is_due && c->is_open)
		restart(c);
	else
		over(c);
}

static const struct child_handler handler = {
	.last_words = on_last_words,
	.drain = on_drain,
	.ended = on_child_ended,
};

void client_close(struct client *c, uint64_t grace_ms)
{
	if (c->is_over)
		return;
	if (grace_ms)
		c->child.o.grace_ms = grace_ms;
	client_fail_calls(c, REASON_CANCELLED, "cancelled: the session ends");
	begin_end(c);
}

void client_stop(struct client *c, const char *why, uint64_t grace_ms)
{
	struct buf sentence = BUF_INIT(BUF_UNBOUNDED);

	if (c->is_over)
		return;
	if (grace_ms)
		c->child.o.grace_ms = grace_ms;
	buf_addf(&sentence, "cancelled: %s", why);
	client_fail_calls(c, REASON_CANCELLED, buf_cstr(&sentence));
	buf_release(&sentence);
	begin_end(c);
}

void client_terminate(struct client *c)
{
	if (c->is_over)
		return;
	client_close(c, 0);
	child_terminate(&c->child);
}

void client_kill(struct client *c)
{
	if (c->is_over)
		return;
	client_close(c, 0);
	child_kill(&c->child);
}

/* ---- in a loop of its own ---- */

/* It was ready and ended within one turn: no failure, but for who waits. */
static void note_early_end(struct client *c)
{
	if (c->sentence.n)
		return;
	if (!c->failure)
		c->failure = REASON_SERVER_EXIT;
	client_note_details(c);
	client_say_end(c, NULL, &c->sentence);
}

int client_wait_ready(struct client *c, struct err *err)
{
	while (!client_is_ready(c)) {
		if (c->is_failure_told || c->is_over) {
			note_early_end(c);
			return err_set(err, ERR_PEER, "%s",
				       client_failure_sentence(c));
		}
		if (loop_turn(c->ctx.loop, err) < 0)
			return -1;
	}
	return 0;
}

int client_wait(struct client *c, struct err *err)
{
	while (c->n_calls)
		if (loop_turn(c->ctx.loop, err) < 0)
			return -1;
	return 0;
}

int client_finish(struct client *c, struct err *err)
{
	client_close(c, 0);
	while (!c->is_over)
		if (loop_turn(c->ctx.loop, err) < 0)
			return -1;
	return 0;
}

/* ---- what is known ---- */

bool client_is_ready(const struct client *c)
{
	return c->is_open && c->session &&
	       session_state(c->session) == SESSION_READY;
}

bool client_is_open(const struct client *c)
{
	return c->is_open;
}

bool client_is_over(const struct client *c)
{
	return c->is_over;
}

size_t client_open_calls(const struct client *c)
{
	return c->n_calls;
}

void client_look(struct client *c)
{
	if (c->is_open && !c->is_pumping)
		(void)receive(c, TURN_BYTES);
}
