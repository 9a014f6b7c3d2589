#include "core/base/sha256.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#define HAS_INSTRUCTIONS
#include <immintrin.h>
#include <sys/platform/x86.h>
#endif

/* ---- blocks in plain C, for every processor ---- */

/* Constants of the rounds, section 4.2.2. */
static const uint32_t round_words[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static void expand(const unsigned char *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		       (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] +
		       (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/*
 * One round of section 6.2.2. Instead of moving all eight working variables,
 * the caller names them one further in each round.
 */
static inline void one_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d,
			     uint32_t e, uint32_t f, uint32_t g, uint32_t *h,
			     uint32_t input)
{
	uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
	uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
	uint32_t t1 = *h + sum1 + (g ^ (e & (f ^ g))) + input;

	*d += t1;
	*h = t1 + sum0 + ((a & b) | (c & (a | b)));
}

static void compress(uint32_t s[8], const unsigned char *block)
{
	uint32_t w[64];
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
	uint32_t e = s[4], f = s[5], g = s[6], h = s[7];

	expand(block, w);
	for (int i = 0; i < 64; i++)
		w[i] += round_words[i];
	for (int i = 0; i < 64; i += 8) {
		one_round(a, b, c, &d, e, f, g, &h, w[i]);
		one_round(h, a, b, &c, d, e, f, &g, w[i + 1]);
		one_round(g, h, a, &b, c, d, e, &f, w[i + 2]);
		one_round(f, g, h, &a, b, c, d, &e, w[i + 3]);
		one_round(e, f, g, &h, a, b, c, &d, w[i + 4]);
		one_round(d, e, f, &g, h, a, b, &c, w[i + 5]);
		one_round(c, d, e, &f, g, h, a, &b, w[i + 6]);
		one_round(b, c, d, &e, f, g, h, &a, w[i + 7]);
	}
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
	s[5] += f;
	s[6] += g;
	s[7] += h;
}

void sha256_blocks_plain(uint32_t h[8], const unsigned char *blocks, size_t n)
{
	for (; n; n--, blocks += 64)
		compress(h, blocks);
}

/*
 * ---- blocks by instructions that many processors have for it ----
 *
 * Five times as fast as plain C, which counts where a report is as long as a
 * film.
 *
 * source  Intel 64 Software Developer's Manual, volume 2, SHA256RNDS2
 */

#ifdef HAS_INSTRUCTIONS

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
				(const __m128i *)(round_words + 4 * i)));
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

/* ---- the sum ---- */

void sha256_init(struct sha256 *s)
{
	/* section 5.3.3 */
	*s = (struct sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
				   0xa54ff53a, 0x510e527f, 0x9b05688c,
				   0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
	sha256_blocks_fn *native = sha256_blocks_native();
	sha256_blocks_fn *take_blocks = native ? native : sha256_blocks_plain;
	const unsigned char *p = bytes;
	size_t used = s->total % 64;

	s->total += n;
	if (used) {
		size_t part = 64 - used < n ? 64 - used : n;

		memcpy(s->block + used, p, part);
		if (used + part < 64)
			return;
		take_blocks(s->h, s->block, 1);
		p += part;
		n -= part;
	}
	take_blocks(s->h, p, n / 64);
	if (n % 64)
		memcpy(s->block, p + n / 64 * 64, n % 64);
}

void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES])
{
	static const unsigned char padding[64] = {0x80};
	uint64_t bits = s->total * 8;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(s, padding, 1 + (119 - s->total % 64) % 64);
	sha256_add(s, length, sizeof(length));
	for (int i = 0; i < SHA256_BYTES; i++)
		out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_text(const unsigned char sum[SHA256_BYTES],
		 char out[SHA256_HEX_BYTES])
{
	static const char digit[] = "0123456789abcdef";

	for (int i = 0; i < SHA256_BYTES; i++) {
		out[2 * i] = digit[sum[i] >> 4];
		out[2 * i + 1] = digit[sum[i] & 15];
	}
	out[2 * SHA256_BYTES] = '\0';
}

void sha256_end_text(struct sha256 *s, char out[SHA256_HEX_BYTES])
{
	unsigned char sum[SHA256_BYTES];

	sha256_end(s, sum);
	sha256_text(sum, out);
}

void sha256_hex(struct str text, char out[SHA256_HEX_BYTES])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, text.p, text.n);
	sha256_end_text(&s, out);
}
