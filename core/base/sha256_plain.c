/*
 * SHA-256 in C: the reference, and what runs where the processor has nothing
 * better.
 */
#include "core/base/sha256_blocks.h"

const uint32_t sha256_round[64] = {
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
		w[i] += sha256_round[i];
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
