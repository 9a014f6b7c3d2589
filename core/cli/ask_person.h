/*
 * Questions of a server, answered by a person on the terminal: a form field by
 * field with a review, or consent to a page that is shown and never opened
 * (EL-9 to EL-14). Several questions come one after the other.
 *
 * What a server writes is shown with control characters made visible and
 * without secrets.
 */
#ifndef CORE_CLI_ASK_PERSON_H
#define CORE_CLI_ASK_PERSON_H

#include <stdbool.h>

#include "core/cli/live.h"
#include "core/client/client.h"

struct question;

struct ask_person {
	struct loop *loop;	   /* borrowed, as are the next three */
	const struct scrub *scrub; /* may be NULL */
	struct live *live;
	const char *server; /* name of the server, for the prompt */
	struct client *client;
	struct question *first; /* owned; the first one is being asked */
	struct loop_watch typed;
	struct buf line; /* begin of a typed line */
	bool ended;	 /* stdin has ended */
};

/* Report whether a person can answer: stdin and stderr are terminals. */
bool ask_person_is_there(void) MUST_USE;

/* Zeroed, with the borrowed members set, it is ready. */

/* Ask what CLIENT_ASKED (elicitation/create) says. */
void ask_person(struct ask_person *p, const struct client_event *e);
/* The server no longer wants an answer. */
void ask_person_forget(struct ask_person *p, uint64_t ask);
void ask_person_release(struct ask_person *p);

#endif
