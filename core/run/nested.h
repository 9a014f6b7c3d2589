/*
 * A step that runs another routine of the file, in a walk of its own. Its data
 * is the report of that routine (matins-report/1), as the view golden shows it.
 */
#ifndef CORE_RUN_NESTED_H
#define CORE_RUN_NESTED_H

#include "core/run/step.h"

extern const struct step_doer nested_doer;

#endif
