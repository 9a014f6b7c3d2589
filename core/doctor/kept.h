/*
 * Things kept between runs, as the doctor sees them: the ledger, folders of
 * tokens. Nothing is made.
 */
#ifndef CORE_DOCTOR_KEPT_H
#define CORE_DOCTOR_KEPT_H

#include "core/doctor/rows.h"

void doctor_look_at_state(struct doctor *d);

#endif
