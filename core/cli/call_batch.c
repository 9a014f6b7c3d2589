#include "core/cli/call_batch.h"

#include "core/base/fd.h"
#include "core/cli/call_batch_inner.h"

/* Looks for an answer without a wait, and waits after one in vain. */
#define LOOKS 64
#define WAITS 16

/*
 * Is an answer there already? On one processor a server has often answered
 * when the request is written: then there is nothing to wait for. After a look
 * in vain so many waits follow; after so many answers all else has its turn.
 */
static bool answered_at_once(struct batch *b)
{
	size_t open = b->n_open;

	if (b->waits) {
		b->waits--;
		return false;
	}
	if (!open || !b->looks) {
		b->looks = LOOKS;
		return false;
	}
	b->looks--;
	client_look(b->t->client);
	if (b->n_open == open)
		b->waits = WAITS;
	return b->n_open < open;
}

static int run(struct batch *b, struct err *err)
{
	for (;;) {
		if (batch_fill(b, err) < 0 || batch_take_due(b, err) < 0)
			return -1;
		if (batch_is_over(b))
			return 0;
		/* printing made room */
		if (batch_can_go_on(b) || answered_at_once(b))
			continue;
		if (batch_flush(b, err) < 0 || loop_turn(&b->t->loop, err) < 0)
			return -1;
	}
}

int call_batch(struct target *t, const struct batch_options *o,
	       struct batch_counts *ret, struct err *err)
{
	struct batch b = {
		.t = t,
		.o = o,
		.fd = -1,
		.in = {.fd = -1},
		.text = BUF_INIT(BUF_UNBOUNDED),
		.tool = BUF_INIT(BUF_UNBOUNDED),
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	struct err second = ERR_INIT;
	int r;

	b.last = &b.first;
	if (o->tools)
		b.set = tool_set_new(o->tools);
	r = batch_open_input(&b, err);
	if (r == 0)
		r = run(&b, err);
	if (batch_flush(&b, r < 0 ? &second : err) < 0)
		r = -1;
	/* calls that are open must not call back any more */
	if (r < 0)
		client_kill(t->client);
	if (b.in.fd >= 0)
		loop_unwatch(&t->loop, &b.in);
	while (b.first) {
		batch_leave_set(b.first);
		batch_drop_first(&b);
	}
	free(b.spare);
	tool_set_free(b.set);
	buf_release(&b.text);
	buf_release(&b.tool);
	buf_release(&b.out);
	fd_closep(&b.fd);
	*ret = b.counts;
	return r;
}
