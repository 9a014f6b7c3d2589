/*
 * Programs of steps, as the doctor sees them: found as a spawn would, with the
 * files that they are given. None is started.
 */
#ifndef CORE_DOCTOR_PROGRAMS_H
#define CORE_DOCTOR_PROGRAMS_H

#include "core/doctor/rows.h"

/* Add the rows of a step that has a program; with starts_only those of what it
   comes to, and no others. */
void doctor_look_at_program(struct doctor *d, const char *name,
			    const struct plan_step *s);

#endif
