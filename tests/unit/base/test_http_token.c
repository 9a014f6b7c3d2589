/* Tokens of HTTP. */

#include "tests/unit/test.h"

#include "core/base/text.h"

TEST(token, every_byte, as_rfc_9110_lists_them)
{
	static const char also[] = "!#$%&'*+-.^_`|~";

	for (int i = 0; i < 256; i++) {
		char c = (char)i;
		bool is_letter =
			(i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z');
		bool is_one = is_letter || (i >= '0' && i <= '9') ||
			      memchr(also, i, sizeof(also) - 1);

		assert_int_equal(http_is_token((struct str){&c, 1}), is_one);
	}
}

TEST(token, nothing_or_with_more, is_none)
{
	assert_false(http_is_token(STR("")));
	assert_false(http_is_token((struct str){NULL, 0}));
	assert_true(http_is_token(STR("Mcp-Name")));
	assert_false(http_is_token(STR("Mcp-Name:")));
	assert_false(http_is_token(STR("a\0")));
}

TEST(token_len, text, up_to_what_is_none)
{
	assert_int_equal(http_token_len(STR("Bearer scope=x")), 6);
	assert_int_equal(http_token_len(STR("Bearer")), 6);
	assert_int_equal(http_token_len(STR("=x")), 0);
	assert_int_equal(http_token_len(STR("")), 0);
}
