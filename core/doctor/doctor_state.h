/* Things kept between runs, looked at for doctor. */
#ifndef CORE_DOCTOR_DOCTOR_STATE_H
#define CORE_DOCTOR_DOCTOR_STATE_H

#include "core/doctor/doctor_checks.h"

/* Report whether runs can be recorded in the state directory. */
void doctor_look_at_state(struct doctor *d);
/* Look at each folder of tokens; no key is asked for. */
void doctor_look_at_tokens(struct doctor *d);
/* Look how old the last whole run of each routine asked for is. */
void doctor_look_at_ages(struct doctor *d);

#endif
