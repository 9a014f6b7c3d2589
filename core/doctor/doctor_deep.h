/* Servers that are asked, for `doctor --deep`. */
#ifndef CORE_DOCTOR_DOCTOR_DEEP_H
#define CORE_DOCTOR_DOCTOR_DEEP_H

#include "core/doctor/doctor_checks.h"
#include "core/run/plan.h"

/*
 * Start or connect to each server of the routine that steps talk to, shake
 * hands, list its tools, end it.
 *
 * errors  ERR_SYS, ERR_CONFIG  nothing could be asked at all
 */
int doctor_look_deep(struct doctor *d, const struct plan *plan, struct err *err)
	MUST_USE;

#endif
