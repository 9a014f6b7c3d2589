/*
 * Ways to take whole blocks, for core/base/sha256.c.
 *
 * All give the same sum; callers of the sum see core/base/sha256.h only.
 */
#ifndef CORE_BASE_SHA256_BLOCKS_H
#define CORE_BASE_SHA256_BLOCKS_H

#include <stdint.h>

#include "core/base/attr.h"

/*
 * Take n blocks of 64 bytes into the eight words of the sum so far.
 * source  FIPS 180-4, section 6.2.2
 */
typedef void sha256_blocks_fn(uint32_t h[8], const unsigned char *blocks,
			      size_t n);

/* Constants of the rounds, section 4.2.2. */
extern const uint32_t sha256_round[64];

/* In plain C, for every processor. */
sha256_blocks_fn sha256_blocks_plain;
/* By this processor's instructions for it; NULL where it has none. */
sha256_blocks_fn *sha256_blocks_native(void) MUST_USE;

#endif
