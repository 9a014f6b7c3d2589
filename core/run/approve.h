/*
 * A step that a person approves: on the command line beforehand, or on the
 * terminal when it is its turn. Where nobody can be asked it is skipped.
 */
#ifndef CORE_RUN_APPROVE_H
#define CORE_RUN_APPROVE_H

#include "core/base/str.h"
#include "core/run/step.h"

/* Shared by the steps of a run. */
struct approvals {
	struct strlist given; /* names that --approve gave */
	bool tools;	      /* a person agrees to tools of `confirm` */
	bool is_asking;	      /* one question at a time */
	/* Live lines stay off the screen; or NULL. */
	void (*hold)(void *arg, bool is_held);
	void *arg;
};

/* Can a person be asked: is the program before a terminal, and not in CI? */
bool approve_person_is_here(void) MUST_USE;

/* $CI is set and is neither empty, "0" nor "false": nobody is there. */
bool approve_in_ci(void) MUST_USE;

/*
 * Append a question: the message, of which a server may have made a part, with
 * a bar before each of its lines and nothing that a terminal obeys, and behind
 * it who asks.
 *
 * name  of the step, with those of the steps around it
 */
void approve_ask(struct str message, const char *routine, const char *name,
		 struct buf *out);

extern const struct step_doer approve_doer;

#endif
