/*
 * SHA-256, for telling whether two texts are the same.
 *
 *	char hex[SHA256_HEX_BYTES];
 *	sha256_hex(text, hex);
 *
 * source  FIPS 180-4
 */
#ifndef CORE_BASE_SHA256_H
#define CORE_BASE_SHA256_H

#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/str.h"

#define SHA256_BYTES 32
/* Bytes of the hexadecimal form with the NUL. */
#define SHA256_HEX_BYTES 65

struct sha256 {
	uint32_t h[8];
	uint64_t total; /* bytes taken so far */
	unsigned char block[64];
};

void sha256_init(struct sha256 *s);
/* Takes any number of bytes, any number of times. */
void sha256_add(struct sha256 *s, const void *bytes, size_t n);
/* Ends the sum; begin again with sha256_init(). */
void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES]);
/* Write a digest in lower-case hexadecimal. */
void sha256_text(const unsigned char sum[SHA256_BYTES],
		 char out[SHA256_HEX_BYTES]);
/* sha256_end() and sha256_text(). */
void sha256_end_text(struct sha256 *s, char out[SHA256_HEX_BYTES]);
/* The sum of one text in lower-case hexadecimal. */
void sha256_hex(struct str text, char out[SHA256_HEX_BYTES]);

/*
 * Take n blocks of 64 bytes into the eight words of the sum so far.
 * source  FIPS 180-4, section 6.2.2
 */
typedef void sha256_blocks_fn(uint32_t h[8], const unsigned char *blocks,
			      size_t n);

/* In plain C, for every processor. */
sha256_blocks_fn sha256_blocks_plain;
/* By this processor's instructions for it; NULL where it has none. */
sha256_blocks_fn *sha256_blocks_native(void) MUST_USE;

#endif
