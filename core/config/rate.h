/* Rates: "60/min", at most so many calls in a second, minute or hour. Pure. */
#ifndef CORE_CONFIG_RATE_H
#define CORE_CONFIG_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/str.h"

/* Most calls of a rate. */
#define RATE_MAX 1000000

/* false: another text; ret_n 1 to RATE_MAX, ret_ns the time */
bool rate_read(struct str text, uint64_t *ret_n, uint64_t *ret_ns) MUST_USE;

#endif
