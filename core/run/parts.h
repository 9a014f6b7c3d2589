/*
 * Words about the parts of a step that is made of others, as the whole tells
 * them: each once.
 */
#ifndef CORE_RUN_PARTS_H
#define CORE_RUN_PARTS_H

#include "core/run/step.h"

/* Keep what a part's program said, and the advice about it; copied. */
void parts_keep_words(struct step_run *whole, const struct report_step *part);

#endif
