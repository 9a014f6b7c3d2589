/*
 * A step with `retry`: attempts one after the other, until one is ok or no
 * other is due. Each is an execution of the step with its own time, in the
 * session of the server that the whole step holds; the last one's result is
 * that of the step, and `attempts` of its facts tells of all.
 */
#ifndef CORE_RUN_ATTEMPTS_H
#define CORE_RUN_ATTEMPTS_H

#include "core/run/step.h"

extern const struct step_doer attempts_doer;

#endif
