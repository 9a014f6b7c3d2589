/*
 * How a client ends: by itself, because it was told to, or only to be started
 * once more.
 */
#include "core/client/client_inner.h"

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

void client_over(struct client *c)
{
	const struct client_event e = {.type = CLIENT_ENDED};

	if (c->is_ending)
		return;
	c->is_ending = true;
	c->is_open = false;
	if (c->failure)
		tell_failure(c);
	client_drop_transport(c);
	loop_timer_clear(c->ctx.loop, &c->own);
	loop_timer_clear(c->ctx.loop, &c->last);
	c->is_over = true;
	client_tell(c, &e);
}

/* A remote server is told that this is the end, and may take its time. */
static void end_remote(struct client *c)
{
	struct loop *l = c->ctx.loop;

	client_update(c);
	if (!c->is_ending)
		loop_timer_set(l, &c->last,
			       loop_now(l) + c->grace_ms * NS_PER_MS);
}

/* No more calls; the process should end by itself. */
static void begin_end(struct client *c)
{
	c->is_open = false;
	session_close(c->session);
	if (child_is_live(&c->child)) {
		child_close(&c->child);
		client_update(c);
	} else if (client_is_remote(c)) {
		end_remote(c);
	} else {
		client_update(c);
		if (!c->is_telling)
			client_over(c);
	}
}

void client_on_left(struct client *c)
{
	begin_end(c);
}

/* ---- a failure, and once more ---- */

/* Over HTTP an initialize may be refused without a word of JSON-RPC. */
static bool is_refusal(const struct client *c, const struct session_event *e)
{
	return e->failure == SESSION_FAIL_HANDSHAKE ||
	       (e->failure == SESSION_FAIL_TRANSPORT && client_is_remote(c) &&
		c->begin.era == SESSION_ERA_INITIALIZE);
}

/* That says nothing of its era (HE-5). */
static bool is_no_evidence(const struct client *c,
			   const struct session_event *e)
{
	return client_is_remote(c) && e->failure != SESSION_FAIL_HANDSHAKE;
}

/*
 * Shall it be started once more? What it said shows that another beginning
 * is right; nothing but that beginning was sent to it (PRB-6, RW-22). After
 * the beginning a failure ends the calls: their outcome is unknown.
 */
static bool shall_restart(struct client *c, const struct session_event *e)
{
	struct client_begin *b = &c->begin;

	if (!c->is_open || (!c->o.request && !c->o.open) ||
	    e->phase != SESSION_PHASE_INITIALIZE)
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
	if (b->is_remembered && is_refusal(c, e) && !b->tried_era) {
		b->tried_era = true;
		b->era = SESSION_ERA_PROBE;
		return true;
	}
	return false;
}

/* The end of a process is known only when it has ended. */
static void note_failure(struct client *c, const struct session_event *e)
{
	bool is_end = e->failure == SESSION_FAIL_EOF;

	c->failure = client_failure_reason(e, NULL);
	c->is_cut = e->is_cut;
	if (is_end && client_is_remote(c)) {
		c->failure = REASON_TRANSPORT;
		buf_adds(&c->sentence, "the server closed the connection");
	} else if (!is_end || !child_is_live(&c->child)) {
		buf_adds(&c->sentence, e->err.msg);
	}
	if (c->sentence.n && client_prints_result(c))
		buf_adds(&c->sentence, "; " MCP_IS_PRINTED);
	if (c->sentence.n)
		tell_failure(c);
}

void client_on_failed(struct client *c, const struct session_event *e)
{
	struct client_begin *b = &c->begin;

	if (e->phase == SESSION_PHASE_INITIALIZE && b->is_remembered &&
	    !is_no_evidence(c, e)) {
		eras_learn(c->ctx.eras, &b->key, SESSION_ERA_PROBE);
		b->is_due = shall_restart(c, e);
		b->is_remembered = false;
	} else {
		b->is_due = shall_restart(c, e);
	}
	if (!b->is_due)
		note_failure(c, e);
	/* calls wait for the restart */
	if (child_is_live(&c->child)) {
		c->is_open = b->is_due;
		child_close(&c->child);
		client_update(c);
	} else if (client_is_remote(c)) {
		c->is_open = b->is_due;
		end_remote(c);
		if (b->is_due)
			loop_timer_set(c->ctx.loop, &c->last, 0);
	} else {
		client_over(c);
	}
}

static void restart(struct client *c)
{
	struct err err = ERR_INIT;

	c->begin.is_due = false;
	c->begin.restarts++;
	if (client_reopen(c, &err) == 0)
		return;
	c->failure = client_spawn_reason(&err);
	buf_adds(&c->sentence, err.msg);
	client_over(c);
}

void client_on_last(void *arg)
{
	struct client *c = arg;

	if (c->begin.is_due && c->is_open)
		restart(c);
	else
		client_over(c);
}

/* ---- the process ---- */

static void on_last_words(void *arg)
{
	struct client *c = arg;

	client_update(c);
	if (c->transport)
		client_end_output(c);
}

static void on_drain(void *arg)
{
	client_drain(arg);
}

static void on_child_ended(void *arg)
{
	struct client *c = arg;

	/* a grandchild may hold the pipe: nothing more can come (STD-42) */
	if (c->transport && transport_in_fd(c->transport) >= 0) {
		client_end_input(c);
		client_pump(c);
	}
	if (c->begin.is_due && c->is_open)
		restart(c);
	else
		client_over(c);
}

const struct child_handler client_child_handler = {
	.last_words = on_last_words,
	.drain = on_drain,
	.ended = on_child_ended,
};

/* ---- told to end ---- */

void client_close(struct client *c, uint64_t grace_ms)
{
	if (c->is_over)
		return;
	if (grace_ms)
		c->child.o.grace_ms = c->grace_ms = grace_ms;
	client_fail_calls(c, REASON_CANCELLED, "cancelled: the session ends");
	begin_end(c);
}

void client_stop(struct client *c, const char *why, uint64_t grace_ms)
{
	struct buf sentence = BUF_INIT(BUF_UNBOUNDED);

	if (c->is_over)
		return;
	if (grace_ms)
		c->child.o.grace_ms = c->grace_ms = grace_ms;
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
	if (client_is_remote(c))
		client_over(c);
}
