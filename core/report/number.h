/*
 * Numbers of JSON that are near each other: exact decimals, no doubles.
 */
#ifndef CORE_REPORT_NUMBER_H
#define CORE_REPORT_NUMBER_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/str.h"

/* "0.5", "5%": a number as JSON writes it, not below 0. */
bool number_is_tolerance(struct str text) MUST_USE;

/*
 * The distance of two numbers is at most the tolerance, or at most so many
 * hundredths of `old`. Numbers with digits beyond 10^60 or 10^-60 are near
 * nothing.
 */
bool number_is_near(struct str old, struct str new, struct str tolerance)
	MUST_USE;

#endif
