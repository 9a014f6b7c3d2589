/*
 * The servers of a routine that runs several times: they stay between two of
 * its passes, and what they say at their end is told to the step around it.
 *
 *	h = hold_new(whole)
 *	... for each pass: hold_of(), hold_open() before its steps are made;
 *	    hold_take() of each of its steps, when all have ended
 *	hold_end(h), and wait until hold_is_over()
 *	hold_judge(h, &judgement); step_close(whole, &judgement)
 *	hold_free(h)
 *
 * It expects the servers that the first pass would ask. One whose arguments or
 * environment differ from pass to pass is started for each.
 */
#ifndef CORE_RUN_HOLD_H
#define CORE_RUN_HOLD_H

#include "core/run/step.h"

struct hold;
struct plan_options;

/* whole  the step that is told; borrowed */
struct hold *hold_new(struct step_run *whole) MUST_USE;
/*
 * Find the hold of a step that is a routine: that of its passes, or of a
 * routine within these. NULL: nothing holds its servers.
 *
 * around  of struct step_context; may be NULL
 */
struct hold *hold_of(struct hold *around, const struct step_run *s) MUST_USE;
/*
 * Expect the servers of the routine, unless that is done. Without effect where
 * it cannot be planned, or `h` is NULL.
 *
 * input  as in struct walk
 */
void hold_open(struct hold *h, const struct plan_options *o, void *input);
/* Stand in for step `i` of a pass, which goes. h  NULL: nothing holds it */
void hold_take(struct hold *h, size_t i, const struct step_run *part);
/* Leave the servers: they end. Harmless twice; h  NULL: none */
void hold_end(struct hold *h);
/* Have they ended? h  NULL: yes */
bool hold_is_over(const struct hold *h) MUST_USE;
/* Hurry the end, as a cancelled step does. */
void hold_cancel(struct hold *h, const char *why);
/* Fail a judgement of success where a server was refused what must not be. */
void hold_judge(const struct hold *h, struct judgement *j);
/* Takes NULL. */
void hold_free(struct hold *h);

#endif
