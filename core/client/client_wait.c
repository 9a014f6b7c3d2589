/* Waiting for a client in a loop of its own, and what is known of it. */
#include "core/client/client_inner.h"

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
	while (client_open_calls(c))
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
	return c->n_calls - client_lists_own_calls(c);
}
