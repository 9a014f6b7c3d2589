/*
 * SHA-256 by instructions that many processors have for it: five times as
 * fast as plain C, which counts where a report is as long as a film.
 *
 * source  Intel 64 Software Developer's Manual, volume 2, SHA256RNDS2
 */
#include "core/base/sha256_blocks.h"

#if defined(__x86_64__) && defined(__GLIBC__)

#include <immintrin.h>
#include <sys/platform/x86.h>

#define TARGET __attribute__((target("sha,sse4.1")))

/* Four words of a block, which stand there with their highest byte first. */
TARGET static inline __m128i four_words(const unsigned char *p)
{
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6,
					  7, 0, 1, 2, 3);

	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), swap);
}

/* Words 4i to 4i+3 of the schedule, of the sixteen before them. */
TARGET static inline __m128i next_words(__m128i w16, __m128i w12, __m128i w8,
					__m128i w4)
{
	__m128i w7 = _mm_alignr_epi8(w4, w8, 4);

	return _mm_sha256msg2_epu32(
		_mm_add_epi32(_mm_sha256msg1_epu32(w16, w12), w7), w4);
}

/* The instruction wants the eight words as f e b a and h g d c. */
TARGET static void take(__m128i *feba, __m128i *hgdc,
			const unsigned char *block)
{
	__m128i x = *feba, y = *hgdc, w[4];

#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) {
		__m128i in;

		if (i < 4)
			w[i] = four_words(block + 16 * i);
		else
			w[i % 4] = next_words(w[i % 4], w[(i + 1) % 4],
					      w[(i + 2) % 4], w[(i + 3) % 4]);
		in = _mm_add_epi32(
			w[i % 4],
			_mm_loadu_si128(
				(const __m128i *)(sha256_round + 4 * i)));
		y = _mm_sha256rnds2_epu32(y, x, in);
		in = _mm_shuffle_epi32(in, 0x0e); /* the upper two */
		x = _mm_sha256rnds2_epu32(x, y, in);
	}
	*feba = _mm_add_epi32(*feba, x);
	*hgdc = _mm_add_epi32(*hgdc, y);
}

TARGET static void blocks(uint32_t h[8], const unsigned char *p, size_t n)
{
	__m128i feba =
		_mm_set_epi32((int)h[0], (int)h[1], (int)h[4], (int)h[5]);
	__m128i hgdc =
		_mm_set_epi32((int)h[2], (int)h[3], (int)h[6], (int)h[7]);
	uint32_t a[4], c[4];

	for (; n; n--, p += 64)
		take(&feba, &hgdc, p);
	_mm_storeu_si128((__m128i *)a, feba);
	_mm_storeu_si128((__m128i *)c, hgdc);
	h[0] = a[3];
	h[1] = a[2];
	h[2] = c[3];
	h[3] = c[2];
	h[4] = a[1];
	h[5] = a[0];
	h[6] = c[1];
	h[7] = c[0];
}

/* libc has asked the processor when the program was loaded. */
sha256_blocks_fn *sha256_blocks_native(void)
{
	return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1) ? blocks
								     : NULL;
}

#else

sha256_blocks_fn *sha256_blocks_native(void)
{
	return NULL;
}

#endif
