#include "core/base/sha256.h"

#include <string.h>

#include "core/base/sha256_blocks.h"

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
	sha256_blocks_fn *take = native ? native : sha256_blocks_plain;
	const unsigned char *p = bytes;
	size_t used = s->total % 64;

	s->total += n;
	if (used) {
		size_t part = 64 - used < n ? 64 - used : n;

		memcpy(s->block + used, p, part);
		if (used + part < 64)
			return;
		take(s->h, s->block, 1);
		p += part;
		n -= part;
	}
	take(s->h, p, n / 64);
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

void sha256_hex(struct str text, char out[SHA256_HEX_BYTES])
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, text.p, text.n);
	sha256_end(&s, sum);
	sha256_text(sum, out);
}
