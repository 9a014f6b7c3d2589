/*
 * Each change of a step said once.
 */
#ifndef CORE_REPORT_ONCE_H
#define CORE_REPORT_ONCE_H

#include "core/report/diff.h"

/*
 * Hide edits of a step that repeat others: of its output, when it is made of
 * the data, and of a text that holds what the structured content says. An
 * output that data without a difference make is no difference: its edit goes.
 */
void once(struct edit *step, struct arena *arena);

#endif
