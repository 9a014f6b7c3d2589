#include "core/base/sha256.h"

#include <string.h>

/* FIPS 180-4, section 4.2.2 */
static const uint32_t round_constant[64] = {
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

void sha256_init(struct sha256 *s)
{
	/* section 5.3.3 */
	*s = (struct sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
				   0xa54ff53a, 0x510e527f, 0x9b05688c,
				   0x1f83d9ab, 0x5be0cd19}};
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

static void compress(struct sha256 *s, const unsigned char *block)
{
	uint32_t w[64];
	uint32_t a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3];
	uint32_t e = s->h[4], f = s->h[5], g = s->h[6], h = s->h[7];

	expand(block, w);
	for (int i = 0; i < 64; i++)
		w[i] += round_constant[i];
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
	s->h[0] += a;
	s->h[1] += b;
	s->h[2] += c;
	s->h[3] += d;
	s->h[4] += e;
	s->h[5] += f;
	s->h[6] += g;
	s->h[7] += h;
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	size_t used = s->total % 64;

	s->total += n;
	while (n) {
		size_t take = 64 - used < n ? 64 - used : n;

		if (take == 64) {
			compress(s, p);
		} else {
			memcpy(s->block + used, p, take);
			if (used + take == 64)
				compress(s, s->block);
		}
		used = (used + take) % 64;
		p += take;
		n -= take;
	}
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

void sha256_hex(struct str text, char out[SHA256_HEX_BYTES])
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, text.p, text.n);
	sha256_end(&s, sum);
	sha256_text(sum, out);
}
