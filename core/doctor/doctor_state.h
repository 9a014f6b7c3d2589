/* Things kept between runs, looked at for doctor. */
#ifndef CORE_DOCTOR_DOCTOR_STATE_H
#define CORE_DOCTOR_DOCTOR_STATE_H

#include "core/doctor/doctor_checks.h"

/*
 * Report whether runs can be recorded in the state directory, in which state
 * tokens are (no key is asked for), and, with options->stale_ms, how old the
 * last whole run of each routine asked for is.
 */
void doctor_look_at_state(struct doctor *d);

#endif
