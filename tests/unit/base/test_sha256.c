#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/base/sha256.h"

static void check(struct str text, const char *wanted)
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex(text, hex);
	assert_string_equal(hex, wanted);
}

/* Examples that NIST gives with FIPS 180-4. */
TEST(sha256, nist_examples, have_known_sums)
{
	check(STR(""), "e3b0c44298fc1c149afbf4c8996fb924"
		       "27ae41e4649b934ca495991b7852b855");
	check(STR("abc"), "ba7816bf8f01cfea414140de5dae2223"
			  "b00361a396177a9cb410ff61f20015ad");
	check(STR("abcdbcdecdefdefgefghfghighijhijk"
		  "ijkljklmklmnlmnomnopnopq"),
	      "248d6a61d20638b8e5c026930c3e6039"
	      "a33ce45964ff2167f6ecedd419db06c1");
	check(STR("abcdefghbcdefghicdefghijdefghijkefghijklfghijklm"
		  "ghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
		  "mnopqrstnopqrstu"),
	      "cf5b16a778af8380036ce59e7b049237"
	      "0b249b11e8f07a51afac45037afee9d1");
}

TEST(sha256, million_letters, have_the_known_sum)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 1000000; i++)
		buf_addc(&text, 'a');
	check(buf_str(&text), "cdc76e5c9914fb9281a1c7e284d73e67"
			      "f1809a48a497200e046d39ccc7112cd0");
	buf_release(&text);
}

/* Lengths around a block, in pieces of any size, give the same sum. */
TEST(sha256, pieces, give_the_sum_of_the_whole)
{
	char text[300];

	memset(text, 'x', sizeof(text));
	for (size_t n = 0; n < sizeof(text); n++) {
		for (size_t piece = 1; piece < 130; piece += 21) {
			unsigned char whole[SHA256_BYTES], parts[SHA256_BYTES];
			struct sha256 s;

			sha256_init(&s);
			sha256_add(&s, text, n);
			sha256_end(&s, whole);
			sha256_init(&s);
			for (size_t i = 0; i < n; i += piece)
				sha256_add(&s, text + i,
					   n - i < piece ? n - i : piece);
			sha256_end(&s, parts);
			assert_memory_equal(whole, parts, SHA256_BYTES);
		}
	}
}

/*
 * The processor's own instructions and plain C give the same words, for any
 * number of blocks, wherever they begin, whatever stands in them.
 */
TEST(sha256, native_blocks, give_what_plain_c_gives)
{
	enum { MOST = 40 };
	sha256_blocks_fn *native = sha256_blocks_native();
	static unsigned char bytes[64 * MOST + 16];
	uint32_t seed = 1;

	if (!native)
		skip();
	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(seed >> 24);
	}
	for (size_t at = 0; at < 16; at++) {
		for (size_t n = 0; n <= MOST; n++) {
			uint32_t a[8], b[8];

			for (uint32_t i = 0; i < 8; i++)
				a[i] = b[i] = seed * (i + 1);
			native(a, bytes + at, n);
			sha256_blocks_plain(b, bytes + at, n);
			assert_memory_equal(a, b, sizeof(a));
			seed = a[n % 8];
		}
	}
}

/* Plain C alone gives what NIST says, also where it is not what runs. */
TEST(sha256, plain_blocks, give_the_sum_of_nist)
{
	const uint32_t wanted[8] = {0xba7816bf, 0x8f01cfea, 0x414140de,
				    0x5dae2223, 0xb00361a3, 0x96177a9c,
				    0xb410ff61, 0xf20015ad};
	unsigned char block[64] = {'a', 'b', 'c', 0x80, [63] = 24};
	struct sha256 s;

	sha256_init(&s);
	sha256_blocks_plain(s.h, block, 1);
	assert_memory_equal(s.h, wanted, sizeof(wanted));
}
