/* Tokens of HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/base/text.h"

static void token__every_byte__as_rfc_9110_lists_them(void **state)
{
	static const char also[] = "!#$%&'*+-.^_`|~";

	(void)state;
	for (int i = 0; i < 256; i++) {
		char c = (char)i;
		bool is_letter =
			(i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z');
		bool is_one = is_letter || (i >= '0' && i <= '9') ||
			      memchr(also, i, sizeof(also) - 1);

		assert_int_equal(http_is_token((struct str){&c, 1}), is_one);
	}
}

static void token__nothing_or_with_more__is_none(void **state)
{
	(void)state;
	assert_false(http_is_token(STR("")));
	assert_false(http_is_token((struct str){NULL, 0}));
	assert_true(http_is_token(STR("Mcp-Name")));
	assert_false(http_is_token(STR("Mcp-Name:")));
	assert_false(http_is_token(STR("a\0")));
}

static void token_len__text__up_to_what_is_none(void **state)
{
	(void)state;
	assert_int_equal(http_token_len(STR("Bearer scope=x")), 6);
	assert_int_equal(http_token_len(STR("Bearer")), 6);
	assert_int_equal(http_token_len(STR("=x")), 0);
	assert_int_equal(http_token_len(STR("")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(token__every_byte__as_rfc_9110_lists_them),
		cmocka_unit_test(token__nothing_or_with_more__is_none),
		cmocka_unit_test(token_len__text__up_to_what_is_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
