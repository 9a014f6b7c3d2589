/*
 * The result of a step: its state and reason, and texts without secrets.
 */
#ifndef CORE_RUN_STEP_RESULT_H
#define CORE_RUN_STEP_RESULT_H

#include "core/run/step.h"

/* `in` itself when it holds no secret, else a copy without, in the arena of the
   step. scrub  scrub_apply(), or a like function */
struct str step_scrubbed(struct step_run *s, struct str in,
			 size_t (*scrub)(const struct scrub *, struct str,
					 struct buf *)) MUST_USE;
/* Set the result, without secrets. The first counts; later ones are ignored. */
void step_finish(struct step_run *s, const struct judgement *j);
/* Set the result of a step that failed, with a sentence. */
PRINTF(3, 4)
void step_fail(struct step_run *s, enum step_reason reason, const char *fmt,
	       ...);
/* Did it fail by itself: was it neither skipped nor cancelled? */
bool step_has_failed(const struct step_run *s) MUST_USE;

#endif
