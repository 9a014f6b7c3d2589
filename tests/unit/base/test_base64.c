#include "tests/unit/test.h"

#include "core/base/text.h"

TEST(all_bytes, any_length, come_back)
{
	char bytes[256];
	struct err err = ERR_INIT;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 167);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct buf back = BUF_INIT(n); /* exactly enough */

		base64_encode(BASE64_URL, (struct str){bytes, n}, &text);
		assert_int_equal(
			base64_decode(BASE64_URL, buf_str(&text), &back, &err),
			0);
		assert_int_equal(back.n, n);
		assert_memory_equal(buf_cstr(&back), bytes, n);
		buf_release(&text);
		buf_release(&back);
	}
}

TEST(decode, over_the_ceiling, is_a_limit)
{
	struct buf out = BUF_INIT(2);
	struct err err = ERR_INIT;

	assert_int_equal(base64_decode(BASE64_URL, STR("Zm9v"), &out, &err),
			 -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(out.n, 0);
	buf_release(&out);
}
