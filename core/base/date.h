/*
 * Calendar dates as days, for people's due dates. Proleptic Gregorian
 * calendar, years 0001 to 9999; no time of day.
 */
#ifndef CORE_BASE_DATE_H
#define CORE_BASE_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/str.h"

/* Bytes of "2026-01-31" with the NUL. */
#define DATE_TEXT_BYTES 11

/* Days of a month, 1 to 12, of a year from 0 on. */
int32_t date_month_days(int32_t y, int32_t m) MUST_USE;
/*
 * Read exactly YYYY-MM-DD, a day that exists.
 * ret_days  days since 1970-01-01, negative before
 */
bool date_parse(struct str s, int32_t *ret_days) MUST_USE;
/* The text of a day that date_parse() gave. */
void date_format(int32_t days, char out[DATE_TEXT_BYTES]);

#endif
