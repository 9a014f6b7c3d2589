/*
 * Routines that nobody watches, as the doctor sees them: does a timer or cron
 * still start them, did they run when they were due, how old is the last whole
 * run.
 */
#ifndef CORE_DOCTOR_SCHEDULED_H
#define CORE_DOCTOR_SCHEDULED_H

#include "core/doctor/rows.h"

void doctor_look_at_schedules(struct doctor *d);

#endif
