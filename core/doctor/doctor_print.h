/*
 * Rows of `matins doctor` as text and as JSON.
 */
#ifndef CORE_DOCTOR_DOCTOR_PRINT_H
#define CORE_DOCTOR_DOCTOR_PRINT_H

#include "core/base/buf.h"
#include "core/doctor/doctor_checks.h"

/* Report whether a row is CHECK_FAILED. */
bool doctor_failed(const struct doctor *d) MUST_USE;
/* Add a line a row, by area, and a closing sentence. */
void doctor_print_text(const struct doctor *d, const struct doctor_options *o,
		       struct buf *out);
/* Add one JSON document on a line of its own. */
void doctor_print_json(const struct doctor *d, struct buf *out);

#endif
