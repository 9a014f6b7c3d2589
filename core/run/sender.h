/*
 * Sends notices: to a program under the gate, to a URL, to a watcher
 * elsewhere; each with its attempts and time limits, side by side in the loop
 * of the run.
 *
 *	sender_init(&s, &world);
 *	sender_ping(&s, rules, "start", "/start");	goes on beside
 *	if (sender_deliver(&s, rules, &notice))
 *		...			somebody took it
 *	sender_wait(&s);
 *	... s.first ...
 *	sender_release(&s);
 */
#ifndef CORE_RUN_SENDER_H
#define CORE_RUN_SENDER_H

#include "core/run/notice.h"
#include "core/run/world.h"

/* Outcome of a notice on one way; lives as long as the sender. */
struct sent {
	const char *kind; /* word of the notice; "start", "end" of a ping */
	const char *way;  /* "command", "url", "ping" */
	const char *to;	  /* program, or origin of the URL */
	uint64_t attempts;
	bool is_delivered;
	const char *error; /* of the last attempt, without secrets; or NULL */
	/* Lines that say what its sandbox refused, and which key allows it;
	   NULL: nothing is known. */
	const char *advice;
	struct sent *next;
};

struct sender {
	struct world *world; /* borrowed */
	struct arena arena;
	struct sent *first, **last;
	size_t n_pending;
};

void sender_init(struct sender *s, struct world *w);
/*
 * Send a notice on each way that the rules name, and wait for what is sent.
 *
 * rules, notice  borrowed for as long as the sender
 * returns  whether somebody took it, or nobody was to
 */
bool sender_deliver(struct sender *s, const struct notify_rules *rules,
		    const struct notice *notice) MUST_USE;
/* Ask the watcher, where the rules have one; suffix  of its path: "/start" */
void sender_ping(struct sender *s, const struct notify_rules *rules,
		 const char *kind, const char *suffix);
/* Wait for all that is sent; a signal that arrives ends that. */
void sender_wait(struct sender *s);
/* End what is left, while loop and gate are there. */
void sender_release(struct sender *s);

#endif
