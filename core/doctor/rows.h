/*
 * Rows of the doctor: added and named. core/doctor/doctor.h prints them.
 */
#ifndef CORE_DOCTOR_ROWS_H
#define CORE_DOCTOR_ROWS_H

#include "core/doctor/doctor.h"
#include "core/run/plan.h"

/* Add a row; all texts are copied but `area`, which is static. A row that is OK
   needs no remedy, and drops it. */
PRINTF(6, 7)
void doctor_add(struct doctor *d, const char *area, const char *name,
		enum check_level level, const char *remedy, const char *fmt,
		...);
/* Add a row about a program that is not run; r < 0: the gate refuses it. */
void doctor_add_program(struct doctor *d, const char *area, const char *name,
			const char *program, int r, const struct err *err);
/* Name a row "routine/step", or "servers.NAME": no step uses that server. */
const char *doctor_row_name(struct doctor *d, const struct plan *plan,
			    const struct step *step) MUST_USE;
/*
 * Report whether an earlier step that runs names the server of step `at`.
 * calls  steps without a tool do not count
 */
bool doctor_is_met(const struct plan *plan, size_t at, bool calls) MUST_USE;

#endif
