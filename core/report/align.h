/*
 * Two sequences aligned: which items of each have a partner in the other, in
 * order. For lines of texts and elements of arrays alike.
 *
 * Items are numbers; equal numbers are partners. Who makes them by a hash
 * compares the partners afterwards.
 *
 * The longest common subsequence where it costs little; where the sequences
 * have little in common the search is cut, and what it found so far counts:
 * never wrong, only longer than need be. Time and memory are linear.
 *
 * source  E. Myers, "An O(ND) Difference Algorithm and Its Variations",
 *	   section 4
 */
#ifndef CORE_REPORT_ALIGN_H
#define CORE_REPORT_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/str.h"

struct align_side {
	const uint32_t *item;
	bool *alone; /* set for items without a partner; false at first */
	size_t n;    /* both together below 2^30 */
};

/* A number for a text; others have it seldom. source  FNV-1a */
uint32_t align_item(struct str text) MUST_USE;

void align(const struct align_side *old, const struct align_side *new);

#endif
