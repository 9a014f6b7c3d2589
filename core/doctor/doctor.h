/*
 * Can a routine run here, now? Findings of `matins doctor`.
 *
 * Looks, and unless `deep` starts and asks nothing: programs are resolved as a
 * spawn would, credentials are looked at without their values leaving this
 * folder, the kernel's protections come from the gate.
 */
#ifndef CORE_DOCTOR_DOCTOR_H
#define CORE_DOCTOR_DOCTOR_H

#include "core/base/err.h"
#include "core/doctor/doctor_checks.h"

/*
 * Add the rows of all that the options name to `d`, whose arena is set.
 *
 * errors  ERR_CONFIG  a leash that cannot be read
 */
int doctor_look(const struct doctor_options *o, struct doctor *d,
		struct err *err) MUST_USE;

#endif
