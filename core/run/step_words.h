/*
 * Words of a program, or of the server of a call: lines that are kept of them,
 * and the advice that follows.
 */
#ifndef CORE_RUN_STEP_WORDS_H
#define CORE_RUN_STEP_WORDS_H

#include "core/run/step.h"

/*
 * Keep the first and the last useful lines of stderr, where programs say why.
 *
 * details  of its client, which are printed in place of the last line; or ""
 */
void step_keep_said(struct step_run *s, struct str err_tail,
		    const char *details);
/*
 * Keep advice, and print what is new of it.
 *
 * v      NULL: its program lives on; its verdict may come later
 * taped  keeps whether something was refused, or tells it; NULL: none
 */
void step_advise(struct step_run *s, struct str err_tail,
		 const struct gate_verdict *v, struct recording *taped);
/* Does a refusal fail the step? */
bool step_minds_refusals(const struct step_run *s) MUST_USE;
/* Has a call failed because the server has no such tool? */
bool step_misses_tool(struct step_run *s) MUST_USE;
/* Keep what a part's program said, and the advice about it; copied, and each
   once. */
void step_keep_words(struct step_run *whole, const struct report_step *part);

#endif
